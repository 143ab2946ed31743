/* Himeno's benchmark, step by step (SofTech, 2010). Figures are GFLOPS on size M. */
#include "core/arithmetic.h"
#include "tool/cases/ladders.h"

#define SOFTECH "Himeno benchmark, step by step (SofTech, 2010), step "

static const wfi_rung rungs[] = {
    {.name = "moved",
     .variant = "moved",
     .text = SOFTECH "1",
     .summary = "the kernels are offloaded inside the loop: all data move in every iteration",
     .figure = "1.29 GFLOPS (GTX 480), 1.27 (GTX 285); one CPU core: 4.1"},
    {.name = "part",
     .variant = "region_part",
     .text = SOFTECH "2",
     .summary = "a data region outside the loop: data move once in 100 iterations, of p the inner "
                "cells alone",
     .over = "moved",
     .figure = "24.2 / 18.3 GFLOPS",
     .constants = {{"region", 100}}},
    {.name = "whole",
     .variant = "region",
     .text = SOFTECH "3",
     .summary = "as part, with whole arrays, which are contiguous",
     .over = "part",
     .figure = "24.4 / 23.6 GFLOPS",
     .constants = {{"region", 100}}},
    {.name = "kept",
     .variant = "naive",
     .text = SOFTECH "4 and 5",
     .summary = "data stay on the device in a region of their own: one work-item a cell, which "
                "reads everything from memory",
     .over = "whole",
     .figure = "24.4 / 23.6 GFLOPS"},
    {.name = "256x1x1",
     .variant = "shared",
     .text = SOFTECH "6, the newer GPU",
     .summary = "work-groups of 256 along the contiguous axis, p in a tile of 258 x 3 x 3 in "
                "shared memory",
     .over = "kept",
     .figure = "46.2 GFLOPS (GTX 480)",
     .constants = {{"local_x", 256}, {"local_y", 1}, {"local_z", 1}, {"pad", 1}},
     .smaller = {{"local_x", 128}, {"local_y", 1}, {"local_z", 1}, {"pad", 1}}},
    {.name = "16x4x4",
     .variant = "shared",
     .text = SOFTECH "6, the older GPU",
     .summary = "work-groups of 16 x 4 x 4, the shape for the older GPU",
     .over = "kept",
     .figure = "23.6 GFLOPS (GTX 285); 17 where the other GPU's shape is carried over",
     .constants = {{"local_x", 16}, {"local_y", 4}, {"local_z", 4}, {"pad", 1}},
     .smaller = {{"local_x", 16}, {"local_y", 4}, {"local_z", 2}, {"pad", 1}}},
    {.name = "padded",
     .variant = "padded",
     .text = SOFTECH "7",
     .summary = "as 256x1x1, the contiguous axis padded to a multiple of 32 elements",
     .over = "256x1x1",
     .figure = "47.1 / 24.6 GFLOPS (another release of the compiler: 55.8 / 25.4)",
     .constants = {{"local_x", 256}, {"local_y", 1}, {"local_z", 1}, {"pad", 32}},
     .smaller = {{"local_x", 128}, {"local_y", 1}, {"local_z", 1}, {"pad", 32}}},
};

const wfi_ladder wfi_himeno_ladder = {.subject = "himeno",
                                      .family = WF_FAMILY_HIMENO,
                                      .count = WFI_COUNT(rungs),
                                      .rungs = rungs,
                                      .others = true};
