/* What work-items request of memory, in bytes of one pass, counted from the algorithm. */
#include <math.h>

#include "kernels/himeno/rows.h"

#define P_READS 19.0

/* Cells of p that work-groups read once each: their own and their halo, without its eight
 * corners. */
static double cells_and_halos(const wfi_point *point)
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    uint32_t size[3];
    wfi_himeno_group_size(point, size);
    const double ni = (double)p->ni - 2, nj = (double)p->nj - 2, nk = (double)p->nk - 2;
    const double gi = ceil(ni / size[0]), gj = ceil(nj / size[1]), gk = ceil(nk / size[2]);
    return (ni + 2 * gi) * (nj + 2 * gj) * (nk + 2 * gk) - 8 * gi * gj * gk;
}

void wfi_himeno_memory_traffic(const wfi_point *point, wfi_traffic *out)
{
    const double cells = wfi_himeno_inner_cells(point->problem);
    out->requested = sizeof(float) * cells * (P_READS + WFI_HIMENO_COEFFICIENTS + 1);
    out->stored = sizeof(float) * cells;
    out->groups = sizeof(float) * (cells_and_halos(point) + cells * (WFI_HIMENO_COEFFICIENTS + 1));
}

/* Work-groups along an axis whose cells begin alike: whole ones, and the last where cells of it lie
 * beyond the grid. */
typedef struct axis_groups {
    double count[2];
    uint32_t cells[2];
} axis_groups;

static axis_groups groups_along(uint64_t cells, uint32_t size)
{
    const uint64_t whole = cells / size;
    const uint32_t rest = (uint32_t)(cells % size);
    return (axis_groups){{(double)whole, rest > 0}, {size, rest}};
}

/* The cell of a work-item of a work-group that has so many along each axis; those beyond take the
 * last one's place. */
static void cell_of(uint32_t item, const uint32_t size[3], const uint32_t cells[3],
                    uint32_t cell[3])
{
    for (uint32_t axis = 0; axis < 3; axis++, item /= size[axis - 1]) {
        cell[axis] = item % size[axis];
        cell[axis] = cell[axis] < cells[axis] ? cell[axis] : cells[axis] - 1;
    }
}

/* Whether the second work-item has the cell behind the first one's in the same row. */
static bool follows(uint32_t first, uint32_t second, const uint32_t size[3],
                    const uint32_t cells[3])
{
    uint32_t a[3], b[3];
    cell_of(first, size, cells, a);
    cell_of(second, size, cells, b);
    return b[0] == a[0] + 1 && b[1] == a[1] && b[2] == a[2];
}

/* Cells of p that the work-items of a group load: the centres of nine rows, and of the five rows
 * whose ends count what no neighbour in the subgroup has. */
static double shuffled_reads(const uint32_t size[3], const uint32_t cells[3], uint32_t subgroup)
{
    const uint32_t items = size[0] * size[1] * size[2];
    double reads = 0;
    for (uint32_t item = 0; item < items; item++) {
        const bool first = item % subgroup == 0,
                   last = item % subgroup + 1 == subgroup || item + 1 == items;
        const bool west = !first && follows(item - 1, item, size, cells);
        const bool east = !last && follows(item, item + 1, size, cells);
        reads += 9 + 5 * (!west + !east);
    }
    return reads;
}

/* As in himeno_shuffle.comp, where work-items are laid over subgroups in the order of their
 * indices, which Vulkan leaves to the driver. Those outside the grid load as well. */
void wfi_himeno_shuffle_traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    const double cells = wfi_himeno_inner_cells(point->problem);
    uint32_t size[3];
    double items = 0, reads = 0;
    wfi_himeno_group_size(point, size);
    const axis_groups along[3] = {groups_along(p->ni - 2, size[0]),
                                  groups_along(p->nj - 2, size[1]),
                                  groups_along(p->nk - 2, size[2])};
    for (uint32_t kind = 0; kind < 8; kind++) {
        const uint32_t i = kind & 1, j = kind >> 1 & 1, k = kind >> 2;
        const double groups = along[0].count[i] * along[1].count[j] * along[2].count[k];
        const uint32_t held[3] = {along[0].cells[i], along[1].cells[j], along[2].cells[k]};
        if (groups > 0)
            reads += groups * shuffled_reads(size, held, point->caps->subgroup_size);
        items += groups * size[0] * size[1] * size[2];
    }
    out->requested = sizeof(float) * (reads + items * WFI_HIMENO_COEFFICIENTS + cells);
    out->stored = sizeof(float) * cells;
    out->groups = sizeof(float) * (cells_and_halos(point) + cells * (WFI_HIMENO_COEFFICIENTS + 1));
}

/* As in himeno_march.comp: a work-item loads its cells and one on either side, of three rows of
 * every plane of its column and of the planes before and after. */
