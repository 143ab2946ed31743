/* Mutates valid files and gives them to a reader: whatever comes of it, no memory is misused, a
 * refusal is one line that names the file, and what is accepted holds together.
 * usage: fuzz_readers mtx|npy|results|tuning INPUTS SEED FILE…
 * What ends the process is left in FOLDER/fuzz-KIND, the last input tried; FOLDER is TMPDIR or
 * /tmp. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/matrix_market.h"
#include "io/npy.h"
#include "io/results_read.h"
#include "choose/tuning_data.h"
#include "core/heap.h"

#define MOST_BYTES (1u << 17)
#define MOST_SEEDS 64

typedef struct text {
    unsigned char *bytes;
    size_t size;
} text;

static uint64_t state;

static uint64_t draw(uint64_t bound)
{
    state += UINT64_C(0x9e3779b97f4a7c15); /* SplitMix64 (Steele, Lea, Flood 2014) */
    uint64_t z = state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bound ? (z ^ (z >> 31)) % bound : 0;
}

/* ----------------------------------------------------------------------------------- mutations */

/* Pieces that readers look at twice. */
static const char *const pieces[] = {
    "0",
    "-1",
    "1",
    "999999",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "99999999999999999999999",
    "1e308",
    "1e-320",
    "1e999",
    "-0.0",
    "nan",
    "inf",
    "0x1p3",
    "1d5",
    "\n",
    "\r\n",
    "%",
    "%%MatrixMarket matrix ",
    "coordinate",
    "array",
    "symmetric",
    "skew-symmetric",
    "pattern",
    "integer",
    "complex",
    "hermitian",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u12",
    "\\uabcd",
    "null",
    "true",
    "[[[[[[[[",
    "{\"a\":",
    "'descr'",
    "'<f4'",
    "'<f8'",
    "'|i1'",
    "'>i2'",
    "PK\5\6",
    "PK\1\2",
    "True",
    "(",
    ")",
    "(3,)",
    "()",
    "(0, 5)",
    "(1, 2, 3)",
    " ",
    "\t",
    "\x1b[31m",
};

static void replace(text *t, size_t at, size_t removed, const void *with, size_t added)
{
    if (t->size - removed + added > MOST_BYTES)
        return;
    memmove(t->bytes + at + added, t->bytes + at + removed, t->size - at - removed);
    memcpy(t->bytes + at, with, added);
    t->size += added - removed;
}

static size_t length_from(const text *t, size_t at, size_t most)
{
    const size_t left = t->size - at;
    return draw((left < most ? left : most) + 1);
}

/* The number at or behind `at`: where it begins and how long it is. */
static size_t find_number(const text *t, size_t *at)
{
    size_t length = 0;
    while (*at < t->size && (t->bytes[*at] < '0' || t->bytes[*at] > '9'))
        (*at)++;
    while (*at + length < t->size && t->bytes[*at + length] >= '0' && t->bytes[*at + length] <= '9')
        length++;
    return length;
}

static void mutate(text *t)
{
    unsigned char copied[256];
    const char *piece = pieces[draw(sizeof pieces / sizeof *pieces)];
    size_t at = draw(t->size + 1);
    size_t length = length_from(t, at, draw(8) ? 16 : 256);
    switch (draw(8)) {
    case 0:
        if (at < t->size)
            t->bytes[at] ^= (unsigned char)(1u << draw(8));
        break;
    case 1:
        if (at < t->size)
            t->bytes[at] = (unsigned char)draw(256);
        break;
    case 2:
        replace(t, at, length, "", 0);
        break;
    case 3:
        replace(t, at, 0, piece, strlen(piece));
        break;
    case 4:
        replace(t, at, length, piece, strlen(piece));
        break;
    case 5:
        length = find_number(t, &at);
        replace(t, at, length, piece, strlen(piece));
        break;
    case 6:
        memcpy(copied, t->bytes + at, length);
        replace(t, draw(t->size + 1), 0, copied, length);
        break;
    default:
        if (draw(4) == 0)
            t->size = at;
    }
}

/* ------------------------------------------------------------------------------------- readers */

static void wrong(const char *what)
{
    fprintf(stderr, "fuzz_readers: %s\n", what);
    abort();
}

static void check_error(const wfi_io_error *error, const char *path)
{
    if (error->kind == WFI_IO_OK || strncmp(error->text, path, strlen(path)) != 0 ||
        strchr(error->text, '\n'))
        wrong("a refusal that is not one line beginning with the file's name");
}

static bool read_mtx(const char *path)
{
    wfi_csr m;
    wfi_io_error error = {0};
    if (!wfi_matrix_market_read(path, &m, &error)) {
        check_error(&error, path);
        return false;
    }
    if (m.row_offsets[0] != 0 || m.row_offsets[m.rows] != m.entries)
        wrong("row offsets do not span the entries");
    for (uint32_t row = 0; row < m.rows; row++)
        for (uint32_t i = m.row_offsets[row]; i < m.row_offsets[row + 1]; i++)
            if (m.column_indices[i] >= m.columns || !isfinite(m.values[i]) ||
                (i > m.row_offsets[row] && m.column_indices[i] <= m.column_indices[i - 1]))
                wrong("an entry out of range, not finite or out of order");
    wfi_csr_free(&m);
    return true;
}

