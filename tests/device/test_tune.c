/* What a search finds is used and kept, and measured again when driver or shaders change; a search
 * that was stopped continues. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "choose/choose.h"
#include "kernels/families.h"
#include "matmul/matmul_ids.h"
#include "tuning.h"

static void what_is_found_is_used_and_kept(void **state)
{
    (void)state;
    const wf_tuning model = {.size = sizeof model, .no_tuning = true};
    test_tuned m;
    test_watch w = {0};
    wf_tune_result result;
    test_make_tuned(&m);
    wf_device *device = test_tuning_device();
    const char *before = test_chosen(device, &m.params, NULL).chosen_by;
    assert_string_not_equal(before, "tuned");
    assert_int_equal(test_tune(device, &m, 1.5, &w, &result), WF_SUCCESS);
    assert_true(result.kept && result.measured > 0 && result.best_us > 0 && w.calls > 0);
    assert_int_equal(result.wrong, 0);
    wf_plan_info info = test_chosen(device, &m.params, NULL);
    assert_string_equal(info.chosen_by, "tuned");
    assert_string_equal(info.variant, result.best.variant);
    assert_string_equal(test_chosen(device, &m.params, &model).chosen_by, "model");
    wf_device_destroy(&device);

    /* As in a later process. */
    device = test_tuning_device();
    info = test_chosen(device, &m.params, NULL);
    assert_string_equal(info.chosen_by, "tuned");
    for (uint32_t i = 0; i < info.constant_count; i++)
        assert_int_equal(info.constants[i].value, result.best.constants[i].value);
    /* A forced variant gets the tuned values of that variant. */
    const wf_tuning forced = {.size = sizeof forced, .variant = info.variant};
    info = test_chosen(device, &m.params, &forced);
    assert_string_equal(info.chosen_by, "forced");
    for (uint32_t i = 0; i < info.constant_count; i++)
        assert_int_equal(info.constants[i].value, result.best.constants[i].value);
    wf_device_destroy(&device);
}

static void change_makes_rows_hints(void **state)
{
    (void)state;
    test_tuned m;
    char error[512];
    test_make_tuned(&m);
    for (int kind = 0; kind < 2; kind++) {
        wf_device *device = test_tuning_device();
        wfi_tuning_entry changed = {0};
        assert_true(wfi_tuning_entry_copy(test_only_entry(device), &changed));
        const wfi_tuning_entry original = changed;
        if (kind == 0)
            changed.driver_version++;
        else
            changed.shaders++;
        assert_true(wfi_tuning_keep(device, &changed, error));
        wf_device_destroy(&device);
        device = test_tuning_device();
        assert_string_not_equal(test_chosen(device, &m.params, NULL).chosen_by, "tuned");
        assert_true(wfi_tuning_keep(device, &original, error));
        assert_string_equal(test_chosen(device, &m.params, NULL).chosen_by, "tuned");
        wfi_tuning_entry_clear(&changed);
        wf_device_destroy(&device);
    }
}

static void bad_points_are_not_chosen(void **state)
{
    (void)state;
    const wf_tuning model_alone = {.size = sizeof model_alone,
                                   .skip_levels =
                                       WF_TUNING_DEVICE_ROWS | WF_TUNING_ARCHITECTURE_ROWS};
    test_tuned m;
    char error[512];
    test_make_tuned(&m);
    wf_device *device = test_tuning_device();
    wfi_tuning_entry entry = {0};
    assert_true(wfi_tuning_entry_copy(test_only_entry(device), &entry));
    /* All points found are marked bad, and so is the model's first choice after them. */
    for (uint32_t i = 0; i < entry.best_count; i++)
        assert_true(wfi_entry_add_bad(&entry, &entry.best[i]));
    assert_true(wfi_tuning_keep(device, &entry, error));
    const wf_plan_info second = test_chosen(device, &m.params, &model_alone);
    assert_string_equal(second.chosen_by, "model");
    for (uint32_t i = 0; i < entry.bad_count; i++) {
        bool same = strcmp(second.variant, entry.bad[i].variant) == 0;
        for (uint32_t n = 0; n < second.constant_count; n++)
            same = same && second.constants[n].value == entry.bad[i].values[n].value;
        assert_false(same);
    }
    wfi_tuning_entry_clear(&entry);
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_SPMV), WF_SUCCESS);
    wf_device_destroy(&device);
}

