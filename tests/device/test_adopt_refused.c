/* What wavefit refuses of an application's device, and objects that outlive the device or buffers
 * that they bind. */
#include <string.h>

#include "harness.h"
#include "product.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void lock_nothing(void *user)
{
    (void)user;
}

static void refuse(wf_result result, wf_result expected, const char *text)
{
    const char *error = test_last_error();
    assert_int_equal(result, expected);
    if (!error || !strstr(error, text))
        fail_msg("'%s' does not tell of '%s'", error ? error : "nothing", text);
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
    bad.lock_queue = lock_nothing;
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
    engine e;
    wf_vulkan vulkan;
    product p;
    wf_buffer *foreign = NULL;
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    wf_device *device = engine_adopt(&vulkan);
    product_open(&p, device, NULL);
    VkCommandBuffer command_buffer = engine_begin(&e);
    wf_bindings bad = p.bindings;
    test_expect_errors(true);
#define REFUSED(text)                                                                              \
    refuse(wf_plan_record(p.plan, command_buffer, p.arena, &bad), WF_ERROR_BINDING, text)
    bad.items[0].offset = 1;
    REFUSED("not a multiple");
    bad = p.bindings;
    bad.items[1].bytes = 8;
    REFUSED("are needed");
    bad.items[1].bytes = UINT64_MAX;
    REFUSED("beyond");
    bad = p.bindings;
    bad.items[2] = bad.items[0];
    refuse(wf_plan_record(p.plan, command_buffer, p.arena, &bad), WF_ERROR_BINDING, "");
    bad.items[2] = (wf_binding){0};
    REFUSED("missing");
    bad = p.bindings;
    bad.items[0] = (wf_binding){.handle = wf_buffer_handle(p.buffers[0])};
    REFUSED("are needed");
    bad = p.bindings;
    bad.size = 3;
    refuse(wf_plan_record(p.plan, command_buffer, p.arena, &bad), WF_ERROR_INVALID_ARGUMENT,
           "size");
    assert_int_equal(wf_plan_record(p.plan, VK_NULL_HANDLE, p.arena, &p.bindings),
                     WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);

    wf_device *second = engine_adopt(&vulkan);
    assert_int_equal(wf_buffer_create(second, 65536, WF_MEMORY_DEVICE, &foreign), WF_SUCCESS);
    bad = p.bindings;
    bad.items[2].buffer = foreign;
    test_expect_errors(true);
    REFUSED("another device");
    test_expect_errors(false);
#undef REFUSED
    wf_buffer_destroy(&foreign);
    wf_device_destroy(&second);
    /* Nothing was recorded: the buffer still runs, and the right bindings still work. */
    product_poison(&p);
    assert_int_equal(wf_plan_record(p.plan, command_buffer, p.arena, &p.bindings), WF_SUCCESS);
    engine_finish(&e, command_buffer);
    product_check(&p);
    product_close(&p);
    wf_device_destroy(&device);
    engine_close(&e);
}

/* Objects may be destroyed after their device: nothing crashes and nothing leaks. */
static void test_device_closed_first(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    product p;
    float c[1];
    job_list list = {0};
    wf_plan *waiting = NULL;
    const wf_jobs jobs = {.size = sizeof jobs, .submit = job_list_keep, .user = &list};
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    wf_device *device = engine_adopt(&vulkan);
    product_open(&p, device, NULL);
    p.params.jobs = &jobs;
    assert_int_equal(wf_matmul_plan(device, &p.params, &waiting), WF_SUCCESS);
    VkCommandBuffer command_buffer = engine_begin(&e);
    test_expect_errors(true);
    wf_device_destroy(&device);
    refuse(wf_plan_record(p.plan, command_buffer, p.arena, &p.bindings), WF_ERROR_DEVICE_CLOSED,
           "destroyed");
    refuse(wf_plan_run(p.plan, &p.bindings), WF_ERROR_DEVICE_CLOSED, "destroyed");
    refuse(wf_buffer_read(p.buffers[2], 0, c, sizeof c), WF_ERROR_DEVICE_CLOSED, "destroyed");
    assert_int_equal(wf_plan_status(p.plan), WF_ERROR_DEVICE_CLOSED);
    wf_plan_info info = {.size = sizeof info};
    wf_plan_kernel kernel = {.size = sizeof kernel};
    refuse(wf_plan_describe(p.plan, &info), WF_ERROR_DEVICE_CLOSED, "destroyed");
    refuse(wf_plan_describe_kernel(p.plan, 0, &kernel), WF_ERROR_DEVICE_CLOSED, "destroyed");
    job_list_run(&list);
    assert_int_equal(wf_plan_status(waiting), WF_ERROR_DEVICE_CLOSED);
    test_expect_errors(false);
    wf_plan_destroy(&waiting);
    product_close(&p);
    engine_finish(&e, command_buffer);
    engine_close(&e);
}

