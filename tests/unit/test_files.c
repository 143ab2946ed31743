/* .npy files, 16-bit floats, files that appear whole, and the results file. */
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "files.h"
#include "io/atomic_file.h"
#include "io/comparison.h"
#include "io/npy.h"
#include "io/results.h"
#include "io/results_read.h"
#include "io/unfinished.h"

static wfi_io_error error;

/* A .npy file from its parts; version 1 unless the header begins with a digit and a colon. */
static const char *make_npy(const char *header, const void *data, size_t bytes)
{
    unsigned char file[4096];
    const size_t length = strlen(header);
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (unsigned char)(length & 0xff);
    file[9] = (unsigned char)(length >> 8);
    memcpy(file + 10, header, length);
    memcpy(file + 10 + length, data, bytes);
    return test_file("a.npy", file, 10 + length + bytes);
}

static void npy_round_trips(void **state)
{
    (void)state;
    const double data[6] = {1.5, -2, 3e100, 4, 5, 6};
    const uint64_t shape[2] = {2, 3};
    const char *path = test_path("r.npy");
    wfi_npy npy;
    assert_true(wfi_npy_write(path, WF_TYPE_F64, 2, shape, data, &error));
    assert_true(wfi_npy_read(path, &npy, &error));
    assert_int_equal(npy.type, WF_TYPE_F64);
    assert_int_equal(npy.dimensions, 2);
    assert_true(npy.shape[0] == 2 && npy.shape[1] == 3 && !npy.fortran_order);
    assert_memory_equal(npy.data, data, sizeof data);
    uint64_t lost = 0;
    float *single = wfi_npy_convert(&npy, WF_TYPE_F32, &lost);
    assert_true(lost == 1 && isinf(single[2]) && single[1] == -2);
    free(single);
    wfi_npy_free(&npy);
    /* what NumPy demands of the header */
    size_t bytes;
    char *raw = test_read(path, &bytes);
    const size_t header = (unsigned char)raw[8] + 256u * (unsigned char)raw[9];
    assert_int_equal((header + 10) % 64, 0);
    assert_int_equal(raw[9 + header], '\n');
    assert_memory_equal(raw + 10, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }",
                        59);
    assert_int_equal(bytes, 10 + header + sizeof data);
    free(raw);
    /* NumPy has no bfloat16 */
    assert_false(wfi_npy_write(path, WF_TYPE_BF16, 1, shape, data, &error));
    assert_int_equal(error.kind, WFI_IO_UNSUPPORTED);
}

static void npy_reads_other_layouts(void **state)
{
    (void)state;
    const float columns[6] = {1, 4, 2, 5, 3, 6};
    const uint16_t halves[3] = {0x3c00, 0xc000, 0x7c00};
    wfi_npy npy;
    assert_true(wfi_npy_read(
        make_npy("{\"shape\":(2,3),'fortran_order': True,'descr':'<f4'}\n", columns, 24), &npy,
        &error));
    double *rows = wfi_npy_convert(&npy, WF_TYPE_F64, NULL);
    for (int i = 0; i < 6; i++)
        assert_float_equal(rows[i], i + 1, 0);
    free(rows);
    wfi_npy_free(&npy);
    assert_true(wfi_npy_read(
        make_npy("{'descr': '<f2', 'fortran_order': False, 'shape': (3,), }", halves, 6), &npy,
        &error));
    assert_int_equal(npy.dimensions, 1);
    float *values = wfi_npy_convert(&npy, WF_TYPE_F32, NULL);
    assert_true(values[0] == 1 && values[1] == -2 && isinf(values[2]));
    free(values);
    wfi_npy_free(&npy);
    assert_true(wfi_npy_read(
        make_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", columns, 4), &npy,
        &error));
    assert_true(npy.dimensions == 0 && npy.shape[0] * npy.shape[1] == 1);
    wfi_npy_free(&npy);
}

