/* Names of files. */
#ifndef WFI_TOOL_CLI_PATH_H
#define WFI_TOOL_CLI_PATH_H

#include <stdbool.h>

bool wfi_path_ends_in(const char *path, const char *ending);
/* Whether a .npy file may be written there: its name says so, or it is a device or a pipe. */
bool wfi_path_takes_npy(const char *path);
/* What stands behind the last slash, in the path itself. */
const char *wfi_path_name(const char *path);

#endif
