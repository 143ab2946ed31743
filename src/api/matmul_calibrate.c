/* wf_calibrate: the rates of a device, from the times of a few products. What each of them is for
 * follows from how much of which rate it takes (tile_time.h): one work-group shows what it waits
 * for, a full wave what work-groups of a unit take together, short sums what storing takes, split
 * sums what a dispatch and partial sums take. */
#include <math.h>
#include <string.h>

#include "choose/choose.h"
#include "choose/store.h"
#include "core/arithmetic.h"
#include "core/heap.h"
#include "core/params.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/matrix_time.h"
#include "kernels/matmul/rates_fit.h"
#include "kernels/matmul/tile.h"
#include "kernels/matmul/tile_time.h"
#include "model/peaks.h"
#include "profiles/matmul.h"
#include "profiles/peaks.h"

#define DEFAULT_SECONDS 2.0
#define COMPILE_FRACTION 0.7 /* of the time, for kernels */
#define WARM_FRACTION 0.85   /* of the time, until which the device may be warmed up */
#define STEADY 0.97          /* of a time before: it is no faster */
#define LOOK_SECONDS 500e-6
#define WARM_SECONDS 0.1
#define COPY_SECONDS 0.05
#define RUN_SECONDS 0.002                /* of a sample */
#define MOST_BYTES (UINT64_C(128) << 20) /* of a matrix */
/* A byte's time in products to one of a copy: an H100's copy gives 4.6e-7 us, 0.93 of the guess. */
#define SEEN_OF_COPY 1.35
enum {
    SAMPLES = 4,
    MOST_RUNS = 50,
    WARM_RUNS = 10,
    MOST_PRODUCTS = 96,
    COMPILED_AT_ONCE = 4,
    COPY_PIECES = 4
};

typedef struct kernel {
    const char *variant;
    wf_type type;
    uint32_t tile_m, tile_n, tile_k, thread_m, thread_n;
    uint32_t slices_k; /* of `cooperative`: subs_k, beside sub_m and sub_n; 0: of `vector` */
    bool narrow;       /* rows of the operands are no vectors */
    bool split;        /* sums are split too, which takes kernels of their own */
    bool transpose_b;
} kernel;

/* The most telling first: what there is no time for keeps the guess's ratio. */
static const kernel kernels[] = {
    {"vector", WF_TYPE_F32, 64, 64, 16, 4, 4, 0, false, true, false},
    {"vector", WF_TYPE_F32, 64, 128, 8, 8, 8, 0, false, false, false},
    {"subgroup_k", WF_TYPE_F32, 16, 32, 16, 4, 4, 4, false, false, false},
    {"vector", WF_TYPE_F32, 64, 64, 16, 4, 4, 0, true, false, false},
    {"vector", WF_TYPE_F32, 64, 64, 8, 4, 4, 0, false, false, true},
    {"cooperative", WF_TYPE_F16, 128, 128, 64, 64, 64, 1, false, false, false},
    {"cooperative", WF_TYPE_F16, 32, 32, 64, 16, 16, 1, false, true, false},
    {"vector", WF_TYPE_F64, 64, 64, 16, 4, 4, 0, false, false, false},
    {"cooperative", WF_TYPE_F16, 64, 64, 64, 32, 32, 1, true, false, false},
    {"vector", WF_TYPE_F32, 32, 32, 16, 4, 4, 0, false, false, false},
    {"vector", WF_TYPE_F32, 128, 128, 8, 8, 16, 0, false, false, false},
    {"subgroup_k", WF_TYPE_F32, 32, 64, 16, 8, 8, 4, false, false, false},
};

/* A product for a kernel: so many of its tiles, in waves of the device or, where `waves` is 0, one
 * tile. */
typedef struct product {
    double waves;
    bool held; /* a wave is of all work-groups that units hold; else of one a unit */
    uint32_t k, split_k;
} product;

