/* Rows of problems nearby: on planted devices, whose points take other times than their model
 * expects, what is taken of a row's point and the model's own is on average about as good as the
 * better of the two, whichever that is. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "choose/neighbour.h"
#include "core/vendors.h"
#include "gpus.h"
#include "kernels/families.h"
#include "kernels/matmul/tile_time.h"
#include "profiles/matmul.h"

enum { BLOCKS = 8, SPLITS = 5, POINTS = BLOCKS * SPLITS, PROBLEMS = 300 };

static uint64_t bits;

static double uniform(void)
{
    bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(bits >> 11) * 0x1p-53;
}

/* Rates that the device has, those that its model believes, and what no rate tells of a block. Both
 * are drawn within a factor of two to the power of `octaves`. */
typedef struct planted {
    wf_caps caps;
    wfi_rates rates, believed;
    double of_block[BLOCKS];
} planted;

/* A problem, its points, what they take and what the model expects of them. */
typedef struct problem {
    wfi_problem problem;
    double truth[POINTS], expected[POINTS];
    int best, chosen; /* by the one and by the other */
} problem;

static const uint32_t blocks[BLOCKS][5] = {
    {64, 64, 16, 4, 4},  {64, 128, 8, 8, 8}, {32, 32, 16, 4, 4},  {32, 64, 16, 4, 4},
    {128, 128, 8, 8, 8}, {64, 32, 16, 4, 4}, {16, 128, 16, 4, 8}, {32, 128, 16, 4, 8}};

static wfi_point point_of(const planted *device, const problem *p, int i)
{
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    const uint32_t *b = blocks[i / SPLITS];
    wfi_point point = {.caps = &device->caps,
                       .problem = &p->problem,
                       .variant = family->variants[wfi_variant_find(family, "vector")]};
    wfi_point_defaults(&point);
    wfi_matmul_set_block(&point, &(wfi_matmul_block){b[0], b[1], b[2], b[3], b[4]});
    point.values[MATMUL_ID_SPLIT_K] = 1u << (2 * (i % SPLITS));
    point.values[MATMUL_ID_VEC4] = 7;
    return point;
}

static double time_by(wfi_point *point, const wfi_rates *rates)
{
    point->rates = rates;
    return wfi_matmul_tile_time(point) / wfi_matmul_microsecond(point);
}

static int least_of(const double *times)
{
    int least = 0;
    for (int i = 1; i < POINTS; i++)
        if (times[i] < times[least])
            least = i;
    return least;
}

static void make(const planted *device, const uint64_t extents[3], problem *p)
{
    p->problem = (wfi_problem){.family = WF_FAMILY_MATMUL,
                               .type = WF_TYPE_F32,
                               .matmul = wfi_matmul_plain(extents[0], extents[1], extents[2])};
    for (int i = 0; i < POINTS; i++) {
        wfi_point point = point_of(device, p, i);
        p->truth[i] = time_by(&point, &device->rates) * device->of_block[i / SPLITS];
        p->expected[i] = time_by(&point, &device->believed);
    }
    p->best = least_of(p->truth);
    p->chosen = least_of(p->expected);
}

static void plant(planted *device, double octaves)
{
    device->caps = gpu_card(WFI_AMD);
    device->rates = device->believed = *wfi_matmul_profile_of(&device->caps)->rates;
    for (int i = 0; i < WFI_RATES; i++)
        device->believed.of[i] *= exp2(octaves * (2 * uniform() - 1));
    for (int i = 0; i < BLOCKS; i++)
        device->of_block[i] = exp2(octaves * (uniform() - 0.5));
}

/* The entry that a search leaves, which keeps the best points that it timed. */
static void tune(const planted *device, const problem *p, wfi_tuning_entry *entry)
{
    bool taken[POINTS] = {false};
    *entry = (wfi_tuning_entry){.best_count = WFI_TUNING_BEST};
    for (int n = 0; n < WFI_TUNING_BEST; n++) {
        int least = -1;
        for (int i = 0; i < POINTS; i++)
            if (!taken[i] && (least < 0 || p->truth[i] < p->truth[least]))
                least = i;
        taken[least] = true;
        const wfi_point point = point_of(device, p, least);
        entry->best[n] = wfi_point_named(&point);
        entry->best[n].time_ns = (uint64_t)(p->truth[least] * 1000);
    }
}

