/* Texts of --generate, on a machine of little memory: what is made holds together, and what the
 * check beforehand refuses is not made. */
#include <string.h>

#include "target.h"
#include "tool/cases/generate.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fuzz_memory = 1e6;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[128], refused[256] = "", message[256] = "";
    wfi_csr m = {0};
    size = size < sizeof text - 1 ? size : sizeof text - 1;
    memcpy(text, data, size);
    text[size] = '\0';
    const bool named = wfi_generate_check(text, refused);
    if (named && !wfi_generate_is_kind(text))
        fuzz_wrong("a size of no kind");
    if (wfi_generate(text, size, &m, message)) {
        if (!named)
            fuzz_wrong("what the check refuses is made");
        fuzz_check_matrix(&m);
        wfi_csr_free(&m);
    } else if (!*message || (!named && strcmp(message, refused) != 0)) {
        fuzz_wrong("a refusal without a reason, or with two");
    }
    return 0;
}
