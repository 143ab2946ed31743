/* What shaders make of a matrix in device memory: the same bytes of its formats as the host, whose
 * code is the reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/transfer.h"
#include "csr_matrix.h"
#include "kernels/spmv/analysis/equal_convert.h"
#include "kernels/spmv/analysis/sliced_convert.h"
#include "kernels/spmv/analysis/stream_convert.h"
#include "kernels/spmv/analysis/values.h"

/* --------------------------------------------------------------------------------------- sliced */

static uint32_t *read_words(wf_buffer *buffer, uint64_t words)
{
    uint32_t *data = calloc(words + 1, 4);
    assert_non_null(data);
    assert_int_equal(wf_buffer_read(buffer, 0, data, words * 4), WF_SUCCESS);
    return data;
}

/* The values in the order of the format: padding is -0, and entries that are -0 become 0. */
static unsigned char *values_of(const csr_matrix *m, const uint32_t *places, uint64_t count)
{
    const size_t size = wf_type_size(m->params.type);
    unsigned char padding[8], zero[8] = {0}, *values = calloc(count + 1, size);
    assert_non_null(values);
    wf_element_set(m->params.type, padding, 0, -0.0);
    for (uint64_t i = 0; i < count; i++) {
        const unsigned char *from = (const unsigned char *)m->values + places[i] * size;
        if (places[i] == UINT32_MAX)
            from = padding;
        else if (memcmp(from, padding, size) == 0)
            from = zero;
        memcpy(values + i * size, from, size);
    }
    return values;
}

/* A format as the device made it, and as the host did. */
typedef struct formats {
    wf_buffer *pattern, *places, *values;
    const uint32_t *host_pattern, *host_places;
    uint64_t pattern_words, place_count;
} formats;

/* Whether all that was made is what the host makes. */
static bool same_arrays(const csr_matrix *m, const formats *f)
{
    uint32_t *words = read_words(f->pattern, f->pattern_words);
    bool same = memcmp(words, f->host_pattern, f->pattern_words * 4) == 0;
    free(words);
    if (f->places) {
        words = read_words(f->places, f->place_count);
        same = same && memcmp(words, f->host_places, f->place_count * 4) == 0;
        free(words);
    }
    if (f->values) {
        const uint64_t bytes = f->place_count * wf_type_size(m->params.type);
        unsigned char *values = values_of(m, f->host_places, f->place_count);
        words = read_words(f->values, bytes / 4);
        same = same && memcmp(words, values, bytes) == 0;
        free(words);
        free(values);
    }
    return same;
}

static bool same_sizes(const wfi_sliced *a, const wfi_sliced *b)
{
    return a->pattern_words == b->pattern_words && a->place_count == b->place_count &&
           a->slices == b->slices && a->segments == b->segments && a->long_rows == b->long_rows &&
           a->group_row_slices == b->group_row_slices && a->segments_at == b->segments_at &&
           a->list_at == b->list_at;
}

/* Whether the device's conversion equals the host's; prints the parameters where it does not. */
static bool converts_alike(wf_device *device, const csr_matrix *m, const wfi_device_csr *csr,
                           const wfi_sliced_params *params, bool places, uint32_t longest)
{
    wfi_passes passes;
    wfi_sliced host;
    wfi_sliced_made made;
    assert_int_equal(wfi_sliced_make(params, &host), WF_SUCCESS);
    assert_int_equal(wfi_passes_open(device, &passes), WF_SUCCESS);
    assert_int_equal(wfi_sliced_convert(&passes, csr, params, places, longest, &made), WF_SUCCESS);
    if (made.places)
        assert_int_equal(
            wfi_device_values(&passes, csr, made.places, made.sizes.place_count, &made.values),
            WF_SUCCESS);
    const formats f = {made.pattern, made.places,        made.values,     host.pattern,
                       host.places,  host.pattern_words, host.place_count};
    const bool alike = same_sizes(&host, &made.sizes) && same_arrays(m, &f);
    if (!alike)
        print_message("%s, %u x %u: subgroup %u, loads %u, window %u, row_subgroups %u, %s\n",
                      m->name, m->params.rows, m->params.columns, params->subgroup, params->loads,
                      params->window, params->row_subgroups, wf_type_name(csr->type));
    wfi_sliced_made_free(&made);
    wfi_passes_close(&passes);
    wfi_sliced_free(&host);
    return alike;
}

