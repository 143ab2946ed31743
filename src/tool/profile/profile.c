#include "tool/profile/profile.h"

#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/profile/fields.h"

/* ------------------------------------------------------------------------------------- reading */

static void add_block(wfi_profile *p, yyjson_val *block)
{
    if (yyjson_is_obj(block) && p->block_count < WFI_PROFILE_MOST_BLOCKS)
        p->blocks[p->block_count++] = block;
}

/* The blocks that the profile names, else all of them. */
static void add_blocks(wfi_profile *p, yyjson_val *all, yyjson_val *named)
{
    yyjson_val *name, *key;
    yyjson_arr_iter names = yyjson_arr_iter_with(named);
    while ((name = yyjson_arr_iter_next(&names)))
        add_block(p, yyjson_obj_get(all, yyjson_get_str(name)));
    yyjson_obj_iter keys = yyjson_obj_iter_with(all);
    while (yyjson_arr_size(named) == 0 && (key = yyjson_obj_iter_next(&keys)))
        add_block(p, yyjson_obj_iter_get_val(key));
}

/* The member of that name in any structure of a section, also in "limits". */
static yyjson_val *member_of(const wfi_profile *p, const char *section, const char *name)
{
    for (uint32_t b = 0; b < p->block_count; b++) {
        yyjson_val *key;
        yyjson_obj_iter keys = yyjson_obj_iter_with(yyjson_obj_get(p->blocks[b], section));
        while ((key = yyjson_obj_iter_next(&keys))) {
            yyjson_val *structure = yyjson_obj_iter_get_val(key);
            yyjson_val *value = yyjson_obj_get(structure, name);
            if (!value)
                value = yyjson_obj_get(yyjson_obj_get(structure, "limits"), name);
            if (value)
                return value;
        }
    }
    return NULL;
}

static bool refuse(wfi_profile *out, char why[192], const char *text)
{
    snprintf(why, 192, "%s", text);
    wfi_profile_close(out);
    return false;
}

bool wfi_profile_open(yyjson_doc *doc, wfi_profile *out, char why[192])
{
    *out = (wfi_profile){.doc = doc};
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_obj_iter profiles = yyjson_obj_iter_with(yyjson_obj_get(root, "profiles"));
    yyjson_val *key = yyjson_obj_iter_next(&profiles);
    yyjson_val *first = key ? yyjson_obj_iter_get_val(key) : NULL;
    add_blocks(out, yyjson_obj_get(root, "capabilities"), yyjson_obj_get(first, "capabilities"));
    if (out->block_count == 0)
        return refuse(out, why,
                      "it has no \"capabilities\" (the schema is that of Vulkan Profiles: "
                      "vulkan.gpuinfo.org exports it, vulkaninfo --json writes it)");
    if (!member_of(out, "properties", "maxComputeWorkGroupInvocations"))
        return refuse(out, why, "it does not tell maxComputeWorkGroupInvocations");
    const char *name = yyjson_get_str(member_of(out, "properties", "deviceName"));
    const char *label = yyjson_get_str(yyjson_obj_get(first, "label"));
    snprintf(out->name, sizeof out->name, "%s", name ? name : label ? label : "unnamed");
    return true;
}

void wfi_profile_close(wfi_profile *profile)
{
    yyjson_doc_free(profile->doc);
    *profile = (wfi_profile){0};
}

/* ---------------------------------------------------------------------------------- extensions */

const char *wfi_profile_extension(const wfi_profile *profile, uint32_t index)
{
    for (uint32_t b = 0; b < profile->block_count; b++) {
        yyjson_val *key;
        yyjson_obj_iter keys =
            yyjson_obj_iter_with(yyjson_obj_get(profile->blocks[b], "extensions"));
        while ((key = yyjson_obj_iter_next(&keys)))
            if (index-- == 0)
                return yyjson_get_str(key);
    }
    return NULL;
}

bool wfi_profile_lists_extensions(const wfi_profile *profile)
{
    return wfi_profile_extension(profile, 0) != NULL;
}

bool wfi_profile_has_extension(const wfi_profile *profile, const char *name)
{
    for (uint32_t b = 0; b < profile->block_count; b++)
        if (yyjson_obj_get(yyjson_obj_get(profile->blocks[b], "extensions"), name))
            return true;
    return false;
}

/* -------------------------------------------------------------------------------------- values */

/* A number, a truth, a name or an array of names. */
static bool number_of(yyjson_val *value, uint64_t *out)
{
    uint32_t bit = 0;
    if (yyjson_is_uint(value) || yyjson_is_bool(value)) {
        *out = yyjson_is_bool(value) ? yyjson_get_bool(value) : yyjson_get_uint(value);
        return true;
    }
    if (yyjson_is_str(value) && wfi_field_number(yyjson_get_str(value), &bit)) {
        *out = bit;
        return true;
    }
    if (!yyjson_is_arr(value))
        return false;
    size_t i, count;
    yyjson_val *name;
    *out = 0;
    yyjson_arr_foreach(value, i, count,
                       name) if (yyjson_is_str(name) &&
                                 wfi_field_number(yyjson_get_str(name), &bit)) *out |= bit;
    return true;
}

