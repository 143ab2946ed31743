/* A random grid and stencil, and what the whole grid gives. */
#ifndef WFI_TESTS_STENCIL_GRID_H
#define WFI_TESTS_STENCIL_GRID_H

#include "wavefit/wavefit.h"

#define TEST_STENCIL_TAPS 125

typedef struct test_stencil_grid {
    wf_stencil_params params;
    wf_tuning tuning;
    wf_constant steps; /* of a pass */
    double coefficients[TEST_STENCIL_TAPS];
    uint32_t planes;
    size_t plane_bytes;
    unsigned char *in, *expected, *out; /* the test fills `out` */
} test_stencil_grid;

/* pass: steps of a pass; 1: the variant makes no more. `grid` stays where it is. */
void test_stencil_grid_make(test_stencil_grid *grid, wf_stencil_params params, const char *variant,
                            uint32_t pass);
void test_stencil_grid_free(test_stencil_grid *grid);
/* Fills `expected`. */
void test_stencil_run_whole(wf_device *device, test_stencil_grid *grid);
/* Whether `out` has its bits. */
bool test_stencil_grid_is_right(const test_stencil_grid *grid);

#endif
