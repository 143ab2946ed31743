/* The file of what searches found: shared with other processes, left alone where it is write-protected or
 * damaged, exported and loaded; and the journal of a search that did not end. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tuning.h"

/* The file has an entry. */
static int setup(void **state)
{
    test_tuned m;
    test_watch w = {.stop_after = 4};
    wf_tune_result result;
    if (test_tuning_setup(state) != 0)
        return -1;
    test_make_tuned(&m);
    wf_device *device = test_tuning_device();
    const wf_result tuned = test_tune(device, &m, 60, &w, &result);
    wf_device_destroy(&device);
    return tuned == WF_ERROR_CANCELLED && result.kept ? 0 : -1;
}

/* A file that nobody may write stays as it is. */
static void write_protected_files_are_left(void **state)
{
    (void)state;
    test_tuned m;
    struct stat before, after;
    char error[512];
    test_make_tuned(&m);
    wf_device *device = test_tuning_device();
    wfi_tuning_entry entry = {0};
    assert_true(wfi_tuning_entry_copy(test_only_entry(device), &entry));
    const char *path = wf_tuning_path(device);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(stat(path, &before), 0);
    assert_string_equal(test_chosen(device, &m.params, NULL).chosen_by, "tuned");
    assert_false(wfi_tuning_keep(device, &entry, error));
    assert_non_null(strstr(error, path));
    assert_non_null(strstr(error, "write-protected"));
    test_expect_errors(true);
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_SPMV), WF_ERROR_UNSUPPORTED);
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_COUNT), WF_ERROR_UNSUPPORTED);
    test_expect_errors(false);
    assert_int_equal(stat(path, &after), 0);
    assert_true(before.st_ino == after.st_ino && before.st_size == after.st_size);
    assert_int_equal(chmod(path, 0600), 0);
    assert_true(wfi_tuning_keep(device, &entry, error));
    wfi_tuning_entry_clear(&entry);
    wf_device_destroy(&device);
}

/* Rows that ship are listed with what they are worth. */
static void shipped_rows_are_listed(void **state)
{
    (void)state;
    wf_device *device = test_tuning_device();
    uint32_t count = 0, kept = 0;
    wf_tuning_row row = {.size = sizeof row};
    for (; wf_tuning_row_get(device, kept, &row) == WF_SUCCESS; kept++)
        assert_int_equal(row.level, WF_TUNING_MEASURED);
    for (; wf_tuning_shipped_get(device, count, &row) == WF_SUCCESS; count++)
        assert_true(row.level == WF_TUNING_DEVICE_ROWS || row.level == WF_TUNING_ARCHITECTURE_ROWS);
    const struct wfi_tuning *tuning = device->tuning;
    assert_non_null(tuning);
    assert_int_equal(kept, tuning->own.entry_count);
    assert_int_equal(count, tuning->shipped[0].entry_count + tuning->shipped[1].entry_count);
    wf_device_destroy(&device);
}

/* A point noted in the journal by a process that is gone is bad for the next search. */
static void a_lost_process_leaves_its_point(void **state)
{
    (void)state;
    test_tuned m;
    test_watch w = {0};
    wf_tune_result result;
    wfi_journal journal;
    wfi_tuning_data left;
    test_make_tuned(&m);
    wf_device *device = test_tuning_device();
    wfi_tuning_entry entry = {0};
    assert_true(wfi_tuning_entry_copy(test_only_entry(device), &entry));
    assert_int_equal(wfi_journal_open(device, &journal, &left), WF_SUCCESS);
    assert_int_equal(left.entry_count, 0);
    wfi_named_point fatal = entry.best[0];
    fatal.values[0].value++;
    wfi_journal_note(&journal, &entry, &fatal);
    close(journal.fd); /* as the end of the process does */
    assert_int_equal(test_tune(device, &m, 1, &w, &result), WF_SUCCESS);
    const wfi_tuning_entry *now = test_only_entry(device);
    assert_true(wfi_entry_is_bad(now, &fatal));
    assert_true(wfi_entry_is_blamed(now, &fatal));
    for (uint32_t i = 0; i < now->best_count; i++)
        assert_false(wfi_named_point_same(&now->best[i], &fatal));
    wfi_tuning_entry_clear(&entry);
    wf_device_destroy(&device);
}

/* One that was good before is not bad for being lost once. */
static void a_good_point_that_is_lost_stays(void **state)
{
    (void)state;
    test_tuned m;
    test_watch w = {0};
    wf_tune_result result;
    wfi_journal journal;
    wfi_tuning_data left;
    wfi_tuning_entry entry = {0};
    test_make_tuned(&m);
    wf_device *device = test_tuning_device();
    assert_true(wfi_tuning_entry_copy(test_only_entry(device), &entry));
    assert_int_equal(wfi_journal_open(device, &journal, &left), WF_SUCCESS);
    wfi_journal_note(&journal, &entry, &entry.best[0]);
    close(journal.fd); /* as the end of the process does */
    assert_int_equal(test_tune(device, &m, 1, &w, &result), WF_SUCCESS);
    assert_false(wfi_entry_is_bad(test_only_entry(device), &entry.best[0]));
    wfi_tuning_entry_clear(&entry);
    wf_device_destroy(&device);
}

