#include "himeno_field.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "harness.h"

void test_himeno_field_make(test_himeno_field *f, uint32_t ni, uint32_t nj, uint32_t nk)
{
    test_random random = {test_seed()};
    const size_t cells = (size_t)ni * nj * nk;
    *f = (test_himeno_field){.ni = ni, .nj = nj, .nk = nk};
    for (int n = 0; n < TEST_HIMENO_ARRAYS; n++) {
        f->values[n] = malloc(cells * sizeof(float));
        assert_non_null(f->values[n]);
        for (size_t i = 0; i < cells; i++)
            f->values[n][i] = (float)(n == 0 ? 1 : 0.4) * (float)test_random_uniform(&random);
    }
    for (int n = 0; n < 4; n++)
        f->arrays.a[n] = f->values[1 + n];
    for (int n = 0; n < 3; n++) {
        f->arrays.b[n] = f->values[5 + n];
        f->arrays.c[n] = f->values[8 + n];
    }
    f->arrays.p = f->values[0];
    f->arrays.bnd = f->values[11];
    f->arrays.wrk1 = f->values[12];
    f->expected = malloc(cells * sizeof(float));
    f->p = malloc(cells * sizeof(float));
    assert_true(f->expected && f->p);
}

void test_himeno_field_free(test_himeno_field *f)
{
    for (int n = 0; n < TEST_HIMENO_ARRAYS; n++)
        free(f->values[n]);
    free(f->expected);
    free(f->p);
}

wf_himeno_params test_himeno_params(uint32_t ni, uint32_t nj, uint32_t nk, const wf_tuning *tuning)
{
    return (wf_himeno_params){
        .size = sizeof(wf_himeno_params), .ni = ni, .nj = nj, .nk = nk, .tuning = tuning};
}

void test_himeno_run_whole(wf_device *device, test_himeno_field *f, const wf_tuning *tuning,
                           uint32_t iterations)
{
    const wf_himeno_params params = test_himeno_params(f->ni, f->nj, f->nk, tuning);
    wf_himeno *h = NULL;
    assert_int_equal(wf_himeno_create(device, &params, &h), WF_SUCCESS);
    assert_int_equal(wf_himeno_write(h, &f->arrays), WF_SUCCESS);
    assert_int_equal(wf_himeno_run(h, iterations, &f->gosa, NULL, NULL), WF_SUCCESS);
    assert_int_equal(wf_himeno_read(h, f->expected), WF_SUCCESS);
    wf_himeno_destroy(&h);
}
