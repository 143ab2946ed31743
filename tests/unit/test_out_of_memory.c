/* Each allocation of the readers and writers of JSON fails in turn: what they return is whole, or
 * they say that there was no memory. The linker's --wrap replaces malloc and its like by functions
 * of this file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "files.h"
#include "io/comparison.h"
#include "io/results_read.h"

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);

static unsigned fails_at, asked; /* fails_at 0: none fails */

static bool fails(void)
{
    return ++asked == fails_at;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    return fails() ? NULL : __real_realloc(memory, bytes);
}

#define CASES 40

static wfi_io_error error;
static char results_path[256], comparison_path[256];

/* Results of CASES cases, as they are written. */
static bool write_results(const char *path)
{
    static wf_caps caps = {.name = "a device", .max_invocations = 128};
    static wfi_result_case cases[CASES];
    char *argv[] = {"wavefit", "bench"};
    for (int i = 0; i < CASES; i++) {
        wfi_result_case_init(&cases[i], "matmul");
        snprintf(cases[i].name, sizeof cases[i].name, "case %d", i);
        wfi_result_case_fact(&cases[i], "m", i);
        cases[i].type = "f32";
        cases[i].has_timing = true;
        cases[i].timing = (wf_timing){.median_us = 1.5, .count = 1, .samples_us = {1.5}};
    }
    const wfi_results results = {2, argv, &caps, 1e10, 1e12, CASES, cases, 0, NULL, 1};
    return wfi_results_write(path, &results, &error);
}

static bool write_comparison(const char *path)
{
    wfi_comparison_file file = {.device = "a device", .driver = "a driver"};
    wfi_compared item = {.family = "spmv", .type = "f32", .budget_seconds = 1};
    bool ok = true;
    for (int i = 0; i < CASES && ok; i++) {
        snprintf(item.problem, sizeof item.problem, "problem %d", i);
        item.rivals[0].us = i + 1;
        ok = wfi_comparison_add(&file, &item);
    }
    if (!ok)
        error.kind = WFI_IO_NO_MEMORY;
    ok = ok && wfi_comparison_write(path, &file, &error);
    wfi_comparison_free(&file);
    return ok;
}

static void ignore(void *user, const char *name, const char *verdict, double base_us, double us)
{
    (void)user, (void)name, (void)verdict, (void)base_us, (void)us;
}

/* The page's data of both files, compared with the first; its length. */
static bool make_report(size_t *length)
{
    wfi_comparison compared;
    wfi_report *report = wfi_report_create();
    char *json = NULL;
    error.kind = WFI_IO_NO_MEMORY; /* of the calls that give no error */
    if (report && wfi_report_add(report, results_path, &error) &&
        wfi_report_add(report, comparison_path, &error) &&
        wfi_report_compare(report, results_path, ignore, NULL, &compared, &error)) {
        assert_int_equal(compared.compared, CASES);
        json = wfi_report_json(report, length);
        error.kind = json ? WFI_IO_OK : WFI_IO_NO_MEMORY;
    }
    wfi_report_destroy(&report);
    free(json);
    return json != NULL;
}

static size_t bytes_of(const char *path)
{
    size_t bytes = 0;
    free(test_read(path, &bytes));
    return bytes;
}

/* Writes again and again, with the n-th allocation failing, until none is left to fail. */
static void fail_each(bool (*write)(const char *path), const char *name, size_t whole)
{
    char path[256];
    unsigned failed = 0;
    snprintf(path, sizeof path, "%s", test_path(name));
    for (unsigned n = 1;; n++) {
        remove(path);
        asked = 0;
        fails_at = n;
        const bool ok = write(path);
        fails_at = 0;
        if (ok)
            assert_int_equal(bytes_of(path), whole);
        failed += !ok;
        if (asked < n)
            break;
    }
    assert_true(failed > 3);
}

static void files_are_whole_or_not_there(void **state)
{
    (void)state;
    snprintf(results_path, sizeof results_path, "%s", test_path("results.json"));
    snprintf(comparison_path, sizeof comparison_path, "%s", test_path("comparison.json"));
    assert_true(write_results(results_path));
    assert_true(write_comparison(comparison_path));
    fail_each(write_results, "again.json", bytes_of(results_path));
    fail_each(write_comparison, "again.json", bytes_of(comparison_path));
}

static void reports_are_whole_or_none(void **state)
{
    (void)state;
    size_t whole = 0, length = 0;
    unsigned failed = 0;
    assert_true(make_report(&whole));
    for (unsigned n = 1;; n++) {
        asked = 0;
        fails_at = n;
        const bool ok = make_report(&length);
        fails_at = 0;
        if (ok)
            assert_int_equal(length, whole);
        else
            assert_int_equal(error.kind, WFI_IO_NO_MEMORY);
        failed += !ok;
        if (asked < n)
            break;
    }
    assert_true(failed > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_whole_or_not_there),
        cmocka_unit_test(reports_are_whole_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, test_files_remove);
}
