/* wavefit on an application's own device: adoption, features, recording into its command buffers,
 * uploads, jobs, and what must be refused. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* --wrap: every allocation that the library and this test ask for. */
static bool counting_allocations;
static unsigned allocations;
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    allocations += counting_allocations;
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    allocations += counting_allocations;
    return __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    allocations += counting_allocations;
    return __real_realloc(old, bytes);
}

static wf_device *adopt(const wf_vulkan *vulkan)
{
    wf_device *device = NULL;
    const wf_device_params params = engine_params();
    assert_int_equal(wf_device_adopt(vulkan, &params, &device), WF_SUCCESS);
    return device;
}

/* ---------------------------------------------------------------------------- a product to record */

enum { M = 37, N = 41, K = 29 };

typedef struct product {
    wf_matmul_params params;
    wf_plan *plan;
    wf_buffer *buffers[3];
    wf_bindings bindings;
    float a[M * K], b[K * N];
} product;

static void product_open(product *p, wf_device *device, const wf_jobs *jobs)
{
    const size_t elements[3] = {M * K, K * N, M * N};
    test_random random = {test_seed()};
    *p = (product){
        .params = {.size = sizeof p->params, .m = M, .n = N, .k = K, .jobs = jobs},
        .bindings = {.size = sizeof p->bindings},
    };
    for (size_t i = 0; i < M * K; i++)
        p->a[i] = (float)test_random_uniform(&random);
    for (size_t i = 0; i < K * N; i++)
        p->b[i] = (float)test_random_uniform(&random);
    assert_int_equal(wf_matmul_plan(device, &p->params, &p->plan), WF_SUCCESS);
    for (int i = 0; i < 3; i++) {
        /* Upload memory can be written and read without a queue. */
        assert_int_equal(
            wf_buffer_create(device, elements[i] * sizeof(float), WF_MEMORY_UPLOAD, &p->buffers[i]),
            WF_SUCCESS);
        p->bindings.items[i].buffer = p->buffers[i];
    }
    wf_buffer_write(p->buffers[0], 0, p->a, sizeof p->a);
    wf_buffer_write(p->buffers[1], 0, p->b, sizeof p->b);
}

static void product_poison(product *p)
{
    float c[M * N];
    memset(c, 0xff, sizeof c);
    assert_int_equal(wf_buffer_write(p->buffers[2], 0, c, sizeof c), WF_SUCCESS);
}

static void product_check(product *p)
{
    float c[M * N];
    const wf_matmul_inputs inputs = {.size = sizeof inputs, .a = p->a, .b = p->b};
    wf_check check;
    assert_int_equal(wf_buffer_read(p->buffers[2], 0, c, sizeof c), WF_SUCCESS);
    assert_int_equal(wf_matmul_check(&p->params, &inputs, c, 0, 0, &check), WF_SUCCESS);
    assert_true(check.error_over_bound <= 1);
}

static void product_close(product *p)
{
    wf_plan_destroy(&p->plan);
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&p->buffers[i]);
}

/* -------------------------------------------------------------------------------------- the tests */

static void run_recorded(engine_features features)
{
    engine e;
    wf_vulkan vulkan;
    product p;
    engine_open(&e, features, &vulkan);
    vulkan.queue = VK_NULL_HANDLE;
    wf_device *device = adopt(&vulkan);
    const engine_calls before = engine_counted();
    product_open(&p, device, NULL);
    product_poison(&p);
    VkCommandBuffer command_buffer = engine_begin(&e);
    assert_int_equal(wf_plan_record(p.plan, command_buffer, &p.bindings), WF_SUCCESS);
    assert_int_equal(engine_counted().submits, before.submits);
    engine_finish(&e, command_buffer);
    product_check(&p);
    product_close(&p);
    wf_device_destroy(&device);
    engine_close(&e);
}

static void test_record_without_features(void **state)
{
    (void)state;
    run_recorded(ENGINE_NOTHING);
}