/* The next process may be lost before it has kept what it was told: then both points are told. */
static void two_lost_processes_leave_both_points(void **state)
{
    (void)state;
    test_tuned m;
    wfi_journal journal;
    wfi_tuning_data left;
    wfi_tuning_entry entry = {0};
    test_make_tuned(&m);
    wf_device *device = test_tuning_device();
    assert_true(wfi_tuning_entry_copy(test_only_entry(device), &entry));
    wfi_named_point other = entry.best[0];
    other.values[0].value++;
    assert_int_equal(wfi_journal_open(device, &journal, &left), WF_SUCCESS);
    wfi_journal_note(&journal, &entry, &entry.best[0]);
    close(journal.fd); /* as the end of the process does */
    assert_int_equal(wfi_journal_open(device, &journal, &left), WF_SUCCESS);
    assert_int_equal(left.entry_count, 1);
    for (uint32_t i = 0; i < left.entries[0].bad_count; i++)
        assert_true(wfi_entry_add_bad(&entry, &left.entries[0].bad[i]));
    wfi_tuning_data_free(&left);
    wfi_journal_note(&journal, &entry, &other);
    close(journal.fd);
    assert_int_equal(wfi_journal_open(device, &journal, &left), WF_SUCCESS);
    assert_int_equal(left.entry_count, 1);
    assert_true(wfi_entry_is_bad(&left.entries[0], &entry.best[0]));
    assert_true(wfi_entry_is_bad(&left.entries[0], &other));
    wfi_tuning_data_free(&left);
    wfi_journal_close(&journal);
    wfi_tuning_entry_clear(&entry);
    wf_device_destroy(&device);
}

/* Processes that write at once lose nothing of each other's. */
static void writers_at_once(void **state)
{
    (void)state;
    enum { PROCESSES = 4, ENTRIES = 8 };
    char error[512];
    for (int p = 0; p < PROCESSES; p++)
        if (fork() == 0) {
            wf_device *device = test_tuning_device();
            bool ok = true;
            for (int i = 0; i < ENTRIES; i++) {
                wfi_tuning_entry entry = {0};
                const wfi_problem problem = {
                    .family = WF_FAMILY_MATMUL,
                    .matmul = {.m = UINT64_C(16) << p, .n = UINT64_C(16) << 2 * i, .k = 16}};
                entry.key = wfi_key_of(&problem);
                ok = wfi_tuning_keep(device, &entry, error) && ok;
            }
            wf_device_destroy(&device);
            _exit(ok ? 0 : 1);
        }
    for (int p = 0; p < PROCESSES; p++) {
        int status = 1;
        wait(&status);
        assert_int_equal(status, 0);
    }
    wf_device *device = test_tuning_device();
    pthread_mutex_lock(&device->tuning_lock);
    const uint32_t count = wfi_tuning_of(device)->own.entry_count;
    pthread_mutex_unlock(&device->tuning_lock);
    assert_int_equal(count, 1 + PROCESSES * ENTRIES);
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_COUNT), WF_SUCCESS);
    wf_device_destroy(&device);
}

static void blobs_are_taken_or_refused(void **state)
{
    (void)state;
    test_tuned m;
    test_watch w = {0};
    wf_tune_result result;
    static char text[65536];
    size_t bytes = sizeof text;
    test_make_tuned(&m);
    wf_device *device = test_tuning_device();
    assert_int_equal(test_tune(device, &m, 1, &w, &result), WF_SUCCESS);
    assert_int_equal(wf_tuning_export(device, text, &bytes), WF_SUCCESS);
    assert_true(bytes > 100 && bytes < sizeof text);
    assert_int_equal(wf_tuning_load(device, text, bytes), WF_SUCCESS);
    assert_int_equal(wf_tuning_load(device, text, bytes / 2), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_tuning_load_file(device, "/nonexistent/x.json"), WF_ERROR_INVALID_ARGUMENT);
    char *vendor = strstr(text, "\"vendor_id\": ");
    assert_non_null(vendor);
    vendor[13] = vendor[13] == '9' ? '8' : '9';
    assert_int_equal(wf_tuning_load(device, text, bytes), WF_ERROR_UNSUPPORTED);
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_COUNT), WF_SUCCESS);
    wf_device_destroy(&device);
}

static void damaged_files_are_named_and_left(void **state)
{
    (void)state;
    test_tuned m;
    test_watch w = {0};
    wf_tune_result result;
    char path[256];
    test_make_tuned(&m);
    wf_device *device = test_tuning_device();
    snprintf(path, sizeof path, "%s", wf_tuning_path(device));
    wf_device_destroy(&device);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"schema\": \"wavefit-tuning/1\", \"entries\": [", file);
    assert_int_equal(fclose(file), 0);
    device = test_tuning_device();
    assert_string_not_equal(test_chosen(device, &m.params, NULL).chosen_by, "tuned");
    assert_non_null(strstr(test_tuning_warning(), path));
    assert_int_equal(test_tune(device, &m, 1, &w, &result), WF_SUCCESS);
    assert_false(result.kept);
    /* Used all the same as long as the device is open. */
    assert_string_equal(test_chosen(device, &m.params, NULL).chosen_by, "tuned");
    wf_device_destroy(&device);
    char content[64] = "";
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(content, sizeof content, file));
    fclose(file);
    assert_string_equal(content, "{\"schema\": \"wavefit-tuning/1\", \"entries\": [");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_protected_files_are_left),
        cmocka_unit_test(shipped_rows_are_listed),
        cmocka_unit_test(a_lost_process_leaves_its_point),
        cmocka_unit_test(a_good_point_that_is_lost_stays),
        cmocka_unit_test(two_lost_processes_leave_both_points),
        cmocka_unit_test(writers_at_once),
        cmocka_unit_test(blobs_are_taken_or_refused),
        cmocka_unit_test(damaged_files_are_named_and_left),
    };
    return cmocka_run_group_tests(tests, setup, test_tuning_teardown);
}
