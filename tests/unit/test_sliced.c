/* The sliced format on the host: what it holds is the matrix, and it is as small as it should
 * be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernels/spmv/formats/equal.h"
#include "kernels/spmv/formats/sliced.h"

enum { SIDE = 40, CELLS = SIDE * SIDE * SIDE, SUBGROUP = 32 };

typedef struct stencil_matrix {
    uint32_t row_offsets[CELLS + 1], column_indices[27 * CELLS];
    float values[27 * CELLS];
    wf_spmv_params params;
} stencil_matrix;

static void add_neighbours(stencil_matrix *m, int x, int y, int z, uint32_t *entries)
{
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                const int i = x + dx, j = y + dy, k = z + dz;
                if (i < 0 || j < 0 || k < 0 || i >= SIDE || j >= SIDE || k >= SIDE)
                    continue;
                m->column_indices[*entries] = (uint32_t)((k * SIDE + j) * SIDE + i);
                m->values[*entries] = (float)*entries + 1;
                (*entries)++;
            }
}

static stencil_matrix *make_stencil(void)
{
    stencil_matrix *m = calloc(1, sizeof *m);
    uint32_t entries = 0;
    assert_non_null(m);
    for (int row = 0; row < CELLS; row++) {
        add_neighbours(m, row % SIDE, row / SIDE % SIDE, row / (SIDE * SIDE), &entries);
        m->row_offsets[row + 1] = entries;
    }
    m->params = (wf_spmv_params){.size = sizeof m->params,
                                 .rows = CELLS,
                                 .columns = CELLS,
                                 .row_offsets = m->row_offsets,
                                 .column_indices = m->column_indices,
                                 .values = m->values,
                                 .type = WF_TYPE_F32};
    return m;
}

static uint32_t width_of(const wfi_sliced *s, uint32_t slice)
{
    return (s->pattern[4 * slice + 2] >> WFI_SLICED_WIDTH_SHIFT) & 3;
}

/* By the offsets of a slice, each entry is in its own column, and padding in one of its row. */
static void check_offsets(const stencil_matrix *m, const wfi_sliced *s, uint32_t slice)
{
    const uint32_t *words = s->pattern + (size_t)4 * slice, *at = s->pattern + (size_t)4 * words[0];
    const uint32_t log_height = words[2] >> WFI_SLICED_HEIGHT_SHIFT & 15;
    const uint32_t loads = words[2] & 4095, step = SUBGROUP >> log_height;
    for (uint32_t slot = 0; slot < 4 * loads; slot++)
        for (uint32_t lane = 0; lane < SUBGROUP; lane++) {
            const uint32_t row = words[3] + (lane & ((UINT32_C(1) << log_height) - 1));
            const uint32_t part = lane >> log_height, load = slot / 4;
            const uint32_t *offsets = at + 4 + SUBGROUP + (size_t)4 * (load * step + part);
            const bool there = at[4 + lane] >> slot & 1;
            const uint32_t entry =
                s->places[((words[1] + load) * (uint64_t)SUBGROUP + lane) * 4 + slot % 4];
            const uint32_t column = row + (there ? offsets[slot % 4] : at[0]);
            bool of_row = false;
            for (uint32_t i = m->row_offsets[row]; i < m->row_offsets[row + 1]; i++)
                of_row = of_row || m->column_indices[i] == column;
            assert_int_equal(there, entry != UINT32_MAX);
            assert_true(of_row);
            if (there)
                assert_int_equal(m->column_indices[entry], column);
        }
}

/* Rows at the grid's faces lack entries, but those that they have are on their neighbours'
 * diagonals: a few lists of offsets do for nearly all slices, of rows whole or in parts, a byte a
 * column for the others. */
static void a_stencil_takes_a_few_offsets(void **state)
{
    (void)state;
    stencil_matrix *m = make_stencil();
    static const uint32_t loads[] = {8, 2};
    for (int t = 0; t < 2; t++) {
        const wfi_sliced_params params = {&m->params, 0, CELLS, SUBGROUP, loads[t], 1, 8};
        wfi_sliced s;
        uint32_t with_offsets = 0;
        assert_int_equal(wfi_sliced_make(&params, &s), WF_SUCCESS);
        for (uint32_t i = 0; i < s.slices; i++) {
            const uint32_t width = width_of(&s, i);
            if (t == 0)
                assert_true(width == 0 || width == WFI_SLICED_OFFSETS);
            with_offsets += width == WFI_SLICED_OFFSETS;
            if (width == WFI_SLICED_OFFSETS)
                check_offsets(m, &s, i);
        }
        assert_true(with_offsets > s.slices * 9 / 10);
        assert_true(s.pattern_words < m->row_offsets[CELLS] / 8); /* half a byte an entry */
        wfi_sliced_free(&s);
    }
    free(m);
}

