/* Of drawn problems: the time that is predicted of what wavefit's models choose, over the least one
 * that is predicted of many legal points, by this device's compiler and the data sheet of
 * WAVEFIT_TEST_TARGET. A point without its compiler's words is predicted at its best, with all
 * registers free and none in memory, so that only those are compiled that could still win. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "choose/choose.h"
#include "core/architectures.h"
#include "core/device.h"
#include "core/platform.h"
#include "harness.h"
#include "kernels/families.h"
#include "model/predict.h"
#include "plan/hooks.h"
#include "planned.h"
#include "points.h"

#define MOST_POINTS 6000  /* of a problem */
#define DRAWS 60          /* of a variant, besides the model's values and their neighbours */
#define MOST_COMPILED 12  /* of a problem */
#define MOST_PROBLEMS 64  /* of a family */
#define MOST_MEDIAN 1.1   /* what is chosen over the best */
#define MOST_STENCIL 1.5  /* of any star or box */
#define MOST_SECONDS 1e30 /* of a point that does not compile */

typedef struct candidate {
    wfi_point point;
    double least_us; /* at its best */
} candidate;

typedef struct tally {
    wf_device *device;
    const wfi_data_sheet *sheet;
    test_random random;
    candidate *candidates;
    uint32_t count, compiled;
    bool untold; /* the compiler does not tell what it keeps in memory, which no point may */
    double most_seconds; /* of one kernel's compiling */
    char slowest[256];
    double ratios[WF_FAMILY_COUNT][MOST_PROBLEMS];
    uint32_t problems[WF_FAMILY_COUNT], unknown[WF_FAMILY_COUNT], open[WF_FAMILY_COUNT];
} tally;

/* What is known of a kernel before it is compiled; its registers are 0, which leaves room for
 * others'. */
static wf_kernel_info uncompiled(const wfi_point *point)
{
    wf_kernel_info kernel = {.subgroup_size = point->caps->subgroup_max};
    point->variant->group_size(point, kernel.group_size);
    if (point->variant->shared_bytes)
        kernel.shared_bytes = point->variant->shared_bytes(point);
    return kernel;
}

/* NaN: its bytes are not counted, or the sheet does not tell enough. kernel: NULL before it is
 * compiled. */
static double predict(const tally *t, const wfi_point *point, const wf_kernel_info *kernel)
{
    const wfi_choice choice = {
        .point = *point, .chosen_by = "test", .family = wfi_family_get(point->problem->family)};
    wf_plan_info info = wfi_describe_choice(&choice);
    const uint64_t groups = info.kernel.groups;
    wf_occupancy occupancy;
    wfi_prediction p;
    info.kernel = kernel ? *kernel : uncompiled(point);
    const bool known =
        wf_kernel_occupancy(wf_device_caps(t->device), &info.kernel, &occupancy) == WF_SUCCESS;
    info.kernel.groups = groups;
    if (!kernel) /* the narrowest subgroup leaves the fewest lanes idle */
        info.kernel.subgroup_size = point->caps->subgroup_min;
    /* Of some variants for products what goes through shared memory is not counted. */
    const bool shares = point->problem->family == WF_FAMILY_MATMUL &&
                        point->variant->shared_bytes && point->variant->shared_bytes(point) > 0;
    if (info.requested_bytes <= 0 || (shares && info.shared_requested_bytes <= 0) ||
        !wfi_predict(t->sheet, &info, point->problem->type, known ? &occupancy : NULL, &p))
        return (double)NAN;
    return p.us;
}

static void note_seconds(tally *t, const wfi_point *point, double seconds)
{
    char text[224];
    if (seconds <= t->most_seconds)
        return;
    t->most_seconds = seconds;
    test_point_text(point, text, sizeof text);
    snprintf(t->slowest, sizeof t->slowest, "%s %s", text, wf_type_name(point->problem->type));
}

static double compile(tally *t, const wfi_point *point)
{
    wfi_pipeline_desc desc;
    wfi_pipeline pipeline = {0};
    wf_kernel_info kernel;
    double us = MOST_SECONDS;
    wfi_point_pipeline(point, &desc);
    test_expect_errors(true);
    const double begin = wfi_host_seconds();
    if (wfi_pipeline_create(t->device, &desc, &pipeline) == WF_SUCCESS) {
        t->untold = t->untold || !test_tells_spills(&pipeline);
        wfi_describe_pipeline(point, &pipeline, 0, &kernel);
        if (kernel.spilled == 0) /* nothing that spills is chosen */
            us = predict(t, point, &kernel);
    }
    test_expect_errors(false);
    note_seconds(t, point, wfi_host_seconds() - begin);
    wfi_pipeline_destroy(t->device, &pipeline);
    t->compiled++;
    return us;
}

