/* Short calls: executions that are kept and submitted again, pipelines that plans have in
 * common. */
#include <stdatomic.h>
#include <string.h>

#include "core/device.h"
#include "core/pipeline_pool.h"
#include "harness.h"
#include "plan/object.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { N = 8, THREADS = 4 };

/* Calls of the driver, counted on the way. */
static PFN_vkBeginCommandBuffer real_begin;
static PFN_vkCreateComputePipelines real_create;
static atomic_uint recorded, compiled;

static VkResult VKAPI_CALL begin(VkCommandBuffer commands, const VkCommandBufferBeginInfo *info)
{
    atomic_fetch_add(&recorded, 1);
    return real_begin(commands, info);
}

static VkResult VKAPI_CALL create(VkDevice device, VkPipelineCache cache, uint32_t count,
                                  const VkComputePipelineCreateInfo *infos,
                                  const VkAllocationCallbacks *allocator, VkPipeline *pipelines)
{
    atomic_fetch_add(&compiled, count);
    return real_create(device, cache, count, infos, allocator, pipelines);
}

static int setup(void **state)
{
    if (test_device_setup(state) != 0)
        return -1;
    wf_device *device = *state;
    real_begin = device->fn.vkBeginCommandBuffer;
    real_create = device->fn.vkCreateComputePipelines;
    device->fn.vkBeginCommandBuffer = begin;
    device->fn.vkCreateComputePipelines = create;
    return 0;
}

static wf_result tuned_plan(wf_device *device, const wf_jobs *jobs, const wf_tuning *tuning,
                            wf_plan **plan)
{
    const wf_matmul_params params = {
        .size = sizeof params, .m = N, .n = N, .k = N, .jobs = jobs, .tuning = tuning};
    return wf_matmul_plan(device, &params, plan);
}

static wf_result product_plan(wf_device *device, const wf_jobs *jobs, wf_plan **plan)
{
    return tuned_plan(device, jobs, NULL, plan);
}

/* A square matrix of small whole numbers, so that sums are exact in any order. */
static void fill(test_random *random, float *matrix)
{
    for (int i = 0; i < N * N; i++)
        matrix[i] = (float)test_random_below(random, 17) - 8;
}

static bool is_product(const float *a, const float *b, const float *c)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i * N + k] * b[k * N + j];
            if (c[i * N + j] != sum)
                return false;
        }
    return true;
}

typedef struct product {
    wf_plan *plan;
    wf_buffer *buffers[3];
    wf_buffer *workspace;
    wf_bindings bindings;
} product;

static void make_buffers(wf_device *device, product *p)
{
    const uint64_t scratch = wf_plan_workspace(p->plan);
    p->bindings.size = sizeof p->bindings;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(
            wf_buffer_create(device, N * N * sizeof(float), WF_MEMORY_DEVICE, &p->buffers[i]),
            WF_SUCCESS);
        p->bindings.items[i].buffer = p->buffers[i];
    }
    if (scratch)
        assert_int_equal(wf_buffer_create(device, scratch, WF_MEMORY_DEVICE, &p->workspace),
                         WF_SUCCESS);
    p->bindings.workspace.buffer = p->workspace;
}

static void drop_buffers(product *p)
{
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&p->buffers[i]);
    wf_buffer_destroy(&p->workspace);
}

/* Runs on new inputs and compares every element. */
static bool multiply(product *p, test_random *random)
{
    float a[N * N], b[N * N], c[N * N];
    const uint64_t bytes = sizeof a;
    fill(random, a);
    fill(random, b);
    return wf_buffer_write(p->buffers[0], 0, a, bytes) == WF_SUCCESS &&
           wf_buffer_write(p->buffers[1], 0, b, bytes) == WF_SUCCESS &&
           wf_buffer_fill(p->buffers[2], 0, bytes, UINT32_MAX) == WF_SUCCESS &&
           wf_plan_run(p->plan, &p->bindings) == WF_SUCCESS &&
           wf_buffer_read(p->buffers[2], 0, c, bytes) == WF_SUCCESS && is_product(a, b, c);
}

