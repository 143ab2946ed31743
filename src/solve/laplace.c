/* wf_laplace_solve: checks of its parameters, defaults, norms, and the verdict on the result. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/caps.h"
#include "core/clock.h"
#include "core/heap.h"
#include "core/params.h"
#include "kernels/check/bound.h"
#include "solve/laplace_look.h"

#define MOST_EXTENT (UINT32_C(1) << 20)
#define MOST_ITERATIONS (UINT32_C(1) << 24) /* that an f32 state counts */
#define MOST_EVERY 4096

/* --------------------------------------------------------------------------------------- params */

static wf_result no_doubles(const wf_device *device, const char *function)
{
    char text[256];
    wfi_caps_say_missing(&device->caps, WF_WITHHELD_F64, text);
    return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED, "%s: %s", function, text);
}

wf_result wfi_laplace_check_params(const wf_device *device, const char *function,
                                   const wf_laplace_params *p)
{
    if (p->nx < 3 || p->ny < 3 || p->nx > MOST_EXTENT || p->ny > MOST_EXTENT)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "%s: a grid of %u x %u; each extent is 3 to 2^20", function, p->nx, p->ny);
    if ((unsigned)p->method > WF_LAPLACE_JACOBI || !(p->tolerance >= 0) || isinf(p->tolerance) ||
        !(p->omega >= 0) || p->omega >= 2 || p->max_iterations > MOST_ITERATIONS ||
        p->check_every > MOST_EVERY)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "%s: a method, tolerance, omega, max_iterations or check_every out of "
                        "range",
                        function);
    if (p->type != WF_TYPE_F32 && p->type != WF_TYPE_F64)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED, "%s: %s is not f32 or f64", function,
                        wf_type_name(p->type));
    if (p->type == WF_TYPE_F64 && !device->caps.f64)
        return no_doubles(device, function);
    return WF_SUCCESS;
}

static wf_result check_params(const wf_device *device, const wf_laplace_params *p, const void *u,
                              const wf_laplace_result *result)
{
    if (!u || !result)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_laplace_solve: no u or result");
    return wfi_laplace_check_params(device, "wf_laplace_solve", p);
}

/* The best omega by Young 1954. */
static double best_omega(const wf_laplace_params *p)
{
    const double radius = wfi_laplace_jacobi_radius(p);
    return 2 / (1 + sqrt(1 - radius * radius));
}

/* Iterations between checks. A check reads the grid once more, so checks are seldom enough not to
 * count, and often enough that a submission does not keep the device for long. */
static uint32_t default_every(const wf_laplace_params *p)
{
    const bool jacobi = p->method == WF_LAPLACE_JACOBI;
    const uint64_t cells = (uint64_t)p->nx * p->ny, most = jacobi ? 240 : 32,
                   fit = (jacobi ? UINT64_C(1) << 30 : UINT64_C(1) << 27) / cells;
    const uint64_t least = jacobi ? 24 : 8;
    return (uint32_t)(fit > most ? most : fit < least ? least : fit / 8 * 8);
}

void wfi_laplace_fill_defaults(wf_laplace_params *p)
{
    if (!(p->tolerance > 0))
        p->tolerance = p->type == WF_TYPE_F64 ? 1e-10 : 1e-4;
    if (!(p->omega > 0))
        p->omega = best_omega(p);
    if (!p->max_iterations)
        p->max_iterations = 10000000;
    if (!p->check_every)
        p->check_every = default_every(p);
}

/* ---------------------------------------------------------------------------------------- norms */

/* |r| / |b|; *scale gets the same of the sums of the magnitudes that r is computed from. */
static wf_result true_residual(wf_device *device, const wfi_laplace_rows *rows, long double norm,
                               double largest_u, double *residual, double *scale)
{
    wfi_laplace_found found = {0};
    const wf_result result = wfi_laplace_find_residual(device, rows, largest_u, &found);
    *residual = (double)(sqrtl(found.residual) * largest_u / norm);
    *scale = (double)(sqrtl(found.scale) * largest_u / norm);
    return result;
}

/* Whether the residual is as small as the device says. The device rounds four differences and their
 * three sums a cell, and a sum of n squares, whose root has half of the sum's relative error. */
static bool is_accurate(const wf_laplace_params *p, double residual, double scale)
{
    const double n = (p->nx - 2.0) * (p->ny - 2.0);
    const double rounding = wfi_gamma(4, p->type) * scale;
    return isfinite(residual) &&
           residual <= p->tolerance * (1 + fmin(wfi_gamma(n, p->type), 1)) + rounding;
}

