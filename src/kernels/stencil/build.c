/* wf_stencil_plan: passes over the grid, which alternate between the caller's array and the
 * workspace. */

#include "core/arithmetic.h"
#include "core/heap.h"
#include "core/params.h"
#include "kernels/stencil/rows.h"
#include "kernels/stencil/windows.h"

wf_result wfi_stencil_add_coefficients(wf_plan *plan, const wfi_point *point, const double *values)
{
    const uint32_t taps = wfi_stencil_taps(&point->problem->stencil);
    const uint64_t real = wfi_stencil_real_bytes(point);
    const wfi_binding_spec given = {"coefficients", WFI_READS, (taps + 1) * real};
    uint32_t index = 0;
    if (point->problem->stencil.stoppable)
        return wfi_plan_add_binding(plan, &given);
    if (!values) /* sizes change; the coefficients stay */
        return WF_SUCCESS;
    if (point->problem->type == WF_TYPE_F64)
        return wfi_plan_add_own_mapped(plan, values, taps * sizeof(double), &index);
    float *narrow = wfi_malloc(taps * sizeof *narrow);
    if (!narrow)
        return wfi_no_memory(&wfi_plan_device(plan)->log);
    for (uint32_t i = 0; i < taps; i++)
        narrow[i] = (float)values[i];
    wf_result result = wfi_plan_add_own_mapped(plan, narrow, taps * sizeof *narrow, &index);
    wfi_free(narrow);
    return result;
}

static wf_result add_pipeline(wf_plan *plan, const wfi_point *point, wfi_stencil_pass *s)
{
    wfi_pipeline_desc desc;
    wfi_point_pipeline(point, &desc);
    s->point = point;
    s->steps = wfi_point_value(point, STENCIL_ID_STEPS, 1);
    return wfi_plan_add_pipeline(plan, &desc, &s->pipeline);
}

/* Pass n of `count` goes to the caller's OUT or the workspace, so that the last one goes to OUT. */
static wfi_stencil_place destination(uint32_t n, uint32_t count)
{
    const bool out = (count - 1 - n) % 2 == 0;
    return out ? (wfi_stencil_place){WFI_SLOT_BINDING, WF_STENCIL_OUT, 0, 0}
               : (wfi_stencil_place){WFI_SLOT_WORKSPACE, 0, 0, 0};
}

/* The point of a pass that copies: with a fixed border as deep as the grid every cell keeps its
 * value (windows.c tells the shader such an extent). */
typedef struct copier {
    wfi_problem problem;
    wfi_point point;
} copier;

static wf_result add_copies(wf_plan *plan, const wfi_point *point, uint64_t seam, copier *c,
                            wfi_stencil_pass *s)
{
    wfi_pipeline_desc desc;
    c->problem = *point->problem;
    c->problem.stencil.border = WF_BORDER_DIRICHLET;
    c->point = (wfi_point){
        .caps = point->caps, .problem = &c->problem, .variant = wfi_plan_family(plan)->variants[0]};
    wfi_point_defaults(&c->point);
    c->point.variant->fit(&c->point);
    wfi_point_pipeline(&c->point, &desc);
    s->copy = &c->point;
    s->seam = seam;
    return wfi_plan_add_pipeline(plan, &desc, &s->copy_pipeline);
}

/* Where the seam lies in a workspace that starts with `bytes` of cells. */
static uint64_t after_cells(const wfi_point *point, uint64_t bytes)
{
    return wfi_round_up(bytes, wfi_window_alignment(point->caps));
}

/* A part is updated in one pass. */
static wf_result build_part(wf_plan *plan, const wfi_point *given, const void *params)
{
    const wfi_stencil_problem *p = &given->problem->stencil;
    const uint64_t bytes =
        p->part.held * wfi_stencil_axes_of(p).plane * wf_type_size(given->problem->type);
    const wfi_binding_spec in = {"in", WFI_READS, bytes}, out = {"out", WFI_WRITES, bytes};
    const uint32_t most = wfi_point_value(given, STENCIL_ID_STEPS, 1);
    wfi_point point = *given;
    wfi_stencil_pass pass = {.from = {WFI_SLOT_BINDING, WF_STENCIL_IN, 0, 0},
                             .to = {WFI_SLOT_BINDING, WF_STENCIL_OUT, 0, 0}};
    if (p->part.steps > most)
        return wfi_fail(&wfi_plan_device(plan)->log, WF_ERROR_INVALID_ARGUMENT,
                        "a pass over a part of a grid makes %u steps at most, not %u", most,
                        p->part.steps);
    if (most > 1)
        point.values[STENCIL_ID_STEPS] = p->part.steps;
    wf_result result = wfi_plan_add_binding(plan, &in);
    if (result == WF_SUCCESS)
        result = wfi_plan_add_binding(plan, &out);
    if (result == WF_SUCCESS)
        result = wfi_stencil_add_coefficients(plan, &point, params);
    if (result == WF_SUCCESS)
        result = add_pipeline(plan, &point, &pass);
    return result == WF_SUCCESS ? wfi_stencil_add_part(plan, &pass) : result;
}

wf_result wfi_stencil_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    if (point->problem->stencil.part.planes)
        return build_part(plan, point, params);

    const wfi_stencil_problem *p = &point->problem->stencil;
    const uint64_t bytes = wfi_stencil_elements(p) * wf_type_size(point->problem->type);
    const uint32_t each = wfi_point_value(point, STENCIL_ID_STEPS, 1), remainder = p->steps % each;
    const uint32_t count = p->steps / each + (remainder != 0);
    const uint64_t cells = count > 1 ? bytes : 0, seam = wfi_stencil_seam_bytes(point, each);
    const wfi_binding_spec in = {"in", WFI_READS, bytes},
                           out = {"out", count > 2 ? WFI_READS_WRITES : WFI_WRITES, bytes};
    wfi_point remainder_point = *point;
    wfi_stencil_pass whole = {0}, last = {0};
    copier copies;
    wf_result result = wfi_plan_add_binding(plan, &in);
    if (result == WF_SUCCESS)
        result = wfi_plan_add_binding(plan, &out);
    if (result == WF_SUCCESS)
        result = wfi_stencil_add_coefficients(plan, point, params);
    if (result == WF_SUCCESS)
        result = add_pipeline(plan, point, &whole);
    if (result == WF_SUCCESS && remainder) {
        remainder_point.values[STENCIL_ID_STEPS] = remainder;
        result = add_pipeline(plan, &remainder_point, &last);
    }
    if (result == WF_SUCCESS && seam)
        result = add_copies(plan, point, after_cells(point, cells), &copies, &whole);
    wfi_plan_set_workspace(plan, seam ? after_cells(point, cells) + seam : cells);
    for (uint32_t n = 0; n < count && result == WF_SUCCESS; n++) {
        wfi_stencil_pass s = whole;
        if (remainder && n + 1 == count) {
            s.point = last.point;
            s.pipeline = last.pipeline;
            s.steps = last.steps;
        }
        s.from = n == 0 ? (wfi_stencil_place){WFI_SLOT_BINDING, WF_STENCIL_IN, 0, 0}
                        : destination(n - 1, count);
        s.to = destination(n, count);
        s.waits = n > 0;
        result = wfi_stencil_add_pass(plan, &s);
    }
    return result;
}