static uint64_t weaker(const wfi_field *field, uint64_t profile, uint64_t driver)
{
    if (field->kind == WFI_FIELD_FLAGS)
        return profile & driver;
    if (field->order == WFI_ORDER_LESS)
        return profile > driver ? profile : driver;
    return profile < driver ? profile : driver;
}

typedef struct applying {
    wfi_profile_mode mode;
    const wfi_profile_report *report;
} applying;

/* The value that is shown. */
static uint64_t shown(const applying *a, const wfi_field *field, uint64_t profile, uint64_t driver)
{
    if (a->mode == WFI_PROFILE_SET || field->order == WFI_ORDER_NAME)
        return profile;
    const uint64_t value = weaker(field, profile, driver);
    if (value != profile && a->report && a->report->beyond)
        a->report->beyond(a->report->user, field->name, profile, driver);
    return value;
}

static uint64_t load(const wfi_field *field, const void *at)
{
    uint32_t word = 0;
    uint64_t value = 0;
    if (field->kind == WFI_FIELD_U64)
        memcpy(&value, at, sizeof value);
    else {
        memcpy(&word, at, sizeof word);
        value = word;
    }
    return value;
}

static void store(const wfi_field *field, void *at, uint64_t value)
{
    const uint32_t word = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
    if (field->kind == WFI_FIELD_U64)
        memcpy(at, &value, sizeof value);
    else
        memcpy(at, &word, sizeof word);
}

static void put(const applying *a, const wfi_field *field, yyjson_val *value, char *at)
{
    uint64_t number = 0;
    if (field->order == WFI_ORDER_SUBGROUP && a->mode == WFI_PROFILE_LOWER)
        return;
    if (field->kind == WFI_FIELD_TEXT && yyjson_is_str(value))
        snprintf(at, 256, "%s", yyjson_get_str(value));
    else if (field->kind == WFI_FIELD_FLOAT && yyjson_is_num(value))
        *(float *)(void *)at = (float)yyjson_get_num(value);
    else if (field->kind == WFI_FIELD_THREE) {
        for (size_t i = 0; i < 3; i++)
            if (number_of(yyjson_arr_get(value, i), &number))
                store(field, at + i * sizeof(uint32_t),
                      shown(a, field, number, load(field, at + i * sizeof(uint32_t))));
    } else if (field->kind != WFI_FIELD_TEXT && field->kind != WFI_FIELD_FLOAT &&
               number_of(value, &number))
        store(field, at, shown(a, field, number, load(field, at)));
}

/* VkPhysicalDeviceVulkan11Properties has two of the names with a prefix. */
static yyjson_val *value_of(const wfi_profile *profile, const wfi_field *field)
{
    yyjson_val *value = member_of(profile, field->feature ? "features" : "properties", field->name);
    if (!value && strcmp(field->name, "supportedStages") == 0)
        value = member_of(profile, "properties", "subgroupSupportedStages");
    if (!value && strcmp(field->name, "supportedOperations") == 0)
        value = member_of(profile, "properties", "subgroupSupportedOperations");
    return value;
}

void wfi_profile_apply(const wfi_profile *profile, void *chain, wfi_profile_mode mode,
                       const wfi_profile_report *report)
{
    const applying a = {mode, report};
    VkBaseOutStructure head; /* copied: the structures are none of this type */
    for (void *at = chain; at; at = head.pNext) {
        memcpy(&head, at, sizeof head);
        for (size_t i = 0; i < wfi_field_count; i++) {
            const wfi_field *field = &wfi_fields[i];
            if (field->type != head.sType)
                continue;
            yyjson_val *value = value_of(profile, field);
            if (value)
                put(&a, field, value, (char *)at + field->at);
        }
    }
}

void wfi_profile_subgroups(const wfi_profile *profile, uint32_t sizes[3])
{
    static const char *const names[] = {"subgroupSize", "minSubgroupSize", "maxSubgroupSize"};
    for (int i = 0; i < 3; i++) {
        uint64_t number = 0;
        number_of(member_of(profile, "properties", names[i]), &number);
        sizes[i] = (uint32_t)number;
    }
}

bool wfi_profile_feature(const wfi_profile *profile, const char *field, bool otherwise)
{
    uint64_t number = otherwise;
    number_of(member_of(profile, "features", field), &number);
    return number != 0;
}

const char *wfi_profile_absent(const wfi_profile *profile, const void *structure)
{
    VkBaseInStructure head;
    memcpy(&head, structure, sizeof head);
    for (size_t i = 0; i < wfi_field_count; i++) {
        const wfi_field *field = &wfi_fields[i];
        VkBool32 on = VK_FALSE;
        if (field->type != head.sType || !field->feature)
            continue;
        memcpy(&on, (const char *)structure + field->at, sizeof on);
        if (on && !wfi_profile_feature(profile, field->name, true))
            return field->name;
    }
    return NULL;
}

