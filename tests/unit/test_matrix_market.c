/* The Matrix Market reader: each form of the format, each way to break it, and damaged copies. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "files.h"
#include "io/matrix_market.h"

#define BANNER "%%MatrixMarket matrix "

static wfi_io_error error;

static bool read_text(const char *text, wfi_csr *csr)
{
    memset(&error, 0, sizeof error);
    return wfi_matrix_market_read(test_file("m.mtx", text, strlen(text)), csr, &error);
}

static double at(const wfi_csr *csr, uint32_t row, uint32_t column)
{
    for (uint32_t i = csr->row_offsets[row]; i < csr->row_offsets[row + 1]; i++)
        if (csr->column_indices[i] == column)
            return csr->values[i];
    return 0;
}

/* The matrix as text "rows columns entries | r c v ; …", to compare whole matrices. */
static void assert_reads(const char *text, const char *expected)
{
    wfi_csr csr;
    char found[2048];
    if (!read_text(text, &csr))
        fail_msg("refused: %s", error.text);
    int n = snprintf(found, sizeof found, "%u %u %u |", csr.rows, csr.columns, csr.entries);
    for (uint32_t row = 0; row < csr.rows; row++)
        for (uint32_t i = csr.row_offsets[row]; i < csr.row_offsets[row + 1]; i++)
            n += snprintf(found + n, sizeof found - (size_t)n, " %u,%u=%g", row + 1,
                          csr.column_indices[i] + 1, csr.values[i]);
    assert_string_equal(found, expected);
    wfi_csr_free(&csr);
}

static void reads_every_form(void **state)
{
    (void)state;
    assert_reads(BANNER "coordinate real general\n3 4 3\n3 1 -2.5\n1 4 1e2\n1 2 7\n",
                 "3 4 3 | 1,2=7 1,4=100 3,1=-2.5");
    assert_reads(BANNER "coordinate integer general\n2 2 1\n2 1 -9\n", "2 2 1 | 2,1=-9");
    assert_reads(BANNER "coordinate pattern general\n2 3 2\n1 3\n2 1\n", "2 3 2 | 1,3=1 2,1=1");
    assert_reads(BANNER "coordinate real symmetric\n2 2 2\n1 1 5\n2 1 3\n",
                 "2 2 3 | 1,1=5 1,2=3 2,1=3");
    assert_reads(BANNER "coordinate real skew-symmetric\n3 3 1\n3 1 4\n", "3 3 2 | 1,3=-4 3,1=4");
    assert_reads(BANNER "coordinate real hermitian\n2 2 1\n2 1 3\n", "2 2 2 | 1,2=3 2,1=3");
    assert_reads(BANNER "coordinate pattern symmetric\n2 2 1\n2 1\n", "2 2 2 | 1,2=1 2,1=1");
    assert_reads(BANNER "array real general\n2 2\n1\n0\n3\n4\n", "2 2 3 | 1,1=1 1,2=3 2,2=4");
    assert_reads(BANNER "array integer symmetric\n2 2\n1\n2\n3\n",
                 "2 2 4 | 1,1=1 1,2=2 2,1=2 2,2=3");
    assert_reads(BANNER "array real skew-symmetric\n3 3\n1\n2\n3\n",
                 "3 3 6 | 1,2=-1 1,3=-2 2,1=1 2,3=-3 3,1=2 3,2=3");
    assert_reads(BANNER "array real general\n3 0\n", "3 0 0 |");
    assert_reads(BANNER "coordinate real general\n0 0 0\n", "0 0 0 |");
}

static void reads_free_layout(void **state)
{
    (void)state;
    assert_reads("%%matrixmarket MATRIX Coordinate Double General\r\n% c\r\n\r\n"
                 "  2   2\t1 \r\n%more\r\n\r\n\t 1  +2   1.5D+1  \r\n\r\n% end\r\n",
                 "2 2 1 | 1,2=15");
    /* no newline at the end */
    assert_reads(BANNER "coordinate real general\n1 1 1\n1 1 .5", "1 1 1 | 1,1=0.5");
}

static void sums_duplicates(void **state)
{
    (void)state;
    assert_reads(BANNER "coordinate real general\n2 2 5\n2 1 1\n1 1 2\n2 1 10\n1 2 0\n2 1 100\n",
                 "2 2 3 | 1,1=2 1,2=0 2,1=111");
    assert_reads(BANNER "coordinate real symmetric\n2 2 2\n2 1 1\n1 2 5\n", "2 2 2 | 1,2=6 2,1=6");
}

