/* Public functions that return a result refuse a NULL where an object or an output must be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "wavefit/wavefit.h"

static void refused(wf_result result)
{
    assert_int_equal(result, WF_ERROR_INVALID_ARGUMENT);
}

static void devices_and_buffers(void **state)
{
    (void)state;
    uint64_t bytes;
    float data = 0;
    refused(wf_devices_list(NULL, NULL, NULL));
    refused(wf_device_create(NULL, NULL));
    refused(wf_device_adopt(NULL, NULL, NULL));
    refused(wf_required_features(NULL, 0, NULL, NULL));
    refused(wf_device_available(NULL, &bytes));
    refused(wf_buffer_create(NULL, 4, WF_MEMORY_DEVICE, NULL));
    refused(wf_buffer_write(NULL, 0, &data, sizeof data));
    refused(wf_buffer_read(NULL, 0, &data, sizeof data));
    refused(wf_buffer_fill(NULL, 0, sizeof data, 0));
}

static void plans(void **state)
{
    (void)state;
    wf_plan_info info;
    double seconds;
    bool gpu_clock;
    refused(wf_family_variant(WF_FAMILY_SPMV, 0, NULL));
    refused(wf_kernel_compile(NULL, NULL, NULL, &info));
    refused(wf_caps_choose(NULL, NULL, NULL, &info, NULL));
    refused(wf_kernel_occupancy(NULL, NULL, NULL));
    refused(wf_himeno_time_kernels(NULL, NULL, NULL, NULL));
    refused(wf_architecture_find(NULL, NULL));
    refused(wf_architecture_find("sm90", NULL));
    refused(wf_architecture_describe(0, NULL));
    refused(wf_architecture_occupancy(0, NULL, NULL));
    refused(wf_matmul_plan(NULL, NULL, NULL));
    refused(wf_spmv_plan(NULL, NULL, NULL));
    refused(wf_vector_plan(NULL, NULL, NULL));
    refused(wf_stencil_plan(NULL, NULL, NULL));
    refused(wf_plan_record(NULL, VK_NULL_HANDLE, NULL, NULL));
    refused(wf_plan_record_upload(NULL, VK_NULL_HANDLE));
    refused(wf_plan_status(NULL));
    refused(wf_plan_describe(NULL, &info));
    refused(wf_plan_run(NULL, NULL));
    refused(wf_queue_create(NULL, NULL));
    refused(wf_queue_run(NULL, NULL, NULL, NULL));
    refused(wf_queue_hold(NULL));
    refused(wf_queue_prepare(NULL));
    refused(wf_queue_drop(NULL));
    refused(wf_queue_beside(NULL));
    refused(wf_queue_mark(NULL));
    refused(wf_queue_submit(NULL));
    refused(wf_queue_ended(NULL, NULL));
    refused(wf_queue_wait(NULL, 0));
    assert_int_equal(wf_plan_kernel_count(NULL), 0);
    refused(wf_plan_describe_kernel(NULL, 0, NULL));
    refused(wf_plan_time_kernels(NULL, NULL, 1, &seconds, &gpu_clock));
    refused(wf_plan_run_times(NULL, NULL, 1, &seconds, &gpu_clock));
    refused(wf_plan_measure(NULL, NULL, NULL, NULL));
    refused(wf_spmv_scale(NULL, 1, 0));
    refused(wf_spmv_update(NULL, NULL));
    refused(wf_spmv_record_update(NULL, VK_NULL_HANDLE, NULL, NULL));
    refused(wf_spmv_analysis_of(NULL, NULL));
}

static void peaks_and_checks(void **state)
{
    (void)state;
    double value;
    float gosa = 0;
    wf_check check;
    refused(wf_device_copy_bandwidth(NULL, &value));
    refused(wf_device_fma_rate(NULL, WF_TYPE_F32, &value));
    refused(wf_peak_describe(0, NULL));
    refused(wf_peak_measure(NULL, 0, NULL, NULL));
    refused(wf_spmv_check(NULL, NULL, NULL, &check));
    refused(wf_spmv_check_scaled(NULL, NULL, NULL, NULL, &check));
    refused(wf_himeno_check(NULL, NULL, 1, &gosa, 0, 0, 0, &check, &value));
    refused(wf_stencil_check(NULL, &gosa, &gosa, 0, 0, &check));
}

static void solvers_and_tuning(void **state)
{
    (void)state;
    float gosa;
    double seconds;
    bool gpu_clock;
    size_t bytes = 0;
    refused(wf_himeno_create(NULL, NULL, NULL));
    refused(wf_himeno_start(NULL));
    refused(wf_himeno_write(NULL, NULL));
    refused(wf_himeno_run(NULL, 1, &gosa, &seconds, &gpu_clock));
    refused(wf_himeno_run_each(NULL, 1, &gosa, &seconds, &gpu_clock));
    refused(wf_himeno_read(NULL, &gosa));
    refused(wf_himeno_describe(NULL, NULL, NULL));
    refused(wf_cg_solve(NULL, NULL, NULL, NULL, NULL));
    refused(wf_laplace_solve(NULL, NULL, NULL, NULL));
    refused(wf_tuning_load(NULL, NULL, 0));
    refused(wf_tuning_load_file(NULL, NULL));
    refused(wf_tuning_row_get(NULL, 0, NULL));
    refused(wf_tuning_shipped_get(NULL, 0, NULL));
    refused(wf_tuning_export(NULL, NULL, &bytes));
    refused(wf_tuning_forget(NULL, WF_FAMILY_COUNT));
    refused(wf_tune(NULL, NULL, NULL));
    refused(wf_calibrate(NULL, NULL, NULL));
    refused(wf_calibration_get(NULL, NULL));
    refused(wf_rate_get(NULL, 0, NULL));
    refused(wf_tune_compare(NULL, NULL, NULL, 0, NULL, NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_and_buffers),
        cmocka_unit_test(plans),
        cmocka_unit_test(peaks_and_checks),
        cmocka_unit_test(solvers_and_tuning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