static void test_record_with_features(void **state)
{
    (void)state;
    run_recorded(ENGINE_REQUIRED);
    run_recorded(ENGINE_MERGED);
}

/* An application that enables what wavefit asks for gets what wavefit has on a device of its own. */
static void test_caps(void **state)
{
    (void)state;
    const wf_device_params params = engine_params();
    wf_device *own = NULL;
    assert_int_equal(wf_device_create(&params, &own), WF_SUCCESS);
    for (int features = ENGINE_REQUIRED; features <= ENGINE_MERGED; features++) {
        engine e;
        wf_vulkan vulkan;
        engine_open(&e, (engine_features)features, &vulkan);
        wf_device *device = adopt(&vulkan);
        wf_caps expected = *wf_device_caps(own), caps = *wf_device_caps(device);
        /* What others leave free changes from call to call. */
        expected.available_bytes = caps.available_bytes = 0;
        assert_memory_equal(&caps, &expected, sizeof caps);
        wf_device_destroy(&device);
        engine_close(&e);
    }
    wf_device_destroy(&own);
}

static void test_nothing_enabled_nothing_used(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    wf_plan *plan = NULL;
    engine_open(&e, ENGINE_NOTHING, &vulkan);
    wf_device *device = adopt(&vulkan);
    const wf_caps *caps = wf_device_caps(device);
    assert_false(caps->f64 || caps->f16_storage || caps->f16_arithmetic || caps->int64);
    assert_false(caps->push_descriptors || caps->subgroup_size_control);
    assert_false(caps->cooperative_matrix || caps->pipeline_statistics);
    const wf_spmv_params params = {.size = sizeof params,
                                   .rows = 1,
                                   .columns = 1,
                                   .row_offsets = (const uint32_t[]){0, 1},
                                   .column_indices = (const uint32_t[]){0},
                                   .values = (const double[]){1},
                                   .type = WF_TYPE_F64};
    test_expect_errors(true);
    assert_int_equal(wf_spmv_plan(device, &params, &plan), WF_ERROR_UNSUPPORTED);
    test_expect_errors(false);
    assert_non_null(strstr(test_last_error(), "64"));
    wf_device_destroy(&device);
    engine_close(&e);
}

static void test_feature_list(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    wf_features *all = NULL, *stencil = NULL;
    uint32_t count = 0, extensions = 0, stencil_extensions = 0, f64 = 0;
    engine_open(&e, ENGINE_NOTHING, &vulkan);
    assert_int_equal(wf_required_features(&vulkan, 0, NULL, &all), WF_SUCCESS);
    assert_int_equal(
        wf_required_features(&vulkan, UINT32_C(1) << WF_FAMILY_STENCIL, NULL, &stencil),
        WF_SUCCESS);
    const wf_feature *list = wf_features_list(all, &count);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(list[i].families != 0 && *list[i].gives && *list[i].without);
        f64 += strcmp(list[i].name, "shaderFloat64") == 0;
    }
    assert_int_equal(f64, 1);
    wf_features_extensions(all, &extensions);
    const char *const *names = wf_features_extensions(stencil, &stencil_extensions);
    assert_true(stencil_extensions <= extensions);
    for (uint32_t i = 0; i < stencil_extensions; i++)
        assert_string_not_equal(names[i], VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
    wf_features_destroy(&all);
    wf_features_destroy(&stencil);
    engine_close(&e);
}

/* Creating a plan compiles but submits nothing; recording makes nothing at all. */
static void test_no_hidden_work(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    product p;
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    wf_device *device = adopt(&vulkan);
    const engine_calls before = engine_counted();
    product_open(&p, device, NULL);
    const engine_calls created = engine_counted();
    assert_int_equal(created.submits, before.submits);
    assert_true(created.pipelines > before.pipelines);
    VkCommandBuffer command_buffer = engine_begin(&e);
    counting_allocations = true;
    for (int i = 0; i < 20; i++)
        assert_int_equal(wf_plan_record(p.plan, command_buffer, &p.bindings), WF_SUCCESS);
    counting_allocations = false;
    assert_int_equal(allocations, 0);
    const engine_calls recorded = engine_counted();
    assert_memory_equal(&recorded.pipelines, &created.pipelines,
                        sizeof recorded - sizeof recorded.submits);
    assert_int_equal(recorded.submits, created.submits);
    product_close(&p);
    wf_device_destroy(&device);
    engine_close(&e);
}