/* Where every point that the model proposes is bad its first is taken: a file must not make a call
 * fail. */
static void where_all_are_bad_the_model_chooses(void **state)
{
    (void)state;
    const wf_tuning plain = {.size = sizeof plain, .no_tuning = true};
    const wfi_family *family = wfi_family_get(WF_FAMILY_SPMV);
    test_tuned m;
    char error[512];
    wf_tune_result result;
    test_watch w = {.stop_after = 3};
    test_make_tuned(&m);
    wf_device *device = test_tuning_device();
    assert_int_equal(test_tune(device, &m, 60, &w, &result), WF_ERROR_CANCELLED);
    wfi_tuning_entry entry = {0};
    assert_true(wfi_tuning_entry_copy(test_only_entry(device), &entry));
    for (uint32_t n = 0; n <= family->variant_count; n++) {
        const wf_plan_info chosen = test_chosen(device, &m.params, NULL);
        wfi_named_point bad = {.count = chosen.constant_count};
        snprintf(bad.variant, sizeof bad.variant, "%s", chosen.variant);
        for (uint32_t i = 0; i < bad.count; i++) {
            snprintf(bad.values[i].name, sizeof bad.values[i].name, "%s", chosen.constants[i].name);
            bad.values[i].value = chosen.constants[i].value;
        }
        assert_true(wfi_entry_add_bad(&entry, &bad));
        assert_true(wfi_tuning_keep(device, &entry, error));
    }
    const wf_plan_info last = test_chosen(device, &m.params, NULL);
    assert_string_equal(last.chosen_by, "model");
    assert_string_equal(last.variant, test_chosen(device, &m.params, &plain).variant);
    wfi_tuning_entry_clear(&entry);
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_SPMV), WF_SUCCESS);
    wf_device_destroy(&device);
}

/* stream_k of the point chosen for a product of m x 64 x 64. */
static uint32_t stream_k_chosen(wf_device *device, uint64_t m, const char **chosen_by)
{
    const wfi_problem problem = {.family = WF_FAMILY_MATMUL, .matmul = wfi_matmul_plain(m, 64, 64)};
    wfi_choice choice;
    assert_int_equal(wfi_choose(device, &problem, NULL, &choice), WF_SUCCESS);
    *chosen_by = choice.chosen_by;
    return wfi_point_value(&choice.point, MATMUL_ID_STREAM_K, 99);
}

/* A value that depends on the exact size is taken from a row of that exact size alone. */
static void rows_of_like_problems_are_fitted(void **state)
{
    (void)state;
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    const wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                                 .matmul = wfi_matmul_plain(64, 64, 64)};
    char error[512];
    const char *chosen_by;
    wf_device *device = test_tuning_device();
    wfi_point point = {.caps = wf_device_caps(device),
                       .problem = &problem,
                       .variant = family->variants[wfi_variant_find(family, "vector")]};
    wfi_point_defaults(&point);
    wfi_point_set(&point, MATMUL_ID_STREAM_K, 1);
    assert_true(wfi_point_legal(&point, NULL));
    assert_int_not_equal(stream_k_chosen(device, 64, &chosen_by), 1); /* reads the rows */
    wfi_tuning_entry entry = {.key = wfi_key_of(&problem),
                              .problem = "64x64x64",
                              .driver_id = device->caps.driver_id,
                              .driver_version = device->caps.driver_version,
                              .shaders =
                                  wfi_shaders_hash(device->tuning, problem.family, problem.type),
                              .best_count = 1,
                              .best = {wfi_point_named(&point)}};
    assert_true(wfi_tuning_keep(device, &entry, error));
    assert_int_equal(stream_k_chosen(device, 64, &chosen_by), 1);
    assert_string_equal(chosen_by, "tuned");
    assert_int_equal(stream_k_chosen(device, 66, &chosen_by), 0);
    assert_string_equal(chosen_by, "tuned");
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_MATMUL), WF_SUCCESS);
    wf_device_destroy(&device);
}

