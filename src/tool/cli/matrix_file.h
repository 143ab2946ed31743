/* Matrices of files, for a device. */
#ifndef WFI_TOOL_CLI_MATRIX_FILE_H
#define WFI_TOOL_CLI_MATRIX_FILE_H

#include "io/csr.h"
#include "tool/cli/options.h"

/* What the matrix is multiplied with. */
typedef struct wfi_matrix_use {
    wf_type type; /* of x and y */
    uint32_t vectors;
    bool transpose;
} wfi_matrix_use;

/* Whether x, y and the row offsets of a file's matrix could be on the device, by its sizes alone;
 * what is no regular file, which could not be read again, passes. */
int wfi_matrix_file_fits(const wfi_common *common, const char *path, const wfi_matrix_use *use);

/* Reads the file with progress shown. A matrix of many rows or columns that the device could not
 * multiply with is refused before memory is taken for it; `use` NULL: the device is not asked. */
int wfi_matrix_file_read(const wfi_common *common, const char *path, const wfi_matrix_use *use,
                         wfi_csr *out);

#endif
