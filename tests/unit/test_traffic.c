/* The bytes that are counted of a kernel on grids, and of sparse rows, against every access of its
 * algorithm written down one by one on a small problem. */
#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "counting.h"
#include "kernels/families.h"

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

/* The neighbours along i from the subgroup's other work-items, where their cells are beside, and
 * else from memory: of nine rows the centres, of five of them the ends too. Work-groups reach over
 * the grid's edges along each axis, and those work-items take its last cells' places. */
static void shuffled_rows(void **state)
{
    enum { NI = 21, NJ = 9, NK = 7, CELLS = NI * NJ * NK, X = 16, Y = 4, Z = 2 };
    const wfi_problem problem = {.family = WF_FAMILY_HIMENO, .himeno = {NI, NJ, NK}};
    const wf_constant constants[] = {{"local_x", X}, {"local_y", Y}, {"local_z", Z}, {NULL, 0}};
    (void)state;
    for (uint32_t subgroup = 8; subgroup <= 64; subgroup *= 2) {
        const wf_caps caps = {.size = sizeof caps, .subgroup_size = subgroup};
        const wfi_traffic t = traffic_on(&caps, &problem, "shuffle", constants);
        double stored = 0;
        for (int group = 0; group < 2 * 2 * 3; group++) {
            int at[X * Y * Z];
            begin_group();
            for (int item = 0; item < X * Y * Z; item++) {
                const int i = group % 2 * X + item % X, j = group / 2 % 2 * Y + item / X % Y,
                          k = group / 4 * Z + item / (X * Y);
                at[item] = (clamp_to(k, 0, NK - 3) * NJ + clamp_to(j, 0, NJ - 3)) * NI +
                           clamp_to(i, 0, NI - 3) + NJ * NI + NI + 1;
                stored += i < NI - 2 && j < NJ - 2 && k < NK - 2;
            }
            for (int item = 0; item < X * Y * Z; item++) {
                const int lane = item % (int)subgroup;
                const bool west = lane > 0 && at[item - 1] == at[item] - 1;
                const bool east = lane + 1 < (int)subgroup && at[item + 1] == at[item] + 1;
                for (int row = 0; row < 9; row++) {
                    const int dj = row % 3 - 1, dk = row / 3 - 1;
                    const int centre = at[item] + (dk * NJ + dj) * NI;
                    touch((uint64_t)centre);
                    if (!west && !(dj && dk))
                        touch((uint64_t)centre - 1);
                    if (!east && !(dj && dk))
                        touch((uint64_t)centre + 1);
                }
                for (int array = 1; array <= 12; array++)
                    touch((uint64_t)(array * CELLS + at[item]));
            }
        }
        if (t.requested != (counted.items + stored) * 4 || t.stored != stored * 4 ||
            t.groups != (counted.groups + stored) * 4)
            fail_msg("subgroups of %u: %g bytes for %g, of groups %g for %g", subgroup, t.requested,
                     (counted.items + stored) * 4, t.groups, (counted.groups + stored) * 4);
    }
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
    bool box, even, aligned, fixed;
    double loaded;
} marching;