/* ---------------------------------------------------------------------------------------- solve */

/* Sets the inner cells to zero, the solution where the border is zero. */
static void clear_inner(const wf_laplace_params *p, void *u)
{
    const size_t real = wf_type_size(p->type);
    for (uint32_t y = 1; y < p->ny - 1; y++)
        memset((char *)u + (y * (size_t)p->nx + 1) * real, 0, (p->nx - 2) * real);
}

/* most: |u|; norm: |b|; `at`: when the call began. */
static wf_result solve(wf_device *device, const wf_laplace_params *p, void *u, double most,
                       long double norm, double at, wf_laplace_result *out)
{
    const wfi_laplace_rows rows = {.grid = p, .count = p->ny, .own = u};
    wfi_laplace l = {0};
    wf_result result = wfi_laplace_open(device, p, &l);
    if (result == WF_SUCCESS && l.advance)
        result = wf_plan_describe(l.advance, &out->stencil);
    wfi_lap(&at, &p->stages->analysis);
    if (result == WF_SUCCESS) {
        frexp(most, &l.exponent);
        const double norm_there = (double)ldexpl(norm, -l.exponent);
        l.wanted = p->tolerance * norm_there;
        result = wfi_laplace_write(&l, u);
        wfi_lap(&at, &p->stages->upload);
        if (result == WF_SUCCESS)
            result = wfi_laplace_run(&l, norm_there, out);
        wfi_lap(&at, &p->stages->run);
    }
    if (result == WF_SUCCESS)
        result = wfi_laplace_read(&l, out->checks, u);
    wfi_lap(&at, &p->stages->download);
    if (result == WF_SUCCESS && l.timed)
        out->iteration_us = l.seconds / l.timed * 1e6;
    wfi_laplace_close(&l);
    double scale = 0;
    if (result == WF_SUCCESS)
        result = true_residual(device, &rows, norm, most, &out->true_residual, &scale);
    if (result == WF_SUCCESS && out->status == WF_LAPLACE_CONVERGED &&
        !is_accurate(p, out->true_residual, scale))
        out->status = WF_LAPLACE_INACCURATE;
    wfi_lap(&at, &p->stages->check);
    return result;
}

static wf_result solve_whole(wf_device *device, const wf_laplace_params *given, void *u,
                             wf_laplace_result *result)
{
    if (!device)
        return WF_ERROR_INVALID_ARGUMENT;
    const double start = wfi_host_seconds();
    wf_laplace_params params;
    wf_laplace_result out = {.stencil = {.size = sizeof out.stencil}};
    wf_result code =
        wfi_params_read(&device->log, "wf_laplace_solve", given, &params, sizeof params);
    if (code == WF_SUCCESS)
        code = check_params(device, &params, u, result);
    if (code != WF_SUCCESS)
        return code;
    wf_solve_stages stages = {.size = sizeof stages}, *const wanted = params.stages;
    params.stages = &stages;
    if (wanted && !wfi_params_write(wanted, &stages, sizeof stages))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_laplace_solve: the size member of stages is not set");
    wfi_laplace_fill_defaults(&params);
    out.check_every = params.check_every;
    out.omega = params.method == WF_LAPLACE_SOR ? params.omega : 0;
    const wfi_laplace_rows rows = {.grid = &params, .count = params.ny, .own = u};
    wfi_laplace_found found;
    code = wfi_laplace_find_largest(device, &rows, &found);
    if (code != WF_SUCCESS)
        return code;
    if (isinf(found.largest))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_laplace_solve: u has values that are not finite");
    if (found.largest > 0)
        wfi_laplace_find_border(&rows, found.largest, &found);
    if (found.border > 0)
        code = solve(device, &params, u, found.largest, sqrtl(found.border) * found.largest, start,
                     &out);
    else
        clear_inner(&params, u);
    if (code != WF_SUCCESS)
        return code;
    if (!wfi_params_write(result, &out, sizeof out))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_laplace_solve: the size member of the result is not set");
    if (wanted)
        wfi_params_write(wanted, &stages, sizeof stages);
    return out.status == WF_LAPLACE_CANCELLED ? WF_ERROR_CANCELLED : WF_SUCCESS;
}

wf_result wf_laplace_solve(wf_device *device, const wf_laplace_params *given, void *u,
                           wf_laplace_result *result)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, solve_whole(device, given, u, result));
}
