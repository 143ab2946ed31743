#include "kernels/matmul/traffic.h"

#include <math.h>

#include "matmul/matmul_ids.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/model.h"
#include "kernels/matmul/pack.h"
#include "kernels/matmul/stream_k.h"
#include "plan/access.h"

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

wf_tile_order wfi_matmul_tile_order(const wfi_point *point, double tile_m, double tile_n)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const double row = (double)p->k * (double)wf_type_size(point->problem->type);
    const double rows = ceil((double)p->m / tile_m), columns = ceil((double)p->n / tile_n);
    return (wf_tile_order){.rows = (uint64_t)rows,
                           .columns = (uint64_t)columns,
                           .batch = p->batch,
                           .swizzle = wfi_point_value(point, MATMUL_ID_SWIZZLE, 1),
                           .row_bytes = (double)p->m * row / rows,
                           .column_bytes = (double)p->n * row / columns,
                           .tile_bytes =
                               wfi_matmul_c_bytes(point) / (rows * columns * (double)p->batch)};
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
    out->tile_order = wfi_matmul_tile_order(point, tile_m, tile_n);
    out->work_groups = wfi_matmul_tile_count(p, tile_m, tile_n);
}

void wfi_matmul_block_traffic(const wfi_point *point, wfi_traffic *out)
{
    const uint32_t *v = point->values;
    wfi_matmul_tiled_traffic(point, v[MATMUL_ID_TILE_M], v[MATMUL_ID_TILE_N],
                             1.0 / v[MATMUL_ID_THREAD_M] + 1.0 / v[MATMUL_ID_THREAD_N], out);
}

void wfi_matmul_count_split(const wfi_point *point, wfi_traffic *out)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint32_t split_k = wfi_point_value(point, MATMUL_ID_SPLIT_K, 1);
    if (split_k < 2)
        return;
    const double partials = (double)split_k * (double)p->m * (double)p->n * (double)p->batch *
                            (double)wfi_matmul_sum_size(point->problem->type);
    out->requested += partials - wfi_matmul_c_bytes(point);
    out->groups += partials - wfi_matmul_c_bytes(point);
    out->stored = partials;
    out->tile_order.rows = 0; /* a tile is of several work-groups */
    out->work_groups *= split_k;
}

/* Pieces of tiles that work-groups make: each takes its share of all steps, of which a tile has
 * tile_steps, and a piece ends where a tile or the share does. */
static uint64_t pieces_of(const wfi_matmul_stream_k *s)
{
    const uint64_t steps = s->shared * s->tile_steps;
    uint64_t pieces = 0, first = 0;
    for (uint64_t group = 0; group < s->groups; group++) {
        const uint64_t end = first + steps / s->groups + (group < steps % s->groups);
        pieces += (end - 1) / s->tile_steps - first / s->tile_steps + 1;
        first = end;
    }
    return pieces;
}

/* Outputs of the tiles from `first` on, which are numbered as in matmul_place.glsl: down `swizzle`
 * rows of tiles, then column by column. The last of each row and column may be partly there. */
static double outputs_from(const wfi_matmul_problem *p, const wfi_matmul_tile *tile, uint64_t first)
{
    const uint64_t tiles_m = (p->m + tile->m - 1) / tile->m,
                   tiles_n = (p->n + tile->n - 1) / tile->n,
                   swizzle = tile->swizzle > 1 ? tile->swizzle : 1;
    double outputs = 0;
    for (uint64_t number = first; number < tiles_m * tiles_n; number++) {
        const uint64_t strip = number / (swizzle * tiles_n), rest = number % (swizzle * tiles_n),
                       under = tiles_m - strip * swizzle,
                       height = swizzle < under ? swizzle : under;
        const uint64_t row = (strip * swizzle + rest % height) * tile->m,
                       column = rest / height * tile->n;
        outputs += (double)(p->m - row < tile->m ? p->m - row : tile->m) *
                   (double)(p->n - column < tile->n ? p->n - column : tile->n);
    }
    return outputs;
}

