/* Matrix Market files, read from the first line to the last and in pieces by several threads: both
 * readers give the same matrix or the same refusal. */
#include <math.h>
#include <string.h>

#include "io/matrix_market.h"
#include "target.h"

#define THREADS 3
#define PIECE_BYTES 16

static bool same(const wfi_csr *a, const wfi_csr *b)
{
    return a->rows == b->rows && a->columns == b->columns && a->entries == b->entries &&
           memcmp(a->row_offsets, b->row_offsets, (a->rows + (size_t)1) * sizeof(uint32_t)) == 0 &&
           memcmp(a->column_indices, b->column_indices, a->entries * sizeof(uint32_t)) == 0 &&
           memcmp(a->values, b->values, a->entries * sizeof(double)) == 0;
}

static bool read_with(const char *path, unsigned threads, wfi_csr *m, wfi_io_error *error)
{
    bool in_pieces;
    *m = (wfi_csr){0};
    if (!wfi_matrix_market_read_with(path, threads, PIECE_BYTES, m, &in_pieces, error)) {
        fuzz_check_error(error, path);
        return false;
    }
    fuzz_check_matrix(m);
    for (uint32_t i = 0; i < m->entries; i++)
        if (!isfinite(m->values[i]))
            fuzz_wrong("a value that is not finite");
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file("a.mtx", data, size);
    wfi_matrix_sizes sizes;
    wfi_io_error error = {0}, other = {0};
    wfi_csr whole, pieces;
    const bool begun = wfi_matrix_market_sizes(path, &sizes, &error);
    const bool ok = read_with(path, 1, &whole, &error);
    if (read_with(path, THREADS, &pieces, &other) != ok)
        fuzz_wrong("one reader takes what the other refuses");
    if (!ok && strcmp(error.text, other.text) != 0)
        fuzz_wrong("the readers refuse for two reasons");
    if (ok && !same(&whole, &pieces))
        fuzz_wrong("the readers give two matrices");
    if (ok && (!begun || sizes.rows != whole.rows || sizes.columns != whole.columns))
        fuzz_wrong("the sizes asked for beforehand are others");
    wfi_csr_free(&whole);
    wfi_csr_free(&pieces);
    return 0;
}
