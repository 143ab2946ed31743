/* The bytes that are counted of matrix products, as in test_traffic.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "counting.h"
#include "kernels/families.h"
#include "model/wave_bytes.h"

enum { M = 20, N = 24, K = 12 };

static const wfi_problem *product(void)
{
    static wfi_problem problem;
    problem = (wfi_problem){
        .family = WF_FAMILY_MATMUL, .type = WF_TYPE_F32, .matmul = wfi_matmul_plain(M, N, K)};
    return &problem;
}

static void products_of_single_outputs(void **state)
{
    (void)state;
    const wf_constant constants[] = {{"local_x", 8}, {"local_y", 4}, {NULL, 0}};
    const wfi_traffic t = traffic_of(product(), "naive", constants);
    for (uint32_t group = 0; group < M / 4 * (N / 8); group++) {
        begin_group();
        for (uint32_t item = 0; item < 32; item++) {
            const uint64_t row = group / (N / 8) * 4 + item / 8,
                           column = group % (N / 8) * 8 + item % 8;
            for (uint64_t k = 0; k < K; k++) {
                touch(row * K + k);
                touch(M * K + k * N + column);
            }
            touch(M * K + K * N + row * N + column);
        }
    }
    assert_true(t.requested == counted.items * 4);
    assert_true(t.groups == counted.groups * 4);
    assert_true(t.stored == M * N * 4);
}

/* Tiles of 8 x 8 do not divide 20 rows: of the last ones half is there. */
static void products_of_tiles(void **state)
{
    (void)state;
    enum { TILE = 8 };
    const wf_constant square[] = {{"tile", TILE}, {NULL, 0}};
    const wf_constant block[] = {{"tile_m", TILE}, {"tile_n", TILE}, {"tile_k", 4},
                                 {"thread_m", 4},  {"thread_n", 2},  {NULL, 0}};
    const struct {
        const char *name;
        const wf_constant *constants;
        uint32_t thread_m, thread_n;
        bool kept;
    } cases[] = {{"tiled", square, 1, 1, false},
                 {"blocked", block, 4, 2, false},
                 {"register", block, 4, 2, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const wfi_traffic t = traffic_of(product(), cases[i].name, cases[i].constants);
        double shared = 0;
        for (uint64_t row = 0; row < M; row += TILE)
            for (uint64_t column = 0; column < N; column += TILE)
                for (uint64_t k = 0; k < K; k++) {
                    for (uint64_t r = row; r < row + TILE && r < M; r++, shared++)
                        touch(r * K + k);
                    for (uint64_t c = column; c < column + TILE && c < N; c++, shared++)
                        touch(M * K + k * N + c);
                    for (uint64_t r = row; r < row + TILE && r < M; r += cases[i].thread_m)
                        for (uint64_t c = column; c < column + TILE; c += cases[i].thread_n)
                            shared += cases[i].kept ? cases[i].thread_m + cases[i].thread_n
                                                    : 2 * cases[i].thread_m * cases[i].thread_n;
                }
        if (t.requested != (counted.items + M * N) * 4 || t.shared != shared * 4)
            fail_msg("%s: %g bytes for %g, in shared memory %g for %g", cases[i].name, t.requested,
                     (counted.items + M * N) * 4, t.shared, shared * 4);
    }
}

/* Tiles of 8 x 24, of which the last has four rows, and eight by two work-items: each loads its
 * three columns of B, all load the rows of A together. */
static void products_of_short_sums(void **state)
{
    enum { TILE = 8, X = 8, Y = 2, COLUMNS = 3 };
    const wf_constant constants[] = {{"local_x", X},  {"local_y", Y},        {"tile_m", TILE},
                                     {"thread_m", 1}, {"thread_n", COLUMNS}, {NULL, 0}};
    (void)state;
    const wfi_traffic t = traffic_of(product(), "outer", constants);
    for (uint64_t row = 0; row < M; row += TILE) {
        begin_group();
        for (uint64_t item = 0; item < X * Y; item++)
            for (uint64_t column = item % X; column < N; column += X)
                for (uint64_t k = 0; k < K; k++)
                    touch(M * K + k * N + column);
        for (uint64_t r = row; r < row + TILE && r < M; r++)
            for (uint64_t k = 0; k < K; k++)
                touch(r * K + k);
    }
    assert_true(t.requested == (counted.items + M * N) * 4);
    assert_true(t.groups == (counted.groups + M * N) * 4);
    assert_true(t.stored == M * N * 4);
}

/* Waves of any number of work-groups, which take tiles of 4 x 4 in strips of two rows of tiles: the
 * elements that each wave touches, counted once. */
static void products_of_waves(void **state)
{
    enum { TILE = 4, STRIP = 2, ROWS = M / TILE, COLUMNS = N / TILE, TILES = ROWS * COLUMNS };
    const wf_constant constants[] = {{"tile", TILE}, {"swizzle", STRIP}, {NULL, 0}};
    uint32_t rows[TILES], columns[TILES], count = 0;
    (void)state;
    for (uint32_t strip = 0; strip < ROWS; strip += STRIP)
        for (uint32_t column = 0; column < COLUMNS; column++)
            for (uint32_t row = strip; row < strip + STRIP && row < ROWS; row++) {
                rows[count] = row;
                columns[count++] = column;
            }
    for (uint32_t wave = 1; wave <= TILES + 1; wave++) {
        const wfi_traffic t = traffic_of(product(), "tiled2", constants);
        for (uint32_t tile = 0; tile < TILES; tile++) {
            if (tile % wave == 0)
                begin_group();
            for (uint64_t i = 0; i < TILE; i++)
                for (uint64_t k = 0; k < K; k++) {
                    touch((rows[tile] * TILE + i) * K + k);
                    touch(M * K + k * N + columns[tile] * TILE + i);
                }
        }
        const double bytes = (counted.groups + M * N) * sizeof(float);
        if (fabs(wfi_wave_bytes(&t.tile_order, wave) - bytes) > bytes * 1e-12)
            fail_msg("waves of %u: %g bytes for %g", wave, wfi_wave_bytes(&t.tile_order, wave),
                     bytes);
    }
    assert_true(wfi_wave_bytes(&(wf_tile_order){0}, 8) == 0);
}

/* Three vectors: the large matrix is B and lies along the outputs, or A and lies along the sum. */
static void products_with_vectors(void **state)
{
    enum { X = 2, Y = 3, V = 3, LONG = 21, SUM = 10 };
    const wf_constant constants[] = {{"local_x", X}, {"local_y", Y}, {"split_k", 1}, {NULL, 0}};
    (void)state;
    for (int by_sum = 0; by_sum < 2; by_sum++) {
        const wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                                     .type = WF_TYPE_F32,
                                     .matmul = by_sum ? wfi_matmul_plain(LONG, V, SUM)
                                                      : wfi_matmul_plain(V, LONG, SUM)};
        const wfi_traffic t = traffic_of(&problem, "matvec", constants);
        const int step = by_sum ? Y : 4 * X;
        double groups = 0;
        for (int first = 0; first < LONG; first += step) {
            begin_group();
            counted.groups = 0;
            for (int k = 0; k < SUM; k++)
                for (int item = 0; item < (by_sum ? Y : X); item++) {
                    for (int j = 0; j < (by_sum ? 1 : 4); j++)
                        touch((uint64_t)clamp_to(first + item + j * (by_sum ? 0 : X), 0, LONG - 1) *
                                  SUM +
                              (uint64_t)k);
                    for (int v = 0; v < V; v++)
                        touch((uint64_t)(LONG + v) * SUM + (uint64_t)k);
                }
            groups += counted.groups;
        }
        assert_true(t.requested == (counted.items + LONG * V) * 4);
        assert_true(t.groups == (groups + LONG * V) * 4 && t.stored == LONG * V * 4);
    }
}

