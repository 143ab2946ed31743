/* Small devices: a driver says that it offers less, as a phone's might, since its answers are
 * lowered on their way through vkGetInstanceProcAddr. Otherwise it is the real driver. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/device.h"
#include "harness.h"
#include "pretend.h"

#define BUDGET (UINT64_C(8) << 20)

static char last_error[512];

static void keep_error(void *user, wf_log_level level, const char *text)
{
    (void)user;
    if (level == WF_LOG_ERROR)
        snprintf(last_error, sizeof last_error, "%s", text);
}

/* `cache` is a folder; NULL: the usual one. */
static wf_device *open_device_with(const char *cache)
{
    const char *limits = getenv("WAVEFIT_TEST_LIMITS");
    const wf_device_params params = {
        .size = sizeof params,
        .limits = limits && strcmp(limits, "minimum") == 0 ? WF_LIMITS_MINIMUM : WF_LIMITS_DEVICE,
        .log = keep_error,
        .cache_directory = cache,
        .get_instance_proc_addr = test_pretend_proc,
    };
    wf_device *device = NULL;
    assert_int_equal(wf_device_create(&params, &device), WF_SUCCESS);
    return device;
}

static wf_device *open_device(void)
{
    return open_device_with(NULL);
}

static int forget(void **state)
{
    (void)state;
    memset(&pretend, 0, sizeof pretend);
    last_error[0] = '\0';
    return 0;
}

/* A small product, computed and compared; returns whether the device's clock timed it. */
static bool multiply_as(wf_device *device, wf_type type)
{
    enum { N = 33 };
    static float a[N * N], b[N * N], c[N * N]; /* room for any type */
    test_random random = {test_seed()};
    wf_buffer *buffers[3] = {NULL};
    wf_plan *plan = NULL;
    /* The simplest variant, since this test is about small devices, not about kernels. */
    const wf_tuning tuning = {.size = sizeof tuning, .variant = "naive"};
    const wf_matmul_params params = {
        .size = sizeof params, .m = N, .n = N, .k = N, .type = type, .tuning = &tuning};
    const wf_measure_params measure = {.size = sizeof measure, .repeat = 3};
    wf_timing timing;
    const wf_matmul_inputs inputs = {.size = sizeof inputs, .a = a, .b = b};
    wf_check check;
    double seconds = 0;
    bool gpu_clock = false;
    for (uint64_t i = 0; i < N * N; i++) {
        wf_element_set(type, a, i, test_random_uniform(&random));
        wf_element_set(type, b, i, test_random_uniform(&random));
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(wf_buffer_create(device, sizeof a, WF_MEMORY_DEVICE, &buffers[i]),
                         WF_SUCCESS);
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {{.buffer = buffers[0]}, {.buffer = buffers[1]}, {.buffer = buffers[2]}}};
    wf_buffer_write(buffers[0], 0, a, sizeof a);
    wf_buffer_write(buffers[1], 0, b, sizeof b);
    test_poison(buffers[2]);
    assert_int_equal(wf_matmul_plan(device, &params, &plan), WF_SUCCESS);
    assert_int_equal(wf_plan_run_times(plan, &bindings, 0, &seconds, &gpu_clock),
                     WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_plan_run_times(plan, &bindings, 3, &seconds, &gpu_clock), WF_SUCCESS);
    assert_true(seconds > 0);
    assert_int_equal(wf_buffer_read(buffers[2], 0, c, sizeof c), WF_SUCCESS);
    assert_int_equal(wf_matmul_check(&params, &inputs, c, 0, 1, &check), WF_SUCCESS);
    assert_true(check.error_over_bound <= 1);
    assert_int_equal(wf_plan_measure(plan, &bindings, &measure, &timing), WF_SUCCESS);
    assert_true(timing.median_us > 0 && timing.gpu_clock == gpu_clock);
    wf_plan_destroy(&plan);
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&buffers[i]);
    return gpu_clock;
}

