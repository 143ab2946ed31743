#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/atomic_file.h"
#include "io/matrix_market.h"

bool wfi_matrix_market_write(const char *path, const wfi_csr *m, wfi_io_error *error)
{
    wfi_atomic_file file;
    char line[96];
    if (!wfi_atomic_open(&file, path, error))
        return false;
    int length = snprintf(line, sizeof line,
                          "%%%%MatrixMarket matrix coordinate real general\n%" PRIu32 " %" PRIu32
                          " %" PRIu32 "\n",
                          m->rows, m->columns, m->entries);
    wfi_atomic_write(&file, line, (size_t)length);
    for (uint32_t row = 0; row < m->rows; row++)
        for (uint32_t i = m->row_offsets[row]; i < m->row_offsets[row + 1]; i++) {
            length = snprintf(line, sizeof line, "%" PRIu32 " %" PRIu32 " %.17g\n", row + 1,
                              m->column_indices[i] + 1, m->values[i]);
            wfi_atomic_write(&file, line, (size_t)length);
        }
    return wfi_atomic_commit(&file, error);
}
