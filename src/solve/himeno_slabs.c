/* How a Himeno grid is cut into blocks and slabs. */
#include "core/arithmetic.h"
#include "core/heap.h"
#include "solve/himeno.h"

static wf_result too_large(const wf_himeno *h, const char *what, uint64_t bytes)
{
    return wfi_fail(&h->device->log, WF_ERROR_TOO_LARGE,
                    "a plane of %u x %u cells is over this device's %s of %llu bytes", h->params.ni,
                    h->params.nj, what, (unsigned long long)bytes);
}

static wf_result make_blocks(wf_himeno *h, uint64_t most)
{
    const uint32_t inner = h->end - h->begin;
    const uint32_t steps = wfi_himeno_steps(&h->choice.point);
    h->block_count = (uint32_t)((inner + most - 1) / most);
    h->blocks = wfi_calloc(h->block_count, sizeof *h->blocks);
    if (!h->blocks)
        return wfi_no_memory(&h->device->log);
    for (uint32_t b = 0; b < h->block_count; b++) {
        wfi_himeno_block *block = &h->blocks[b];
        block->first = h->begin + (uint32_t)((uint64_t)inner * b / h->block_count);
        const uint32_t end = h->begin + (uint32_t)((uint64_t)inner * (b + 1) / h->block_count);
        block->planes = end - block->first;
        /* Inner plane 0 is plane 1 of the grid. */
        block->origin = block->first + 1 > steps ? block->first + 1 - steps : 0;
        block->held = (uint32_t)wfi_least(h->params.nk, (uint64_t)end + 1 + steps) - block->origin;
    }
    return WF_SUCCESS;
}

/* Where a block is cut into slabs at least. Of several blocks the first has a subdomain's lower
 * neighbour, and the last the upper one. */
static uint32_t find_cuts(const wf_himeno *h, const wfi_himeno_block *block, uint32_t cuts[4])
{
    const bool *there = h->axes[2].there,
               has[] = {there[WFI_LOWER] && block->first == h->begin,
                        there[WFI_UPPER] && block->first + block->planes == h->end};
    uint32_t tile[3];
    wfi_himeno_tile(&h->choice.point, tile);
    return wfi_himeno_cut_axis(has, block->planes, wfi_himeno_steps(&h->choice.point), tile[2],
                               cuts);
}

static void fill_slab(const wf_himeno *h, uint32_t b, uint32_t from, uint32_t to,
                      wfi_himeno_slab_data *out)
{
    const wfi_himeno_block *block = &h->blocks[b];
    const uint32_t inner = h->params.nk - 2, halo = wfi_himeno_steps(&h->choice.point) - 1;
    out->block = b;
    out->first = block->first + from;
    out->slab = (wfi_himeno_slab){
        .i = h->span_i,
        .j = h->span_j,
        .planes = to - from,
        .lower = (uint32_t)wfi_least(halo, out->first),
        .upper = (uint32_t)wfi_least(halo, inner - (block->first + to)),
        .p_first = out->first + 1 - block->origin,
        .p_planes = block->held,
        .omega = h->params.omega,
    };
}

/* The slabs of a block; `out` NULL: how many there are. */
static uint32_t cut_block(const wf_himeno *h, uint32_t b, uint64_t most, wfi_himeno_slab_data *out)
{
    uint32_t cuts[4], total = 0;
    const uint32_t pieces = find_cuts(h, &h->blocks[b], cuts);
    for (uint32_t i = 0; i < pieces; i++) {
        const uint32_t planes = cuts[i + 1] - cuts[i],
                       count = (uint32_t)((planes + most - 1) / most);
        for (uint32_t n = 0; n < count; n++, total++)
            if (out)
                fill_slab(h, b, cuts[i] + (uint32_t)((uint64_t)planes * n / count),
                          cuts[i] + (uint32_t)((uint64_t)planes * (n + 1) / count), &out[total]);
    }
    return total;
}

static wf_result make_slabs(wf_himeno *h, uint64_t most)
{
    uint32_t made = 0;
    for (uint32_t b = 0; b < h->block_count; b++)
        h->slab_count += cut_block(h, b, most, NULL);
    h->slabs = wfi_calloc(h->slab_count, sizeof *h->slabs);
    if (!h->slabs)
        return wfi_no_memory(&h->device->log);
    for (uint32_t b = 0; b < h->block_count; b++)
        made += cut_block(h, b, most, h->slabs + made);
    return WF_SUCCESS;
}

wf_result wfi_himeno_split(wf_himeno *h)
{
    const wfi_point *point = &h->choice.point;
    const wfi_himeno_room room = wfi_himeno_room_of(point);
    if (room.block_planes == 0)
        return too_large(h, "allocation limit", wfi_himeno_allocation(point->caps));
    if (room.slab_planes == 0)
        return too_large(h, "binding limit", wfi_himeno_range(point));
    wf_result result = make_blocks(h, room.block_planes);
    return result == WF_SUCCESS ? make_slabs(h, room.slab_planes) : result;
}
