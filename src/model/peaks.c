/* Measured ceilings: copy bandwidth and multiply-add rate. */
#include "core/buffer.h"
#include "core/command.h"
#include "core/timing.h"
#include "kernels/plan.h"
#include "peaks/peaks_ids.h"
#include "wfi_shaders.h"

#define COPY_BYTES (UINT64_C(1) << 30) /* far over any last-level cache */
#define COPY_BYTES_CPU (UINT64_C(64) << 20)
#define MEASURE_SECONDS 0.3
#define CHAINS 8
#define UNROLL 16
#define FMA_GROUPS 2048   /* over 10 a unit on the largest GPUs */
#define FMA_GROUPS_CPU 64 /* starting a work-group costs a CPU device tens of microseconds */
#define FMA_TARGET_SECONDS 0.02
#define FMA_MAX_LOOPS (1u << 20)

static void group_size(const wfi_point *point, uint32_t size[3])
{
    const uint32_t most = point->caps->max_invocations;
    size[0] = most < 256 ? most : 256;
    if (size[0] > point->caps->max_group_size[0])
        size[0] = point->caps->max_group_size[0];
    size[1] = size[2] = 1;
}

static uint32_t fma_groups(const wf_caps *caps)
{
    return caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU ? FMA_GROUPS_CPU : FMA_GROUPS;
}

static void fma_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    (void)point;
    desc->constants[desc->constant_count++] = (wfi_constant){PEAKS_ID_UNROLL, UNROLL};
}

typedef struct copy_push {
    uint32_t count;
} copy_push;

typedef struct fma_push {
    uint32_t loops;
    float scale, shift;
} fma_push;

/* What the two kernels' builds are told. */
typedef struct peak_params {
    uint64_t bytes; /* copy */
    uint32_t loops; /* fma */
} peak_params;