typedef struct lock_count {
    unsigned locked, unlocked;
} lock_count;

static void count_lock(void *user)
{
    ((lock_count *)user)->locked++;
}

static void count_unlock(void *user)
{
    ((lock_count *)user)->unlocked++;
}

static void test_lent_queue(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    product p;
    lock_count locks = {0, 0};
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    vulkan.lock_queue = count_lock;
    vulkan.unlock_queue = count_unlock;
    vulkan.queue_user = &locks;
    wf_device *device = adopt(&vulkan);
    product_open(&p, device, NULL);
    product_poison(&p);
    assert_int_equal(locks.locked, 0);
    assert_int_equal(wf_plan_run(p.plan, &p.bindings), WF_SUCCESS);
    product_check(&p);
    assert_int_equal(locks.locked, 1);
    assert_int_equal(locks.unlocked, 1);
    product_close(&p);
    wf_device_destroy(&device);

    vulkan.queue = VK_NULL_HANDLE;
    device = adopt(&vulkan);
    product_open(&p, device, NULL);
    test_expect_errors(true);
    assert_int_equal(wf_plan_run(p.plan, &p.bindings), WF_ERROR_UNSUPPORTED);
    test_expect_errors(false);
    assert_non_null(strstr(test_last_error(), "no queue"));
    product_close(&p);
    wf_device_destroy(&device);
    engine_close(&e);
}

/* The matrix of an spmv plan reaches memory that the host cannot map by a recorded upload. Under
 * WF_LIMITS_MINIMUM no device memory can be mapped. */
static void test_upload(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    wf_buffer *x = NULL, *y = NULL;
    wf_plan *plan = NULL;
    const uint32_t offsets[] = {0, 2, 3, 3, 5}, columns[] = {0, 2, 1, 0, 2};
    const float values[] = {1, 2, 3, 4, 5}, vector[] = {1, 10, 100};
    float out[4];
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    vulkan.queue = VK_NULL_HANDLE;
    wf_device *device = adopt(&vulkan);
    const wf_spmv_params params = {.size = sizeof params,
                                   .rows = 4,
                                   .columns = 3,
                                   .row_offsets = offsets,
                                   .column_indices = columns,
                                   .values = values};
    const unsigned submits = engine_counted().submits;
    assert_int_equal(wf_spmv_plan(device, &params, &plan), WF_SUCCESS);
    assert_int_equal(engine_counted().submits, submits);
    assert_int_equal(wf_plan_needs_upload(plan), !wf_device_caps(device)->unified_memory);
    assert_int_equal(wf_buffer_create(device, sizeof vector, WF_MEMORY_UPLOAD, &x), WF_SUCCESS);
    assert_int_equal(wf_buffer_create(device, sizeof out, WF_MEMORY_READBACK, &y), WF_SUCCESS);
    wf_buffer_write(x, 0, vector, sizeof vector);
    const wf_bindings bindings = {.size = sizeof bindings, .items = {{.buffer = x}, {.buffer = y}}};
    VkCommandBuffer command_buffer = engine_begin(&e);
    if (wf_plan_needs_upload(plan)) {
        test_expect_errors(true);
        assert_int_equal(wf_plan_record(plan, command_buffer, &bindings), WF_NOT_READY);
        test_expect_errors(false);
    }
    assert_int_equal(wf_plan_record_upload(plan, command_buffer), WF_SUCCESS);
    assert_false(wf_plan_needs_upload(plan));
    assert_int_equal(wf_plan_record(plan, command_buffer, &bindings), WF_SUCCESS);
    engine_finish(&e, command_buffer);
    wf_plan_trim(plan);
    wf_buffer_read(y, 0, out, sizeof out);
    const float expected[] = {201, 30, 0, 504};
    assert_memory_equal(out, expected, sizeof out);
    wf_buffer_destroy(&x);
    wf_buffer_destroy(&y);
    wf_plan_destroy(&plan);
    wf_device_destroy(&device);
    engine_close(&e);
}

