/* The Himeno benchmark's arrays as the user gives them in .npy files. */
#ifndef WFI_TOOL_CASES_HIMENO_FIELDS_H
#define WFI_TOOL_CASES_HIMENO_FIELDS_H

#include "io/npy.h"

enum { WFI_HIMENO_P, WFI_HIMENO_A, WFI_HIMENO_B, WFI_HIMENO_C, WFI_HIMENO_BND, WFI_HIMENO_WRK1 };
#define WFI_HIMENO_FILES 6

typedef struct wfi_himeno_fields {
    const char *paths[WFI_HIMENO_FILES]; /* NULL: the benchmark's own start values */
    wfi_npy files[WFI_HIMENO_FILES];
    float *made[WFI_HIMENO_FILES]; /* those of what no file gives */
    wf_himeno_arrays arrays;
} wfi_himeno_fields;

bool wfi_himeno_fields_given(const wfi_himeno_fields *fields);

/* Reads the files and fills in what they do not give. Arrays are indexed [k][j][i], those of a, b
 * and c with [4] or [3] in front. extent: ni, nj, nk; where ni is 0, the first file says. On
 * failure prints one line and returns the exit code; the fields are to be freed all the same. */
int wfi_himeno_fields_read(wfi_himeno_fields *fields, uint64_t extent[3]);
void wfi_himeno_fields_free(wfi_himeno_fields *fields);

#endif
