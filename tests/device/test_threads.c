/* Several threads on one device, several devices and instances in one process; what the header
 * promises about threads. Meant for ThreadSanitizer, and run without it too. */
#include <pthread.h>
#include <string.h>

#include "every_family.h"
#include "harness.h"
#include "core/ahead.h"
#include "core/device.h"
#include "wfi_shaders.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { THREADS = 4, ROUNDS = 3, N = 33 };

/* cmocka's assertions belong to its own thread: workers count failures instead. */
typedef struct worker {
    wf_device *device;
    uint64_t seed;
    unsigned failures;
    pthread_t thread;
} worker;

static bool multiply(wf_device *device, test_random *random, const wf_jobs *jobs)
{
    float a[N * N], b[N * N], c[N * N];
    wf_buffer *buffers[3] = {NULL, NULL, NULL};
    wf_plan *plan = NULL;
    const wf_matmul_inputs inputs = {.size = sizeof inputs, .a = a, .b = b};
    wf_check check = {.error_over_bound = 2};
    wf_bindings bindings = {.size = sizeof bindings};
    const uint64_t n = 1 + test_random_below(random, N);
    const size_t bytes = (size_t)(n * n) * sizeof(float);
    const wf_matmul_params params = {.size = sizeof params, .m = n, .n = n, .k = n, .jobs = jobs};
    for (size_t i = 0; i < n * n; i++) {
        a[i] = (float)test_random_uniform(random);
        b[i] = (float)test_random_uniform(random);
    }
    memset(c, 0xff, sizeof c);
    bool ok = wf_matmul_plan(device, &params, &plan) == WF_SUCCESS;
    for (int i = 0; i < 3; i++) {
        ok = ok && wf_buffer_create(device, bytes, WF_MEMORY_DEVICE, &buffers[i]) == WF_SUCCESS;
        bindings.items[i].buffer = buffers[i];
    }
    while (ok && wf_plan_status(plan) == WF_NOT_READY)
        ;
    ok = ok && wf_buffer_write(buffers[0], 0, a, bytes) == WF_SUCCESS &&
         wf_buffer_write(buffers[1], 0, b, bytes) == WF_SUCCESS &&
         wf_buffer_write(buffers[2], 0, c, bytes) == WF_SUCCESS &&
         wf_plan_run(plan, &bindings) == WF_SUCCESS &&
         wf_buffer_read(buffers[2], 0, c, bytes) == WF_SUCCESS &&
         wf_matmul_check(&params, &inputs, c, 0, 0, &check) == WF_SUCCESS;
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&buffers[i]);
    wf_plan_destroy(&plan);
    return ok && check.error_over_bound <= 1;
}

static bool sparse_plan(wf_device *device, test_random *random)
{
    const uint32_t offsets[] = {0, 1, 3}, columns[] = {1, 0, 1};
    const float values[] = {1, 2, (float)test_random_uniform(random)};
    wf_plan *plan = NULL;
    const wf_spmv_params params = {.size = sizeof params,
                                   .rows = 2,
                                   .columns = 2,
                                   .row_offsets = offsets,
                                   .column_indices = columns,
                                   .values = values};
    const bool ok = wf_spmv_plan(device, &params, &plan) == WF_SUCCESS;
    wf_plan_destroy(&plan);
    return ok;
}

static void *work(void *user)
{
    worker *w = user;
    test_random random = {w->seed};
    for (int round = 0; round < ROUNDS; round++) {
        w->failures += !multiply(w->device, &random, NULL);
        w->failures += !sparse_plan(w->device, &random);
    }
    return NULL;
}

static void run_workers(worker *workers, int count)
{
    for (int i = 0; i < count; i++) {
        workers[i].seed = test_seed() + (uint64_t)i;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < count; i++)
        if (workers[i].failures)
            fail_msg("thread %d: %u failures, seed %llu", i, workers[i].failures,
                     (unsigned long long)workers[i].seed);
}

