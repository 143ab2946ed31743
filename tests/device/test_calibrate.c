/* Rates of the model, measured on a device that says it is a GPU: they are kept beside the tuning
 * data for one version of the driver, used by choices, and forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/vendors.h"
#include "kernels/families.h"
#include "kernels/matmul/model.h"
#include "matmul/matmul_ids.h"
#include "tuning.h"

#define MOST_BYTES (4 << 20) /* of memory: few products fit, and none takes long */
#define LEAST_POINTS 8
#define LONG 600 /* seconds: products are timed whatever the machine is busy with */

/* The driver as a GPU of few compute units, whose rates the model wants. */
static wf_device *pretended(void)
{
    wf_device *device = test_tuning_device();
    device->caps.vendor_id = WFI_AMD;
    device->caps.device_type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    device->caps.compute_units = 2;
    device->caps.available_bytes = MOST_BYTES;
    return device;
}

static bool is_measured(wf_device *device, wf_rate *rate)
{
    *rate = (wf_rate){.size = sizeof *rate};
    assert_int_equal(wf_rate_get(device, 0, rate), WF_SUCCESS);
    return rate->measured;
}

/* Each in the unit that people read, and none negative. */
static void check_rates(wf_device *device, const double *guesses, uint32_t count)
{
    uint32_t other = 0;
    for (uint32_t i = 0; i < count; i++) {
        wf_rate rate = {.size = sizeof rate};
        assert_int_equal(wf_rate_get(device, i, &rate), WF_SUCCESS);
        assert_true(rate.measured && rate.value >= 0 && *rate.name && *rate.unit && *rate.meaning);
        other += rate.value != guesses[i];
    }
    assert_true(other > count / 2);
}

/* By a processor that says it is a GPU rates may be measured that do not predict its times. */
static void keep_some(wf_device *device, uint32_t error_permille)
{
    char error[512];
    wfi_kept_rates rates = {.there = true,
                            .driver_id = device->caps.driver_id,
                            .driver_version = device->caps.driver_version,
                            .points = 9,
                            .error_permille = error_permille};
    for (int i = 0; i < WFI_RATES; i++)
        rates.matmul.of[i] = 1e-6;
    assert_true(wfi_tuning_keep_rates(device, &rates, error));
}

/* Whoever kept them: an older version, or a file that was written by hand. */
static void rates_that_predict_nothing_are_not_used(void **state)
{
    (void)state;
    wf_rate rate;
    wf_device *device = pretended();
    for (uint32_t error = 200; error <= 201; error++) {
        keep_some(device, error);
        assert_true(is_measured(device, &rate) == (error == 200));
        wf_device_destroy(&device);
        device = pretended(); /* reads the file */
        assert_true(is_measured(device, &rate) == (error == 200));
    }
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_COUNT), WF_SUCCESS);
    wf_device_destroy(&device);
}

static void rates_are_measured_kept_and_forgotten(void **state)
{
    (void)state;
    double guesses[64];
    uint32_t count = 0;
    wf_rate rate;
    wf_calibration found = {.size = sizeof found}, kept = found;
    const wf_calibrate_params tried = {.size = sizeof tried,
                                       .budget_seconds = LONG,
                                       .discard = true},
                              wanted = {.size = sizeof wanted, .budget_seconds = LONG},
                              none = {.size = sizeof none, .budget_seconds = 1e-9};
    wf_device *device = pretended();
    assert_false(is_measured(device, &rate));
    for (; wf_rate_get(device, count, &rate) == WF_SUCCESS; count++)
        guesses[count] = rate.value;
    test_expect_errors(true);
    assert_int_equal(wf_calibrate(device, &none, &found), WF_ERROR_UNSUPPORTED);
    test_expect_errors(false);
    assert_int_equal(wf_calibrate(device, &tried, &found), WF_SUCCESS);
    assert_true(!found.kept && found.points >= LEAST_POINTS);
    assert_false(is_measured(device, &rate));
    assert_int_equal(wf_calibrate(device, &wanted, &found), WF_SUCCESS);
    assert_true(found.measured == (found.error <= 0.2) && found.kept == found.measured);
    assert_true(is_measured(device, &rate) == found.measured && found.seconds > 0);
    if (!found.measured)
        keep_some(device, 100);
    check_rates(device, guesses, count);
    wf_device_destroy(&device);

    device = pretended(); /* reads the file */
    check_rates(device, guesses, count);
    assert_int_equal(wf_calibration_get(device, &kept), WF_SUCCESS);
    assert_true(kept.measured && kept.kept);
    assert_int_equal(kept.points, found.measured ? found.points : 9);
    /* Rows of a family go, the rates stay; the whole file has them. */
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_MATMUL), WF_SUCCESS);
    assert_true(is_measured(device, &rate));
    wf_device_destroy(&device);

    device = pretended();
    device->caps.driver_version++; /* another driver's rates are none */
    assert_false(is_measured(device, &rate));
    wf_device_destroy(&device);

    device = pretended();
    assert_true(is_measured(device, &rate));
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_COUNT), WF_SUCCESS);
    assert_false(is_measured(device, &rate));
    wf_device_destroy(&device);
    device = pretended();
    assert_false(is_measured(device, &rate));
    wf_device_destroy(&device);
}