static wfi_sliced_params draw_params(const csr_matrix *m, test_random *random)
{
    static const uint32_t subgroups[] = {4, 32, 128}, loads[] = {1, 2, 4, 8, 16, 3},
                          windows[] = {1, 1, 256, 2048, UINT32_MAX, 37},
                          row_subgroups[] = {1, 2, 8, 32};
    return (wfi_sliced_params){.matrix = &m->params,
                               .rows = m->params.rows,
                               .subgroup = subgroups[test_random_below(random, 3)],
                               .loads = loads[test_random_below(random, 6)],
                               .window = windows[test_random_below(random, 6)],
                               .row_subgroups = row_subgroups[test_random_below(random, 4)]};
}

static void makes_the_slices_of_the_host(void **state)
{
    test_random random = {test_seed()};
    for (uint32_t n = 0; n < csr_matrix_cases(20); n++) {
        csr_matrix m;
        wfi_spmv_counts counts;
        csr_matrix_make(&m, n, &random);
        m.params.type = (wf_type)(n % 3); /* f32, f64, f16: conversion only moves bits */
        wfi_device_csr csr = csr_matrix_upload(*state, &m);
        wfi_spmv_count(&m.params, &counts);
        wfi_sliced_params params = draw_params(&m, &random);
        const bool places = test_random_below(&random, 2) != 0;
        assert_true(converts_alike(*state, &m, &csr, &params, places, counts.longest));
        wfi_device_csr_close(&csr);
        csr_matrix_free(&m);
    }
}

/* --------------------------------------------------------------------------------------- equal */

static wfi_equal_params draw_blocks(const csr_matrix *m, uint32_t longest, test_random *random)
{
    static const uint32_t subgroups[] = {4, 32, 128}, loads[] = {1, 2, 4, 3}, slices[] = {1, 2, 4},
                          windows[] = {1, 256, 37}, row_subgroups[] = {1, 2, 8}, groups[] = {1, 2};
    const uint32_t shared = row_subgroups[test_random_below(random, 3)];
    const uint32_t above = test_random_below(random, 3) ? 0 : test_random_below(random, 40);
    return (wfi_equal_params){
        .matrix = &m->params,
        .rows = m->params.rows,
        .subgroup = subgroups[test_random_below(random, 3)],
        .loads = loads[test_random_below(random, 4)],
        .slices = slices[test_random_below(random, 3)],
        .window = windows[test_random_below(random, 3)],
        .row_subgroups = shared,
        .group = shared * groups[test_random_below(random, 2)],
        .above = above,
        .upto = test_random_below(random, 3) ? UINT32_MAX : test_random_below(random, longest + 1)};
}

static bool same_block_sizes(const wfi_equal *a, const wfi_equal *b)
{
    return a->blocks == b->blocks &&
           (a->blocks == 0 ||
            (a->pattern_words == b->pattern_words && a->place_count == b->place_count &&
             a->stride == b->stride && a->group_row_blocks == b->group_row_blocks &&
             a->segments == b->segments && a->width == b->width && a->based == b->based));
}