/* Matrix units and sliced-K move the same tiles: every value of A for each of the tiles along n. */
static void products_of_other_variants(void **state)
{
    (void)state;
    wfi_problem half = *product();
    half.type = WF_TYPE_F16;
    const wf_constant tile[] = {{"tile_m", 16}, {"tile_n", 16}, {"tile_k", 16}, {NULL, 0}};
    const wf_constant split[] = {{"tile_m", 16}, {"tile_n", 16}, {"split_k", 4}, {NULL, 0}};
    const wf_constant stream[] = {
        {"tile_m", 16}, {"tile_n", 16}, {"tile_k", 16}, {"stream_k", 1}, {NULL, 0}};
    /* 2 x 2 tiles; f16 has C in f16. */
    assert_true(traffic_of(&half, "cooperative", tile).requested ==
                (2 * M * K + 2 * K * N + M * N) * 2);
    assert_true(traffic_of(product(), "subgroup_k", tile).requested ==
                (2 * M * K + 2 * K * N + M * N) * 4);
    assert_true(traffic_of(product(), "subgroup_k", split).requested ==
                (2 * M * K + 2 * K * N + 4 * M * N) * 4);
    assert_true(traffic_of(product(), "subgroup_k", split).stored == 4 * M * N * 4);
    /* 2 x 3 tiles of 8 x 8, 3 passes each. 4 work-groups share the last 2 tiles: of their 6 passes
     * they take 2, 2, 1 and 1, and so make 1, 2, 1 and 1 partial tiles. */
    const wfi_problem even = {
        .family = WF_FAMILY_MATMUL, .type = WF_TYPE_F32, .matmul = wfi_matmul_plain(16, 24, 12)};
    const wf_constant shared[] = {{"tile_m", 8},  {"tile_n", 8},   {"tile_k", 4}, {"thread_m", 4},
                                  {"split_k", 1}, {"stream_k", 1}, {"pack", 0},   {NULL, 0}};
    const wfi_traffic t = traffic_of(&even, "vector", shared);
    assert_true(t.requested == (3 * 16 * 12 + 2 * 24 * 12 + 4 * 64 + 5 * 64) * 4);
    assert_true(t.stored == (4 * 64 + 5 * 64) * 4);
    /* On matrix units the same, in f16 with sums of f32: 1 x 2 tiles of 16 x 16, both of which
     * work-groups share. There is one pass of 16 steps for each: 2 partial tiles. */
    wfi_problem units = even;
    units.type = WF_TYPE_F16;
    const wfi_traffic u = traffic_of(&units, "cooperative", stream);
    assert_true(u.requested == (2 * 16 * 12 + 1 * 24 * 12) * 2 + 2 * 256 * 4);
    assert_true(u.stored == 2 * 256 * 4);
}

