/* The bytes that are counted of a kernel, against every access of its algorithm written down one by
 * one on a small problem. */
#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/families.h"
#include "model/wave_bytes.h"
#include "plan/family.h"

enum { MOST = 1 << 16 }; /* elements of all arrays */

/* Accesses by elements; `seen` is of the work-group under way. */
static struct {
    double items, groups;
    bool seen[MOST];
} counted;

static void begin_group(void)
{
    memset(counted.seen, 0, sizeof counted.seen);
}

static void touch(uint64_t element)
{
    assert_true(element < MOST);
    counted.items++;
    counted.groups += !counted.seen[element];
    counted.seen[element] = true;
}

static wfi_traffic traffic_of(const wfi_problem *problem, const char *variant,
                              const wf_constant *constants)
{
    static wf_caps caps = {.size = sizeof caps, .subgroup_size = 32, .compute_units = 4};
    const wfi_family *family = wfi_family_get(problem->family);
    wfi_point point = {.caps = &caps,
                       .problem = problem,
                       .variant = family->variants[wfi_variant_find(family, variant)]};
    wfi_traffic out = {0};
    wfi_point_defaults(&point);
    for (; constants->name; constants++)
        wfi_point_put(&point, wfi_parameter_find(point.variant, constants->name), constants->value);
    assert_non_null(point.variant->traffic);
    point.variant->traffic(&point, &out);
    memset(&counted, 0, sizeof counted);
    return out;
}

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

/* Himeno's 19 points: those of the cube around a cell of which at most two coordinates differ. */
static void relaxation(void **state)
{
    (void)state;
    enum { NI = 18, NJ = 10, NK = 6, CELLS = NI * NJ * NK };
    const wfi_problem problem = {.family = WF_FAMILY_HIMENO, .stencil = {NI, NJ, NK}};
    const wf_constant constants[] = {{"local_x", 8}, {"local_y", 4}, {"local_z", 2}, {NULL, 0}};
    const wfi_traffic t = traffic_of(&problem, "naive", constants);
    for (uint32_t group = 0; group < 2 * 2 * 2; group++) {
        begin_group();
        for (uint32_t item = 0; item < 8 * 4 * 2; item++) {
            const uint32_t i = 1 + group % 2 * 8 + item % 8,
                           j = 1 + group / 2 % 2 * 4 + item / 8 % 4,
                           k = 1 + group / 4 * 2 + item / 32;
            const uint64_t at = (k * (uint64_t)NJ + j) * NI + i;
            for (int n = 0; n < 27; n++) {
                const int di = n % 3 - 1, dj = n / 3 % 3 - 1, dk = n / 9 - 1;
                if (!(di && dj && dk))
                    touch((uint64_t)((int64_t)at + (dk * NJ + dj) * NI + di));
            }
            for (uint64_t array = 1; array <= 13; array++) /* 12 coefficients and the new p */
                touch(array * CELLS + at);
        }
    }
    assert_true(t.requested == counted.items * 4);
    assert_true(t.groups == counted.groups * 4);
    assert_true(t.stored == 16 * 8 * 4 * 4);
}

/* The same cells by columns: nine of every plane of a column and of the planes at its ends;
 * work-items of four cells begin at multiples of four inner cells, of which the last has two. */
