/* The bytes that are counted of sparse products, against every access of their shaders written down
 * one by one on a small matrix. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "counting.h"
#include "kernels/families.h"
#include "kernels/spmv/traffic.h"

enum { ROWS = 41, VECTORS = 3 };

/* Rows of all lengths up to 30, some of them empty, and one long one. */
static uint32_t row_length(uint32_t row)
{
    return row == 17 ? 333 : row % 5 == 3 ? 0 : row * 7 % 31;
}

static uint32_t fill_offsets(uint32_t offsets[ROWS + 1])
{
    offsets[0] = 0;
    for (uint32_t row = 0; row < ROWS; row++)
        offsets[row + 1] = offsets[row] + row_length(row);
    return offsets[ROWS];
}

static wfi_problem matrix_of(wf_type type, uint32_t rows, uint32_t length, uint32_t vectors)
{
    return (wfi_problem){.family = WF_FAMILY_SPMV,
                         .type = type,
                         .spmv = {.rows = rows,
                                  .columns = 99,
                                  .entries = rows * (uint64_t)length,
                                  .mean_row = length,
                                  .vectors = vectors}};
}

/* Loads of an entry: its column, its value (f16 as a word of two) and x. */
static double entry_of(wf_type type)
{
    return type == WF_TYPE_F64 ? 4 + 8 + 8 : 4 + 4 + 4;
}

static double real_of(wf_type type)
{
    return type == WF_TYPE_F64 ? 8 : 4;
}

static const wf_type types[] = {WF_TYPE_F16, WF_TYPE_F32, WF_TYPE_F64};

/* Each right-hand side reads the matrix again: lanes of a row its offsets, and every entry once;
 * where work-items keep several sums, an entry is read once for so many. */
static void several_vectors(void **state)
{
    enum { LENGTH = 13, LANES = 4, KEPT = 2 };
    const wf_constant lanes[] = {{"local_x", 32}, {"lanes", LANES}, {NULL, 0}},
                      kept[] = {{"local_x", 32}, {"columns", KEPT}, {NULL, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const wfi_problem p = matrix_of(types[i], ROWS, LENGTH, VECTORS);
        const double real = real_of(types[i]), entry = entry_of(types[i]);
        double bytes = 0, blocked = 0, stored = 0;
        for (int row = 0; row < ROWS; row++)
            for (int vector = 0; vector < VECTORS; vector++) {
                for (int lane = 0; lane < LANES; lane++) {
                    bytes += 8;
                    for (int at = lane; at < LENGTH; at += LANES)
                        bytes += entry;
                }
                bytes += real;
                stored += real;
            }
        for (int row = 0; row < ROWS; row++)
            for (int first = 0; first < VECTORS; first += KEPT) {
                blocked += 8;
                for (int at = 0; at < LENGTH; at++) {
                    blocked += entry - real;
                    for (int v = first; v < first + KEPT && v < VECTORS; v++)
                        blocked += real;
                }
                for (int v = first; v < first + KEPT && v < VECTORS; v++)
                    blocked += real;
            }
        const char *const names[] = {"shared", "lanes", "many"};
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            const wfi_traffic t = traffic_of(&p, names[n], lanes);
            assert_true(t.requested == bytes && t.stored == stored);
        }
        const wfi_traffic t = traffic_of(&p, "row_many", kept);
        assert_true(t.requested == blocked && t.stored == stored);
    }
}

/* Lanes that add to y: y is scaled first; a lane that has an entry then adds its sum, or loads y
 * and exchanges it. */
static void atomic_sums(void **state)
{
    enum { LANES = 8 };
    const wf_constant constants[] = {{"local_x", 32}, {"lanes", LANES}, {NULL, 0}};
    (void)state;
    for (uint32_t n = 0; n < 3 * 2 * 2; n++) {
        const wf_type type = types[n / 4];
        const bool adds = n & 1;
        const uint32_t length = n & 2 ? 3 : 21;
        const wf_caps caps = {.size = sizeof caps,
                              .subgroup_size = 32,
                              .f32_atomic_add = adds,
                              .f64_atomic_add = adds};
        const wfi_problem p = matrix_of(type, ROWS, length, VECTORS);
        const double real = real_of(type);
        double bytes = 0, stored = 0;
        for (int item = 0; item < ROWS * VECTORS; item++) {
            stored += real;
            for (uint32_t lane = 0; lane < LANES; lane++) {
                bytes += 8;
                for (uint32_t at = lane; at < length; at += LANES)
                    bytes += entry_of(type);
                bytes += lane < length ? (adds ? 1 : 2) * real : 0; /* loads of y */
                stored += lane < length ? real : 0;
            }
        }
        const wfi_traffic t = traffic_on(&caps, &p, "atomic", constants);
        if (t.requested != bytes + stored || t.stored != stored)
            fail_msg("case %u: %g bytes for %g, %g stored for %g", n, t.requested, bytes + stored,
                     t.stored, stored);
    }
}

