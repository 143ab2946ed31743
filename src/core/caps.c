#include "core/caps.h"

#include "core/arithmetic.h"
#include "core/chain.h"
#include "core/display.h"
#include "core/heap.h"

#include <stdio.h>
#include <string.h>

#define MAX_QUEUE_FAMILIES 32

/* How many there are is asked first: SwiftShader leaves a larger number as it is. */
static uint32_t queue_families(const wfi_instance *instance, VkPhysicalDevice device,
                               VkQueueFamilyProperties families[MAX_QUEUE_FAMILIES])
{
    uint32_t count = 0;
    instance->vkGetPhysicalDeviceQueueFamilyProperties(device, &count, NULL);
    count = (uint32_t)wfi_least(count, MAX_QUEUE_FAMILIES);
    instance->vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families);
    return count;
}

/* Timestamps before all, and then a family for such work alone. */
static bool is_better(const VkQueueFamilyProperties *a, const VkQueueFamilyProperties *than)
{
    const bool stamps = a->timestampValidBits > 0, graphics = a->queueFlags & VK_QUEUE_GRAPHICS_BIT;
    if (stamps != (than->timestampValidBits > 0))
        return stamps;
    return !graphics && (than->queueFlags & VK_QUEUE_GRAPHICS_BIT);
}

uint32_t wfi_best_queue_family(const VkQueueFamilyProperties *families, uint32_t count)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) &&
            (best == UINT32_MAX || is_better(&families[i], &families[best])))
            best = i;
    return best;
}

uint32_t wfi_caps_queue_family(const wfi_instance *instance, VkPhysicalDevice device,
                               uint32_t *timestamp_valid_bits)
{
    VkQueueFamilyProperties families[MAX_QUEUE_FAMILIES];
    const uint32_t count = queue_families(instance, device, families),
                   best = wfi_best_queue_family(families, count);
    *timestamp_valid_bits = best == UINT32_MAX ? 0 : families[best].timestampValidBits;
    return best;
}

static bool copies_alone(VkQueueFlags flags)
{
    const VkQueueFlags more = VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT;
    return (flags & ~more) == VK_QUEUE_TRANSFER_BIT;
}

void wfi_caps_side_families(const wfi_instance *instance, VkPhysicalDevice device, uint32_t family,
                            uint32_t *compute, uint32_t *copies)
{
    VkQueueFamilyProperties families[MAX_QUEUE_FAMILIES];
    const uint32_t count = queue_families(instance, device, families);
    *compute = *copies = UINT32_MAX;
    for (uint32_t i = count; i-- > 0;) {
        const VkQueueFamilyProperties *f = &families[i];
        if (i != family && (f->queueFlags & VK_QUEUE_COMPUTE_BIT) &&
            f->timestampValidBits == families[family].timestampValidBits)
            *compute = i;
        if (copies_alone(f->queueFlags))
            *copies = i;
    }
}

bool wfi_caps_compute_family(const wfi_instance *instance, VkPhysicalDevice device, uint32_t family,
                             uint32_t *timestamp_valid_bits)
{
    VkQueueFamilyProperties families[MAX_QUEUE_FAMILIES];
    const uint32_t count = queue_families(instance, device, families);
    if (family >= count || !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT))
        return false;
    *timestamp_valid_bits = families[family].timestampValidBits;
    return true;
}

/* The property structures that caps are filled from. */
typedef struct properties {
    VkPhysicalDeviceProperties2 core;
    VkPhysicalDeviceIDProperties id;
    VkPhysicalDeviceMaintenance3Properties maintenance3;
    VkPhysicalDeviceSubgroupProperties subgroup;
    VkPhysicalDeviceDriverProperties driver;
    VkPhysicalDeviceMaintenance4Properties maintenance4;
    VkPhysicalDeviceSubgroupSizeControlProperties subgroup_size;
    VkPhysicalDeviceShaderIntegerDotProductProperties integer_dot;
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV sm_builtins;
    VkPhysicalDeviceShaderCorePropertiesAMD amd_core;
    VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM arm_core;
    VkPhysicalDeviceDrmPropertiesEXT drm;
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host_memory;
} properties;