static void columns(void **state)
{
    (void)state;
    enum { NI = 20, NJ = 8, NK = 9, CELLS = NI * NJ * NK, MARCH = 3 };
    const wfi_problem problem = {.family = WF_FAMILY_HIMENO, .himeno = {NI, NJ, NK}};
    const wf_constant constants[] = {{"local_x", 4}, {"local_y", 3}, {"march", MARCH}, {NULL, 0}};
    for (uint32_t width = 1; width <= 4; width += 3) {
        const wfi_traffic t = traffic_of(&problem, width == 1 ? "march" : "march4", constants);
        double requested = 0;
        for (uint32_t first = 0; first < NK - 2; first += MARCH) {
            const uint32_t planes = NK - 2 - first < MARCH ? NK - 2 - first : MARCH;
            for (uint32_t j = 0; j < NJ - 2; j++)
                for (uint32_t i = 0; i < NI - 2; i += width) {
                    requested += (planes + 2) * 3 * (width + 2); /* p */
                    requested += planes * width * 12;
                    for (uint32_t n = 0; n < width && i + n < NI - 2; n++)
                        requested += planes; /* the new p */
                }
        }
        if (width == 4) /* the same in words of 64 bits */
            assert_true(traffic_of(&problem, "pairs", constants).requested == t.requested);
        if (t.requested != requested * 4)
            fail_msg("%u cells a work-item: %g bytes for %g", width, t.requested, requested * 4);
        assert_true(t.stored == 18 * 6 * 7 * 4);
    }
    /* Four rows of texels for two rows of cells, the last of which is one. */
    const wfi_problem odd = {.family = WF_FAMILY_HIMENO, .himeno = {NI, NJ + 1, NK}};
    double texels = 0;
    for (uint32_t first = 0; first < NK - 2; first += MARCH)
        for (uint32_t j = 0; j < NJ - 1; j += 2)
            for (uint32_t i = 0; i < NI - 2; i += 4) {
                const uint32_t planes = NK - 2 - first < MARCH ? NK - 2 - first : MARCH;
                texels += (planes + 2) * 4 * 3;
                texels += planes * 12 * (j + 1 < NJ - 1 ? 2 : 1);
            }
    assert_true(traffic_of(&odd, "texels", constants).requested == (texels * 4 + 18 * 7 * 7) * 4);
    /* A group's planes: 4 cells and one on either side of each row (3 of them, 2 beside), where the
     * last of 5 groups along i has 2 cells. */
    double groups = 0;
    for (uint32_t i = 0; i < 18; i += 4)
        for (uint32_t j = 0; j < 6; j += 3)
            for (uint32_t k = 0; k < 7; k += MARCH)
                groups += ((18 - i < 4 ? 18 - i : 4) + 2.0) * (3 + 2) *
                          ((7 - k < MARCH ? 7 - k : MARCH) + 2.0);
    assert_true(traffic_of(&problem, "march", constants).groups ==
                (groups + 18 * 6 * 7 * 13.0) * 4);
    /* Tiles of 6 x 5 x 3, loaded whole: 5 x 2 x 7 groups; 19 reads a cell of shared memory. */
    const wf_constant tile[] = {{"local_x", 4}, {"local_y", 3}, {NULL, 0}};
    const wfi_traffic t = traffic_of(&problem, "shared", tile);
    assert_true(t.requested == (5 * 2 * 7 * 90 + 756 * 13) * 4);
    assert_true(t.shared == (5 * 2 * 7 * 90 + 756 * 19) * 4);
}