/* A matrix and parts of grids, of which none of these calls needs Vulkan at once. */
static void test_parts_closed_first(void **state)
{
    (void)state;
    static const uint32_t offsets[3] = {0, 1, 2}, columns[2] = {0, 1};
    static const float values[2] = {1, 2}, rows[16 * 16];
    static const double taps[5] = {0.2, 0.2, 0.2, 0.2, 0.2};
    const wf_spmv_params matrix = {.size = sizeof matrix,
                                   .rows = 2,
                                   .columns = 2,
                                   .row_offsets = offsets,
                                   .column_indices = columns,
                                   .values = values};
    const wf_stencil_params star = {.size = sizeof star, .nx = 16, .ny = 16, .coefficients = taps};
    const wf_laplace_params plate = {.size = sizeof plate, .nx = 16, .ny = 16};
    const wf_stencil_slab_params half = {.size = sizeof half, .grid = &star, .planes = 8};
    const wf_laplace_slab_params part = {
        .size = sizeof part, .grid = &plate, .rows = 8, .iterations = 1};
    const wf_halo_bindings own = {.size = sizeof own};
    const wf_device_params params = test_device_params();
    wf_halo halo = {.size = sizeof halo};
    wf_spmv_analysis analysis = {.size = sizeof analysis};
    wf_device *device = NULL;
    wf_plan *plan = NULL;
    wf_stencil_slab *slab = NULL;
    wf_laplace_slab *coloured = NULL;
    assert_int_equal(wf_device_create(&params, &device), WF_SUCCESS);
    assert_int_equal(wf_spmv_plan(device, &matrix, &plan), WF_SUCCESS);
    assert_int_equal(wf_stencil_slab_create(device, &half, &slab), WF_SUCCESS);
    assert_int_equal(wf_laplace_slab_create(device, &part, &coloured), WF_SUCCESS);
    test_expect_errors(true);
    wf_device_destroy(&device);
#define CLOSED(call) refuse((call), WF_ERROR_DEVICE_CLOSED, "destroyed")
    CLOSED(wf_spmv_scale(plan, 1, 0));
    CLOSED(wf_spmv_analysis_of(plan, &analysis));
    CLOSED(wf_stencil_slab_halos(slab, &halo));
    CLOSED(wf_stencil_slab_bind_halos(slab, &own));
    CLOSED(wf_laplace_slab_halos(coloured, &halo));
    CLOSED(wf_laplace_slab_bind_halos(coloured, &own));
    CLOSED(wf_laplace_slab_write(coloured, rows, 0));
#undef CLOSED
    test_expect_errors(false);
    wf_plan_destroy(&plan);
    wf_stencil_slab_destroy(&slab);
    wf_laplace_slab_destroy(&coloured);
}

