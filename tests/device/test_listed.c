/* What a search compiles ahead is what the plans of its points then ask for. Points are opened as a
 * search opens them, from an empty pool of pipelines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/pipeline_pool.h"
#include "core/volk.h"
#include "kernels/families.h"
#include "matmul/matmul_ids.h"
#include "plan/hooks.h"
#include "points.h"
#include "tune/trial.h"
#include "tuning.h"

#define MOST_POINTS 6      /* of a variant */
#define MOST_VALUES 4096.0 /* of a tile of C: larger ones take seconds to compile */

static PFN_vkCreateComputePipelines real_create;
static uint32_t created;

static VKAPI_ATTR VkResult VKAPI_CALL create(VkDevice device, VkPipelineCache cache, uint32_t count,
                                             const VkComputePipelineCreateInfo *infos,
                                             const VkAllocationCallbacks *allocator,
                                             VkPipeline *pipelines)
{
    created += count;
    return real_create(device, cache, count, infos, allocator, pipelines);
}

typedef struct walk {
    wf_device *device;
    const wfi_trial *trial;
    uint32_t points, several;  /* of these, with more than one pipeline */
    uint32_t split, shared;    /* of products: by split-K and stream-K, several too */
    uint32_t known, by_matrix; /* of sparse products: with a list and without */
} walk;

static void note(walk *w, const wfi_point *point, uint32_t listed)
{
    const bool product = point->problem->family == WF_FAMILY_MATMUL;
    w->points++;
    w->several += listed > 1;
    w->split += product && listed > 1 && wfi_point_value(point, MATMUL_ID_SPLIT_K, 1) > 1;
    w->shared += product && listed > 2 && wfi_point_value(point, MATMUL_ID_STREAM_K, 0) > 0;
    w->known += listed > 0;
    w->by_matrix += listed == 0;
}

/* How many are to be compiled beside those listed, at most. */
static uint32_t most_unlisted(const wfi_point *point, uint32_t listed)
{
    switch (point->problem->family) {
    case WF_FAMILY_HIMENO:
        return 2; /* sums of partial sums, and what fills the coefficients */
    case WF_FAMILY_SPMV:
        return listed ? 1 : UINT32_MAX; /* what comes before or behind the product */
    default:
        return 0;
    }
}

static void check_point(void *user, const wfi_point *point)
{
    walk *w = user;
    char text[256];
    wf_constant constants[WF_MAX_PARAMETERS];
    const wf_tuning tuning = test_point_tuning(point, constants);
    wfi_pipeline_list list = {0};
    wfi_runner runner;
    wfi_pool_clear(w->device);
    assert_null(w->device->pipelines);
    const wfi_object *before = w->device->objects;
    created = 0;
    const wfi_choice choice = {.point = *point, .family = wfi_family_get(point->problem->family)};
    choice.family->hooks->list(w->device, &choice, w->trial->own, &list);
    assert_int_equal(created, 0);
    assert_ptr_equal(w->device->objects, before);
    assert_int_equal(wfi_runner_open(w->trial, &tuning, &runner), WF_SUCCESS);
    test_point_text(point, text, sizeof text);
    if (created < list.count || created - list.count > most_unlisted(point, list.count))
        fail_msg("%s: %u listed, %u compiled (seed %llu)", text, list.count, created,
                 (unsigned long long)test_seed());
    for (uint32_t i = 0; i < list.count; i++) {
        wfi_pooled *pooled = wfi_pool_take_compiled(w->device, &list.items[i]);
        if (!pooled)
            fail_msg("%s: the plan has no pipeline %u of %u (seed %llu)", text, i, list.count,
                     (unsigned long long)test_seed());
        wfi_pool_give_back(w->device, &pooled);
    }
    wfi_runner_close(&runner);
    note(w, point, list.count);
}

static bool is_small(const wfi_point *point)
{
    const double m = wfi_point_value(point, MATMUL_ID_TILE_M, 1),
                 n = wfi_point_value(point, MATMUL_ID_TILE_N, 1);
    return point->problem->family != WF_FAMILY_MATMUL || m * n <= MOST_VALUES;
}

