/* What a recorded solve costs: conjugate gradients on the five-point Laplacian of a square, the
 * device's time of an iteration that runs and of one behind the end of the solve, and the host's
 * time to record one; by conditional rendering, where the device has it, and without. Then whole
 * solves in f64 and in mixed precision. No validation layer should be on. */
#include <stdio.h>
#include <stdlib.h>

#include "core/arithmetic.h"
#include "core/command.h"
#include "core/timing.h"

enum { ROUNDS = 7, ITERATIONS = 200, MOST = 1000 };

typedef struct system_ {
    uint32_t rows, *row_offsets, *columns;
    float *values;
} system_;

static bool make_system(uint32_t side, system_ *s)
{
    const uint32_t rows = side * side;
    uint32_t at = 0;
    *s = (system_){rows, malloc((rows + (size_t)1) * 4), malloc(5 * (size_t)rows * 4),
                   malloc(5 * (size_t)rows * 4)};
    if (!s->row_offsets || !s->columns || !s->values)
        return false;
    for (uint32_t row = 0; row < rows; row++) {
        const uint32_t x = row % side, y = row / side;
        const bool there[5] = {y > 0, x > 0, true, x + 1 < side, y + 1 < side};
        const uint32_t column[5] = {row - side, row - 1, row, row + 1, row + side};
        s->row_offsets[row] = at;
        for (int i = 0; i < 5; i++)
            if (there[i]) {
                s->columns[at] = column[i];
                s->values[at++] = i == 2 ? 4.01f : -1;
            }
    }
    s->row_offsets[rows] = at;
    return true;
}

typedef struct recording {
    wf_cg *cg;
    wf_arena *arena;
    const wf_bindings *bindings;
    uint32_t iterations, flags;
    double host_seconds;
} recording;

static wf_result record(void *user, VkCommandBuffer command_buffer)
{
    recording *r = user;
    const double start = wfi_host_seconds();
    const wf_result result =
        wf_cg_record(r->cg, command_buffer, r->arena, r->bindings, r->iterations, r->flags);
    r->host_seconds = wfi_host_seconds() - start;
    return result;
}

/* The least of several rounds, in microseconds; *host likewise. */
static wf_result least(wf_device *device, recording *r, double *us, double *host)
{
    wf_result result = WF_SUCCESS;
    *us = *host = 1e30;
    for (int i = 0; i < ROUNDS && result == WF_SUCCESS; i++) {
        double seconds = 0;
        bool gpu_clock;
        result = wfi_run_timed(device, NULL, record, r, &seconds, &gpu_clock);
        *us = seconds * 1e6 < *us ? seconds * 1e6 : *us;
        *host = r->host_seconds * 1e6 < *host ? r->host_seconds * 1e6 : *host;
        wf_arena_reset(r->arena);
    }
    return result;
}

/* more: WF_SOLVE_CONDITIONAL or 0. */
static wf_result measure(wf_device *device, uint32_t side, uint32_t more, recording *r,
                         wf_buffer *state)
{
    double few, all, ended, ended_few, host_few, host_all;
    wf_solve_state told = {0};
    r->flags = WF_SOLVE_FIXED | more;
    r->iterations = ITERATIONS / 10;
    wf_result result = least(device, r, &few, &host_few);
    r->iterations = ITERATIONS;
    if (result == WF_SUCCESS)
        result = least(device, r, &all, &host_all);
    r->flags = WF_SOLVE_WARM | more; /* a start that needs no iteration */
    if (result == WF_SUCCESS)
        result = least(device, r, &ended, &host_few);
    if (result == WF_SUCCESS)
        result = wf_buffer_read(state, 0, &told, sizeof told);
    r->iterations = ITERATIONS / 10;
    if (result == WF_SUCCESS)
        result = least(device, r, &ended_few, &host_few);
    if (result == WF_SUCCESS)
        printf("%4u^2 rows, %s: %8.3f us an iteration, %6.3f us one behind the end (%u done); "
               "host %.3f us an iteration\n",
               side, more ? "conditional" : "indirect   ",
               (all - few) / (ITERATIONS - ITERATIONS / 10),
               (ended - ended_few) / (ITERATIONS - ITERATIONS / 10), told.iterations,
               host_all / ITERATIONS);
    return result;
}

