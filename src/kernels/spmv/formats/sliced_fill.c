/* Writes the values, indices and words of slices that are cut. */
#include <string.h>

#include "core/arithmetic.h"
#include "core/heap.h"
#include "kernels/spmv/formats/sliced_lanes.h"
#include "kernels/spmv/formats/sliced_maker.h"

/* Whether the slice does without the list of rows: its rows are neighbours in order, and none of
 * them is empty beside others. */
static bool is_plain(const wfi_sliced_maker *m, const wfi_sliced_slice *s)
{
    const uint32_t first = wfi_sliced_order_row(m, s->at);
    for (uint32_t i = 0; i < s->rows; i++) {
        const uint32_t row = wfi_sliced_order_row(m, s->at + i);
        if (row != first + i || (s->loads && wfi_sliced_row_length(m, row) == 0))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------- filling slices */

static void start_lanes(const wfi_sliced_maker *m, const wfi_sliced_slice *s, wfi_lane *lanes)
{
    const uint32_t size = m->params->subgroup, step = size / s->height;
    for (uint32_t i = 0; i < size; i++) {
        const uint32_t r = i % s->height, lane_in_row = i / s->height;
        lanes[i] = (wfi_lane){.step = step, .slack = s->loads * 4};
        if (s->of_one_row) {
            wfi_lane_start(&lanes[i], s->at, s->begin, s->end, lane_in_row, s->loads * 4);
        } else if (r < s->rows) {
            const uint32_t row = wfi_sliced_order_row(m, s->at + r);
            wfi_lane_start(&lanes[i], row, wfi_sliced_row_begin(m, row),
                           wfi_sliced_row_begin(m, row + 1), lane_in_row, s->loads * 4);
        }
    }
}

static void put_places(const wfi_sliced_maker *m, uint64_t load, uint32_t slot,
                       const uint32_t *entries)
{
    const uint32_t size = m->params->subgroup;
    for (uint32_t i = 0; i < size; i++)
        if (entries[i] != UINT32_MAX)
            m->out->places[wfi_lane_value_index(m->params->matrix->type, size, load, slot, i)] =
                entries[i];
}

/* Writes the columns of a load: four bases and the lanes' distances, or whole columns. Returns
 * where the next one's go. */
static uint32_t *put_load(const wfi_sliced_maker *m, uint32_t width, const uint32_t *columns,
                          uint32_t *to)
{
    const uint32_t size = m->params->subgroup;
    const uint32_t words = UINT32_C(1) << width;
    uint32_t bases[4] = {0};
    if (width < 2) {
        for (uint32_t slot = 0; slot < 4; slot++)
            *to++ = bases[slot] = wfi_lowest_column(columns + slot * size, size);
    }
    for (uint32_t word = 0; word < words; word++)
        for (uint32_t i = 0; i < size; i++)
            *to++ = wfi_encode_columns(columns, size, bases, width, word, i);
    return to;
}

/* Writes the places and columns of a slice; *width says how wide these are and *at where they
 * begin. */
static bool put_columns(wfi_sliced_maker *m, const wfi_sliced_slice *s, uint64_t load,
                        uint32_t *width, uint32_t *at)
{
    const uint32_t size = m->params->subgroup;
    wfi_lane lanes[WFI_MOST_LANES];
    uint32_t entries[WFI_MOST_LANES], span = 0;
    start_lanes(m, s, lanes);
    for (uint32_t slot = 0; slot < s->loads * 4; slot++) {
        const uint32_t here = wfi_lanes_fill(m->params->matrix, lanes, size,
                                             m->columns + (size_t)slot * size, entries);
        put_places(m, load + slot / 4, slot % 4, entries);
        span = here > span ? here : span;
    }
    *width = wfi_column_width(span);
    *at = (uint32_t)(m->out->pattern_words / 4);
    if (!wfi_sliced_reserve(m, s->loads * (UINT64_C(4) + 4 * size)))
        return false;
    uint32_t *to = m->out->pattern + m->out->pattern_words;
    for (uint32_t n = 0; n < s->loads; n++)
        to = put_load(m, *width, m->columns + (size_t)n * 4 * size, to);
    m->out->pattern_words = (uint64_t)(to - m->out->pattern);
    return true;
}

/* Writes a slice whose first load is number `load`. */
static bool fill_slice(wfi_sliced_maker *m, uint32_t number, uint64_t load)
{
    const wfi_sliced_slice *s = &m->slices[number];
    const uint32_t kind = s->segment != UINT32_MAX          ? WFI_SLICED_SEGMENT
                          : s->of_one_row || is_plain(m, s) ? 0
                                                            : WFI_SLICED_LISTED;
    uint32_t width = WFI_SLICED_OFFSETS, at = 0;
    const wfi_sliced_tried tried =
        kind || s->of_one_row ? WFI_SLICED_NOT : wfi_sliced_put_offsets(m, s, load, &at);
    if (tried == WFI_SLICED_NO_MEMORY ||
        (tried == WFI_SLICED_NOT && !put_columns(m, s, load, &width, &at)))
        return false;
    const uint32_t words[4] = {
        at, (uint32_t)load,
        s->loads | wfi_log2(s->row_subgroups) << WFI_SLICED_ROW_SUBGROUPS_SHIFT |
            width << WFI_SLICED_WIDTH_SHIFT | wfi_log2(s->height) << WFI_SLICED_HEIGHT_SHIFT |
            kind | (s->rows - 1) << WFI_SLICED_ROWS_SHIFT,
        kind == WFI_SLICED_SEGMENT                   ? s->segment
        : s->of_one_row || kind == WFI_SLICED_LISTED ? s->at
                                                     : wfi_sliced_order_row(m, s->at)};
    memcpy(m->out->pattern + number * (size_t)4, words, sizeof words);
    return true;
}

/* Lays out slices, segments and the list of rows; the columns follow behind them. */
static bool start_pattern(wfi_sliced_maker *m)
{
    wfi_sliced *out = m->out;
    const uint64_t head = (m->slice_count + (uint64_t)m->segment_count) * 4;
    const uint64_t listed = (m->ordered + UINT64_C(3)) / 4 * 4;
    if (!wfi_sliced_reserve(m, head + listed))
        return false;
    memset(out->pattern, 0, (size_t)(head + listed) * sizeof *out->pattern);
    out->slices = m->slice_count;
    out->segments = m->segment_count;
    out->long_rows = m->long_rows;
    out->segments_at = m->slice_count;
    out->list_at = (uint32_t)head;
    if (m->segment_count)
        memcpy(out->pattern + (size_t)m->slice_count * 4, m->segments,
               (size_t)m->segment_count * 4 * sizeof *out->pattern);
    for (uint32_t i = 0; i < m->ordered; i++) {
        const uint32_t row = wfi_sliced_order_row(m, i);
        out->pattern[head + i] = row | (wfi_sliced_row_length(m, row) ? 0 : WFI_SLICED_EMPTY_ROW);
    }
    out->pattern_words = head + listed;
    return true;
}

static bool fill_slices(wfi_sliced_maker *m)
{
    const uint32_t size = m->params->subgroup;
    uint32_t most = 0;
    for (uint32_t i = 0; i < m->slice_count; i++)
        most = m->slices[i].loads > most ? m->slices[i].loads : most;
    m->out->place_count = m->loads * 4 * size;
    m->out->places = wfi_malloc((size_t)(m->out->place_count + 1) * sizeof *m->out->places);
    m->columns = wfi_calloc((size_t)most * 4 * size + 1, sizeof *m->columns);
    if (!m->out->places || !m->columns)
        return false;
    memset(m->out->places, 0xff, (size_t)m->out->place_count * sizeof *m->out->places);
    uint64_t load = 0;
    for (uint32_t i = 0; i < m->slice_count; i++) {
        if (!fill_slice(m, i, load))
            return false;
        load += m->slices[i].loads;
    }
    return true;
}

bool wfi_sliced_fill(wfi_sliced_maker *m)
{
    return start_pattern(m) && fill_slices(m);
}
