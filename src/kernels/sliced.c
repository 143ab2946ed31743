#include "kernels/sliced.h"

#include <stdlib.h>
#include <string.h>

/* A row is left to one subgroup up to this many turns, where there are no teams: adding up segments
 * takes the time of about so many. Segments and the parts of teams are shorter, since they all run
 * at once; a team takes up to TEAM_TURNS rather than become segments. */
#define DIRECT_TURNS 16
#define SEGMENT_TURNS 4
#define TEAM_TURNS 8
#define ALIGN_DISTANCE 64 /* diagonals nearer than this share a slot */
#define MAX_SUBGROUP 128

/* One slice as planned: where its rows are, before anything is written. */
typedef struct slice {
    uint32_t at; /* place in `order`, or row for a part of one */
    uint32_t rows, height;
    uint32_t turns;
    bool part; /* of one row: entries begin … end */
    uint32_t begin, end;
    uint32_t segment; /* UINT32_MAX: not a segment */
    uint32_t team;    /* slices that share the row; 1: none */
} slice;

typedef struct maker {
    const wfi_sliced_params *params;
    uint64_t *order; /* (~length << 32) | row, of the rows that are not shared */
    uint32_t ordered;
    slice *slices;
    uint32_t slice_count, slice_room;
    uint32_t *segments; /* four words each */
    uint32_t segment_count, long_rows;
    uint32_t *columns; /* of one slice: slot * subgroup + lane */
    wfi_sliced *out;
    uint64_t pattern_room, turns;
} maker;

static uint32_t row_begin(const maker *m, uint32_t row)
{
    return m->params->matrix->row_offsets[m->params->first + row];
}

static uint32_t row_length(const maker *m, uint32_t row)
{
    return row_begin(m, row + 1) - row_begin(m, row);
}

static uint32_t order_row(const maker *m, uint32_t at)
{
    return (uint32_t)m->order[at];
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Entries that a subgroup takes a turn. */
static uint32_t turn_entries(const wfi_sliced_params *p)
{
    return 4 * p->subgroup;
}

/* Rows of more entries are shared by subgroups. */
static uint32_t direct_entries(const wfi_sliced_params *p)
{
    return larger(p->turns, p->team > 1 ? SEGMENT_TURNS : DIRECT_TURNS) * turn_entries(p);
}

static bool is_segmented(const wfi_sliced_params *p, uint32_t length)
{
    const uint32_t most = p->team > 1 ? p->team * TEAM_TURNS * turn_entries(p) : 0;
    return length > direct_entries(p) && length > most;
}

/* Slices that share a row of `length` entries. */
static uint32_t team_of(const wfi_sliced_params *p, uint32_t length)
{
    uint32_t team = 1;
    if (is_segmented(p, length))
        return p->team;
    while (length > direct_entries(p) && team < p->team &&
           team * SEGMENT_TURNS * turn_entries(p) < length)
        team *= 2;
    return team;
}

static bool add_slice(maker *m, slice s)
{
    if (m->slice_count == m->slice_room) {
        const uint32_t room = m->slice_room ? m->slice_room * 2 : 256;
        slice *slices = realloc(m->slices, room * sizeof *slices);
        if (!slices)
            return false;
        m->slices = slices;
        m->slice_room = room;
    }
    m->slices[m->slice_count++] = s;
    m->turns += s.turns;
    return true;
}

/* Entries begin … end of a row, shared evenly by the slices of a team. */
static bool add_team(maker *m, uint32_t row, uint32_t begin, uint32_t end, uint32_t team,
                     uint32_t segment)
{
    const uint32_t a_turn = turn_entries(m->params), turns = (end - begin + a_turn - 1) / a_turn;
    const uint32_t share = (turns + team - 1) / team * a_turn;
    for (uint32_t i = 0; i < team; i++) {
        const uint32_t left = end - begin, taken = left < share ? left : share;
        const slice s = {.at = row,
                         .rows = 1,
                         .height = 1,
                         .turns = (taken + a_turn - 1) / a_turn,
                         .part = true,
                         .begin = begin,
                         .end = begin + taken,
                         .segment = segment,
                         .team = team};
        if (!add_slice(m, s))
            return false;
        begin += taken;
    }
    return true;
}

static bool add_long_row(maker *m, uint32_t row)
{
    const wfi_sliced_params *p = m->params;
    const uint32_t most = p->team * SEGMENT_TURNS * turn_entries(p), length = row_length(m, row);
    const uint32_t count = (length + most - 1) / most, first = m->segment_count;
    uint32_t *segments = realloc(m->segments, (first + count) * 4 * sizeof *segments);
    if (!segments)
        return false;
    m->segments = segments;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t begin = row_begin(m, row) + i * most;
        const uint32_t left = length - i * most, taken = left < most ? left : most;
        const uint32_t words[4] = {row, first, count, m->long_rows};
        memcpy(segments + 4 * (first + i), words, sizeof words);
        m->segment_count++;
        if (!add_team(m, row, begin, begin + taken, p->team, first + i))
            return false;
    }
    m->long_rows++;
    return true;
}