/* How many command buffers wf_plan_run records for bindings that do not change. */
static unsigned recordings_of_run(product *p, test_random *random)
{
    assert_true(multiply(p, random));
    const unsigned before = atomic_load(&recorded);
    assert_int_equal(wf_plan_run(p->plan, &p->bindings), WF_SUCCESS);
    return atomic_load(&recorded) - before;
}

/* Whether every second execution works from the last tile to the first, as another recording. */
static bool alternates(const wf_plan *plan)
{
    for (uint32_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].parity_at)
            return true;
    return false;
}

/* Each direction is recorded by its first execution and never again. */
static void check_kept(product *p)
{
    test_random random = {test_seed()};
    for (int i = 0; i < 6; i++)
        assert_int_equal(recordings_of_run(p, &random), i == 0 && alternates(p->plan) ? 1 : 0);
}

static void test_kept(void **state)
{
    product p = {.plan = NULL};
    assert_int_equal(product_plan(*state, NULL, &p.plan), WF_SUCCESS);
    make_buffers(*state, &p);
    check_kept(&p);
    wf_plan_destroy(&p.plan);
    drop_buffers(&p);
}

/* On every device a plan that alternates, which only some devices' rows choose. */
static void test_kept_directions(void **state)
{
    const wf_constant constants[] = {{"reverse", 1}};
    const wf_tuning tuning = {.size = sizeof tuning,
                              .variant = "subgroup_k",
                              .constants = constants,
                              .constant_count = 1};
    product p = {.plan = NULL};
    assert_int_equal(tuned_plan(*state, NULL, &tuning, &p.plan), WF_SUCCESS);
    assert_true(alternates(p.plan));
    make_buffers(*state, &p);
    check_kept(&p);
    wf_plan_destroy(&p.plan);
    drop_buffers(&p);
}

/* More sets of bindings than are kept, drawn at random; each run uses its own buffers. */
static void test_many_bindings(void **state)
{
    enum { SETS = 7 };
    test_random random = {test_seed()};
    product sets[SETS] = {{.plan = NULL}};
    assert_int_equal(product_plan(*state, NULL, &sets[0].plan), WF_SUCCESS);
    for (int i = 0; i < SETS; i++) {
        sets[i].plan = sets[0].plan;
        make_buffers(*state, &sets[i]);
    }
    for (int i = 0; i < 5 * SETS; i++)
        assert_true(multiply(&sets[test_random_below(&random, SETS)], &random));
    for (int i = 0; i < SETS; i++)
        drop_buffers(&sets[i]);
    wf_plan_destroy(&sets[0].plan);
}

/* Buffers that are destroyed and made again, mostly with the same Vulkan handles. */
static void test_new_buffers(void **state)
{
    test_random random = {test_seed()};
    product p = {.plan = NULL};
    assert_int_equal(product_plan(*state, NULL, &p.plan), WF_SUCCESS);
    for (int i = 0; i < 6; i++) {
        make_buffers(*state, &p);
        const unsigned before = atomic_load(&recorded);
        assert_int_equal(wf_plan_run(p.plan, &p.bindings), WF_SUCCESS);
        assert_true(atomic_load(&recorded) > before);
        assert_true(multiply(&p, &random));
        drop_buffers(&p);
    }
    wf_plan_destroy(&p.plan);
}

/* Runs with the caller's own handles are recorded each time, since another buffer may have the same
 * handle. */
static void test_handles(void **state)
{
    test_random random = {test_seed()};
    product p = {.plan = NULL};
    assert_int_equal(product_plan(*state, NULL, &p.plan), WF_SUCCESS);
    make_buffers(*state, &p);
    for (int i = 0; i < 3; i++)
        p.bindings.items[i] = (wf_binding){.handle = wf_buffer_handle(p.buffers[i]),
                                           .bytes = wf_buffer_size(p.buffers[i])};
    assert_int_equal(recordings_of_run(&p, &random), 1);
    wf_plan_destroy(&p.plan);
    drop_buffers(&p);
}

