/* The sliced format on the host: what it holds is the matrix, and it is as small as it should be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernels/sliced.h"

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

/* Rows at the grid's faces lack entries; they stay level with their neighbours, so that a byte a
 * column is enough everywhere. */
static void a_stencil_takes_a_byte_a_column(void **state)
{
    (void)state;
    stencil_matrix *m = make_stencil();
    const wfi_sliced_params params = {&m->params, 0, CELLS, SUBGROUP, 8, 1, 8};
    wfi_sliced s;
    assert_int_equal(wfi_sliced_make(&params, &s), WF_SUCCESS);
    assert_int_equal(s.slices, CELLS / SUBGROUP);
    for (uint32_t i = 0; i < s.slices; i++)
        assert_int_equal(width_of(&s, i), 0);
    wfi_sliced_free(&s);
    free(m);
}

/* Every value is there once; the rest is padding of zeros. */
static void values_are_kept(void **state)
{
    (void)state;
    stencil_matrix *m = make_stencil();
    static const uint32_t turns[] = {1, 2, 8}, windows[] = {1, 256, UINT32_MAX};
    const uint32_t entries = m->row_offsets[CELLS];
    for (int t = 0; t < 3; t++)
        for (int w = 0; w < 3; w++) {
            const wfi_sliced_params params = {&m->params, 0,          CELLS, SUBGROUP,
                                              turns[t],   windows[w], 1};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stencil_takes_a_byte_a_column),
        cmocka_unit_test(values_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
