#include "tool/cases/vectors.h"

#include <math.h>
#include <stdlib.h>

#include "tool/cli/options.h"

int wfi_npy_elements(const char *path, wfi_npy *npy, wf_type type)
{
    uint64_t overflowed = 0;
    if (!wfi_npy_become(npy, type, &overflowed))
        return wfi_run_error("%s: out of memory", path);
    if (overflowed)
        return wfi_run_error("%s: %llu values are too large for %s", path,
                             (unsigned long long)overflowed, wf_type_name(type));
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
        wf_element_set(type, *narrow, i, matrix->values[i]);
        if (isfinite(wf_element_get(type, *narrow, i)))
            continue;
        wfi_io_set_error(error, WFI_IO_BAD_INPUT,
                         "%s: the value %g is too large for %s (use --type f64)", name,
                         matrix->values[i], wf_type_name(type));
        return NULL;
    }
    return *narrow;
}

int wfi_read_vectors(const char *path, wf_type type, uint64_t rows, uint64_t vectors, wfi_npy *npy)
{
    wfi_io_error error;
    if (!wfi_npy_read(path, npy, &error))
        return wfi_run_error("%s", error.text);
    const unsigned long long tall = npy->shape[0], wide = npy->shape[1];
    const bool vector = vectors == 1 && (tall == 1 || wide == 1);
    const bool fits = vector ? tall * wide == rows : tall == rows && wide == vectors;
    if (!fits && vectors == 1)
        return wfi_run_error("%s: a vector of %llu elements is needed, not %llu x %llu", path,
                             (unsigned long long)rows, tall, wide);
    if (!fits)
        return wfi_run_error("%s: %llu x %llu elements are needed, not %llu x %llu", path,
                             (unsigned long long)rows, (unsigned long long)vectors, tall, wide);
    return wfi_npy_elements(path, npy, type);
}
