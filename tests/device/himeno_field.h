/* Random values of all of Himeno's arrays, and what a whole grid makes of them. */
#ifndef WFI_TESTS_HIMENO_FIELD_H
#define WFI_TESTS_HIMENO_FIELD_H

#include "wavefit/wavefit.h"

enum { TEST_HIMENO_ARRAYS = 13 };

typedef struct test_himeno_field {
    uint32_t ni, nj, nk;
    float *values[TEST_HIMENO_ARRAYS]; /* p, a, b, c, bnd, wrk1 */
    wf_himeno_arrays arrays;           /* the same */
    float *expected, *p;               /* of ni nj nk cells; the test fills p */
    float gosa;
} test_himeno_field;

void test_himeno_field_make(test_himeno_field *f, uint32_t ni, uint32_t nj, uint32_t nk);
void test_himeno_field_free(test_himeno_field *f);
wf_himeno_params test_himeno_params(uint32_t ni, uint32_t nj, uint32_t nk, const wf_tuning *tuning);
/* Fills `expected` and `gosa`. */
void test_himeno_run_whole(wf_device *device, test_himeno_field *f, const wf_tuning *tuning,
                           uint32_t iterations);

#endif
