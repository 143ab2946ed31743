/* Writes the values, indices and words of slices that are cut. */
#include <stdlib.h>
#include <string.h>

#include "kernels/sliced_maker.h"

#define ALIGN_DISTANCE 64 /* diagonals nearer than this share a slot */
#define MAX_SUBGROUP 128

/* Rows in order and none of them empty among others: the list of rows is not needed. */
static bool is_plain(const wfi_sliced_maker *m, const wfi_sliced_slice *s)
{
    const uint32_t first = wfi_sliced_order_row(m, s->at);
    for (uint32_t i = 0; i < s->rows; i++) {
        const uint32_t row = wfi_sliced_order_row(m, s->at + i);
        if (row != first + i || (s->turns && wfi_sliced_row_length(m, row) == 0))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------ filling a wfi_sliced_slice */

/* The entries of one lane: begin, begin + step, … below end. */
typedef struct lane {
    uint32_t row, begin, next, end, step;
    uint32_t slack; /* slots that may stay empty */
} lane;

static void start_lanes(const wfi_sliced_maker *m, const wfi_sliced_slice *s, lane *lanes)
{
    const uint32_t size = m->params->subgroup, step = size / s->height;
    for (uint32_t i = 0; i < size; i++) {
        const uint32_t r = i % s->height, part = i / s->height;
        lane *l = &lanes[i];
        *l = (lane){.step = step};
        if (s->part) {
            *l = (lane){s->at, s->begin, s->begin + part, s->end, step, 0};
        } else if (r < s->rows) {
            const uint32_t row = wfi_sliced_order_row(m, s->at + r),
                           begin = wfi_sliced_row_begin(m, row);
            *l = (lane){row, begin, begin + part, wfi_sliced_row_begin(m, row + 1), step, 0};
        }
        const uint32_t count = l->next < l->end ? (l->end - l->next + l->step - 1) / l->step : 0;
        l->slack = s->turns * 4 - count;
    }
}

static int64_t diagonal(const wfi_sliced_maker *m, const lane *l)
{
    return (int64_t)m->params->matrix->column_indices[l->next] - l->row;
}

static void put_place(const wfi_sliced_maker *m, uint64_t turn, uint32_t slot, uint32_t at,
                      uint32_t entry)
{
    const uint32_t size = m->params->subgroup;
    const uint64_t place = m->params->matrix->type == WF_TYPE_F64
                               ? ((turn * 2 + slot / 2) * size + at) * 2 + slot % 2
                               : (turn * size + at) * 4 + slot;
    m->out->places[place] = entry;
}

/* Padding's column: of the row's entries before and after, the one nearer to the base. */
static uint32_t padding_column(const wfi_sliced_maker *m, const lane *l, uint32_t base)
{
    const uint32_t *columns = m->params->matrix->column_indices;
    if (l->begin == l->end)
        return base;
    const uint32_t after = columns[l->next < l->end ? l->next : l->end - 1];
    const uint32_t before = columns[l->next >= l->begin + l->step ? l->next - l->step : l->begin];
    const uint32_t far_after = after > base ? after - base : base - after;
    const uint32_t far_before = before > base ? before - base : base - before;
    return far_after < far_before ? after : before;
}

static uint32_t lowest_column(const uint32_t *columns, uint32_t count)
{
    uint32_t low = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        low = columns[i] < low ? columns[i] : low;
    return low;
}

/* One slot of every lane. A lane with slots to spare waits while its next diagonal is far beyond
 * the lowest, so that rows which lack an entry stay level with their neighbours. Returns the span
 * of the columns. */
static uint32_t fill_slot(const wfi_sliced_maker *m, lane *lanes, uint64_t turn, uint32_t slot,
                          uint32_t *columns)
{
    const uint32_t size = m->params->subgroup;
    int64_t lowest = INT64_MAX;
    uint32_t base = UINT32_MAX, top = 0;
    bool takes[MAX_SUBGROUP];
    for (uint32_t i = 0; i < size; i++)
        if (lanes[i].next < lanes[i].end && diagonal(m, &lanes[i]) < lowest)
            lowest = diagonal(m, &lanes[i]);
    for (uint32_t i = 0; i < size; i++) {
        lane *l = &lanes[i];
        takes[i] = l->next < l->end && (l->slack == 0 || diagonal(m, l) <= lowest + ALIGN_DISTANCE);
        if (!takes[i])
            continue;
        columns[i] = m->params->matrix->column_indices[l->next];
        put_place(m, turn, slot, i, l->next);
        l->next += l->step;
        base = columns[i] < base ? columns[i] : base;
    }
    if (base == UINT32_MAX) /* a slot of padding alone */
        base = 0;
    for (uint32_t i = 0; i < size; i++) {
        if (!takes[i]) {
            lanes[i].slack -= lanes[i].slack > 0;
            columns[i] = padding_column(m, &lanes[i], base);
        }
        top = columns[i] > top ? columns[i] : top;
    }
    return top - lowest_column(columns, size);
}

/* The indices of a turn: four bases and the lanes' packed distances, or the columns. */
static uint32_t *put_turn(const wfi_sliced_maker *m, uint32_t width, const uint32_t *columns,
                          uint32_t *to)
{
    const uint32_t size = m->params->subgroup;
    const uint32_t words = UINT32_C(1) << width, a_word = 4 / words, bits = 8 * words;
    uint32_t bases[4] = {0};
    if (width < 2) {
        for (uint32_t slot = 0; slot < 4; slot++)
            *to++ = bases[slot] = lowest_column(columns + slot * size, size);
    }
    for (uint32_t word = 0; word < words; word++)
        for (uint32_t i = 0; i < size; i++) {
            uint32_t packed = 0;
            for (uint32_t n = 0; n < a_word; n++) {
                const uint32_t slot = word * a_word + n;
                packed |= (columns[slot * size + i] - bases[slot]) << (n * bits % 32);
            }
            *to++ = packed;
        }
    return to;
}

static bool reserve_pattern(wfi_sliced_maker *m, uint64_t more)
{
    wfi_sliced *out = m->out;
    if (out->pattern_words + more <= m->pattern_room)
        return true;
    const uint64_t room = (out->pattern_words + more) + (out->pattern_words + more) / 2;
    uint32_t *pattern = realloc(out->pattern, (size_t)room * sizeof *pattern);
    if (!pattern)
        return false;
    out->pattern = pattern;
    m->pattern_room = room;
    return true;
}

static uint32_t log2_of(uint32_t power)
{
    uint32_t log = 0;
    while (power >> (log + 1))
        log++;
    return log;
}

/* Writes a slice's values and indices; `turn` is its first, `list` its place in the list of rows. */
static bool fill_slice(wfi_sliced_maker *m, uint32_t number, uint64_t turn, uint32_t list)
{
    const wfi_sliced_slice *s = &m->slices[number];
    const uint32_t size = m->params->subgroup;
    lane lanes[MAX_SUBGROUP];
    uint32_t span = 0;
    start_lanes(m, s, lanes);
    for (uint32_t slot = 0; slot < s->turns * 4; slot++) {
        const uint32_t here =
            fill_slot(m, lanes, turn + slot / 4, slot % 4, m->columns + (size_t)slot * size);
        span = here > span ? here : span;
    }
    const uint32_t width = span <= UINT8_MAX ? 0 : span <= UINT16_MAX ? 1 : 2;
    if (!reserve_pattern(m, s->turns * (UINT64_C(4) + 4 * size)))
        return false;
    wfi_sliced *out = m->out;
    uint32_t *to = out->pattern + out->pattern_words;
    for (uint32_t n = 0; n < s->turns; n++)
        to = put_turn(m, width, m->columns + (size_t)n * 4 * size, to);
    const uint32_t kind = s->segment != UINT32_MAX    ? WFI_SLICED_SEGMENT
                          : s->part || is_plain(m, s) ? 0
                                                      : WFI_SLICED_LISTED;
    const uint32_t words[4] = {(uint32_t)(out->pattern_words / 4), (uint32_t)turn,
                               s->turns | log2_of(s->team) << WFI_SLICED_TEAM_SHIFT |
                                   width << WFI_SLICED_WIDTH_SHIFT |
                                   log2_of(s->height) << WFI_SLICED_HEIGHT_SHIFT | kind |
                                   (s->rows - 1) << WFI_SLICED_ROWS_SHIFT,
                               kind == WFI_SLICED_SEGMENT  ? s->segment
                               : kind == WFI_SLICED_LISTED ? list
                               : s->part                   ? s->at
                                                           : wfi_sliced_order_row(m, s->at)};
    memcpy(out->pattern + number * (size_t)4, words, sizeof words);
    out->pattern_words = (uint64_t)(to - out->pattern);
    return true;
}

/* Lays out slices, segments and the list of rows; indices follow. */
static bool start_pattern(wfi_sliced_maker *m)
{
    wfi_sliced *out = m->out;
    const uint64_t head = (m->slice_count + (uint64_t)m->segment_count) * 4;
    const uint64_t listed = (m->ordered + UINT64_C(3)) / 4 * 4;
    if (!reserve_pattern(m, head + listed))
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
        most = m->slices[i].turns > most ? m->slices[i].turns : most;
    m->out->place_count = m->turns * 4 * size;
    m->out->places = malloc((size_t)(m->out->place_count + 1) * sizeof *m->out->places);
    m->columns = calloc((size_t)most * 4 * size + 1, sizeof *m->columns);
    if (!m->out->places || !m->columns)
        return false;
    memset(m->out->places, 0xff, (size_t)m->out->place_count * sizeof *m->out->places);
    uint64_t turn = 0;
    for (uint32_t i = 0; i < m->slice_count; i++) {
        if (!fill_slice(m, i, turn, m->slices[i].at))
            return false;
        turn += m->slices[i].turns;
    }
    return true;
}

bool wfi_sliced_fill(wfi_sliced_maker *m)
{
    return start_pattern(m) && fill_slices(m);
}
