/* Pieces of a Himeno grid's slabs: what neighbours of a subdomain need is updated before the rest,
 * of a block the cells on all sides. */
#include <string.h>

#include "core/arithmetic.h"
#include "core/heap.h"
#include "solve/himeno.h"

uint32_t wfi_himeno_cut_axis(const bool there[WFI_SIDES], uint32_t cells, uint32_t steps,
                             uint32_t group, uint32_t cuts[4])
{
    const uint32_t edge = (uint32_t)wfi_round_up(steps, group);
    uint32_t count = 0;
    cuts[count++] = 0;
    if (there[WFI_LOWER] && edge < cells)
        cuts[count++] = edge;
    if (there[WFI_UPPER] && cells > steps) {
        const uint32_t upper = (cells - steps) / group * group;
        if (upper > cuts[count - 1])
            cuts[count++] = upper;
    }
    cuts[count] = cells;
    return count;
}

bool wfi_himeno_is_early(const bool there[WFI_SIDES], uint32_t n, uint32_t parts)
{
    return (n == 0 && there[WFI_LOWER]) || (n + 1 == parts && there[WFI_UPPER]);
}

/* Whether planes of the slab are needed below or above the subdomain. */
static bool has_early_planes(const wf_himeno *h, const wfi_himeno_slab_data *slab)
{
    const uint32_t steps = wfi_himeno_steps(&h->choice.point),
                   end = slab->first + slab->slab.planes;
    const bool *there = h->axes[2].there;
    return h->subdomain && ((there[WFI_LOWER] && slab->first < h->begin + steps) ||
                            (there[WFI_UPPER] && end + steps > h->end));
}

/* Cells [from, to) of what a span updates. */
static wfi_himeno_span part_of(const wfi_himeno_span *span, uint32_t from, uint32_t to,
                               uint32_t steps)
{
    return (wfi_himeno_span){
        .first = span->first + from,
        .count = to - from,
        .before = (uint32_t)wfi_least(steps - 1, (uint64_t)span->before + from),
        .after = (uint32_t)wfi_least(steps - 1, (uint64_t)span->after + span->count - to)};
}

static void add_piece(wf_himeno *h, uint32_t slab, bool early, const wfi_himeno_span *i,
                      const wfi_himeno_span *j)
{
    wfi_himeno_piece *piece = &h->pieces[h->piece_count++];
    *piece = (wfi_himeno_piece){.slab = slab, .early = early, .what = h->slabs[slab].slab};
    piece->what.i = *i;
    piece->what.j = *j;
}

/* Rows that neighbours along j need, whole; of the others the cells that those along i need. */
static void cut_slab(wf_himeno *h, uint32_t slab)
{
    const bool *beside = h->axes[0].there, *across = h->axes[1].there;
    const uint32_t steps = wfi_himeno_steps(&h->choice.point);
    uint32_t tile[3], rows[4], cells[4];
    wfi_himeno_tile(&h->choice.point, tile);
    const uint32_t strips = wfi_himeno_cut_axis(across, h->span_j.count, steps, tile[1], rows);
    const uint32_t columns = wfi_himeno_cut_axis(beside, h->span_i.count, steps, tile[0], cells);
    for (uint32_t n = 0; n < strips; n++) {
        const wfi_himeno_span j = part_of(&h->span_j, rows[n], rows[n + 1], steps);
        if (wfi_himeno_is_early(across, n, strips)) {
            add_piece(h, slab, true, &h->span_i, &j);
            continue;
        }
        for (uint32_t m = 0; m < columns; m++) {
            const wfi_himeno_span i = part_of(&h->span_i, cells[m], cells[m + 1], steps);
            add_piece(h, slab, wfi_himeno_is_early(beside, m, columns), &i, &j);
        }
    }
}

#define MOST_PIECES 5 /* of a slab: two strips, and three parts of what is between them */

wf_result wfi_himeno_make_pieces(wf_himeno *h)
{
    h->pieces = wfi_calloc((size_t)MOST_PIECES * h->slab_count, sizeof *h->pieces);
    if (!h->pieces)
        return wfi_no_memory(&h->device->log);
    for (uint32_t n = 0; n < h->slab_count; n++) {
        const bool early = has_early_planes(h, &h->slabs[n]);
        if (early || !h->is_block)
            add_piece(h, n, early, &h->span_i, &h->span_j);
        else
            cut_slab(h, n);
    }
    return WF_SUCCESS;
}

/* ------------------------------------------------------------------------------------- partials */

/* Work-groups along an axis. */
static uint32_t groups(uint32_t cells, uint32_t tile)
{
    return (cells + tile - 1) / tile;
}

/* Copies a piece's partial sums to where they belong among those of its slab. */
static const float *place_piece(const wf_himeno *h, const wfi_himeno_piece *piece,
                                const wfi_point *point, const float *from, float *to)
{
    const wfi_himeno_slab *what = &piece->what;
    uint32_t tile[3];
    wfi_himeno_tile(point, tile);
    const uint32_t columns = groups(what->i.count, tile[0]), rows = groups(what->j.count, tile[1]),
                   layers = groups(what->planes, tile[2]),
                   all_columns = groups(h->span_i.count, tile[0]),
                   all_rows = groups(h->span_j.count, tile[1]),
                   column = (what->i.first - h->span_i.first) / tile[0],
                   row = (what->j.first - h->span_j.first) / tile[1];
    const uint64_t each = wfi_himeno_partials(point, what) / ((uint64_t)columns * rows * layers);
    for (uint32_t k = 0; k < layers; k++)
        for (uint32_t j = 0; j < rows; j++, from += columns * each)
            memcpy(to + (((uint64_t)k * all_rows + row + j) * all_columns + column) * each, from,
                   columns * each * sizeof *from);
    return from;
}

void wfi_himeno_sort_pieces(const wf_himeno *h, const wfi_himeno_pass *pass, const float *partials,
                            float *sorted)
{
    for (uint32_t n = 0; n < h->piece_count; n++) {
        partials = place_piece(h, &h->pieces[n], &pass->point, partials, sorted);
        if (n + 1 == h->piece_count || h->pieces[n + 1].slab != h->pieces[n].slab)
            sorted += wfi_himeno_partials(&pass->point, &h->slabs[h->pieces[n].slab].slab);
    }
}
