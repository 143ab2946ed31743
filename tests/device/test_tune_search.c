/* What a search tries: points that spill are not timed, a subspace is searched alone, and
 * kernels are compiled side by side. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/pipeline_pool.h"
#include "tuning.h"

/* The driver's statistics, changed so that every second kernel spills registers. */
static struct {
    PFN_vkCreateComputePipelines create;
    VkPipeline spilling[64];
    uint32_t created, count;
} spills;

static VKAPI_ATTR VkResult VKAPI_CALL create_pipeline(VkDevice device, VkPipelineCache cache,
                                                      uint32_t count,
                                                      const VkComputePipelineCreateInfo *infos,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkPipeline *pipelines)
{
    VkComputePipelineCreateInfo plain = *infos;
    assert_int_equal(count, 1);
    plain.flags &= ~(VkPipelineCreateFlags)VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
    const VkResult result = spills.create(device, cache, 1, &plain, allocator, pipelines);
    if (result == VK_SUCCESS && ++spills.created % 2 == 0)
        spills.spilling[spills.count++ % 64] = *pipelines;
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL executables(VkDevice device, const VkPipelineInfoKHR *info,
                                                  uint32_t *count,
                                                  VkPipelineExecutablePropertiesKHR *properties)
{
    (void)device;
    (void)info;
    *count = 1;
    properties->subgroupSize = 0;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL statistics(VkDevice device,
                                                 const VkPipelineExecutableInfoKHR *info,
                                                 uint32_t *count,
                                                 VkPipelineExecutableStatisticKHR *list)
{
    (void)device;
    *count = 1;
    snprintf(list->name, sizeof list->name, "Spilled VGPRs");
    list->format = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR;
    list->value.u64 = 0;
    for (uint32_t i = 0; i < spills.count && i < 64; i++)
        if (spills.spilling[i] == info->pipeline)
            list->value.u64 = 40;
    return VK_SUCCESS;
}

/* A search does not time kernels that spill; an exhaustive one does. */
static void spilling_points_are_not_timed(void **state)
{
    (void)state;
    test_tuned m;
    test_make_tuned(&m);
    for (int exhaustive = 0; exhaustive < 2; exhaustive++) {
        test_watch w = {.stop_after = 12};
        wf_device *device = test_tuning_device();
        memset(&spills, 0, sizeof spills);
        spills.create = device->fn.vkCreateComputePipelines;
        device->fn.vkCreateComputePipelines = create_pipeline;
        device->fn.vkGetPipelineExecutablePropertiesKHR = executables;
        device->fn.vkGetPipelineExecutableStatisticsKHR = statistics;
        device->capture_statistics = true;
        const wf_tune_params params = {.size = sizeof params,
                                       .spmv = &m.params,
                                       .budget_seconds = 600,
                                       .exhaustive = exhaustive,
                                       .discard = true,
                                       .progress = test_note_progress,
                                       .user = &w};
        wf_tune_result result = {.size = sizeof result};
        assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
        assert_true(result.measured > 0 && result.best_us > 0);
        if (exhaustive)
            assert_int_equal(result.spilling, 0);
        else
            assert_true(result.spilling > 0);
        assert_true(spills.count > 0);
        wf_device_destroy(&device);
    }
}

static void grids_are_tuned(void **state)
{
    (void)state;
    static const double coefficients[] = {0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    const wf_stencil_params grid = {.size = sizeof grid,
                                    .nx = 41,
                                    .ny = 30,
                                    .nz = 19,
                                    .coefficients = coefficients,
                                    .steps = 3};
    wf_device *device = test_tuning_device();
    const wf_tune_params params = {
        .size = sizeof params, .stencil = &grid, .budget_seconds = 1, .discard = true};
    wf_tune_result result = {.size = sizeof result};
    assert_int_equal(wf_tune(device, &params, &result), WF_SUCCESS);
    assert_true(result.measured > 0 && result.best_us > 0);
    assert_int_equal(result.wrong, 0);
    assert_string_equal(result.best.family, "stencil");
    wf_device_destroy(&device);
}

/* Whether all points tried are naive with local_y 2. */
static bool note_subspace(void *user, const wf_tune_progress *progress)
{
    bool *all = user;
    if (*progress->trying && strcmp(progress->stage, "measuring") == 0)
        *all = *all && strncmp(progress->trying, "naive ", 6) == 0 &&
               strstr(progress->trying, " local_y=2");
    return true;
}

/* Holds one row of work-items as wide as the device allows, where the model has several rows:
 * wavefit's choice is refused, but the search is not. A value with which no point is legal ends the
 * search with the reason. */
static void begins_where_the_model_does_not_fit(wf_device *device, const wf_matmul_params *product)
{
    wf_constant wide = {"local_x", wf_device_caps(device)->max_invocations};
    const wf_tuning held = {
        .size = sizeof held, .variant = "naive", .constants = &wide, .constant_count = 1};
    const wf_tune_params params = {
        .size = sizeof params, .matmul = product, .budget_seconds = 0.5, .within = &held};
    const wf_problem problem = {.size = sizeof problem,
                                .family = WF_FAMILY_MATMUL,
                                .extent = {product->m, product->n, product->k}};
    wf_tune_result result = {.size = sizeof result};
    wf_plan_info info = {.size = sizeof info};
    assert_int_equal(wf_kernel_compile(device, &problem, &held, &info), WF_ERROR_CONSTRAINT);
    assert_int_equal(wf_tune(device, &params, &result), WF_SUCCESS);
    assert_int_equal(result.best.constants[0].value, wide.value);
    assert_int_equal(result.best.constants[1].value, 1);
    wide.value++;
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CONSTRAINT);
}

/* A search of a subspace tries all of its points and no others, and its result is not kept. Its
 * result compared with itself has no noise. */
static void a_subspace_is_searched_alone(void **state)
{
    (void)state;
    static const wf_constant constants[] = {{"local_y", 2}};
    const wf_tuning within = {
        .size = sizeof within, .variant = "naive", .constants = constants, .constant_count = 1};
    const wf_matmul_params product = {.size = sizeof product, .m = 40, .n = 30, .k = 20};
    for (int exhaustive = 0; exhaustive < 2; exhaustive++) {
        bool all = true;
        wf_device *device = test_tuning_device();
        const wf_tune_params params = {.size = sizeof params,
                                       .matmul = &product,
                                       .budget_seconds = exhaustive ? 60 : 0.5,
                                       .exhaustive = exhaustive,
                                       .progress = note_subspace,
                                       .user = &all,
                                       .within = &within};
        wf_tune_result result = {.size = sizeof result};
        assert_int_equal(wf_tune(device, &params, &result), WF_SUCCESS);
        assert_true(all);
        assert_false(result.kept);
        assert_string_equal(result.best.variant, "naive");
        if (exhaustive)
            assert_int_equal(result.measured, result.legal);
        wf_tuning_row row = {.size = sizeof row};
        assert_int_equal(wf_tuning_row_get(device, 0, &row), WF_ERROR_INVALID_ARGUMENT);
        const wf_tuning rivals[] = {within, within};
        wf_plan_info infos[] = {{.size = sizeof *infos}, {.size = sizeof *infos}};
        double us[2], noise[2];
        wf_tune_params short_ones = params;
        short_ones.budget_seconds = 0.2;
        assert_int_equal(wf_tune_compare(device, &short_ones, rivals, 2, infos, us, noise),
                         WF_SUCCESS);
        assert_true(us[0] > 0 && us[0] == us[1] && noise[0] == 0 && noise[1] == 0);
        wf_device_destroy(&device);
    }
    wf_device *device = test_tuning_device();
    begins_where_the_model_does_not_fit(device, &product);
    const wf_tuning nothing = {.size = sizeof nothing, .variant = "nothing"};
    const wf_tune_params params = {.size = sizeof params, .matmul = &product, .within = &nothing};
    wf_tune_result result = {.size = sizeof result};
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_UNKNOWN_VARIANT);
    wf_device_destroy(&device);
}

/* ------------------------------------------------------------------------- kernels side by side */

#define TRIED 12 /* points; the search is ended by their number, whatever time they take */

typedef struct compiles {
    atomic_int running;
    int submitted, together; /* jobs; since the search reported that it compiles */
    int most_together;
    int told, tried; /* how often it reported compiling and measuring */
} compiles;

typedef struct job {
    compiles *of;
    void (*run)(void *job);
    void *job;
} job;

static void *run_job(void *memory)
{
    job *j = memory;
    compiles *c = j->of;
    j->run(j->job);
    free(j);
    atomic_fetch_sub(&c->running, 1);
    return NULL;
}

static void submit_job(void *user, void (*run)(void *job), void *what)
{
    compiles *c = user;
    pthread_t thread;
    job *j = malloc(sizeof *j);
    assert_non_null(j);
    *j = (job){c, run, what};
    c->submitted++;
    c->together++;
    c->most_together = c->together > c->most_together ? c->together : c->most_together;
    atomic_fetch_add(&c->running, 1);
    assert_int_equal(pthread_create(&thread, NULL, run_job, j), 0);
    pthread_detach(thread);
}

static bool note_compiles(void *user, const wf_tune_progress *progress)
{
    compiles *c = user;
    if (strcmp(progress->stage, "compiling") == 0) {
        c->told++;
        c->together = 0;
    }
    return strcmp(progress->stage, "measuring") != 0 || ++c->tried <= TRIED;
}

static wf_tune_result tune_product(wf_device *device, compiles *c)
{
    const wf_matmul_params product = {.size = sizeof product, .m = 33, .n = 20, .k = 17};
    const wf_jobs jobs = {.size = sizeof jobs, .submit = submit_job, .user = c};
    const wf_tune_params params = {.size = sizeof params,
                                   .matmul = &product,
                                   .budget_seconds = 600,
                                   .discard = true,
                                   .progress = note_compiles,
                                   .user = c,
                                   .jobs = &jobs};
    wf_tune_result result = {.size = sizeof result};
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
    while (atomic_load(&c->running)) /* a job is done a little before its thread */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return result;
}

/* After a search in which the process crashed, the next one compiles kernels one by one, and the
 * one after that several at once. */
static void kernels_are_compiled_side_by_side(void **state)
{
    (void)state;
    wfi_journal journal;
    wfi_tuning_data left;
    wf_device *device = test_tuning_device();
    compiles c = {0};
    const wf_tune_result first = tune_product(device, &c);
    assert_true(first.measured > 0 && first.best_us > 0);
    assert_int_equal(first.wrong, 0);
    assert_true(c.told > 0 && c.most_together >= 2);
    assert_int_equal(wfi_journal_open(device, &journal, &left), WF_SUCCESS);
    assert_false(journal.several);
    wfi_journal_note_several(&journal, true);
    wfi_journal_release(&journal); /* as the end of the process does */
    compiles singly = {0};
    assert_true(tune_product(device, &singly).measured > 0);
    assert_int_equal(singly.told + singly.submitted, 0);
    compiles again = {0};
    wfi_pool_clear(device); /* or the kernels of the searches before are there already */
    assert_true(tune_product(device, &again).measured > 0);
    assert_true(again.most_together >= 2);
    wf_device_destroy(&device);
}

static void bad_parameters_are_refused(void **state)
{
    (void)state;
    test_tuned m;
    wf_tune_result result = {.size = sizeof result};
    wf_device *device = test_tuning_device();
    const wf_matmul_params product = {.size = sizeof product, .m = 2, .n = 2, .k = 2};
    test_make_tuned(&m);
    wf_tune_params params = {.size = sizeof params};
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_INVALID_ARGUMENT);
    params.matmul = &product;
    params.spmv = &m.params;
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_tune(NULL, &params, &result), WF_ERROR_INVALID_ARGUMENT);
    wf_device_destroy(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spilling_points_are_not_timed),
        cmocka_unit_test(grids_are_tuned),
        cmocka_unit_test(a_subspace_is_searched_alone),
        cmocka_unit_test(kernels_are_compiled_side_by_side),
        cmocka_unit_test(bad_parameters_are_refused),
    };
    return cmocka_run_group_tests(tests, test_tuning_setup, test_tuning_teardown);
}