/* Rows that teams share, larger teams first, so that none reaches over a work-group's end. */
static bool add_shared_rows(maker *m)
{
    const wfi_sliced_params *p = m->params;
    for (uint32_t row = 0; row < p->rows; row++)
        if (is_segmented(p, row_length(m, row)) && !add_long_row(m, row))
            return false;
    for (uint32_t team = p->team; team > 1; team /= 2)
        for (uint32_t row = 0; row < p->rows; row++) {
            const uint32_t length = row_length(m, row), begin = row_begin(m, row);
            if (!is_segmented(p, length) && team_of(p, length) == team &&
                !add_team(m, row, begin, begin + length, team, UINT32_MAX))
                return false;
        }
    m->out->team_slices = p->team > 1 ? m->slice_count : 0;
    return true;
}

/* Rows shared become slices; the others are put in order. */
static bool order_rows(maker *m)
{
    const wfi_sliced_params *p = m->params;
    m->order = malloc((p->rows + (size_t)1) * sizeof *m->order);
    if (!m->order || !add_shared_rows(m))
        return false;
    for (uint32_t row = 0; row < p->rows; row++)
        if (row_length(m, row) <= direct_entries(p))
            m->order[m->ordered++] = ((uint64_t)~row_length(m, row) << 32) | row;
    for (uint32_t at = 0; p->window > 1 && at < m->ordered;) {
        const uint32_t left = m->ordered - at, count = left < p->window ? left : p->window;
        qsort(m->order + at, count, sizeof *m->order, compare_keys);
        at += count;
    }
    return true;
}

static uint32_t longest(const maker *m, uint32_t at, uint32_t rows)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t length = row_length(m, order_row(m, at + i));
        most = length > most ? length : most;
    }
    return most;
}

/* Cuts the ordered rows into slices: the fewest lanes a row that end within the turns. */
static bool cut_slices(maker *m)
{
    const wfi_sliced_params *p = m->params;
    for (uint32_t at = 0; at < m->ordered;) {
        uint32_t lanes = 1, rows, turns;
        for (;; lanes *= 2) {
            const uint32_t height = p->subgroup / lanes, left = m->ordered - at;
            rows = left < height ? left : height;
            const uint32_t length = longest(m, at, rows);
            turns = length / (4 * lanes) + (length % (4 * lanes) != 0);
            if (turns <= p->turns || lanes == p->subgroup)
                break;
        }
        const slice s = {.at = at,
                         .rows = rows,
                         .height = p->subgroup / lanes,
                         .turns = turns,
                         .segment = UINT32_MAX,
                         .team = 1};
        if (!add_slice(m, s))
            return false;
        at += rows;
    }
    return true;
}

