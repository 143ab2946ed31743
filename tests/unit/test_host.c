/* The operations in plain C that `bench --host` compares devices with: their results are verified,
 * at sizes that no block divides, and a wrong one is told as such. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tool/cases/generate.h"
#include "tool/host/host.h"

#define SECONDS 0.001

static void assert_right(const wfi_result_host *host)
{
    assert_string_equal(host->reason, "");
    assert_true(host->verified && host->asked);
    assert_true(host->check.total > 0 && host->check.error_over_bound <= 1);
    assert_true(host->samples >= 3 && host->median_us > 0);
    assert_true(host->threads >= 1 && (host->openmp || host->threads == 1));
}

static void products_are_right(void **state)
{
    static const uint64_t sizes[][3] = {{1, 1, 1}, {7, 513, 130}, {66, 31, 257}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        wfi_result_host host = {0};
        wfi_host_matmul(sizes[i][0], sizes[i][1], sizes[i][2], SECONDS, i + 1, &host);
        assert_right(&host);
    }
}

static void sparse_products_are_right(void **state)
{
    static const char *const kinds[] = {"poisson27:5", "arrow:99", "banded:50"};
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F64};
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (size_t t = 0; t < 2; t++) {
            wfi_csr matrix = {0};
            char message[256];
            wfi_result_host host = {0};
            assert_true(wfi_generate(kinds[i], 1, &matrix, message));
            wfi_host_spmv(&matrix, types[t], SECONDS, 3, &host);
            wfi_csr_free(&matrix);
            assert_right(&host);
        }
}

static void relaxations_are_right(void **state)
{
    static const uint32_t sizes[][3] = {{3, 3, 3}, {17, 9, 12}, {40, 5, 6}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        wfi_result_host host = {0};
        wfi_host_himeno(sizes[i][0], sizes[i][1], sizes[i][2], SECONDS, 1, &host);
        assert_right(&host);
    }
}

/* Both shapes, all edges, planes and spaces, odd and even counts of steps. */
static void stencils_are_right(void **state)
{
    static const uint32_t sizes[][3] = {{3, 3, 3}, {9, 300, 0}, {17, 9, 12}, {131, 10, 11}};
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F64};
    double coefficients[729];
    (void)state;
    for (int i = 0; i < 729; i++)
        coefficients[i] = (i % 7 - 2.5) / 729;
    for (uint32_t i = 0; i < 4 * 2 * 3 * 2; i++) {
        const uint32_t *n = sizes[i % 4], radius = i % 4 == 3 ? 2 : n[0] < 9 ? 1 : 4;
        const wf_stencil_params params = {.size = sizeof params,
                                          .nx = n[0],
                                          .ny = n[1],
                                          .nz = n[2],
                                          .shape = i / 4 % 2 ? WF_STENCIL_BOX : WF_STENCIL_STAR,
                                          .radius = radius,
                                          .border = (wf_border)(i / 8 % 3),
                                          .steps = i / 4 % 4,
                                          .type = types[i / 24],
                                          .coefficients = coefficients};
        wfi_result_host host = {0};
        wfi_host_stencil(&params, SECONDS, i, &host);
        assert_right(&host);
    }
}

/* What has no version in plain C says so. */
static void narrow_stencils_are_left_out(void **state)
{
    const wf_stencil_params params = {.size = sizeof params, .nx = 8, .ny = 8, .type = WF_TYPE_F16};
    wfi_result_host host = {0};
    (void)state;
    wfi_host_stencil(&params, SECONDS, 1, &host);
    assert_non_null(strstr(host.reason, "f16"));
    assert_int_equal(host.samples, 0);
}

static void what_is_wrong_is_told(void **state)
{
    wfi_result_host host = {.check = {.error_over_bound = 2}};
    (void)state;
    assert_false(wfi_host_verified(WF_SUCCESS, &host));
    assert_non_null(strstr(host.reason, "wrong: 2 times"));
    host = (wfi_result_host){0};
    assert_false(wfi_host_verified(WF_ERROR_OUT_OF_HOST_MEMORY, &host));
    assert_true(strlen(host.reason) > 5);
    /* Hours, however many cores there are. */
    assert_false(wfi_host_begin(1e18, &host));
    assert_non_null(strstr(host.reason, "skipped"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_right),           cmocka_unit_test(sparse_products_are_right),
        cmocka_unit_test(relaxations_are_right),        cmocka_unit_test(stencils_are_right),
        cmocka_unit_test(narrow_stencils_are_left_out), cmocka_unit_test(what_is_wrong_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