static bool converts_blocks_alike(wf_device *device, const csr_matrix *m, const wfi_device_csr *csr,
                                  const wfi_equal_params *params, bool places, uint32_t longest)
{
    wfi_passes passes;
    wfi_equal host;
    wfi_equal_made made;
    assert_int_equal(wfi_equal_make(params, &host), WF_SUCCESS);
    assert_int_equal(wfi_passes_open(device, &passes), WF_SUCCESS);
    assert_int_equal(wfi_equal_convert(&passes, csr, params, places, longest, &made), WF_SUCCESS);
    const formats f = {made.pattern, made.places,        made.values,     host.pattern,
                       host.places,  host.pattern_words, host.place_count};
    const bool alike =
        same_block_sizes(&host, &made.sizes) && (host.blocks == 0 || same_arrays(m, &f));
    if (!alike)
        print_message("%s, %u x %u: subgroup %u, loads %u, slices %u, window %u, row_subgroups %u, "
                      "group %u, above %u, up to %u, %s; blocks %u and %u\n",
                      m->name, m->params.rows, m->params.columns, params->subgroup, params->loads,
                      params->slices, params->window, params->row_subgroups, params->group,
                      params->above, params->upto, wf_type_name(csr->type), host.blocks,
                      made.sizes.blocks);
    wfi_equal_made_free(&made);
    wfi_passes_close(&passes);
    wfi_equal_free(&host);
    return alike;
}

static void makes_the_blocks_of_the_host(void **state)
{
    test_random random = {test_seed()};
    for (uint32_t n = 0; n < csr_matrix_cases(24); n++) {
        csr_matrix m;
        wfi_spmv_counts counts;
        csr_matrix_make(&m, n, &random);
        m.params.type = (wf_type)(n % 3);
        wfi_device_csr csr = csr_matrix_upload(*state, &m);
        wfi_spmv_count(&m.params, &counts);
        wfi_equal_params params = draw_blocks(&m, counts.longest, &random);
        const bool places = test_random_below(&random, 2) != 0;
        assert_true(converts_blocks_alike(*state, &m, &csr, &params, places, counts.longest));
        wfi_device_csr_close(&csr);
        csr_matrix_free(&m);
    }
}

/* -------------------------------------------------------------------------------------- stream */

static bool streams_alike(wf_device *device, const csr_matrix *m, const wfi_device_csr *csr,
                          const wfi_csr_stream_params *params, bool places)
{
    wfi_passes passes;
    wfi_csr_stream host;
    wfi_csr_stream_made made;
    wfi_csr_stream_measure(params, &host);
    assert_int_equal(wfi_csr_stream_make(params, &host), WF_SUCCESS);
    assert_int_equal(wfi_passes_open(device, &passes), WF_SUCCESS);
    assert_int_equal(wfi_csr_stream_convert(&passes, csr, params, places, &made), WF_SUCCESS);
    if (!made.values)
        assert_int_equal(
            wfi_device_values(&passes, csr, made.places, made.sizes.place_count, &made.values),
            WF_SUCCESS);
    const formats f = {made.pattern, made.places,        made.values,     host.pattern,
                       host.places,  host.pattern_words, host.place_count};
    const bool alike = host.blocks == made.sizes.blocks && host.width == made.sizes.width &&
                       host.stride == made.sizes.stride &&
                       host.pattern_words == made.sizes.pattern_words &&
                       host.place_count == made.sizes.place_count && same_arrays(m, &f);
    if (!alike)
        print_message("%s, %u x %u: %u entries and %u rows a block, %s; blocks %u and %u\n",
                      m->name, m->params.rows, m->params.columns, params->block_entries,
                      params->block_rows, wf_type_name(csr->type), host.blocks, made.sizes.blocks);
    wfi_csr_stream_made_free(&made);
    wfi_passes_close(&passes);
    wfi_csr_stream_free(&host);
    return alike;
}

/* Blocks as short as rows allow, or longer; without many rows where there are many blocks. */
static wfi_csr_stream_params draw_streams(const csr_matrix *m, uint32_t longest,
                                          test_random *random)
{
    static const uint32_t rows[] = {4, 32, 512, 2048, 16384};
    const uint32_t least = longest / 4 + 1, most = 16380 / 4;
    const uint32_t more = test_random_below(random, 3) ? test_random_below(random, 300) : 0;
    const uint32_t entries = 4 * (least + more < most ? least + more : most);
    wfi_csr_stream_params params = {&m->params, 0, m->params.rows, entries,
                                    rows[test_random_below(random, 5)]};
    wfi_csr_stream sizes = {.pattern_words = UINT64_MAX};
    while (longest <= entries && sizes.pattern_words > 1 << 21 && params.block_rows > 2) {
        params.block_rows /= 2;
        wfi_csr_stream_measure(&params, &sizes);
    }
    return params;
}

