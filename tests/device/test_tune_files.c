/* The file of what searches found: it is shared with other processes, left alone where it is
 * write-protected or damaged, exported and loaded. The journal of a search that did not end. */
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

/* Checks that the file has an entry. */
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

/* A device on which the problem was tuned, and a copy of what it knows of it. */
static wf_device *open_tuned(test_tuned *m, wfi_tuning_entry *entry)
{
    test_make_tuned(m);
    wf_device *device = test_tuning_device();
    assert_true(wfi_tuning_entry_copy(test_only_entry(device), entry));
    return device;
}

/* A file that nobody may write stays as it is. */
static void write_protected_files_are_left(void **state)
{
    (void)state;
    test_tuned m;
    struct stat before, after;
    char error[512];
    wfi_tuning_entry entry = {0};
    wf_device *device = open_tuned(&m, &entry);
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

/* Rows that ship are listed with their level. */
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
    wfi_tuning_entry entry = {0};
    wf_device *device = open_tuned(&m, &entry);
    assert_int_equal(wfi_journal_open(device, &journal, &left), WF_SUCCESS);
    assert_int_equal(left.entry_count, 0);
    wfi_named_point fatal = entry.best[0];
    fatal.values[0].value++;
    wfi_journal_note(&journal, &entry, &fatal);
    wfi_journal_release(&journal); /* as the end of the process does */
    assert_int_equal(test_tune(device, &m, 1, &w, &result), WF_SUCCESS);
    const wfi_tuning_entry *now = test_only_entry(device);
    assert_true(wfi_entry_is_bad(now, &fatal));
    assert_true(wfi_entry_is_blamed(now, &fatal));
    for (uint32_t i = 0; i < now->best_count; i++)
        assert_false(wfi_named_point_same(&now->best[i], &fatal));
    wfi_tuning_entry_clear(&entry);
    wf_device_destroy(&device);
}

/* A point that was verified before is not marked bad after one crash. */
static void a_good_point_that_is_lost_stays(void **state)
{
    (void)state;
    test_tuned m;
    test_watch w = {0};
    wf_tune_result result;
    wfi_journal journal;
    wfi_tuning_data left;
    wfi_tuning_entry entry = {0};
    wf_device *device = open_tuned(&m, &entry);
    assert_int_equal(wfi_journal_open(device, &journal, &left), WF_SUCCESS);
    wfi_journal_note(&journal, &entry, &entry.best[0]);
    wfi_journal_release(&journal); /* as the end of the process does */
    assert_int_equal(test_tune(device, &m, 1, &w, &result), WF_SUCCESS);
    assert_false(wfi_entry_is_bad(test_only_entry(device), &entry.best[0]));
    wfi_tuning_entry_clear(&entry);
    wf_device_destroy(&device);
}

/* A point that is measured while kernels compile: both are noted, until one of them ends. */
static void points_and_compilers_are_noted_together(void **state)
{
    (void)state;
    test_tuned m;
    wfi_journal journal;
    wfi_tuning_data left;
    wfi_tuning_entry entry = {0};
    wf_device *device = open_tuned(&m, &entry);
    for (int step = 0; step < 3; step++) {
        assert_int_equal(wfi_journal_open(device, &journal, &left), WF_SUCCESS);
        wfi_tuning_data_free(&left);
        wfi_journal_note_several(&journal, true);
        wfi_journal_note(&journal, &entry, &entry.best[0]);
        if (step > 0)
            wfi_journal_note(&journal, NULL, NULL);
        if (step > 1) {
            wfi_journal_note_several(&journal, false);
            wfi_journal_note(&journal, &entry, &entry.best[0]);
        }
        wfi_journal_release(&journal); /* as the end of the process does */
        assert_int_equal(wfi_journal_open(device, &journal, &left), WF_SUCCESS);
        assert_int_equal(journal.several, step < 2);
        assert_int_equal(left.entry_count, step != 1);
        if (step != 1)
            assert_true(wfi_entry_is_bad(&left.entries[0], &entry.best[0]));
        wfi_tuning_data_free(&left);
        wfi_journal_close(&journal);
    }
    wfi_tuning_entry_clear(&entry);
    wf_device_destroy(&device);
}

/* A second process crashes before it has kept what the journal says of the first: the third finds
 * the points of both. */
