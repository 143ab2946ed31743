/* NumPy's .npy files, and conversion to every type of elements. */
#include <stdlib.h>

#include "io/npy.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file("a.npy", data, size);
    wfi_npy npy = {0};
    wfi_io_error error = {0};
    char shape[WFI_NPY_SHAPE_TEXT];
    if (!wfi_npy_read(path, &npy, &error)) {
        fuzz_check_error(&error, path);
        return 0;
    }
    if (wfi_npy_count(&npy) > size)
        fuzz_wrong("more elements than the file has bytes");
    wfi_npy_shape_text(&npy, shape);
    uint64_t lost = 0;
    for (int type = 0; type < WF_TYPE_COUNT; type++) {
        free(wfi_npy_convert(&npy, (wf_type)type, &lost));
        if (lost > wfi_npy_count(&npy))
            fuzz_wrong("more elements are lost than there are");
    }
    wfi_npy_become(&npy, (wf_type)(size % WF_TYPE_COUNT), &lost);
    wfi_npy_free(&npy);
    return 0;
}
