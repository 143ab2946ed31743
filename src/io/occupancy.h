/* What `wavefit occupancy` writes: JSON, schema "wavefit-occupancy/1" (bench/results.md). */
#ifndef WFI_IO_OCCUPANCY_H
#define WFI_IO_OCCUPANCY_H

#include "io/io_error.h"
#include "wavefit/wavefit.h"

/* A work-group's size and what a unit holds of it; by_…: UINT32_MAX is left out. */
typedef struct wfi_occupancy_point {
    uint32_t group_size;
    wf_occupancy occupancy;
} wfi_occupancy_point;

typedef struct wfi_occupancy_result {
    const wf_architecture *architecture;
    uint32_t registers, shared_bytes, subgroup_size;
    const wfi_occupancy_point *asked; /* NULL: no size was asked for */
    uint32_t count;
    const wfi_occupancy_point *curve;
} wfi_occupancy_result;

bool wfi_occupancy_write(const char *path, const wfi_occupancy_result *result, wfi_io_error *error);

#endif
