/* The first step of the ladder: what it costs to launch a dispatch for every output element. */
#include "kernels/matmul/build.h"
#include "kernels/matmul/model.h"
#include "kernels/matmul/traffic.h"
#include "kernels/matmul/variants/list.h"

static bool few_elements(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const double most = point->caps->push_descriptors ? 65536 : 4096;
    return (double)p->m * (double)p->n * (double)p->batch <= most;
}

static const wfi_constraint constraints[] = {
    {"m x n must be at most 65536, or 4096 without push descriptors, since each element is a "
     "dispatch of its own",
     few_elements},
};

static void group_size(const wfi_point *point, uint32_t size[3])
{
    (void)point;
    size[0] = size[1] = size[2] = 1;
}

static void traffic(const wfi_point *point, wfi_traffic *out)
{
    out->requested = out->groups = wfi_matmul_tiles_bytes(point, 1, 1) + wfi_matmul_c_bytes(point);
    out->stored = wfi_matmul_c_stored(point);
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_matmul_build(plan, point, params,
                            (wfi_matmul_tile){.m = 1, .n = 1, .one_each = true});
}

const wfi_variant wfi_matmul_dispatch = {
    .name = "dispatch",
    .summary = "a dispatch an output element: what launching costs",
    .source = "Intel VTune cookbook, matrix multiply, step 1",
    .modules = {[WF_TYPE_F32] = &wfi_spv_matmul_naive_f32},
    .constraint_count = 1,
    .constraints = constraints,
    .storage_buffers = WF_MATMUL_BINDINGS,
    .push_bytes = sizeof(wfi_matmul_push),
    .group_size = group_size,
    .constants = wfi_matmul_constants,
    .fit = wfi_matmul_never_fit,
    .build = build,
    .traffic = traffic,
};