static void npy_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *header, *message;
        size_t bytes;
    } bad[] = {
        {"{'descr': '<g8', 'fortran_order': False, 'shape': (1,)}", "'<g8' (of a kind", 8},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", "do not match", 8},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", "do not match", 16},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1)}",
         "more than 4 dimensions", 8},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
         "do not match", 8},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}", "too large",
         8},
        {"{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}", "neither True nor False", 8},
        {"{'descr': '<f8', 'fortran_order': False}", "missing", 8},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'x': 1}", "unknown", 8},
        {"{'descr': '<f8", "does not end", 8},
        {"nonsense", "no dictionary", 8},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", "list of sizes", 8},
    };
    const double data[2] = {1, 2};
    wfi_npy npy;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *path = make_npy(bad[i].header, data, bad[i].bytes);
        if (wfi_npy_read(path, &npy, &error))
            fail_msg("accepted: %s", bad[i].header);
        if (!strstr(error.text, bad[i].message) || !strstr(error.text, "a.npy"))
            fail_msg("said '%s', not '%s'", error.text, bad[i].message);
    }
    assert_false(wfi_npy_read(test_file("b.npy", "PK\x03\x04 not numpy", 14), &npy, &error));
    assert_false(wfi_npy_read(test_file("c.npy", "\x93NUMPY\x01\x00\xff\xff{", 11), &npy, &error));
    assert_false(wfi_npy_read(test_file("d.npy", "\x93NUMPY\x09\x00\x01\x00{", 11), &npy, &error));
    assert_false(wfi_npy_read(test_path("none.npy"), &npy, &error));
    assert_int_equal(error.kind, WFI_IO_SYSTEM);
}

/* Large enough for pages of their own behind the header's. */
#define MAPPED 20000

static char *make_mapped(float *values)
{
    const uint64_t shape[2] = {MAPPED, 1};
    for (int i = 0; i < MAPPED; i++)
        values[i] = (float)i * 0.5f;
    char *path = strdup(test_path("mapped.npy"));
    assert_non_null(path);
    assert_true(wfi_npy_write(path, WF_TYPE_F32, 1, shape, values, &error));
    return path;
}

static void npy_is_mapped(void **state)
{
    static float values[MAPPED];
    wfi_npy npy = {0};
    uint64_t lost = 1;
    size_t before = 0, after = 0;
    (void)state;
    char *path = make_mapped(values), *content = test_read(path, &before);
    assert_true(wfi_npy_read(path, &npy, &error));
    assert_non_null(npy.mapping.memory);
    const void *data = npy.data;
    assert_memory_equal(data, values, sizeof values);
    assert_true(wfi_npy_become(&npy, WF_TYPE_F32, &lost));
    assert_true(npy.data == data && lost == 0);
    ((float *)npy.data)[7] = -1; /* this process's own */
    char *again = test_read(path, &after);
    assert_true(before == after && memcmp(content, again, before) == 0);
    ((float *)npy.data)[7] = values[7];
    assert_true(wfi_npy_become(&npy, WF_TYPE_F64, &lost));
    assert_null(npy.mapping.memory);
    for (int i = 0; i < MAPPED; i++)
        assert_true(((double *)npy.data)[i] >= (double)values[i] &&
                    ((double *)npy.data)[i] <= (double)values[i]);
    wfi_npy_free(&npy);
    /* One byte too few, elements that stand between others' places, and none at all. */
    assert_int_equal(truncate(path, (off_t)before - 1), 0);
    assert_false(wfi_npy_read(path, &npy, &error));
    assert_non_null(strstr(error.text, "do not match"));
    assert_true(wfi_npy_read(
        make_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", values, 12), &npy,
        &error));
    assert_memory_equal(npy.data, values, 12);
    wfi_npy_free(&npy);
    assert_true(wfi_npy_read(
        make_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4)}", values, 0), &npy,
        &error));
    assert_null(npy.mapping.memory);
    wfi_npy_free(&npy);
    free(content);
    free(again);
    free(path);
}