static bool multiply(wf_device *device)
{
    return multiply_as(device, WF_TYPE_F32);
}

/* A split-K product has the variant's kernel and a reduction with 64 times as many work-items: the
 * plan's description is of the first, and each kernel is described and timed alone. */
static void kernels_are_told_apart(void **state)
{
    (void)state;
    static const char *const names[] = {"tile_m", "tile_n", "thread_m", "thread_n", "split_k"};
    static const uint32_t values[] = {64, 64, 8, 8, 4};
    enum { N = 128, K = 512, CONSTANTS = 5 };
    wf_device *device = open_device();
    wf_buffer *buffers[3] = {NULL};
    wf_plan *plan = NULL;
    wf_constant constants[CONSTANTS];
    for (int i = 0; i < CONSTANTS; i++)
        constants[i] = (wf_constant){names[i], values[i]};
    const wf_tuning tuning = {.size = sizeof tuning,
                              .variant = "vector",
                              .constants = constants,
                              .constant_count = CONSTANTS};
    const wf_matmul_params params = {
        .size = sizeof params, .m = N, .n = N, .k = K, .type = WF_TYPE_F32, .tuning = &tuning};
    wf_plan_info info = {.size = sizeof info};
    wf_plan_kernel kernel = {.size = sizeof kernel};
    double us[8] = {0};
    bool gpu_clock;
    uint32_t mains = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(wf_buffer_create(device, N * K * 4, WF_MEMORY_DEVICE, &buffers[i]),
                         WF_SUCCESS);
        assert_int_equal(wf_buffer_fill(buffers[i], 0, N * K * 4, 0), WF_SUCCESS);
    }
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {{.buffer = buffers[0]}, {.buffer = buffers[1]}, {.buffer = buffers[2]}}};
    assert_int_equal(wf_matmul_plan(device, &params, &plan), WF_SUCCESS);
    assert_int_equal(wf_plan_describe(plan, &info), WF_SUCCESS);
    const uint32_t count = wf_plan_kernel_count(plan);
    assert_in_range(count, 2, 8);
    assert_int_equal(info.kernel.group_size[0], 64); /* (64 / 8) x (64 / 8) */
    assert_int_equal(info.kernel.groups, 4 * 4);
    assert_int_equal(wf_plan_time_kernels(plan, &bindings, count + 1, us, &gpu_clock),
                     WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_plan_time_kernels(plan, &bindings, count, us, &gpu_clock), WF_SUCCESS);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(wf_plan_describe_kernel(plan, i, &kernel), WF_SUCCESS);
        assert_true((us[i] > 0) == (kernel.dispatches > 0));
        assert_non_null(strstr(kernel.name, kernel.main ? "vector" : "reduce"));
        assert_int_equal(kernel.info.groups == 4 * 4, kernel.main);
        mains += kernel.main;
    }
    assert_int_equal(mains, 1);
    assert_int_equal(wf_plan_describe_kernel(plan, count, &kernel), WF_ERROR_INVALID_ARGUMENT);
    wf_plan_destroy(&plan);
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&buffers[i]);
    wf_device_destroy(&device);
}