/* ------------------------------------------------------------------------------------------- jobs */

typedef struct job_list {
    uint32_t count;
    void (*run[16])(void *);
    void *job[16];
} job_list;

static void keep_job(void *user, void (*run)(void *), void *job)
{
    job_list *list = user;
    assert_true(list->count < 16);
    list->run[list->count] = run;
    list->job[list->count++] = job;
}

static void *run_jobs(void *user)
{
    job_list *list = user;
    for (uint32_t i = 0; i < list->count; i++)
        list->run[i](list->job[i]);
    list->count = 0;
    return NULL;
}

static void test_jobs(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    product p;
    job_list list = {0};
    pthread_t thread;
    const wf_jobs jobs = {.size = sizeof jobs, .submit = keep_job, .user = &list};
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    wf_device *device = adopt(&vulkan);
    const unsigned compiled = engine_counted().pipelines;
    product_open(&p, device, &jobs);
    assert_true(list.count > 0);
    assert_int_equal(engine_counted().pipelines, compiled);
    assert_int_equal(wf_plan_status(p.plan), WF_NOT_READY);
    VkCommandBuffer command_buffer = engine_begin(&e);
    assert_int_equal(wf_plan_record(p.plan, command_buffer, &p.bindings), WF_NOT_READY);
    assert_int_equal(pthread_create(&thread, NULL, run_jobs, &list), 0);
    pthread_join(thread, NULL);
    assert_true(engine_counted().pipelines > compiled);
    assert_int_equal(wf_plan_status(p.plan), WF_SUCCESS);
    product_poison(&p);
    assert_int_equal(wf_plan_record(p.plan, command_buffer, &p.bindings), WF_SUCCESS);
    engine_finish(&e, command_buffer);
    product_check(&p);
    product_close(&p);

    /* A plan destroyed before its jobs ran: they do nothing. */
    product_open(&p, device, &jobs);
    product_close(&p);
    const unsigned before = engine_counted().pipelines;
    run_jobs(&list);
    assert_int_equal(engine_counted().pipelines, before);
    wf_device_destroy(&device);
    engine_close(&e);
}

/* ----------------------------------------------------------------------------------- what is refused */

static void refuse(wf_result result, wf_result expected, const char *text)
{
    const char *error = test_last_error();
    assert_int_equal(result, expected);
    if (!strstr(error, text))
        fail_msg("'%s' does not tell of '%s'", error, text);
}

