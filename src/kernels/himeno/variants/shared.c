/* shared, padded and interleaved: p through shared memory, on three layouts. */
#include "kernels/himeno/rows.h"

#define PARAMETERS(pad, interleave)                                                                \
    WFI_HIMENO_LOCAL_X(128), WFI_HIMENO_LOCAL_Y(1), WFI_HIMENO_LOCAL_Z(1), WFI_HIMENO_PAD(pad),    \
        WFI_HIMENO_INTERLEAVE(interleave), WFI_HIMENO_REVERSE

static const wfi_parameter shared_parameters[] = {PARAMETERS(1, 0)};
static const wfi_parameter padded_parameters[] = {PARAMETERS(32, 0)};
static const wfi_parameter interleaved_parameters[] = {PARAMETERS(32, 32)};

static const wfi_constraint constraints[] = {WFI_HIMENO_FITS};

/* The work-group's cells with a halo of one cell, and the tree that sums gosa. */
static uint64_t shared_bytes(const wfi_point *point)
{
    uint32_t size[3];
    wfi_himeno_group_size(point, size);
    return (size[0] + UINT64_C(2)) * (size[1] + UINT64_C(2)) * (size[2] + UINT64_C(2)) *
               sizeof(float) +
           wfi_himeno_shared_sums(point);
}

#define TILED(parameters_)                                                                         \
    WFI_HIMENO_ROW(shared, parameters_, constraints),                                              \
        .traits = WFI_HIMENO_TILE, .shared_bytes = shared_bytes, .fit = wfi_himeno_fit_step,       \
        .traffic = wfi_himeno_tile_traffic, .build = wfi_himeno_build

const wfi_variant wfi_himeno_shared = {
    TILED(shared_parameters),
    .name = "shared",
    .summary = "p goes through a tile in shared memory with a halo of one cell",
    .source = WFI_HIMENO_SOFTECH "6",
};

const wfi_variant wfi_himeno_padded = {
    TILED(padded_parameters),
    .name = "padded",
    .summary = "as shared, with rows padded to a multiple of 32 elements",
    .source = WFI_HIMENO_SOFTECH "7",
};

const wfi_variant wfi_himeno_interleaved = {
    TILED(interleaved_parameters),
    .name = "interleaved",
    .summary = "as padded, with the twelve coefficients of 32 cells side by side",
    .source = "",
};
