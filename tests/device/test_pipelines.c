/* Legal points of every variant and type, near the defaults and near the model's choice, build
 * their pipelines on this driver. A driver without its card (RADV) compiles too; there
 * test_matmul_pipelines.c builds a covering set of matrix products. Where work-items have few
 * registers, products whose values do not fit them are left out, as there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/families.h"
#include "plan/hooks.h"
#include "core/architectures.h"
#include "core/device.h"
#include "core/platform.h"
#include "harness.h"
#include "points.h"

#define RANDOM_POINTS 4

#define MOST_SEEN 512
#define LEAST_BUILT 10 /* for one that needs more scratch memory than there is */

typedef struct tally {
    wf_device *device;
    uint32_t built, refused, failed;
    uint32_t number; /* of the next pipeline, over all processes that share the work */
    double most_seconds;
    char slowest[256];
    uint32_t seen_count;
    uint64_t seen[MOST_SEEN]; /* hashes of the constants built, of one variant and type */
} tally;

/* FNV-1a over the constants: parameters that only the host uses make no other pipeline. */
static bool is_new(tally *t, const wfi_pipeline_desc *desc)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (uint32_t i = 0; i < desc->constant_count; i++)
        hash = (hash ^ ((uint64_t)desc->constants[i].id << 32 | desc->constants[i].value)) *
               UINT64_C(1099511628211);
    for (uint32_t i = 0; i < t->seen_count; i++)
        if (t->seen[i] == hash)
            return false;
    if (t->seen_count < MOST_SEEN)
        t->seen[t->seen_count++] = hash;
    return true;
}

static void note_seconds(tally *t, double seconds, const char *text, const char *type)
{
    if (seconds <= t->most_seconds)
        return;
    t->most_seconds = seconds;
    snprintf(t->slowest, sizeof t->slowest, "%.240s %s", text, type);
}

static void build_point(void *user, const wfi_point *point)
{
    tally *t = user;
    wfi_pipeline_desc desc;
    wfi_pipeline pipeline = {0};
    char text[256];
    const char *type = wf_type_name(point->problem->type);
    wfi_point_pipeline(point, &desc);
    if (!test_fits_registers(point) || !is_new(t, &desc) || !test_is_mine(t->number++))
        return;
    test_point_text(point, text, sizeof text);
    const double begin = wfi_host_seconds();
    if (wfi_pipeline_create(t->device, &desc, &pipeline) == WF_SUCCESS)
        t->built++;
    else if (test_exceeds_scratch(&t->device->caps)) {
        t->refused++;
        printf("  %s %s is refused: more scratch memory than there is\n", text, type);
    } else {
        t->failed++;
        print_error("%s %s does not build; seed %llu\n", text, type,
                    (unsigned long long)test_seed());
    }
    note_seconds(t, wfi_host_seconds() - begin, text, type);
    wfi_pipeline_destroy(t->device, &pipeline);
}

/* A middling problem of each family, for the model to choose values for. */
static wfi_problem problem_of(wf_family family, wf_type type)
{
    wfi_problem problem = {.family = family, .type = type};
    if (family == WF_FAMILY_MATMUL) {
        problem.matmul = wfi_matmul_plain(1024, 1024, 1024);
        problem.matmul.fast = true; /* allows one variant more */
    } else if (family == WF_FAMILY_SPMV)
        problem.spmv = (wfi_spmv_problem){.rows = 65536,
                                          .columns = 65536,
                                          .entries = 655360,
                                          .longest_row = 40,
                                          .mean_row = 10,
                                          .row_deviation = 5,
                                          .block = 3,
                                          .block_fill = 0.8};
    else if (family == WF_FAMILY_VECTOR)
        problem.vector = (wfi_vector_problem){65536, WF_VECTOR_DOT};
    else if (family == WF_FAMILY_STENCIL)
        problem.stencil = (wfi_stencil_problem){.nx = 256,
                                                .ny = 256,
                                                .nz = 256,
                                                .row_stride = 256,
                                                .dimensions = 3,
                                                .radius = 1,
                                                .steps = 16};
    else if (family == WF_FAMILY_HIMENO)
        problem.himeno = (wfi_himeno_problem){.ni = 257, .nj = 129, .nk = 129};
    else
        wfi_family_get(family)->hooks->describe(
            &(wfi_log){0}, &(wf_problem){.family = family, .type = type, .extent = {256, 256, 256}},
            &problem);
    return problem;
}

