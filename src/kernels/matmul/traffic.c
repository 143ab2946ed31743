#include "kernels/matmul/traffic.h"

#include <math.h>

#include "matmul/matmul_ids.h"
#include "kernels/matmul/matmul.h"

double wfi_matmul_c_stored(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    return (double)p->m * (double)p->n * (double)p->batch *
           (double)wfi_matmul_c_size(point->problem->type, p->output);
}

double wfi_matmul_c_bytes(const wfi_point *point)
{
    return wfi_matmul_c_stored(point) * (point->problem->matmul.beta ? 2 : 1);
}

double wfi_matmul_tiles_bytes(const wfi_point *point, double tile_m, double tile_n)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const double size = (double)wf_type_size(point->problem->type);
    const double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    return size * k * (m * ceil(n / tile_n) + n * ceil(m / tile_m)) * (double)p->batch;
}

void wfi_matmul_tiled_traffic(const wfi_point *point, double tile_m, double tile_n, double reads,
                              wfi_traffic *out)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const double loaded = wfi_matmul_tiles_bytes(point, tile_m, tile_n);
    const double stored = (double)wfi_matmul_sum_size(point->problem->type);
    const double values = loaded / (double)wf_type_size(point->problem->type);
    const double products = (double)p->m * (double)p->n * (double)p->k * (double)p->batch;
    out->requested = out->groups = loaded + wfi_matmul_c_bytes(point);
    out->stored = wfi_matmul_c_stored(point);
    out->shared = (values + products * reads) * stored;
}

void wfi_matmul_block_traffic(const wfi_point *point, wfi_traffic *out)
{
    const uint32_t *v = point->values;
    wfi_matmul_tiled_traffic(point, v[MATMUL_ID_TILE_M], v[MATMUL_ID_TILE_N],
                             1.0 / v[MATMUL_ID_THREAD_M] + 1.0 / v[MATMUL_ID_THREAD_N], out);
}

void wfi_matmul_tile_access(const wfi_point *point, wf_access *out)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const double m = point->values[MATMUL_ID_TILE_M];
    const double n = wfi_point_value(point, MATMUL_ID_TILE_N, point->values[MATMUL_ID_TILE_M]);
    out->busy =
        (double)p->m / (ceil((double)p->m / m) * m) * (double)p->n / (ceil((double)p->n / n) * n);
}
