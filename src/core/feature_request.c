/* What an application may enable for wavefit before it creates its VkDevice. */
#include <string.h>

#include "core/chain.h"
#include "core/feature_table.h"
#include "core/heap.h"
#include "core/params.h"

struct wf_features {
    wfi_features offered; /* its chain is what to enable */
    uint32_t count;
    wf_feature *list;
    bool *taken; /* a row of the table: set in the application's own structure */
};

/* Ends the use of an extension that only features of other families need. */
static void drop_extension(wfi_features *features, uint32_t index)
{
    features->extension_count--;
    memmove(&features->extensions[index], &features->extensions[index + 1],
            (features->extension_count - index) * sizeof *features->extensions);
}

static bool wanted(const wfi_features *features, const wfi_feature_row *row, uint32_t families)
{
    return (row->families & families) &&
           *wfi_feature_bit((wfi_features *)features, row->at) != VK_FALSE;
}

/* Extensions without a row, such as push descriptors, are wanted by every family. */
static bool extension_wanted(const wfi_features *features, const char *name, uint32_t families)
{
    bool has_row = false;
    for (uint32_t i = 0; i < wfi_feature_row_count; i++) {
        const wfi_feature_row *row = &wfi_feature_rows[i];
        if (!row->extension || strcmp(row->extension, name) != 0)
            continue;
        has_row = true;
        if (wanted(features, row, families))
            return true;
    }
    return !has_row;
}

static void keep_families(wfi_features *features, uint32_t families)
{
    for (uint32_t i = features->extension_count; i-- > 0;)
        if (!extension_wanted(features, features->extensions[i], families))
            drop_extension(features, i);
    for (uint32_t i = 0; i < wfi_feature_row_count; i++)
        if (!(wfi_feature_rows[i].families & families))
            *wfi_feature_bit(features, wfi_feature_rows[i].at) = VK_FALSE;
}

/* Takes structures with nothing to enable out of the chain: without their extension they would not
 * be allowed there. */
static bool structure_empty(const wfi_features *features, VkStructureType type)
{
    for (uint32_t i = 0; i < wfi_feature_row_count; i++)
        if (wfi_feature_rows[i].type == type &&
            *wfi_feature_bit((wfi_features *)features, wfi_feature_rows[i].at))
            return false;
    return true;
}

static void drop_empty(wfi_features *features)
{
    void *before = &features->core, *at;
    while ((at = wfi_chain_next(before))) {
        if (structure_empty(features, wfi_chain_type(at)))
            wfi_chain_set_next(before, wfi_chain_next(at));
        else
            before = at;
    }
}

static bool needs_extension(const wf_features *set, const wfi_feature_row *row)
{
    return row->core_version == 0 || set->offered.api_version < row->core_version;
}

static wf_result fill_list(wf_features *set, const wfi_log *log, uint32_t families)
{
    set->list = wfi_calloc(wfi_feature_row_count, sizeof *set->list);
    set->taken = wfi_calloc(wfi_feature_row_count, sizeof *set->taken);
    if (!set->list || !set->taken)
        return wfi_no_memory(log);
    for (uint32_t i = 0; i < wfi_feature_row_count; i++) {
        const wfi_feature_row *row = &wfi_feature_rows[i];
        if (!(row->families & families))
            continue;
        set->list[set->count++] = (wf_feature){
            .name = row->name,
            .extension = needs_extension(set, row) ? row->extension : NULL,
            .families = row->families,
            .offered = *wfi_feature_bit(&set->offered, row->at) != VK_FALSE,
            .gives = row->gives,
            .without = row->without,
        };
    }
    return WF_SUCCESS;
}

static wf_result query(const wf_vulkan *vulkan, uint32_t families, const wf_device_params *params,
                       wf_features **out)
{
    wf_vulkan handles;
    wfi_instance instance;
    const wfi_log log = {params->log, params->log_user};
    wf_result result =
        wfi_params_read(&log, "wf_required_features", vulkan, &handles, sizeof handles);
    if (result == WF_SUCCESS)
        result = wfi_instance_adopt(&handles, &log, NULL, &instance);
    if (result != WF_SUCCESS)
        return result;
    const uint32_t all = (UINT32_C(1) << WF_FAMILY_COUNT) - 1;
    families = families ? families & all : all;
    wf_features *set = wfi_calloc(1, sizeof *set);
    if (!set)
        result = wfi_no_memory(&log);
    if (result == WF_SUCCESS)
        result = wfi_features_query(&instance, &log, handles.physical_device, &set->offered);
    if (result == WF_SUCCESS)
        result = fill_list(set, &log, families);
    wfi_instance_destroy(&instance);
    if (result != WF_SUCCESS) {
        wf_features_destroy(&set);
        return result;
    }
    keep_families(&set->offered, families);
    drop_empty(&set->offered);
    *out = set;
    return WF_SUCCESS;
}

wf_result wf_required_features(const wf_vulkan *vulkan, uint32_t families,
                               const wf_device_params *params, wf_features **out)
{
    wf_device_params read;
    const wfi_log none = {0};
    if (!vulkan || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result result = wfi_params_read(&none, "wf_required_features", params, &read, sizeof read);
    if (result != WF_SUCCESS)
        return result;
    const wfi_heap outer = wfi_heap_enter(read.allocator);
    return wfi_heap_leave(outer, query(vulkan, families, &read, out));
}

const VkPhysicalDeviceFeatures2 *wf_features_chain(const wf_features *features)
{
    return &features->offered.core;
}

const char *const *wf_features_extensions(const wf_features *features, uint32_t *count)
{
    *count = features->offered.extension_count;
    return features->offered.extensions;
}

const wf_feature *wf_features_list(const wf_features *features, uint32_t *count)
{
    *count = features->count;
    return features->list;
}

void wf_features_merge(wf_features *features, VkPhysicalDeviceFeatures2 *chain)
{
    wfi_features *ours = &features->offered;
    for (uint32_t i = 0; i < wfi_feature_row_count; i++) {
        const wfi_feature_row *row = &wfi_feature_rows[i];
        if (!*wfi_feature_bit(ours, row->at))
            continue;
        void *own = wfi_chain_find(chain, row->type);
        void *core = own || !row->core ? NULL : wfi_chain_find(chain, row->core);
        if (own)
            *wfi_feature_bit(own, row->type_at) = VK_TRUE;
        else if (core)
            *wfi_feature_bit(core, row->core_at) = VK_TRUE;
        features->taken[i] = own || core;
    }
    for (uint32_t i = 0; i < wfi_feature_row_count; i++)
        if (features->taken[i])
            *wfi_feature_bit(ours, wfi_feature_rows[i].at) = VK_FALSE;
    drop_empty(ours);
    void *last = chain;
    while (wfi_chain_next(last))
        last = wfi_chain_next(last);
    wfi_chain_set_next(last, ours->core.pNext);
    ours->core.pNext = NULL;
}

void wf_features_destroy(wf_features **handle)
{
    wf_features *set = handle ? *handle : NULL;
    if (!set)
        return;
    wfi_free(set->list);
    wfi_free(set->taken);
    wfi_free(set);
    *handle = NULL;
}