static bool read_npy(const char *path)
{
    wfi_npy npy;
    wfi_io_error error = {0};
    uint64_t overflowed = 0;
    if (!wfi_npy_read(path, &npy, &error)) {
        check_error(&error, path);
        return false;
    }
    free(wfi_npy_convert(&npy, WF_TYPE_F16, &overflowed));
    wfi_npy_free(&npy);
    return true;
}

static void ignore_difference(void *user, const char *name, const char *verdict, double base_us,
                              double us)
{
    (void)user;
    (void)name;
    (void)verdict;
    (void)base_us;
    (void)us;
}

static bool read_results(const char *path)
{
    wfi_io_error error = {0};
    wfi_comparison comparison;
    size_t length = 0;
    wfi_report *report = wfi_report_create();
    const bool ok = wfi_report_add(report, path, &error);
    if (!ok)
        check_error(&error, path);
    if (ok && !wfi_report_compare(report, path, ignore_difference, NULL, &comparison, &error))
        wrong("a file that was read once cannot be compared with itself");
    char *json = ok ? wfi_report_json(report, &length) : NULL;
    if (ok && (!json || memchr(json, '<', length)))
        wrong("no text, or one that could end the page's element");
    free(json);
    wfi_report_destroy(&report);
    return ok;
}

/* Gives a block of exactly the input's size, so that reading beyond it shows. */
static bool read_tuning(const text *input)
{
    wfi_tuning_data data;
    wfi_text printed = {0};
    char error[192] = "", *block = malloc(input->size ? input->size : 1);
    memcpy(block, input->bytes, input->size);
    const bool ok = wfi_tuning_parse(block, input->size, NULL, NULL, &data, error);
    free(block);
    if (!ok) {
        if (!*error || strchr(error, '\n') || data.entries)
            wrong("a refusal without a reason, or with something left");
        return false;
    }
    wfi_tuning_print(&data, false, &printed);
    wfi_tuning_data_free(&data);
    if (!wfi_tuning_parse(printed.data, printed.used, NULL, NULL, &data, error))
        wrong("what was read and printed is refused");
    wfi_tuning_data_free(&data);
    wfi_free(printed.data);
    return true;
}

static bool read_input(const char *kind, const text *input, const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(input->bytes, 1, input->size, file) != input->size || fclose(file) != 0)
        wrong("the input cannot be written");
    return strcmp(kind, "mtx") == 0       ? read_mtx(path)
           : strcmp(kind, "npy") == 0     ? read_npy(path)
           : strcmp(kind, "results") == 0 ? read_results(path)
                                          : read_tuning(input);
}

/* ---------------------------------------------------------------------------------------- main */

static text load(const char *path)
{
    text t = {malloc(MOST_BYTES), 0};
    FILE *file = fopen(path, "rb");
    if (!file || !t.bytes)
        wrong("a seed cannot be read");
    t.size = fread(t.bytes, 1, MOST_BYTES, file);
    fclose(file);
    return t;
}

int main(int argc, char **argv)
{
    text seeds[MOST_SEEDS], input = {malloc(MOST_BYTES), 0};
    char path[256];
    uint64_t tried = 0, accepted = 0;
    const int count = argc - 4 < MOST_SEEDS ? argc - 4 : MOST_SEEDS;
    if (count < 1 || !input.bytes) {
        fputs("usage: fuzz_readers mtx|npy|results|tuning INPUTS SEED FILE...\n", stderr);
        return 2;
    }
    const uint64_t wanted = strtoull(argv[2], NULL, 10);
    const char *folder = getenv("TMPDIR");
    state = strtoull(argv[3], NULL, 10);
    snprintf(path, sizeof path, "%s/fuzz-%s-%d", folder ? folder : "/tmp", argv[1], (int)getpid());
    for (int i = 0; i < count; i++) {
        seeds[i] = load(argv[4 + i]);
        if (!read_input(argv[1], &seeds[i], path))
            fprintf(stderr, "fuzz_readers: %s is refused as it is\n", argv[4 + i]);
    }
    for (; tried < wanted; tried++) {
        const text *seed = &seeds[draw((uint64_t)count)];
        memcpy(input.bytes, seed->bytes, seed->size);
        input.size = seed->size;
        for (uint64_t n = 1 + draw(draw(4) ? 3 : 30); n > 0; n--)
            mutate(&input);
        accepted += read_input(argv[1], &input, path);
    }
    for (int i = 0; i < count; i++)
        free(seeds[i].bytes);
    free(input.bytes);
    unlink(path);
    printf("%s: %llu inputs, %llu of them accepted\n", argv[1], (unsigned long long)tried,
           (unsigned long long)accepted);
    return 0;
}
