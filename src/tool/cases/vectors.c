#include "tool/cases/vectors.h"

#include <math.h>
#include <stdlib.h>

#include "core/element.h"
#include "io/matrix_market.h"
#include "io/memory.h"
#include "tool/cli/options.h"
#include "tool/cli/path.h"

#define LEAST_PAGE 4096 /* bytes */

int wfi_npy_elements(const char *path, wfi_npy *npy, wf_type type)
{
    uint64_t lost = 0;
    if (!wfi_npy_become(npy, type, &lost))
        return wfi_run_error("%s: out of memory", path);
    if (lost && wfi_element_of(type)->whole)
        return wfi_run_error("%s: %llu values are not whole numbers from -128 to 127, which %s "
                             "holds: round or scale them first, or use --type f32",
                             path, (unsigned long long)lost, wf_type_name(type));
    if (lost)
        return wfi_run_error("%s: %llu values are too large for %s", path, (unsigned long long)lost,
                             wf_type_name(type));
    return WFI_EXIT_DONE;
}

const void *wfi_matrix_values(const wfi_csr *matrix, const char *name, wf_type type, void **narrow,
                              wfi_io_error *error)
{
    *narrow = NULL;
    if (type == WF_TYPE_F64)
        return matrix->values;
    *narrow = malloc((matrix->entries + (size_t)1) * wf_type_size(type));
    if (!*narrow)
        wfi_io_set_error(error, WFI_IO_NO_MEMORY, "%s: out of memory", name);
    for (uint32_t i = 0; *narrow && i < matrix->entries; i++) {
        if (type == WF_TYPE_F32) {
            const float value = ((float *)*narrow)[i] = (float)matrix->values[i];
            if (isfinite(value))
                continue;
        } else {
            wf_element_set(type, *narrow, i, matrix->values[i]);
            if (isfinite(wf_element_get(type, *narrow, i)))
                continue;
        }
        wfi_io_set_error(error, WFI_IO_BAD_INPUT,
                         "%s: the value %g is too large for %s (use --type f64)", name,
                         matrix->values[i], wf_type_name(type));
        return NULL;
    }
    return *narrow;
}

/* A Matrix Market file, of which collections have right-hand sides, as an array of two
 * dimensions. */
static bool read_dense(const char *path, wfi_npy *npy, wfi_io_error *error)
{
    wfi_csr m = {0};
    if (!wfi_matrix_market_read(path, &m, error))
        return false;
    const uint64_t count = (uint64_t)m.rows * m.columns;
    double *data = (double)count * sizeof *data <= wfi_physical_memory()
                       ? calloc((size_t)count + 1, sizeof *data)
                       : NULL;
    for (uint32_t row = 0; data && row < m.rows; row++)
        for (uint32_t i = m.row_offsets[row]; i < m.row_offsets[row + 1]; i++)
            data[(uint64_t)row * m.columns + m.column_indices[i]] = m.values[i];
    *npy = (wfi_npy){
        .type = WF_TYPE_F64, .dimensions = 2, .shape = {m.rows, m.columns, 1, 1}, .data = data};
    wfi_csr_free(&m);
    return data || wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
}

void *wfi_answer_memory(size_t bytes)
{
    volatile unsigned char *data = calloc(bytes + 1, 1);
    for (size_t i = 0; data && i < bytes; i += LEAST_PAGE)
        data[i] = 0;
    return (void *)(uintptr_t)data;
}

/* As many vectors as the file has, where their number is open. */
static uint64_t count_vectors(const wfi_npy *npy, uint64_t rows)
{
    const bool matrix = npy->dimensions == 2 && npy->shape[0] == rows && npy->shape[1] > 0;
    return matrix ? npy->shape[1] : 1;
}

int wfi_read_vectors(const char *path, wf_type type, uint64_t rows, uint64_t *vectors, wfi_npy *npy)
{
    wfi_io_error error;
    char shape[WFI_NPY_SHAPE_TEXT];
    const bool market = wfi_path_ends_in(path, ".mtx") || wfi_path_ends_in(path, ".mtx.gz");
    if (!(market ? read_dense(path, npy, &error) : wfi_npy_read(path, npy, &error)))
        return wfi_run_error("%s", error.text);
    *vectors = *vectors ? *vectors : count_vectors(npy, rows);
    wfi_npy_shape_text(npy, shape);
    const uint64_t tall = npy->shape[0], wide = npy->shape[1];
    const bool vector = *vectors == 1 && (tall == 1 || wide == 1);
    const bool fits =
        npy->dimensions < 3 && (vector ? tall * wide == rows : tall == rows && wide == *vectors);
    if (!fits && *vectors == 1)
        return wfi_run_error("%s: a vector of %llu elements is needed, not %s", path,
                             (unsigned long long)rows, shape);
    if (!fits)
        return wfi_run_error("%s: %llu x %llu elements are needed, not %s", path,
                             (unsigned long long)rows, (unsigned long long)*vectors, shape);
    return wfi_npy_elements(path, npy, type);
}

uint32_t wfi_vectors_shape(const wfi_npy *like, uint64_t rows, uint64_t vectors, uint64_t shape[2])
{
    const bool given = like && like->data, one = vectors == 1;
    const bool row = given && one && like->dimensions == 2 && like->shape[1] > 1;
    shape[0] = row ? 1 : rows;
    shape[1] = row ? rows : vectors;
    return one && !(given && like->dimensions == 2) ? 1 : 2;
}
