/* What shaders make of a matrix in device memory: the same counts and the same bytes of its formats
 * as the host, whose code is the reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/transfer.h"
#include "sparse.h"
#include "kernels/spmv/analysis/equal_convert.h"
#include "kernels/spmv/analysis/order.h"
#include "kernels/spmv/analysis/sliced_convert.h"
#include "kernels/spmv/analysis/stream_convert.h"
#include "kernels/spmv/analysis/values.h"

enum { MOST_ROWS = 2200 };

typedef struct matrix {
    char name[64];
    wf_spmv_params params;
    uint32_t *offsets, *columns;
    double *values; /* room for the largest type */
} matrix;

static void add_entry(matrix *m, uint32_t column)
{
    m->columns[m->offsets[m->params.rows + 1]++] = column;
}

static void end_row(matrix *m)
{
    m->params.rows++;
    m->offsets[m->params.rows + 1] = m->offsets[m->params.rows];
}

static void start_tall(matrix *m, const char *name, uint32_t most_rows, uint32_t columns,
                       uint32_t entries)
{
    *m = (matrix){.params = {.size = sizeof m->params, .columns = columns}};
    snprintf(m->name, sizeof m->name, "%s", name);
    m->offsets = calloc(most_rows + 2, sizeof *m->offsets);
    m->columns = calloc(entries + 1, sizeof *m->columns);
    m->values = calloc(entries + 1, sizeof *m->values);
    assert_true(m->offsets && m->columns && m->values);
}

static void start(matrix *m, const char *name, uint32_t columns, uint32_t entries)
{
    start_tall(m, name, MOST_ROWS, columns, entries);
}

static void finish(matrix *m, test_random *random)
{
    m->params.row_offsets = m->offsets;
    m->params.column_indices = m->columns;
    m->params.values = m->values;
    for (uint32_t i = 0; i < 2 * m->offsets[m->params.rows]; i++) {
        const uint32_t word = i % 5 == 0   ? UINT32_C(0x80000000)
                              : i % 7 == 0 ? UINT32_C(0x80008000)
                                           : (uint32_t)test_random_bits(random);
        memcpy((char *)m->values + 4 * (size_t)i, &word, 4);
    }
}

static void free_matrix(matrix *m)
{
    free(m->offsets);
    free(m->columns);
    free(m->values);
}

/* The matrix of a star or box stencil; in some matrices random neighbours are left out, so that
 * diagonals have gaps in the middle too. */
static void make_grid(matrix *m, test_random *random)
{
    const int side = 6 + (int)test_random_below(random, 7);
    const bool box = test_random_below(random, 2), holes = test_random_below(random, 2);
    start(m, box ? "box" : "star", (uint32_t)(side * side * side), 27 * MOST_ROWS);
    for (int cell = 0; cell < side * side * side; cell++) {
        const int x = cell % side, y = cell / side % side, z = cell / side / side;
        for (int n = 0; n < 27; n++) {
            const int dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = n / 9 - 1;
            const int i = x + dx, j = y + dy, k = z + dz;
            const bool inside = i >= 0 && j >= 0 && k >= 0 && i < side && j < side && k < side;
            if (inside && (box || abs(dx) + abs(dy) + abs(dz) < 2) &&
                (!holes || n == 13 || test_random_below(random, 40)))
                add_entry(m, (uint32_t)((k * side + j) * side + i));
        }
        end_row(m);
    }
}

/* Rows of all lengths, in random or ascending columns, far from each other or near. */
static void make_random(matrix *m, test_random *random)
{
    const uint32_t rows = 1 + test_random_below(random, MOST_ROWS);
    const uint32_t columns = 1 + test_random_below(random, 200000);
    const uint32_t most = 1 + test_random_below(random, 24);
    const uint32_t band = test_random_below(random, 2) ? columns : 1 + columns / 50;
    const bool sorted = test_random_below(random, 2), skewed = test_random_below(random, 2);
    start(m, sorted ? "random, ascending" : "random", columns, MOST_ROWS * 24 + 30000);
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t length = test_random_below(random, most + 1);
        if (skewed && test_random_below(random, 400) == 0)
            length = test_random_below(random, row == 0 ? 20000 : 2000);
        if (m->offsets[row] + length > MOST_ROWS * 24 + 20000)
            length = 0;
        const uint32_t low = band < columns ? test_random_below(random, columns - band) : 0;
        uint32_t column = 0;
        for (uint32_t i = 0; i < length; i++) {
            column = sorted ? column + test_random_below(random, band / length + 1)
                            : test_random_below(random, band);
            add_entry(m, low + column);
        }
        end_row(m);
    }
}

/* Every row is too long for one subgroup. */
static void make_long(matrix *m, test_random *random)
{
    start(m, "long rows", 5000, 20 * 5000);
    for (uint32_t row = 0; row < 20; row++) {
        const uint32_t length = 600 + test_random_below(random, 4000);
        for (uint32_t i = 0; i < length; i++)
            add_entry(m, test_random_below(random, 5000));
        end_row(m);
    }
}

