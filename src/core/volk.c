#include "core/volk.h"

#include <volk.c>

typedef struct table_source {
    VkDevice device;
    PFN_vkGetDeviceProcAddr get_proc;
} table_source;

static PFN_vkVoidFunction load_from(void *context, const char *name)
{
    const table_source *source = context;
    return source->get_proc(source->device, name);
}

void wfi_volk_load_device_table(struct VolkDeviceTable *table, VkDevice device,
                                PFN_vkGetDeviceProcAddr get_proc)
{
    table_source source = {device, get_proc};
    volkGenLoadDeviceTable(table, &source, load_from);
}