static void query_properties(const wfi_instance *instance, VkPhysicalDevice device,
                             const wfi_features *features, properties *p)
{
    *p = (properties){.core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
#define LINK(member, type)                                                                         \
    wfi_chain_insert(&p->core, &p->member, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##type)
    LINK(id, ID_PROPERTIES);
    LINK(maintenance3, MAINTENANCE_3_PROPERTIES);
    LINK(subgroup, SUBGROUP_PROPERTIES);
    if (features->driver_properties)
        LINK(driver, DRIVER_PROPERTIES);
    if (features->api_version >= VK_API_VERSION_1_3)
        LINK(maintenance4, MAINTENANCE_4_PROPERTIES);
    if (features->subgroup_size.sType)
        LINK(subgroup_size, SUBGROUP_SIZE_CONTROL_PROPERTIES);
    if (features->integer_dot.sType)
        LINK(integer_dot, SHADER_INTEGER_DOT_PRODUCT_PROPERTIES);
    if (features->shader_sm_builtins)
        LINK(sm_builtins, SHADER_SM_BUILTINS_PROPERTIES_NV);
    if (features->amd_core)
        LINK(amd_core, SHADER_CORE_PROPERTIES_AMD);
    if (features->arm_core)
        LINK(arm_core, SHADER_CORE_BUILTINS_PROPERTIES_ARM);
    if (features->drm)
        LINK(drm, DRM_PROPERTIES_EXT);
    if (features->external_memory_host)
        LINK(host_memory, EXTERNAL_MEMORY_HOST_PROPERTIES_EXT);
#undef LINK
    instance->vkGetPhysicalDeviceProperties2(device, &p->core);
}

static void fill_identity(const properties *p, wf_caps *caps)
{
    const VkPhysicalDeviceProperties *core = &p->core.properties;
    snprintf(caps->name, sizeof caps->name, "%s", core->deviceName);
    caps->device_type = (uint32_t)core->deviceType;
    caps->vendor_id = core->vendorID;
    caps->device_id = core->deviceID;
    caps->driver_version = core->driverVersion;
    caps->driver_id = (uint32_t)p->driver.driverID;
    snprintf(caps->driver_name, sizeof caps->driver_name, "%s", p->driver.driverName);
    snprintf(caps->driver_info, sizeof caps->driver_info, "%s", p->driver.driverInfo);
    memcpy(caps->uuid, p->id.deviceUUID, sizeof caps->uuid);
    memcpy(caps->cache_uuid, core->pipelineCacheUUID, sizeof caps->cache_uuid);
    caps->api_version = core->apiVersion;
}

static void fill_limits(const properties *p, wf_caps *caps)
{
    const VkPhysicalDeviceLimits *limits = &p->core.properties.limits;
    caps->max_invocations = limits->maxComputeWorkGroupInvocations;
    memcpy(caps->max_group_size, limits->maxComputeWorkGroupSize, sizeof caps->max_group_size);
    memcpy(caps->max_groups, limits->maxComputeWorkGroupCount, sizeof caps->max_groups);
    caps->max_shared_bytes = limits->maxComputeSharedMemorySize;
    caps->max_push_bytes = limits->maxPushConstantsSize;
    caps->max_storage_buffers = limits->maxPerStageDescriptorStorageBuffers;
    if (caps->max_storage_buffers > limits->maxDescriptorSetStorageBuffers)
        caps->max_storage_buffers = limits->maxDescriptorSetStorageBuffers;
    caps->max_storage_range = limits->maxStorageBufferRange;
    caps->max_allocation = p->maintenance3.maxMemoryAllocationSize;
    caps->max_buffer = p->maintenance4.sType ? p->maintenance4.maxBufferSize : caps->max_allocation;
    if (caps->max_buffer > caps->max_allocation)
        caps->max_buffer = caps->max_allocation;
    caps->storage_alignment = limits->minStorageBufferOffsetAlignment;
    caps->timestamp_period_ns = (double)limits->timestampPeriod;
}

/* Vulkan guarantees these formats; a driver that lacks one all the same gets no texel buffers. */
static void fill_texels(const wfi_instance *instance, VkPhysicalDevice device, const properties *p,
                        wf_caps *caps)
{
    static const VkFormat formats[] = {VK_FORMAT_R32_SFLOAT, VK_FORMAT_R32G32_UINT};
    const VkPhysicalDeviceLimits *limits = &p->core.properties.limits;
    caps->max_texel_elements = limits->maxTexelBufferElements;
    caps->texel_alignment = limits->minTexelBufferOffsetAlignment;
    for (size_t i = 0; i < WFI_COUNT(formats); i++) {
        VkFormatProperties format;
        instance->vkGetPhysicalDeviceFormatProperties(device, formats[i], &format);
        if (!(format.bufferFeatures & VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT))
            caps->max_texel_elements = 0;
    }
}

static void fill_subgroups(const properties *p, const wfi_features *f, wf_caps *caps)
{
    caps->subgroup_size = caps->subgroup_min = caps->subgroup_max = 1;
    if (!(p->subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT))
        return;
    caps->subgroup_size = p->subgroup.subgroupSize;
    caps->subgroup_operations = p->subgroup.supportedOperations;
    caps->subgroup_min = caps->subgroup_max = caps->subgroup_size;
    if (!f->subgroup_size.subgroupSizeControl)
        return;
    caps->subgroup_min = p->subgroup_size.minSubgroupSize;
    caps->subgroup_max = p->subgroup_size.maxSubgroupSize;
    caps->max_group_subgroups = p->subgroup_size.maxComputeWorkgroupSubgroups;
    caps->subgroup_size_control =
        (p->subgroup_size.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
    caps->full_subgroups = f->subgroup_size.computeFullSubgroups;
}

static bool has_all_cooperative2(const wfi_features *f)
{
#if defined(VK_NV_cooperative_matrix2)
    return f->cooperative2.cooperativeMatrixWorkgroupScope &&
           f->cooperative2.cooperativeMatrixFlexibleDimensions &&
           f->cooperative2.cooperativeMatrixTensorAddressing &&
           f->cooperative2.cooperativeMatrixConversions &&
           f->cooperative2.cooperativeMatrixPerElementOperations &&
           f->cooperative2.cooperativeMatrixBlockLoads;
#else
    (void)f;
    return false;
#endif
}

static void fill_arithmetic(const properties *p, const wfi_features *f, wf_caps *caps)
{
    caps->f16_arithmetic = f->float16_int8.shaderFloat16;
    caps->f16_storage = f->storage16.storageBuffer16BitAccess;
    caps->f64 = f->core.features.shaderFloat64;
    caps->int8_arithmetic = f->float16_int8.shaderInt8;
    caps->int8_storage = f->storage8.storageBuffer8BitAccess;
    caps->int16 = f->core.features.shaderInt16;
    caps->extended_images = f->core.features.shaderStorageImageExtendedFormats;
    caps->int64 = f->core.features.shaderInt64;
    caps->integer_dot = f->integer_dot.shaderIntegerDotProduct;
    caps->integer_dot_accelerated =
        caps->integer_dot && p->integer_dot.integerDotProduct4x8BitPackedSignedAccelerated;
    caps->int64_atomics = caps->int64 && f->atomic_int64.shaderBufferInt64Atomics;
    caps->f32_atomic_add = f->atomic_float.shaderBufferFloat32AtomicAdd;
    caps->f64_atomic_add = caps->f64 && f->atomic_float.shaderBufferFloat64AtomicAdd;
    caps->vulkan_memory_model = f->memory_model.vulkanMemoryModel;
    caps->buffer_device_address = f->address.bufferDeviceAddress;
    caps->cooperative_matrix = f->cooperative.cooperativeMatrix && caps->vulkan_memory_model;
    caps->cooperative_matrix2 = caps->cooperative_matrix && has_all_cooperative2(f);
    caps->bf16 = f->bfloat16.shaderBFloat16Type;
    caps->bf16_dot = f->bfloat16.shaderBFloat16DotProduct;
    caps->bf16_cooperative = f->bfloat16.shaderBFloat16CooperativeMatrix;
}

static void fill_cooperative_shapes(const wfi_instance *instance, VkPhysicalDevice device,
                                    wf_caps *caps)
{
    uint32_t count = 0;
    if (!caps->cooperative_matrix || !instance->cooperative_properties ||
        instance->cooperative_properties(device, &count, NULL) != VK_SUCCESS || count == 0)
        return;
    VkCooperativeMatrixPropertiesKHR *list = wfi_calloc(count, sizeof *list);
    if (!list)
        return;
    for (uint32_t i = 0; i < count; i++)
        list[i].sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
    if (instance->cooperative_properties(device, &count, list) < VK_SUCCESS)
        count = 0;
    for (uint32_t i = 0; i < count && i < WF_MAX_COOPERATIVE_SHAPES; i++) {
        caps->cooperative_shapes[caps->cooperative_shape_count++] = (wf_cooperative_shape){
            .m = list[i].MSize,
            .n = list[i].NSize,
            .k = list[i].KSize,
            .a_type = (uint32_t)list[i].AType,
            .b_type = (uint32_t)list[i].BType,
            .c_type = (uint32_t)list[i].CType,
            .result_type = (uint32_t)list[i].ResultType,
            .scope = (uint32_t)list[i].scope,
            .saturating = list[i].saturatingAccumulation,
        };
    }
    wfi_free(list);
}

static void fill_heaps(const VkPhysicalDeviceMemoryProperties *memory, wf_caps *caps)
{
    caps->heap_count = memory->memoryHeapCount;
    for (uint32_t i = 0; i < memory->memoryHeapCount && i < WF_MAX_HEAPS; i++) {
        caps->heaps[i].bytes = memory->memoryHeaps[i].size;
        caps->heaps[i].device_local =
            (memory->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
    }
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++)
        if (memory->memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)
            caps->heaps[memory->memoryTypes[i].heapIndex].host_visible = true;
}

/* Whether a heap has memory that buffers can be made of without a protected queue: Arm's drivers
 * list a small heap that has none. */
static bool has_plain_memory(const VkPhysicalDeviceMemoryProperties *memory, uint32_t heap)
{
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++)
        if (memory->memoryTypes[i].heapIndex == heap &&
            !(memory->memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_PROTECTED_BIT))
            return true;
    return false;
}

static void fill_memory(const wfi_instance *instance, VkPhysicalDevice device,
                        const wfi_features *f, wf_caps *caps)
{
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 memory = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
        .pNext = f->memory_budget ? &budget : NULL};
    instance->vkGetPhysicalDeviceMemoryProperties2(device, &memory);
    fill_heaps(&memory.memoryProperties, caps);
    caps->memory_budget = f->memory_budget;
    caps->unified_memory = true;
    for (uint32_t i = 0; i < caps->heap_count; i++) {
        const wf_memory_heap *heap = &caps->heaps[i];
        if (!heap->device_local || !has_plain_memory(&memory.memoryProperties, i))
            continue;
        /* A discrete GPU's resizable-BAR heap can be mapped too, but is not the host's memory. */
        caps->unified_memory = caps->unified_memory && heap->host_visible &&
                               caps->device_type != VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
        if (heap->bytes < caps->device_local_bytes)
            continue;
        caps->device_local_bytes = heap->bytes;
        caps->available_bytes = heap->bytes;
        if (f->memory_budget && budget.heapBudget[i] > 0)
            caps->available_bytes = budget.heapBudget[i] > budget.heapUsage[i]
                                        ? budget.heapBudget[i] - budget.heapUsage[i]
                                        : 0;
    }
}

static uint32_t unit_subgroups(const properties *p)
{
    if (p->sm_builtins.sType)
        return p->sm_builtins.shaderWarpsPerSM;
    if (p->amd_core.sType)
        return p->amd_core.simdPerComputeUnit * p->amd_core.wavefrontsPerSimd;
    if (p->arm_core.sType)
        return p->arm_core.shaderWarpsPerCore;
    return 0;
}

static uint32_t compute_units(const properties *p)
{
    if (p->sm_builtins.sType)
        return p->sm_builtins.shaderSMCount;
    if (p->amd_core.sType)
        return p->amd_core.shaderEngineCount * p->amd_core.shaderArraysPerEngineCount *
               p->amd_core.computeUnitsPerShaderArray;
    if (p->arm_core.sType)
        return p->arm_core.shaderCoreCount;
    return 0;
}

static bool display_attached(const properties *p)
{
    const VkPhysicalDeviceDrmPropertiesEXT *drm = &p->drm;
    return (drm->hasPrimary &&
            wfi_display_connected("/sys", drm->primaryMajor, drm->primaryMinor)) ||
           (drm->hasRender && wfi_display_connected("/sys", drm->renderMajor, drm->renderMinor));
}

wf_result wfi_caps_query(const wfi_instance *instance, const wfi_log *log, VkPhysicalDevice device,
                         const wfi_features *features, wf_caps *out)
{
    properties p;
    query_properties(instance, device, features, &p);
    *out = (wf_caps){.size = sizeof *out};
    fill_identity(&p, out);
    if (wfi_caps_queue_family(instance, device, &out->timestamp_valid_bits) == UINT32_MAX)
        return wfi_fail(log, WF_ERROR_UNSUPPORTED, "%s has no compute queue", out->name);
    if (out->api_version < VK_API_VERSION_1_1)
        return wfi_fail(log, WF_ERROR_UNSUPPORTED, "%s offers Vulkan 1.0 only", out->name);
    fill_limits(&p, out);
    fill_texels(instance, device, &p, out);
    fill_subgroups(&p, features, out);
    fill_arithmetic(&p, features, out);
    fill_cooperative_shapes(instance, device, out);
    fill_memory(instance, device, features, out);
    out->push_descriptors = features->push_descriptor;
    out->conditional_rendering = features->conditional.conditionalRendering;
    out->pipeline_statistics = features->executable.pipelineExecutableInfo;
    out->compute_units = compute_units(&p);
    out->unit_subgroups = unit_subgroups(&p);
    out->display_attached = display_attached(&p);
    out->host_import_alignment = p.host_memory.minImportedHostPointerAlignment;
    out->memory_fds = features->external_memory_fd;
    return WF_SUCCESS;
}

static void lower32(uint32_t *value, uint32_t limit)
{
    if (*value > limit)
        *value = limit;
}

static void lower64(uint64_t *value, uint64_t limit)
{
    if (*value > limit)
        *value = limit;
}

void wfi_caps_clamp_minimum(wf_caps *caps)
{
    lower32(&caps->max_invocations, 128);
    lower32(&caps->max_group_size[0], 128);
    lower32(&caps->max_group_size[1], 128);
    lower32(&caps->max_group_size[2], 64);
    for (int i = 0; i < 3; i++)
        lower32(&caps->max_groups[i], 65535);
    lower32(&caps->max_shared_bytes, 16384);
    lower32(&caps->max_push_bytes, 128);
    lower32(&caps->max_storage_buffers, 4);
    lower64(&caps->max_storage_range, UINT64_C(1) << 27);
    lower32(&caps->max_texel_elements, 65536);
    lower64(&caps->max_allocation, UINT64_C(1) << 30);
    lower64(&caps->max_buffer, UINT64_C(1) << 30);
    caps->subgroup_size = caps->subgroup_min = caps->subgroup_max = 1;
    caps->subgroup_operations = caps->max_group_subgroups = 0;
    caps->subgroup_size_control = caps->full_subgroups = false;
    caps->f16_arithmetic = caps->f16_storage = caps->f64 = false;
    caps->int8_arithmetic = caps->int8_storage = caps->int16 = caps->int64 = false;
    caps->int64_atomics = caps->f32_atomic_add = caps->f64_atomic_add = false;
    caps->bf16 = caps->bf16_dot = caps->bf16_cooperative = false;
    caps->extended_images = false;
    caps->integer_dot = caps->integer_dot_accelerated = false;
    caps->cooperative_matrix = caps->cooperative_matrix2 = false;
    caps->vulkan_memory_model = caps->buffer_device_address = false;
    caps->cooperative_shape_count = 0;
    caps->push_descriptors = caps->pipeline_statistics = caps->conditional_rendering = false;
    caps->timestamp_valid_bits = 0;
    caps->compute_units = caps->unit_subgroups = 0;
    caps->withheld = 0; /* no enabled feature would change it */
    /* Device-local memory that the host can map is not guaranteed. */
    caps->unified_memory = false;
    caps->host_import_alignment = 0;
    caps->memory_fds = false;
    caps->limits = WF_LIMITS_MINIMUM;
}

bool wfi_shape_multiplies(const wf_cooperative_shape *shape, uint32_t factor, uint32_t sum)
{
    return shape->a_type == factor && shape->b_type == factor && shape->c_type == sum &&
           shape->result_type == sum && shape->scope == VK_SCOPE_SUBGROUP_KHR && !shape->saturating;
}

const wf_cooperative_shape *wfi_caps_shape(const wf_caps *caps, uint32_t factor, uint32_t sum,
                                           uint32_t m, uint32_t n, uint32_t k)
{
    const wf_cooperative_shape *best = NULL;
    for (uint32_t i = 0; i < caps->cooperative_shape_count; i++) {
        const wf_cooperative_shape *s = &caps->cooperative_shapes[i];
        if (!wfi_shape_multiplies(s, factor, sum) || (m && m != s->m) || (n && n != s->n) ||
            (k && k != s->k))
            continue;
        if (!best || s->m * s->n * s->k > best->m * best->n * best->k)
            best = s;
    }
    return best;
}

/* ------------------------------------------------------------------------------------- withheld */

typedef struct withheld_row {
    uint32_t feature;
    const char *what;
    const char *enable;
} withheld_row;

static const withheld_row withheld_rows[] = {
    {WF_WITHHELD_F64, "64-bit floats", "shaderFloat64"},
    {WF_WITHHELD_F16_ARITHMETIC, "16-bit float arithmetic", "shaderFloat16"},
    {WF_WITHHELD_F16_STORAGE, "16-bit storage buffers", "storageBuffer16BitAccess"},
    {WF_WITHHELD_INT8, "8-bit integers", "shaderInt8 and storageBuffer8BitAccess"},
    {WF_WITHHELD_INT64, "64-bit integers", "shaderInt64"},
    {WF_WITHHELD_BF16, "bfloat16", "shaderBFloat16Type"},
    {WF_WITHHELD_INTEGER_DOT, "integer dot products", "shaderIntegerDotProduct"},
    {WF_WITHHELD_COOPERATIVE_MATRIX, "cooperative matrices", "cooperativeMatrix"},
    {WF_WITHHELD_COOPERATIVE_MATRIX2, "work-group cooperative matrices",
     "VkPhysicalDeviceCooperativeMatrix2FeaturesNV"},
    {WF_WITHHELD_SUBGROUP_SIZE_CONTROL, "subgroup size control", "subgroupSizeControl"},
    {WF_WITHHELD_FULL_SUBGROUPS, "full subgroups", "computeFullSubgroups"},
    {WF_WITHHELD_EXTENDED_IMAGES, "storage images of r16f", "shaderStorageImageExtendedFormats"},
};

static uint32_t features_of(const wf_caps *caps)
{
    uint32_t features = 0;
    features |= caps->f64 ? WF_WITHHELD_F64 : 0;
    features |= caps->f16_arithmetic ? WF_WITHHELD_F16_ARITHMETIC : 0;
    features |= caps->f16_storage ? WF_WITHHELD_F16_STORAGE : 0;
    features |= caps->int8_arithmetic && caps->int8_storage ? WF_WITHHELD_INT8 : 0;
    features |= caps->int64 ? WF_WITHHELD_INT64 : 0;
    features |= caps->bf16 ? WF_WITHHELD_BF16 : 0;
    features |= caps->integer_dot ? WF_WITHHELD_INTEGER_DOT : 0;
    features |= caps->cooperative_matrix ? WF_WITHHELD_COOPERATIVE_MATRIX : 0;
    features |= caps->cooperative_matrix2 ? WF_WITHHELD_COOPERATIVE_MATRIX2 : 0;
    features |= caps->subgroup_size_control ? WF_WITHHELD_SUBGROUP_SIZE_CONTROL : 0;
    features |= caps->full_subgroups ? WF_WITHHELD_FULL_SUBGROUPS : 0;
    features |= caps->extended_images ? WF_WITHHELD_EXTENDED_IMAGES : 0;
    return features;
}

void wfi_caps_withhold(const wf_caps *physical, wf_caps *caps)
{
    caps->withheld = features_of(physical) & ~features_of(caps);
}

void wfi_caps_say_missing(const wf_caps *caps, uint32_t feature, char text[256])
{
    for (size_t i = 0; i < WFI_COUNT(withheld_rows); i++) {
        const withheld_row *row = &withheld_rows[i];
        if (row->feature != feature)
            continue;
        if (caps->withheld & feature)
            snprintf(text, 256,
                     "the device has %s, but the application's VkDevice does not enable %s "
                     "(wf_required_features tells what to enable)",
                     row->what, row->enable);
        else
            snprintf(text, 256, "the device has no %s", row->what);
        return;
    }
}