static void add(void *user, const wfi_point *point)
{
    tally *t = user;
    if (!test_fits_registers(
            point)) /* it would be in memory, and nothing that is there is chosen */
        return;
    const double us = predict(t, point, NULL);
    if (isfinite(us) && t->count < MOST_POINTS)
        t->candidates[t->count++] = (candidate){*point, us};
}

static int by_time(const void *a, const void *b)
{
    const double x = ((const candidate *)a)->least_us, y = ((const candidate *)b)->least_us;
    return (x > y) - (x < y);
}

/* The least time of the points that could be faster than `us`; *open: some of them were not
 * compiled. */
static double best_of(tally *t, double us, wfi_point *best, bool *open)
{
    qsort(t->candidates, t->count, sizeof *t->candidates, by_time);
    uint32_t compiled = 0, i = 0;
    for (; i < t->count && compiled < MOST_COMPILED; i++) {
        if (t->candidates[i].least_us >= 0.99 * us)
            break;
        const double told = compile(t, &t->candidates[i].point);
        compiled++;
        if (told < us) {
            us = told;
            *best = t->candidates[i].point;
        }
    }
    *open = i < t->count && t->candidates[i].least_us < 0.99 * us;
    return us;
}

static void check(tally *t, const wf_problem *given)
{
    const wf_tuning model = {.size = sizeof model, .no_tuning = true};
    const wf_family f = given->family;
    const wfi_family *family = wfi_family_get(f);
    wfi_problem problem = {.family = f, .type = given->type};
    wfi_choice choice;
    char text[256], other[256];
    assert_int_equal(family->hooks->describe(&(wfi_log){0}, given, &problem), WF_SUCCESS);
    if (wfi_choose_silently(t->device, &problem, &model, &choice) != WF_SUCCESS)
        return;
    choice.point.problem = &problem;
    const double chosen = compile(t, &choice.point);
    if (t->untold)
        return;
    if (!isfinite(chosen)) {
        t->unknown[f]++;
        return;
    }
    t->count = 0;
    for (uint32_t v = 0; v < family->variant_count; v++)
        if (family->variants[v]->modules[problem.type])
            test_each_point(wf_device_caps(t->device), &problem, family->variants[v], DRAWS,
                            &t->random, add, t);
    wfi_point best = choice.point;
    bool open;
    const double least = best_of(t, chosen, &best, &open);
    t->open[f] += open;
    t->ratios[f][t->problems[f]++] = chosen / least;
    if (chosen / least < MOST_MEDIAN)
        return;
    test_point_text(&choice.point, text, sizeof text);
    test_point_text(&best, other, sizeof other);
    printf("  %s %s %llux%llux%llu: %.3g us, %.2f of the best\n    %s\n    %s\n", family->name,
           wf_type_name(problem.type), (unsigned long long)given->extent[0],
           (unsigned long long)given->extent[1], (unsigned long long)given->extent[2], chosen,
           chosen / least, text, other);
}

static void check_grid(tally *t, wf_type type)
{
    const uint32_t side = 32u << test_random_below(&t->random, 4);
    const bool flat = test_random_below(&t->random, 2);
    const wf_stencil_params params = {
        .size = sizeof params,
        .nx = (flat ? 8 : 1) * side + test_random_below(&t->random, side),
        .ny = (flat ? 8 : 1) * side + test_random_below(&t->random, side),
        .nz = flat ? 0 : side,
        .shape = (wf_stencil_shape)test_random_below(&t->random, 2),
        .radius = 1 + test_random_below(&t->random, 2),
        .steps = 1 + test_random_below(&t->random, 20),
        .type = type};
    check(t, &(wf_problem){.size = sizeof(wf_problem),
                           .family = WF_FAMILY_STENCIL,
                           .type = type,
                           .stencil = &params,
                           .extent = {params.nx, params.ny, params.nz}});
}

