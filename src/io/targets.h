/* What `wavefit compare` writes: JSON, schema "wavefit-targets/1" (bench/results.md). */
#ifndef WFI_IO_TARGETS_H
#define WFI_IO_TARGETS_H

#include "io/io_error.h"
#include "wavefit/wavefit.h"

#define WFI_TARGETS_SCHEMA "wavefit-targets/1"

/* What one target's compiler makes of the problem's kernel. Texts are the row's own, since it comes
 * from another process. */
typedef struct wfi_target_row {
    char target[32];
    bool compiled;
    char reason[512]; /* why it is not compiled */
    char device[256], driver[160];
    char variant[32], chosen_by[32], constants[320]; /* "tile_m=64 tile_n=64" */
    uint32_t group_size[3], subgroup_size;
    uint32_t registers, live; /* of a work-item; live: of a thread, where only that is told */
    bool spills_told;
    uint32_t spilled, instructions;
    double shared_bytes, flops, least_bytes, requested_bytes, shared_requested_bytes, group_bytes;
    double occupancy; /* NaN: not known */
    char occupancy_limit[48];
    /* By the data sheet of a product; NaN: it does not tell enough. */
    double predicted_us, memory_us, arithmetic_us, access_us;
    char set_by[16], product[64], source[128];
} wfi_target_row;

typedef struct wfi_targets_result {
    const char *family, *problem, *type;
    uint32_t count;
    const wfi_target_row *rows;
} wfi_targets_result;

bool wfi_targets_write(const char *path, const wfi_targets_result *result, wfi_io_error *error);

#endif