/* What is gone when it is looked at ends the program with a line, not with a signal. */
static void npy_that_shrinks_is_an_error(void **state)
{
    static float values[MAPPED];
    char line[256] = "";
    int ends[2], status = 0;
    (void)state;
    char *path = make_mapped(values);
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        wfi_npy npy;
        uint64_t lost;
        dup2(ends[1], STDERR_FILENO);
        if (!wfi_npy_read(path, &npy, &error) || !npy.mapping.memory || truncate(path, 4096) != 0)
            _exit(40);
        wfi_npy_become(&npy, WF_TYPE_F64, &lost);
        _exit(41);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(read(ends[0], line, sizeof line - 1) > 0);
    close(ends[0]);
    close(ends[1]);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    if (!strstr(line, "mapped.npy: the file became shorter while it was read\n"))
        fail_msg("said '%s'", line);
    free(path);
}

static void npy_survives_damage(void **state)
{
    (void)state;
    const double data[2] = {1, 2};
    size_t length;
    char *whole = test_read(
        make_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n", data, 16), &length);
    uint32_t random = 777;
    for (int n = 0; n < 3000; n++) {
        char copy[256];
        wfi_npy npy;
        memcpy(copy, whole, length);
        random = random * 1664525u + 1013904223u;
        copy[(random >> 8) % length] = (char)(random >> 24);
        const size_t bytes = n % 2 ? length : (random >> 5) % length;
        if (wfi_npy_read(test_file("e.npy", copy, bytes), &npy, &error))
            wfi_npy_free(&npy);
    }
    free(whole);
}

static double half_value(uint16_t bits)
{
    return wf_element_get(WF_TYPE_F16, &bits, 0);
}

static uint16_t half_bits(double value)
{
    uint16_t bits = 0;
    wf_element_set(WF_TYPE_F16, &bits, 0, value);
    return bits;
}

static void halves_are_exact(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        const double value = half_value((uint16_t)h);
        if (isnan(value))
            assert_true(isnan(half_value(half_bits(value))));
        else
            assert_int_equal(half_bits(value), h);
    }
    /* half way between neighbours goes to the even one; a little beyond, to the nearer */
    for (uint16_t h = 0; h < 0x7bff; h++) {
        const double low = half_value(h), high = half_value(h + 1);
        const double middle = (low + high) / 2;
        assert_int_equal(half_bits(middle), h % 2 ? h + 1 : h);
        assert_int_equal(half_bits(nextafter(middle, 0)), h);
        assert_int_equal(half_bits(nextafter(middle, INFINITY)), h + 1);
    }
    assert_int_equal(half_bits(65519.99), 0x7bff);
    assert_int_equal(half_bits(65520), 0x7c00);
    assert_int_equal(half_bits(-1e300), 0xfc00);
    assert_int_equal(half_bits(1e-300), 0);
}

