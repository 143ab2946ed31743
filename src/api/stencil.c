/* wf_stencil_plan, and the same for a solver. */
#include "api/plans.h"
#include "choose/choose.h"
#include "core/device.h"
#include "core/heap.h"
#include "core/params.h"
#include "kernels/families.h"
#include "kernels/stencil/image.h"
#include "plan/images.h"

static void resize(wfi_problem *problem, const uint64_t *extent)
{
    problem->stencil.nx = extent[0];
    problem->stencil.ny = extent[1];
    problem->stencil.nz = extent[2];
}

static wf_result allow_sizes(wf_plan *plan, const wf_stencil_params *params)
{
    const uint64_t least = 2 * (params->radius ? params->radius : 1) + UINT64_C(1);
    const wfi_ranges ranges = {params->nz ? 3 : 2,
                               {{"x", params->nx, least, params->vary_x},
                                {"y", params->ny, least, params->vary_y},
                                {"z", params->nz, least, params->vary_z}},
                               resize};
    return wfi_plan_allow_sizes(plan, &ranges, NULL);
}

/* Whether the device and the parameters allow stencils on images of the format. */
static wf_result check_image(const wf_device *device, const wf_stencil_params *p)
{
    if ((unsigned)p->image > WF_IMAGE_RGBA8 || p->type != WF_TYPE_F32 || p->steps > 1)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_stencil_plan: images are of a wf_image, computed in F32 and made in 1 "
                        "step a plan: record the plan again with the images exchanged");
    return wfi_require_image(device, p->image, "wf_stencil_plan");
}

static wf_result choose(wf_device *device, const wfi_problem *problem,
                        const wf_stencil_params *params, wfi_choice *choice)
{
    if (!params->image)
        return wfi_choose(device, problem, params->tuning, choice);
    wf_result result = check_image(device, params);
    if (result == WF_SUCCESS)
        *choice = (wfi_choice){
            .point = {.caps = &device->caps,
                      .problem = problem,
                      .variant = wfi_stencil_image_variant(&problem->stencil, params->image)},
            .chosen_by = "fixed",
            .family = &wfi_family_stencil};
    return result;
}

/* What solvers ask beside the parameters. */
typedef struct ask {
    bool stoppable;
    const wfi_stencil_part *part; /* NULL: the whole grid */
} ask;

static wf_result make_plan(wf_device *device, const wf_stencil_params *given, ask asked,
                           wf_plan **out)
{
    wfi_problem problem = {.family = WF_FAMILY_STENCIL};
    wfi_choice choice;
    wf_stencil_params params;
    if (!device || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result result =
        wfi_params_read(&device->log, "wf_stencil_plan", given, &params, sizeof params);
    if (result != WF_SUCCESS)
        return result;
    if (!wfi_stencil_problem_of(&params, &problem.stencil))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_stencil_plan: extents must be between 2 radius + 1 and 2^30, radius at "
                        "most 4, steps at most %u, coefficients finite in the type computed with, "
                        "extents multiples of vary_x, vary_y and vary_z",
                        WFI_STENCIL_MOST_STEPS);
    problem.type = params.type;
    problem.stencil.stoppable = asked.stoppable;
    if (asked.part)
        problem.stencil.part = *asked.part;
    if (!wfi_family_has_type(wfi_family_get(WF_FAMILY_STENCIL), params.type))
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED, "wf_stencil_plan: type %s",
                        wf_type_name(params.type));
    result = choose(device, &problem, &params, &choice);
    if (result != WF_SUCCESS)
        return result;
    choice.point.problem = &problem;
    wf_plan *plan = NULL;
    result = wfi_plan_create_with(device, &choice, params.jobs, params.coefficients, &plan);
    if (result == WF_SUCCESS && (params.vary_x || params.vary_y || params.vary_z))
        result = allow_sizes(plan, &params);
    if (result == WF_SUCCESS)
        *out = plan;
    else
        wf_plan_destroy(&plan);
    return result;
}

wf_result wf_stencil_plan(wf_device *device, const wf_stencil_params *params, wf_plan **out)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, make_plan(device, params, (ask){0}, out));
}

wf_result wfi_stencil_plan_stoppable(wf_device *device, const wf_stencil_params *params,
                                     wf_plan **out)
{
    return make_plan(device, params, (ask){.stoppable = true}, out);
}

wf_result wfi_stencil_plan_part(wf_device *device, const wf_stencil_params *params,
                                const wfi_stencil_part *part, wf_plan **out)
{
    return make_plan(device, params, (ask){.part = part}, out);
}

wf_result wfi_stencil_choose(wf_device *device, const char *function,
                             const wf_stencil_params *params, wfi_problem *problem,
                             wfi_choice *choice)
{
    *problem = (wfi_problem){.family = WF_FAMILY_STENCIL, .type = params->type};
    if (!wfi_stencil_problem_of(params, &problem->stencil) || params->image || params->vary_x ||
        params->vary_y || params->vary_z)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "%s: the grid is none that wf_stencil_plan takes, or of images or sizes "
                        "that vary",
                        function);
    if (!wfi_family_has_type(wfi_family_get(WF_FAMILY_STENCIL), params->type))
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED, "%s: type %s", function,
                        wf_type_name(params->type));
    return wfi_choose(device, problem, params->tuning, choice);
}