static void two_lost_processes_leave_both_points(void **state)
{
    (void)state;
    test_tuned m;
    wfi_journal journal;
    wfi_tuning_data left;
    wfi_tuning_entry entry = {0};
    wf_device *device = open_tuned(&m, &entry);
    wfi_named_point other = entry.best[0];
    other.values[0].value++;
    assert_int_equal(wfi_journal_open(device, &journal, &left), WF_SUCCESS);
    wfi_journal_note(&journal, &entry, &entry.best[0]);
    wfi_journal_release(&journal); /* as the end of the process does */
    assert_int_equal(wfi_journal_open(device, &journal, &left), WF_SUCCESS);
    assert_int_equal(left.entry_count, 1);
    for (uint32_t i = 0; i < left.entries[0].bad_count; i++)
        assert_true(wfi_entry_add_bad(&entry, &left.entries[0].bad[i]));
    wfi_tuning_data_free(&left);
    wfi_journal_note(&journal, &entry, &other);
    wfi_journal_release(&journal);
    assert_int_equal(wfi_journal_open(device, &journal, &left), WF_SUCCESS);
    assert_int_equal(left.entry_count, 1);
    assert_true(wfi_entry_is_bad(&left.entries[0], &entry.best[0]));
    assert_true(wfi_entry_is_bad(&left.entries[0], &other));
    wfi_tuning_data_free(&left);
    wfi_journal_close(&journal);
    wfi_tuning_entry_clear(&entry);
    wf_device_destroy(&device);
}

/* Processes that write the file at once keep each other's entries. */
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
    wfi_mutex_lock(&device->tuning_lock);
    const uint32_t count = wfi_tuning_of(device)->own.entry_count;
    wfi_mutex_unlock(&device->tuning_lock);
    assert_int_equal(count, 1 + PROCESSES * ENTRIES);
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_COUNT), WF_SUCCESS);
    wf_device_destroy(&device);
}

/* Threads that write the file at once, each with its own device, keep each other's entries. */
enum { THREADS = 3, KEPT = 24 };

static void *keep_some(void *of)
{
    const uint64_t number = *(const uint64_t *)of;
    char error[512];
    wf_device *device = test_tuning_device();
    bool ok = true;
    for (uint64_t i = 0; i < KEPT; i++) {
        wfi_tuning_entry entry = {0};
        const wfi_problem problem = {
            .family = WF_FAMILY_MATMUL,
            .matmul = {.m = UINT64_C(16) << 2 * number, .n = UINT64_C(16) << i, .k = 16}};
        entry.key = wfi_key_of(&problem);
        ok = wfi_tuning_keep(device, &entry, error) && ok;
    }
    wf_device_destroy(&device);
    return ok ? of : NULL;
}

static void threads_at_once(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    uint64_t numbers[THREADS];
    for (uint64_t i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, keep_some, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *kept = NULL;
        assert_int_equal(pthread_join(threads[i], &kept), 0);
        assert_non_null(kept);
    }
    wf_device *device = test_tuning_device();
    wfi_mutex_lock(&device->tuning_lock);
    const uint32_t count = wfi_tuning_of(device)->own.entry_count;
    wfi_mutex_unlock(&device->tuning_lock);
    assert_int_equal(count, THREADS * KEPT);
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_COUNT), WF_SUCCESS);
    wf_device_destroy(&device);
}

/* Two devices of a process search at once, and the results of both are in the file. */
static void *search_one(void *of)
{
    const uint64_t size = *(const uint64_t *)of;
    const wf_matmul_params product = {.size = sizeof product, .m = size, .n = 16, .k = 16};
    const wf_tune_params params = {
        .size = sizeof params, .matmul = &product, .budget_seconds = 1, .seed = test_seed()};
    wf_tune_result result = {.size = sizeof result};
    wf_device *device = test_tuning_device();
    const bool ok = wf_tune(device, &params, &result) == WF_SUCCESS && result.kept;
    wf_device_destroy(&device);
    return ok ? of : NULL;
}

