/* Checks on the host ask whether to stop, and do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wavefit/wavefit.h"

typedef struct stop {
    uint32_t asked, at; /* asks; the one that is answered with a stop */
} stop;

static bool asked(void *user)
{
    stop *s = user;
    return ++s->asked == s->at;
}

static stop state_of_stop;
static const wf_cancel cancel = {.size = sizeof cancel, .cancelled = asked, .user = &state_of_stop};

typedef wf_result (*check_fn)(const wf_cancel *cancel, wf_check *check);

/* All that is multiplied is zero, and so is the result. */
static void *zeros(void)
{
    static void *bytes;
    if (!bytes)
        bytes = calloc(1, 1 << 20);
    assert_non_null(bytes);
    return bytes;
}

static wf_result check_matmul(const wf_cancel *c, wf_check *check)
{
    const wf_matmul_params params = {
        .size = sizeof params, .m = 20, .n = 20, .k = 9000, .cancel = c};
    const wf_matmul_inputs inputs = {.size = sizeof inputs, .a = zeros(), .b = zeros()};
    return wf_matmul_check(&params, &inputs, zeros(), 0, 1, check);
}

static wf_result check_spmv(const wf_cancel *c, wf_check *check)
{
    enum { ROWS = 60000 };
    static uint32_t offsets[ROWS + 1], columns[2 * ROWS];
    for (uint32_t row = 0; row <= ROWS; row++)
        offsets[row] = 2 * row;
    const wf_spmv_params params = {.size = sizeof params,
                                   .rows = ROWS,
                                   .columns = 1,
                                   .row_offsets = offsets,
                                   .column_indices = columns,
                                   .values = zeros(),
                                   .cancel = c};
    return wf_spmv_check(&params, zeros(), zeros(), check);
}

static wf_result check_himeno(const wf_cancel *c, wf_check *check)
{
    const wf_himeno_params params = {
        .size = sizeof params, .ni = 20, .nj = 19, .nk = 18, .cancel = c};
    const float *z = zeros();
    const wf_himeno_arrays start = {z, {z, z, z, z}, {z, z, z}, {z, z, z}, z, z};
    double gosa_error;
    return wf_himeno_check(&params, &start, 3, z, 0, 0, 1, check, &gosa_error);
}

static wf_result check_stencil(const wf_cancel *c, wf_check *check)
{
    static const double coefficients[5];
    const wf_stencil_params params = {.size = sizeof params,
                                      .nx = 60,
                                      .ny = 50,
                                      .coefficients = coefficients,
                                      .steps = 9,
                                      .cancel = c};
    return wf_stencil_check(&params, zeros(), zeros(), 0, 1, check);
}

static void stops(check_fn run)
{
    wf_check whole, cut;
    state_of_stop = (stop){0};
    assert_int_equal(run(&cancel, &whole), WF_SUCCESS);
    const uint32_t asks = state_of_stop.asked;
    assert_true(asks >= 3);
    assert_int_equal(whole.checked, whole.total);
    assert_true(whole.error_over_bound <= 1);
    for (uint32_t at = 1; at <= asks; at++) {
        state_of_stop = (stop){.at = at};
        assert_int_equal(run(&cancel, &cut), WF_ERROR_CANCELLED);
        assert_int_equal(state_of_stop.asked, at);
        assert_true(cut.checked <= whole.checked);
    }
    state_of_stop = (stop){.at = 1};
    assert_int_equal(run(NULL, &cut), WF_SUCCESS);
    assert_int_equal(state_of_stop.asked, 0);
}

static void products(void **state)
{
    (void)state;
    stops(check_matmul);
}

/* Several threads check shares of the product, and the thread of the call alone asks: how often
 * depends on how much of it the others take. */
static void shared_products(void **state)
{
    (void)state;
    const wf_matmul_params params = {.size = sizeof params,
                                     .m = 512,
                                     .n = 512,
                                     .k = 2048,
                                     .type = WF_TYPE_I8,
                                     .cancel = &cancel};
    const wf_matmul_inputs inputs = {.size = sizeof inputs, .a = zeros(), .b = zeros()};
    wf_check check;
    state_of_stop = (stop){0};
    assert_int_equal(wf_matmul_check(&params, &inputs, zeros(), 50, 1, &check), WF_SUCCESS);
    assert_int_equal(check.summed, check.total);
    assert_true(check.error_over_bound <= 1);
    const uint32_t asks = state_of_stop.asked;
    assert_true(asks >= 1);
    for (uint32_t at = 1; at <= asks; at++) {
        state_of_stop = (stop){.at = at};
        const wf_result result = wf_matmul_check(&params, &inputs, zeros(), 50, 1, &check);
        assert_true(state_of_stop.asked <= at);
        assert_int_equal(result, state_of_stop.asked == at ? WF_ERROR_CANCELLED : WF_SUCCESS);
        assert_true(at > 1 || result == WF_ERROR_CANCELLED);
    }
}

static void sparse_products(void **state)
{
    (void)state;
    stops(check_spmv);
}

static void relaxations(void **state)
{
    (void)state;
    stops(check_himeno);
}

static void stencils(void **state)
{
    (void)state;
    stops(check_stencil);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),        cmocka_unit_test(shared_products),
        cmocka_unit_test(sparse_products), cmocka_unit_test(relaxations),
        cmocka_unit_test(stencils),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(zeros());
    return failed;
}
