/* Mixed precision: conjugate gradients in f32 inside iterative refinement, whose residuals and
 * corrections are double-single in the shader, so that devices without f64 come to answers of its
 * accuracy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/command.h"
#include "core/heap.h"
#include "kernels/families.h"
#include "plan/fixed.h"
#include "plan/dispatch_size.h"
#include "solve/cg.h"
#include "wfi_shaders.h"

/* Of the residual of a correction. Where f32 converges at all, it reaches this. */
#define INNER_TOLERANCE 1e-4
#define MOST_REFINEMENTS 60

typedef struct mixed {
    wfi_cg inner;
    wf_spmv_params matrix; /* in f32 */
    float *values;
    uint32_t rows;
    wf_buffer *pattern, *pairs, *vectors, *scale; /* vectors: x, then b */
    wf_plan *refine, *correct;
    uint64_t pattern_bytes, pair_bytes;
} mixed;

static wf_result add_kernel(wf_plan *plan, const wfi_point *point, const uint64_t *bytes,
                            uint32_t count, uint32_t rows)
{
    wfi_step step = {.push_bytes = sizeof rows, .divisible = true};
    wfi_binding_spec specs[4];
    memcpy(step.push, &rows, sizeof rows);
    for (uint32_t i = 0; i < count; i++)
        specs[i] = (wfi_binding_spec){"a part of the system", WFI_READS_WRITES, bytes[i]};
    wf_result result = wfi_dispatch_size(
        plan, (rows + (uint64_t)WFI_FIXED_GROUP - 1) / WFI_FIXED_GROUP, step.groups);
    return result == WF_SUCCESS ? wfi_fixed_build(plan, point, specs, count, &step) : result;
}

static wf_result build_refine(wf_plan *plan, const wfi_point *point, const void *params)
{
    const mixed *m = params;
    const uint64_t bytes[] = {m->pattern_bytes, m->pair_bytes, m->rows * UINT64_C(16),
                              m->rows * UINT64_C(4)};
    return add_kernel(plan, point, bytes, 4, m->rows);
}

static wf_result build_correct(wf_plan *plan, const wfi_point *point, const void *params)
{
    const mixed *m = params;
    const uint64_t bytes[] = {m->rows * UINT64_C(16), m->rows * UINT64_C(4), 8};
    return add_kernel(plan, point, bytes, 3, m->rows);
}

static const wfi_variant refine_row = {
    .name = "cg_refine",
    .modules = {[WF_TYPE_F32] = &wfi_spv_cg_refine},
    .storage_buffers = 4,
    .push_bytes = 4,
    .group_size = wfi_fixed_group,
    .build = build_refine,
};

static const wfi_variant correct_row = {
    .name = "cg_correct",
    .modules = {[WF_TYPE_F32] = &wfi_spv_cg_correct},
    .storage_buffers = 3,
    .push_bytes = 4,
    .group_size = wfi_fixed_group,
    .build = build_correct,
};

static wf_result make_plans(wf_device *device, mixed *m)
{
    const wfi_problem problem = {
        .family = WF_FAMILY_SPMV,
        .type = WF_TYPE_F32,
        .spmv = {.rows = m->rows, .columns = m->rows, .entries = m->pair_bytes / sizeof(wfi_pair)}};
    const uint64_t range = device->caps.max_storage_range;
    if (m->pair_bytes > range || m->pattern_bytes > range || m->rows * UINT64_C(16) > range)
        return wfi_fail(&device->log, WF_ERROR_TOO_LARGE,
                        "the matrix in pairs of floats is over this device's binding of %llu bytes",
                        (unsigned long long)range);
    wf_result result =
        wfi_fixed_plan(device, &wfi_family_spmv, &problem, &refine_row, 0, m, &m->refine);
    return result == WF_SUCCESS
               ? wfi_fixed_plan(device, &wfi_family_spmv, &problem, &correct_row, 0, m, &m->correct)
               : result;
}