static const product products[] = {
    {0, false, 256, 1}, {0, false, 2048, 1},  {1, false, 512, 1},     {1, true, 512, 1},
    {3, true, 32, 1},   {0, false, 4096, 16}, {0.25, false, 1024, 4},
};

typedef struct timed {
    wf_plan *plan;
    double us;  /* 0: not timed */
    bool fills; /* the device */
} timed;

typedef struct calibration {
    wf_device *device;
    const wf_jobs *jobs; /* NULL: kernels are compiled one after another */
    double begun, seconds;
    uint64_t most_bytes; /* of a matrix */
    uint32_t count;
    timed items[MOST_PRODUCTS];
    wf_buffer *buffers[3];
} calibration;

static bool goes_on(const calibration *c, double fraction)
{
    return wfi_host_seconds() - c->begun < c->seconds * fraction;
}

/* ------------------------------------------------------------------------------------- products */

static uint32_t power_within(uint32_t value, uint32_t most)
{
    uint32_t power = 1;
    while (power * 2 <= most && value % (power * 2) == 0)
        power *= 2;
    return power;
}

static bool on_matrix_units(const kernel *k)
{
    return k->type == WF_TYPE_F16;
}

static uint32_t matrix_constants(const kernel *k, uint32_t split_k, wf_constant *out)
{
    const wf_constant all[] = {{"tile_m", k->tile_m},  {"tile_n", k->tile_n},
                               {"tile_k", k->tile_k},  {"sub_m", k->thread_m},
                               {"sub_n", k->thread_n}, {"subs_k", k->slices_k},
                               {"split_k", split_k},   {"pack", 0},
                               {"stream_k", 0}};
    memcpy(out, all, sizeof all);
    return WFI_COUNT(all);
}

/* The kernel's values as constants; returns how many. */
static uint32_t constants_of(const kernel *k, uint32_t split_k, wf_constant *out)
{
    const uint32_t rows = k->tile_m / k->thread_m, columns = k->tile_n / k->thread_n,
                   lanes_n = power_within(columns, 8);
    const wf_constant all[] = {
        {"tile_m", k->tile_m},     {"tile_n", k->tile_n},
        {"tile_k", k->tile_k},     {"thread_m", k->thread_m},
        {"thread_n", k->thread_n}, {"lanes_n", lanes_n},
        {"split_k", split_k},      {"lanes_m", power_within(rows, 32 / lanes_n)},
    };
    uint32_t count = WFI_COUNT(all);
    if (on_matrix_units(k))
        return matrix_constants(k, split_k, out);
    memcpy(out, all, sizeof all);
    if (k->slices_k) {
        out[count++] = (wf_constant){"slices_k", k->slices_k};
        out[count++] = (wf_constant){"per_subgroup", rows * columns == 32};
    } else {
        out[count++] = (wf_constant){"double_buffer", k->tile_k > 8 || k->thread_n > 8};
        out[count++] = (wf_constant){"stream_k", 0};
        out[count++] = (wf_constant){"swizzle", 1};
        out[count++] = (wf_constant){"pack", 0};
    }
    return count;
}

/* So many tiles, or a few less, as a matrix that is about square. */
static wf_matmul_params params_of(const kernel *k, const product *p, double tiles)
{
    const uint64_t high = (uint64_t)fmax(1, floor(sqrt(tiles * k->tile_n / k->tile_m))),
                   wide = (uint64_t)fmax(1, floor(tiles / (double)high)), odd = k->narrow ? 1 : 0;
    return (wf_matmul_params){.size = sizeof(wf_matmul_params),
                              .m = high * k->tile_m,
                              .n = wide * k->tile_n - odd,
                              .k = p->k - odd,
                              .type = k->type,
                              .transpose_b = k->transpose_b};
}

/* Makes the plan of a product where the device can have it; *held is how many work-groups a unit
 * holds, 0 until a product of the kernel was made. */
