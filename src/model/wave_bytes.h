/* Bytes that the work-groups of a wave need together: what a cache that all of them share must pass
 * on to them, if it keeps what one wave needs and nothing of the waves before. */
#ifndef WFI_MODEL_WAVE_BYTES_H
#define WFI_MODEL_WAVE_BYTES_H

#include "wavefit/wavefit.h"

/* Of all waves of `at_once` work-groups; 0 where the order is not known. */
double wfi_wave_bytes(const wf_tile_order *order, double at_once);

#endif
