/* wavefit on an application's own device: adoption, features, recording into its command buffers,
 * uploads and jobs. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "allocations.h"
#include "harness.h"
#include "product.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void run_recorded(engine_features features)
{
    engine e;
    wf_vulkan vulkan;
    product p;
    engine_open(&e, features, &vulkan);
    vulkan.queue = VK_NULL_HANDLE;
    wf_device *device = engine_adopt(&vulkan);
    const engine_calls before = engine_counted();
    product_open(&p, device, NULL);
    product_poison(&p);
    VkCommandBuffer command_buffer = engine_begin(&e);
    assert_int_equal(wf_plan_record(p.plan, command_buffer, p.arena, &p.bindings), WF_SUCCESS);
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

/* An application that enables what wavefit asks for has the same caps as wavefit's own device. */
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
        wf_device *device = engine_adopt(&vulkan);
        wf_caps expected = *wf_device_caps(own), caps = *wf_device_caps(device);
        /* Other processes allocate memory between the two calls. */
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
    wf_device *own = NULL;
    const wf_device_params own_params = engine_params();
    assert_int_equal(wf_device_create(&own_params, &own), WF_SUCCESS);
    engine_open(&e, ENGINE_NOTHING, &vulkan);
    wf_device *device = engine_adopt(&vulkan);
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
    const char *error = test_last_error();
    if (caps->withheld & WF_WITHHELD_F64)
        assert_non_null(strstr(error, "does not enable shaderFloat64"));
    else
        assert_non_null(strstr(error, "the device has no 64-bit floats"));
    assert_int_equal((caps->withheld & WF_WITHHELD_F64) != 0, wf_device_caps(own)->f64);
    wf_device_destroy(&own);
    wf_device_destroy(&device);
    engine_close(&e);
}

static void test_feature_list(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    wf_features *all = NULL, *stencil = NULL;
    uint32_t count = 0, extensions = 0, stencil_extensions = 0, f64 = 0, grids = 0,
             stencil_grids = 0;
    engine_open(&e, ENGINE_NOTHING, &vulkan);
    assert_int_equal(wf_required_features(&vulkan, 0, NULL, &all), WF_SUCCESS);
    assert_int_equal(
        wf_required_features(&vulkan, UINT32_C(1) << WF_FAMILY_STENCIL, NULL, &stencil),
        WF_SUCCESS);
    const wf_feature *list = wf_features_list(all, &count);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(list[i].families != 0 && *list[i].gives && *list[i].without);
        f64 += strcmp(list[i].name, "shaderFloat64") == 0;
        grids += list[i].families >> WF_FAMILY_STENCIL & 1;
    }
    list = wf_features_list(stencil, &count);
    for (uint32_t i = 0; i < count; i++) /* wf_stencil_plan needs them too */
        stencil_grids += list[i].families >> WF_FAMILY_STENCIL & 1;
    assert_true(grids > 0 && stencil_grids == grids);
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
    wf_device *device = engine_adopt(&vulkan);
    const engine_calls before = engine_counted();
    product_open(&p, device, NULL);
    const engine_calls created = engine_counted();
    assert_int_equal(created.submits, before.submits);
    assert_true(created.pipelines > before.pipelines);
    VkCommandBuffer command_buffer = engine_begin(&e);
    for (int i = 0; i < 20; i++) /* the arena grows to its largest frame */
        assert_int_equal(wf_plan_record(p.plan, command_buffer, p.arena, &p.bindings), WF_SUCCESS);
    engine_finish(&e, command_buffer);
    assert_int_equal(wf_arena_reset(p.arena), WF_SUCCESS);
    const engine_calls warm = engine_counted();
    command_buffer = engine_begin(&e);
    test_count_allocations(true);
    for (int i = 0; i < 20; i++)
        assert_int_equal(wf_plan_record(p.plan, command_buffer, p.arena, &p.bindings), WF_SUCCESS);
    test_count_allocations(false);
    assert_int_equal(test_allocations(), 0);
    const engine_calls recorded = engine_counted();
    assert_memory_equal(&recorded.pipelines, &warm.pipelines,
                        sizeof recorded - sizeof recorded.submits);
    assert_int_equal(recorded.submits, warm.submits);
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
    wf_device *device = engine_adopt(&vulkan);
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
    device = engine_adopt(&vulkan);
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
    wf_device *device = engine_adopt(&vulkan);
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
    wf_arena *arena = NULL;
    assert_int_equal(wf_arena_create(device, &arena), WF_SUCCESS);
    VkCommandBuffer command_buffer = engine_begin(&e);
    if (wf_plan_needs_upload(plan)) {
        test_expect_errors(true);
        assert_int_equal(wf_plan_record(plan, command_buffer, arena, &bindings), WF_NOT_READY);
        test_expect_errors(false);
    }
    assert_int_equal(wf_plan_record_upload(plan, command_buffer), WF_SUCCESS);
    assert_false(wf_plan_needs_upload(plan));
    assert_int_equal(wf_plan_record(plan, command_buffer, arena, &bindings), WF_SUCCESS);
    engine_finish(&e, command_buffer);
    wf_plan_trim(plan);
    wf_buffer_read(y, 0, out, sizeof out);
    const float expected[] = {201, 30, 0, 504};
    assert_memory_equal(out, expected, sizeof out);
    wf_arena_destroy(&arena);
    wf_buffer_destroy(&x);
    wf_buffer_destroy(&y);
    wf_plan_destroy(&plan);
    wf_device_destroy(&device);
    engine_close(&e);
}

