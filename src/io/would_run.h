/* What `wavefit devices --profile` writes: JSON, schema "wavefit-profile/1" (bench/results.md). */
#ifndef WFI_IO_WOULD_RUN_H
#define WFI_IO_WOULD_RUN_H

#include "io/io_error.h"
#include "wavefit/wavefit.h"

/* What a problem would get, or why it would get nothing. */
typedef struct wfi_would_run {
    const char *family;
    wf_type type;
    char problem[48]; /* "1024x1024x1024" */
    bool refused;
    char reason[256];  /* where it is refused */
    wf_plan_info plan; /* elsewhere */
} wfi_would_run;

/* A variant that the device cannot run, for the types of which the reason is the same. */
typedef struct wfi_left_out {
    const char *family, *variant;
    uint32_t types; /* bits (1 << wf_type) */
    char reason[256];
} wfi_left_out;

typedef struct wfi_profile_result {
    const char *file;
    const char *untold; /* limits that the file does not tell, with commas; "": none */
    const wf_caps *caps;
    uint32_t run_count, left_out_count;
    const wfi_would_run *runs;
    const wfi_left_out *left_out;
} wfi_profile_result;

bool wfi_profile_write(const char *path, const wfi_profile_result *result, wfi_io_error *error);

#endif