static void test_one_device(void **state)
{
    worker workers[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        workers[i].device = *state;
    run_workers(workers, THREADS);
}

/* Each wf_device has a VkInstance of its own. */
static void test_two_devices(void **state)
{
    wf_device *second = NULL;
    const wf_device_params params = test_device_params();
    assert_int_equal(wf_device_create(&params, &second), WF_SUCCESS);
    worker workers[2] = {{.device = *state}, {.device = second}};
    run_workers(workers, 2);
    wf_device_destroy(&second);
    worker again[1] = {{.device = *state}};
    run_workers(again, 1);
}

static void *open_and_close(void *user)
{
    worker *w = user;
    const wf_device_params params = test_device_params();
    wf_device *device = NULL;
    test_random random = {w->seed};
    w->failures += wf_device_create(&params, &device) != WF_SUCCESS;
    w->failures += device && !multiply(device, &random, NULL);
    wf_device_destroy(&device);
    return NULL;
}

static void test_devices_opened_together(void **state)
{
    (void)state;
    worker workers[2] = {{.seed = 1}, {.seed = 2}};
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, open_and_close, &workers[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i].thread, NULL);
    assert_int_equal(workers[0].failures + workers[1].failures, 0);
}

/* ------------------------------------------------------------------------------- every family */

enum { NUMBERS = 1 };

static every_result expected[EVERY_KINDS][NUMBERS];

/* Each thread begins with another kind. */
static void *run_every_family(void *user)
{
    worker *w = user;
    for (int i = 0; i < EVERY_KINDS * NUMBERS; i++) {
        const int kind = (i + (int)w->seed) % EVERY_KINDS, number = i / EVERY_KINDS;
        const every_result *right = &expected[kind][number];
        every_result result;
        w->failures += every_run(w->device, kind, (uint32_t)number, &result) != WF_SUCCESS ||
                       result.bytes != right->bytes ||
                       memcmp(result.data, right->data, result.bytes) != 0;
    }
    return NULL;
}

/* Families and solvers on one device from several threads give the bits of one thread. */
static void test_every_family(void **state)
{
    worker workers[THREADS];
    for (int kind = 0; kind < EVERY_KINDS; kind++)
        for (uint32_t i = 0; i < NUMBERS; i++)
            if (every_run(*state, kind, i, &expected[kind][i]) != WF_SUCCESS)
                fail_msg("%s %u: %s", every_name(kind), i, test_last_error());
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.device = *state, .seed = (uint64_t)i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, run_every_family, &workers[i]),
                         0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(workers[i].failures, 0);
}

/* ---------------------------------------------------------------------------------------- jobs */

typedef struct job {
    void (*run)(void *job);
    void *user;
} job;

typedef struct job_threads {
    pthread_mutex_t lock;
    int count;
    pthread_t threads[64];
    job jobs[64];
} job_threads;

static void *run_job(void *user)
{
    const job *j = user;
    j->run(j->user);
    return NULL;
}

static void start_job(void *user, void (*run)(void *), void *data)
{
    job_threads *all = user;
    pthread_mutex_lock(&all->lock);
    const int at = all->count++;
    all->jobs[at] = (job){run, data};
    pthread_create(&all->threads[at], NULL, run_job, &all->jobs[at]);
    pthread_mutex_unlock(&all->lock);
}

static void test_jobs_on_threads(void **state)
{
    job_threads all = {.lock = PTHREAD_MUTEX_INITIALIZER};
    const wf_jobs jobs = {.size = sizeof jobs, .submit = start_job, .user = &all};
    test_random random = {test_seed()};
    bool ok = true;
    for (int i = 0; i < ROUNDS; i++) {
        wf_plan *abandoned = NULL;
        const wf_matmul_params params = {
            .size = sizeof params, .m = 8, .n = 8, .k = 8, .jobs = &jobs};
        ok = multiply(*state, &random, &jobs) && ok;
        ok = wf_matmul_plan(*state, &params, &abandoned) == WF_SUCCESS && ok;
        wf_plan_destroy(&abandoned);
    }
    for (int i = 0; i < all.count; i++)
        pthread_join(all.threads[i], NULL);
    assert_true(ok);
}

