/* What the memory budget (VK_EXT_memory_budget) leaves right now. */
#ifndef WFI_CORE_BUDGET_H
#define WFI_CORE_BUDGET_H

#include "core/device.h"

/* Bytes that a heap's budget leaves; UINT64_MAX where the driver tells no budget. */
uint64_t wfi_budget_left(const wf_device *device, uint32_t heap);

#endif