static void build_variant(tally *t, const wfi_variant *variant, wf_family family, wf_type type,
                          test_random *random)
{
    const wfi_problem problem = problem_of(family, type);
    t->seen_count = 0;
    /* Of stencils, each candidate is compiled near the defaults alone, since there are three types
     * of each. */
    const uint32_t count = family == WF_FAMILY_STENCIL
                               ? test_each_small_point(wf_device_caps(t->device), &problem, variant,
                                                       0, random, build_point, t)
                               : test_each_point(wf_device_caps(t->device), &problem, variant,
                                                 RANDOM_POINTS, random, build_point, t);
    wfi_point defaults = {
        .caps = wf_device_caps(t->device), .problem = &problem, .variant = variant};
    char reason[256] = "";
    wfi_point_defaults(&defaults);
    const bool refused = count == 0 && !wfi_point_legal(&defaults, reason);
    printf("  %s %s %s: %u pipelines%s%s\n", wf_family_name(family), variant->name,
           wf_type_name(type), count, refused ? ", refused: " : "", reason);
}

static void every_point_builds(void **state)
{
    tally t = {.device = *state};
    test_random random = {test_seed()};
    for (int f = 0; f < WF_FAMILY_COUNT; f++) {
        const wfi_family *family = wfi_family_get((wf_family)f);
        if (f == WF_FAMILY_MATMUL && t.device->caps.driver_id == VK_DRIVER_ID_MESA_RADV)
            continue;
        for (uint32_t v = 0; family && v < family->variant_count; v++)
            for (int type = 0; type < WF_TYPE_COUNT; type++)
                if (family->variants[v]->modules[type])
                    build_variant(&t, family->variants[v], (wf_family)f, (wf_type)type, &random);
    }
    printf("%u pipelines built, %u refused for scratch memory, %u failed; the slowest took %.1f s: "
           "%s\n",
           t.built, t.refused, t.failed, t.most_seconds, t.slowest);
    assert_true(t.built > 0);
    assert_int_equal(t.failed, 0);
    assert_true(t.refused * LEAST_BUILT <= t.built);
}

/* A block of 16 x 16 sums a work-item is over the registers of any GPU so far: a driver that offers
 * statistics says so, and that the defaults fit. */
static void spills_are_told(void **state)
{
    (void)state;
    static const wf_constant small[] = {
        {"tile_m", 64}, {"tile_n", 64}, {"thread_m", 4}, {"thread_n", 4}};
    static const wf_constant block[] = {
        {"tile_m", 128}, {"tile_n", 256}, {"thread_m", 16}, {"thread_n", 16}};
    const wf_device_params params = {
        .size = sizeof params, .capture_statistics = true, .cache_directory = ""};
    const wf_problem problem = {
        .size = sizeof problem, .family = WF_FAMILY_MATMUL, .extent = {1024, 1024, 1024}};
    wf_tuning tuning = {.size = sizeof tuning, .variant = "vector", .no_tuning = true};
    wf_plan_info info = {.size = sizeof info};
    wf_device *device = NULL;
    if (!test_is_mine(0))
        skip();
    assert_int_equal(wf_device_create(&params, &device), WF_SUCCESS);
    /* VideoCore spills the defaults too, and PanVK 25.0 tells the code's size alone. */
    const uint32_t registers = wfi_unit_of(wf_device_caps(device)).lane_registers;
    if (!wf_device_caps(device)->pipeline_statistics || (registers && registers <= 64)) {
        wf_device_destroy(&device);
        skip();
    }
    for (int sequence = 0; sequence < 2; sequence++) {
        tuning.constants = sequence ? block : small;
        tuning.constant_count = 4;
        const wf_result result = wf_kernel_compile(device, &problem, &tuning, &info);
        if (sequence && result == WF_ERROR_CONSTRAINT) /* too much shared memory for the device */
            break;
        assert_int_equal(result, WF_SUCCESS);
        assert_true(info.kernel.statistic_count > 0);
        assert_int_equal(wfi_kernel_spills(&info.kernel), sequence == 1);
    }
    wf_device_destroy(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_point_builds),
                                       cmocka_unit_test(spills_are_told)};
    setvbuf(stdout, NULL, _IOLBF, 0); /* a compiler that crashes leaves the lines before */
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
