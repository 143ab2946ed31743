/* Devices that are not there, and what the model picks for products on them. */
#ifndef WFI_TESTS_PICKING_H
#define WFI_TESTS_PICKING_H

#include "kernels/matmul/matmul.h"

/* As an H100 without matrix units, but for the vendor. */
wf_caps test_card_of(uint32_t vendor);
/* The point of least expected time among the variants that take the type; it must be legal. What it
 * points at is valid until the next call. */
wfi_point test_pick(const wf_caps *caps, wf_type type, wfi_matmul_problem product);

#endif
