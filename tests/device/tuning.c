#include "tuning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char directory[64];
static char last_warning[1024];

const char *test_tuning_directory(void)
{
    return directory;
}

const char *test_tuning_warning(void)
{
    return last_warning;
}

void test_make_tuned(test_tuned *m)
{
    test_random random = {test_seed()};
    m->offsets[0] = 0;
    for (uint32_t row = 0; row < TEST_TUNED_ROWS; row++) {
        uint32_t at = m->offsets[row];
        for (uint32_t i = 0; i < row % 7; i++, at++) {
            m->columns[at] = test_random_below(&random, TEST_TUNED_ROWS);
            m->values[at] = (float)test_random_uniform(&random);
        }
        m->offsets[row + 1] = at;
    }
    m->params = (wf_spmv_params){.size = sizeof m->params,
                                 .rows = TEST_TUNED_ROWS,
                                 .columns = TEST_TUNED_ROWS,
                                 .row_offsets = m->offsets,
                                 .column_indices = m->columns,
                                 .values = m->values};
}

void test_tuning_log(void *user, wf_log_level level, const char *text)
{
    (void)user;
    if (level == WF_LOG_WARNING)
        snprintf(last_warning, sizeof last_warning, "%s", text);
}

wf_device *test_tuning_device(void)
{
    const char *limits = getenv("WAVEFIT_TEST_LIMITS");
    const wf_device_params params = {
        .size = sizeof params,
        .limits = limits && strcmp(limits, "minimum") == 0 ? WF_LIMITS_MINIMUM : WF_LIMITS_DEVICE,
        .log = test_tuning_log,
        .cache_directory = directory};
    wf_device *device = NULL;
    last_warning[0] = '\0';
    assert_int_equal(wf_device_create(&params, &device), WF_SUCCESS);
    return device;
}

static void remove_files(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    assert_int_equal(system(command), 0);
}

int test_tuning_setup(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/wavefit-tune-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

int test_tuning_teardown(void **state)
{
    (void)state;
    remove_files();
    return 0;
}

wf_plan_info test_chosen(wf_device *device, const wf_spmv_params *params, const wf_tuning *tuning)
{
    wf_spmv_params with = *params;
    wf_plan_info info = {.size = sizeof info};
    wf_plan *plan = NULL;
    with.tuning = tuning;
    assert_int_equal(wf_spmv_plan(device, &with, &plan), WF_SUCCESS);
    assert_int_equal(wf_plan_describe(plan, &info), WF_SUCCESS);
    wf_plan_destroy(&plan);
    return info;
}

bool test_note_progress(void *user, const wf_tune_progress *progress)
{
    test_watch *w = user;
    assert_true(progress->fraction >= 0 && progress->fraction <= 1);
    return ++w->calls != w->stop_after;
}

wf_result test_tune(wf_device *device, const test_tuned *m, double seconds, test_watch *w,
                    wf_tune_result *result)
{
    const wf_tune_params params = {.size = sizeof params,
                                   .spmv = &m->params,
                                   .budget_seconds = seconds,
                                   .seed = test_seed(),
                                   .progress = test_note_progress,
                                   .user = w};
    *result = (wf_tune_result){.size = sizeof *result};
    return wf_tune(device, &params, result);
}

wfi_tuning_entry *test_only_entry(wf_device *device)
{
    wfi_mutex_lock(&device->tuning_lock);
    struct wfi_tuning *tuning = wfi_tuning_of(device);
    wfi_mutex_unlock(&device->tuning_lock);
    assert_non_null(tuning);
    assert_int_equal(tuning->own.entry_count, 1);
    return &tuning->own.entries[0];
}