static void test_bad_handles(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    wf_device *device = NULL;
    const wf_device_params params = engine_params();
    engine_open(&e, ENGINE_NOTHING, &vulkan);
    wf_vulkan bad = vulkan;
    test_expect_errors(true);
    bad.queue_family = 77;
    refuse(wf_device_adopt(&bad, &params, &device), WF_ERROR_INVALID_ARGUMENT, "queue family 77");
    bad = vulkan;
    bad.device = VK_NULL_HANDLE;
    refuse(wf_device_adopt(&bad, &params, &device), WF_ERROR_INVALID_ARGUMENT, "device");
    bad = vulkan;
    bad.instance = VK_NULL_HANDLE;
    refuse(wf_device_adopt(&bad, &params, &device), WF_ERROR_INVALID_ARGUMENT, "instance");
    bad = vulkan;
    bad.api_version = VK_API_VERSION_1_0;
    refuse(wf_device_adopt(&bad, &params, &device), WF_ERROR_UNSUPPORTED, "1.1");
    bad = vulkan;
    bad.lock_queue = count_lock;
    refuse(wf_device_adopt(&bad, &params, &device), WF_ERROR_INVALID_ARGUMENT, "lock_queue");
    bad = vulkan;
    bad.enabled_extension_count = 3;
    refuse(wf_device_adopt(&bad, &params, &device), WF_ERROR_INVALID_ARGUMENT, "extensions");
    bad = vulkan;
    bad.size = 0;
    refuse(wf_device_adopt(&bad, &params, &device), WF_ERROR_INVALID_ARGUMENT, "size");
    assert_int_equal(wf_device_adopt(NULL, &params, &device), WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
    test_last_error();
    assert_null(device);
    engine_close(&e);
}

static void test_bad_bindings(void **state)
{
    (void)state;
    engine e, other;
    wf_vulkan vulkan, other_vulkan;
    product p;
    wf_buffer *foreign = NULL;
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    wf_device *device = adopt(&vulkan);
    product_open(&p, device, NULL);
    VkCommandBuffer command_buffer = engine_begin(&e);
    wf_bindings bad = p.bindings;
    test_expect_errors(true);
#define REFUSED(text) refuse(wf_plan_record(p.plan, command_buffer, &bad), WF_ERROR_BINDING, text)
    bad.items[0].offset = 1;
    REFUSED("not a multiple");
    bad = p.bindings;
    bad.items[1].bytes = 8;
    REFUSED("are needed");
    bad.items[1].bytes = UINT64_MAX;
    REFUSED("beyond");
    bad = p.bindings;
    bad.items[2] = bad.items[0];
    refuse(wf_plan_record(p.plan, command_buffer, &bad), WF_ERROR_BINDING, "");
    bad.items[2] = (wf_binding){0};
    REFUSED("missing");
    bad.items[2] = (wf_binding){.handle = wf_buffer_handle(p.buffers[2])};
    REFUSED("are needed");
    bad = p.bindings;
    bad.size = 3;
    refuse(wf_plan_record(p.plan, command_buffer, &bad), WF_ERROR_INVALID_ARGUMENT, "size");
    assert_int_equal(wf_plan_record(p.plan, VK_NULL_HANDLE, &p.bindings),
                     WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);

    other = e;
    other_vulkan = vulkan;
    wf_device *second = adopt(&other_vulkan);
    assert_int_equal(wf_buffer_create(second, 65536, WF_MEMORY_DEVICE, &foreign), WF_SUCCESS);
    bad = p.bindings;
    bad.items[2].buffer = foreign;
    test_expect_errors(true);
    REFUSED("another device");
    test_expect_errors(false);
#undef REFUSED
    (void)other;
    wf_buffer_destroy(&foreign);
    wf_device_destroy(&second);
    /* Nothing was recorded: the buffer still runs, and the right bindings still work. */
    product_poison(&p);
    assert_int_equal(wf_plan_record(p.plan, command_buffer, &p.bindings), WF_SUCCESS);
    engine_finish(&e, command_buffer);
    product_check(&p);
    product_close(&p);
    wf_device_destroy(&device);
    engine_close(&e);
}

/* Objects outlive their device without a crash, and a leak neither. */
static void test_device_closed_first(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    product p;
    float c[1];
    job_list list = {0};
    wf_plan *waiting = NULL;
    const wf_jobs jobs = {.size = sizeof jobs, .submit = keep_job, .user = &list};
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    wf_device *device = adopt(&vulkan);
    product_open(&p, device, NULL);
    p.params.jobs = &jobs;
    assert_int_equal(wf_matmul_plan(device, &p.params, &waiting), WF_SUCCESS);
    VkCommandBuffer command_buffer = engine_begin(&e);
    test_expect_errors(true);
    wf_device_destroy(&device);
    refuse(wf_plan_record(p.plan, command_buffer, &p.bindings), WF_ERROR_DEVICE_CLOSED,
           "destroyed");
    refuse(wf_plan_run(p.plan, &p.bindings), WF_ERROR_DEVICE_CLOSED, "destroyed");
    refuse(wf_buffer_read(p.buffers[2], 0, c, sizeof c), WF_ERROR_DEVICE_CLOSED, "destroyed");
    assert_int_equal(wf_plan_status(p.plan), WF_ERROR_DEVICE_CLOSED);
    run_jobs(&list);
    assert_int_equal(wf_plan_status(waiting), WF_ERROR_DEVICE_CLOSED);
    test_expect_errors(false);
    wf_plan_destroy(&waiting);
    product_close(&p);
    engine_finish(&e, command_buffer);
    engine_close(&e);
}

/* Without push descriptors a plan keeps 16 sets of bindings, until told to forget them. */
static void test_many_bindings(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    product p;
    wf_buffer *large = NULL;
    engine_open(&e, ENGINE_NOTHING, &vulkan);
    wf_device *device = adopt(&vulkan);
    product_open(&p, device, NULL);
    assert_int_equal(wf_buffer_create(device, 1 << 20, WF_MEMORY_DEVICE, &large), WF_SUCCESS);
    VkCommandBuffer command_buffer = engine_begin(&e);
    p.bindings.items[2].buffer = large;
    for (uint64_t i = 0; i < 16; i++) {
        p.bindings.items[2].offset = i * 16384;
        assert_int_equal(wf_plan_record(p.plan, command_buffer, &p.bindings), WF_SUCCESS);
    }
    p.bindings.items[2].offset = 16 * 16384;
    test_expect_errors(true);
    assert_int_equal(wf_plan_record(p.plan, command_buffer, &p.bindings),
                     WF_ERROR_TOO_MANY_BINDINGS);
    test_expect_errors(false);
    p.bindings.items[2].offset = 3 * 16384;
    assert_int_equal(wf_plan_record(p.plan, command_buffer, &p.bindings), WF_SUCCESS);
    engine_finish(&e, command_buffer);
    wf_plan_forget_bindings(p.plan);
    command_buffer = engine_begin(&e);
    p.bindings.items[2].offset = 16 * 16384;
    assert_int_equal(wf_plan_record(p.plan, command_buffer, &p.bindings), WF_SUCCESS);
    engine_finish(&e, command_buffer);
    wf_buffer_destroy(&large);
    product_close(&p);
    wf_device_destroy(&device);
    engine_close(&e);
}

/* Programs built against older and newer headers. */
static void test_sizes(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    wf_plan *plan = NULL;
    struct {
        wf_matmul_params params;
        uint64_t later;
    } newer = {.params = {.size = sizeof newer, .m = 2, .n = 2, .k = 2}};
    engine_open(&e, ENGINE_NOTHING, &vulkan);
    wf_device *device = adopt(&vulkan);
    assert_int_equal(wf_matmul_plan(device, &newer.params, &plan), WF_SUCCESS);
    wf_plan_destroy(&plan);
    newer.later = 1;
    test_expect_errors(true);
    refuse(wf_matmul_plan(device, &newer.params, &plan), WF_ERROR_INVALID_ARGUMENT, "older");
    test_expect_errors(false);
    newer.params.size = offsetof(wf_matmul_params, jobs);
    newer.params.jobs = (const wf_jobs *)&newer; /* not looked at */
    assert_int_equal(wf_matmul_plan(device, &newer.params, &plan), WF_SUCCESS);
    wf_plan_destroy(&plan);
    wf_device_destroy(&device);
    engine_close(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record_without_features),
        cmocka_unit_test(test_record_with_features),
        cmocka_unit_test(test_caps),
        cmocka_unit_test(test_nothing_enabled_nothing_used),
        cmocka_unit_test(test_feature_list),
        cmocka_unit_test(test_no_hidden_work),
        cmocka_unit_test(test_lent_queue),
        cmocka_unit_test(test_upload),
        cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_bad_handles),
        cmocka_unit_test(test_bad_bindings),
        cmocka_unit_test(test_device_closed_first),
        cmocka_unit_test(test_many_bindings),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