/* The thread polls the fence, as it does for GPUs. */
static void test_asking(void **state)
{
    wf_device *device = *state;
    const double before = device->poll_seconds;
    device->poll_seconds = 10;
    test_kept(state);
    device->poll_seconds = before;
}

/* ------------------------------------------------------------------------------------- sparse */

enum { ROWS = 40 };

static const uint32_t longest = 5;

/* Row r has r % 6 entries of values 1, 2, …, so that sums are exact. */
static wf_result sparse_plan(wf_device *device, const char *variant, wf_plan **plan)
{
    uint32_t offsets[ROWS + 1] = {0}, columns[ROWS * 6];
    float values[ROWS * 6];
    for (uint32_t r = 0; r < ROWS; r++) {
        offsets[r + 1] = offsets[r] + r % (longest + 1);
        for (uint32_t i = offsets[r]; i < offsets[r + 1]; i++) {
            columns[i] = (r + 7 * (i - offsets[r])) % ROWS;
            values[i] = (float)(i - offsets[r] + 1);
        }
    }
    const double alpha = 2;
    const wf_tuning tuning = {.size = sizeof tuning, .variant = variant};
    const wf_spmv_params params = {.size = sizeof params,
                                   .rows = ROWS,
                                   .columns = ROWS,
                                   .row_offsets = offsets,
                                   .column_indices = columns,
                                   .values = values,
                                   .alpha = &alpha,
                                   .tuning = &tuning};
    return wf_spmv_plan(device, &params, plan);
}

static const char *plan_variant(const wf_plan *plan)
{
    wf_plan_info info = {.size = sizeof info};
    return wf_plan_describe(plan, &info) == WF_SUCCESS ? info.variant : "?";
}

static void assert_multiplies(wf_plan *plan, const wf_bindings *bindings, wf_buffer *x_buffer,
                              wf_buffer *y_buffer, float alpha, uint32_t seed)
{
    float x[ROWS], y[ROWS];
    for (uint32_t i = 0; i < ROWS; i++)
        x[i] = (float)((i * 5 + seed) % 11);
    assert_int_equal(wf_buffer_write(x_buffer, 0, x, sizeof x), WF_SUCCESS);
    test_poison(y_buffer);
    assert_int_equal(wf_plan_run(plan, bindings), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(y_buffer, 0, y, sizeof y), WF_SUCCESS);
    for (uint32_t r = 0; r < ROWS; r++) {
        float sum = 0;
        for (uint32_t i = 0; i < r % (longest + 1); i++)
            sum += (float)(i + 1) * x[(r + 7 * i) % ROWS];
        if (y[r] != alpha * sum)
            fail_msg("variant %s, run %u: row %u is %g, not %g", plan_variant(plan), seed, r,
                     (double)y[r], (double)(alpha * sum));
    }
}

/* Every variant, among them those that read their matrix backwards in every second execution and
 * those that bind texel buffers; and factors that change. */
static void test_sparse(void **state)
{
    unsigned tested = 0;
    test_expect_errors(true);
    for (uint32_t v = 0; v < wf_family_variant_count(WF_FAMILY_SPMV); v++) {
        wf_variant_info info;
        wf_plan *plan = NULL;
        wf_buffer *x = NULL, *y = NULL;
        assert_int_equal(wf_family_variant(WF_FAMILY_SPMV, v, &info), WF_SUCCESS);
        if (sparse_plan(*state, info.name, &plan) != WF_SUCCESS)
            continue;
        assert_int_equal(wf_buffer_create(*state, ROWS * 4, WF_MEMORY_DEVICE, &x), WF_SUCCESS);
        assert_int_equal(wf_buffer_create(*state, ROWS * 4, WF_MEMORY_DEVICE, &y), WF_SUCCESS);
        const wf_bindings bindings = {
            .size = sizeof bindings,
            .items = {[WF_SPMV_X] = {.buffer = x}, [WF_SPMV_Y] = {.buffer = y}}};
        for (uint32_t i = 0; i < 5; i++)
            assert_multiplies(plan, &bindings, x, y, 2, i);
        assert_int_equal(wf_spmv_scale(plan, 3, 0), WF_SUCCESS);
        assert_multiplies(plan, &bindings, x, y, 3, 1);
        wf_plan_destroy(&plan);
        wf_buffer_destroy(&x);
        wf_buffer_destroy(&y);
        tested++;
    }
    test_expect_errors(false);
    assert_true(tested >= 4);
}

