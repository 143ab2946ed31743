/* What work-items request of memory, and work-groups once each, counted from the algorithm. */
#include <math.h>

#include "kernels/stencil/rows.h"

/* Elements that the work-items of a row of cells load: their own, and the windows around these, as
 * in load_window of stencil_march.comp. */
typedef struct row_loads {
    double items, own, window;
} row_loads;

static bool rows_are_even(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    return (p->unit_x ? p->unit_x : p->nx) % wfi_stencil_width(point) == 0;
}

static row_loads loads_of(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const uint32_t width = wfi_stencil_width(point), side = (p->radius + width - 1) / width;
    const double items = ceil((double)p->nx / width), whole = floor((double)p->nx / width);
    const bool always = rows_are_even(point) && p->border == WF_BORDER_DIRICHLET;
    const bool one_by_one = width == 1 || p->radius == 1 || !wfi_stencil_rows_hold_vectors(point);
    const double by_vectors = one_by_one ? 0 : always ? items : fmax(0, whole - 2.0 * side);
    const double beyond = items * width - (double)p->nx; /* cells that a border stands for */
    return (row_loads){.items = items,
                       .own = items * width,
                       .window = by_vectors * 2 * side * width +
                                 (items - by_vectors) * 2 * p->radius + beyond};
}

/* Elements that columns of `march` planes load, of one row of cells. */
static double column_loads(const wfi_point *point, const wfi_stencil_axes *a, double columns)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const row_loads row = loads_of(point);
    const double radius = p->radius, radius_j = a->flat ? 0 : radius, nk = (double)a->nk;
    if (p->shape == WF_STENCIL_BOX && (p->radius <= 2 || a->flat)) /* as BOX_BY_PLANES there */
        return (nk + 2 * radius * columns) * (2 * radius_j + 1) * (row.own + row.window);
    if (p->shape == WF_STENCIL_BOX)
        return nk * (2 * radius + 1) * (2 * radius_j + 1) * (row.own + row.window);
    if (p->radius == 1 && !a->flat &&
        rows_are_even(point)) /* the plane after the last is loaded too */
        return columns * 2 * row.own + (nk + columns) * (3 * row.own + 2 * row.items);
    return columns * (2 * radius + 1) * row.own +
           nk * (row.own + row.window + 2 * radius_j * row.own);
}

/* Of all pieces of `tile` of n cells: they and those up to `radius` beyond them. */
static double widened(uint64_t n, uint64_t tile, uint64_t radius, bool wraps)
{
    double sum = 0;
    for (uint64_t first = 0; first < n; first += tile) {
        const uint64_t end = first + tile < n ? first + tile : n;
        const uint64_t low = first < radius ? 0 : first - radius;
        const uint64_t high = end + radius < n ? end + radius : n;
        const uint64_t wrapped = end - first + 2 * radius;
        sum += (double)(!wraps ? high - low : wrapped < n ? wrapped : n);
    }
    return sum;
}

double wfi_stencil_cells_once(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const wfi_stencil_axes a = wfi_stencil_axes_of(p);
    const wfi_stencil_tile tile = wfi_stencil_tile_of(point);
    const bool wraps = p->border == WF_BORDER_PERIODIC;
    const double ni = (double)a.ni, nj = (double)a.nj, nk = (double)a.nk;
    const double wide_i = widened(a.ni, (uint64_t)tile.i, p->radius, wraps),
                 wide_j = widened(a.nj, (uint64_t)tile.j, a.flat ? 0 : p->radius, wraps),
                 wide_k = widened(a.nk, (uint64_t)tile.k, p->radius, wraps);
    return p->shape == WF_STENCIL_BOX
               ? wide_i * wide_j * wide_k
               : wide_i * nj * nk + ni * wide_j * nk + ni * nj * wide_k - 2 * ni * nj * nk;
}

