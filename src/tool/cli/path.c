#include "tool/cli/path.h"

#include <string.h>

#include "core/platform_file.h"

bool wfi_path_ends_in(const char *path, const char *ending)
{
    const size_t length = strlen(path), wanted = strlen(ending);
    return length >= wanted && strcmp(path + length - wanted, ending) == 0;
}

bool wfi_path_takes_npy(const char *path)
{
    return wfi_path_ends_in(path, ".npy") || wfi_file_kind_of(path) == WFI_FILE_SPECIAL;
}

const char *wfi_path_name(const char *path)
{
    const char *slash = wfi_path_separator(path);
    return slash ? slash + 1 : path;
}