static const struct {
    const char *text, *message;
} bad[] = {
    {"", "the file is empty"},
    {"hello\n", "m.mtx:1: the first line must begin with %%MatrixMarket (found 'hello')"},
    {"%%MatrixMarket\n", "five words"},
    {"%%MatrixMarket vector coordinate real general\n1 1\n", "object must be 'matrix'"},
    {BANNER "sparse real general\n", "found 'sparse'"},
    {BANNER "coordinate quaternion general\n", "found 'quaternion'"},
    {BANNER "coordinate real lopsided\n", "found 'lopsided'"},
    {BANNER "coordinate real general yes\n1 1 0\n", "text after the banner"},
    {BANNER "array pattern general\n1 1\n", "pattern matrix must be coordinate"},
    {BANNER "coordinate pattern skew-symmetric\n1 1 0\n", "pattern matrix must be"},
    {BANNER "coordinate real general\n", "ends before the size line"},
    {BANNER "coordinate real general\n2 2\n", "m.mtx:2: the size line must be"},
    {BANNER "coordinate real general\n2 2 x\n", "found '2 2 x'"},
    {BANNER "coordinate real general\n-2 2 0\n", "size line"},
    {BANNER "coordinate real general\n2 2 1 1\n1 1 1\n", "size line"},
    {BANNER "coordinate real symmetric\n2 3 0\n", "must be square"},
    {BANNER "coordinate real general\n1099511627776 2 0\n", "2147483647"},
    {BANNER "coordinate real general\n99999999999999999999 2 0\n", "size line"},
    {BANNER "coordinate real general\n2 2 99999999999\n1 1 1\n", "4294967295 entries"},
    {BANNER "coordinate real general\n2 2 2\n1 1 1\n", "ends after 1 of 2 entries"},
    {BANNER "coordinate real general\n2 2 4294967295\n1 1 1\n", "ends after 1 of 4294967295"},
    {BANNER "coordinate real general\n2 2 1\n1 1 1\n2 2 2\n", "m.mtx:4: there are more entries"},
    {BANNER "coordinate real general\n2 2 1\n0 1 1\n", "m.mtx:3: row index '0' is not between 1"},
    {BANNER "coordinate real general\n2 2 1\n1 3 1\n", "column index '3' is not between 1 and 2"},
    {BANNER "coordinate real general\n2 2 1\n-1 1 1\n", "row index '-1'"},
    {BANNER "coordinate real general\n2 2 1\n1.5 1 1\n", "row index '1.5'"},
    {BANNER "coordinate real general\n2 2 1\n18446744073709551617 1 1\n", "row index"},
    {BANNER "coordinate real general\n2 2 1\n1\n", "a column index is missing"},
    {BANNER "coordinate real general\n2 2 1\n1 1\n", "a value is missing"},
    {BANNER "coordinate real general\n2 2 1\n1 1 nan\n", "m.mtx:3: 'nan' is not a finite number"},
    {BANNER "coordinate real general\n2 2 1\n1 1 -Inf\n", "'-Inf' is not a finite number"},
    {BANNER "coordinate real general\n2 2 1\n1 1 0x10\n", "'0x10'"},
    {BANNER "coordinate real general\n2 2 1\n1 1 1e999\n", "too large for a 64-bit float"},
    {BANNER "coordinate real general\n2 2 1\n1 1 1e\n", "'1e' is not a number"},
    {BANNER "coordinate real general\n2 2 1\n1 1 1-2\n", "not a number"},
    {BANNER "coordinate integer general\n2 2 1\n1 1 1.5\n", "not an integer"},
    {BANNER "coordinate real general\n2 2 1\n1 1 1 2\n", "text after the entry ('2')"},
    {BANNER "coordinate pattern general\n2 2 1\n1 1 1\n", "text after the entry"},
    {BANNER "array real general\n2 2\n1\n2\n3\n", "ends after 3 of 4"},
    {BANNER "array real general\n1 2\n1 2\n", "text after the entry"},
    {BANNER "coordinate real general\n2 2 2\n1 1 1e308\n1 1 1e308\n", "add up beyond"},
};

static void refuses_with_file_line_and_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        wfi_csr csr;
        if (read_text(bad[i].text, &csr))
            fail_msg("accepted: %s", bad[i].text);
        assert_int_equal(error.kind, WFI_IO_BAD_INPUT);
        if (!strstr(error.text, bad[i].message))
            fail_msg("said '%s', not '%s'", error.text, bad[i].message);
        assert_null(strchr(error.text, '\n'));
    }
}

