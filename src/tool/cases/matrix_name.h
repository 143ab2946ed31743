/* A matrix has one name on every command line: MATRIX.mtx behind the command (and its family),
 * --matrix FILE|KIND:N, or --generate KIND:N. */
#ifndef WFI_TOOL_CASES_MATRIX_NAME_H
#define WFI_TOOL_CASES_MATRIX_NAME_H

#include "tool/cli/matrix_file.h"

/* What names a matrix, as the command line gave it; NULL: it did not. */
typedef struct wfi_matrix_name {
    const char *positional, *matrix, *generate;
} wfi_matrix_name;

#define WFI_MATRIX_OPTION(value_)                                                                  \
    {                                                                                              \
        "--matrix", "FILE|KIND:N", value_, NULL,                                                   \
            "spmv: a .mtx[.gz] file, or a kind of --generate (default poisson27:64)"               \
    }

/* Sets *text to the one that was given, NULL where there is none. Prints one line and returns
 * WFI_EXIT_USAGE where there are several, or where --generate names no kind. */
int wfi_matrix_name_one(const char *command, const wfi_matrix_name *name, const char **text);
/* Whether the text names a file, and no kind of matrix. */
bool wfi_matrix_is_file(const char *text);
/* Its name in tables and results: a file's without folders, and "(stand-in)" behind one that is
 * made in place of a known matrix. */
void wfi_matrix_label(const char *text, char *label, size_t bytes);
/* Reads or makes the matrix. use: NULL where no vectors go with it. Prints one line and returns the
 * exit code on failure. */
int wfi_matrix_get(const wfi_common *common, const char *text, const wfi_matrix_use *use,
                   wfi_csr *out);

#endif