static wfi_model_view view_of(const planted *device, const problem *p, int row)
{
    const wfi_point choice = point_of(device, p, p->chosen);
    return (wfi_model_view){.choice = wfi_point_named(&choice),
                            .choice_time = p->expected[p->chosen],
                            .row_time = p->expected[row]};
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of the relative errors of what the model expects. */
static double error_of(const problem *p)
{
    double errors[POINTS];
    for (int i = 0; i < POINTS; i++)
        errors[i] = fabs(p->expected[i] / p->truth[i] - 1);
    qsort(errors, POINTS, sizeof *errors, compare);
    return errors[POINTS / 2];
}

/* Means of the logarithms of the time over the best one's. */
typedef struct losses {
    double copied, model, weighed;
    int rows;
} losses;

/* One device, a problem that it was tuned for, and another one within half an octave in each
 * extent. */
static void add_problem(double octaves, losses *sum)
{
    static planted device;
    static problem there, here;
    static wfi_tuning_entry entry;
    uint64_t a[3], b[3];
    for (int i = 0; i < 3; i++) {
        a[i] = (uint64_t)(32 * exp2(6 * uniform())) * 4;
        b[i] = (uint64_t)((double)a[i] * exp2(uniform() - 0.5)) / 4 * 4;
    }
    plant(&device, octaves);
    make(&device, a, &there);
    make(&device, b, &here);
    tune(&device, &there, &entry);
    const wfi_model_view before = view_of(&device, &there, there.best),
                         now = view_of(&device, &here, there.best);
    const bool row = wfi_row_serves(&entry, &before, &now, error_of(&there));
    const double best = here.truth[here.best];
    sum->copied += log(here.truth[there.best] / best) / PROBLEMS;
    sum->model += log(here.truth[here.chosen] / best) / PROBLEMS;
    sum->weighed += log(here.truth[row ? there.best : here.chosen] / best) / PROBLEMS;
    sum->rows += row;
}

static losses losses_of(uint64_t seed, double octaves)
{
    losses sum = {0};
    bits = seed;
    for (int n = 0; n < PROBLEMS; n++)
        add_problem(octaves, &sum);
    print_message("seed %llu, rates within %.2f octaves: rows copied lose %.3f, the model %.3f, "
                  "weighed %.3f; %d rows of %d taken\n",
                  (unsigned long long)seed, octaves, sum.copied, sum.model, sum.weighed, sum.rows,
                  PROBLEMS);
    return sum;
}

/* A model as good as measured rates make it: half of what copied rows lose, and not more than the
 * model. */
static void good_models_are_weighed(void **state)
{
    (void)state;
    const losses sum = losses_of(20261123, 0.25);
    assert_true(sum.rows > PROBLEMS / 10 && sum.rows < PROBLEMS);
    assert_true(sum.weighed < sum.copied / 2);
    assert_true(sum.weighed < sum.model + 0.005);
}

/* One that errs by two times loses little where the row was right. */
static void bad_models_are_doubted(void **state)
{
    (void)state;
    const losses sum = losses_of(20261124, 1);
    assert_true(sum.weighed < sum.model / 2);
    assert_true(sum.weighed < sum.copied + 0.02);
}

/* By hand: a row that was 1.5 times as fast as the model's choice, of which the model expected
 * that it takes 1.2 times as long, is taken while the model expects less than 1.8 times. */
static void gains_are_measured(void **state)
{
    (void)state;
    static wfi_tuning_entry entry = {.best_count = 2};
    wfi_model_view there = {.choice_time = 10, .row_time = 12},
                   here = {.choice_time = 100, .row_time = 179};
    strcpy(entry.best[0].variant, "row");
    strcpy(entry.best[1].variant, "model");
    strcpy(there.choice.variant, "model");
    entry.best[0].time_ns = 2000;
    entry.best[1].time_ns = 3000;
    assert_true(wfi_row_serves(&entry, &there, &here, 0));
    here.row_time = 181;
    assert_false(wfi_row_serves(&entry, &there, &here, 0));
    entry.best_count = 1; /* no gain is known */
    here.row_time = 121;
    assert_false(wfi_row_serves(&entry, &there, &here, 0));
    here.row_time = 119;
    assert_true(wfi_row_serves(&entry, &there, &here, 0));
    here.row_time = -1; /* the model knows no time of the row's point */
    assert_true(wfi_row_serves(&entry, &there, &here, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_models_are_weighed),
        cmocka_unit_test(bad_models_are_doubted),
        cmocka_unit_test(gains_are_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