/* A run that failed may have uploaded nothing: the next one does it. */
static void test_failed_upload(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    wf_buffer *x = NULL, *y = NULL;
    wf_plan *plan = NULL;
    const uint32_t offsets[] = {0, 2, 3, 3, 5}, columns[] = {0, 2, 1, 0, 2};
    const float values[] = {1, 2, 3, 4, 5}, vector[] = {1, 10, 100};
    const float expected[] = {201, 30, 0, 504};
    wf_timing timing;
    const wf_measure_params once = {.size = sizeof once, .repeat = 1};
    double seconds;
    bool gpu_clock;
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    wf_device *device = engine_adopt(&vulkan);
    const wf_spmv_params params = {.size = sizeof params,
                                   .rows = 4,
                                   .columns = 3,
                                   .row_offsets = offsets,
                                   .column_indices = columns,
                                   .values = values};
    assert_int_equal(wf_buffer_create(device, sizeof vector, WF_MEMORY_UPLOAD, &x), WF_SUCCESS);
    assert_int_equal(wf_buffer_create(device, sizeof expected, WF_MEMORY_READBACK, &y), WF_SUCCESS);
    wf_buffer_write(x, 0, vector, sizeof vector);
    const wf_bindings bindings = {.size = sizeof bindings, .items = {{.buffer = x}, {.buffer = y}}};
    for (int way = 0; way < 3; way++) {
        float out[4] = {0};
        assert_int_equal(wf_spmv_plan(device, &params, &plan), WF_SUCCESS);
        test_expect_errors(true);
        engine_fail_submits(1);
        const wf_result result = way == 0 ? wf_plan_run(plan, &bindings)
                                 : way == 1
                                     ? wf_plan_run_times(plan, &bindings, 1, &seconds, &gpu_clock)
                                     : wf_plan_measure(plan, &bindings, &once, &timing);
        assert_int_equal(result, WF_ERROR_OUT_OF_DEVICE_MEMORY);
        test_expect_errors(false);
        assert_int_equal(wf_plan_needs_upload(plan), !wf_device_caps(device)->unified_memory);
        assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
        wf_buffer_read(y, 0, out, sizeof out);
        assert_memory_equal(out, expected, sizeof out);
        wf_plan_destroy(&plan);
    }
    wf_buffer_destroy(&x);
    wf_buffer_destroy(&y);
    wf_device_destroy(&device);
    engine_close(&e);
}

/* Calls that run on the device's queue upload a plan's data themselves: new values that replace
 * those of a matrix that was not uploaded yet, and a solve. */
static void test_calls_upload(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    wf_plan *plan = NULL;
    wf_buffer *x = NULL, *y = NULL;
    const uint32_t offsets[] = {0, 2, 5, 7}, columns[] = {0, 1, 0, 1, 2, 1, 2};
    const float values[] = {4, -1, -1, 4, -1, -1, 4}, others[] = {1, 2, 3, 4, 5, 6, 7};
    const float vector[] = {1, 10, 100}, expected[] = {21, 543, 760}, b[] = {2, 4, 10};
    float out[3] = {0};
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    wf_device *device = engine_adopt(&vulkan);
    const wf_spmv_params params = {.size = sizeof params,
                                   .rows = 3,
                                   .columns = 3,
                                   .row_offsets = offsets,
                                   .column_indices = columns,
                                   .values = values,
                                   .updatable = true};
    assert_int_equal(wf_spmv_plan(device, &params, &plan), WF_SUCCESS);
    assert_int_equal(wf_plan_needs_upload(plan), !wf_device_caps(device)->unified_memory);
    assert_int_equal(wf_spmv_update(plan, others), WF_SUCCESS);
    assert_false(wf_plan_needs_upload(plan));
    assert_int_equal(wf_buffer_create(device, sizeof vector, WF_MEMORY_UPLOAD, &x), WF_SUCCESS);
    assert_int_equal(wf_buffer_create(device, sizeof out, WF_MEMORY_READBACK, &y), WF_SUCCESS);
    wf_buffer_write(x, 0, vector, sizeof vector);
    const wf_bindings bindings = {.size = sizeof bindings, .items = {{.buffer = x}, {.buffer = y}}};
    assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
    wf_buffer_read(y, 0, out, sizeof out);
    assert_memory_equal(out, expected, sizeof out);
    wf_plan_destroy(&plan);

    wf_cg_result result;
    job_list list = {0}; /* whose jobs never run: a solve compiles by itself */
    const wf_jobs jobs = {.size = sizeof jobs, .submit = job_list_keep, .user = &list};
    wf_spmv_params matrix = params;
    matrix.jobs = &jobs;
    const wf_cg_params solve = {.size = sizeof solve, .matrix = &matrix};
    assert_int_equal(wf_cg_solve(device, &solve, b, out, &result), WF_SUCCESS);
    assert_int_equal(result.status, WF_CG_CONVERGED);
    for (int i = 0; i < 3; i++)
        assert_true(fabsf(out[i] - (float)(i + 1)) < 1e-5f);
    assert_int_equal(list.count, 0);
    wf_buffer_destroy(&x);
    wf_buffer_destroy(&y);
    wf_device_destroy(&device);
    engine_close(&e);
}