/* Words of four elements: each tile word is stored and read as four bytes. Lengths are multiples of
 * the tiles', as all of the tile is stored. */
static void products_of_words(void **state)
{
    enum { ROWS = 16, COLUMNS = 24, SUM = 12, TILE = 8, DEPTH = 4, THREAD_M = 4, THREAD_N = 2 };
    const wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                                 .type = WF_TYPE_I8,
                                 .matmul = wfi_matmul_plain(ROWS, COLUMNS, SUM)};
    const wf_constant block[] = {{"tile_m", TILE},       {"tile_n", TILE},       {"tile_k", DEPTH},
                                 {"thread_m", THREAD_M}, {"thread_n", THREAD_N}, {NULL, 0}};
    (void)state;
    const wfi_traffic t = traffic_of(&problem, "dot", block);
    double shared = 0;
    for (int tile = 0; tile < ROWS / TILE * (COLUMNS / TILE); tile++) {
        begin_group();
        for (int k = 0; k < SUM; k += DEPTH) {
            for (int line = 0; line < TILE; line++, shared += 2 * DEPTH)
                for (int step = k; step < k + DEPTH; step++) {
                    touch((uint64_t)((tile / (COLUMNS / TILE) * TILE + line) * SUM + step));
                    touch((uint64_t)((ROWS + tile % (COLUMNS / TILE) * TILE + line) * SUM + step));
                }
            for (int item = 0; item < TILE / THREAD_M * (TILE / THREAD_N); item++)
                shared += (THREAD_M + THREAD_N) * DEPTH / 4 * 4;
        }
    }
    const double c = ROWS * COLUMNS * 4; /* of 32-bit integers */
    assert_true(t.requested == counted.items + c && t.groups == counted.groups + c);
    assert_true(t.stored == c && t.shared == shared);
}

