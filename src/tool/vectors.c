#include "tool/vectors.h"

#include <stdlib.h>

#include "tool/options.h"

int wfi_npy_elements(const char *path, wfi_npy *npy, wf_type type, void **data)
{
    uint64_t overflowed = 0;
    *data = wfi_npy_convert(npy, type, &overflowed);
    wfi_npy_free(npy);
    if (!*data)
        return wfi_run_error("%s: out of memory", path);
    if (overflowed)
        return wfi_run_error("%s: %llu values are too large for %s", path,
                             (unsigned long long)overflowed, wf_type_name(type));
    return WFI_EXIT_DONE;
}

int wfi_read_vectors(const char *path, wf_type type, uint64_t rows, uint64_t vectors, void **data)
{
    wfi_npy npy;
    wfi_io_error error;
    if (!wfi_npy_read(path, &npy, &error))
        return wfi_run_error("%s", error.text);
    const bool vector = vectors == 1 && (npy.shape[0] == 1 || npy.shape[1] == 1);
    const bool fits = vector ? npy.shape[0] * npy.shape[1] == rows
                             : npy.shape[0] == rows && npy.shape[1] == vectors;
    if (!fits) {
        const unsigned long long tall = npy.shape[0], wide = npy.shape[1];
        wfi_npy_free(&npy);
        if (vectors == 1)
            return wfi_run_error("%s: a vector of %llu elements is needed, not %llu x %llu", path,
                                 (unsigned long long)rows, tall, wide);
        return wfi_run_error("%s: %llu x %llu elements are needed, not %llu x %llu", path,
                             (unsigned long long)rows, (unsigned long long)vectors, tall, wide);
    }
    return wfi_npy_elements(path, &npy, type, data);
}
