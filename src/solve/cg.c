/* Conjugate gradients: four dispatches an iteration, recorded a batch at a time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/command.h"
#include "kernels/plan.h"
#include "wfi_shaders.h"

#define MOST_GROUPS 1024 /* of the vector kernels, each adds up all their partial sums */
#define PARTIALS_AT 4    /* as in cg_problem.glsl, like the two below */
enum { STATE_STATUS, STATE_ITERATIONS, STATE_WANTED };
enum { VECTOR_X, VECTOR_R, VECTOR_P, VECTOR_Q, VECTOR_D, VECTORS };
enum { DEVICE_RUNNING, DEVICE_CONVERGED, DEVICE_INDEFINITE, DEVICE_NOT_FINITE };
enum { KERNEL_START, KERNEL_DOT, KERNEL_UPDATE, KERNEL_DIRECTION, KERNELS };

typedef struct cg_push {
    uint32_t iteration, count, stride, preconditioned;
} cg_push;

typedef struct cg {
    wf_device *device;
    const wf_cg_params *params;
    wf_type type;
    uint32_t count, stride; /* elements of a vector, and from one to the next */
    uint32_t groups, most;  /* work-groups; iterations at most */
    double b_norm;
    wf_buffer *vectors, *scalars;
    wf_plan *product, *kernels[KERNELS];
    uint32_t first, end; /* the iterations of the submission being recorded */
    double seconds;
    uint32_t ran;
} cg;