/* Every value is there once; the rest is padding of zeros. */
static void values_are_kept(void **state)
{
    (void)state;
    stencil_matrix *m = make_stencil();
    static const uint32_t loads[] = {1, 2, 8}, windows[] = {1, 256, UINT32_MAX};
    const uint32_t entries = m->row_offsets[CELLS];
    for (int t = 0; t < 3; t++)
        for (int w = 0; w < 3; w++) {
            const wfi_sliced_params params = {&m->params, 0,          CELLS, SUBGROUP,
                                              loads[t],   windows[w], 1};
            wfi_sliced s;
            double sum = 0;
            uint32_t there = 0;
            assert_int_equal(wfi_sliced_make(&params, &s), WF_SUCCESS);
            for (uint64_t i = 0; i < s.place_count; i++)
                if (s.places[i] != UINT32_MAX) {
                    sum += (double)m->values[s.places[i]];
                    there++;
                }
            assert_int_equal(there, entries);
            assert_true(sum == (double)entries * (entries + 1) / 2);
            wfi_sliced_free(&s);
        }
    free(m);
}

/* Counts the rows that the blocks' words name. */
static void count_rows(const wfi_equal *e, uint32_t slices, uint32_t *seen)
{
    for (uint32_t block = e->group_row_blocks; block < e->blocks; block++)
        for (uint32_t i = 0; i < slices * SUBGROUP; i++) {
            const uint32_t word = e->pattern[block * e->stride + i];
            if (!(word & WFI_EQUAL_NONE))
                seen[word & WFI_EQUAL_ROW_MASK]++;
        }
    for (uint32_t block = 0; block < e->group_row_blocks;) {
        const uint32_t *words = e->pattern + block * e->stride;
        const uint32_t row = words[0] & WFI_EQUAL_ROW_MASK;
        if (row != WFI_EQUAL_ROW_MASK)
            seen[row] += words[1] == words[2];
        block += UINT32_C(1) << (words[3] & 15);
    }
}

/* Equal blocks hold every value once and name every row once, also rows of group_rows and
 * segments. */
static void equal_blocks_keep_the_matrix(void **state)
{
    (void)state;
    static const struct {
        uint32_t loads, slices, window, row_subgroups;
    } shapes[] = {
        {1, 1, 1, 1}, {1, 4, 256, 2}, {2, 1, 1, 4}, {2, 8, UINT32_MAX, 1}, {8, 2, 256, 8}};
    stencil_matrix *m = make_stencil();
    /* Rows without entries, and two that took theirs: one for a row_subgroups, one for segments. */
    m->row_offsets[1] = m->row_offsets[2] = m->row_offsets[3] = m->row_offsets[4] =
        m->row_offsets[5] = 0;
    for (uint32_t row = 200; row < 1500; row++)
        m->row_offsets[row] = m->row_offsets[200];
    const uint32_t entries = m->row_offsets[CELLS];
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const wfi_equal_params params = {&m->params,
                                         0,
                                         CELLS,
                                         SUBGROUP,
                                         shapes[i].loads,
                                         shapes[i].slices,
                                         shapes[i].window,
                                         shapes[i].row_subgroups,
                                         8,
                                         .upto = UINT32_MAX};
        uint32_t *seen = calloc(CELLS, sizeof *seen), *taken = calloc(entries, sizeof *taken);
        wfi_equal e;
        assert_true(seen && taken);
        assert_int_equal(wfi_equal_make(&params, &e), WF_SUCCESS);
        assert_true(e.group_row_blocks > 0);
        assert_int_equal(e.group_row_blocks % 8 + e.blocks % 8, 0);
        for (uint64_t k = 0; k < e.place_count; k++)
            if (e.places[k] != UINT32_MAX)
                taken[e.places[k]]++;
        count_rows(&e, shapes[i].slices, seen);
        for (uint32_t k = 0; k < entries; k++)
            assert_int_equal(taken[k], 1);
        for (uint32_t row = 0; row < CELLS; row++)
            assert_int_equal(seen[row], 1);
        wfi_equal_free(&e);
        free(seen);
        free(taken);
    }
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stencil_takes_a_few_offsets),
        cmocka_unit_test(values_are_kept),
        cmocka_unit_test(equal_blocks_keep_the_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