/* ---------------------------------------------------------------------------------- pipelines */

static void test_compiled_once(void **state)
{
    test_random random = {test_seed()};
    product first = {.plan = NULL}, second = {.plan = NULL};
    wfi_pool_clear(*state);
    const unsigned before = atomic_load(&compiled);
    assert_int_equal(product_plan(*state, NULL, &first.plan), WF_SUCCESS);
    const unsigned kernels = atomic_load(&compiled) - before;
    assert_true(kernels > 0);
    assert_int_equal(product_plan(*state, NULL, &second.plan), WF_SUCCESS);
    assert_int_equal(atomic_load(&compiled), before + kernels);
    wf_plan_destroy(&first.plan);
    make_buffers(*state, &second);
    assert_true(multiply(&second, &random)); /* though the plan that compiled it was destroyed */
    wf_plan_destroy(&second.plan);
    drop_buffers(&second);
    assert_int_equal(product_plan(*state, NULL, &first.plan), WF_SUCCESS);
    assert_int_equal(atomic_load(&compiled), before + kernels); /* the pipeline was kept */
    make_buffers(*state, &first);
    assert_true(multiply(&first, &random));
    wf_plan_destroy(&first.plan);
    drop_buffers(&first);
    wfi_pool_clear(*state);
    assert_null(((wf_device *)*state)->pipelines);
    assert_int_equal(product_plan(*state, NULL, &first.plan), WF_SUCCESS);
    assert_int_equal(atomic_load(&compiled), before + 2 * kernels);
    wf_plan_destroy(&first.plan);
}

static wf_result naive_plan(wf_device *device, uint32_t local_x, uint32_t local_y, wf_plan **plan)
{
    const wf_constant constants[] = {{"local_x", local_x}, {"local_y", local_y}};
    const wf_tuning tuning = {
        .size = sizeof tuning, .variant = "naive", .constants = constants, .constant_count = 2};
    const wf_matmul_params params = {
        .size = sizeof params, .m = N, .n = N, .k = N, .tuning = &tuning};
    return wf_matmul_plan(device, &params, plan);
}

/* Only so many pipelines that no plan uses are kept: those that were used last. */
static void test_idle_are_bounded(void **state)
{
    enum { LENGTHS = WFI_POOL_IDLE + 8 };
    wf_plan *plan = NULL;
    unsigned before = atomic_load(&compiled);
    wfi_pool_clear(*state);
    for (uint32_t x = 1; x <= LENGTHS; x++) {
        assert_int_equal(naive_plan(*state, x, 1, &plan), WF_SUCCESS);
        wf_plan_destroy(&plan);
    }
    assert_int_equal(atomic_load(&compiled) - before, LENGTHS);
    before = atomic_load(&compiled);
    for (uint32_t x = LENGTHS; x > LENGTHS - WFI_POOL_IDLE; x--) {
        assert_int_equal(naive_plan(*state, x, 1, &plan), WF_SUCCESS);
        wf_plan_destroy(&plan);
    }
    assert_int_equal(atomic_load(&compiled), before);
    assert_int_equal(naive_plan(*state, 1, 1, &plan), WF_SUCCESS);
    assert_int_equal(atomic_load(&compiled), before + 1);
    wf_plan_destroy(&plan);
}