/* A whole solve to the accuracy of f64, in f64 or in mixed precision. */
static wf_result run_accurate(wf_device *device, uint32_t side, bool mixed)
{
    system_ s;
    wf_cg *cg = NULL;
    wf_arena *arena = NULL;
    wf_buffer *buffers[3] = {NULL};
    wf_bindings bindings = {.size = sizeof bindings};
    wf_solve_state told = {0};
    double us = 0, host = 0;
    if (!make_system(side, &s))
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    double *values = malloc(s.row_offsets[s.rows] * sizeof *values);
    for (uint32_t i = 0; values && i < s.row_offsets[s.rows]; i++)
        values[i] = (double)s.values[i];
    const wf_spmv_params matrix = {.size = sizeof matrix,
                                   .rows = s.rows,
                                   .columns = s.rows,
                                   .row_offsets = s.row_offsets,
                                   .column_indices = s.columns,
                                   .values = values,
                                   .type = WF_TYPE_F64};
    const wf_cg_params params = {
        .size = sizeof params, .matrix = &matrix, .max_iterations = MOST, .mixed = mixed};
    wf_result result = values ? wf_cg_create(device, &params, &cg) : WF_ERROR_OUT_OF_HOST_MEMORY;
    if (result == WF_SUCCESS)
        result = wf_arena_create(device, &arena);
    for (int i = 0; i < 3 && result == WF_SUCCESS; i++) {
        result = wf_buffer_create(device, s.rows * UINT64_C(8), WF_MEMORY_DEVICE, &buffers[i]);
        if (result == WF_SUCCESS)
            result = wf_buffer_fill(buffers[i], 0, s.rows * UINT64_C(8), 0x3f800000);
        bindings.items[i].buffer = buffers[i];
    }
    recording r = {.cg = cg, .arena = arena, .bindings = &bindings, .iterations = MOST};
    if (result == WF_SUCCESS)
        result = least(device, &r, &us, &host);
    if (result == WF_SUCCESS)
        result = wf_buffer_read(buffers[2], 0, &told, sizeof told);
    if (result == WF_SUCCESS)
        printf("%4u^2 rows, to 1e-10 in %s: %9.1f us, %u iterations, %u refinements, status %u, "
               "residual %.1e\n",
               side, mixed ? "mixed precision" : "f64            ", us, told.iterations,
               told.refinements, told.status, (double)told.residual);
    wf_cg_destroy(&cg);
    wf_arena_destroy(&arena);
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&buffers[i]);
    free(values);
    free(s.row_offsets);
    free(s.columns);
    free(s.values);
    return result;
}

static wf_result run(wf_device *device, uint32_t side)
{
    system_ s;
    wf_cg *cg = NULL;
    wf_arena *arena = NULL;
    wf_buffer *buffers[3] = {NULL};
    wf_bindings bindings = {.size = sizeof bindings};
    if (!make_system(side, &s))
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    const wf_spmv_params matrix = {.size = sizeof matrix,
                                   .rows = s.rows,
                                   .columns = s.rows,
                                   .row_offsets = s.row_offsets,
                                   .column_indices = s.columns,
                                   .values = s.values};
    const wf_cg_params params = {
        .size = sizeof params, .matrix = &matrix, .tolerance = 1e-2, .max_iterations = ITERATIONS};
    wf_result result = wf_cg_create(device, &params, &cg);
    if (result == WF_SUCCESS)
        result = wf_arena_create(device, &arena);
    for (int i = 0; i < 3 && result == WF_SUCCESS; i++) {
        result = wf_buffer_create(device, s.rows * UINT64_C(4), WF_MEMORY_DEVICE, &buffers[i]);
        if (result == WF_SUCCESS)
            result = wf_buffer_fill(buffers[i], 0, s.rows * UINT64_C(4), 0x3f800000);
        bindings.items[i].buffer = buffers[i];
    }
    recording r = {.cg = cg, .arena = arena, .bindings = &bindings};
    for (int i = 0; i < 2 && result == WF_SUCCESS; i++)
        if (i == 0 || wf_device_caps(device)->conditional_rendering)
            result = measure(device, side, i ? WF_SOLVE_CONDITIONAL : 0, &r, buffers[2]);
    wf_cg_destroy(&cg);
    wf_arena_destroy(&arena);
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&buffers[i]);
    free(s.row_offsets);
    free(s.columns);
    free(s.values);
    return result;
}

int main(int argc, char **argv)
{
    static const uint32_t sides[] = {64, 256, 1024, 2048};
    const size_t count = argc > 1 ? (size_t)atoi(argv[1]) : sizeof sides / sizeof *sides;
    wf_device *device = NULL;
    wf_result result = wf_device_create(NULL, &device);
    if (result == WF_SUCCESS)
        printf("%s\n", wf_device_caps(device)->name);
    for (size_t i = 0; i < count && i < sizeof sides / sizeof *sides && result == WF_SUCCESS; i++)
        result = run(device, sides[i]);
    for (size_t i = 0; i < 2 * count && i < 2 * WFI_COUNT(sides) && result == WF_SUCCESS; i++)
        if (i % 2 || wf_device_caps(device)->f64)
            result = run_accurate(device, sides[i / 2], i % 2);
    if (result != WF_SUCCESS)
        fprintf(stderr, "%s\n", wf_result_string(result));
    wf_device_destroy(&device);
    return result != WF_SUCCESS;
}