/* matmul_panel.comp, load by load: the large matrix's elements are numbered (output, step), those
 * of the panel behind them (vector, step). */
static struct {
    int outputs, vectors, sum, lanes_k, lanes_o, fours, each, blocks, kept;
    bool by_sum, panel_by_sum;
} panel;

static void touch_matrix(int output, int step)
{
    touch((uint64_t)(clamp_to(output, 0, panel.outputs - 1) * panel.sum + step));
}

static void touch_panel(int vector, int step)
{
    touch((uint64_t)((panel.outputs + clamp_to(vector, 0, panel.vectors - 1)) * panel.sum + step));
}

/* A block's lines of one work-item, of which elements from step `end` on are left out. */
static void panel_block(int first, int lane_o, int step, int end)
{
    const int output = first + panel.each * lane_o;
    for (int line = 0; line < panel.each; line++)
        for (int j = 0; j < 4; j++) {
            const int along = panel.by_sum ? j : line, across = panel.by_sum ? line : j;
            if (step + along < end)
                touch_matrix(output + across, step + along);
        }
}

static void panel_lines(int k0, int steps)
{
    const int block = 4 * panel.lanes_k, items = panel.lanes_k * panel.lanes_o;
    const int count = (steps + block - 1) / block * block, lines = count * panel.fours;
    for (int item = 0; item < items; item++)
        for (int i = item; i < lines; i += 4 * items)
            for (int n = 0; n < 4; n++) {
                const int line = i + n * items < lines ? i + n * items : lines - 1;
                const int vector = panel.panel_by_sum ? line / (count / 4) : line % panel.fours * 4;
                const int step = panel.panel_by_sum ? line % (count / 4) * 4 : line / panel.fours;
                for (int j = 0; j < 4; j++)
                    if (step + (panel.panel_by_sum ? j : 0) < steps)
                        touch_panel(vector + (panel.panel_by_sum ? 0 : j),
                                    k0 + step + (panel.panel_by_sum ? j : 0));
            }
}

static void panel_group(int first, int begin, int end)
{
    const int block = 4 * panel.lanes_k;
    for (int k = begin; k < end; k += panel.kept) {
        const int steps = end - k < panel.kept ? end - k : panel.kept;
        const int passes = steps / block / panel.blocks;
        for (int item = 0; item < panel.lanes_k * panel.lanes_o; item++) {
            const int lane_k = item % panel.lanes_k, lane_o = item / panel.lanes_k;
            for (int pass = -1; passes > 0 && pass < passes; pass++)
                for (int b = 0; b < panel.blocks; b++) {
                    const int at = pass + 1 < passes ? pass + 1 : passes - 1;
                    panel_block(first, lane_o, k + (at * panel.blocks + b) * block + 4 * lane_k,
                                end);
                }
            for (int after = passes * panel.blocks; after * block < steps; after++)
                panel_block(first, lane_o, k + after * block + 4 * lane_k, k + steps);
        }
        panel_lines(k, steps);
    }
}

