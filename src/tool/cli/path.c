#include "tool/cli/path.h"

#include <string.h>
#include <sys/stat.h>

bool wfi_path_ends_in(const char *path, const char *ending)
{
    const size_t length = strlen(path), wanted = strlen(ending);
    return length >= wanted && strcmp(path + length - wanted, ending) == 0;
}

bool wfi_path_takes_npy(const char *path)
{
    struct stat there;
    return wfi_path_ends_in(path, ".npy") ||
           (stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode));
}

const char *wfi_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