static wf_result make_buffers(wf_device *device, mixed *m)
{
    wf_result result = wf_buffer_create(device, m->pattern_bytes, WF_MEMORY_DEVICE, &m->pattern);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, m->pair_bytes, WF_MEMORY_DEVICE, &m->pairs);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, m->rows * UINT64_C(16), WF_MEMORY_DEVICE, &m->vectors);
    return result == WF_SUCCESS ? wf_buffer_create(device, 8, WF_MEMORY_DEVICE, &m->scale) : result;
}

static wf_result upload(wf_device *device, const wf_spmv_params *matrix, const double *b,
                        double norm, mixed *m)
{
    const uint64_t rows = matrix->rows, entries = matrix->row_offsets[rows],
                   offset_bytes = (rows + 1) * 4;
    wf_result result = make_buffers(device, m);
    if (result == WF_SUCCESS)
        result = wf_buffer_write(m->pattern, 0, matrix->row_offsets, offset_bytes);
    if (result == WF_SUCCESS && entries)
        result = wf_buffer_write(m->pattern, offset_bytes, matrix->column_indices, entries * 4);
    if (result == WF_SUCCESS)
        result = wfi_cg_write_pairs(m->pairs, 0, matrix->values, entries, 1);
    if (result == WF_SUCCESS)
        result = wf_buffer_fill(m->vectors, 0, rows * 8, 0);
    return result == WF_SUCCESS ? wfi_cg_write_pairs(m->vectors, rows * 8, b, rows, norm) : result;
}

static void close_mixed(mixed *m)
{
    wfi_cg_close(&m->inner);
    wf_plan_destroy(&m->refine);
    wf_plan_destroy(&m->correct);
    wf_buffer_destroy(&m->pattern);
    wf_buffer_destroy(&m->pairs);
    wf_buffer_destroy(&m->vectors);
    wf_buffer_destroy(&m->scale);
    wfi_free(m->values);
}

static wf_result find_residual(mixed *m, float *r, double *norm)
{
    const uint64_t vector = wfi_cg_vector_bytes(&m->inner);
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {{.buffer = m->pattern},
                  {.buffer = m->pairs},
                  {.buffer = m->vectors},
                  {.buffer = m->inner.a, .offset = vector, .bytes = vector}}};
    wf_result result = wf_plan_run(m->refine, &bindings);
    if (result == WF_SUCCESS)
        result = wf_buffer_read(m->inner.a, vector, r, m->rows * UINT64_C(4));
    return result == WF_SUCCESS ? wfi_cg_norm(m->inner.device, WF_TYPE_F32, m->rows, r, norm)
                                : result;
}

static wf_result correct(mixed *m, double by)
{
    const wfi_pair scale = wfi_cg_split(by);
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {{.buffer = m->vectors}, {.buffer = m->inner.a}, {.buffer = m->scale}}};
    wf_result result = wf_buffer_write(m->scale, 0, &scale, sizeof scale);
    return result == WF_SUCCESS ? wf_plan_run(m->correct, &bindings) : result;
}

/* Solves A d = r / |r| for a correction, within the iterations that are left. */
static wf_result solve_correction(mixed *m, const float *r, double norm, double wanted,
                                  uint32_t left, double *history, wf_cg_result *inner)
{
    wf_result result = wfi_cg_write_scaled(&m->inner, r, norm);
    if (result == WF_SUCCESS)
        result =
            wfi_cg_run(&m->inner, fmax(INNER_TOLERANCE, wanted / norm / 2), left, history, inner);
    for (uint32_t i = 0; history && i < inner->iterations; i++)
        history[i] *= norm;
    return result;
}