/* Choices use them at once, unless they are told not to. */
static void choices_use_rates(void **state)
{
    (void)state;
    wf_device *device = pretended();
    wfi_kept_rates rates = {.there = true,
                            .driver_id = device->caps.driver_id,
                            .driver_version = device->caps.driver_version,
                            .points = 9};
    char error[512];
    for (int i = 0; i < WFI_RATES; i++)
        rates.matmul.of[i] = 1e-6;
    rates.matmul.of[WFI_RATE_DISPATCH] = 1e5; /* no sum is worth splitting */
    const wf_matmul_params params = {.size = sizeof params, .m = 64, .n = 64, .k = 16384};
    wf_tuning model = {.size = sizeof model, .no_tuning = true, .variant = "vector"};
    uint32_t split_k[3];
    for (int i = 0; i < 3; i++) {
        wf_plan *plan = NULL;
        wf_plan_info info = {.size = sizeof info};
        wf_matmul_params of = params;
        of.tuning = &model;
        if (i == 1)
            assert_true(wfi_tuning_keep_rates(device, &rates, error));
        if (i == 2)
            model.skip_levels = WF_TUNING_RATES;
        assert_int_equal(wf_matmul_plan(device, &of, &plan), WF_SUCCESS);
        assert_int_equal(wf_plan_describe(plan, &info), WF_SUCCESS);
        split_k[i] = 0;
        for (uint32_t c = 0; c < info.constant_count; c++)
            if (strcmp(info.constants[c].name, "split_k") == 0)
                split_k[i] = info.constants[c].value;
        wf_plan_destroy(&plan);
    }
    assert_int_equal(split_k[1], 1);
    assert_true(split_k[0] > 1);
    assert_int_equal(split_k[0], split_k[2]);
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_COUNT), WF_SUCCESS);
    wf_device_destroy(&device);
}

#define ROW_ERROR 100 /* thousandths that the rates' predictions are wrong by */

/* What is chosen for a product, without copies and variants that no rate times. */
static void chosen(wf_device *device, uint64_t m, uint64_t n, uint64_t k, uint32_t skip_levels,
                   wf_plan_info *info)
{
    wf_plan *plan = NULL;
    const wf_tuning tuning = {
        .size = sizeof tuning, .variant = "vector", .skip_levels = skip_levels};
    const wf_matmul_params params = {
        .size = sizeof params, .m = m, .n = n, .k = k, .tuning = &tuning};
    *info = (wf_plan_info){.size = sizeof *info};
    assert_int_equal(wf_matmul_plan(device, &params, &plan), WF_SUCCESS);
    assert_int_equal(wf_plan_describe(plan, info), WF_SUCCESS);
    wf_plan_destroy(&plan);
}

static uint32_t tile_m_of(const wf_plan_info *info)
{
    for (uint32_t c = 0; c < info->constant_count; c++)
        if (strcmp(info->constants[c].name, "tile_m") == 0)
            return info->constants[c].value;
    return 0;
}