static void make_empty(matrix *m, test_random *random)
{
    start(m, "no entries", 17, 1);
    for (uint32_t row = 0; row <= test_random_below(random, 600); row++)
        end_row(m);
}

/* Diagonals as far apart as 31 bits allow. */
static void make_far(matrix *m, test_random *random)
{
    const uint32_t columns = INT32_MAX;
    start(m, "far apart", columns, MOST_ROWS);
    for (uint32_t row = 0; row < 500; row++) {
        if (row % 9)
            add_entry(m, test_random_below(random, 3) ? row : 0);
        if (row % 5)
            add_entry(m, columns - 1 - (row % 3 ? 0 : row));
        end_row(m);
    }
}

/* More rows than one work-item goes through (stream_convert.c), some of them empty for long. */
static void make_tall(matrix *m, test_random *random)
{
    const uint32_t rows = 66000 + test_random_below(random, 80000);
    uint32_t empty = 0;
    start_tall(m, "tall", rows, 30 + test_random_below(random, 90000), 4 * rows);
    for (uint32_t row = 0; row < rows; row++) {
        if (empty == 0 && test_random_below(random, 3000) == 0)
            empty = test_random_below(random, 9000);
        const uint32_t length = empty > 0 ? 0 : test_random_below(random, 5);
        empty -= empty > 0;
        for (uint32_t i = 0; i < length; i++)
            add_entry(m, test_random_below(random, m->params.columns));
        end_row(m);
    }
    finish(m, random);
}

static void make(matrix *m, uint32_t number, test_random *random)
{
    void (*const kinds[])(matrix *, test_random *) = {make_grid,   make_random, make_long,
                                                      make_random, make_grid,   make_far,
                                                      make_random, make_empty};
    kinds[number % 8](m, random);
    finish(m, random);
}

static wfi_device_csr upload(wf_device *device, const matrix *m)
{
    wfi_device_csr csr;
    assert_int_equal(wfi_device_csr_upload(device, &m->params, &csr), WF_SUCCESS);
    return csr;
}

static uint32_t cases(uint32_t of_all)
{
    return test_emulated() ? 2 : of_all;
}

/* ------------------------------------------------------------------------------ sums and order */