/* A or B large, along the sum or across, in one part of the sum or three. */
static void products_past_a_panel(void **state)
{
    enum { LONG = 70, FEW = 6, SUM = 151, LANES_K = 4, LANES_O = 8, ROWS = 2, KEPT = 64 };
    (void)state;
    for (uint32_t n = 0; n < 2 * 2 * 2 * 2; n++) {
        const bool is_b = n & 1, by_sum = n & 2, panel_by_sum = n & 4;
        const int parts = n & 8 ? 3 : 1, part = (SUM + 3) / 4 * 4 / 4;
        const int steps = (part + parts - 1) / parts * 4;
        wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                               .type = WF_TYPE_F32,
                               .matmul = is_b ? wfi_matmul_plain(FEW, LONG, SUM)
                                              : wfi_matmul_plain(LONG, FEW, SUM)};
        problem.matmul.transpose_b = is_b ? by_sum : panel_by_sum;
        problem.matmul.transpose_a = is_b ? !panel_by_sum : !by_sum;
        const wf_constant constants[] = {
            {"lanes_k", LANES_K}, {"lanes_o", LANES_O},         {"rows", ROWS}, {"blocks", 2},
            {"kept", KEPT},       {"split_k", (uint32_t)parts}, {NULL, 0}};
        const wfi_traffic t = traffic_of(&problem, "panel", constants);
        panel.outputs = LONG;
        panel.vectors = FEW;
        panel.sum = SUM;
        panel.lanes_k = LANES_K;
        panel.lanes_o = LANES_O;
        panel.fours = (FEW + 3) / 4;
        panel.each = by_sum ? ROWS : 4;
        panel.blocks = 2;
        panel.kept = KEPT;
        panel.by_sum = by_sum;
        panel.panel_by_sum = panel_by_sum;
        for (int first = 0; first < LONG; first += panel.each * LANES_O)
            for (int begin = 0; begin < SUM; begin += steps) {
                begin_group();
                panel_group(first, begin, begin + steps < SUM ? begin + steps : SUM);
            }
        const double stored = LONG * FEW * 4.0 * parts;
        if (t.requested != counted.items * 4 + stored || t.groups != counted.groups * 4 + stored ||
            t.stored != stored)
            fail_msg("case %u: %g bytes for %g, of groups %g for %g", n, t.requested,
                     counted.items * 4 + stored, t.groups, counted.groups * 4 + stored);
    }
}

/* Copies of operands, each stored row as long as a multiple of 64 elements; along the sum, rows are
 * as many. As matmul_pack.comp reads and writes them. */
static double copied(int rows, int columns, bool along_sum, double *stored)
{
    const int to_rows = along_sum ? (rows + 63) / 64 * 64 : rows, length = (columns + 63) / 64 * 64;
    double bytes = 0;
    for (int index = 0; index < to_rows * (length / 4); index++) {
        const int row = index / (length / 4), column = index % (length / 4) * 4;
        for (int j = 0; j < 4; j++)
            bytes += row < rows && column + j < columns ? 4 : 0;
        bytes += 16;
        *stored += 16;
    }
    return bytes;
}