/* A row of 128 x 128 x 128 in tiles of 64 x 64. */
static void keep_row(wf_device *device)
{
    static wfi_tuning_entry entry;
    char error[512];
    wfi_problem problem = {
        .family = WF_FAMILY_MATMUL, .type = WF_TYPE_F32, .matmul = wfi_matmul_plain(128, 128, 128)};
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    wfi_point point = {.caps = &device->caps,
                       .problem = &problem,
                       .variant = family->variants[wfi_variant_find(family, "vector")]};
    wfi_point_defaults(&point);
    wfi_matmul_set_block(&point, &(wfi_matmul_block){64, 64, 16, 4, 4});
    entry = (wfi_tuning_entry){.key = wfi_key_of(&problem),
                               .driver_id = device->caps.driver_id,
                               .driver_version = device->caps.driver_version,
                               .best_count = 1};
    wfi_problem_text(&problem, entry.problem, sizeof entry.problem);
    wfi_mutex_lock(&device->tuning_lock);
    entry.shaders = wfi_shaders_hash(wfi_tuning_of(device), WF_FAMILY_MATMUL, WF_TYPE_F32);
    wfi_mutex_unlock(&device->tuning_lock);
    entry.best[0] = wfi_point_named(&point);
    entry.best[0].time_ns = 1000;
    assert_true(wfi_tuning_keep(device, &entry, error));
}

/* On a device whose time is the number of waves of work-groups, two at a time: the row's tiles take
 * two waves where they were measured, and the model's one tile takes one. Where both take as many
 * at another size, the row is taken; where the row would take three, it is not. */
static void rows_serve_neighbours_by_rates(void **state)
{
    (void)state;
    wf_device *device = pretended();
    wf_plan_info info;
    char error[512];
    wfi_kept_rates rates = {.there = true,
                            .driver_id = device->caps.driver_id,
                            .driver_version = device->caps.driver_version,
                            .points = 9,
                            .error_permille = ROW_ERROR};
    for (int i = 0; i < WFI_RATES; i++)
        rates.matmul.of[i] = 1e-9;
    rates.matmul.of[WFI_RATE_WAVE] = 1;
    rates.matmul.of[WFI_RATE_DISPATCH] = 1000;
    device->caps.max_shared_bytes = 20000; /* one work-group a unit */
    keep_row(device);
    chosen(device, 128, 176, 128, 0, &info);
    assert_string_equal(info.chosen_by, "forced");
    assert_int_equal(tile_m_of(&info), 64); /* copied */
    assert_true(wfi_tuning_keep_rates(device, &rates, error));
    chosen(device, 128, 128, 128, 0, &info);
    assert_int_equal(tile_m_of(&info), 64);
    chosen(device, 128, 120, 128, 0, &info);
    assert_int_equal(tile_m_of(&info), 64);
    chosen(device, 128, 176, 128, 0, &info);
    assert_int_equal(tile_m_of(&info), 128);
    chosen(device, 128, 176, 128, WF_TUNING_RATES, &info);
    assert_int_equal(tile_m_of(&info), 64);
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_COUNT), WF_SUCCESS);
    wf_device_destroy(&device);
}

/* The model of CPU devices knows no rates, and says so. */
static void cpu_devices_have_no_rates(void **state)
{
    (void)state;
    wf_rate rate = {.size = sizeof rate};
    wf_calibration found = {.size = sizeof found};
    wf_device *device = test_tuning_device();
    if (device->caps.device_type == VK_PHYSICAL_DEVICE_TYPE_CPU) {
        test_expect_errors(true);
        assert_int_equal(wf_calibrate(device, NULL, &found), WF_ERROR_UNSUPPORTED);
        test_expect_errors(false);
        assert_int_equal(wf_rate_get(device, 0, &rate), WF_ERROR_INVALID_ARGUMENT);
        assert_int_equal(wf_calibration_get(device, &found), WF_SUCCESS);
        assert_false(found.measured);
    }
    wf_device_destroy(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_devices_have_no_rates),
        cmocka_unit_test(choices_use_rates),
        cmocka_unit_test(rows_serve_neighbours_by_rates),
        cmocka_unit_test(rates_are_measured_kept_and_forgotten),
        cmocka_unit_test(rates_that_predict_nothing_are_not_used),
    };
    return cmocka_run_group_tests(tests, test_tuning_setup, test_tuning_teardown);
}