/* -------------------------------------------------------------------------- memory and queues */

bool wfi_profile_memory(const wfi_profile *profile, VkPhysicalDeviceMemoryProperties *out)
{
    uint64_t number;
    yyjson_val *item;
    yyjson_arr_iter heaps = yyjson_arr_iter_with(member_of(profile, "properties", "memoryHeaps"));
    yyjson_arr_iter types = yyjson_arr_iter_with(member_of(profile, "properties", "memoryTypes"));
    *out = (VkPhysicalDeviceMemoryProperties){0};
    while (out->memoryHeapCount < VK_MAX_MEMORY_HEAPS && (item = yyjson_arr_iter_next(&heaps))) {
        VkMemoryHeap *heap = &out->memoryHeaps[out->memoryHeapCount++];
        if (number_of(yyjson_obj_get(item, "size"), &number))
            heap->size = number;
        if (number_of(yyjson_obj_get(item, "flags"), &number))
            heap->flags = (VkMemoryHeapFlags)number;
    }
    while ((item = yyjson_arr_iter_next(&types))) {
        const uint64_t index = yyjson_get_uint(yyjson_obj_get(item, "heapIndex"));
        if (out->memoryTypeCount == VK_MAX_MEMORY_TYPES || index >= out->memoryHeapCount)
            break;
        VkMemoryType *type = &out->memoryTypes[out->memoryTypeCount++];
        type->heapIndex = (uint32_t)index;
        if (number_of(yyjson_obj_get(item, "propertyFlags"), &number))
            type->propertyFlags = (VkMemoryPropertyFlags)number;
    }
    return out->memoryTypeCount > 0;
}

static bool timestamps_of(yyjson_val *list, uint32_t *valid_bits)
{
    yyjson_val *item;
    yyjson_arr_iter items = yyjson_arr_iter_with(list);
    while ((item = yyjson_arr_iter_next(&items))) {
        yyjson_val *family = yyjson_obj_get(item, "VkQueueFamilyProperties");
        uint64_t flags = 0, bits = 0;
        if (number_of(yyjson_obj_get(family, "queueFlags"), &flags) &&
            (flags & VK_QUEUE_COMPUTE_BIT) &&
            number_of(yyjson_obj_get(family, "timestampValidBits"), &bits)) {
            *valid_bits = (uint32_t)bits;
            return true;
        }
    }
    return false;
}

bool wfi_profile_timestamps(const wfi_profile *profile, uint32_t *valid_bits)
{
    for (uint32_t b = 0; b < profile->block_count; b++)
        if (timestamps_of(yyjson_obj_get(profile->blocks[b], "queueFamiliesProperties"),
                          valid_bits))
            return true;
    return false;
}

uint32_t wfi_profile_shapes(const wfi_profile *profile, uint32_t room,
                            VkCooperativeMatrixPropertiesKHR *out)
{
    static const char *const names[] = {"MSize", "NSize", "KSize",      "AType",
                                        "BType", "CType", "ResultType", "scope"};
    uint32_t shapes = 0;
    yyjson_val *item;
    yyjson_arr_iter list =
        yyjson_arr_iter_with(member_of(profile, "properties", "cooperativeMatrices"));
    while ((item = yyjson_arr_iter_next(&list))) {
        uint64_t v[8] = {0};
        bool whole = true;
        for (size_t n = 0; n < 8; n++)
            whole = number_of(yyjson_obj_get(item, names[n]), &v[n]) && whole;
        if (!whole)
            continue;
        if (shapes < room)
            out[shapes] = (VkCooperativeMatrixPropertiesKHR){
                .sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR,
                .MSize = (uint32_t)v[0],
                .NSize = (uint32_t)v[1],
                .KSize = (uint32_t)v[2],
                .AType = (VkComponentTypeKHR)v[3],
                .BType = (VkComponentTypeKHR)v[4],
                .CType = (VkComponentTypeKHR)v[5],
                .ResultType = (VkComponentTypeKHR)v[6],
                .scope = (VkScopeKHR)v[7]};
        shapes++;
    }
    return shapes;
}

void wfi_profile_untold(const wfi_profile *profile, char *text, size_t bytes)
{
    static const char *const names[] = {"maxComputeWorkGroupSize",
                                        "maxComputeWorkGroupCount",
                                        "maxComputeSharedMemorySize",
                                        "maxPushConstantsSize",
                                        "maxPerStageDescriptorStorageBuffers",
                                        "maxDescriptorSetStorageBuffers",
                                        "maxStorageBufferRange",
                                        "maxTexelBufferElements",
                                        "maxMemoryAllocationSize",
                                        "minStorageBufferOffsetAlignment",
                                        "minTexelBufferOffsetAlignment",
                                        "subgroupSize",
                                        "memoryTypes"};
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < WFI_COUNT(names); i++)
        if (!member_of(profile, "properties", names[i]) && used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? ", " : "", names[i]);
}