static void sums_and_sorts_as_the_host(void **state)
{
    static const uint32_t counts[] = {1, 1024, 1025, 20000, 1050000}; /* one to three levels */
    test_random random = {test_seed()};
    wfi_passes passes;
    assert_int_equal(wfi_passes_open(*state, &passes), WF_SUCCESS);
    for (uint32_t n = 0; n < cases(5); n++) {
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
    for (uint32_t n = 0; n < cases(8); n++) {
        matrix m;
        wfi_spmv_counts host, counted;
        make(&m, n, &random);
        wfi_device_csr csr = upload(*state, &m);
        wfi_spmv_count(&m.params, &host);
        wfi_device_csr lent = csr; /* its entries are not known yet */
        memset(lent.own, 0, sizeof lent.own);
        lent.entries = 0;
        assert_int_equal(wfi_device_csr_count(&lent, &counted), WF_SUCCESS);
        assert_int_equal(lent.entries, host.entries);
        assert_memory_equal(&host, &counted, sizeof host);
        wfi_device_csr_close(&csr);
        free_matrix(&m);
    }
}

/* Arrays of a megabyte and more come while the device counts, and may be given up meanwhile. */
static void counts_while_values_come(void **state)
{
    enum { ROWS = 2000, A_ROW = 200 };
    test_random random = {test_seed()};
    matrix m;
    wfi_spmv_counts host, counted;
    start(&m, "wide", 25 * A_ROW, ROWS * A_ROW);
    for (uint32_t row = 0; row < ROWS; row++) {
        for (uint32_t i = 0; i < A_ROW; i++)
            add_entry(&m, 25 * i + row % 25);
        end_row(&m);
    }
    finish(&m, &random);
    wfi_spmv_count(&m.params, &host);
    wfi_device_csr csr = upload(*state, &m);
    assert_true(csr.coming[1] && csr.coming[2]);
    assert_int_equal(wfi_device_csr_count(&csr, &counted), WF_SUCCESS);
    assert_memory_equal(&host, &counted, sizeof host);
    assert_int_equal(wfi_device_csr_wait(&csr, WFI_CSR_VALUES), WF_SUCCESS);
    assert_false(wfi_device_csr_comes(&csr));
    float *values = malloc(ROWS * A_ROW * sizeof *values);
    assert_non_null(values);
    assert_int_equal(wf_buffer_read(csr.own[2], 0, values, ROWS * A_ROW * sizeof *values),
                     WF_SUCCESS);
    assert_memory_equal(values, m.values, ROWS * A_ROW * sizeof *values);
    wfi_device_csr_close(&csr);
    csr = upload(*state, &m);
    wfi_device_csr_close(&csr);
    free(values);
    free_matrix(&m);
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

/* --------------------------------------------------------------------------------------- sliced */

static uint32_t *read_words(wf_buffer *buffer, uint64_t words)
{
    uint32_t *data = calloc(words + 1, 4);
    assert_non_null(data);
    assert_int_equal(wf_buffer_read(buffer, 0, data, words * 4), WF_SUCCESS);
    return data;
}

/* The values in the order of the format: padding is -0, and entries that are -0 become 0. */
static unsigned char *values_of(const matrix *m, const uint32_t *places, uint64_t count)
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
static bool same_arrays(const matrix *m, const formats *f)
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
static bool converts_alike(wf_device *device, const matrix *m, const wfi_device_csr *csr,
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

static wfi_sliced_params draw_params(const matrix *m, test_random *random)
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
    for (uint32_t n = 0; n < cases(20); n++) {
        matrix m;
        wfi_spmv_counts counts;
        make(&m, n, &random);
        m.params.type = (wf_type)(n % 3); /* f32, f64, f16: conversion only moves bits */
        wfi_device_csr csr = upload(*state, &m);
        wfi_spmv_count(&m.params, &counts);
        wfi_sliced_params params = draw_params(&m, &random);
        const bool places = test_random_below(&random, 2) != 0;
        assert_true(converts_alike(*state, &m, &csr, &params, places, counts.longest));
        wfi_device_csr_close(&csr);
        free_matrix(&m);
    }
}

/* --------------------------------------------------------------------------------------- equal */

static wfi_equal_params draw_blocks(const matrix *m, uint32_t longest, test_random *random)
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

static bool converts_blocks_alike(wf_device *device, const matrix *m, const wfi_device_csr *csr,
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
    for (uint32_t n = 0; n < cases(24); n++) {
        matrix m;
        wfi_spmv_counts counts;
        make(&m, n, &random);
        m.params.type = (wf_type)(n % 3);
        wfi_device_csr csr = upload(*state, &m);
        wfi_spmv_count(&m.params, &counts);
        wfi_equal_params params = draw_blocks(&m, counts.longest, &random);
        const bool places = test_random_below(&random, 2) != 0;
        assert_true(converts_blocks_alike(*state, &m, &csr, &params, places, counts.longest));
        wfi_device_csr_close(&csr);
        free_matrix(&m);
    }
}

/* -------------------------------------------------------------------------------------- stream */

static bool streams_alike(wf_device *device, const matrix *m, const wfi_device_csr *csr,
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
static wfi_csr_stream_params draw_streams(const matrix *m, uint32_t longest, test_random *random)
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
    for (uint32_t n = 0; n < cases(12); n++) {
        matrix m;
        wfi_spmv_counts counts;
        if (n % 4 == 1)
            make_tall(&m, &random);
        else
            make(&m, n, &random);
        m.params.type = (wf_type)(n % 3);
        wfi_spmv_count(&m.params, &counts);
        const wfi_csr_stream_params params = draw_streams(&m, (uint32_t)counts.longest, &random);
        if (counts.longest <= params.block_entries) {
            wfi_device_csr csr = upload(*state, &m);
            const bool places = test_random_below(&random, 2) != 0;
            assert_true(streams_alike(*state, &m, &csr, &params, places));
            wfi_device_csr_close(&csr);
        }
        free_matrix(&m);
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
    matrix m;
    wfi_spmv_counts counts;
    make(&m, 0, &random);
    wfi_spmv_count(&m.params, &counts);
    const wfi_csr_stream_params params = draw_streams(&m, (uint32_t)counts.longest, &random);
    wfi_device_csr csr = upload(*state, &m);
    late.data = m.columns;
    late.bytes = counts.entries * sizeof *m.columns;
    assert_int_equal(wf_buffer_fill(csr.own[1], 0, late.bytes, 0), WF_SUCCESS);
    late.to = csr.own[1];
    assert_true(streams_alike(*state, &m, &csr, &params, true));
    assert_null(late.to);
    wfi_device_csr_close(&csr);
    free_matrix(&m);
}

/* The comparisons find a planted wrong column. */
static void finds_a_planted_fault(void **state)
{
    test_random random = {test_seed()};
    matrix m;
    wfi_spmv_counts counts;
    make(&m, 0, &random);
    wfi_spmv_count(&m.params, &counts);
    const uint32_t entry = m.offsets[m.params.rows] / 2, right = m.columns[entry];
    m.columns[entry] = right ? right - 1 : 1;
    wfi_device_csr csr = upload(*state, &m);
    m.columns[entry] = right;
    const wfi_sliced_params params = {&m.params, 0, m.params.rows, 32, 8, 1, 8};
    assert_false(converts_alike(*state, &m, &csr, &params, true, counts.longest));
    const wfi_csr_stream_params streams = draw_streams(&m, (uint32_t)counts.longest, &random);
    assert_false(streams_alike(*state, &m, &csr, &streams, true));
    wfi_device_csr_close(&csr);
    free_matrix(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_sorts_as_the_host),
        cmocka_unit_test(counts_as_the_host),
        cmocka_unit_test(counts_while_values_come),
        cmocka_unit_test(takes_small_matrices_once_it_has_compiled),
        cmocka_unit_test(makes_the_slices_of_the_host),
        cmocka_unit_test(makes_the_blocks_of_the_host),
        cmocka_unit_test(makes_the_streams_of_the_host),
        cmocka_unit_test(waits_for_columns),
        cmocka_unit_test(finds_a_planted_fault),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