static void count_length(const wfi_point *point, uint32_t length, wfi_traffic *out)
{
    (void)point;
    out->requested += length * 100.0 + 7;
    out->stored += length;
}

/* Rows one by one, and as many lanes as a row's bin has, each of which reads the list, too. */
static void single_rows(void **state)
{
    uint32_t offsets[ROWS + 1];
    const uint32_t entries = fill_offsets(offsets);
    const wf_caps caps = {.size = sizeof caps, .subgroup_size = 32};
    const wf_constant constants[] = {{"local_x", 128}, {NULL, 0}};
    const wfi_problem p = matrix_of(WF_TYPE_F64, ROWS, 20, VECTORS);
    const wfi_point point = point_of(&caps, &p, "adaptive", constants);
    wfi_traffic t = {0};
    (void)state;
    wfi_spmv_rows_traffic(&point, count_length, offsets, ROWS, &t);
    assert_true(t.requested == VECTORS * (entries * (100.0 + 20) + ROWS * (7 + 8)));
    assert_true(t.stored == VECTORS * (entries + ROWS * 8.0));
    /* About eight entries a lane. */
    const struct {
        uint32_t length, lanes;
    } bins[] = {{0, 1},    {8, 1},    {9, 4},    {32, 4},   {33, 16},
                {128, 16}, {129, 64}, {512, 64}, {513, 128}};
    for (size_t i = 0; i < sizeof bins / sizeof *bins; i++) {
        const wfi_problem rows = matrix_of(WF_TYPE_F32, ROWS, bins[i].length, 0);
        t = traffic_of(&rows, "adaptive", constants);
        assert_true(t.requested == ROWS * (bins[i].lanes * 12.0 + bins[i].length * 12.0 + 4));
    }
}

/* spmv_merge.comp and spmv_merge_fix.comp, load by load. */
enum { LOCAL = 8, ITEMS = 3, PROBES = LOCAL / 2 };

/* Both ends of a work-group's piece are looked for at once. */
static void merge_search(const uint32_t *offsets, uint32_t entries, const uint32_t diagonal[2],
                         uint32_t found[2], double *loads)
{
    uint32_t low[2], high[2];
    for (int half = 0; half < 2; half++) {
        low[half] = diagonal[half] > entries ? diagonal[half] - entries : 0;
        high[half] = diagonal[half] < ROWS ? diagonal[half] : ROWS;
    }
    while (low[0] < high[0] || low[1] < high[1])
        for (int half = 0; half < 2; half++) {
            const uint32_t from = low[half], to = high[half];
            uint32_t step = (to - from + PROBES - 1) / PROBES, count = 0;
            step = step > 1 ? step : 1;
            for (uint32_t probe = 0; probe < PROBES; probe++) {
                const uint32_t at = from + probe * step;
                if (at < to) {
                    *loads += 1;
                    if (offsets[at + 1] + at < diagonal[half] && probe + 1 > count)
                        count = probe + 1;
                }
            }
            low[half] = count ? from + (count - 1) * step + 1 : from;
            high[half] = from + count * step < to ? from + count * step : to;
        }
    memcpy(found, low, sizeof low);
}

