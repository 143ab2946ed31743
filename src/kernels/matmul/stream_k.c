/* Stream-K (Osama, Merrill, Cecka, Garland, Owens, 2023): where whole waves of work-groups would
 * leave the last wave half empty, work-groups share the sums of its tiles evenly, and the fixup
 * adds up the partial tiles. */
#include "kernels/matmul/stream_k.h"

#include <math.h>
#include <string.h>

#include "core/arithmetic.h"
#include "plan/dispatch_size.h"
#include "profiles/matmul.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/model.h"
#include "wfi_shaders.h"

#define FIXUP_X 256 /* work-items of a work-group of the fixup */
#define MOST_STREAM_K 64
#define MOST_PARTIALS 16 /* partial tiles of a tile: they are added one after another */

wfi_matmul_stream_k wfi_matmul_stream_k_of(const wfi_point *point, const wfi_matmul_tile *tile)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint64_t tiles_m = (p->m + tile->m - 1) / tile->m,
                   tiles_n = (p->n + tile->n - 1) / tile->n,
                   groups = (uint64_t)tile->stream_k * (uint64_t)wfi_matmul_units(point->caps);
    wfi_matmul_stream_k s = {.tiles = tiles_m * tiles_n,
                             .tile_steps = (p->k + tile->k - 1) / tile->k};
    if (groups && p->k) {
        s.shared = s.tiles % groups;
        /* What is less than a wave is no remainder: the tile was not chosen for this size. */
        if (p->varies && s.shared == s.tiles)
            s.shared = 0;
        s.groups = wfi_least(groups, wfi_least(s.shared * s.tile_steps, s.shared * MOST_PARTIALS));
    }
    return s;
}

uint64_t wfi_matmul_partials_bytes(const wfi_matmul_stream_k *s, const wfi_matmul_tile *tile,
                                   wf_type type)
{
    return (s->groups + s->shared) * tile->m * tile->n * wfi_matmul_sum_size(type);
}

/* All sizes share the tiles of less than a whole wave, and no more work-groups than that has. */
uint64_t wfi_matmul_most_partials_bytes(const wfi_point *point, const wfi_matmul_tile *tile)
{
    const uint64_t wave = (uint64_t)tile->stream_k * (uint64_t)wfi_matmul_units(point->caps);
    const wfi_matmul_stream_k most = {.groups = wave, .shared = wave};
    return wfi_matmul_partials_bytes(&most, tile, point->problem->type);
}

/* The same for all sizes up to the plan's. Its own size must have all three dispatches, since
 * recordings of others may have no more. */
static bool all_may_stream_k(const wfi_point *point, const wfi_matmul_tile *tile)
{
    const wf_caps *caps = point->caps;
    const wfi_matmul_stream_k s = wfi_matmul_stream_k_of(point, tile);
    const double wave = tile->stream_k * wfi_matmul_units(caps);
    return s.shared > 0 && s.shared < s.tiles && s.tiles <= caps->max_groups[0] &&
           wave <= caps->max_groups[0] && wave <= caps->max_groups[2] &&
           wave * (double)s.tile_steps < (double)(UINT32_C(1) << 31) &&
           wfi_matmul_most_partials_bytes(point, tile) <= caps->max_storage_range;
}

bool wfi_matmul_may_stream_k(const wfi_point *point, const wfi_matmul_tile *tile)
{
    const wf_caps *caps = point->caps;
    if (tile->stream_k == 0)
        return true;
    if (tile->stream_k > MOST_STREAM_K || tile->split_k != 1 || point->problem->matmul.batch != 1)
        return false;
    if (point->problem->matmul.varies)
        return all_may_stream_k(point, tile);
    const wfi_matmul_stream_k s = wfi_matmul_stream_k_of(point, tile);
    return s.tiles <= caps->max_groups[0] && s.groups <= caps->max_groups[0] &&
           s.shared <= caps->max_groups[2] &&
           (double)s.shared * (double)s.tile_steps < (double)(UINT32_C(1) << 31) &&
           wfi_matmul_partials_bytes(&s, tile, point->problem->type) <= caps->max_storage_range;
}

