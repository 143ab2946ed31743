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
#include "core/random.h"

#define BANNER "%%MatrixMarket matrix "

static wfi_io_error error;

static bool read_text(const char *text, wfi_csr *csr)
{
    memset(&error, 0, sizeof error);
    return wfi_matrix_market_read(test_file("m.mtx", text, strlen(text)), csr, &error);
}

/* The same with a long comment behind it: lines are then read where they lie in the buffer. */
static bool read_followed(const char *text, wfi_csr *csr)
{
    static char longer[4096];
    assert_true(strlen(text) + 300 < sizeof longer);
    snprintf(longer, sizeof longer, "%s\n%%%250s\n", text, "");
    return read_text(longer, csr);
}

static double at(const wfi_csr *csr, uint32_t row, uint32_t column)
{
    for (uint32_t i = csr->row_offsets[row]; i < csr->row_offsets[row + 1]; i++)
        if (csr->column_indices[i] == column)
            return csr->values[i];
    return 0;
}

/* The matrix as text "rows columns entries | r c v ; …", to compare whole matrices. */
static void assert_reads_by(bool (*read)(const char *text, wfi_csr *csr), const char *text,
                            const char *expected)
{
    wfi_csr csr;
    char found[2048];
    if (!read(text, &csr))
        fail_msg("refused: %s", error.text);
    int n = snprintf(found, sizeof found, "%u %u %u |", csr.rows, csr.columns, csr.entries);
    for (uint32_t row = 0; row < csr.rows; row++)
        for (uint32_t i = csr.row_offsets[row]; i < csr.row_offsets[row + 1]; i++)
            n += snprintf(found + n, sizeof found - (size_t)n, " %u,%u=%g", row + 1,
                          csr.column_indices[i] + 1, csr.values[i]);
    assert_string_equal(found, expected);
    wfi_csr_free(&csr);
}

