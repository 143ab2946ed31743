#include "core/budget.h"

#include "core/block.h"

uint64_t wfi_budget_left(const wf_device *device, uint32_t heap)
{
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 memory = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, .pNext = &budget};
    if (!device->caps.memory_budget || heap >= VK_MAX_MEMORY_HEAPS)
        return UINT64_MAX;
    device->instance.vkGetPhysicalDeviceMemoryProperties2(device->physical, &memory);
    if (budget.heapBudget[heap] == 0)
        return UINT64_MAX;
    const uint64_t kept = wfi_blocks_kept(device, heap),
                   usage = budget.heapUsage[heap] > kept ? budget.heapUsage[heap] - kept : 0;
    return budget.heapBudget[heap] > usage ? budget.heapBudget[heap] - usage : 0;
}

wf_result wf_device_available(const wf_device *device, uint64_t *bytes)
{
    uint32_t largest = UINT32_MAX;
    if (!device || !bytes)
        return WF_ERROR_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < device->caps.heap_count && i < WF_MAX_HEAPS; i++)
        if (device->caps.heaps[i].device_local &&
            (largest == UINT32_MAX ||
             device->caps.heaps[i].bytes > device->caps.heaps[largest].bytes))
            largest = i;
    const uint64_t left = wfi_budget_left(device, largest);
    *bytes = left == UINT64_MAX ? device->caps.device_local_bytes : left;
    return WF_SUCCESS;
}