static wf_result add_product(calibration *c, const kernel *k, const product *p, double *held)
{
    wf_constant constants[WF_MAX_PARAMETERS];
    const double units = wfi_matmul_units(&c->device->caps),
                 tiles = p->waves > 0 ? p->waves * units * (p->held ? *held : 1) : 1;
    const wf_tuning tuning = {.size = sizeof tuning,
                              .variant = k->variant,
                              .no_tuning = true,
                              .constants = constants,
                              .constant_count = constants_of(k, p->split_k, constants)};
    wf_matmul_params params = params_of(k, p, tiles);
    wfi_problem problem = {.family = WF_FAMILY_MATMUL, .type = k->type};
    wfi_choice choice;
    const uint64_t most = c->most_bytes / wf_type_size(k->type);
    if (c->count == MOST_PRODUCTS || params.m * params.n > most || params.m * params.k > most ||
        params.k * params.n > most ||
        wfi_matmul_problem_of(NULL, &params, &problem.matmul) != WF_SUCCESS ||
        wfi_choose_silently(c->device, &problem, &tuning, &choice) != WF_SUCCESS)
        return WF_SUCCESS;
    *held = on_matrix_units(k) ? wfi_matmul_matrix_resident(&choice.point)
                               : wfi_matmul_resident(&choice.point);
    params.tuning = &tuning;
    params.jobs = c->jobs;
    const wf_result result = wf_matmul_plan(c->device, &params, &c->items[c->count].plan);
    c->items[c->count].fills = p->held;
    c->count += result == WF_SUCCESS;
    return result;
}

/* Waits for kernels as long as there is time for them, and leaves out what is not ready then. */
static void await_kernels(calibration *c)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        while (wf_plan_status(c->items[i].plan) == WF_NOT_READY && goes_on(c, COMPILE_FRACTION))
            wfi_sleep(LOOK_SECONDS);
        if (wf_plan_status(c->items[i].plan) == WF_SUCCESS)
            c->items[left++] = c->items[i];
        else
            wf_plan_destroy(&c->items[i].plan);
    }
    c->count = left;
}

/* Kernels as long as there is time for them; most products of one have it in common. */
static wf_result add_products(calibration *c)
{
    wf_result result = WF_SUCCESS;
    for (size_t k = 0; k < WFI_COUNT(kernels) && goes_on(c, COMPILE_FRACTION); k++) {
        double held = 0;
        if ((kernels[k].type == WF_TYPE_F64 && !c->device->caps.f64) ||
            (on_matrix_units(&kernels[k]) && !c->device->caps.cooperative_matrix))
            continue;
        for (size_t p = 0; p < WFI_COUNT(products) && result == WF_SUCCESS; p++)
            if (products[p].split_k == 1 || kernels[k].split)
                result = add_product(c, &kernels[k], &products[p], &held);
        /* Not all at once, of which a machine of few processors would have none ready in time. */
        if ((k + 1) % COMPILED_AT_ONCE == 0)
            await_kernels(c);
    }
    await_kernels(c);
    return result;
}

/* --------------------------------------------------------------------------------------- timing */

static wf_result make_buffers(calibration *c)
{
    wf_result result = WF_SUCCESS;
    for (int i = 0; i < 3 && result == WF_SUCCESS; i++)
        result = wfi_peak_buffer(c->device, c->most_bytes, &c->buffers[i]);
    return result;
}

static wf_result run(const calibration *c, const timed *t, uint32_t count, double *seconds)
{
    wf_bindings bindings = {.size = sizeof bindings};
    bool gpu_clock;
    for (int i = 0; i < 3; i++)
        bindings.items[i].buffer = c->buffers[i];
    return wf_plan_run_times(t->plan, &bindings, count, seconds, &gpu_clock);
}

/* Runs each product once, since drivers may compile there; *longest is the one that took most of
 * those that fill the device: one work-group, however long it takes, does not raise the clock. */