static wf_result build_copy(wf_plan *plan, const wfi_point *point, const void *params)
{
    const peak_params *p = params;
    uint32_t size[3];
    group_size(point, size);
    const uint32_t count = (uint32_t)(p->bytes / 16);
    const uint32_t groups = (count + size[0] - 1) / size[0];
    const uint32_t columns = groups < 32768 ? groups : 32768;
    const copy_push push = {count};
    wfi_pipeline_desc desc;
    wfi_step step = {
        .groups = {columns, (groups + columns - 1) / columns, 1},
        .slot_count = 2,
        .slots = {{WFI_SLOT_BINDING, 0, 0, p->bytes}, {WFI_SLOT_BINDING, 1, 0, p->bytes}},
        .push_bytes = sizeof push,
    };
    *(copy_push *)(void *)step.push = push;
    wfi_point_pipeline(point, &desc);
    wf_result result = wfi_plan_add_pipeline(plan, &desc, &step.pipeline);
    const wfi_binding_spec from = {"from", WFI_READS, p->bytes}, to = {"to", WFI_WRITES, p->bytes};
    if (result == WF_SUCCESS)
        result = wfi_plan_add_binding(plan, &from);
    if (result == WF_SUCCESS)
        result = wfi_plan_add_binding(plan, &to);
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

static wf_result build_fma(wf_plan *plan, const wfi_point *point, const void *params)
{
    const peak_params *p = params;
    /* Values swing about a bounded orbit: they neither grow, vanish nor settle. */
    const fma_push push = {p->loops, -0.9999f, 0.7f};
    uint32_t size[3];
    wfi_pipeline_desc desc;
    group_size(point, size);
    const wfi_binding_spec to = {"to", WFI_WRITES, size[0] * sizeof(float)};
    wfi_step step = {
        .groups = {fma_groups(point->caps), 1, 1},
        .slot_count = 1,
        .slots = {{WFI_SLOT_BINDING, 0, 0, to.bytes}},
        .push_bytes = sizeof push,
    };
    *(fma_push *)(void *)step.push = push;
    wfi_point_pipeline(point, &desc);
    wf_result result = wfi_plan_add_pipeline(plan, &desc, &step.pipeline);
    if (result == WF_SUCCESS)
        result = wfi_plan_add_binding(plan, &to);
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

static const wfi_variant copy_row = {
    .name = "copy",
    .modules = {[WF_TYPE_F32] = &wfi_spv_peaks_copy},
    .storage_buffers = 2,
    .push_bytes = sizeof(copy_push),
    .group_size = group_size,
    .build = build_copy,
};

static const wfi_variant fma_row = {
    .name = "fma",
    .modules = {[WF_TYPE_F32] = &wfi_spv_peaks_fma_f32,
                [WF_TYPE_F64] = &wfi_spv_peaks_fma_f64,
                [WF_TYPE_F16] = &wfi_spv_peaks_fma_f16},
    .storage_buffers = 1,
    .push_bytes = sizeof(fma_push),
    .group_size = group_size,
    .constants = fma_constants,
    .build = build_fma,
};

static wf_result make_plan(wf_device *device, const wfi_variant *row, wf_type type,
                           const peak_params *params, wf_plan **out)
{
    const wfi_problem problem = {.type = type};
    const wfi_choice choice = {{&device->caps, &problem, row, {0}}, "fixed"};
    return wfi_plan_create(device, &choice, params, out);
}

typedef struct transfer_copy {
    wf_device *device;
    const wf_buffer *from, *to;
    uint64_t bytes;
} transfer_copy;

static wf_result record_transfer(void *user, VkCommandBuffer command_buffer)
{
    const transfer_copy *copy = user;
    /* wfi_measure separates executions by compute barriers only. */
    wfi_barrier(copy->device, command_buffer);
    wfi_record_copy(copy->device, command_buffer, copy->from, 0, copy->to, 0, copy->bytes);
    return WF_SUCCESS;
}

static uint64_t copy_bytes(const wf_caps *caps)
{
    uint64_t bytes = caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU ? COPY_BYTES_CPU : COPY_BYTES;
    const uint64_t bounds[] = {caps->max_storage_range, caps->max_buffer,
                               caps->available_bytes / 8};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (bytes > bounds[i])
            bytes = bounds[i];
    return bytes & ~UINT64_C(255);
}

/* The better of a compute shader and the driver's own buffer copy. */
static wf_result measure_copy(wf_device *device, wf_buffer *from, wf_buffer *to, uint64_t bytes,
                              double *bandwidth)
{
    const wf_measure_params measure = {.size = sizeof measure, .budget_seconds = MEASURE_SECONDS};
    const peak_params params = {.bytes = bytes};
    const wf_bindings bindings = {.size = sizeof bindings,
                                  .items = {{.buffer = from}, {.buffer = to}}};
    wf_timing shader, transfer;
    wf_plan *plan = NULL;
    wf_result result = make_plan(device, &copy_row, WF_TYPE_F32, &params, &plan);
    if (result == WF_SUCCESS)
        result = wf_plan_measure(plan, &bindings, &measure, &shader);
    transfer_copy copy = {device, from, to, bytes};
    if (result == WF_SUCCESS)
        result = wfi_measure(device, record_transfer, &copy, &measure, &transfer);
    wf_plan_destroy(&plan);
    if (result != WF_SUCCESS)
        return result;
    const double best =
        shader.median_us < transfer.median_us ? shader.median_us : transfer.median_us;
    if (!(best > 0))
        return wfi_fail(&device->log, WF_ERROR_DRIVER, "the device's clock did not advance");
    *bandwidth = 2.0 * (double)bytes / (best * 1e-6);
    return WF_SUCCESS;
}

static wf_result copy_bandwidth(wf_device *device, double *bandwidth)
{
    const uint64_t bytes = copy_bytes(&device->caps);
    wf_buffer *from = NULL, *to = NULL;
    wf_result result = wf_buffer_create(device, bytes, WF_MEMORY_DEVICE, &from);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, bytes, WF_MEMORY_DEVICE, &to);
    /* Untouched memory can be shared zero pages; both are written before timing. */
    if (result == WF_SUCCESS)
        result = wf_buffer_fill(from, 0, bytes, 0x3f9e0651u);
    if (result == WF_SUCCESS)
        result = wf_buffer_fill(to, 0, bytes, 0x3f8ccccdu);
    if (result == WF_SUCCESS)
        result = measure_copy(device, from, to, bytes, bandwidth);
    wf_buffer_destroy(&from);
    wf_buffer_destroy(&to);
    return result;
}

/* One timing of the chains with `loops` turns of the loop. */
static wf_result time_fma(wf_device *device, wf_type type, wf_buffer *to, uint32_t loops,
                          double budget, wf_timing *timing)
{
    const wf_measure_params measure = {
        .size = sizeof measure, .repeat = budget > 0 ? 0 : 1, .budget_seconds = budget};
    const peak_params params = {.loops = loops};
    const wf_bindings bindings = {.size = sizeof bindings, .items = {{.buffer = to}}};
    wf_plan *plan = NULL;
    wf_result result = make_plan(device, &fma_row, type, &params, &plan);
    if (result == WF_SUCCESS)
        result = wf_plan_measure(plan, &bindings, &measure, timing);
    wf_plan_destroy(&plan);
    return result;
}

static wf_result fma_rate(wf_device *device, wf_type type, double *rate)
{
    wf_buffer *to = NULL;
    wf_timing timing;
    uint32_t loops = 1;
    wf_result result = wf_buffer_create(device, 4096, WF_MEMORY_DEVICE, &to);
    /* Long enough that starting the work-groups does not show, short enough for any watchdog. */
    while (result == WF_SUCCESS) {
        result = time_fma(device, type, to, loops, 0, &timing);
        if (result != WF_SUCCESS || timing.median_us * 1e-6 >= FMA_TARGET_SECONDS / 2 ||
            loops >= FMA_MAX_LOOPS)
            break;
        const double grow = FMA_TARGET_SECONDS / (timing.median_us * 1e-6 + 1e-6);
        loops = grow > 16 ? loops * 16 : (uint32_t)(loops * (grow < 2 ? 2 : grow));
    }
    if (result == WF_SUCCESS)
        result = time_fma(device, type, to, loops, MEASURE_SECONDS, &timing);
    wf_buffer_destroy(&to);
    if (result != WF_SUCCESS)
        return result;
    const wfi_point point = {&device->caps, NULL, &fma_row, {0}};
    uint32_t size[3];
    group_size(&point, size);
    const double lanes = type == WF_TYPE_F16 ? 2 : 1;
    *rate = 2.0 * lanes * CHAINS * UNROLL * loops * size[0] * fma_groups(&device->caps) /
            (timing.median_us * 1e-6);
    return WF_SUCCESS;
}

wf_result wf_device_copy_bandwidth(wf_device *device, double *bytes_per_second)
{
    if (!device || !bytes_per_second)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result result = WF_SUCCESS;
    pthread_mutex_lock(&device->peaks_lock);
    if (!(device->copy_bandwidth > 0))
        result = copy_bandwidth(device, &device->copy_bandwidth);
    if (result == WF_SUCCESS)
        *bytes_per_second = device->copy_bandwidth;
    pthread_mutex_unlock(&device->peaks_lock);
    return result;
}

static bool has_type(const wf_caps *caps, wf_type type)
{
    return type == WF_TYPE_F32 || (type == WF_TYPE_F64 && caps->f64) ||
           (type == WF_TYPE_F16 && caps->f16_arithmetic);
}

wf_result wf_device_fma_rate(wf_device *device, wf_type type, double *flops_per_second)
{
    if (!device || !flops_per_second || (unsigned)type >= WF_TYPE_COUNT)
        return WF_ERROR_INVALID_ARGUMENT;
    if (!has_type(&device->caps, type))
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED, "%s has no %s arithmetic",
                        device->caps.name, wf_type_name(type));
    wf_result result = WF_SUCCESS;
    pthread_mutex_lock(&device->peaks_lock);
    if (!(device->fma_rate[type] > 0))
        result = fma_rate(device, type, &device->fma_rate[type]);
    if (result == WF_SUCCESS)
        *flops_per_second = device->fma_rate[type];
    pthread_mutex_unlock(&device->peaks_lock);
    return result;
}
