/* What shaders count of a matrix in device memory, against the host, whose code is the reference;
 * the passes that they count with; and which matrices go to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "csr_matrix.h"
#include "kernels/spmv/analysis/order.h"

/* ------------------------------------------------------------------------------ sums and order */

static void sums_and_sorts_as_the_host(void **state)
{
    static const uint32_t counts[] = {1, 1024, 1025, 20000, 1050000}; /* one to three levels */
    test_random random = {test_seed()};
    wfi_passes passes;
    assert_int_equal(wfi_passes_open(*state, &passes), WF_SUCCESS);
    for (uint32_t n = 0; n < csr_matrix_cases(5); n++) {
        const uint32_t count = counts[n];
        const uint64_t words = 3 * (uint64_t)count + wfi_sort_words(count);
        uint32_t *data = calloc(words, 4), *out = calloc(words, 4);
        wf_buffer *buffer = NULL;
        assert_true(data && out);
        for (uint32_t i = 0; i < count; i++)
            data[i] = test_random_below(&random, 1 << 10);
        assert_int_equal(wf_buffer_create(*state, words * 4, WF_MEMORY_DEVICE, &buffer), 0);
        assert_int_equal(wf_buffer_write(buffer, 0, data, words * 4), WF_SUCCESS);
        const bool sorts = count < 100000;
        const wfi_sort sort = {count, 0, 10, {count, 2 * count}, 3 * count};
        const uint32_t at = sorts ? wfi_passes_sort(&passes, wfi_pass_whole(buffer), &sort) : 0;
        wfi_passes_scan(&passes, wfi_pass_whole(buffer), 0, count, 3 * count);
        passes.beside = n % 2; /* on a stream of its own */
        assert_int_equal(wfi_passes_run(&passes), WF_SUCCESS);
        assert_int_equal(wf_buffer_read(buffer, 0, out, words * 4), WF_SUCCESS);
        uint32_t sum = 0;
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(out[i], sum);
            sum += data[i];
            const uint32_t here = out[at + i], before = i ? out[at + i - 1] : here;
            assert_true(!sorts || here < count);
            assert_true(!sorts || (i == 0 || data[before] < data[here] ||
                                   (data[before] == data[here] && before < here)));
        }
        wf_buffer_destroy(&buffer);
        free(data);
        free(out);
    }
    wfi_passes_close(&passes);
}

/* --------------------------------------------------------------------------------------- counts */

static void counts_as_the_host(void **state)
{
    test_random random = {test_seed()};
    for (uint32_t n = 0; n < csr_matrix_cases(8); n++) {
        csr_matrix m;
        wfi_spmv_counts host, counted;
        csr_matrix_make(&m, n, &random);
        wfi_device_csr csr = csr_matrix_upload(*state, &m);
        wfi_spmv_count(&m.params, &host);
        wfi_device_csr lent = csr; /* its entries are not known yet */
        memset(lent.own, 0, sizeof lent.own);
        lent.entries = 0;
        assert_int_equal(wfi_device_csr_count(&lent, &counted), WF_SUCCESS);
        assert_int_equal(lent.entries, host.entries);
        assert_memory_equal(&host, &counted, sizeof host);
        wfi_device_csr_close(&csr);
        csr_matrix_free(&m);
    }
}

/* Arrays of a megabyte and more come while the device counts, and may be given up meanwhile. */
static void counts_while_values_come(void **state)
{
    test_random random = {test_seed()};
    csr_matrix m;
    wfi_spmv_counts host, counted;
    csr_matrix_make_wide(&m, &random);
    wfi_spmv_count(&m.params, &host);
    wfi_device_csr csr = csr_matrix_upload(*state, &m);
    assert_true(csr.coming[1] && csr.coming[2]);
    assert_int_equal(wfi_device_csr_count(&csr, &counted), WF_SUCCESS);
    assert_memory_equal(&host, &counted, sizeof host);
    assert_int_equal(wfi_device_csr_wait(&csr, WFI_CSR_VALUES), WF_SUCCESS);
    assert_false(wfi_device_csr_comes(&csr));
    const uint64_t bytes = host.entries * sizeof(float);
    float *values = malloc(bytes);
    assert_non_null(values);
    assert_int_equal(wf_buffer_read(csr.own[2], 0, values, bytes), WF_SUCCESS);
    assert_memory_equal(values, m.values, bytes);
    wfi_device_csr_close(&csr);
    csr = csr_matrix_upload(*state, &m);
    wfi_device_csr_close(&csr);
    free(values);
    csr_matrix_free(&m);
}

/* ---------------------------------------------------------------------------------- where it is */

static bool pays(wf_device *device, uint32_t entries)
{
    const uint32_t offsets[] = {0, entries};
    const wf_spmv_params params = {.rows = 1, .columns = 1, .row_offsets = offsets};
    return wfi_device_csr_pays(device, &params);
}

/* The host's matrices go to a card's shaders if they are large, or if the shaders are compiled or
 * smaller matrices have come that often. Only the caps are a card's here. */
static void takes_small_matrices_once_it_has_compiled(void **state)
{
    enum { SMALL = 20000, MIDDLE = 300000, LARGE = 3000000 };
    wf_device *device = *state;
    const VkPhysicalDeviceType type = device->caps.device_type;
    device->caps.device_type = VK_PHYSICAL_DEVICE_TYPE_CPU;
    assert_false(pays(device, LARGE));
    assert_false(pays(device, LARGE));
    device->caps.device_type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    for (int i = 0; i < 1000; i++)
        assert_false(pays(device, SMALL));
    assert_false(pays(device, MIDDLE));
    assert_true(pays(device, LARGE));
    assert_true(pays(device, MIDDLE));
    assert_false(pays(device, SMALL));
    atomic_store(&device->analysed_entries, 0);
    int before = 0;
    while (!pays(device, MIDDLE) && before < 100)
        before++;
    assert_int_equal(before, 3); /* times 300,000, of a million */
    atomic_store(&device->analysed_entries, 0);
    device->caps.device_type = type;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_sorts_as_the_host),
        cmocka_unit_test(counts_as_the_host),
        cmocka_unit_test(counts_while_values_come),
        cmocka_unit_test(takes_small_matrices_once_it_has_compiled),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
