/* Every legal point of every variant and type builds its pipeline on this driver. A driver without
 * its card (RADV) compiles too. Where points are many, all single-candidate changes from the
 * defaults and from the model's choice are built, and random combinations after them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "core/device.h"
#include "harness.h"
#include "kernels/family.h"

#define RANDOM_POINTS 12

typedef struct tally {
    wf_device *device;
    uint32_t built, illegal;
} tally;

static void build_point(tally *t, const wfi_point *point)
{
    wfi_pipeline_desc desc;
    wfi_pipeline pipeline = {0};
    char reason[256];
    if (!wfi_point_legal(point, reason)) {
        t->illegal++;
        return;
    }
    wfi_point_pipeline(point, &desc);
    if (wfi_pipeline_create(t->device, &desc, &pipeline) != WF_SUCCESS) {
        fprintf(stderr, "variant %s %s does not build with", point->variant->name,
                wf_type_name(point->problem->type));
        for (uint32_t i = 0; i < point->variant->parameter_count; i++)
            fprintf(stderr, " %s=%u", point->variant->parameters[i].name, point->values[i]);
        fail_msg("seed %llu", (unsigned long long)test_seed());
    }
    wfi_pipeline_destroy(t->device, &pipeline);
    t->built++;
}

static void build_around(tally *t, const wfi_point *centre)
{
    build_point(t, centre);
    for (uint32_t p = 0; p < centre->variant->parameter_count; p++) {
        const wfi_parameter *parameter = &centre->variant->parameters[p];
        for (uint32_t c = 0; c < parameter->candidate_count; c++) {
            wfi_point point = *centre;
            point.values[p] = parameter->candidates[c];
            build_point(t, &point);
        }
    }
}

static void build_random(tally *t, const wfi_point *centre, test_random *random)
{
    for (uint32_t n = 0; n < RANDOM_POINTS; n++) {
        wfi_point point = *centre;
        for (uint32_t p = 0; p < point.variant->parameter_count; p++) {
            const wfi_parameter *parameter = &point.variant->parameters[p];
            if (parameter->candidate_count)
                point.values[p] =
                    parameter->candidates[test_random_below(random, parameter->candidate_count)];
        }
        build_point(t, &point);
    }
}

/* A middling problem of each family, for the model to choose values for. */
static wfi_problem problem_of(wf_family family, wf_type type)
{
    wfi_problem problem = {.family = family, .type = type};
    if (family == WF_FAMILY_MATMUL)
        problem.matmul = (wfi_matmul_problem){1024, 1024, 1024};
    else if (family == WF_FAMILY_SPMV)
        problem.spmv = (wfi_spmv_problem){65536, 65536, 655360, 40, 10, 5};
    else
        problem.stencil = (wfi_stencil_problem){257, 129, 129};
    return problem;
}

static void build_variant(tally *t, const wfi_variant *variant, wf_family family, wf_type type,
                          test_random *random)
{
    const wfi_problem problem = problem_of(family, type);
    wfi_point point = {
        .caps = wf_device_caps(t->device), .problem = &problem, .variant = variant};
    const uint32_t built_before = t->built;
    wfi_point_defaults(&point);
    build_around(t, &point);
    if (variant->fit(&point) >= 0)
        build_around(t, &point);
    build_random(t, &point, random);
    printf("  %s %s %s: %u pipelines\n", wf_family_name(family), variant->name,
           wf_type_name(type), t->built - built_before);
}

static void every_point_builds(void **state)
{
    tally t = {.device = *state};
    test_random random = {test_seed()};
    for (int f = 0; f < WF_FAMILY_COUNT; f++) {
        const wfi_family *family = wfi_family_get((wf_family)f);
        for (uint32_t v = 0; family && v < family->variant_count; v++)
            for (int type = 0; type < WF_TYPE_COUNT; type++)
                if (family->variants[v].modules[type])
                    build_variant(&t, &family->variants[v], (wf_family)f, (wf_type)type, &random);
    }
    printf("%u pipelines built, %u points not legal here\n", t.built, t.illegal);
    assert_true(t.built > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_point_builds)};
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
