/* Files of `wavefit tune --compare`. */
#include <string.h>

#include "io/comparison.h"
#include "target.h"

static void check_item(const wfi_comparison_file *file, const wfi_compared *item)
{
    if (wfi_comparison_find(file, item->family, item->type, item->problem) != item)
        fuzz_wrong("a problem stands in the file twice");
    for (int i = 0; i < WFI_COMPARED_RIVALS; i++)
        if (!(item->rivals[i].us >= 0) || !(item->rivals[i].noise >= 0))
            fuzz_wrong("a time or its noise is negative or no number");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file("a.json", data, size);
    wfi_comparison_file file;
    wfi_io_error error = {0};
    if (!wfi_comparison_read(path, &file, &error)) {
        fuzz_check_error(&error, path);
        if (file.items || file.count)
            fuzz_wrong("a refusal leaves something");
        return 0;
    }
    for (uint32_t i = 0; i < file.count; i++)
        check_item(&file, &file.items[i]);
    wfi_comparison_free(&file);
    return 0;
}