static void a_stopped_search_keeps_and_resumes(void **state)
{
    (void)state;
    test_tuned m;
    test_watch w = {.stop_after = 4};
    wf_tune_result result;
    test_make_tuned(&m);
    wf_device *device = test_tuning_device();
    assert_int_equal(test_tune(device, &m, 60, &w, &result), WF_ERROR_CANCELLED);
    assert_int_equal(result.measured, 3);
    assert_true(result.kept && result.best_us > 0);
    assert_string_equal(result.best.chosen_by, "tuned");
    assert_non_null(result.before.variant);
    wf_device_destroy(&device);
    device = test_tuning_device();
    assert_int_equal(test_only_entry(device)->tried_count, 3);
    assert_string_equal(test_chosen(device, &m.params, NULL).chosen_by, "tuned");
    wf_device_destroy(&device);
}

/* A problem that has a row is not searched again where that is asked for: the row is told. One
 * whose points are to be measured again is, and so is one that has no row. */
static void what_is_kept_is_left(void **state)
{
    (void)state;
    test_tuned m;
    test_watch w = {.stop_after = 4};
    wf_tune_result first, result = {.size = sizeof result};
    test_make_tuned(&m);
    wf_device *device = test_tuning_device();
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_COUNT), WF_SUCCESS);
    assert_int_equal(test_tune(device, &m, 60, &w, &first), WF_ERROR_CANCELLED);
    wf_tune_params params = {.size = sizeof params,
                             .spmv = &m.params,
                             .budget_seconds = 60,
                             .progress = test_note_progress,
                             .user = &w,
                             .unless_kept = true};
    assert_int_equal(wf_tune(device, &params, &result), WF_SUCCESS);
    assert_int_equal(result.measured, 0);
    assert_true(result.kept && fabs(result.best_us - first.best_us) <= 0.001);
    assert_string_equal(result.best.variant, first.best.variant);
    assert_string_equal(result.best.chosen_by, "tuned");
    params.again = true;
    w.calls = 0;
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
    assert_int_equal(result.measured, 3);
    params.again = false;
    w.calls = 0;
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_SPMV), WF_SUCCESS);
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
    assert_int_equal(result.measured, 3);
    wf_device_destroy(&device);
}

/* An application that asks to stop while a point is tried: the point is left as if never begun. */
static uint32_t tried, allowed = UINT32_MAX;

static bool enough(void *user)
{
    (void)user;
    return tried > allowed;
}

static bool count_points(void *user, const wf_tune_progress *progress)
{
    (void)user;
    tried += *progress->trying != '\0';
    return true;
}

static void a_search_stops_between_submissions(void **state)
{
    (void)state;
    test_tuned m;
    wf_device_params params = {.size = sizeof params,
                               .log = test_tuning_log,
                               .cache_directory = test_tuning_directory(),
                               .cancelled = enough};
    wf_tune_params search = {.size = sizeof search,
                             .spmv = &m.params,
                             .budget_seconds = 600,
                             .again = true,
                             .discard = true,
                             .progress = count_points};
    wf_device *device = NULL;
    test_make_tuned(&m);
    assert_int_equal(wf_device_create(&params, &device), WF_SUCCESS);
    for (int exhaustive = 0; exhaustive < 2; exhaustive++) {
        wf_tune_result result = {.size = sizeof result};
        search.exhaustive = exhaustive;
        tried = 0;
        allowed = 2;
        assert_int_equal(wf_tune(device, &search, &result), WF_ERROR_CANCELLED);
        assert_int_equal(tried, 3);
        assert_int_equal(result.measured, 2);
        assert_int_equal(result.wrong, 0);
        assert_true(result.best_us > 0);
    }
    /* The stop comes before the first point. */
    wf_tune_result result = {.size = sizeof result};
    tried = 1;
    allowed = 0;
    assert_int_equal(wf_tune(device, &search, &result), WF_ERROR_CANCELLED);
    assert_int_equal(result.measured, 0);
    allowed = UINT32_MAX;
    wf_device_destroy(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_found_is_used_and_kept),
        cmocka_unit_test(change_makes_rows_hints),
        cmocka_unit_test(bad_points_are_not_chosen),
        cmocka_unit_test(where_all_are_bad_the_model_chooses),
        cmocka_unit_test(rows_of_like_problems_are_fitted),
        cmocka_unit_test(a_stopped_search_keeps_and_resumes),
        cmocka_unit_test(what_is_kept_is_left),
        cmocka_unit_test(a_search_stops_between_submissions),
    };
    return cmocka_run_group_tests(tests, test_tuning_setup, test_tuning_teardown);
}