static void budget_is_kept(void **state)
{
    (void)state;
    wf_buffer *buffer = NULL;
    uint64_t left = 0;
    pretend.budget = BUDGET;
    pretend.usage = BUDGET / 4;
    wf_device *device = open_device();
    if (!device->caps.memory_budget) {
        wf_device_destroy(&device);
        skip();
    }
    assert_true(device->caps.available_bytes == BUDGET / 4 * 3);
    assert_int_equal(wf_device_available(device, &left), WF_SUCCESS);
    assert_true(left == BUDGET / 4 * 3);
    assert_int_equal(wf_buffer_create(device, BUDGET, WF_MEMORY_DEVICE, &buffer),
                     WF_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_non_null(strstr(last_error, "memory budget leaves"));
    assert_null(buffer);
    assert_int_equal(wf_buffer_create(device, BUDGET / 2, WF_MEMORY_DEVICE, &buffer), WF_SUCCESS);
    /* Other processes may allocate memory meanwhile. */
    pretend.usage = BUDGET - 4096;
    assert_int_equal(wf_device_available(device, &left), WF_SUCCESS);
    assert_true(left == 4096);
    wf_buffer_destroy(&buffer);
    assert_int_equal(wf_buffer_create(device, BUDGET / 2, WF_MEMORY_DEVICE, &buffer),
                     WF_ERROR_OUT_OF_DEVICE_MEMORY);
    pretend.usage = BUDGET + 1;
    assert_int_equal(wf_device_available(device, &left), WF_SUCCESS);
    assert_true(left == 0);
    wf_device_destroy(&device);
}

static void host_clock_serves(void **state)
{
    (void)state;
    pretend.no_timestamps = true;
    wf_device *device = open_device();
    assert_int_equal(device->caps.timestamp_valid_bits, 0);
    assert_false(multiply(device));
    const wf_himeno_params grid = {.size = sizeof grid, .ni = 9, .nj = 8, .nk = 7};
    wf_himeno *himeno = NULL;
    float gosa = 0;
    double seconds = 0;
    bool gpu_clock = true;
    assert_int_equal(wf_himeno_create(device, &grid, &himeno), WF_SUCCESS);
    assert_int_equal(wf_himeno_start(himeno), WF_SUCCESS);
    assert_int_equal(wf_himeno_run(himeno, 2, &gosa, &seconds, &gpu_clock), WF_SUCCESS);
    assert_true(seconds > 0 && !gpu_clock);
    wf_himeno_destroy(&himeno);
    wf_device_destroy(&device);
}

static void doubles_are_refused(void **state)
{
    (void)state;
    const uint32_t offsets[] = {0, 1}, columns[] = {0};
    const double value[] = {2};
    wf_plan *plan = NULL;
    wf_spmv_params params = {.size = sizeof params,
                             .rows = 1,
                             .columns = 1,
                             .row_offsets = offsets,
                             .column_indices = columns,
                             .values = value,
                             .type = WF_TYPE_F64};
    double rate;
    pretend.no_f64 = true;
    wf_device *device = open_device();
    assert_false(device->caps.f64);
    assert_int_equal(wf_spmv_plan(device, &params, &plan), WF_ERROR_UNSUPPORTED);
    assert_non_null(strstr(last_error, "64-bit floats"));
    assert_int_equal(wf_device_fma_rate(device, WF_TYPE_F64, &rate), WF_ERROR_UNSUPPORTED);
    multiply(device);
    wf_device_destroy(&device);
}

/* 16-bit elements are stored where they can be, with or without arithmetic on them. */
static void halves_need_storage_alone(void **state)
{
    (void)state;
    const wf_matmul_params params = {
        .size = sizeof params, .m = 4, .n = 4, .k = 4, .type = WF_TYPE_F16};
    for (unsigned lacking = 0; lacking < 4; lacking++) {
        wf_plan *plan = NULL;
        pretend.no_f16_arithmetic = lacking & 1;
        pretend.no_f16_storage = lacking & 2;
        wf_device *device = open_device();
        assert_false(device->caps.f16_arithmetic && pretend.no_f16_arithmetic);
        assert_false(device->caps.f16_storage && pretend.no_f16_storage);
        if (device->caps.f16_storage) {
            multiply_as(device, WF_TYPE_F16);
        } else {
            assert_int_equal(wf_matmul_plan(device, &params, &plan), WF_ERROR_UNSUPPORTED);
            assert_non_null(strstr(last_error, "16-bit storage"));
        }
        wf_device_destroy(&device);
    }
}

/* Device memory of unified devices is the host's: the kernel reads what the host wrote in place. */
static void nothing_is_copied(void **state)
{
    (void)state;
    wf_device *device = open_device();
    wf_buffer *buffer = NULL;
    uint32_t word = 0;
    assert_int_equal(wf_buffer_create(device, 64, WF_MEMORY_DEVICE, &buffer), WF_SUCCESS);
    uint32_t *mapped = wf_buffer_mapped(buffer);
    assert_int_equal(mapped != NULL, device->caps.unified_memory);
    if (mapped) {
        mapped[3] = 0x12345678;
        assert_int_equal(wf_buffer_read(buffer, 12, &word, 4), WF_SUCCESS);
        assert_int_equal(word, 0x12345678);
        assert_int_equal(wf_buffer_fill(buffer, 0, 64, 7), WF_SUCCESS);
        assert_int_equal(mapped[15], 7);
    }
    wf_buffer_destroy(&buffer);
    assert_int_equal(wf_buffer_create(device, 64, WF_MEMORY_READBACK, &buffer), WF_SUCCESS);
    assert_non_null(wf_buffer_mapped(buffer));
    wf_buffer_destroy(&buffer);
    wf_device_destroy(&device);
}

/* Neither is a matrix or a vector copied, from the plan to the result. */
static void no_matrix_is_copied(void **state)
{
    (void)state;
    const uint32_t offsets[] = {0, 2, 3}, columns[] = {0, 1, 1};
    const float values[] = {2, 3, 5}, x[] = {1, 10};
    const wf_spmv_params params = {.size = sizeof params,
                                   .rows = 2,
                                   .columns = 2,
                                   .row_offsets = offsets,
                                   .column_indices = columns,
                                   .values = values};
    float y[2] = {0, 0};
    wf_buffer *in = NULL, *out = NULL;
    wf_plan *plan = NULL;
    wf_device *device = open_device();
    assert_int_equal(wf_spmv_plan(device, &params, &plan), WF_SUCCESS);
    assert_int_equal(wf_buffer_create(device, sizeof x, WF_MEMORY_DEVICE, &in), WF_SUCCESS);
    assert_int_equal(wf_buffer_create(device, sizeof y, WF_MEMORY_DEVICE, &out), WF_SUCCESS);
    assert_int_equal(wf_buffer_write(in, 0, x, sizeof x), WF_SUCCESS);
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {[WF_SPMV_X] = {.buffer = in}, [WF_SPMV_Y] = {.buffer = out}}};
    assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(out, 0, y, sizeof y), WF_SUCCESS);
    assert_true(y[0] == 32 && y[1] == 50);
    assert_int_equal(pretend.copies > 0, !device->caps.unified_memory);
    wf_plan_destroy(&plan);
    wf_buffer_destroy(&in);
    wf_buffer_destroy(&out);
    wf_device_destroy(&device);
}