/* Rows in order and none of them empty among others: the list of rows is not needed. */
static bool is_plain(const maker *m, const slice *s)
{
    const uint32_t first = order_row(m, s->at);
    for (uint32_t i = 0; i < s->rows; i++) {
        const uint32_t row = order_row(m, s->at + i);
        if (row != first + i || (s->turns && row_length(m, row) == 0))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------ filling a slice */

/* The entries of one lane: begin, begin + step, … below end. */
typedef struct lane {
    uint32_t row, begin, next, end, step;
    uint32_t slack; /* slots that may stay empty */
} lane;

static void start_lanes(const maker *m, const slice *s, lane *lanes)
{
    const uint32_t size = m->params->subgroup, step = size / s->height;
    for (uint32_t i = 0; i < size; i++) {
        const uint32_t r = i % s->height, part = i / s->height;
        lane *l = &lanes[i];
        *l = (lane){.step = step};
        if (s->part) {
            *l = (lane){s->at, s->begin, s->begin + part, s->end, step, 0};
        } else if (r < s->rows) {
            const uint32_t row = order_row(m, s->at + r), begin = row_begin(m, row);
            *l = (lane){row, begin, begin + part, row_begin(m, row + 1), step, 0};
        }
        const uint32_t count = l->next < l->end ? (l->end - l->next + l->step - 1) / l->step : 0;
        l->slack = s->turns * 4 - count;
    }
}

static int64_t diagonal(const maker *m, const lane *l)
{
    return (int64_t)m->params->matrix->column_indices[l->next] - l->row;
}

static void put_place(const maker *m, uint64_t turn, uint32_t slot, uint32_t at, uint32_t entry)
{
    const uint32_t size = m->params->subgroup;
    const uint64_t place = m->params->matrix->type == WF_TYPE_F64
                               ? ((turn * 2 + slot / 2) * size + at) * 2 + slot % 2
                               : (turn * size + at) * 4 + slot;
    m->out->places[place] = entry;
}

/* Padding's column: of the row's entries before and after, the one nearer to the base. */
static uint32_t padding_column(const maker *m, const lane *l, uint32_t base)
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
static uint32_t fill_slot(const maker *m, lane *lanes, uint64_t turn, uint32_t slot,
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
static uint32_t *put_turn(const maker *m, uint32_t width, const uint32_t *columns, uint32_t *to)
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

static bool reserve_pattern(maker *m, uint64_t more)
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
static bool fill_slice(maker *m, uint32_t number, uint64_t turn, uint32_t list)
{
    const slice *s = &m->slices[number];
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
                                                           : order_row(m, s->at)};
    memcpy(out->pattern + number * (size_t)4, words, sizeof words);
    out->pattern_words = (uint64_t)(to - out->pattern);
    return true;
}

/* Lays out slices, segments and the list of rows; indices follow. */
static bool start_pattern(maker *m)
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
        const uint32_t row = order_row(m, i);
        out->pattern[head + i] = row | (row_length(m, row) ? 0 : WFI_SLICED_EMPTY_ROW);
    }
    out->pattern_words = head + listed;
    return true;
}

static bool fill_slices(maker *m)
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

wf_result wfi_sliced_make(const wfi_sliced_params *params, wfi_sliced *out)
{
    maker m = {.params = params, .out = out};
    *out = (wfi_sliced){0};
    const bool ok = order_rows(&m) && cut_slices(&m) && start_pattern(&m) && fill_slices(&m);
    free(m.order);
    free(m.slices);
    free(m.segments);
    free(m.columns);
    if (ok)
        return WF_SUCCESS;
    wfi_sliced_free(out);
    return WF_ERROR_OUT_OF_HOST_MEMORY;
}

void wfi_sliced_free(wfi_sliced *sliced)
{
    free(sliced->pattern);
    free(sliced->places);
    *sliced = (wfi_sliced){0};
}
