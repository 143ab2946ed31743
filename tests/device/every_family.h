/* A small problem of each family and each solver, drawn by a number, made, run once and destroyed:
 * for tests of many plans, and of many threads. */
#ifndef WFI_TESTS_EVERY_FAMILY_H
#define WFI_TESTS_EVERY_FAMILY_H

#include "wavefit/wavefit.h"

enum { EVERY_KINDS = 7, EVERY_MOST_BYTES = 8192 };

typedef struct every_result {
    uint32_t bytes;
    uint8_t data[EVERY_MOST_BYTES];
} every_result;

const char *every_name(int kind);
/* The same number gives the same problem, and each run of it the same bits. Any thread may call it.
 * Returns the first error. */
wf_result every_run(wf_device *device, int kind, uint32_t number, every_result *out);

#endif
