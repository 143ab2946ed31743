#include "kernels/traffic.h"

#include <math.h>

#include "kernels/stencil/stencil.h"
#include "kernels/himeno/himeno.h"
#include "kernels/matmul/matmul.h"

#define HIMENO_P_READS 19.0
#define HIMENO_COEFFICIENT_READS 12.0

/* ------------------------------------------------------------------------------------- products */

/* Of C, written once: 8-bit products are of 32 bits. */
static double c_stored(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const bool sums = point->problem->type == WF_TYPE_I8 || p->output == WF_MATMUL_OUTPUT_SUMS;
    const double size = sums && point->problem->type != WF_TYPE_F64
                            ? 4
                            : (double)wf_type_size(point->problem->type);
    return (double)p->m * (double)p->n * (double)p->batch * size;
}

/* And read where it is scaled. */
static double c_bytes(const wfi_point *point)
{
    return c_stored(point) * (point->problem->matmul.beta ? 2 : 1);
}

/* A once for every column of tiles, B once for every row of tiles. */
static double tiles_bytes(const wfi_point *point, double tile_m, double tile_n)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const double size = (double)wf_type_size(point->problem->type);
    const double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    return size * k * (m * ceil(n / tile_n) + n * ceil(m / tile_m)) * (double)p->batch;
}

void wfi_matmul_naive_traffic(const wfi_point *point, wfi_traffic *out)
{
    uint32_t group[3];
    point->variant->group_size(point, group);
    out->requested = tiles_bytes(point, 1, 1) + c_bytes(point);
    out->stored = c_stored(point);
    out->groups = tiles_bytes(point, group[1], group[0]) + c_bytes(point);
}

void wfi_matmul_single_traffic(const wfi_point *point, wfi_traffic *out)
{
    out->requested = out->groups = tiles_bytes(point, 1, 1) + c_bytes(point);
    out->stored = c_stored(point);
}

/* Tiles are read into shared memory once, and `reads` values from there a multiply-add. */
static void tiled(const wfi_point *point, double tile_m, double tile_n, double reads,
                  wfi_traffic *out)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const double loaded = tiles_bytes(point, tile_m, tile_n);
    const double stored = (double)wfi_matmul_sum_size(point->problem->type);
    const double values = loaded / (double)wf_type_size(point->problem->type);
    const double products = (double)p->m * (double)p->n * (double)p->k * (double)p->batch;
    out->requested = out->groups = loaded + c_bytes(point);
    out->stored = c_stored(point);
    out->shared = (values + products * reads) * stored;
}

void wfi_matmul_square_traffic(const wfi_point *point, wfi_traffic *out)
{
    tiled(point, point->values[MATMUL_ID_TILE_M], point->values[MATMUL_ID_TILE_M], 2, out);
}

void wfi_matmul_block_traffic(const wfi_point *point, wfi_traffic *out)
{
    const uint32_t *v = point->values;
    tiled(point, v[MATMUL_ID_TILE_M], v[MATMUL_ID_TILE_N],
          1.0 / v[MATMUL_ID_THREAD_M] + 1.0 / v[MATMUL_ID_THREAD_N], out);
}

void wfi_matmul_reread_traffic(const wfi_point *point, wfi_traffic *out)
{
    tiled(point, point->values[MATMUL_ID_TILE_M], point->values[MATMUL_ID_TILE_N], 2, out);
}

/* Split sums are written as they are, once a part. Tiles that work-groups share (stream-K) and
 * tiles that are read from packed copies are not counted. */
void wfi_matmul_vector_traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint32_t splits = wfi_point_value(point, MATMUL_ID_SPLIT_K, 1);
    if (wfi_point_value(point, MATMUL_ID_STREAM_K, 0) || wfi_point_value(point, MATMUL_ID_PACK, 0))
        return;
    wfi_matmul_block_traffic(point, out);
    if (splits < 2)
        return;
    const double parts = (double)splits * (double)p->m * (double)p->n * (double)p->batch *
                         (double)wfi_matmul_sum_size(point->problem->type);
    out->requested += parts - c_bytes(point);
    out->stored = parts;
    out->groups = out->requested;
}

/* ------------------------------------------------------------------------------------- stencils */

static double himeno_cells(const wfi_point *point)
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    return ((double)p->ni - 2) * ((double)p->nj - 2) * ((double)p->nk - 2);
}

void wfi_himeno_naive_traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    uint32_t g[3];
    point->variant->group_size(point, g);
    const double groups = ceil(((double)p->ni - 2) / g[0]) * ceil(((double)p->nj - 2) / g[1]) *
                          ceil(((double)p->nk - 2) / g[2]);
    const double cells = himeno_cells(point);
    /* Of p each work-group reads its cells and a rim, without its eight corners. */
    const double box = (g[0] + 2.0) * (g[1] + 2.0) * (g[2] + 2.0) - 8;
    out->requested = sizeof(float) * cells * (HIMENO_P_READS + HIMENO_COEFFICIENT_READS + 1);
    out->stored = sizeof(float) * cells;
    out->groups = sizeof(float) * (groups * box + cells * (HIMENO_COEFFICIENT_READS + 1));
}

void wfi_himeno_twice_traffic(const wfi_point *point, wfi_traffic *out)
{
    const double cells = himeno_cells(point);
    wfi_himeno_naive_traffic(point, out);
    out->requested = 2 * out->requested - sizeof(float) * cells; /* the second pass writes no p */
    out->groups = 2 * out->groups - sizeof(float) * cells;
}

static double inside(double extent, double radius)
{
    return extent > 2 * radius ? extent - 2 * radius : 0;
}

/* Fixed cells are copied; the coefficients, the same for all, are not counted. */
void wfi_stencil_naive_traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const double size = (double)wf_type_size(point->problem->type);
    const double nx = (double)p->nx, ny = (double)p->ny;
    const double nz = p->dimensions == 3 ? (double)p->nz : 1, r = p->radius;
    const double cells = nx * ny * nz;
    const double computed =
        p->border == WF_BORDER_DIRICHLET
            ? inside(nx, r) * inside(ny, r) * (p->dimensions == 3 ? inside(nz, r) : 1)
            : cells;
    out->requested =
        size * p->steps * (computed * (wfi_stencil_taps(p) + 1.0) + (cells - computed) * 2);
    out->stored = size * p->steps * cells;
}