/* Both operands copied: the sum is then made of whole tiles, of 8 steps each. */
static void products_of_copies(void **state)
{
    enum { TILE = 8, DEPTH = 8, LONGER = (K + DEPTH - 1) / DEPTH * DEPTH };
    (void)state;
    for (uint32_t pack = 1; pack <= 3; pack++) {
        const wf_constant constants[] = {{"tile_m", TILE}, {"tile_n", TILE}, {"tile_k", DEPTH},
                                         {"thread_m", 4},  {"thread_n", 4},  {"split_k", 1},
                                         {"stream_k", 0},  {"pack", pack},   {NULL, 0}};
        const int steps = pack == 3 ? LONGER : K;
        double stored = M * N * 4, bytes = 0;
        bytes += pack & 1 ? copied(M, K, false, &stored) : 0;
        bytes += pack & 2 ? copied(K, N, true, &stored) : 0;
        for (int row = 0; row < M; row += TILE)
            for (int column = 0; column < N; column += TILE)
                for (int k = 0; k < steps; k++)
                    for (int line = 0; line < TILE; line++)
                        bytes += (row + line < M ? 4 : 0) + (column + line < N ? 4 : 0);
        bytes += M * N * 4;
        const wfi_traffic t = traffic_of(product(), "vector", constants);
        if (t.requested != bytes || t.groups != bytes || t.stored != stored)
            fail_msg("pack=%u: %g bytes for %g, %g stored for %g", pack, t.requested, bytes,
                     t.stored, stored);
    }
    /* The same on matrix units. Of f32 in two f16, copying reads every element twice and an
     * exponent for it, and writes an exponent a row of A and a column of B; each sum that is stored
     * takes two. */
    const wf_constant tile[] = {
        {"tile_m", 16}, {"tile_n", 16}, {"tile_k", 16}, {"pack", 3}, {NULL, 0}};
    double stored = M * N * 4;
    const double copies = copied(M, K, false, &stored) + copied(K, N, true, &stored);
    const double product_bytes = (2 * M + 2 * N) * 16 * 4 + M * N * 4;
    assert_true(traffic_of(product(), "cooperative", tile).requested == product_bytes + copies);
    const wfi_traffic t = traffic_of(product(), "f16x2", tile);
    assert_true(t.requested ==
                product_bytes + copies + (M * K + K * N) * 8 + (M + N) * 4 + M * N * 2 * 4);
    assert_true(t.stored == stored + (M + N) * 4);
}

/* Tiles of 8 x 8 over 20 x 44 outputs, 3 x 6 of them down strips of 2 rows of tiles: each of 16 has
 * a work-group; of the last two, in the third row of tiles, which has 4 rows, 4 work-groups make
 * parts, which are whole tiles. The very last has 4 columns. */
static void products_of_shared_edges(void **state)
{
    enum { ROWS = 20, COLUMNS = 44, SUM = 12, TILE = 8, STRIP = 2, GROUPS = 4, SHARED = 2 };
    enum { TILES_M = 3, TILES_N = 6, PASSES = SUM / 4, PARTIALS = 5 };
    const wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                                 .type = WF_TYPE_F32,
                                 .matmul = wfi_matmul_plain(ROWS, COLUMNS, SUM)};
    const wf_constant constants[] = {{"tile_m", TILE}, {"tile_n", TILE},   {"tile_k", 4},
                                     {"thread_m", 4},  {"split_k", 1},     {"stream_k", 1},
                                     {"pack", 0},      {"swizzle", STRIP}, {NULL, 0}};
    int outputs = 0, number = 0;
    (void)state;
    for (int strip = 0; strip < TILES_M; strip += STRIP)
        for (int column = 0; column < TILES_N; column++)
            for (int row = strip; row < strip + STRIP && row < TILES_M; row++, number++)
                for (int i = 0; i < TILE * TILE; i++)
                    outputs += number < TILES_M * TILES_N - SHARED &&
                               row * TILE + i / TILE < ROWS && column * TILE + i % TILE < COLUMNS;
    const double stored = (outputs + PARTIALS * TILE * TILE) * 4;
    const double loaded = (TILES_N * ROWS + TILES_M * COLUMNS) * SUM * 4;
    const wfi_traffic t = traffic_of(&problem, "vector", constants);
    if (t.stored != stored || t.requested != loaded + stored)
        fail_msg("%g bytes for %g, %g stored for %g", t.requested, loaded + stored, t.stored,
                 stored);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_single_outputs), cmocka_unit_test(products_of_tiles),
        cmocka_unit_test(products_of_waves),          cmocka_unit_test(products_with_vectors),
        cmocka_unit_test(products_of_other_variants), cmocka_unit_test(products_of_words),
        cmocka_unit_test(products_past_a_panel),      cmocka_unit_test(products_of_copies),
        cmocka_unit_test(products_of_shared_edges),   cmocka_unit_test(products_of_short_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