static void refuses_complex_as_unsupported(void **state)
{
    (void)state;
    wfi_csr csr;
    assert_false(read_text(BANNER "coordinate complex general\n1 1 1\n1 1 1 0\n", &csr));
    assert_int_equal(error.kind, WFI_IO_UNSUPPORTED);
    assert_false(wfi_matrix_market_read(test_path("none.mtx"), &csr, &error));
    assert_int_equal(error.kind, WFI_IO_SYSTEM);
}

static void reads_gzip_by_content(void **state)
{
    (void)state;
    const char *text = BANNER "coordinate real general\n2 2 1\n2 2 3\n";
    const char *path = test_path("m.gz");
    wfi_csr csr;
    gzFile file = gzopen(path, "wb");
    assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), (int)strlen(text));
    gzclose(file);
    assert_true(wfi_matrix_market_read(path, &csr, &error));
    assert_float_equal(at(&csr, 1, 1), 3, 0);
    wfi_csr_free(&csr);
    size_t bytes;
    char *packed = test_read(path, &bytes);
    packed[bytes - 6] ^= 0x55; /* the checksum */
    assert_false(wfi_matrix_market_read(test_file("bad.gz", packed, bytes), &csr, &error));
    assert_non_null(strstr(error.text, "gzip"));
    assert_false(wfi_matrix_market_read(test_file("cut.gz", packed, bytes - 12), &csr, &error));
    free(packed);
}

/* Thousands of cut and flipped copies: each is read or refused with one line, under ASan in CI. */
static void survives_damage(void **state)
{
    (void)state;
    const char *whole = BANNER "coordinate real symmetric\n% comment\n40 40 6\n"
                               "1 1 1.25\n40 3 -7e-3\n12 11 100\n13 13 0\n39 1 1e10\n7 7 3\n";
    const size_t length = strlen(whole);
    char copy[512];
    uint32_t random = 12345, accepted = 0;
    for (int n = 0; n < 4000; n++) {
        size_t bytes = length;
        memcpy(copy, whole, length);
        for (int flips = n % 4; flips >= 0; flips--) {
            random = random * 1664525u + 1013904223u;
            copy[(random >> 8) % length] = (char)(random >> 24);
        }
        if (n % 3 == 0)
            bytes = (random >> 4) % length;
        wfi_csr csr;
        error.text[0] = '\0';
        if (wfi_matrix_market_read(test_file("d.mtx", copy, bytes), &csr, &error)) {
            accepted++;
            wfi_csr_free(&csr);
        } else {
            assert_true(error.text[0] != '\0' && !strchr(error.text, '\n'));
        }
    }
    assert_true(accepted < 2000);
}

static uint32_t asked, allowed;

static bool stopped(void)
{
    return asked++ >= allowed;
}

/* Making a matrix asks whether to go on, while entries are added and while they are sorted. */
static void making_stops(void **state)
{
    enum { ENTRIES = 1 << 18, ROWS = 1000 };
    (void)state;
    for (uint32_t most = 0;; most++) {
        wfi_triplets triplets = {.stopped = stopped};
        wfi_csr csr = {0};
        bool ok = true;
        uint32_t n = 0;
        asked = 0;
        allowed = most;
        for (; n < ENTRIES && ok; n++)
            ok = wfi_triplets_add(&triplets, n % ROWS, n / ROWS, 1);
        const uint32_t adding = asked;
        assert_true(ok == (adding <= most));
        ok = ok && wfi_csr_from_triplets(&triplets, ROWS, ENTRIES / ROWS + 1, &csr);
        assert_true(ok == (asked <= most));
        if (ok) {
            assert_int_equal(csr.entries, ENTRIES);
            assert_true(adding == 1 && asked == 4); /* two sorts and a merge */
        } else {
            assert_null(csr.values);
        }
        wfi_csr_free(&csr);
        wfi_triplets_free(&triplets);
        if (ok)
            return;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_form),
        cmocka_unit_test(reads_free_layout),
        cmocka_unit_test(sums_duplicates),
        cmocka_unit_test(refuses_with_file_line_and_value),
        cmocka_unit_test(refuses_complex_as_unsupported),
        cmocka_unit_test(reads_gzip_by_content),
        cmocka_unit_test(making_stops),
        cmocka_unit_test(survives_damage),
    };
    return cmocka_run_group_tests(tests, NULL, test_files_remove);
}
