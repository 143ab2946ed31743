#include "csr_matrix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_ROWS = 2200 };

static void add_entry(csr_matrix *m, uint32_t column)
{
    m->columns[m->offsets[m->params.rows + 1]++] = column;
}

static void end_row(csr_matrix *m)
{
    m->params.rows++;
    m->offsets[m->params.rows + 1] = m->offsets[m->params.rows];
}

static void start_tall(csr_matrix *m, const char *name, uint32_t most_rows, uint32_t columns,
                       uint32_t entries)
{
    *m = (csr_matrix){.params = {.size = sizeof m->params, .columns = columns}};
    snprintf(m->name, sizeof m->name, "%s", name);
    m->offsets = calloc(most_rows + 2, sizeof *m->offsets);
    m->columns = calloc(entries + 1, sizeof *m->columns);
    m->values = calloc(entries + 1, sizeof *m->values);
    assert_true(m->offsets && m->columns && m->values);
}

static void start(csr_matrix *m, const char *name, uint32_t columns, uint32_t entries)
{
    start_tall(m, name, MOST_ROWS, columns, entries);
}

static void finish(csr_matrix *m, test_random *random)
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

void csr_matrix_free(csr_matrix *m)
{
    free(m->offsets);
    free(m->columns);
    free(m->values);
}

/* The matrix of a star or box stencil; in some matrices random neighbours are left out, so that
 * diagonals have gaps in the middle too. */
static void make_grid(csr_matrix *m, test_random *random)
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
static void make_random(csr_matrix *m, test_random *random)
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
static void make_long(csr_matrix *m, test_random *random)
{
    start(m, "long rows", 5000, 20 * 5000);
    for (uint32_t row = 0; row < 20; row++) {
        const uint32_t length = 600 + test_random_below(random, 4000);
        for (uint32_t i = 0; i < length; i++)
            add_entry(m, test_random_below(random, 5000));
        end_row(m);
    }
}

static void make_empty(csr_matrix *m, test_random *random)
{
    start(m, "no entries", 17, 1);
    for (uint32_t row = 0; row <= test_random_below(random, 600); row++)
        end_row(m);
}

/* Diagonals as far apart as 31 bits allow. */
static void make_far(csr_matrix *m, test_random *random)
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

void csr_matrix_make_tall(csr_matrix *m, test_random *random)
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

void csr_matrix_make_wide(csr_matrix *m, test_random *random)
{
    enum { ROWS = 2000, A_ROW = 200 };
    start(m, "wide", 25 * A_ROW, ROWS * A_ROW);
    for (uint32_t row = 0; row < ROWS; row++) {
        for (uint32_t i = 0; i < A_ROW; i++)
            add_entry(m, 25 * i + row % 25);
        end_row(m);
    }
    finish(m, random);
}

void csr_matrix_make(csr_matrix *m, uint32_t number, test_random *random)
{
    void (*const kinds[])(csr_matrix *, test_random *) = {make_grid,   make_random, make_long,
                                                          make_random, make_grid,   make_far,
                                                          make_random, make_empty};
    kinds[number % 8](m, random);
    finish(m, random);
}

wfi_device_csr csr_matrix_upload(wf_device *device, const csr_matrix *m)
{
    wfi_device_csr csr;
    assert_int_equal(wfi_device_csr_upload(device, &m->params, &csr), WF_SUCCESS);
    return csr;
}

uint32_t csr_matrix_cases(uint32_t of_all)
{
    return test_emulated() ? 2 : of_all;
}
