/* Single iterations beside passes of several. */
#include "kernels/himeno/rows.h"

void wfi_himeno_single(const wfi_point *point, wfi_point *single)
{
    const wfi_himeno_layout layout = wfi_himeno_layout_of(point);
    uint32_t tile[3];
    wfi_himeno_tile(point, tile);
    *single = *point;
    single->variant = &wfi_himeno_march4;
    wfi_point_defaults(single);
    wfi_point_set(single, HIMENO_ID_LOCAL_X, tile[0] / 4);
    wfi_point_set(single, HIMENO_ID_LOCAL_Y, tile[1]);
    wfi_point_set(single, HIMENO_ID_MARCH, tile[2]);
    if (layout.p_left % 4 != 0 || tile[0] % 4 != 0 || !wfi_point_legal(single, NULL)) {
        single->variant = &wfi_himeno_march;
        wfi_point_defaults(single);
        wfi_point_set(single, HIMENO_ID_LOCAL_X, tile[0]);
        wfi_point_set(single, HIMENO_ID_LOCAL_Y, tile[1]);
        wfi_point_set(single, HIMENO_ID_MARCH, tile[2]);
    }
    single->values[HIMENO_ID_PAD] = (uint32_t)layout.p_left;
    single->values[HIMENO_ID_INTERLEAVE] = layout.interleaved ? (uint32_t)layout.c_block : 0;
}