static wf_result run_once(const calibration *c, uint32_t *longest)
{
    wf_result result = WF_SUCCESS;
    double most = 0;
    for (uint32_t i = 0; i < c->count && result == WF_SUCCESS; i++) {
        double seconds = 0;
        result = run(c, &c->items[i], 1, &seconds);
        if (result == WF_SUCCESS)
            result = run(c, &c->items[i], 1, &seconds);
        if (c->items[i].fills && seconds > most) {
            most = seconds;
            *longest = i;
        }
    }
    return result;
}

/* Works until the clock, which falls while kernels are compiled, rises no more: until a product
 * that fills the device is no faster than it was WARM_SECONDS before. */
static wf_result warm_up(const calibration *c)
{
    uint32_t longest = 0;
    wf_result result = run_once(c, &longest);
    double before = INFINITY, least = INFINITY, look = wfi_host_seconds() + WARM_SECONDS;
    while (result == WF_SUCCESS && c->count && goes_on(c, WARM_FRACTION)) {
        double seconds = 0;
        result = run(c, &c->items[longest], WARM_RUNS, &seconds);
        least = fmin(least, seconds);
        if (wfi_host_seconds() < look)
            continue;
        if (least > before * STEADY)
            break;
        before = least;
        look = wfi_host_seconds() + WARM_SECONDS;
    }
    return result;
}

static wf_result time_product(const calibration *c, timed *t)
{
    double seconds = 0;
    const double wanted = t->us > 0 ? RUN_SECONDS * 1e6 / t->us : 2;
    const uint32_t count = wanted < 1 ? 1 : wanted > MOST_RUNS ? MOST_RUNS : (uint32_t)wanted;
    const wf_result result = run(c, t, count, &seconds);
    const double us = seconds / count * 1e6;
    if (result == WF_SUCCESS && us > 0 && (t->us <= 0 || us < t->us))
        t->us = us;
    return result;
}

/* The least of some samples: other work on the machine, and a clock that still rises, only add to
 * them. They are taken in rounds, so that these meet all products alike. */
static wf_result time_products(calibration *c)
{
    wf_result result = warm_up(c);
    for (int round = 0; round < SAMPLES; round++)
        for (uint32_t i = 0; i < c->count && result == WF_SUCCESS && (round == 0 || goes_on(c, 1));
             i++)
            result = time_product(c, &c->items[i]);
    return result;
}

/* A byte of memory, by a copy; 0: the clock tells no time for one. The products have warmed the
 * device up. */
static wf_result time_memory(const calibration *c, double *us)
{
    const wf_measure_params measure = {
        .size = sizeof measure, .budget_seconds = COPY_SECONDS, .warm = true};
    wf_timing timing = {.median_us = 0};
    const wf_result result = wfi_straight_copy(c->device, c->buffers[0], c->buffers[1],
                                               c->most_bytes, &measure, &timing);
    *us = timing.median_us / (2 * (double)c->most_bytes);
    return result;
}

static wf_result measure(calibration *c, double *memory_us)
{
    wf_result result = make_buffers(c);
    if (result == WF_SUCCESS)
        result = add_products(c);
    if (result == WF_SUCCESS)
        result = time_products(c);
    return result == WF_SUCCESS ? time_memory(c, memory_us) : result;
}

/* ------------------------------------------------------------------------------------ the rates */

static wf_result fit(const calibration *c, double memory_us, wfi_kept_rates *out)
{
    wfi_timed_point points[MOST_PRODUCTS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->items[i].us > 0)
            points[count++] = (wfi_timed_point){wfi_plan_point(c->items[i].plan), c->items[i].us};
    *out = (wfi_kept_rates){.there = true,
                            .driver_id = c->device->caps.driver_id,
                            .driver_version = c->device->caps.driver_version,
                            .points = count};
    const double error = wfi_matmul_fit_rates(
        points, count, wfi_matmul_profile_of(&c->device->caps)->rates, &out->matmul);
    if (error < 0)
        return wfi_fail(&c->device->log, WF_ERROR_UNSUPPORTED,
                        "wf_calibrate: %u products were timed, which are too few", count);
    out->matmul.of[WFI_RATE_MEMORY_BYTE] = SEEN_OF_COPY * memory_us;
    out->error_permille = (uint32_t)(error * 1000 + 0.5);
    return WF_SUCCESS;
}

