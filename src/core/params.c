#include "core/params.h"

#include <string.h>

#define LARGEST_BYTES 65536 /* no parameter structure will be larger: a size over it is garbage */

static size_t size_of(const void *structure)
{
    size_t size;
    memcpy(&size, structure, sizeof size);
    return size;
}

wf_result wfi_params_read(const wfi_log *log, const char *function, const void *given, void *local,
                          size_t bytes)
{
    memset(local, 0, bytes);
    memcpy(local, &bytes, sizeof bytes);
    if (!given)
        return WF_SUCCESS;
    const size_t size = size_of(given);
    if (size < sizeof size || size > LARGEST_BYTES)
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "%s: the size member of its parameters is %llu; set it with sizeof",
                        function, (unsigned long long)size);
    for (size_t i = bytes; i < size; i++)
        if (((const unsigned char *)given)[i])
            return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                            "%s: its parameters ask for what this older library does not know",
                            function);
    memcpy(local, given, size < bytes ? size : bytes);
    memcpy(local, &bytes, sizeof bytes);
    return WF_SUCCESS;
}

bool wfi_params_write(void *result, const void *local, size_t bytes)
{
    const size_t size = size_of(result);
    if (size < sizeof size || size > LARGEST_BYTES)
        return false;
    memcpy(result, local, size < bytes ? size : bytes);
    memcpy(result, &size, sizeof size);
    return true;
}