/* Where subgroup sizes vary and cannot be pinned, shaders are compiled to see the size that there
 * is. Data that are laid out for one size are refused (tests/device/test_families.c runs the
 * others). */
static void varying_subgroups_are_told(void **state)
{
    (void)state;
    const uint32_t offsets[] = {0, 1}, columns[] = {0};
    const float value[] = {2};
    const wf_tuning sliced = {.size = sizeof sliced, .variant = "sliced"};
    const wf_spmv_params params = {.size = sizeof params,
                                   .rows = 1,
                                   .columns = 1,
                                   .row_offsets = offsets,
                                   .column_indices = columns,
                                   .values = value,
                                   .tuning = &sliced};
    wf_plan *plan = NULL;
    pretend.subgroups_vary = true;
    wf_device *device = open_device_with("");
    const wf_caps *caps = wf_device_caps(device);
    if (caps->subgroup_max == 128) {
        assert_true(caps->subgroup_min == 4 && !caps->subgroup_size_control);
        multiply(device);
        assert_true(pretend.varying_stages > 0);
    } else {
        multiply(device);
        assert_int_equal(pretend.varying_stages, 0);
    }
    if (caps->subgroup_min != caps->subgroup_max || caps->subgroup_max == 1) {
        assert_int_equal(wf_spmv_plan(device, &params, &plan), WF_ERROR_UNSUPPORTED);
        assert_non_null(strstr(last_error, "subgroup"));
    }
    wf_device_destroy(&device);
}