static void searches_at_once(void **state)
{
    (void)state;
    uint64_t sizes[2] = {16, 64};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, search_one, &sizes[i]), 0);
    for (int i = 0; i < 2; i++) {
        void *kept = NULL;
        assert_int_equal(pthread_join(threads[i], &kept), 0);
        assert_non_null(kept);
    }
    wf_device *device = test_tuning_device();
    wfi_mutex_lock(&device->tuning_lock);
    const uint32_t count = wfi_tuning_of(device)->own.entry_count;
    wfi_mutex_unlock(&device->tuning_lock);
    assert_int_equal(count, 2);
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_COUNT), WF_SUCCESS);
    wf_device_destroy(&device);
}

static wfi_tuning_entry an_entry(void)
{
    const wfi_problem problem = {.family = WF_FAMILY_MATMUL, .matmul = {.m = 16, .n = 16, .k = 16}};
    return (wfi_tuning_entry){.key = wfi_key_of(&problem)};
}

/* In folders that other users may write, files are neither read nor written. */
static void what_others_can_change_is_not_used(void **state)
{
    (void)state;
    char target[320], name[320], error[512], content[8] = "";
    wfi_journal journal;
    wfi_tuning_data left;
    const wfi_tuning_entry entry = an_entry();
    wf_device *device = test_tuning_device();
    const char *path = wf_tuning_path(device);
    snprintf(target, sizeof target, "%s/precious", test_tuning_directory());
    FILE *file = fopen(target, "w");
    assert_non_null(file);
    fputs("whole", file);
    assert_int_equal(fclose(file), 0);

    /* The journal is emptied by each search. */
    snprintf(name, sizeof name, "%s.search", path);
    unlink(name);
    for (int hard = 0; hard < 2; hard++) {
        assert_int_equal(hard ? link(target, name) : symlink(target, name), 0);
        assert_int_equal(wfi_journal_open(device, &journal, &left), WF_SUCCESS);
        assert_int_equal(journal.fd, -1);
        assert_non_null(strstr(test_tuning_warning(), "remove it"));
        wfi_journal_close(&journal);
        assert_int_equal(unlink(name), 0);
    }
    snprintf(name, sizeof name, "%s.lock", path);
    unlink(name);
    assert_int_equal(symlink(target, name), 0);
    assert_false(wfi_tuning_keep(device, &entry, error));
    assert_non_null(strstr(error, "symbolic link"));
    assert_int_equal(unlink(name), 0);
    file = fopen(target, "r");
    assert_non_null(file);
    assert_non_null(fgets(content, sizeof content, file));
    fclose(file);
    assert_string_equal(content, "whole");
    assert_int_equal(unlink(target), 0);

    assert_true(wfi_tuning_keep(device, &entry, error));
    snprintf(name, sizeof name, "%s", path);
    wf_device_destroy(&device);
    for (int kind = 0; kind < 4; kind++) {
        const bool folder = kind >= 2, other = kind % 2;
        const char *of = folder ? test_tuning_directory() : name;
        if (other && geteuid() != 0)
            continue;
        if (other)
            assert_int_equal(chown(of, 12345, 12345), 0);
        else
            assert_int_equal(chmod(of, folder ? 0777 : 0666), 0);
        device = test_tuning_device();
        wfi_mutex_lock(&device->tuning_lock);
        assert_int_equal(wfi_tuning_of(device)->own.entry_count, 0);
        wfi_mutex_unlock(&device->tuning_lock);
        assert_non_null(strstr(test_tuning_warning(), of));
        assert_non_null(
            strstr(test_tuning_warning(), other ? "another user" : "anybody may write"));
        assert_true(!folder || !wf_tuning_path(device));
        assert_false(wfi_tuning_keep(device, &entry, error));
        wf_device_destroy(&device);
        if (other)
            assert_int_equal(chown(of, geteuid(), getegid()), 0);
        assert_int_equal(chmod(of, folder ? 0700 : 0600), 0);
    }
    device = test_tuning_device();
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
    /* The result is used as long as the device is open. */
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
        cmocka_unit_test(points_and_compilers_are_noted_together),
        cmocka_unit_test(two_lost_processes_leave_both_points),
        cmocka_unit_test(writers_at_once),
        cmocka_unit_test(threads_at_once),
        cmocka_unit_test(searches_at_once),
        cmocka_unit_test(what_others_can_change_is_not_used),
        cmocka_unit_test(blobs_are_taken_or_refused),
        cmocka_unit_test(damaged_files_are_named_and_left),
    };
    return cmocka_run_group_tests(tests, setup, test_tuning_teardown);
}