/* Plans with different constants have different pipelines. */
static void test_not_alike(void **state)
{
    wf_plan *plans[2] = {NULL};
    const wf_constant constants[] = {{"tile", 8}, {"tile", 4}};
    wfi_pool_clear(*state);
    const unsigned before = atomic_load(&compiled);
    for (int i = 0; i < 2; i++) {
        const wf_tuning tuning = {.size = sizeof tuning,
                                  .variant = "tiled",
                                  .constants = &constants[i],
                                  .constant_count = 1};
        const wf_matmul_params params = {
            .size = sizeof params, .m = N, .n = N, .k = N, .tuning = &tuning};
        assert_int_equal(wf_matmul_plan(*state, &params, &plans[i]), WF_SUCCESS);
    }
    assert_int_equal(atomic_load(&compiled), before + 2);
    wf_plan_destroy(&plans[0]);
    wf_plan_destroy(&plans[1]);
}

typedef struct maker {
    wf_device *device;
    wf_plan *plan;
    wf_result result;
    pthread_t thread;
} maker;

static void *make_plan(void *user)
{
    maker *m = user;
    m->result = product_plan(m->device, NULL, &m->plan);
    return NULL;
}

static void test_compiled_once_by_threads(void **state)
{
    maker makers[THREADS];
    wf_plan *one = NULL;
    wfi_pool_clear(*state);
    unsigned before = atomic_load(&compiled);
    assert_int_equal(product_plan(*state, NULL, &one), WF_SUCCESS);
    wf_plan_destroy(&one);
    const unsigned kernels = atomic_load(&compiled) - before;
    before += kernels;
    wfi_pool_clear(*state);
    for (int i = 0; i < THREADS; i++) {
        makers[i] = (maker){.device = *state};
        assert_int_equal(pthread_create(&makers[i].thread, NULL, make_plan, &makers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(makers[i].thread, NULL);
    assert_int_equal(atomic_load(&compiled) - before, kernels);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(makers[i].result, WF_SUCCESS);
        wf_plan_destroy(&makers[i].plan);
    }
}

typedef struct job_list {
    unsigned count;
    void (*run[8])(void *job);
    void *jobs[8];
} job_list;

static void keep_job(void *user, void (*run)(void *job), void *job)
{
    job_list *list = user;
    assert_true(list->count < 8);
    list->run[list->count] = run;
    list->jobs[list->count++] = job;
}

static void test_jobs(void **state)
{
    job_list list = {0};
    const wf_jobs jobs = {.size = sizeof jobs, .submit = keep_job, .user = &list};
    wf_plan *first = NULL, *second = NULL, *third = NULL;
    wfi_pool_clear(*state);
    assert_int_equal(product_plan(*state, &jobs, &first), WF_SUCCESS);
    assert_int_equal(product_plan(*state, &jobs, &second), WF_SUCCESS);
    const unsigned submitted = list.count, before = atomic_load(&compiled);
    assert_true(submitted >= 2); /* neither plan is compiled yet */
    assert_int_equal(wf_plan_status(second), WF_NOT_READY);
    for (unsigned i = 0; i < submitted; i++)
        list.run[i](list.jobs[i]);
    assert_int_equal(atomic_load(&compiled) - before, submitted / 2);
    assert_int_equal(wf_plan_status(first), WF_SUCCESS);
    assert_int_equal(wf_plan_status(second), WF_SUCCESS);
    wf_plan_destroy(&first);
    assert_int_equal(product_plan(*state, &jobs, &third), WF_SUCCESS);
    assert_int_equal(list.count, submitted); /* the third plan needs no job */
    assert_int_equal(wf_plan_status(third), WF_SUCCESS);
    wf_plan_destroy(&second);
    wf_plan_destroy(&third);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_kept_directions),
        cmocka_unit_test(test_many_bindings),
        cmocka_unit_test(test_new_buffers),
        cmocka_unit_test(test_handles),
        cmocka_unit_test(test_asking),
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_compiled_once),
        cmocka_unit_test(test_idle_are_bounded),
        cmocka_unit_test(test_not_alike),
        cmocka_unit_test(test_compiled_once_by_threads),
        cmocka_unit_test(test_jobs),
    };
    return cmocka_run_group_tests(tests, setup, test_device_teardown);
}
