/* Candidate values and constraints that Himeno's variants share. */
#include "kernels/himeno/rows.h"

const uint32_t wfi_himeno_sizes_x[] = {4, 8, 16, 32, 64, 128, 256},
               wfi_himeno_sizes_y[] = {1, 2, 4, 8, 16}, wfi_himeno_sizes_z[] = {1, 2, 4},
               wfi_himeno_marches[] = {1, 2, 4, 8, 16, 32, 64}, wfi_himeno_pads[] = {1, 4, 8, 32},
               wfi_himeno_blocks[] = {0, 32, 64, 256, 65536}, wfi_himeno_flags[] = {0, 1};

bool wfi_himeno_pad_fits(const wfi_point *point)
{
    const uint32_t pad = wfi_point_value(point, HIMENO_ID_PAD, 1);
    return pad >= 1 && pad <= 1024;
}

bool wfi_himeno_pad_holds_vectors(const wfi_point *point)
{
    return wfi_point_value(point, HIMENO_ID_PAD, 1) % 4 == 0;
}

bool wfi_himeno_march_is_short(const wfi_point *point)
{
    const uint32_t march = wfi_point_value(point, HIMENO_ID_MARCH, 1);
    return march >= 1 && march <= 64;
}

bool wfi_himeno_blocks_fit(const wfi_point *point)
{
    const uint32_t block = wfi_point_value(point, HIMENO_ID_INTERLEAVE, 0);
    return block % 4 == 0 && block <= 65536;
}

bool wfi_himeno_flags_fit(const wfi_point *point)
{
    return wfi_point_value(point, HIMENO_ID_REVERSE, 0) <= 1 &&
           wfi_point_value(point, HIMENO_ID_OWN_SUMS, 0) <= 1;
}

bool wfi_himeno_subgroups_are_short(const wfi_point *point)
{
    return point->caps->subgroup_max <= 64;
}
