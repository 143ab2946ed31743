/* What wavefit chooses for matrix products on this device builds into pipelines that keep their sums in
 * registers: by the compiler's own statistics nothing is spilled and nothing lies in scratch
 * memory. RADV tells, and compiles for cards that are not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/device.h"
#include "harness.h"
#include "kernels/matmul_rows.h"
#include "points.h"

typedef struct shape {
    uint32_t m, n, k, batch;
} shape;

/* Of the comparison with the vendor's library (bench/NOTES.md). */
static const shape shapes[] = {
    {512, 512, 512, 1},    {1024, 1024, 1024, 1}, {2048, 2048, 2048, 1}, {4096, 4096, 4096, 1},
    {8192, 8192, 8192, 1}, {1000, 2000, 3000, 1}, {4096, 4096, 64, 1},   {64, 64, 65536, 1},
    {4096, 16, 4096, 1},   {1, 4096, 4096, 1},    {8191, 8191, 8191, 1}, {127, 8192, 513, 1},
    {256, 256, 256, 64},
};

#define SHAPES (sizeof shapes / sizeof *shapes)

static int setup(void **state)
{
    wf_device_params params = test_device_params();
    params.capture_statistics = true;
    params.cache_directory = "";
    return wf_device_create(&params, (wf_device **)state) == WF_SUCCESS ? 0 : -1;
}

static uint64_t statistic(const wfi_pipeline *pipeline, const char *name, bool *told)
{
    for (uint32_t i = 0; i < pipeline->statistic_count; i++)
        if (strcmp(pipeline->statistics[i].name, name) == 0) {
            *told = true;
            return (uint64_t)pipeline->statistics[i].value;
        }
    return 0;
}

/* The names are RADV's. Of scalar registers a few may wait in a vector register's lanes, which touches
 * no memory. */
static bool spills(wf_device *device, const wfi_point *point)
{
    wfi_pipeline_desc desc;
    wfi_pipeline pipeline = {0};
    char text[256];
    bool told_spills = false, told_scratch = false;
    test_point_text(point, text, sizeof text);
    wfi_point_pipeline(point, &desc);
    assert_int_equal(wfi_pipeline_create(device, &desc, &pipeline), WF_SUCCESS);
    const uint64_t spilled = statistic(&pipeline, "Spilled VGPRs", &told_spills),
                   scratch = statistic(&pipeline, "Scratch size", &told_scratch);
    wfi_pipeline_destroy(device, &pipeline);
    if (!told_spills || !told_scratch)
        fail_msg("the driver does not tell of spills");
    const wfi_matmul_problem *p = &point->problem->matmul;
    if (spilled || scratch)
        print_error("%s %s for %llux%llux%llu: %llu registers spilled, %llu bytes of scratch\n",
                    text, wf_type_name(point->problem->type), (unsigned long long)p->m,
                    (unsigned long long)p->n, (unsigned long long)p->k, (unsigned long long)spilled,
                    (unsigned long long)scratch);
    return spilled || scratch;
}

typedef struct chosen {
    uint32_t count, spilling;
    wfi_problem problems[2 * SHAPES];
    wfi_point points[2 * SHAPES];
} chosen;

static bool is_new(const chosen *c, const wfi_point *point)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->points[i].variant == point->variant &&
            c->problems[i].matmul.transpose_b == point->problem->matmul.transpose_b &&
            memcmp(c->points[i].values, point->values,
                   point->variant->parameter_count * sizeof *point->values) == 0)
            return false;
    return true;
}

/* Both orders of storage in turn; a point that an earlier shape had is not built again. False: the device does
 * not do the type. */
static bool check_shape(wf_device *device, chosen *c, wf_type type, size_t at,
                        const wf_tuning *tuning)
{
    const shape *s = &shapes[at];
    const wf_matmul_params params = {.size = sizeof params,
                                     .m = s->m,
                                     .n = s->n,
                                     .k = s->k,
                                     .batch = s->batch,
                                     .type = type,
                                     .transpose_b = (at + (size_t)type) % 2 != 0};
    wfi_choice choice;
    wfi_problem *problem = &c->problems[c->count];
    *problem = (wfi_problem){.family = WF_FAMILY_MATMUL, .type = type};
    assert_int_equal(wfi_matmul_problem_of(NULL, &params, &problem->matmul), WF_SUCCESS);
    if (wfi_choose(device, problem, tuning, &choice) != WF_SUCCESS)
        return false;
    if (!is_new(c, &choice.point))
        return true;
    c->spilling += spills(device, &choice.point);
    c->points[c->count++] = choice.point;
    return true;
}

/* What is chosen by default, shipped rows included, and by the model alone. */
static void chosen_points_do_not_spill(void **state)
{
    wf_device *device = *state;
    const wf_tuning model = {.size = sizeof model, .no_tuning = true};
    uint32_t built = 0, spilling = 0;
    /* The driver knows no type for some cards that are not there. */
    device->caps.device_type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    test_expect_errors(true); /* a card may lack a type */
    for (int type = 0; type < WF_TYPE_COUNT; type++) {
        chosen c = {0};
        for (size_t s = 0; s < SHAPES; s++)
            if (!check_shape(device, &c, (wf_type)type, s, NULL) ||
                !check_shape(device, &c, (wf_type)type, s, &model))
                break;
        built += c.count;
        spilling += c.spilling;
    }
    test_expect_errors(false);
    printf("%u pipelines\n", built);
    assert_true(built > 20);
    assert_int_equal(spilling, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chosen_points_do_not_spill)};
    return cmocka_run_group_tests(tests, setup, test_device_teardown);
}
