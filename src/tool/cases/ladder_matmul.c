/* Matrix multiply on an integrated and a discrete GPU (Intel VTune cookbook), then OpenCL SGEMM
 * with private memory (D language series, part 4, 2018). */
#include "core/arithmetic.h"
#include "tool/cases/ladders.h"

#define VTUNE "Intel VTune cookbook, matrix multiply, step "
#define SGEMM "OpenCL SGEMM with private memory (D language series, part 4, 2018), "
#define SQUARES256                                                                                 \
    {                                                                                              \
        256, 256, 256                                                                              \
    }
#define BLOCKS(k)                                                                                  \
    {                                                                                              \
        {"tile_m", 64}, {"tile_n", 64}, {"tile_k", k}, {"thread_m", 8},                            \
        {                                                                                          \
            "thread_n", 8                                                                          \
        }                                                                                          \
    }

static const wfi_rung rungs[] = {
    {.name = "dispatch",
     .variant = "dispatch",
     .text = VTUNE "1",
     .summary = "one dispatch an output element",
     .figure = "65 536 dispatches for 256 x 256: 92.6 % of the GPU idle",
     .extent = SQUARES256},
    {.name = "one",
     .variant = "naive",
     .text = VTUNE "2",
     .summary = "one dispatch, a work-item an output element",
     .over = "dispatch",
     .figure = "10 times as fast",
     .constants = {{"local_x", 16}, {"local_y", 8}},
     .extent = SQUARES256},
    {.name = "naive",
     .variant = "naive",
     .text = VTUNE "2",
     .summary = "the same kernel on the ladder's sizes",
     .figure = "N = 2048: 68 GB through L3, 14 GB from DRAM, for three arrays of 16 MB",
     .constants = {{"local_x", 16}, {"local_y", 8}}},
    {.name = "tiled",
     .variant = "tiled",
     .text = VTUNE "3",
     .summary = "tiles of both operands in shared memory",
     .over = "naive",
     .figure = "5 times as fast; N = 2048: 2 GB from DRAM, 490 ms of a floor of 37 ms",
     .constants = {{"tile", 16}},
     .smaller = {{"tile", 8}}},
    {.name = "blocks",
     .variant = "tiled2",
     .text = VTUNE "4",
     .summary = "second-level tiling: work-groups in blocks of 8 tile rows, whose tiles the "
                "last-level cache holds",
     .over = "tiled",
     .constants = {{"tile", 16}, {"swizzle", 8}},
     .smaller = {{"tile", 8}, {"swizzle", 8}}},
    {.name = "k-fixed",
     .variant = "tiled",
     .text = SGEMM "tiles",
     .summary = "square tiles, the K step fixed to the tile",
     .figure = "218 GFLOPS (1000 x 2000 x 3000)",
     .constants = {{"tile", 16}},
     .smaller = {{"tile", 8}}},
    {.name = "k-step",
     .variant = "kstep",
     .text = SGEMM "K step",
     .summary = "as k-fixed, the K step a parameter: twice the tile here",
     .over = "k-fixed",
     .figure = "a K step of 8 was best on a laptop's GPU, of 32 on a K80",
     .constants = {{"tile", 16}, {"tile_k", 32}},
     .smaller = {{"tile", 8}, {"tile_k", 16}}},
    {.name = "private",
     .variant = "blocked",
     .text = SGEMM "private memory",
     .summary = "each work-item computes 8 x 8 outputs of a tile of 64 x 64, K step 16",
     .over = "k-step",
     .figure = "923 GFLOPS",
     .constants = BLOCKS(16)},
    {.name = "registers",
     .variant = "kept",
     .text = SGEMM "registers",
     .summary = "as private, a row and a column read into registers first",
     .over = "private",
     .figure = "857 GFLOPS",
     .constants = BLOCKS(16)},
    {.name = "transposed",
     .variant = "transposed",
     .text = SGEMM "transposed",
     .summary = "as registers, the left tile stored transposed, rows padded by 2",
     .over = "registers",
     .constants = {{"tile_m", 64},
                   {"tile_n", 64},
                   {"tile_k", 16},
                   {"thread_m", 8},
                   {"thread_n", 8},
                   {"pad", 2}}},
    {.name = "large",
     .variant = "transposed",
     .text = SGEMM "larger tiles",
     .summary = "as transposed, tiles of 128 x 128, K step 32",
     .over = "transposed",
     .figure = "1510 GFLOPS at 4096^3, a third of a K80's peak",
     .constants =
         {{"tile_m", 128}, {"tile_n", 128}, {"tile_k", 32}, {"thread_m", 8}, {"thread_n", 8}},
     .smaller =
         {{"tile_m", 64}, {"tile_n", 128}, {"tile_k", 16}, {"thread_m", 8}, {"thread_n", 8}}},
};

const wfi_ladder wfi_matmul_ladder = {.subject = "matmul",
                                      .family = WF_FAMILY_MATMUL,
                                      .count = WFI_COUNT(rungs),
                                      .rungs = rungs,
                                      .others = true};

/* No text tells of star and box stencils: the ladder is the family's variants. */
const wfi_ladder wfi_stencil_ladder = {
    .subject = "stencil", .family = WF_FAMILY_STENCIL, .others = true};