static void merged_path(void **state)
{
    enum { MOST_GROUPS = 100 };
    uint32_t offsets[ROWS + 1], carries[MOST_GROUPS], groups = 0;
    const uint32_t entries = fill_offsets(offsets), total = ROWS + entries;
    const wf_caps caps = {.size = sizeof caps, .subgroup_size = 32};
    const wf_constant constants[] = {{"local_x", LOCAL}, {"items", ITEMS}, {NULL, 0}};
    double words = 0;
    (void)state;
    for (uint32_t first = 0; first < total; first += LOCAL * ITEMS, groups++) {
        const uint32_t last = first + LOCAL * ITEMS < total ? first + LOCAL * ITEMS : total;
        uint32_t rows[2];
        merge_search(offsets, entries, (uint32_t[2]){first, last}, rows, &words);
        words += rows[1] - rows[0]; /* where they end */
        assert_true(groups < MOST_GROUPS);
        carries[groups] = rows[1];
    }
    for (uint32_t at = 0; at < groups; at++) {
        const uint32_t row = carries[at];
        uint32_t end = at;
        words++;
        if (row >= ROWS)
            continue;
        words += at > 0;
        if (at > 0 && carries[at - 1] == row)
            continue;
        for (; end < groups && carries[end] == row; end++)
            words++;
        words += end < groups;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const wfi_problem p = matrix_of(types[i], ROWS, 1, 0);
        const wfi_point point = point_of(&caps, &p, "merge", constants);
        const double real = real_of(types[i]);
        double sums = 0, y = ROWS * real; /* stored first */
        double read = 0;
        for (uint32_t at = 0; at < groups; at++)
            if (carries[at] < ROWS) {
                sums += real;
                if (at == 0 || carries[at - 1] != carries[at]) {
                    y += real;
                    read += real;
                }
            }
        wfi_traffic t = {0};
        wfi_spmv_merge_traffic(&point, offsets, ROWS, &t);
        const double stored = y + groups * 16.0;
        const double bytes = words * 4 + entries * entry_of(types[i]) + sums + read + stored;
        if (t.requested != bytes || t.stored != stored)
            fail_msg("type %zu: %g bytes for %g, %g stored for %g", i, t.requested, bytes, t.stored,
                     stored);
    }
}

/* Blocks of 3 x 3 with a column each; blocks of a stream, all of one size. */
static void formats(void **state)
{
    enum { SIDE = 3, LANES = 4, BLOCKS = 55, STREAMS = 7, ITEMS_ = 8, ROWS_ = 2, GROUP = 16 };
    const wf_caps caps = {.size = sizeof caps, .subgroup_size = 32};
    const wf_constant block[] = {{"local_x", 32}, {"lanes", LANES}, {"block", SIDE}, {NULL, 0}},
                      stream[] = {
                          {"local_x", GROUP}, {"items", ITEMS_}, {"rows", ROWS_}, {NULL, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const wfi_problem p = matrix_of(types[i], ROWS, 1, VECTORS);
        const wfi_problem one = matrix_of(types[i], ROWS, 1, 1);
        const wfi_point blocked = point_of(&caps, &p, "blocked", block);
        const wfi_point streamed = point_of(&caps, &one, "stream", stream);
        const double real = real_of(types[i]), value = entry_of(types[i]) - 4 - real;
        double bytes = 0;
        for (int number = 0; number < BLOCKS; number++) {
            bytes += 4;
            for (int c = 0; c < SIDE; c++) {
                bytes += real;
                for (int r = 0; r < SIDE; r++)
                    bytes += value;
            }
        }
        bytes += 14 * LANES * 8 + ROWS * real; /* 14 rows of blocks */
        wfi_traffic t = {0};
        wfi_spmv_blocked_traffic(&blocked, 14, BLOCKS, ROWS, &t);
        assert_true(t.requested == VECTORS * bytes && t.stored == VECTORS * ROWS * real);
        for (int width = 1; width <= 2; width++) {
            bytes = ROWS * real;
            for (int item = 0; item < STREAMS * GROUP; item++) {
                bytes += 16;        /* the head */
                bytes += ROWS_ * 8; /* two words that hold where a row begins, and the next */
                for (int at = 0; at < ITEMS_; at++)
                    bytes += (1 << width) + (types[i] == WF_TYPE_F16 ? 2 : real) + real;
            }
            t = (wfi_traffic){0};
            wfi_spmv_stream_traffic(&streamed, STREAMS, 1u << width, ROWS, &t);
            assert_true(t.requested == bytes && t.stored == ROWS * real);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_vectors), cmocka_unit_test(atomic_sums),
        cmocka_unit_test(single_rows),     cmocka_unit_test(merged_path),
        cmocka_unit_test(formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