static double get(const void *data, wf_type type, size_t i)
{
    return type == WF_TYPE_F64 ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

static void put(void *data, wf_type type, size_t i, double value)
{
    if (type == WF_TYPE_F64)
        ((double *)data)[i] = value;
    else
        ((float *)data)[i] = (float)value;
}

static wf_result no_memory(const cg *c)
{
    return wfi_fail(&c->device->log, WF_ERROR_OUT_OF_HOST_MEMORY, "out of host memory");
}

/* -------------------------------------------------------------------------------------- kernels */

static void vector_group(const wfi_point *point, uint32_t size[3])
{
    size[0] = point->caps->max_invocations < 256 ? 128 : 256;
    size[1] = size[2] = 1;
}

static uint64_t vectors_bytes(const cg *c)
{
    return (uint64_t)VECTORS * c->stride * wf_type_size(c->type);
}

static uint64_t scalars_bytes(const cg *c)
{
    return (PARTIALS_AT + 4 * (uint64_t)c->groups + c->most) * wf_type_size(c->type);
}

static wf_result build_kernel(wf_plan *plan, const wfi_point *point, const void *params)
{
    const cg *c = params;
    const wfi_binding_spec vectors = {"vectors", WFI_READS_WRITES, vectors_bytes(c)},
                           scalars = {"scalars", WFI_READS_WRITES, scalars_bytes(c)};
    const cg_push push = {0, c->count, c->stride,
                          c->params->precondition == WF_PRECONDITION_JACOBI};
    wfi_step step = {.groups = {c->groups, 1, 1},
                     .slot_count = 2,
                     .slots = {{WFI_SLOT_BINDING, 0, 0, vectors_bytes(c)},
                               {WFI_SLOT_BINDING, 1, 0, scalars_bytes(c)}},
                     .push_bytes = sizeof push,
                     .takes_turn = true};
    wfi_pipeline_desc desc;
    wfi_point_pipeline(point, &desc);
    memcpy(step.push, &push, sizeof push);
    wf_result result = wfi_plan_add_pipeline(plan, &desc, &step.pipeline);
    if (result == WF_SUCCESS)
        result = wfi_plan_add_binding(plan, &vectors);
    if (result == WF_SUCCESS)
        result = wfi_plan_add_binding(plan, &scalars);
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

#define KERNEL(text)                                                                               \
    {                                                                                              \
        .name = "cg_" #text,                                                                       \
        .modules =                                                                                 \
            {[WF_TYPE_F32] = &wfi_spv_cg_##text##_f32, [WF_TYPE_F64] = &wfi_spv_cg_##text##_f64},  \
        .storage_buffers = 2, .push_bytes = sizeof(cg_push), .group_size = vector_group,           \
        .build = build_kernel,                                                                     \
    }

static const wfi_variant kernel_rows[KERNELS] = {
    [KERNEL_START] = KERNEL(start),
    [KERNEL_DOT] = KERNEL(dot),
    [KERNEL_UPDATE] = KERNEL(update),
    [KERNEL_DIRECTION] = KERNEL(direction),
};

static wf_result make_plans(cg *c)
{
    const wfi_problem problem = {.family = WF_FAMILY_SPMV, .type = c->type};
    wf_result result = wf_spmv_plan(c->device, c->params->matrix, &c->product);
    for (int i = 0; i < KERNELS && result == WF_SUCCESS; i++) {
        const wfi_choice choice = {{&c->device->caps, &problem, &kernel_rows[i], {0}}, "fixed"};
        result = wfi_plan_create(c->device, &choice, c, &c->kernels[i]);
    }
    return result;
}

/* ----------------------------------------------------------------------------------------- data */

static void size_vectors(cg *c)
{
    const wf_caps *caps = &c->device->caps;
    const uint64_t real = wf_type_size(c->type);
    const uint64_t unit = caps->storage_alignment > 256 ? caps->storage_alignment : 256;
    const uint64_t bytes = (c->count * real + unit - 1) / unit * unit;
    const uint32_t group = caps->max_invocations < 256 ? 128 : 256;
    c->stride = (uint32_t)(bytes / real);
    c->groups = (c->count - 1) / (4 * group) + 1; /* four elements a work-item, where few */
    c->groups = c->groups > MOST_GROUPS ? MOST_GROUPS : c->groups;
}

/* One over the diagonal; duplicates of it add up. */
static wf_result invert_diagonal(const cg *c, void *inverse)
{
    const wf_spmv_params *m = c->params->matrix;
    for (uint32_t row = 0; row < m->rows; row++) {
        double diagonal = 0;
        for (uint32_t i = m->row_offsets[row]; i < m->row_offsets[row + 1]; i++)
            if (m->column_indices[i] == row)
                diagonal += get(m->values, m->type, i);
        if (!(diagonal > 0) || isinf(diagonal))
            return wfi_fail(&c->device->log, WF_ERROR_INVALID_ARGUMENT,
                            "wf_cg_solve: the diagonal of row %u is %g; Jacobi needs it positive",
                            row, diagonal);
        put(inverse, c->type, row, 1 / diagonal);
    }
    return WF_SUCCESS;
}

static wf_result norm_of(cg *c, const void *b)
{
    long double squares = 0;
    for (uint32_t i = 0; i < c->count; i++)
        squares += (long double)get(b, c->type, i) * get(b, c->type, i);
    c->b_norm = (double)sqrtl(squares);
    if (isfinite(c->b_norm))
        return WF_SUCCESS;
    return wfi_fail(&c->device->log, WF_ERROR_INVALID_ARGUMENT, "wf_cg_solve: b is not finite");
}

/* b is scaled to length one, so that squares neither overflow nor vanish. */
static wf_result write_vectors(cg *c, const void *b)
{
    const uint64_t real = wf_type_size(c->type), bytes = c->count * real;
    void *data = malloc((size_t)bytes);
    if (!data)
        return no_memory(c);
    for (uint32_t i = 0; i < c->count; i++)
        put(data, c->type, i, get(b, c->type, i) / c->b_norm);
    wf_result result =
        wf_buffer_write(c->vectors, VECTOR_R * (uint64_t)c->stride * real, data, bytes);
    if (result == WF_SUCCESS && c->params->precondition == WF_PRECONDITION_JACOBI) {
        result = invert_diagonal(c, data);
        if (result == WF_SUCCESS)
            result =
                wf_buffer_write(c->vectors, VECTOR_D * (uint64_t)c->stride * real, data, bytes);
    }
    free(data);
    return result;
}

static double tolerance_of(const cg *c)
{
    if (c->params->tolerance > 0)
        return c->params->tolerance;
    return c->type == WF_TYPE_F64 ? 1e-10 : 1e-6;
}

static wf_result make_data(cg *c, const void *b)
{
    const uint64_t real = wf_type_size(c->type), range = c->device->caps.max_storage_range;
    double state[PARTIALS_AT] = {0};
    if (vectors_bytes(c) > range || scalars_bytes(c) > range)
        return wfi_fail(&c->device->log, WF_ERROR_TOO_LARGE,
                        "five vectors of %u elements are over this device's binding of %llu bytes",
                        c->count, (unsigned long long)range);
    wf_result result = wf_buffer_create(c->device, vectors_bytes(c), WF_MEMORY_DEVICE, &c->vectors);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(c->device, scalars_bytes(c), WF_MEMORY_DEVICE, &c->scalars);
    if (result == WF_SUCCESS)
        result = write_vectors(c, b);
    put(state, c->type, STATE_STATUS, DEVICE_RUNNING);
    put(state, c->type, STATE_ITERATIONS, 0);
    put(state, c->type, STATE_WANTED, tolerance_of(c) * tolerance_of(c));
    return result == WF_SUCCESS ? wf_buffer_write(c->scalars, 0, state, PARTIALS_AT * real)
                                : result;
}

/* -------------------------------------------------------------------------------------- running */

static wf_result record_kernel(cg *c, VkCommandBuffer command_buffer, int kernel,
                               uint32_t iteration)
{
    const wf_bindings bindings = {.size = sizeof bindings,
                                  .items = {{.buffer = c->vectors}, {.buffer = c->scalars}}};
    wf_result result =
        wfi_plan_record_turn(c->kernels[kernel], command_buffer, &bindings, iteration);
    wfi_barrier_compute(c->device, command_buffer);
    return result;
}

static wf_bindings product_bindings(const cg *c)
{
    const uint64_t vector = c->stride * (uint64_t)wf_type_size(c->type);
    return (wf_bindings){
        .size = sizeof(wf_bindings),
        .items = {
            [WF_SPMV_X] = {.buffer = c->vectors, .offset = VECTOR_P * vector, .bytes = vector},
            [WF_SPMV_Y] = {.buffer = c->vectors, .offset = VECTOR_Q * vector, .bytes = vector}}};
}

/* Times the product alone, which also brings the device's clocks up before the iterations. */
static wf_result measure_product(cg *c, wf_cg_result *out)
{
    const wf_measure_params params = {.size = sizeof params, .repeat = c->params->repeat};
    const wf_bindings bindings = product_bindings(c);
    wf_timing *timing = malloc(sizeof *timing);
    if (!timing)
        return no_memory(c);
    wf_result result = wf_plan_measure(c->product, &bindings, &params, timing);
    if (result == WF_SUCCESS)
        out->product_us = timing->median_us;
    free(timing);
    return result;
}

static wf_result record_iteration(cg *c, VkCommandBuffer command_buffer, uint32_t iteration)
{
    const wf_bindings p_to_q = product_bindings(c);
    wf_result result = wf_plan_record(c->product, command_buffer, &p_to_q);
    wfi_barrier_compute(c->device, command_buffer);
    for (int kernel = KERNEL_DOT; kernel < KERNELS && result == WF_SUCCESS; kernel++)
        result = record_kernel(c, command_buffer, kernel, iteration);
    return result;
}

static wf_result record_batch(void *user, VkCommandBuffer command_buffer)
{
    cg *c = user;
    wf_result result = WF_SUCCESS;
    if (c->first == 0)
        result = record_kernel(c, command_buffer, KERNEL_START, 0);
    for (uint32_t i = c->first; i < c->end && result == WF_SUCCESS; i++)
        result = record_iteration(c, command_buffer, i);
    return result;
}

static wf_result read_state(cg *c, int *status, uint32_t *iterations)
{
    double state[PARTIALS_AT];
    wf_result result =
        wf_buffer_read(c->scalars, 0, state, PARTIALS_AT * (uint64_t)wf_type_size(c->type));
    if (result == WF_SUCCESS) {
        *status = (int)get(state, c->type, STATE_STATUS);
        *iterations = (uint32_t)get(state, c->type, STATE_ITERATIONS);
    }
    return result;
}

static wf_result iterate(cg *c, wf_cg_result *out)
{
    const uint32_t batch = c->params->check_every ? c->params->check_every : 32;
    int status = DEVICE_RUNNING;
    wf_result result = WF_SUCCESS;
    for (c->first = 0; c->first < c->most && status == DEVICE_RUNNING; c->first = c->end) {
        double seconds = 0;
        c->end = c->most - c->first < batch ? c->most : c->first + batch;
        result = wfi_run_timed(c->device, NULL, record_batch, c, &seconds, &out->gpu_clock);
        if (result == WF_SUCCESS)
            result = read_state(c, &status, &out->iterations);
        if (result != WF_SUCCESS)
            return result;
        c->seconds += seconds;
        c->ran = c->end;
    }
    static const wf_cg_status statuses[] = {[DEVICE_RUNNING] = WF_CG_MAX_ITERATIONS,
                                            [DEVICE_CONVERGED] = WF_CG_CONVERGED,
                                            [DEVICE_INDEFINITE] = WF_CG_INDEFINITE,
                                            [DEVICE_NOT_FINITE] = WF_CG_NOT_FINITE};
    out->status = statuses[status];
    out->iteration_us = c->seconds / c->ran * 1e6;
    return result;
}

/* -------------------------------------------------------------------------------------- results */

static double true_residual(const cg *c, const void *b, const void *x)
{
    const wf_spmv_params *m = c->params->matrix;
    long double squares = 0;
    for (uint32_t row = 0; row < m->rows; row++) {
        long double rest = get(b, c->type, row);
        for (uint32_t i = m->row_offsets[row]; i < m->row_offsets[row + 1]; i++)
            rest -= (long double)get(m->values, m->type, i) * get(x, c->type, m->column_indices[i]);
        squares += rest * rest;
    }
    return (double)sqrtl(squares) / c->b_norm;
}

static wf_result read_history(cg *c, wf_cg_result *out)
{
    const uint64_t real = wf_type_size(c->type);
    double *history = c->params->history;
    out->residual = 1;
    if (out->iterations == 0)
        return WF_SUCCESS;
    void *data = malloc((size_t)(out->iterations * real));
    if (!data)
        return no_memory(c);
    wf_result result = wf_buffer_read(c->scalars, (PARTIALS_AT + 4 * (uint64_t)c->groups) * real,
                                      data, out->iterations * real);
    if (result == WF_SUCCESS)
        out->residual = sqrt(get(data, c->type, out->iterations - 1));
    for (uint32_t i = 0; result == WF_SUCCESS && history && i < out->iterations; i++)
        history[i] = sqrt(get(data, c->type, i));
    free(data);
    return result;
}

static wf_result read_results(cg *c, const void *b, void *x, wf_cg_result *out)
{
    wf_result result = wf_buffer_read(c->vectors, 0, x, c->count * (uint64_t)wf_type_size(c->type));
    if (result == WF_SUCCESS)
        result = read_history(c, out);
    if (result != WF_SUCCESS)
        return result;
    for (uint32_t i = 0; i < c->count; i++)
        put(x, c->type, i, get(x, c->type, i) * c->b_norm);
    out->true_residual = true_residual(c, b, x);
    return WF_SUCCESS;
}

static wf_result check_params(const wf_device *device, const wf_cg_params *p, const void *b,
                              const void *x, const wf_cg_result *result)
{
    if (!p || p->size < sizeof *p || !p->matrix || !b || !x || !result ||
        p->matrix->size < sizeof *p->matrix || (unsigned)p->precondition > WF_PRECONDITION_JACOBI ||
        !(p->tolerance >= 0))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT, "wf_cg_solve: bad parameters");
    if (p->matrix->rows != p->matrix->columns)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_cg_solve: the matrix is %u x %u, not square", p->matrix->rows,
                        p->matrix->columns);
    return WF_SUCCESS;
}

static void destroy(cg *c)
{
    for (int i = 0; i < KERNELS; i++)
        wf_plan_destroy(&c->kernels[i]);
    wf_plan_destroy(&c->product);
    wf_buffer_destroy(&c->vectors);
    wf_buffer_destroy(&c->scalars);
}

wf_result wf_cg_solve(wf_device *device, const wf_cg_params *params, const void *b, void *x,
                      wf_cg_result *result)
{
    if (!device)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result code = check_params(device, params, b, x, result);
    if (code != WF_SUCCESS)
        return code;
    cg c = {.device = device,
            .params = params,
            .type = params->matrix->type,
            .count = params->matrix->rows,
            .most = params->max_iterations ? params->max_iterations : 1000};
    wf_cg_result out = {.product = {.size = sizeof out.product}};
    size_vectors(&c);
    code = make_plans(&c); /* checks the matrix, which all that follows reads */
    if (code == WF_SUCCESS)
        code = wf_plan_describe(c.product, &out.product);
    if (code == WF_SUCCESS)
        code = norm_of(&c, b);
    if (code == WF_SUCCESS && c.b_norm > 0) {
        code = make_data(&c, b);
        if (code == WF_SUCCESS && params->repeat)
            code = measure_product(&c, &out);
        if (code == WF_SUCCESS)
            code = iterate(&c, &out);
        if (code == WF_SUCCESS)
            code = read_results(&c, b, x, &out);
    } else if (code == WF_SUCCESS) {
        memset(x, 0, c.count * wf_type_size(c.type)); /* A 0 = 0 */
    }
    destroy(&c);
    if (code == WF_SUCCESS)
        *result = out;
    return code;
}