/* New values that were recorded before the upload would be overwritten by it. */
static void test_update_before_upload(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    wf_plan *plan = NULL;
    wf_arena *arena = NULL;
    wf_buffer *values = NULL;
    const float one = 1;
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    wf_device *device = engine_adopt(&vulkan);
    const wf_spmv_params params = {.size = sizeof params,
                                   .rows = 1,
                                   .columns = 1,
                                   .row_offsets = (const uint32_t[]){0, 1},
                                   .column_indices = (const uint32_t[]){0},
                                   .values = &one,
                                   .updatable = true};
    assert_int_equal(wf_spmv_plan(device, &params, &plan), WF_SUCCESS);
    assert_int_equal(wf_arena_create(device, &arena), WF_SUCCESS);
    assert_int_equal(wf_buffer_create(device, sizeof one, WF_MEMORY_UPLOAD, &values), WF_SUCCESS);
    wf_buffer_write(values, 0, &one, sizeof one);
    const wf_binding binding = {.buffer = values};
    const bool wants = wf_plan_needs_upload(plan);
    VkCommandBuffer command_buffer = engine_begin(&e);
    test_expect_errors(wants);
    assert_int_equal(wf_spmv_record_update(plan, command_buffer, arena, &binding),
                     wants ? WF_NOT_READY : WF_SUCCESS);
    test_expect_errors(false);
    assert_int_equal(wf_plan_record_upload(plan, command_buffer), WF_SUCCESS);
    assert_int_equal(wf_spmv_record_update(plan, command_buffer, arena, &binding), WF_SUCCESS);
    engine_finish(&e, command_buffer);
    wf_arena_destroy(&arena);
    wf_buffer_destroy(&values);
    wf_plan_destroy(&plan);
    wf_device_destroy(&device);
    engine_close(&e);
}

static void test_jobs(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    product p;
    job_list list = {0};
    pthread_t thread;
    const wf_jobs jobs = {.size = sizeof jobs, .submit = job_list_keep, .user = &list};
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    wf_device *device = engine_adopt(&vulkan);
    const unsigned compiled = engine_counted().pipelines;
    product_open(&p, device, &jobs);
    assert_true(list.count > 0);
    assert_int_equal(engine_counted().pipelines, compiled);
    assert_int_equal(wf_plan_status(p.plan), WF_NOT_READY);
    VkCommandBuffer command_buffer = engine_begin(&e);
    assert_int_equal(wf_plan_record(p.plan, command_buffer, p.arena, &p.bindings), WF_NOT_READY);
    assert_int_equal(pthread_create(&thread, NULL, job_list_run, &list), 0);
    pthread_join(thread, NULL);
    assert_true(engine_counted().pipelines > compiled);
    assert_int_equal(wf_plan_status(p.plan), WF_SUCCESS);
    product_poison(&p);
    assert_int_equal(wf_plan_record(p.plan, command_buffer, p.arena, &p.bindings), WF_SUCCESS);
    engine_finish(&e, command_buffer);
    product_check(&p);
    product_close(&p);

    /* A plan destroyed before its jobs ran: they do nothing. */
    product_open(&p, device, &jobs);
    product_close(&p);
    const unsigned before = engine_counted().pipelines;
    job_list_run(&list);
    assert_int_equal(engine_counted().pipelines, before);
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
        cmocka_unit_test(test_failed_upload),
        cmocka_unit_test(test_calls_upload),
        cmocka_unit_test(test_update_before_upload),
        cmocka_unit_test(test_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