void wfi_matmul_count_stream_k(const wfi_point *point, const wfi_matmul_tile *tile,
                               wfi_traffic *out)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    if (tile->stream_k == 0)
        return;
    const wfi_matmul_stream_k s = wfi_matmul_stream_k_of(point, tile);
    if (s.shared == 0 || s.groups == 0)
        return;
    const double partials = (double)pieces_of(&s) * tile->m * tile->n *
                            (double)wfi_matmul_sum_size(point->problem->type);
    const double c = outputs_from(p, tile, s.tiles - s.shared) / ((double)p->m * (double)p->n);
    out->requested += partials - wfi_matmul_c_bytes(point) * c;
    out->groups += partials - wfi_matmul_c_bytes(point) * c;
    out->stored += partials - wfi_matmul_c_stored(point) * c;
    out->tile_order.rows = 0;
    out->work_groups = (double)(s.tiles - s.shared + s.groups);
}

wfi_point wfi_matmul_packed_point(const wfi_point *point, wfi_problem *problem)
{
    wfi_point packed = *point;
    *problem = *point->problem;
    problem->matmul.k = wfi_matmul_packed_steps(point, wfi_point_value(point, MATMUL_ID_PACK, 0),
                                                wfi_point_value(point, MATMUL_ID_TILE_K, 1));
    packed.problem = problem;
    return packed;
}

void wfi_matmul_memory_traffic(const wfi_point *point, const wfi_matmul_tile *tile,
                               wfi_traffic *out)
{
    wfi_problem problem;
    const wfi_point packed = wfi_matmul_packed_point(point, &problem);
    wfi_matmul_tiled_traffic(&packed, tile->m, tile->n, 0, out);
    out->shared = 0;
    wfi_matmul_count_split(&packed, out);
    wfi_matmul_count_stream_k(&packed, tile, out);
    wfi_matmul_count_pack(point, wfi_point_value(point, MATMUL_ID_PACK, 0), out);
}

void wfi_matmul_tile_access(const wfi_point *point, wf_access *out)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const double m = point->values[MATMUL_ID_TILE_M];
    const double n = wfi_point_value(point, MATMUL_ID_TILE_N, point->values[MATMUL_ID_TILE_M]);
    out->busy =
        (double)p->m / (ceil((double)p->m / m) * m) * (double)p->n / (ceil((double)p->n / n) * n);
}

/* As in matmul_vector.comp: where a work-item's first four rows and columns lie. */
void wfi_matmul_vector_access(const wfi_point *point, wf_access *out)
{
    const uint32_t *v = point->values;
    uint32_t a[WFI_MOST_LANES], b[WFI_MOST_LANES], lanes = 0;
    const uint32_t lanes_m = v[MATMUL_ID_LANES_M], lanes_n = v[MATMUL_ID_LANES_N],
                   items = wfi_matmul_tile_threads(v), fours_m = v[MATMUL_ID_THREAD_M] / 4,
                   fours_n = v[MATMUL_ID_THREAD_N] / 4,
                   blocks_n = v[MATMUL_ID_TILE_N] / v[MATMUL_ID_THREAD_N] / lanes_n;
    const bool pairs = v[MATMUL_ID_PAIRS] && lanes_m % 2 == 0;
    wfi_matmul_tile_access(point, out);
    for (; lanes < point->caps->subgroup_size && lanes < items && lanes < WFI_MOST_LANES; lanes++) {
        const uint32_t lane = lanes % (lanes_m * lanes_n), block = lanes / (lanes_m * lanes_n);
        const uint32_t lane_m = pairs ? lane / (2 * lanes_n) * 2 + lane % 2 : lane / lanes_n,
                       lane_n = (pairs ? lane / 2 : lane) % lanes_n;
        a[lanes] = 4 * (block / blocks_n * lanes_m * fours_m + lane_m);
        b[lanes] = 4 * (block % blocks_n * lanes_n * fours_n + lane_n);
    }
    out->bank_passes = ((double)fours_m * wfi_access_passes(a, lanes) +
                        (double)fours_n * wfi_access_passes(b, lanes)) /
                       (4.0 * (fours_m + fours_n));
}