/* On every device a recording needs an arena that was made for that device. */
static void test_no_arena(void **state)
{
    (void)state;
    for (int features = ENGINE_NOTHING; features <= ENGINE_REQUIRED; features++) {
        engine e;
        wf_vulkan vulkan;
        product p;
        wf_arena *foreign = NULL;
        engine_open(&e, (engine_features)features, &vulkan);
        wf_device *device = engine_adopt(&vulkan), *second = engine_adopt(&vulkan);
        product_open(&p, device, NULL);
        assert_int_equal(wf_arena_create(second, &foreign), WF_SUCCESS);
        VkCommandBuffer command_buffer = engine_begin(&e);
        test_expect_errors(true);
        refuse(wf_plan_record(p.plan, command_buffer, NULL, &p.bindings), WF_ERROR_INVALID_ARGUMENT,
               "wf_arena_create");
        refuse(wf_plan_record(p.plan, command_buffer, foreign, &p.bindings),
               WF_ERROR_INVALID_ARGUMENT, "another device");
        wf_device_destroy(&second);
        refuse(wf_arena_reset(foreign), WF_ERROR_DEVICE_CLOSED, "destroyed");
        test_expect_errors(false);
        wf_arena_destroy(&foreign);
        engine_finish(&e, command_buffer);
        product_close(&p);
        wf_device_destroy(&device);
        engine_close(&e);
    }
}

static void count_errors(void *user, wf_log_level level, const char *text)
{
    (void)text;
    *(unsigned *)user += level == WF_LOG_ERROR;
}

/* An error that every frame repeats is logged once, even where its numbers change; an error with
 * another cause is logged as well. */
static void test_failures_told_once(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    product p;
    unsigned errors = 0;
    wf_device *device = NULL;
    wf_device_params params = engine_params();
    params.log = count_errors;
    params.log_user = &errors;
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    assert_int_equal(wf_device_adopt(&vulkan, &params, &device), WF_SUCCESS);
    product_open(&p, device, NULL);
    VkCommandBuffer command_buffer = engine_begin(&e);
    wf_bindings bad = p.bindings;
    for (uint64_t i = 0; i < 100; i++) {
        bad.items[0].offset = 2 * i + 1;
        bad.items[0].bytes = 4;
        assert_int_equal(wf_plan_record(p.plan, command_buffer, p.arena, &bad), WF_ERROR_BINDING);
    }
    assert_int_equal(errors, 1);
    bad = p.bindings;
    bad.items[1].bytes = 8;
    assert_int_equal(wf_plan_record(p.plan, command_buffer, p.arena, &bad), WF_ERROR_BINDING);
    assert_int_equal(errors, 2);
    assert_int_equal(wf_plan_record(p.plan, command_buffer, p.arena, &p.bindings), WF_SUCCESS);
    bad.items[1].bytes = 16;
    assert_int_equal(wf_plan_record(p.plan, command_buffer, p.arena, &bad), WF_ERROR_BINDING);
    assert_int_equal(errors, 2);
    engine_finish(&e, command_buffer);
    product_close(&p);
    wf_device_destroy(&device);
    engine_close(&e);
}

/* Structures of programs that were built against older and newer headers. */
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
    wf_device *device = engine_adopt(&vulkan);
    assert_int_equal(wf_matmul_plan(device, &newer.params, &plan), WF_SUCCESS);
    wf_plan_destroy(&plan);
    newer.later = 1;
    test_expect_errors(true);
    refuse(wf_matmul_plan(device, &newer.params, &plan), WF_ERROR_INVALID_ARGUMENT, "older");
    test_expect_errors(false);
    newer.params.size = offsetof(wf_matmul_params, jobs);
    newer.params.jobs = (const void *)&newer; /* a member that this version does not read */
    assert_int_equal(wf_matmul_plan(device, &newer.params, &plan), WF_SUCCESS);
    wf_plan_destroy(&plan);
    wf_device_destroy(&device);
    engine_close(&e);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_handles),         cmocka_unit_test(test_bad_bindings),
        cmocka_unit_test(test_device_closed_first), cmocka_unit_test(test_no_arena),
        cmocka_unit_test(test_failures_told_once),  cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_parts_closed_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