static bool is_split(const wfi_point *point)
{
    return is_small(point) && wfi_point_value(point, MATMUL_ID_SPLIT_K, 1) > 1;
}

static bool is_shared(const wfi_point *point)
{
    return is_small(point) && wfi_point_value(point, MATMUL_ID_STREAM_K, 0) > 0;
}

/* All variants of the problem's family; of `vector` also points by split-K and by stream-K. */
static walk walk_all(wf_device *device, const wf_tune_params *params)
{
    wfi_trial trial;
    test_random random = {test_seed()};
    walk w = {.device = device, .trial = &trial};
    assert_int_equal(wfi_trial_open(device, params, &trial), WF_SUCCESS);
    const wfi_family *family = wfi_family_get(trial.problem.family);
    for (uint32_t i = 0; i < family->variant_count; i++)
        test_each_value(&device->caps, &trial.problem, family->variants[i], is_small, MOST_POINTS,
                        &random, check_point, &w);
    for (int i = 0; family == wfi_family_get(WF_FAMILY_MATMUL) && i < 2; i++)
        test_each_value(&device->caps, &trial.problem,
                        family->variants[wfi_variant_find(family, "vector")],
                        i ? is_split : is_shared, MOST_POINTS, &random, check_point, &w);
    wfi_trial_close(&trial);
    assert_true(w.points > 0);
    return w;
}

/* Scaling and adding, which a search takes out of its problem, change no list. */
static void products(void **state)
{
    static const double alpha = 2;
    const wf_matmul_params all[] = {
        {.size = sizeof all[0], .m = 70, .n = 45, .k = 133, .alpha = &alpha, .beta = 1},
        {.size = sizeof all[0], .m = 200, .n = 136, .k = 64, .transpose_b = true},
    };
    walk total = {0};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const wf_tune_params params = {.size = sizeof params, .matmul = &all[i]};
        const walk w = walk_all(*state, &params);
        total.split += w.split;
        total.shared += w.shared;
    }
    assert_true(total.split > 0 && total.shared > 0);
}

/* Seven steps leave a remainder of passes of two, three and four. */
static void stencils(void **state)
{
    const wf_stencil_params all[] = {
        {.size = sizeof all[0], .nx = 61, .ny = 43, .steps = 7},
        {.size = sizeof all[0], .nx = 40, .ny = 21, .nz = 18, .steps = 7},
        {.size = sizeof all[0], .nx = 40, .ny = 21, .nz = 18, .shape = WF_STENCIL_BOX},
    };
    uint32_t several = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double values[27];
        for (int n = 0; n < 27; n++)
            values[n] = 1.0 / (n + 2);
        wf_stencil_params stencil = all[i];
        stencil.radius = 1;
        stencil.coefficients = values;
        const wf_tune_params params = {.size = sizeof params, .stencil = &stencil};
        several += walk_all(*state, &params).several;
    }
    assert_true(several > 0);
}

static void himeno(void **state)
{
    const wf_himeno_params himeno = {.size = sizeof himeno, .ni = 37, .nj = 22, .nk = 15};
    const wf_tune_params params = {.size = sizeof params, .himeno = &himeno};
    assert_true(walk_all(*state, &params).several > 0);
}

static void sparse_products(void **state)
{
    test_tuned m;
    test_make_tuned(&m);
    const wf_tune_params params = {.size = sizeof params, .spmv = &m.params};
    const walk w = walk_all(*state, &params);
    assert_true(w.known > 0 && w.by_matrix > 0);
}

static int setup(void **state)
{
    if (test_tuning_setup(state) != 0)
        return -1;
    wf_device *device = test_tuning_device();
    real_create = device->fn.vkCreateComputePipelines;
    device->fn.vkCreateComputePipelines = create;
    *state = device;
    return 0;
}

static int teardown(void **state)
{
    wf_device *device = *state;
    wf_device_destroy(&device);
    return test_tuning_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
        cmocka_unit_test(stencils),
        cmocka_unit_test(himeno),
        cmocka_unit_test(sparse_products),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