static void assert_reads(const char *text, const char *expected)
{
    assert_reads_by(read_text, text, expected);
    assert_reads_by(read_followed, text, expected);
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
    assert_reads(BANNER "coordinate real general\n2 2 2\n1 1 -0\r\n2 2 1 \n",
                 "2 2 2 | 1,1=-0 2,2=1");
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
    for (size_t n = 0; n < 2 * sizeof bad / sizeof *bad; n++) {
        const size_t i = n / 2;
        wfi_csr csr;
        if (n % 2 && !*bad[i].text) /* with a comment behind it, it is not empty */
            continue;
        if (n % 2 ? read_followed(bad[i].text, &csr) : read_text(bad[i].text, &csr))
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
#if defined(TEST_ON_WINDOWS)
#define DAMAGES 500 /* wine is slow with files */
#else
#define DAMAGES 4000
#endif

static void survives_damage(void **state)
{
    (void)state;
    const char *whole = BANNER "coordinate real symmetric\n% comment\n40 40 6\n"
                               "1 1 1.25\n40 3 -7e-3\n12 11 100\n13 13 0\n39 1 1e10\n7 7 3\n";
    const size_t length = strlen(whole);
    char copy[512];
    uint32_t random = 12345, accepted = 0;
    for (int n = 0; n < DAMAGES; n++) {
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
    assert_true(accepted < DAMAGES / 2);
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
            ok = wfi_triplets_add(&triplets, n % ROWS, (ENTRIES - 1 - n) / ROWS, 1);
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

/* ------------------------------------------------------------------------------ pieces at once */

/* Texts of numbers in every form that files have, most as programs print them. */
static int draw_number(char *text, size_t bytes, uint64_t *state)
{
    static const char *const odd[] = {"+7",
                                      ".5",
                                      "-.25e1",
                                      "3.",
                                      "1D3",
                                      "2.5d-2",
                                      "-0",
                                      "0",
                                      "-0.0",
                                      "007",
                                      "4.9e-324",
                                      "2.2250738585072011e-308",
                                      "1e-400",
                                      "1e308",
                                      "9007199254740993",
                                      "18446744073709551617",
                                      "0.1e1",
                                      "123456789012345678901234567890e-20",
                                      "1.00000000000000011102230246251565404"};
    const uint64_t bits = wfi_random_bits(state);
    double value;
    memcpy(&value, &bits, sizeof value);
    switch (wfi_random_bits(state) % 6) {
    case 0:
        return snprintf(text, bytes, "%s",
                        odd[wfi_random_bits(state) % (sizeof odd / sizeof *odd)]);
    case 1:
        return snprintf(text, bytes, "%lld", (long long)(bits >> 40) - (1 << 23));
    case 2:
        return snprintf(text, bytes, "%.17g", isfinite(value) ? value : 1.5);
    case 3:
        return snprintf(text, bytes, "%.16e", (double)(int64_t)bits * 0x1p-70);
    case 4:
        return snprintf(text, bytes, "%.*f", (int)(bits % 30), (double)(bits >> 30) * 1e-7);
    default:
        return snprintf(text, bytes, "%.6g", (double)(bits >> 44) * 1e-3);
    }
}

static double as_strtod_reads(const char *text)
{
    char copy[64];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *c = copy; *c; c++)
        if (*c == 'D' || *c == 'd')
            *c = 'e';
    return strtod(copy, NULL);
}

static void rounds_numbers_as_strtod_does(void **state)
{
    enum { NUMBERS = 20000 };
    uint64_t random = 11;
    char *text = malloc(NUMBERS * 80 + 200), number[64];
    double *expected = malloc(NUMBERS * sizeof *expected);
    wfi_csr csr;
    (void)state;
    assert_true(text && expected);
    int n = sprintf(text, "%%" BANNER "coordinate real general\n1 %d %d\n", NUMBERS, NUMBERS);
    for (int i = 0; i < NUMBERS; i++) {
        draw_number(number, sizeof number, &random);
        expected[i] = as_strtod_reads(number);
        n += sprintf(text + n, "1 %d %s\n", i + 1, number);
    }
    if (!read_text(text, &csr))
        fail_msg("refused: %s", error.text);
    assert_int_equal(csr.entries, NUMBERS);
    assert_memory_equal(csr.values, expected, NUMBERS * sizeof *expected);
    wfi_csr_free(&csr);
    free(expected);
    free(text);
}

/* A file of so many entries, with comments and blank lines between them; *lines gets where each
 * entry's line begins. */
static int draw_file(char *text, int rows, int entries, const char *symmetry, int *lines,
                     uint64_t *state)
{
    char number[64];
    int n = sprintf(text, "%%" BANNER "coordinate real %s\n%% made\n%d %d %d\n", symmetry, rows,
                    rows, entries);
    for (int i = 0; i < entries; i++) {
        const uint64_t bits = wfi_random_bits(state);
        if (bits % 9 == 0)
            n += sprintf(text + n, "%s", bits & 512 ? "\n" : "% a comment\r\n");
        draw_number(number, sizeof number, state);
        lines[i] = n;
        n += sprintf(text + n, "%d %d %s%s\n", (int)(bits >> 20 & 1023) % rows + 1,
                     (int)(bits >> 40 & 1023) % rows + 1, number, bits & 1024 ? "\r" : "");
    }
    return n;
}

static bool same_matrix(const wfi_csr *a, const wfi_csr *b)
{
    return a->rows == b->rows && a->columns == b->columns && a->entries == b->entries &&
           memcmp(a->row_offsets, b->row_offsets, (a->rows + 1) * sizeof *a->row_offsets) == 0 &&
           memcmp(a->column_indices, b->column_indices, a->entries * sizeof *a->column_indices) ==
               0 &&
           memcmp(a->values, b->values, a->entries * sizeof *a->values) == 0;
}

/* Reads the file in one piece and in several: the same matrix, or the same error. */
static void assert_same(const char *path, unsigned threads, uint64_t least, bool right)
{
    wfi_csr whole = {0}, pieces = {0};
    wfi_io_error first = {0}, second = {0};
    bool parted = false, unparted = false;
    const bool ok = wfi_matrix_market_read_with(path, 1, least, &whole, &unparted, &first);
    const bool ok_in_pieces =
        wfi_matrix_market_read_with(path, threads, least, &pieces, &parted, &second);
    if (ok != right)
        fail_msg("%s", right ? first.text : "read");
    assert_int_equal(ok_in_pieces, right);
    assert_false(unparted);
    assert_int_equal(parted, right); /* an error is looked for line by line */
    assert_string_equal(first.text, second.text);
    assert_int_equal(first.kind, second.kind);
    assert_true(!right || same_matrix(&whole, &pieces));
    wfi_csr_free(&whole);
    wfi_csr_free(&pieces);
}

static void pieces_are_the_whole(void **state)
{
    static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric"};
    static const char *const faults[] = {"0 1 1", "1 1 x", "1 1", "1 1 1 1", "9999 1 1", "1 1 nan"};
    enum { ENTRIES = 300 };
    static char text[ENTRIES * 100];
    int lines[ENTRIES];
    uint64_t random = 5;
    (void)state;
    for (unsigned round = 0; round < 120; round++) {
        const unsigned threads = 2 + round % 7;
        const int n = draw_file(text, 40, ENTRIES, symmetries[round % 3], lines, &random);
        assert_same(test_file("m.mtx", text, (size_t)n), threads, 1 + round * 5, true);
        /* A fault in the line at a border between two pieces, or in any other. */
        const uint64_t bits = wfi_random_bits(&random);
        int entry = (int)(bits % ENTRIES);
        for (int i = 0; round % 2 && i + 1 < ENTRIES; i++)
            if (lines[i] <= lines[0] + (n - lines[0]) / (int)threads)
                entry = i + (int)(bits >> 32 & 1);
        char *line = text + lines[entry];
        const size_t length = strcspn(line, "\r\n");
        const char *fault = faults[bits >> 40 & 3];
        if (strlen(fault) > length)
            continue;
        memset(line, ' ', length);
        memcpy(line, fault, strlen(fault));
        assert_same(test_file("m.mtx", text, (size_t)n), threads, 1, false);
    }
}

static void pieces_agree_with_the_header(void **state)
{
    static char text[300 * 100];
    int lines[300];
    uint64_t random = 6;
    (void)state;
    int n = draw_file(text, 40, 300, "general", lines, &random);
    assert_same(test_file("m.mtx", text, (size_t)lines[299]), 4, 1, false); /* one too few */
    n += sprintf(text + n, "1 1 1\n");
    assert_same(test_file("m.mtx", text, (size_t)n), 4, 1, false); /* one too many */
    text[lines[150]] = '\0';
    assert_same(test_file("m.mtx", text, (size_t)n), 4, 1, false); /* a NUL byte */
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
        cmocka_unit_test(rounds_numbers_as_strtod_does),
        cmocka_unit_test(pieces_are_the_whole),
        cmocka_unit_test(pieces_agree_with_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, test_files_remove);
}