void wfi_himeno_march_traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    const double width = point->variant->traits & WFI_HIMENO_VECTORS ? 4 : 1;
    const double ni = (double)p->ni - 2, nj = (double)p->nj - 2, nk = (double)p->nk - 2;
    const double items = ceil(ni / width) * nj;
    uint32_t groups[3];
    wfi_himeno_groups(point, (uint32_t)p->nk - 2, groups);
    const double coefficients = items * width * nk * WFI_HIMENO_COEFFICIENTS;
    out->requested = sizeof(float) * (items * 3 * (width + 2) * (nk + 2.0 * groups[2]) +
                                      coefficients + ni * nj * nk);
    out->stored = sizeof(float) * ni * nj * nk;
    out->groups =
        sizeof(float) * ((ni + 2.0 * groups[0]) * (nj + 2.0 * groups[1]) * (nk + 2.0 * groups[2]) +
                         coefficients + ni * nj * nk);
}

/* As in himeno_texels.comp: of each of four rows a work-item reads its texel and those that hold
 * the cells on either side, and the coefficients of its two rows, of which one may be beyond. */
void wfi_himeno_texels_traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    const double ni = (double)p->ni - 2, nj = (double)p->nj - 2, nk = (double)p->nk - 2;
    const double across = ceil(ni / 4), cells = wfi_himeno_inner_cells(point->problem);
    uint32_t groups[3];
    wfi_himeno_groups(point, (uint32_t)p->nk - 2, groups);
    out->stored = sizeof(float) * cells;
    out->requested = sizeof(float) * (across * ceil(nj / 2) * 4 * 3 * 4 * (nk + 2.0 * groups[2]) +
                                      across * 4 * nj * nk * WFI_HIMENO_COEFFICIENTS + cells);
}

/* As in himeno_shared.comp: a work-group loads its whole tile, and each cell reads 19 of it. */
void wfi_himeno_tile_traffic(const wfi_point *point, wfi_traffic *out)
{
    const double cells = wfi_himeno_inner_cells(point->problem);
    uint32_t g[3], groups[3];
    wfi_himeno_group_size(point, g);
    wfi_himeno_groups(point, (uint32_t)point->problem->himeno.nk - 2, groups);
    const double tiles =
        (double)groups[0] * groups[1] * groups[2] * (g[0] + 2.0) * (g[1] + 2.0) * (g[2] + 2.0);
    out->requested = out->groups =
        sizeof(float) * (tiles + cells * (WFI_HIMENO_COEFFICIENTS + 1.0));
    out->stored = sizeof(float) * cells;
    out->shared = sizeof(float) * (tiles + cells * P_READS);
}

/* Of all tiles along an axis of n cells, which begin at multiples of `step`, the values between
 * `low` and `high` that those from `before` cells before a tile to `after` past its last one take
 * where the nearest value stands for any beyond. */
static double clamped(int64_t n, int64_t step, int64_t before, int64_t after, int64_t low,
                      int64_t high)
{
    double sum = 0;
    for (int64_t first = 0; first < n; first += step) {
        const int64_t end = first + step < n ? first + step : n;
        const int64_t from = first - before > low ? first - before : low;
        const int64_t to = end - 1 + after < high ? end - 1 + after : high;
        sum += (double)(to - from + 1);
    }
    return sum;
}

/* As in himeno_time.comp, whose pass makes several iterations, among which its bytes are divided: a
 * work-item loads a few cells of each plane of p and the twelve coefficients of one cell. */
void wfi_himeno_planes_traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    const int64_t ni = (int64_t)p->ni - 2, nj = (int64_t)p->nj - 2, nk = (int64_t)p->nk - 2;
    const int64_t steps = wfi_himeno_steps(point), over = steps - 1;
    uint32_t g[3], groups[3], tile[3];
    wfi_himeno_tile(point, tile);
    const int64_t march = tile[2];
    wfi_himeno_group_size(point, g);
    wfi_himeno_groups(point, (uint32_t)nk, groups);
    const int64_t step_i = g[0] - 2 * over, step_j = g[1] - 2 * over;
    const double items = (double)g[0] * g[1], plane = (g[0] + 2.0) * (g[1] + 2.0);
    const double loads = ceil(plane / items) * items, tiles = (double)groups[0] * groups[1];
    const double fronts = (double)nk + 2.0 * (double)over * groups[2];
    const double cells = wfi_himeno_inner_cells(point->problem),
                 part = sizeof(float) / (double)steps;
    const double p_read = tiles * (groups[2] * (2 * plane + loads) + fronts * loads);
    const double c_read = tiles * items * (groups[2] + fronts);
    /* The last tile along i and j is as large as the others. */
    const int64_t last_i = groups[0] * step_i, last_j = groups[1] * step_j;
    const double p_once = clamped(last_i, step_i, over + 1, over + 1, -1, ni) *
                          clamped(last_j, step_j, over + 1, over + 1, -1, nj) *
                          clamped(nk, march, over + 1, over + 2, -1, nk);
    const double c_once = clamped(last_i, step_i, over, over, 0, ni - 1) *
                          clamped(last_j, step_j, over, over, 0, nj - 1) *
                          clamped(nk, march, over, over + 1, 0, nk - 1);
    out->stored = part * cells;
    out->requested = part * (p_read + c_read * WFI_HIMENO_COEFFICIENTS + cells);
    out->groups = part * (p_once + c_once * WFI_HIMENO_COEFFICIENTS + cells);
}
