/* Results files as `wavefit bench --again` reads them. */
#include "io/again_read.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file("a.json", data, size);
    wfi_again_file file;
    wfi_io_error error = {0};
    if (!wfi_again_read(path, &file, &error)) {
        fuzz_check_error(&error, path);
        return 0;
    }
    if (file.argc < 2 || file.argc > WFI_AGAIN_MOST_ARGUMENTS)
        fuzz_wrong("a command line of no or too many words");
    for (uint32_t i = 0; i < file.count; i++) {
        double noise = 0;
        if (file.cases[i].constant_count > WF_MAX_PARAMETERS)
            fuzz_wrong("more constants than there is room for");
        wfi_compare_times(&file.cases[i].time, &file.cases[0].time, &noise);
    }
    wfi_again_free(&file);
    return 0;
}
