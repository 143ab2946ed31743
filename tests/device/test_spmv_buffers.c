/* Plans of a matrix that is in device memory, analysed by shaders and by the host: what they
 * multiply, the statistics that they tell, and what they refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sparse.h"
#include "kernels/spmv/analysis/cut.h"
#include "profiles/spmv.h"

/* Entries from which the device is said to be faster than the host; 0: never. */
static uint64_t device_entries;

const wfi_spmv_profile *__real_wfi_spmv_profile_of(const wf_caps *caps);
const wfi_spmv_profile *__wrap_wfi_spmv_profile_of(const wf_caps *caps);

const wfi_spmv_profile *__wrap_wfi_spmv_profile_of(const wf_caps *caps)
{
    static wfi_spmv_profile changed;
    changed = *__real_wfi_spmv_profile_of(caps);
    changed.device_entries = device_entries;
    return &changed;
}

typedef struct lent_matrix {
    wf_buffer *buffers[3];
    wf_spmv_buffers given;
    wf_spmv_params params;
} lent_matrix;

static wf_buffer *lend(wf_device *device, const void *data, uint64_t bytes)
{
    wf_buffer *buffer = NULL;
    assert_int_equal(wf_buffer_create(device, bytes + 8, WF_MEMORY_DEVICE, &buffer), WF_SUCCESS);
    assert_int_equal(wf_buffer_write(buffer, 0, data, bytes), WF_SUCCESS);
    return buffer;
}

/* The same matrix in device memory alone, in buffers that are larger than it. */
static void lend_matrix(lent_matrix *l, wf_device *device, const wf_spmv_params *p)
{
    const uint64_t entries = p->row_offsets[p->rows];
    *l = (lent_matrix){.params = *p};
    l->buffers[0] = lend(device, p->row_offsets, (p->rows + UINT64_C(1)) * 4);
    l->buffers[1] = lend(device, p->column_indices, entries * 4);
    l->buffers[2] = lend(device, p->values, entries * wf_type_size(p->type));
    l->given = (wf_spmv_buffers){sizeof l->given,
                                 {.buffer = l->buffers[0]},
                                 {.buffer = l->buffers[1]},
                                 {.buffer = l->buffers[2]}};
    l->params.row_offsets = l->params.column_indices = NULL;
    l->params.values = NULL;
    l->params.buffers = &l->given;
}

static void take_back(lent_matrix *l)
{
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&l->buffers[i]);
}

static void make_system(sparse_system *s, wf_device *device, const sparse_options *options,
                        uint32_t longest, test_random *random)
{
    uint32_t lengths[300];
    for (uint32_t i = 0; i < 300; i++)
        lengths[i] = i == 77 ? longest : test_random_below(random, 12);
    test_sparse_make(s, device, options, 300, 211, lengths, random);
}

static void multiplies_and_updates(sparse_system *s, const wf_spmv_params *params,
                                   test_random *random)
{
    wf_plan *plan = NULL;
    test_expect_errors(true);
    const wf_result result = wf_spmv_plan(s->device, params, &plan);
    test_expect_errors(false);
    if (result != WF_SUCCESS) { /* the device cannot run the variant */
        assert_non_null(params->tuning->variant);
        assert_true(result == WF_ERROR_UNSUPPORTED || result == WF_ERROR_CONSTRAINT);
        return;
    }
    test_sparse_run(s, plan);
    test_sparse_right(s, "planned on the device");
    if (params->updatable) {
        test_sparse_new_values(s, random);
        assert_int_equal(wf_spmv_update(plan, s->values), WF_SUCCESS);
        test_sparse_run(s, plan);
        test_sparse_right(s, "with new values");
    }
    wf_plan_destroy(&plan);
}

/* By variants that the device converts for, each in its way, and by one that it does not; where
 * shaders do it, and where the host is faster. */
