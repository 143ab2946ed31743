/* wf_laplace_solve: checks of its parameters, defaults, norms, and the verdict on the result. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/caps.h"
#include "core/clock.h"
#include "core/heap.h"
#include "core/params.h"
#include "core/share.h"
#include "kernels/check/bound.h"
#include "solve/laplace.h"

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

static size_t at(const wf_laplace_params *p, uint32_t x, uint32_t y)
{
    return y * (size_t)p->nx + x;
}

#define PART_ROWS 64u /* of the grid, that a thread takes at a time */

/* What the host finds in some rows; lengths are squared and divided by largest_u. */
typedef struct part_finding {
    double largest; /* magnitude; infinite where a value is not finite */
    long double residual, scale;
} part_finding;

/* The host's look at a grid, by several threads. Sums are added in the same order whatever their
 * number. */
typedef struct look {
    const wf_laplace_params *p;
    const void *u;
    long double largest_u;
    part_finding *parts;
} look;

static wf_result look_at(wf_device *device, look *l, void (*part)(void *user, uint32_t number),
                         part_finding *out)
{
    const uint32_t parts = (l->p->ny - 1) / PART_ROWS + 1;
    l->parts = wfi_calloc(parts, sizeof *l->parts);
    *out = (part_finding){0};
    if (!l->parts)
        return wfi_no_memory(&device->log);
    wfi_share(device, parts, part, l);
    for (uint32_t i = 0; i < parts; i++) {
        out->largest = fmax(out->largest, l->parts[i].largest);
        out->residual += l->parts[i].residual;
        out->scale += l->parts[i].scale;
    }
    wfi_free(l->parts);
    return WF_SUCCESS;
}

static uint32_t end_of(const wf_laplace_params *p, uint32_t part)
{
    const uint32_t end = (part + 1) * PART_ROWS;
    return end < p->ny ? end : p->ny;
}

static void find_largest(void *user, uint32_t part)
{
    const look *l = user;
    double most = 0;
    for (size_t i = at(l->p, 0, part * PART_ROWS); i < at(l->p, 0, end_of(l->p, part)); i++) {
        const double value = fabs(wfi_laplace_get(l->u, l->p->type, i));
        most = value > most ? value : isfinite(value) ? most : INFINITY;
    }
    l->parts[part].largest = most;
}

/* The sum of those neighbours of an inner cell that are on the border. */
static long double border_sum(const wf_laplace_params *p, const void *u, uint32_t x, uint32_t y)
{
    long double sum = 0;
    if (x == 1)
        sum += wfi_laplace_get(u, p->type, at(p, 0, y));
    if (x == p->nx - 2)
        sum += wfi_laplace_get(u, p->type, at(p, x + 1, y));
    if (y == 1)
        sum += wfi_laplace_get(u, p->type, at(p, x, 0));
    if (y == p->ny - 2)
        sum += wfi_laplace_get(u, p->type, at(p, x, y + 1));
    return sum;
}

/* |b|. Values are divided by `scale` first, since its square may overflow. */
static long double border_norm(const wf_laplace_params *p, const void *u, long double scale)
{
    long double squares = 0;
    for (uint32_t y = 1; y < p->ny - 1; y++) {
        const bool whole = y == 1 || y == p->ny - 2;
        const uint32_t step = whole || p->nx < 4 ? 1 : p->nx - 3; /* else the first and the last */
        for (uint32_t x = 1; x < p->nx - 1; x += step) {
            const long double sum = border_sum(p, u, x, y) / scale;
            squares += sum * sum;
        }
    }
    return sqrtl(squares) * scale;
}

static void find_residual(void *user, uint32_t part)
{
    const look *l = user;
    const wf_laplace_params *p = l->p;
    const wf_type type = p->type;
    const void *u = l->u;
    long double squares = 0, scales = 0;
    for (uint32_t y = part ? part * PART_ROWS : 1; y < end_of(p, part) && y < p->ny - 1; y++)
        for (size_t i = at(p, 1, y); i < at(p, p->nx - 1, y); i++) {
            const long double west = wfi_laplace_get(u, type, i - 1),
                              east = wfi_laplace_get(u, type, i + 1),
                              north = wfi_laplace_get(u, type, i - p->nx),
                              south = wfi_laplace_get(u, type, i + p->nx),
                              own = 4 * (long double)wfi_laplace_get(u, type, i);
            const long double residual = (west + east + north + south - own) / l->largest_u;
            const long double all =
                (fabsl(west) + fabsl(east) + fabsl(north) + fabsl(south) + fabsl(own)) /
                l->largest_u;
            squares += residual * residual;
            scales += all * all;
        }
    l->parts[part].residual = squares;
    l->parts[part].scale = scales;
}

/* |r| / |b|; *scale gets the same of the sums of the magnitudes that r is computed from. */
static wf_result true_residual(wf_device *device, const wf_laplace_params *p, const void *u,
                               long double norm, long double largest_u, double *residual,
                               double *scale)
{
    look l = {.p = p, .u = u, .largest_u = largest_u};
    part_finding found;
    const wf_result result = look_at(device, &l, find_residual, &found);
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
        memset((char *)u + at(p, 1, y) * real, 0, (p->nx - 2) * real);
}

/* `at`: when the call began. */
static wf_result solve(wf_device *device, const wf_laplace_params *p, void *u, double most,
                       double at, wf_laplace_result *out)
{
    const long double norm = border_norm(p, u, most);
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
        result = true_residual(device, p, u, norm, most, &out->true_residual, &scale);
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
    look l = {.p = &params, .u = u};
    part_finding found;
    code = look_at(device, &l, find_largest, &found);
    if (code != WF_SUCCESS)
        return code;
    if (isinf(found.largest))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_laplace_solve: u has values that are not finite");
    if (found.largest > 0 && border_norm(&params, u, found.largest) > 0)
        code = solve(device, &params, u, found.largest, start, &out);
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