void wfi_matmul_push_stream_k(const wfi_matmul_stream_k *s, wfi_matmul_push *push)
{
    const uint64_t steps = s->shared * s->tile_steps;
    push->shared_from = (uint32_t)(s->tiles - s->shared);
    push->tile_steps = (uint32_t)s->tile_steps;
    push->group_steps = (uint32_t)(steps / s->groups);
    push->longer_groups = (uint32_t)(steps % s->groups);
}

static uint32_t fixup_items(const wf_caps *caps)
{
    return caps->max_invocations < FIXUP_X ? caps->max_invocations : FIXUP_X;
}

wf_result wfi_matmul_fixup_pipeline(wf_plan *plan, const wfi_point *point,
                                    const wfi_matmul_tile *tile, uint32_t *index)
{
    static const wfi_spirv *const modules[WF_TYPE_COUNT] = WFI_MODULES_matmul_fixup;
    const bool f16x2 = tile->packed && tile->packed[0].exponent_bytes;
    const uint32_t wide = wfi_matmul_vec4_bits(&point->problem->matmul) & 4;
    const wfi_constant constants[] = {{0, fixup_items(point->caps)},
                                      {1, 1},
                                      {2, 1},
                                      {MATMUL_ID_TILE_M, tile->m},
                                      {MATMUL_ID_TILE_N, tile->n},
                                      {MATMUL_ID_SWIZZLE, tile->swizzle ? tile->swizzle : 1},
                                      {MATMUL_ID_VEC4, wide}};
    wfi_pipeline_desc desc = {.name = "matmul fixup",
                              .spirv = f16x2 ? &wfi_spv_matmul_fixup_f16x2
                                             : modules[point->problem->type],
                              .storage_buffers = f16x2 ? 5 : 4,
                              .push_bytes = sizeof(wfi_matmul_push),
                              .constant_count = WFI_COUNT(constants)};
    memcpy(desc.constants, constants, sizeof constants);
    wfi_matmul_constants(point, &desc);
    return wfi_plan_add_pipeline(plan, &desc, index);
}

wf_result wfi_matmul_fixup_groups(wf_plan *plan, const wfi_point *point,
                                  const wfi_matmul_stream_k *s, const wfi_matmul_tile *tile,
                                  uint32_t groups[3])
{
    const uint32_t items = fixup_items(point->caps);
    const wf_result result =
        wfi_dispatch_size(plan, ((uint64_t)tile->m * tile->n / 4 + items - 1) / items, groups);
    groups[2] = (uint32_t)s->shared;
    return result;
}

/* --------------------------------------------------------------------------------------- model */

#define FEW_IDLE 0.25  /* of the last wave: one more work-group a unit fills it */
#define LEAST_IDLE 0.4 /* of the last of many waves, whose work-groups no longer end together */

/* How many work-groups a unit should share what waves of `groups` a unit leave, where `idle` is the
 * empty fraction of the last wave. */
static double sharers(double groups, double idle, double tiles_a_unit)
{
    if (groups == 2)
        return 2;
    if (groups != 4)
        return 0;
    if (tiles_a_unit >= WFI_MANY_TILES)
        return idle >= LEAST_IDLE ? 4 : 0;
    return idle < FEW_IDLE ? 1 : 2;
}

uint32_t wfi_matmul_stream_k_for(const wfi_point *point, double tile_m, double tile_n)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const wfi_matmul_profile *profile = wfi_matmul_profile_of(point->caps);
    if (profile->stream_k_outputs <= 0 || point->problem->type != WF_TYPE_F32 || p->batch != 1)
        return 0;
    const double outputs = tile_m * tile_n, groups = profile->stream_k_outputs / outputs,
                 units = wfi_matmul_units(point->caps),
                 tiles = ceil((double)p->m / tile_m) * ceil((double)p->n / tile_n),
                 waves = tiles / (groups * units), idle = ceil(waves) - waves;
    const double stream_k = sharers(groups, idle, tiles / units);
    if (stream_k <= 0)
        return 0;
    if (p->varies && (tiles <= stream_k * units || fmod(tiles, stream_k * units) < 1))
        return 0;
    const double left = (double)fmodl(tiles, stream_k * units) / units,
                 cost = (profile->partial_steps * stream_k + profile->ended_steps * left) *
                        outputs / profile->stream_k_outputs;
    return idle * (double)p->k < cost ? 0 : (uint32_t)stream_k;
}