void wfi_stencil_march_traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const wfi_stencil_axes a = wfi_stencil_axes_of(p);
    const wfi_stencil_tile tile = wfi_stencil_tile_of(point);
    const double ni = (double)a.ni, nj = (double)a.nj, nk = (double)a.nk;
    const double size = (double)wf_type_size(point->problem->type) * p->steps;
    if (tile.i <= 0 || tile.j <= 0 || tile.k <= 0)
        return;
    out->work_groups = wfi_stencil_group_count(point);
    out->stored = size * ni * nj * nk;
    out->requested = size * nj * column_loads(point, &a, ceil(nk / (double)tile.k)) + out->stored;
    out->groups = size * wfi_stencil_cells_once(point) + out->stored;
}

/* Cells of an axis that all tiles of `length` cells load, the first of which begins at -before and
 * the others `step` cells further on each. */
static double tiled(uint64_t n, uint64_t count, int64_t step, int64_t before, int64_t length,
                    bool wraps)
{
    const int64_t cells = (int64_t)n;
    int64_t sum = 0;
    for (uint64_t tile = 0; tile < count; tile++) {
        const int64_t first = (int64_t)tile * step - before, end = first + length;
        const int64_t low = first > 0 ? first : 0, high = end < cells ? end : cells;
        sum += wraps ? (length < cells ? length : cells) : high > low ? high - low : 0;
    }
    return (double)sum;
}

/* As in stencil_time.comp and stencil_time_vector.comp: every cell of a tile is loaded once a
 * front, and a pass makes several steps. Steps that are no whole passes are not counted. */
void wfi_stencil_time_traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const wfi_stencil_axes a = wfi_stencil_axes_of(p);
    const wfi_stencil_tile tile = wfi_stencil_tile_of(point);
    const uint32_t steps = wfi_point_value(point, STENCIL_ID_STEPS, 1);
    const bool wraps = p->border == WF_BORDER_PERIODIC;
    const bool vectors = point->variant->traits & WFI_STENCIL_VECTORS;
    const int64_t over = (int64_t)steps * p->radius, width = wfi_stencil_width(point);
    uint32_t size[3];
    uint64_t groups[2];
    if (p->steps % steps || tile.i <= 0 || tile.j <= 0 || tile.k <= 0)
        return;
    wfi_stencil_group_size(point, size);
    wfi_stencil_groups(point, groups);
    const int64_t length_i = size[0] * width;
    const int64_t length_j = (int64_t)size[1] * wfi_point_value(point, STENCIL_ID_ROWS, 1);
    const int64_t over_i = (length_i - tile.i) / 2, over_j = (length_j - tile.j) / 2;
    const bool ends = tile.more_i > 0; /* the first tile begins where the grid does */
    const uint64_t columns = (a.nk + (uint64_t)tile.k - 1) / (uint64_t)tile.k;
    double fronts = 0; /* that work-items load, of all columns */
    for (uint64_t column = 0; column < columns; column++) {
        const uint64_t first = column * (uint64_t)tile.k, left = a.nk - first;
        const uint64_t planes = (left < (uint64_t)tile.k ? left : (uint64_t)tile.k) + 2 * over;
        fronts += 1 + (double)(vectors ? planes + planes % 2 : planes);
    }
    out->work_groups = wfi_stencil_group_count(point);
    const double bytes =
        (double)wf_type_size(point->problem->type) * (double)p->steps / (double)steps;
    const double once =
        tiled(a.ni, groups[0], tile.i, ends ? 0 : over_i, length_i, wraps) *
        tiled(a.nj, groups[1], tile.j, ends ? 0 : over_j, length_j, wraps) *
        tiled(a.nk, columns, tile.k, over, tile.k + 2 * over + (vectors ? 0 : 1), wraps);
    out->stored = bytes * (double)a.ni * (double)a.nj * (double)a.nk;
    out->requested = bytes * (double)groups[0] * (double)groups[1] * (double)length_i *
                         (double)length_j * fronts +
                     out->stored;
    out->groups = bytes * once + out->stored;
}