static wf_caps list_first(void)
{
    static wf_caps listed[16];
    const wf_device_params params = {.size = sizeof params,
                                     .get_instance_proc_addr = test_pretend_proc};
    uint32_t count = sizeof listed / sizeof *listed;
    assert_int_equal(wf_devices_list(&params, listed, &count), WF_SUCCESS);
    return listed[0];
}

/* A driver with a documented fault is listed with it. Once the device is opened, its self-test
 * decides, and here it finds nothing wrong. */
static void documented_faults_are_judged(void **state)
{
    (void)state;
    wf_quirk quirk;
    pretend.subgroup_size = 64;
    const wf_caps listed = list_first();
    assert_true(listed.faults & WF_FAULT_SHUFFLE);
    assert_int_equal(listed.subgroup_operations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT, 0);
    assert_true(wf_caps_quirk(&listed, 0, &quirk));
    assert_non_null(strstr(quirk.reference, "MoltenVK"));
    wf_device *device = open_device();
    if (device->caps.limits == WF_LIMITS_MINIMUM)
        assert_false(wf_caps_quirk(&device->caps, 0, &quirk)); /* it uses no subgroups */
    else
        assert_int_equal(device->caps.faults & WF_FAULT_SHUFFLE, 0);
    multiply(device);
    wf_device_destroy(&device);
}

/* Drivers of Vulkan 1.1, as phones have, say by an extension who they are. */
static void old_drivers_are_known(void **state)
{
    (void)state;
    pretend.vulkan_1_1 = true;
    pretend.subgroup_size = 64;
    const wf_caps listed = list_first();
    assert_int_not_equal(listed.driver_name[0], '\0');
    assert_true(listed.faults & WF_FAULT_SHUFFLE);
}

/* No row knows of this driver: the self-test finds the fault, and nothing that it touches runs. */
static void unknown_faults_are_found(void **state)
{
    (void)state;
    wf_quirk quirk;
    wf_plan *plan = NULL;
    const uint32_t offsets[] = {0, 1}, columns[] = {0};
    const float value[] = {2};
    const wf_tuning shuffling = {.size = sizeof shuffling, .variant = "lanes"};
    const wf_spmv_params matrix = {.size = sizeof matrix,
                                   .rows = 1,
                                   .columns = 1,
                                   .row_offsets = offsets,
                                   .column_indices = columns,
                                   .values = value,
                                   .tuning = &shuffling};
    pretend.wrong_shuffles = true;
    wf_device *device = open_device_with("");
    if (device->offered.subgroup_operations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) {
        assert_int_equal(device->caps.faults, WF_FAULT_SHUFFLE);
        assert_false(wf_caps_quirk(&device->caps, 0, &quirk));
        assert_int_equal(device->caps.subgroup_operations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT, 0);
    }
    assert_int_equal(wf_spmv_plan(device, &matrix, &plan), WF_ERROR_UNSUPPORTED);
    if (!strstr(last_error, "the device has no subgroup"))
        fail_msg("%s", last_error);
    multiply(device);
    wf_device_destroy(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(budget_is_kept, forget),
        cmocka_unit_test_setup(kernels_are_told_apart, forget),
        cmocka_unit_test_setup(host_clock_serves, forget),
        cmocka_unit_test_setup(doubles_are_refused, forget),
        cmocka_unit_test_setup(halves_need_storage_alone, forget),
        cmocka_unit_test_setup(nothing_is_copied, forget),
        cmocka_unit_test_setup(no_matrix_is_copied, forget),
        cmocka_unit_test_setup(varying_subgroups_are_told, forget),
        cmocka_unit_test_setup(documented_faults_are_judged, forget),
        cmocka_unit_test_setup(old_drivers_are_known, forget),
        cmocka_unit_test_setup(unknown_faults_are_found, forget),
    };
    if (!test_pretend_open())
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    test_pretend_close();
    return failed;
}
