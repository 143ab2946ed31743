/* Halos of blocks: boxes of cells that are not contiguous in a grid, which shaders gather into the
 * memory that neighbours read, and spread from it. */
#ifndef WFI_SOLVE_HALO_BOXES_H
#define WFI_SOLVE_HALO_BOXES_H

#include "plan/plan.h"
#include "solve/part_passes.h"

/* A part of a grid along one axis, in cells that are updated. */
typedef struct wfi_part_axis {
    uint32_t begin, end;
    bool there[WFI_SIDES]; /* it has a neighbour before, behind */
} wfi_part_axis;

typedef struct wfi_halo_box {
    int64_t first[3]; /* its first cell, counted as begin and end are */
    uint32_t cells[3];
} wfi_halo_box;

/* The boxes, `width` cells wide, that go to the neighbour on a side and that come from it; false:
 * there is none. */
bool wfi_halo_box_to(const wfi_part_axis axes[3], uint32_t width, int side, wfi_halo_box *out);
bool wfi_halo_box_from(const wfi_part_axis axes[3], uint32_t width, int side, wfi_halo_box *out);
uint64_t wfi_halo_box_cells(const wfi_halo_box *box);

/* A grid in one binding. */
typedef struct wfi_halo_grid {
    uint64_t bytes, row, plane; /* the last two in elements */
    int64_t origin[3];          /* the cell whose element is the first */
} wfi_halo_grid;

typedef struct wfi_halo_copier {
    wfi_halo_grid grid;
    wf_type type;
    wf_plan *leave, *arrive;
} wfi_halo_copier;

wf_result wfi_halo_copier_open(wf_device *device, wf_type type, const wfi_halo_grid *grid,
                               wfi_halo_copier *copier);
void wfi_halo_copier_close(wfi_halo_copier *copier);
/* Records the copy of a box between a grid and a halo. */
wf_result wfi_halo_copy(const wfi_halo_copier *copier, VkCommandBuffer command_buffer,
                        wf_buffer *grid, const wfi_halo_box *box, const wf_binding *halo,
                        bool arrive);

#endif
