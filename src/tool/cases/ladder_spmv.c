/* CSR SpMV on a new GPU generation (G-DEP, 2013). Figures are those of mark3jac140 in f64. */
#include "core/arithmetic.h"
#include "tool/cases/ladders.h"

#define GDEP "CSR SpMV on a new GPU generation (G-DEP, 2013), "
#define LANES32                                                                                    \
    {                                                                                              \
        {"lanes", 32},                                                                             \
        {                                                                                          \
            "local_x", 128                                                                         \
        }                                                                                          \
    }

static const wfi_rung rungs[] = {
    {.name = "baseline",
     .variant = "plain",
     .text = GDEP "baseline",
     .summary = "32 lanes a row, partial sums and their tree in shared memory",
     .figure = "0.3045 ms (K20), 0.5088 (C2075)",
     .constants = LANES32},
    {.name = "texture",
     .variant = "texel",
     .text = GDEP "texture unit",
     .summary = "as baseline, x through the texture unit (a uniform texel buffer)",
     .over = "baseline",
     .figure = "0.2712 ms (K20)",
     .constants = LANES32},
    {.name = "readonly",
     .variant = "shared",
     .text = GDEP "read-only cache",
     .summary = "as baseline, x through the read-only cache (buffers declared readonly restrict)",
     .over = "texture",
     .figure = "0.2581 ms (K20)",
     .constants = LANES32},
    {.name = "shuffle",
     .variant = "lanes",
     .text = GDEP "shuffles",
     .summary = "as readonly, reduced by subgroup shuffles instead of shared memory",
     .over = "readonly",
     .figure = "0.2264 ms (K20)",
     .constants = LANES32},
    {.name = "addition",
     .variant = "add",
     .text = GDEP "subgroup reduction",
     .summary = "as shuffle, reduced by the device's own addition over subgroups",
     .over = "shuffle",
     .constants = LANES32},
    {.name = "atomic",
     .variant = "atomic",
     .text = GDEP "atomic accumulation",
     .summary = "as baseline, every lane adding to y atomically",
     .over = "baseline",
     .figure = "3.340 ms (K20), 37.07 (C2075)",
     .constants = LANES32},
};

const wfi_ladder wfi_spmv_ladder = {.subject = "spmv",
                                    .family = WF_FAMILY_SPMV,
                                    .count = WFI_COUNT(rungs),
                                    .rungs = rungs,
                                    .others = true};