static void march_window(int i0)
{
    const int width = marching.width, radius = marching.radius;
    const int side = (radius + width - 1) / width;
    const bool whole = i0 + width <= marching.ni;
    const bool inside = i0 >= side * width && i0 + (side + 1) * width <= marching.ni;
    marching.loaded += width;
    if (radius > 1 && width > 1 && marching.aligned &&
        ((marching.even && marching.fixed) || inside)) {
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
        /* Each plane once, but for boxes in space of more than two cells to a side. */
        const bool once = radius < 3 || rows == 1;
        for (int k = once ? first - 2 * radius : first; k < end; k++)
            for (int row = 0; row < (once ? rows : rows * (2 * radius + 1)); row++)
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

/* Stars and boxes of radius 1 to 3 in planes and space, rows that are whole vectors and that are
 * not, some of which start where vectors do, in columns that the last planes do not fill. */
static void marching_stencils(void **state)
{
    enum { GROUP_I = 4, GROUP_J = 2, MARCH = 3 };
    (void)state;
    for (uint32_t n = 0; n < 2 * 2 * 2 * 2 * 2 * 2 * 3; n++) {
        const bool vector = n & 1, box = n & 2, flat = n & 4, even = n & 8, fixed = n & 32;
        const bool padded = n & 16;
        const uint32_t radius = n / 64 + 1, nx = even ? 24 : 22, ny = 9, nz = flat ? 1 : 10;
        const uint32_t row_stride = padded ? even ? 25 : 24 : nx;
        const wfi_problem problem = {
            .family = WF_FAMILY_STENCIL,
            .type = WF_TYPE_F32,
            .stencil = {.nx = nx,
                        .ny = ny,
                        .nz = nz,
                        .row_stride = row_stride,
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
        marching.aligned = row_stride % (uint32_t)marching.width == 0;
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

/* Boxes by tiles in shared memory: what the work-groups of one step load plane by plane, cells of
 * the edge in place of those beyond it, and what their work-items write and read there. */
static void stencils_by_tiles(void **state)
{
    enum { NX = 29, NY = 12, NZ = 7, X = 3, Y = 2, ROWS = 2, MARCH = 3, STEPS = 2 };
    (void)state;
    for (uint32_t n = 0; n < 4; n++) {
        const bool f64 = n & 1;
        const int radius = 1 + (int)n / 2, width = f64 ? 2 : 4, size = f64 ? 8 : 4;
        int vectors = 0; /* that reach from a work-item's first neighbour to its last */
        while (vectors * width < width + 2 * radius)
            vectors++;
        const int high = Y * ROWS + 2 * radius, wide = X * width + 2 * radius,
                  tile = (X - 1 + vectors) * width * high;
        const wfi_problem problem = {.family = WF_FAMILY_STENCIL,
                                     .type = f64 ? WF_TYPE_F64 : WF_TYPE_F32,
                                     .stencil = {.nx = NX,
                                                 .ny = NY,
                                                 .nz = NZ,
                                                 .row_stride = NX,
                                                 .dimensions = 3,
                                                 .shape = WF_STENCIL_BOX,
                                                 .radius = (uint32_t)radius,
                                                 .steps = STEPS}};
        const wf_constant constants[] = {
            {"local_x", X}, {"local_y", Y}, {"march", MARCH}, {"rows", ROWS}, {NULL, 0}};
        const wfi_traffic t = traffic_of(&problem, "march_shared", constants);
        double requested = 0, groups = 0, shared = 0;
        for (int k = 0; k < NZ; k += MARCH)
            for (int j = 0; j < NY; j += Y * ROWS)
                for (int i = 0; i < NX; i += X * width) {
                    begin_group();
                    counted.groups = 0;
                    for (int z = k - radius; z < k + MARCH + radius && z < NZ + radius; z++) {
                        for (int cell = 0; cell < wide * high; cell++)
                            touch((uint64_t)((clamp_to(z, 0, NZ - 1) * NY +
                                              clamp_to(j + cell / wide - radius, 0, NY - 1)) *
                                                 NX +
                                             clamp_to(i + cell % wide - radius, 0, NX - 1)));
                        requested += tile;
                        shared += tile + X * Y * (ROWS + 2 * radius) * vectors * width;
                    }
                    groups += counted.groups;
                }
        const double stored = NX * NY * NZ;
        if (t.requested != (requested + stored) * size * STEPS ||
            t.stored != stored * size * STEPS || t.groups != (groups + stored) * size * STEPS ||
            t.shared != shared * size * STEPS)
            fail_msg("case %u: %g bytes for %g, of groups %g for %g, shared %g for %g", n,
                     t.requested, (requested + stored) * size * STEPS, t.groups,
                     (groups + stored) * size * STEPS, t.shared, shared * size * STEPS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relaxation),
        cmocka_unit_test(shuffled_rows),
        cmocka_unit_test(columns),
        cmocka_unit_test(tiles_of_several_iterations),
        cmocka_unit_test(stencils),
        cmocka_unit_test(marching_stencils),
        cmocka_unit_test(stencils_of_several_steps),
        cmocka_unit_test(stencils_by_tiles),
        cmocka_unit_test(sparse_rows),
        cmocka_unit_test(known_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