static void check_drawn(tally *t)
{
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F32, WF_TYPE_F32, WF_TYPE_F16,
                                    WF_TYPE_F64};
    const wf_type type = types[test_random_below(&t->random, 5)];
    const uint64_t m = UINT64_C(16) << test_random_below(&t->random, 8),
                   n = UINT64_C(16) << test_random_below(&t->random, 8),
                   k = UINT64_C(64) << test_random_below(&t->random, 6);
    check(t, &(wf_problem){.size = sizeof(wf_problem),
                           .family = WF_FAMILY_MATMUL,
                           .type = type,
                           .extent = {m + test_random_below(&t->random, (uint32_t)m),
                                      n + test_random_below(&t->random, (uint32_t)n),
                                      k + test_random_below(&t->random, (uint32_t)k)}});
    check_grid(t, type);
    check(t, &(wf_problem){.size = sizeof(wf_problem),
                           .family = WF_FAMILY_HIMENO,
                           .extent = {32 + test_random_below(&t->random, 512),
                                      32 + test_random_below(&t->random, 256),
                                      32 + test_random_below(&t->random, 256)}});
    const uint64_t rows = UINT64_C(1000) << test_random_below(&t->random, 10);
    const uint32_t row = 1 + test_random_below(&t->random, 64);
    check(t, &(wf_problem){.size = sizeof(wf_problem),
                           .family = WF_FAMILY_SPMV,
                           .type = type == WF_TYPE_F16 ? WF_TYPE_F32 : type,
                           .extent = {rows, rows, rows * row},
                           .longest_row = row + test_random_below(&t->random, row),
                           .row_deviation = row / 4.0});
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void leave_out(const char *reason)
{
    puts(reason);
    skip();
}

/* NVK tells of the shim's compute units and of no product. */
static void name_product(wf_caps *caps, const wfi_data_sheet *sheet)
{
    if (caps->compute_units)
        caps->compute_units = (uint32_t)sheet->units;
    if (!wfi_architecture_of(caps))
        snprintf(caps->name, sizeof caps->name, "%s", sheet->product);
}

static long problem_count(void)
{
    const char *drawn = getenv("WAVEFIT_TEST_DRAWN");
    return drawn ? strtol(drawn, NULL, 10) : test_quick() ? 6 : 24;
}

/* Whether the median of each family is near the best, and no stencil is far from it. */
static bool print_ratios(tally *t)
{
    bool near = true;
    for (int f = 0; f < WF_FAMILY_COUNT; f++) {
        const uint32_t count = t->problems[f];
        double *ratios = t->ratios[f];
        qsort(ratios, count, sizeof *ratios, by_value);
        if (count + t->unknown[f] == 0)
            continue;
        printf("%s: of %u problems what is chosen takes %.2f of the best in the median, %.2f at "
               "worst; %u not known, %u not to the end\n",
               wf_family_name((wf_family)f), count, count ? ratios[count / 2] : (double)NAN,
               count ? ratios[count - 1] : (double)NAN, t->unknown[f], t->open[f]);
        /* Sparse products have no prediction: their bytes are counted where a plan is made. */
        const bool held = f != WF_FAMILY_SPMV && f != WF_FAMILY_VECTOR;
        near = near && (!held || (count > 0 && ratios[count / 2] <= MOST_MEDIAN));
        near = near && (f != WF_FAMILY_STENCIL || ratios[count - 1] <= MOST_STENCIL);
    }
    printf("%u kernels compiled, the slowest in %.1f s: %s; seed %llu\n", t->compiled,
           t->most_seconds, t->slowest, (unsigned long long)test_seed());
    return near;
}

static void chosen_is_near_the_best(void **state)
{
    static tally t;
    const char *target = getenv("WAVEFIT_TEST_TARGET");
    t = (tally){.device = *state, .random = {test_seed()}};
    t.sheet = target ? wfi_data_sheet_of(target) : NULL;
    if (!t.sheet) {
        leave_out("there is no data sheet of the target");
        return;
    }
    name_product(&t.device->caps, t.sheet);
    t.candidates = malloc(MOST_POINTS * sizeof *t.candidates);
    assert_non_null(t.candidates);
    const long problems = problem_count();
    for (long i = 0; i < problems && i < MOST_PROBLEMS && !t.untold; i++)
        check_drawn(&t);
    free(t.candidates);
    if (t.untold) {
        leave_out("the compiler does not tell what it keeps in memory");
        return;
    }
    assert_true(print_ratios(&t));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chosen_is_near_the_best)};
    setvbuf(stdout, NULL, _IOLBF, 0); /* a run that is cut off leaves the lines before */
    return cmocka_run_group_tests(tests, test_statistics_setup, test_device_teardown);
}