/* Refines until the residual is as wanted, does not fall any more, or the iterations are spent. */
static wf_result refine(mixed *m, const wf_cg_params *params, double tolerance, float *r,
                        wf_cg_result *out)
{
    double norm = 1, before = INFINITY;
    out->status = WF_CG_MAX_ITERATIONS;
    while (out->refinements < MOST_REFINEMENTS) {
        wf_result result = find_residual(m, r, &norm);
        if (result != WF_SUCCESS)
            return result;
        out->residual = norm;
        if (!isfinite(norm))
            out->status = WF_CG_NOT_FINITE;
        else if (norm <= tolerance)
            out->status = WF_CG_CONVERGED;
        if (out->status != WF_CG_MAX_ITERATIONS || norm > before / 2 ||
            out->iterations == m->inner.most)
            return WF_SUCCESS;
        before = norm;
        wf_cg_result inner = {0};
        m->inner.before = out->iterations;
        m->inner.norm = norm;
        result =
            solve_correction(m, r, norm, tolerance, m->inner.most - out->iterations,
                             params->history ? params->history + out->iterations : NULL, &inner);
        out->gpu_clock = inner.gpu_clock;
        out->iterations += inner.iterations;
        if (result == WF_ERROR_CANCELLED) /* x is what the refinements came to */
            return result;
        if (result == WF_SUCCESS &&
            (inner.status == WF_CG_CONVERGED || inner.status == WF_CG_MAX_ITERATIONS))
            result = correct(m, norm);
        else
            out->status = inner.status;
        if (result != WF_SUCCESS || out->status != WF_CG_MAX_ITERATIONS)
            return result;
        out->refinements++;
    }
    return WF_SUCCESS;
}

wf_result wfi_cg_solve_mixed(wf_device *device, const wf_cg_params *params, const double *b,
                             double norm, double *x, wf_cg_result *out)
{
    const wf_spmv_params *matrix = params->matrix;
    const double tolerance = params->tolerance > 0 ? params->tolerance : 1e-10;
    mixed m = {.rows = matrix->rows};
    float *r = NULL;
    double at = wfi_host_seconds(), timing = 0;
    /* The f32 plan checks the pattern; until then only the number of entries is used. */
    if (!matrix->row_offsets || matrix->rows == 0 || !matrix->values)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT, "wf_cg_solve: bad parameters");
    wf_result result = wfi_cg_narrow(device, "wf_cg_solve", matrix, &m.values, &m.matrix);
    if (result == WF_SUCCESS)
        result = wfi_cg_open(device, params, &m.matrix, &m.inner);
    if (result == WF_SUCCESS)
        result = wf_plan_describe(m.inner.product, &out->product);
    m.pattern_bytes = (matrix->rows + UINT64_C(1) + matrix->row_offsets[matrix->rows]) * 4;
    m.pair_bytes = matrix->row_offsets[matrix->rows] * UINT64_C(8);
    m.pair_bytes = m.pair_bytes ? m.pair_bytes : 8;
    if (result == WF_SUCCESS)
        result = make_plans(device, &m);
    wfi_lap(&at, &params->stages->analysis);
    if (result == WF_SUCCESS)
        result = upload(device, matrix, b, norm, &m);
    r = wfi_malloc(matrix->rows * sizeof *r);
    if (result == WF_SUCCESS && !r)
        result = wfi_no_memory(&device->log);
    wfi_lap(&at, &params->stages->upload);
    if (result == WF_SUCCESS && params->repeat)
        result = wfi_cg_measure_product(&m.inner, params->repeat, out);
    wfi_lap(&at, &timing);
    if (result == WF_SUCCESS)
        result = refine(&m, params, tolerance, r, out);
    wfi_lap(&at, &params->stages->run);
    if (result == WF_SUCCESS || result == WF_ERROR_CANCELLED) {
        const wf_result read = wfi_cg_read_pairs(m.vectors, matrix->rows, norm, x);
        result = read == WF_SUCCESS ? result : read;
    }
    wfi_lap(&at, &params->stages->download);
    if (m.inner.ran)
        out->iteration_us = m.inner.seconds / m.inner.ran * 1e6;
    out->fused = m.inner.fused;
    wfi_free(r);
    close_mixed(&m);
    return result;
}