static void old_file_stays_on_full_disk(void **state)
{
    (void)state;
    const char *old = "the old content";
    char path[256];
    double *data = calloc(65536, sizeof *data);
    const uint64_t shape[2] = {65536, 1};
    const struct rlimit small = {4096, RLIM_INFINITY};
    const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    snprintf(path, sizeof path, "%s", test_file("keep.npy", old, strlen(old)));
    const int files = test_file_count();
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const bool ok = wfi_npy_write(path, WF_TYPE_F64, 1, shape, data, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    free(data);
    assert_false(ok);
    assert_non_null(strstr(error.text, "keep.npy: cannot be written"));
    char *content = test_read(path, NULL);
    assert_string_equal(content, old);
    free(content);
    assert_int_equal(test_file_count(), files); /* no temporary left */
}

static void unwritable_places_are_refused(void **state)
{
    (void)state;
    wfi_atomic_file out;
    struct stat there;
    assert_false(wfi_atomic_open(&out, "/dev/null/x", &error));
    assert_non_null(strstr(error.text, "/dev/null/x"));
    assert_false(wfi_atomic_open(&out, "/tmp", &error));
    /* a device is written to, not replaced by a file */
    assert_true(wfi_atomic_open(&out, "/dev/full", &error));
    wfi_atomic_write(&out, "text", 4);
    assert_false(wfi_atomic_commit(&out, &error));
    assert_non_null(strstr(error.text, "No space left"));
    assert_int_equal(stat("/dev/full", &there), 0);
    assert_true(S_ISCHR(there.st_mode));
    assert_true(wfi_atomic_open(&out, test_path("gone"), &error));
    const int files = test_file_count(), named = out.nameless ? 0 : 1;
    wfi_atomic_abandon(&out);
    assert_int_equal(test_file_count(), files - named);
}

static void results_are_written_and_checked(void **state)
{
    (void)state;
    static wf_caps caps = {.name = "A <b>\xff\"device\"", .max_invocations = 128};
    static wfi_result_case cases[2];
    char *argv[] = {"wavefit", "bench"};
    char path[256];
    uint32_t count = 0;
    wfi_result_case_init(&cases[0], "matmul");
    wfi_result_case_fact(&cases[0], "m", 4096);
    cases[0].has_timing = true;
    cases[0].timing = (wf_timing){.median_us = 1.5, .count = 1, .samples_us = {1.5}};
    cases[0].rate = 12.5;
    cases[0].rate_unit = "GFLOPS";
    wfi_result_case_init(&cases[1], "spmv");
    cases[1].status = WFI_STATUS_UNSUPPORTED;
    snprintf(cases[1].reason, sizeof cases[1].reason, "no 64-bit floats");
    const wfi_results results = {2, argv, &caps, 1e10, (double)NAN, 2, cases, 0, NULL, 1};
    snprintf(path, sizeof path, "%s", test_path("results.json"));
    if (!wfi_results_write(path, &results, &error))
        fail_msg("%s", error.text);
    assert_true(wfi_results_validate(path, &count, &error));
    assert_int_equal(count, 2);
    size_t bytes;
    char *text = test_read(path, &bytes);
    assert_non_null(strstr(text, "\"status\": \"unsupported\""));
    assert_non_null(strstr(text, "\"reason\": \"no 64-bit floats\""));
    assert_non_null(strstr(text, "\"copy_gbs\": 10"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "fma_f32")); /* not measured: not there */
    assert_null(strstr(text, "percent"));
    assert_false(wfi_results_validate(test_file("cut.json", text, bytes / 2), &count, &error));
    assert_int_equal(error.kind, WFI_IO_BAD_INPUT);
    char *schema = strstr(text, "results/2");
    schema[8] = '9';
    assert_false(wfi_results_validate(test_file("new.json", text, bytes), &count, &error));
    assert_int_equal(error.kind, WFI_IO_UNSUPPORTED);
    assert_false(wfi_results_validate(test_file("other.json", "{\"a\":1}", 7), &count, &error));
    free(text);
}

static void count_differences(void *user, const char *name, const char *verdict, double base_us,
                              double us)
{
    (void)base_us, (void)us;
    assert_string_equal(verdict, "slower");
    snprintf(user, 512, "%s", name);
}

#define OLD_CASES                                                                                  \
    "{\"schema\": \"wavefit-results/1\", \"device\": {\"name\": \"x\"}, \"cases\": ["              \
    "{\"family\": \"stencil\", \"name\": \"himeno S\", \"type\": \"f32\", \"status\": \"ok\","     \
    " \"time_us\": {\"median\": 1, \"q1\": 1, \"q3\": 1, \"spread\": 0}},"                         \
    "{\"family\": \"grid\", \"name\": \"64x64\", \"type\": \"f32\", \"status\": \"ok\","           \
    " \"time_us\": {\"median\": 1, \"q1\": 1, \"q3\": 1, \"spread\": 0}},"                         \
    "{\"family\": \"matmul\", \"name\": \"8^3\", \"type\": \"f32\", \"status\": \"ok\","           \
    " \"variant\": \"teams\", \"constants\": {\"splits\": 4, \"tile_m\": 8},"                      \
    " \"study\": {\"kind\": \"sweep\", \"over\": \"splits\", \"step\": 1},"                        \
    " \"tuned\": {\"before\": {\"variant\": \"split\", \"constants\": {\"strip\": 2}}},"           \
    " \"time_us\": {\"median\": 1, \"q1\": 1, \"q3\": 1, \"spread\": 0}}]}"

#define NEW_CASES                                                                                  \
    "{\"schema\": \"wavefit-results/2\", \"device\": {\"name\": \"x\"}, \"cases\": ["              \
    "{\"family\": \"himeno\", \"name\": \"himeno S\", \"type\": \"f32\", \"status\": \"ok\","      \
    " \"time_us\": {\"median\": 1, \"q1\": 1, \"q3\": 1, \"spread\": 0}},"                         \
    "{\"family\": \"stencil\", \"name\": \"64x64\", \"type\": \"f32\", \"status\": \"ok\","        \
    " \"time_us\": {\"median\": 1, \"q1\": 1, \"q3\": 1, \"spread\": 0}},"                         \
    "{\"family\": \"matmul\", \"name\": \"8^3\", \"type\": \"f32\", \"status\": \"ok\","           \
    " \"variant\": \"subgroup_k\","                                                                \
    " \"study\": {\"kind\": \"sweep\", \"over\": \"split_k\", \"step\": 1},"                       \
    " \"time_us\": {\"median\": 3, \"q1\": 3, \"q3\": 3, \"spread\": 0}}]}"

/* Results of schema 1 match those of schema 2 case by case, and come with the present names. */
static void old_results_match_new_ones(void **state)
{
    (void)state;
    wfi_comparison compared;
    size_t length = 0;
    char old[512], now[512], slower[512] = "";
    snprintf(old, sizeof old, "%s", test_file("old.json", OLD_CASES, sizeof OLD_CASES - 1));
    snprintf(now, sizeof now, "%s", test_file("now.json", NEW_CASES, sizeof NEW_CASES - 1));
    wfi_report *report = wfi_report_create();
    assert_true(wfi_report_add(report, now, &error));
    assert_true(wfi_report_compare(report, old, count_differences, slower, &compared, &error));
    assert_int_equal(compared.compared, 3);
    assert_int_equal(compared.missing, 0);
    assert_int_equal(compared.slower, 1);
    assert_string_equal(slower, "matmul 8^3 f32 sweep subgroup_k split_k 1");
    wfi_report_destroy(&report);
    report = wfi_report_create();
    assert_true(wfi_report_add(report, old, &error));
    char *json = wfi_report_json(report, &length);
    assert_non_null(json);
    assert_null(strstr(json, "\"grid\""));
    assert_null(strstr(json, "results/1"));
    assert_non_null(strstr(json, "\"family\":\"himeno\""));
    assert_non_null(
        strstr(json, "\"variant\":\"subgroup_k\",\"constants\":{\"split_k\":4,\"tile_m\":8}"));
    assert_non_null(strstr(json, "\"variant\":\"f16x2\",\"constants\":{\"swizzle\":2}"));
    free(json);
    wfi_report_destroy(&report);
}

#define OLD_COMPARISON                                                                             \
    "{\"schema\": \"wavefit-comparison/1\", \"device\": {\"name\": \"x\", \"driver\": \"y\"},"     \
    " \"comparisons\": [{\"family\": \"spmv\", \"type\": \"f32\", \"problem\": \"p\", \"rivals\":" \
    " {\"model\": {\"us\": 2, \"point\": \"equal local_x=256 turns=2 team=8 long_turns=1\"}}}]}"

static void old_comparisons_give_present_names(void **state)
{
    (void)state;
    wfi_comparison_file file;
    const char *path = test_file("compared.json", OLD_COMPARISON, sizeof OLD_COMPARISON - 1);
    if (!wfi_comparison_read(path, &file, &error))
        fail_msg("%s", error.text);
    assert_int_equal(file.count, 1);
    assert_string_equal(file.items[0].rivals[0].point,
                        "equal local_x=256 loads=2 row_subgroups=8 long_loads=1");
    wfi_comparison_free(&file);
}

/* What stands at the path hands on its rights, and a link stays one. */
static void replaced_files_keep_rights_and_links(void **state)
{
    (void)state;
    wfi_atomic_file out;
    struct stat before, after;
    char target[512], link[512], dangling[512];
    snprintf(target, sizeof target, "%s", test_file("target", "old", 3));
    snprintf(link, sizeof link, "%s", test_path("link"));
    snprintf(dangling, sizeof dangling, "%s", test_path("dangling"));
    assert_int_equal(chmod(target, 0640), 0);
    if (geteuid() == 0)
        assert_int_equal(chown(target, 12345, 23456), 0);
    assert_int_equal(stat(target, &before), 0);
    assert_int_equal(symlink("target", link), 0);
    assert_int_equal(symlink("made", dangling), 0);
    for (int i = 0; i < 2; i++) {
        assert_true(wfi_atomic_open(&out, i ? dangling : link, &error));
        wfi_atomic_write(&out, "new!", 4);
        assert_true(wfi_atomic_commit(&out, &error));
    }
    assert_int_equal(lstat(link, &after), 0);
    assert_true(S_ISLNK(after.st_mode));
    assert_int_equal(lstat(dangling, &after), 0);
    assert_true(S_ISLNK(after.st_mode));
    assert_int_equal(stat(test_path("made"), &after), 0);
    assert_int_equal(after.st_size, 4);
    assert_int_equal(stat(target, &after), 0);
    assert_int_equal(after.st_size, 4);
    assert_int_equal(after.st_mode, before.st_mode);
    assert_int_equal(after.st_uid, before.st_uid);
    assert_int_equal(after.st_gid, before.st_gid);
    /* A circle. */
    snprintf(dangling, sizeof dangling, "%s", test_path("circle"));
    assert_int_equal(symlink("circle", dangling), 0);
    assert_false(wfi_atomic_open(&out, dangling, &error));
}

/* Ends a child in the midst of a file, and returns how many files beside `path` were there then. */
static int end_while_writing(int number, const char *path, bool by_atomic)
{
    char temporary[600], pattern[600], byte;
    glob_t found;
    int ready[2], status = 0;
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    snprintf(pattern, sizeof pattern, "%s.*", path);
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        wfi_atomic_file out;
        signal(number, SIG_DFL);
        if (by_atomic ? !wfi_atomic_open(&out, path, &error) : wfi_unfinished_make(temporary) < 0)
            _exit(1);
        if (write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    const int there = glob(pattern, 0, NULL, &found) == 0 ? (int)found.gl_pathc : 0;
    globfree(&found);
    assert_int_equal(kill(child, number), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == number);
    close(ready[0]);
    close(ready[1]);
    return there;
}

/* A signal that ends the program in the midst of a file leaves none but what was there: without a
 * name no signal at all, and a temporary none that can be handled. */
static void signals_leave_no_temporaries(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGKILL};
    char path[512], pattern[600];
    glob_t found;
    snprintf(path, sizeof path, "%s", test_path("signalled"));
    snprintf(pattern, sizeof pattern, "%s*", path);
    for (int i = 0; i < 4; i++) {
        const int there = end_while_writing(signals[i], path, true);
        if (signals[i] != SIGKILL) {
            assert_int_equal(end_while_writing(signals[i], path, false), 1);
        } else if (there) {
            print_message("no nameless files here: SIGKILL leaves a temporary\n");
            break;
        }
        assert_int_equal(glob(pattern, 0, NULL, &found), GLOB_NOMATCH);
    }
    /* Afterwards signals are as they were. */
    struct sigaction now;
    assert_int_equal(sigaction(SIGTERM, NULL, &now), 0);
    assert_true(now.sa_handler == SIG_DFL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(npy_round_trips),
        cmocka_unit_test(npy_reads_other_layouts),
        cmocka_unit_test(npy_refuses),
        cmocka_unit_test(npy_is_mapped),
        cmocka_unit_test(npy_that_shrinks_is_an_error),
        cmocka_unit_test(npy_survives_damage),
        cmocka_unit_test(halves_are_exact),
        cmocka_unit_test(old_file_stays_on_full_disk),
        cmocka_unit_test(unwritable_places_are_refused),
        cmocka_unit_test(results_are_written_and_checked),
        cmocka_unit_test(old_results_match_new_ones),
        cmocka_unit_test(old_comparisons_give_present_names),
        cmocka_unit_test(replaced_files_keep_rights_and_links),
        cmocka_unit_test(signals_leave_no_temporaries),
    };
    return cmocka_run_group_tests(tests, NULL, test_files_remove);
}
