/* Files of `wavefit tune --compare`: how fast the choice of each way of choosing is, problem by
 * problem (schema "wavefit-comparison/2", bench/tuning.md). */
#ifndef WFI_IO_COMPARISON_H
#define WFI_IO_COMPARISON_H

#include <stdint.h>

#include "io/io_error.h"

#define WFI_COMPARISON_SCHEMA "wavefit-comparison/2"
#define WFI_COMPARISON_OLD_SCHEMA "wavefit-comparison/1" /* is read too (io/old_results.h) */
#define WFI_COMPARED_RIVALS 6

/* One way of choosing, on one problem. */
typedef struct wfi_compared_rival {
    double us;       /* median of one execution; 0: it has no choice here */
    double noise;    /* of its ratio to the fastest */
    char by[24];     /* who chose: "model", "device row", … */
    char point[224]; /* "variant a=1 b=2" */
} wfi_compared_rival;

/* The names of the ways, in their order: "model", "shipped", … */
extern const char *const wfi_compared_names[WFI_COMPARED_RIVALS];

typedef struct wfi_compared {
    char family[16], type[8], problem[96];
    double budget_seconds;    /* of each of two searches */
    uint64_t measured, legal; /* points of the exhaustive search, and all there are */
    char error[256];          /* why there is nothing; "": there is */
    wfi_compared_rival rivals[WFI_COMPARED_RIVALS];
} wfi_compared;

typedef struct wfi_comparison_file {
    char device[256], driver[256];
    uint32_t count;
    wfi_compared *items;
} wfi_comparison_file;

/* A file that is not there is an empty one. */
bool wfi_comparison_read(const char *path, wfi_comparison_file *out, wfi_io_error *error);
/* "-" is standard output. */
bool wfi_comparison_write(const char *path, const wfi_comparison_file *file, wfi_io_error *error);
void wfi_comparison_free(wfi_comparison_file *file);

/* The item of the problem, NULL if there is none. */
const wfi_compared *wfi_comparison_find(const wfi_comparison_file *file, const char *family,
                                        const char *type, const char *problem);
/* Adds a copy, in place of one of the same problem. False without memory. */
bool wfi_comparison_add(wfi_comparison_file *file, const wfi_compared *item);

#endif