static int clamp_to(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
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

/* Tiles in shared memory, three planes of each iteration of a pass: as himeno_time.comp loads them,
 * work-group by work-group, front by front. */
static void tiles_of_several_iterations(void **state)
{
    enum { NI = 18, NJ = 11, NK = 7, X = 8, Y = 6, MARCH = 3, ROW = X + 2, PLANE = ROW * (Y + 2) };
    enum { LOADS = (PLANE + X * Y - 1) / (X * Y), CELLS = (NI + 2) * (NJ + 2) * (NK + 2) };
    const wfi_problem problem = {.family = WF_FAMILY_HIMENO, .himeno = {NI + 2, NJ + 2, NK + 2}};
    (void)state;
    for (int steps = 1; steps <= 3; steps++) {
        const wf_constant constants[] = {{"local_x", X},
                                         {"local_y", Y},
                                         {"march", MARCH},
                                         {steps > 1 ? "steps" : NULL, (uint32_t)steps},
                                         {NULL, 0}};
        const wfi_traffic t = traffic_of(&problem, steps > 1 ? "time" : "planes", constants);
        const int over = steps - 1, tile_i = X - 2 * over, tile_j = Y - 2 * over;
        double requested = 0, groups = 0;
        for (int first = 0; first < NK; first += MARCH)
            for (int j = 0; j < NJ; j += tile_j)
                for (int i = 0; i < NI; i += tile_i) {
                    const int end = first + MARCH < NK ? first + MARCH : NK;
                    begin_group();
                    counted.groups = 0;
                    for (int k = first - over - 1; k <= end + over + 1; k++) {
                        requested += k <= first - over ? PLANE : LOADS * X * Y;
                        for (int n = 0; n < PLANE; n++)
                            touch((uint64_t)((clamp_to(k, -1, NK) + 1) * (NJ + 2) +
                                             clamp_to(j - over - 1 + n / ROW, -1, NJ) + 1) *
                                      (NI + 2) +
                                  (uint64_t)clamp_to(i - over - 1 + n % ROW, -1, NI) + 1);
                    }
                    for (int k = first - over; k <= end + over; k++) {
                        requested += 12 * X * Y;
                        for (int n = 0; n < X * Y; n++)
                            for (int c = 1; c <= 12; c++)
                                touch((uint64_t)c * CELLS +
                                      (uint64_t)((clamp_to(k, 0, NK - 1) * NJ +
                                                  clamp_to(j - over + n / X, 0, NJ - 1)) *
                                                     NI +
                                                 clamp_to(i - over + n % X, 0, NI - 1)));
                    }
                    groups += counted.groups;
                }
        const double cells = NI * NJ * NK;
        assert_true(fabs(t.stored * steps - cells * 4) < 1e-6);
        if (fabs(t.requested * steps - (requested + cells) * 4) > 1e-3 ||
            fabs(t.groups * steps - (groups + cells) * 4) > 1e-3)
            fail_msg("%d iterations a pass: %g bytes for %g, of groups %g for %g", steps,
                     t.requested * steps, (requested + cells) * 4, t.groups * steps,
                     (groups + cells) * 4);
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
    const wf_constant stream[] = {{"tile_m", 16}, {"tile_n", 16}, {"stream_k", 1}, {NULL, 0}};
    /* 2 x 2 tiles; f16 has C in f16. */
    assert_true(traffic_of(&half, "cooperative", tile).requested ==
                (2 * M * K + 2 * K * N + M * N) * 2);
    assert_true(traffic_of(product(), "subgroup_k", tile).requested ==
                (2 * M * K + 2 * K * N + M * N) * 4);
    assert_true(traffic_of(product(), "subgroup_k", split).requested ==
                (2 * M * K + 2 * K * N + 4 * M * N) * 4);
    assert_true(traffic_of(product(), "subgroup_k", split).stored == 4 * M * N * 4);
    assert_true(traffic_of(&half, "cooperative", stream).requested == 0);
    /* 2 x 3 tiles of 8 x 8, 3 passes each. 4 work-groups share the last 2 tiles: of their 6 passes
     * they take 2, 2, 1 and 1, and so make 1, 2, 1 and 1 partial tiles. */
    const wfi_problem even = {
        .family = WF_FAMILY_MATMUL, .type = WF_TYPE_F32, .matmul = wfi_matmul_plain(16, 24, 12)};
    const wf_constant shared[] = {{"tile_m", 8},  {"tile_n", 8},   {"tile_k", 4}, {"thread_m", 4},
                                  {"split_k", 1}, {"stream_k", 1}, {"pack", 0},   {NULL, 0}};
    const wfi_traffic t = traffic_of(&even, "vector", shared);
    assert_true(t.requested == (3 * 16 * 12 + 2 * 24 * 12 + 4 * 64 + 5 * 64) * 4);
    assert_true(t.stored == (4 * 64 + 5 * 64) * 4);
    /* Tiles that reach over the edges are not counted. */
    assert_true(traffic_of(product(), "vector", shared).requested == 0);
}

static void stencils(void **state)
{
    (void)state;
    const wf_constant none[] = {{NULL, 0}};
    for (uint32_t box = 0; box < 2; box++) {
        const wfi_problem problem = {.family = WF_FAMILY_STENCIL,
                                     .type = WF_TYPE_F64,
                                     .stencil = {.nx = 11,
                                                 .ny = 9,
                                                 .nz = 1,
                                                 .row_stride = 11,
                                                 .dimensions = 2,
                                                 .shape = box ? WF_STENCIL_BOX : WF_STENCIL_STAR,
                                                 .radius = 2,
                                                 .steps = 3}};
        const wfi_traffic t = traffic_of(&problem, "naive", none);
        for (int cell = 0; cell < 11 * 9 * 3; cell++) {
            const int x = cell % 11, y = cell / 11 % 9;
            const bool fixed = x < 2 || y < 2 || x > 8 || y > 6;
            for (int dy = -2; dy <= 2; dy++)
                for (int dx = -2; dx <= 2; dx++)
                    if ((box || !dx || !dy) && (!fixed || (!dx && !dy)))
                        touch((uint64_t)((y + dy) * 11 + x + dx));
            touch(1000);
        }
        assert_true(t.requested == counted.items * 8);
    }
}

/* One work-item of stencil_march.comp, load by load: `load` counts so many elements. */
static struct {
    int ni, nj, nk, width, radius, radius_j;
    bool box, even, fixed;
    double loaded;
} marching;

static void march_window(int i0)
{
    const int width = marching.width, radius = marching.radius;
    const int side = (radius + width - 1) / width;
    const bool whole = i0 + width <= marching.ni;
    const bool inside = i0 >= side * width && i0 + (side + 1) * width <= marching.ni;
    marching.loaded += width;
    if (radius > 1 && width > 1 && ((marching.even && marching.fixed) || inside)) {
        marching.loaded += 2 * side * width;
        return;
    }
    marching.loaded += 2 * radius;
    for (int n = 1; !marching.even && !whole && n < width; n++)
        marching.loaded += i0 + n >= marching.ni;
}

static void march_item(int i0, int first, int end)
{
    const int rows = 2 * marching.radius_j + 1, radius = marching.radius, width = marching.width;
    if (marching.box) {
        const int from = radius == 1 ? first - 2 : first;
        for (int k = from; k < end; k++)
            for (int row = 0; row < rows * (radius == 1 ? 1 : 2 * radius + 1); row++)
                march_window(i0);
    } else if (radius == 1 && marching.nj > 1 && marching.even) {
        marching.loaded += 5 * width + 2;
        for (int k = first; k < end; k++)
            marching.loaded += 3 * width + 2;
    } else {
        marching.loaded += (2 * radius + 1) * width;
        for (int k = first; k < end; k++) {
            march_window(i0); /* whose own cells come with the column's next */
            marching.loaded += (rows - 1) * width;
        }
    }
}

/* Cells of a grid and those beyond its groups that a stencil with fixed edges reads, each once. */
static double march_groups(int group_i, int group_j, int march)
{
    const int r = marching.radius, rj = marching.radius_j;
    double once = 0;
    for (int k = 0; k < marching.nk; k += march)
        for (int j = 0; j < marching.nj; j += group_j)
            for (int i = 0; i < marching.ni; i += group_i) {
                begin_group();
                counted.groups = 0;
                for (int z = k; z < k + march && z < marching.nk; z++)
                    for (int y = j; y < j + group_j && y < marching.nj; y++)
                        for (int x = i; x < i + group_i && x < marching.ni; x++)
                            for (int n = 0; n < (2 * r + 1) * (2 * rj + 1) * (2 * r + 1); n++) {
                                const int dx = n % (2 * r + 1) - r,
                                          dy = n / (2 * r + 1) % (2 * rj + 1) - rj,
                                          dz = n / (2 * r + 1) / (2 * rj + 1) - r;
                                const int far = (dx != 0) + (dy != 0) + (dz != 0);
                                if ((marching.box || far < 2) && x + dx >= 0 && y + dy >= 0 &&
                                    z + dz >= 0 && x + dx < marching.ni && y + dy < marching.nj &&
                                    z + dz < marching.nk)
                                    touch((((uint64_t)z + dz) * marching.nj + y + dy) *
                                              marching.ni +
                                          x + dx);
                            }
                once += counted.groups;
            }
    return once;
}

/* Stars and boxes of radius 1 and 3 in planes and space, rows that are whole vectors and that are
 * not, in columns that the last planes do not fill. */
static void marching_stencils(void **state)
{
    enum { GROUP_I = 4, GROUP_J = 2, MARCH = 3 };
    (void)state;
    for (uint32_t n = 0; n < 2 * 2 * 2 * 2 * 2 * 2; n++) {
        const bool vector = n & 1, box = n & 2, flat = n & 4, even = n & 8, fixed = n & 32;
        const uint32_t radius = n & 16 ? 3 : 1, nx = even ? 24 : 22, ny = 9, nz = flat ? 1 : 10;
        const wfi_problem problem = {
            .family = WF_FAMILY_STENCIL,
            .type = WF_TYPE_F32,
            .stencil = {.nx = nx,
                        .ny = ny,
                        .nz = nz,
                        .row_stride = nx,
                        .dimensions = flat ? 2 : 3,
                        .shape = box ? WF_STENCIL_BOX : WF_STENCIL_STAR,
                        .radius = radius,
                        .border = fixed ? WF_BORDER_DIRICHLET : WF_BORDER_NEUMANN,
                        .steps = 2}};
        const wf_constant constants[] = {
            {"local_x", GROUP_I}, {"local_y", flat ? 1 : GROUP_J}, {"march", MARCH}, {NULL, 0}};
        const wfi_traffic t = traffic_of(&problem, vector ? "vector" : "march", constants);
        marching.width = vector ? 4 : 1;
        marching.ni = (int)nx;
        marching.nj = flat ? 1 : (int)ny;
        marching.nk = flat ? (int)ny : (int)nz;
        marching.radius = (int)radius;
        marching.radius_j = flat ? 0 : (int)radius;
        marching.box = box;
        marching.even = nx % (uint32_t)marching.width == 0;
        marching.fixed = fixed;
        marching.loaded = 0;
        for (int k = 0; k < marching.nk; k += MARCH)
            for (int j = 0; j < marching.nj; j++)
                for (int i = 0; i < marching.ni; i += marching.width)
                    march_item(i, k, k + MARCH < marching.nk ? k + MARCH : marching.nk);
        const double stored = (double)nx * ny * nz * 4 * 2;
        const double once = march_groups(GROUP_I * marching.width, flat ? 1 : GROUP_J, MARCH);
        assert_true(t.stored == stored);
        if (t.requested != marching.loaded * 4 * 2 + stored || t.groups != once * 4 * 2 + stored)
            fail_msg("case %u: %g bytes for %g, of groups %g for %g", n, t.requested - stored,
                     marching.loaded * 8, t.groups - stored, once * 8);
    }
}

/* Stars of several steps a pass: what a work-group loads front by front, from where its tile begins
 * and to where it ends; places beyond the grid are those of its edge. */
static void stencils_of_several_steps(void **state)
{
    enum { NX = 29, NY = 12, NZ = 7, X = 6, Y = 8, ROWS = 2, MARCH = 3, STEPS = 2, PASSES = 3 };
    (void)state;
    for (uint32_t n = 0; n < 4; n++) {
        const bool vectors = n & 1, flat = n & 2;
        const int radius = vectors ? 1 : 2, over = STEPS * radius, width = vectors ? 4 : 1;
        const int rows = flat ? 1 : ROWS, x = vectors ? X : 4 * X, y = flat ? 1 : Y;
        const int ni = NX, nj = flat ? 1 : NY, nk = flat ? NY : NZ;
        const wfi_problem problem = {.family = WF_FAMILY_STENCIL,
                                     .type = WF_TYPE_F32,
                                     .stencil = {.nx = NX,
                                                 .ny = NY,
                                                 .nz = flat ? 1 : NZ,
                                                 .row_stride = NX,
                                                 .dimensions = flat ? 2 : 3,
                                                 .radius = (uint32_t)radius,
                                                 .steps = STEPS * PASSES}};
        const wf_constant constants[] = {{"local_x", (uint32_t)x}, {"local_y", (uint32_t)y},
                                         {"march", MARCH},         {"steps", STEPS},
                                         {"rows", (uint32_t)rows}, {NULL, 0}};
        const wfi_traffic t = traffic_of(&problem, vectors ? "time_vector" : "time", constants);
        const int length_i = x * width, length_j = y * rows, over_j = flat ? 0 : over;
        const int side_i = vectors ? 4 : over; /* whole vectors */
        double requested = 0, groups = 0;
        /* With vectors the first tile begins where the grid does, and the last ends there. */
        const int begin_i = vectors ? 0 : -side_i, begin_j = vectors ? 0 : -over_j;
        for (int k = 0; k < nk; k += MARCH)
            for (int j = begin_j; j + over_j < nj; j += length_j - 2 * over_j) {
                for (int i = begin_i; i + side_i < ni; i += length_i - 2 * side_i) {
                    const int end = k + MARCH < nk ? k + MARCH : nk;
                    int fronts = end - k + 2 * over + (vectors ? 0 : 1);
                    begin_group();
                    counted.groups = 0;
                    for (int front = 0; front < fronts; front++)
                        for (int cell = 0; cell < length_i * length_j; cell++)
                            touch((uint64_t)((clamp_to(k - over + front, 0, nk - 1) * nj +
                                              clamp_to(j + cell / length_i, 0, nj - 1)) *
                                                 ni +
                                             clamp_to(i + cell % length_i, 0, ni - 1)));
                    groups += counted.groups;
                    if (vectors) /* fronts come in pairs, and one is loaded ahead */
                        fronts += fronts % 2 + 1;
                    requested += (double)fronts * length_i * length_j;
                    if (vectors && i + length_i >= ni)
                        break;
                }
                if (vectors && j + length_j >= nj)
                    break;
            }
        const double stored = (double)ni * nj * nk;
        if (t.requested != (requested + stored) * 4 * PASSES || t.stored != stored * 4 * PASSES ||
            t.groups != (groups + stored) * 4 * PASSES)
            fail_msg("case %u: %g bytes for %g, of groups %g for %g", n, t.requested,
                     (requested + stored) * 4 * PASSES, t.groups, (groups + stored) * 4 * PASSES);
    }
}

static void sparse_rows(void **state)
{
    (void)state;
    enum { ROWS = 7, ENTRIES = 31, LANES = 4 };
    const wfi_problem problem = {.family = WF_FAMILY_SPMV,
                                 .type = WF_TYPE_F64,
                                 .spmv = {.rows = ROWS, .columns = 9, .entries = ENTRIES}};
    const wf_constant lanes[] = {{"local_x", 32}, {"lanes", LANES}, {NULL, 0}};
    const double entries = ENTRIES * (4 + 8 + 8), y = ROWS * 8;
    assert_true(traffic_of(&problem, "row", lanes + 2).requested == entries + ROWS * 2 * 4 + y);
    assert_true(traffic_of(&problem, "plain", lanes).requested ==
                entries + ROWS * LANES * 2 * 4 + y);
}

/* What the ladder's first rows have always been told with. */
static void known_figures(void **state)
{
    (void)state;
    const wf_constant none[] = {{NULL, 0}};
    const wfi_problem cube = {
        .family = WF_FAMILY_MATMUL, .type = WF_TYPE_F32, .matmul = wfi_matmul_plain(256, 256, 256)};
    const wfi_traffic t = traffic_of(&cube, "naive", none);
    assert_true(t.requested - t.stored == 128 * 1048576.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_single_outputs),
        cmocka_unit_test(products_of_tiles),
        cmocka_unit_test(products_of_waves),
        cmocka_unit_test(relaxation),
        cmocka_unit_test(columns),
        cmocka_unit_test(products_with_vectors),
        cmocka_unit_test(tiles_of_several_iterations),
        cmocka_unit_test(products_of_other_variants),
        cmocka_unit_test(stencils),
        cmocka_unit_test(marching_stencils),
        cmocka_unit_test(stencils_of_several_steps),
        cmocka_unit_test(sparse_rows),
        cmocka_unit_test(known_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
