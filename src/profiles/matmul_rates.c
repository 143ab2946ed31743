#include "profiles/matmul_rates.h"

const wfi_rate_info wfi_rate_infos[WFI_RATES] = {
    [WFI_RATE_START] = {"start", "us", "an execution's start and end"},
    [WFI_RATE_DISPATCH] = {"dispatch", "us", "another dispatch that waits for the one before"},
    [WFI_RATE_WAVE] = {"wave", "us", "work-groups that follow others"},
    [WFI_RATE_MULTIPLY_ADD] = {"multiply_add", "us", "a multiply-add of a compute unit"},
    [WFI_RATE_SHARED_BYTE] = {"shared_byte", "us", "a byte read from shared memory"},
    [WFI_RATE_SHARED_BYTE_F64] = {"shared_byte_f64", "us", "the same in f64"},
    [WFI_RATE_LOAD_BYTE] = {"load_byte", "us", "a byte of operands loaded by vectors"},
    [WFI_RATE_NARROW_BYTE] = {"narrow_byte", "us", "longer, by single elements"},
    [WFI_RATE_NARROW_WAIT] = {"narrow_wait", "us", "a work-item's wait for a single element"},
    [WFI_RATE_OUTPUT] = {"output", "us", "an element of C stored by vectors"},
    [WFI_RATE_NARROW_OUTPUT] = {"narrow_output", "us",
                                "longer, by single elements, for each column of a work-item"},
    [WFI_RATE_PARTIAL_BYTE] = {"partial_byte", "us", "a byte of partial sums"},
    [WFI_RATE_MEMORY_BYTE] = {"memory_byte", "us", "a byte of memory, all units together"},
    [WFI_RATE_GAP_ITEMS] = {"gap_items", "items", "work-items that hide what one group waits for"},
};
