/* wf_cg_step_plan: the kernels of a solve for parts of a system. */

#include <string.h>

#include "core/heap.h"
#include "core/params.h"
#include "kernels/families.h"
#include "plan/fixed.h"
#include "solve/cg.h"
#include "wfi_shaders.h"

enum { STEPS = WF_CG_STEP_UPDATE + 1 };

/* As in cg_problem.glsl, with PART. */
typedef struct step_push {
    uint32_t iteration, count, stride, block, groups, partials_at, partials, history_at, products;
} step_push;

/* Work-groups that leave partial sums of u w beside the product's. */
static uint32_t rest_groups(const wf_device *device, const wf_cg_step_params *p)
{
    return p->rest ? wfi_cg_groups(&device->caps, p->rest, 0) : 0;
}

/* In elements of PARTIALS: where the partial sums of u w begin, behind those of r u and r r. */
static uint32_t rest_at(const wf_device *device, const wf_cg_step_params *p)
{
    return WFI_CG_PARTIALS_AT + 4 * wfi_cg_groups(&device->caps, p->count, 0);
}

typedef struct step_job {
    const wf_device *device;
    const wf_cg_step_params *params;
} step_job;

/* Bindings of a step, which has *count of them. */
static void list_bindings(const step_job *job, wfi_binding_spec specs[WF_MAX_BINDINGS],
                          uint32_t *count)
{
    const wf_cg_step_params *p = job->params;
    const uint64_t real = wf_type_size(p->type), vector = p->stride * real,
                   partials = (rest_at(job->device, p) + rest_groups(job->device, p)) * real;
    const bool rest = p->step == WF_CG_STEP_REST;
    /* Of the last vector of a binding a step needs no more than the elements that it uses. */
    const uint64_t used = (rest ? p->rest : p->count) * real;
    if (p->step == WF_CG_STEP_SUM) {
        specs[WF_CG_STEP_PRODUCT] = (wfi_binding_spec){"the product's partial sums", WFI_READS,
                                                       (p->product ? p->product : 1) * real};
        specs[WF_CG_STEP_SUMS] = (wfi_binding_spec){"sums", WFI_WRITES, 3 * real};
        specs[WF_CG_STEP_OF_ALL] = (wfi_binding_spec){"partial sums", WFI_READS, partials};
        *count = 3;
        return;
    }
    specs[WF_CG_STEP_A] =
        (wfi_binding_spec){"x, r, p", WFI_READS_WRITES, (rest ? vector : 2 * vector) + used};
    specs[WF_CG_STEP_B] = (wfi_binding_spec){"s, w", WFI_READS_WRITES, vector + used};
    specs[WF_CG_STEP_C] = (wfi_binding_spec){"u, M", WFI_READS_WRITES,
                                             !p->jacobi ? 4 * real
                                             : rest     ? used
                                                        : vector + used};
    specs[WF_CG_STEP_PARTIALS] = (wfi_binding_spec){"partial sums", WFI_READS_WRITES, partials};
    specs[WF_CG_STEP_FACTORS] = (wfi_binding_spec){"factors", WFI_READS, 4 * real};
    *count = p->step == WF_CG_STEP_UPDATE ? 5 : 4;
}

static wf_result build_step(wf_plan *plan, const wfi_point *point, const void *params)
{
    const step_job *job = params;
    const wf_cg_step_params *p = job->params;
    const bool rest = p->step == WF_CG_STEP_REST, sum = p->step == WF_CG_STEP_SUM;
    const uint32_t groups = wfi_cg_groups(&job->device->caps, p->count, 0),
                   of_rest = rest_groups(job->device, p);
    const step_push push = {.count = rest ? p->rest : p->count,
                            .stride = p->stride,
                            .block = p->jacobi,
                            .groups = rest ? of_rest : groups,
                            .partials_at = rest_at(job->device, p),
                            .partials = of_rest,
                            .products = p->product};
    wfi_binding_spec specs[WF_MAX_BINDINGS];
    uint32_t count = 0;
    wfi_step step = {.groups = {sum ? 1 : push.groups, 1, 1}, .push_bytes = sizeof push};
    memcpy(step.push, &push, sizeof push);
    list_bindings(job, specs, &count);
    return wfi_fixed_build(plan, point, specs, count, &step);
}

#define STEP(text, buffers)                                                                        \
    {                                                                                              \
        .name = "cg_" #text, .modules = WFI_MODULES_cg_##text, .storage_buffers = buffers,         \
        .push_bytes = sizeof(step_push), .group_size = wfi_cg_vector_group,                        \
        .shared_bytes = wfi_cg_shared_bytes, .build = build_step,                                  \
    }

static const wfi_variant steps[STEPS] = {
    [WF_CG_STEP_START] = STEP(start, 4),
    [WF_CG_STEP_REST] = STEP(dot, 4),
    [WF_CG_STEP_SUM] = STEP(sum, 3),
    [WF_CG_STEP_UPDATE] = STEP(update_part, 5),
};

static wf_result check(const wf_device *device, const wf_cg_step_params *p)
{
    const uint64_t vectors = UINT64_C(3) * p->stride * wf_type_size(p->type),
                   range = device->caps.max_storage_range;
    if ((p->type != WF_TYPE_F32 && p->type != WF_TYPE_F64) ||
        (p->type == WF_TYPE_F64 && !device->caps.f64))
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "wf_cg_step_plan: the type must be f32, or f64 where the device has it");
    if ((unsigned)p->step >= STEPS || p->count == 0 || p->stride < p->count || p->rest > p->count ||
        (p->step == WF_CG_STEP_REST && p->rest == 0))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_cg_step_plan: the step, or %u elements of vectors that are %u apart, "
                        "%u of them left out by products, are not those of a part",
                        p->count, p->stride, p->rest);
    if (vectors <= range)
        return WF_SUCCESS;
    return wfi_fail(&device->log, WF_ERROR_TOO_LARGE,
                    "wf_cg_step_plan: %llu bytes of vectors are over this device's binding of %llu",
                    (unsigned long long)vectors, (unsigned long long)range);
}

static wf_result make_step(wf_device *device, const wf_cg_step_params *given, uint64_t *partials,
                           wf_plan **out)
{
    wf_cg_step_params params;
    wf_result result =
        wfi_params_read(&device->log, "wf_cg_step_plan", given, &params, sizeof params);
    if (result == WF_SUCCESS)
        result = check(device, &params);
    if (result != WF_SUCCESS)
        return result;
    const step_job job = {device, &params};
    const uint32_t count = params.step == WF_CG_STEP_REST ? params.rest : params.count;
    /* As much as a product with four entries a row, as for wf_cg_solve. */
    const wfi_problem problem = {
        .family = WF_FAMILY_SPMV,
        .type = params.type,
        .spmv = {.rows = count, .columns = count, .entries = 4 * (uint64_t)count, .mean_row = 4}};
    if (partials)
        *partials = rest_at(device, &params) + rest_groups(device, &params);
    return wfi_fixed_plan(device, &wfi_family_spmv, &problem, &steps[params.step], 0, &job, out);
}

wf_result wf_cg_step_plan(wf_device *device, const wf_cg_step_params *params, uint64_t *partials,
                          wf_plan **out)
{
    if (!device || !params || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, make_step(device, params, partials, out));
}