/* Pipelines that are wanted soon are compiled by threads, once: who takes one meanwhile has the
 * thread's, and what is there already, or is an application's to compile, is left alone. */
static void test_compiling_ahead(void **state)
{
    enum { PIPELINES = 3 };
    wf_device *device = *state;
    wfi_pipeline_desc descs[PIPELINES];
    wfi_pooled *pooled[PIPELINES] = {NULL};
    wfi_pool_clear(device);
    for (uint32_t i = 0; i < PIPELINES; i++) {
        descs[i] = (wfi_pipeline_desc){.name = "ahead",
                                       .spirv = &wfi_spv_analysis_scan,
                                       .storage_buffers = 1,
                                       .push_bytes = 12};
        wfi_pipeline_constant(&descs[i], 0, 16 << i);
        wfi_pipeline_constant(&descs[i], 1, 1);
        wfi_pipeline_constant(&descs[i], 2, 1);
    }
    device->adopted = true;
    assert_null(wfi_ahead_begin(device, descs, PIPELINES));
    device->adopted = false;
    for (int round = 0; round < ROUNDS; round++) {
        wfi_ahead *ahead = wfi_ahead_begin(device, descs, PIPELINES - 1);
        assert_int_equal(ahead != NULL, round == 0 && wfi_processors() > 1);
        for (uint32_t i = 0; round != 1 && i < PIPELINES; i++)
            assert_int_equal(wfi_pool_take(device, &descs[i], &pooled[i]), WF_SUCCESS);
        wfi_ahead_end(ahead);
        for (uint32_t i = 0; i < PIPELINES; i++) {
            wfi_pooled *again = wfi_pool_take_compiled(device, &descs[i]);
            assert_true(again && (round == 1 || again == pooled[i]));
            wfi_pool_give_back(device, &again);
            wfi_pool_give_back(device, &pooled[i]);
        }
    }
    wfi_ahead *unused = wfi_ahead_begin(device, descs, PIPELINES);
    assert_null(unused);
    wfi_pool_clear(device);
    unused = wfi_ahead_begin(device, descs, PIPELINES);
    wfi_ahead_end(unused);
    for (uint32_t i = 0; unused && i < PIPELINES; i++) {
        pooled[i] = wfi_pool_take_compiled(device, &descs[i]);
        assert_non_null(pooled[i]);
        wfi_pool_give_back(device, &pooled[i]);
    }
}

typedef struct said {
    pthread_t by;
    unsigned lines, elsewhere;
} said;

static void count_line(void *user, wf_log_level level, const char *text)
{
    said *s = user;
    (void)level;
    s->lines += strstr(text, "not built") != NULL;
    s->elsewhere += !pthread_equal(pthread_self(), s->by);
}

/* What a thread of wavefit's own would log is said by the thread that waits for it. */
static void test_messages_of_threads(void **state)
{
    wf_device *device = *state;
    const wfi_log log = device->log;
    const wfi_spirv none = {.name = "not built"};
    const wfi_pipeline_desc desc = {.name = "not built", .spirv = &none, .storage_buffers = 1};
    said s = {.by = pthread_self()};
    device->log = (wfi_log){count_line, &s};
    for (unsigned round = 1; round <= ROUNDS; round++) {
        wfi_ahead *ahead = wfi_ahead_begin(device, &desc, 1);
        wfi_ahead_end(ahead);
        assert_true(s.lines == (ahead ? round : 0));
    }
    device->log = log;
    assert_int_equal(s.elsewhere, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_device),
        cmocka_unit_test(test_two_devices),
        cmocka_unit_test(test_devices_opened_together),
        cmocka_unit_test(test_every_family),
        cmocka_unit_test(test_jobs_on_threads),
        cmocka_unit_test(test_compiling_ahead),
        cmocka_unit_test(test_messages_of_threads),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
