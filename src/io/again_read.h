/* A results file as what is to be run again: its command line, its points and its times. */
#ifndef WFI_IO_AGAIN_READ_H
#define WFI_IO_AGAIN_READ_H

#include "io/results_read.h"
#include "wavefit/wavefit.h"

#define WFI_AGAIN_MOST_CASES 4096
#define WFI_AGAIN_MOST_ARGUMENTS 256

typedef struct wfi_again_case {
    char family[16], name[96], type[8], status[16];
    char variant[32]; /* "": there is no plan */
    uint32_t constant_count;
    char names[WF_MAX_PARAMETERS][32];
    uint32_t values[WF_MAX_PARAMETERS];
    bool stands_alone; /* it is no step of a study */
    size_t ranks;      /* of MPI that shared it; 0: one process ran it */
    wfi_read_time time;
} wfi_again_case;

typedef struct wfi_again_file {
    int argc;
    char *argv[WFI_AGAIN_MOST_ARGUMENTS]; /* the command line, "wavefit" first */
    char device[256], driver[600], limits[16], wavefit[32], uuid[40];
    uint32_t count;
    wfi_again_case *cases;
} wfi_again_file;

/* False and the error, where nothing is to be freed. */
bool wfi_again_read(const char *path, wfi_again_file *out, wfi_io_error *error);
void wfi_again_free(wfi_again_file *file);

#endif