static void multiplies_from_buffers(void **state)
{
    static const char *const variants[] = {"equal", "sliced", "row", "stream", "many", "adaptive"};
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F64, WF_TYPE_F16};
    test_random random = {test_seed()};
    for (uint32_t n = 0; n < 12; n++) {
        const uint32_t longest = n % 6 == 3 ? 300 : 3000; /* stream multiplies no longer rows */
        const sparse_options options = {.type = types[(n + n / 6) % 3],
                                        .updatable = n != 1,
                                        .transpose = n == 3 || n == 8,
                                        .vectors = n % 6 < 4 ? 1 : 3,
                                        .alpha = n == 7 ? -2 : 0,
                                        .beta = n == 7 ? 0.5 : 0};
        const wf_tuning tuning = {.size = sizeof tuning, .variant = variants[n % 6]};
        sparse_system s;
        lent_matrix lent;
        if (!test_has_type(*state, options.type))
            continue;
        make_system(&s, *state, &options, longest, &random);
        s.params.alpha = n == 7 ? &s.alpha : NULL;
        s.params.tuning = &tuning;
        lend_matrix(&lent, *state, &s.params);
        device_entries = n != 0;
        multiplies_and_updates(&s, &lent.params, &random);
        take_back(&lent);
        multiplies_and_updates(&s, &s.params, &random); /* host arrays, brought to the device */
        device_entries = 0;
        test_sparse_free(&s);
    }
}

/* A plan that the device has converted has the statistics and the bytes of the host's. */
static void tells_the_same_analysis(void **state)
{
    test_random random = {test_seed()};
    const sparse_options options = {.type = WF_TYPE_F32};
    sparse_system s;
    lent_matrix lent;
    wf_spmv_analysis told[2];
    const wf_caps *caps = wf_device_caps(*state);
    const uint32_t needed = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    const bool slices = (caps->subgroup_operations & needed) == needed &&
                        (caps->subgroup_min == caps->subgroup_max || caps->subgroup_size_control);
    const wf_tuning tuning = {.size = sizeof tuning, .variant = slices ? "sliced" : "row"};
    make_system(&s, *state, &options, 3000, &random);
    s.params.tuning = &tuning;
    lend_matrix(&lent, *state, &s.params);
    const wf_spmv_params *params[] = {&s.params, &lent.params};
    for (int i = 0; i < 2; i++) {
        wf_plan *plan = NULL;
        device_entries = i;
        assert_int_equal(wf_spmv_plan(*state, params[i], &plan), WF_SUCCESS);
        device_entries = 0;
        memset(&told[i], 0, sizeof told[i]);
        told[i].size = sizeof told[i];
        assert_int_equal(wf_spmv_analysis_of(plan, &told[i]), WF_SUCCESS);
        told[i].seconds = told[i].statistics_seconds = 0;
        wf_plan_destroy(&plan);
    }
    assert_memory_equal(&told[0], &told[1], sizeof told[0]);
    take_back(&lent);
    test_sparse_free(&s);
}

/* The device finds what the host finds, and says it in the same words. */
static void refuses_what_the_host_refuses(void **state)
{
    test_random random = {test_seed()};
    const sparse_options options = {.type = WF_TYPE_F32};
    sparse_system s;
    make_system(&s, *state, &options, 3000, &random);
    test_expect_errors(true);
    for (uint32_t n = 0; n < 4; n++) {
        uint32_t *const words[] = {&s.row_offsets[0], &s.row_offsets[150], &s.column_indices[99],
                                   &s.column_indices[500]};
        const uint32_t bad[] = {1, s.row_offsets[149] - 1, 211, UINT32_MAX}, right = *words[n];
        lent_matrix lent;
        wf_plan *plan = NULL;
        char said[256];
        *words[n] = bad[n];
        lend_matrix(&lent, *state, &s.params);
        assert_int_equal(wf_spmv_plan(*state, &s.params, &plan), WF_ERROR_INVALID_ARGUMENT);
        snprintf(said, sizeof said, "%s", test_last_error());
        for (device_entries = 0; device_entries < 2; device_entries++) {
            assert_int_equal(wf_spmv_plan(*state, &lent.params, &plan), WF_ERROR_INVALID_ARGUMENT);
            assert_string_equal(said, test_last_error());
        }
        device_entries = 0;
        *words[n] = right;
        take_back(&lent);
    }
    lent_matrix lent;
    wf_plan *plan = NULL;
    lend_matrix(&lent, *state, &s.params);
    lent.given.column_indices.bytes = 4 * (s.row_offsets[300] - UINT64_C(1));
    for (device_entries = 0; device_entries < 2; device_entries++)
        assert_int_equal(wf_spmv_plan(*state, &lent.params, &plan), WF_ERROR_BINDING);
    device_entries = 0;
    lent.params.row_offsets = s.row_offsets;
    assert_int_equal(wf_spmv_plan(*state, &lent.params, &plan), WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
    take_back(&lent);
    test_sparse_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multiplies_from_buffers),
        cmocka_unit_test(tells_the_same_analysis),
        cmocka_unit_test(refuses_what_the_host_refuses),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
