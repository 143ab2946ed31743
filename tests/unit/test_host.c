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
        cmocka_unit_test(products_are_right),
        cmocka_unit_test(sparse_products_are_right),
        cmocka_unit_test(relaxations_are_right),
        cmocka_unit_test(what_is_wrong_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
