/* wf_matmul_plan. */

#include "choose/choose.h"
#include "core/arithmetic.h"
#include "core/device.h"
#include "core/heap.h"
#include "core/params.h"
#include "kernels/matmul/matmul.h"
#include "plan/images.h"

static uint64_t at_least_one(uint64_t value)
{
    return value ? value : 1;
}

/* What a plan whose sizes vary keeps of its parameters. */
typedef struct kept_params {
    wf_matmul_params params;
    double alpha;
} kept_params;

static void resize(wfi_problem *problem, const uint64_t *extent)
{
    problem->matmul.m = extent[0];
    problem->matmul.n = extent[1];
    problem->matmul.k = extent[2];
    problem->matmul.batch = extent[3];
}

static wf_result allow_sizes(wf_plan *plan, const wfi_matmul_problem *p,
                             const wf_matmul_params *params)
{
    const wfi_matmul_sizes *most = &p->most, *unit = &p->unit;
    const wfi_ranges ranges = {4,
                               {{"m", most->m, 1, unit->m},
                                {"n", most->n, 1, unit->n},
                                {"k", most->k, 1, unit->k},
                                {"batch", most->batch, 1, unit->batch}},
                               resize};
    kept_params *kept = wfi_malloc(sizeof *kept);
    if (!kept)
        return wfi_no_memory(&wfi_plan_device(plan)->log);
    *kept = (kept_params){*params, params->alpha ? *params->alpha : 1};
    kept->params.alpha = &kept->alpha;
    return wfi_plan_allow_sizes(plan, &ranges, kept);
}

/* Whether the device and the parameters allow images where they are asked for. */
static wf_result check_images(const wf_device *device, const wf_matmul_params *p)
{
    const struct {
        wf_image format;
        uint64_t ld;
    } all[] = {
        {p->image_a, p->lda}, {p->image_b, p->ldb}, {p->image_c, p->ldc}, {p->image_bias, 0}};
    for (size_t i = 0; i < WFI_COUNT(all); i++) {
        if (!all[i].format)
            continue;
        if ((unsigned)all[i].format > WF_IMAGE_RGBA8 || all[i].ld || p->batch > 1 ||
            (p->type != WF_TYPE_F32 && p->type != WF_TYPE_F16))
            return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                            "wf_matmul_plan: images are of a wf_image, for products of F32 or F16 "
                            "with batch 1 and leading dimensions 0");
        const wf_result result = wfi_require_image(device, all[i].format, "wf_matmul_plan");
        if (result != WF_SUCCESS)
            return result;
    }
    return WF_SUCCESS;
}

static wf_result make_plan(wf_device *device, const wf_matmul_params *given, wf_plan **out)
{
    if (!device || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    wfi_choice choice;
    wf_matmul_params params;
    wfi_problem problem = {.family = WF_FAMILY_MATMUL};
    wf_result result =
        wfi_params_read(&device->log, "wf_matmul_plan", given, &params, sizeof params);
    if (result == WF_SUCCESS)
        result = wfi_matmul_problem_of(&device->log, &params, &problem.matmul);
    if (result == WF_SUCCESS)
        result = check_images(device, &params);
    if (result != WF_SUCCESS)
        return result;
    problem.type = params.type;
    /* Models are asked about extents of at least 1; the plan itself handles empty ones. */
    wfi_problem filled = problem;
    filled.matmul.m = at_least_one(problem.matmul.m);
    filled.matmul.n = at_least_one(problem.matmul.n);
    filled.matmul.k = at_least_one(problem.matmul.k);
    result = wfi_choose(device, &filled, params.tuning, &choice);
    choice.point.problem = &problem;
    wf_plan *plan = NULL;
    if (result == WF_SUCCESS)
        result = wfi_plan_create_with(device, &choice, params.jobs, &params, &plan);
    if (result == WF_SUCCESS && problem.matmul.varies)
        result = allow_sizes(plan, &problem.matmul, &params);
    if (result == WF_SUCCESS)
        *out = plan;
    else
        wf_plan_destroy(&plan);
    return result;
}

wf_result wf_matmul_plan(wf_device *device, const wf_matmul_params *given, wf_plan **out)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, make_plan(device, given, out));
}