static void end(calibration *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        wf_plan_destroy(&c->items[i].plan);
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&c->buffers[i]);
}

static uint64_t matrix_bytes(const wf_caps *caps)
{
    uint64_t bytes = wfi_peaks_profile_of(caps)->copy_bytes / COPY_PIECES;
    const uint64_t bounds[] = {MOST_BYTES, caps->max_storage_range, caps->max_buffer,
                               caps->available_bytes / 8};
    for (size_t i = 0; i < WFI_COUNT(bounds); i++)
        bytes = bytes < bounds[i] ? bytes : bounds[i];
    return bytes & ~UINT64_C(255);
}

static void keep(wf_device *device, const wfi_kept_rates *rates, wf_calibration *out)
{
    char error[512];
    out->kept = wfi_tuning_keep_rates(device, rates, error);
    if (!out->kept)
        wfi_log_write(&device->log, WF_LOG_WARNING, "%s; the rates hold for this device object",
                      error);
}

/* Rates that do not predict what they were measured by are not used. */
static void judge(wf_device *device, const wfi_kept_rates *rates, bool discard, wf_calibration *out)
{
    out->points = rates->points;
    out->error = rates->error_permille * 1e-3;
    out->measured = rates->error_permille <= WFI_MOST_RATES_ERROR_PERMILLE;
    if (!out->measured)
        wfi_log_write(&device->log, WF_LOG_WARNING,
                      "wf_calibrate: the rates predict %u products with an error of %.0f %% in the "
                      "median, over %.0f %%: they are not used",
                      out->points, out->error * 100, WFI_MOST_RATES_ERROR_PERMILLE * 0.1);
    else if (!discard)
        keep(device, rates, out);
}

static wf_result calibrate(wf_device *device, const wf_calibrate_params *params,
                           wf_calibration *out)
{
    calibration c = {.device = device,
                     .jobs = params->jobs,
                     .begun = wfi_host_seconds(),
                     .seconds =
                         params->budget_seconds > 0 ? params->budget_seconds : DEFAULT_SECONDS,
                     .most_bytes = matrix_bytes(&device->caps)};
    wfi_kept_rates rates;
    double memory_us = 0;
    wf_result result = measure(&c, &memory_us);
    if (result == WF_SUCCESS)
        result = fit(&c, memory_us, &rates);
    end(&c);
    if (result == WF_SUCCESS) {
        judge(device, &rates, params->discard, out);
        out->seconds = wfi_host_seconds() - c.begun;
    }
    return result;
}

static wf_result claim_and_calibrate(wf_device *device, const wf_calibrate_params *params,
                                     wf_calibration *out)
{
    wf_calibrate_params read;
    wf_calibration local = {.size = sizeof local};
    if (!device || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result result = wfi_params_read(&device->log, "wf_calibrate", params, &read, sizeof read);
    if (result != WF_SUCCESS)
        return result;
    if (!wfi_matmul_profile_of(&device->caps)->rates)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "wf_calibrate: models of devices of this kind need no measured rates");
    if (!wfi_tuning_claim(device, true))
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "wf_calibrate: a search on this device is under way");
    result = calibrate(device, &read, &local);
    wfi_tuning_claim(device, false);
    return result == WF_SUCCESS && !wfi_params_write(out, &local, sizeof local)
               ? WF_ERROR_INVALID_ARGUMENT
               : result;
}

wf_result wf_calibrate(wf_device *device, const wf_calibrate_params *params, wf_calibration *out)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, claim_and_calibrate(device, params, out));
}