static void makes_the_streams_of_the_host(void **state)
{
    test_random random = {test_seed()};
    for (uint32_t n = 0; n < csr_matrix_cases(12); n++) {
        csr_matrix m;
        wfi_spmv_counts counts;
        if (n % 4 == 1)
            csr_matrix_make_tall(&m, &random);
        else
            csr_matrix_make(&m, n, &random);
        m.params.type = (wf_type)(n % 3);
        wfi_spmv_count(&m.params, &counts);
        const wfi_csr_stream_params params = draw_streams(&m, (uint32_t)counts.longest, &random);
        if (counts.longest <= params.block_entries) {
            wfi_device_csr csr = csr_matrix_upload(*state, &m);
            const bool places = test_random_below(&random, 2) != 0;
            assert_true(streams_alike(*state, &m, &csr, &params, places));
            wfi_device_csr_close(&csr);
        }
        csr_matrix_free(&m);
    }
}

/* What comes to a buffer when somebody waits for transfers, and not before. */
static struct {
    wf_buffer *to;
    const void *data;
    uint64_t bytes;
} late;

wf_result __real_wfi_transfer_wait(const wf_transfer *transfer);
wf_result __wrap_wfi_transfer_wait(const wf_transfer *transfer);

wf_result __wrap_wfi_transfer_wait(const wf_transfer *transfer)
{
    if (late.to)
        assert_int_equal(wf_buffer_write(late.to, 0, late.data, late.bytes), WF_SUCCESS);
    late.to = NULL;
    return __real_wfi_transfer_wait(transfer);
}

/* Columns may still be on their way when a conversion begins. */
static void waits_for_columns(void **state)
{
    test_random random = {test_seed()};
    csr_matrix m;
    wfi_spmv_counts counts;
    csr_matrix_make(&m, 0, &random);
    wfi_spmv_count(&m.params, &counts);
    const wfi_csr_stream_params params = draw_streams(&m, (uint32_t)counts.longest, &random);
    wfi_device_csr csr = csr_matrix_upload(*state, &m);
    late.data = m.columns;
    late.bytes = counts.entries * sizeof *m.columns;
    assert_int_equal(wf_buffer_fill(csr.own[1], 0, late.bytes, 0), WF_SUCCESS);
    late.to = csr.own[1];
    assert_true(streams_alike(*state, &m, &csr, &params, true));
    assert_null(late.to);
    wfi_device_csr_close(&csr);
    csr_matrix_free(&m);
}

/* The comparisons find a planted wrong column. */
static void finds_a_planted_fault(void **state)
{
    test_random random = {test_seed()};
    csr_matrix m;
    wfi_spmv_counts counts;
    csr_matrix_make(&m, 0, &random);
    wfi_spmv_count(&m.params, &counts);
    const uint32_t entry = m.offsets[m.params.rows] / 2, right = m.columns[entry];
    m.columns[entry] = right ? right - 1 : 1;
    wfi_device_csr csr = csr_matrix_upload(*state, &m);
    m.columns[entry] = right;
    const wfi_sliced_params params = {&m.params, 0, m.params.rows, 32, 8, 1, 8};
    assert_false(converts_alike(*state, &m, &csr, &params, true, counts.longest));
    const wfi_csr_stream_params streams = draw_streams(&m, (uint32_t)counts.longest, &random);
    assert_false(streams_alike(*state, &m, &csr, &streams, true));
    wfi_device_csr_close(&csr);
    csr_matrix_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_the_slices_of_the_host),
        cmocka_unit_test(makes_the_blocks_of_the_host),
        cmocka_unit_test(makes_the_streams_of_the_host),
        cmocka_unit_test(waits_for_columns),
        cmocka_unit_test(finds_a_planted_fault),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
