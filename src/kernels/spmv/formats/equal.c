#include "kernels/spmv/formats/equal.h"

#include <string.h>

#include "core/arithmetic.h"
#include "core/heap.h"
#include "kernels/spmv/formats/sliced_lanes.h"
#include "kernels/spmv/order.h"

typedef struct slice {
    uint32_t at, rows; /* places in `order` */
    uint32_t height;
} slice;

/* A block of a group row or segment: entries begin … end of a row, and its words. */
typedef struct row_block {
    uint32_t begin, end;
    uint32_t words[4];
} row_block;

typedef struct maker {
    const wfi_equal_params *params;
    uint64_t *order; /* keys (order.h) of the rows that slices hold */
    uint32_t ordered;
    slice *slices;
    uint32_t slice_count, slice_room;
    row_block *row_blocks;
    uint32_t row_block_count, row_block_room;
    uint32_t *columns; /* of all slots: (block * slots + slot) * subgroup + lane */
    uint32_t *words;   /* of all slices: (block * slices + slice) * subgroup + lane */
    wfi_equal *out;
} maker;

static uint32_t row_begin(const maker *m, uint32_t row)
{
    return m->params->matrix->row_offsets[m->params->first + row];
}

static uint32_t row_length(const maker *m, uint32_t row)
{
    return row_begin(m, row + 1) - row_begin(m, row);
}

static uint32_t ordered_row(const maker *m, uint32_t at)
{
    return (uint32_t)m->order[at];
}

static uint32_t slots_of(const wfi_equal_params *p)
{
    return 4 * p->loads;
}

/* Entries that a block has room for. */
static uint32_t block_entries(const wfi_equal_params *p)
{
    return slots_of(p) * p->subgroup;
}

/* Rows of more entries become group rows. */
static uint32_t slice_entries(const wfi_equal_params *p)
{
    return block_entries(p) / p->slices;
}

/* ----------------------------------------------------------------------------------- group rows */

/* Adds row_subgroups blocks for entries begin … end of a row, of equal length. */
static bool add_group_row(maker *m, uint32_t begin, uint32_t end, uint32_t row_subgroups,
                          const uint32_t words[4])
{
    const uint32_t length = end - begin, share = (length + row_subgroups - 1) / row_subgroups;
    for (uint32_t i = 0; i < row_subgroups; i++) {
        row_block *row_blocks =
            wfi_grown(m->row_blocks, m->row_block_count, &m->row_block_room, sizeof *row_blocks);
        if (!row_blocks)
            return false;
        m->row_blocks = row_blocks;
        row_block *p = &row_blocks[m->row_block_count++];
        p->begin = begin + (i * share < length ? i * share : length);
        p->end = begin + ((i + 1) * share < length ? (i + 1) * share : length);
        memcpy(p->words, words, sizeof p->words);
    }
    return true;
}

static bool add_segments(maker *m, uint32_t row)
{
    const wfi_equal_params *p = m->params;
    const uint32_t all = p->row_subgroups * block_entries(p), most = all ? all : 1;
    const uint32_t length = row_length(m, row);
    const uint32_t count = length / most + (length % most != 0), first = m->out->segments;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t begin = row_begin(m, row) + i * most, left = length - i * most;
        const uint32_t words[4] = {row, first, first + i, wfi_log2(p->row_subgroups) | count << 4};
        m->out->segments++;
        if (!add_group_row(m, begin, begin + (left < most ? left : most), p->row_subgroups, words))
            return false;
    }
    return true;
}

/* Blocks of a group row; 0: more than row_subgroups, so that it becomes segments. */
static uint32_t row_subgroups_of(const wfi_equal_params *p, uint32_t length)
{
    uint32_t row_subgroups = 1;
    while (row_subgroups <= p->row_subgroups && (uint64_t)row_subgroups * block_entries(p) < length)
        row_subgroups *= 2;
    return row_subgroups <= p->row_subgroups ? row_subgroups : 0;
}

static bool is_taken(const wfi_equal_params *p, uint32_t length)
{
    return (length > p->above || p->above == 0) && length <= p->upto;
}

/* Adds segments and group rows, those of the most blocks first: they take longest, and so none lies
 * across a work-group's end. */
static bool add_shared_rows(maker *m)
{
    const wfi_equal_params *p = m->params;
    for (uint32_t row = 0; row < p->rows; row++)
        if (is_taken(p, row_length(m, row)) && row_subgroups_of(p, row_length(m, row)) == 0 &&
            !add_segments(m, row))
            return false;
    for (uint32_t row_subgroups = p->row_subgroups; row_subgroups > 0; row_subgroups /= 2)
        for (uint32_t row = 0; row < p->rows; row++) {
            const uint32_t length = row_length(m, row);
            const uint32_t words[4] = {row, 0, 0, wfi_log2(row_subgroups)};
            if (is_taken(p, length) && length > slice_entries(p) &&
                row_subgroups_of(p, length) == row_subgroups &&
                !add_group_row(m, row_begin(m, row), row_begin(m, row + 1), row_subgroups, words))
                return false;
        }
    const uint32_t none[4] = {WFI_EQUAL_ROW_MASK, 0, 0, 0};
    while (m->row_block_count % p->group != 0)
        if (!add_group_row(m, 0, 0, 1, none))
            return false;
    return true;
}

/* --------------------------------------------------------------------------------------- slices */

static uint32_t longest(const maker *m, uint32_t at, uint32_t rows)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t length = row_length(m, ordered_row(m, at + i));
        most = length > most ? length : most;
    }
    return most;
}

/* Cuts the other rows, in order, into slices with the fewest lanes a row that have room for it. */
static bool cut_slices(maker *m)
{
    const wfi_equal_params *p = m->params;
    const uint32_t a_lane = slots_of(p) / p->slices;
    m->order = wfi_malloc((p->rows + (size_t)1) * sizeof *m->order);
    if (!m->order)
        return false;
    for (uint32_t row = 0; row < p->rows; row++)
        if (is_taken(p, row_length(m, row)) && row_length(m, row) <= slice_entries(p))
            m->order[m->ordered++] = wfi_row_key(row_length(m, row), row);
    wfi_order_rows(m->order, m->ordered, p->window);
    for (uint32_t at = 0; at < m->ordered;) {
        uint32_t lanes = 1, rows;
        for (;; lanes *= 2) {
            const uint32_t height = p->subgroup / lanes, left = m->ordered - at;
            rows = left < height ? left : height;
            if (lanes == p->subgroup || longest(m, at, rows) <= lanes * a_lane)
                break;
        }
        slice *slices = wfi_grown(m->slices, m->slice_count, &m->slice_room, sizeof *slices);
        if (!slices)
            return false;
        m->slices = slices;
        slices[m->slice_count++] = (slice){at, rows, p->subgroup / lanes};
        at += rows;
    }
    return true;
}

/* -------------------------------------------------------------------------------------- filling */

static void start_row_block(const maker *m, const row_block *p, wfi_lane *lanes, uint32_t *words)
{
    const uint32_t size = m->params->subgroup, none = p->begin == p->end && p->begin > 0;
    for (uint32_t i = 0; i < size; i++) {
        lanes[i].step = size;
        /* A block without entries is padding with the column of the entry before it. */
        wfi_lane_start(&lanes[i], p->words[0], p->begin - none, p->end, i + none,
                       slots_of(m->params));
        words[i] = (uint32_t)WFI_EQUAL_GROUP_ROW | (i < 4 ? p->words[i] : 0);
    }
}

/* Sets up lanes and words of a slice; NULL: one of padding, which fills up the last block. */
static void start_slice(const maker *m, const slice *s, wfi_lane *lanes, uint32_t *words)
{
    const wfi_equal_params *p = m->params;
    const uint32_t slots = slots_of(p) / p->slices;
    for (uint32_t i = 0; i < p->subgroup; i++) {
        lanes[i] = (wfi_lane){.slack = slots};
        words[i] = WFI_EQUAL_NONE;
        if (!s)
            continue;
        const uint32_t at = i % s->height, of_row = i / s->height;
        words[i] |= wfi_log2(s->height) << WFI_EQUAL_HEIGHT_SHIFT;
        if (at >= s->rows)
            continue;
        const uint32_t row = ordered_row(m, s->at + at);
        lanes[i].step = p->subgroup / s->height;
        wfi_lane_start(&lanes[i], row, row_begin(m, row), row_begin(m, row + 1), of_row, slots);
        if (of_row == 0)
            words[i] = (words[i] & ~WFI_EQUAL_NONE) | row |
                       (row_length(m, row) ? 0 : (uint32_t)WFI_EQUAL_EMPTY);
    }
}

/* Fills slots first … end - 1 of a block; returns the largest span of columns. */
static uint32_t fill_slots(maker *m, uint32_t block, uint32_t first, uint32_t end, wfi_lane *lanes)
{
    const wfi_equal_params *p = m->params;
    uint32_t entries[WFI_MOST_LANES], span = 0;
    for (uint32_t slot = first; slot < end; slot++) {
        const uint64_t at = (uint64_t)block * slots_of(p) + slot, load = at / 4;
        const uint32_t here =
            wfi_lanes_fill(p->matrix, lanes, p->subgroup, m->columns + at * p->subgroup, entries);
        span = here > span ? here : span;
        for (uint32_t i = 0; i < p->subgroup; i++)
            if (entries[i] != UINT32_MAX)
                m->out->places[wfi_lane_value_index(p->matrix->type, p->subgroup, load, slot % 4,
                                                    i)] = entries[i];
    }
    return span;
}

/* Fills all blocks' places, columns and words; returns the largest span. */
static uint32_t fill_blocks(maker *m)
{
    const wfi_equal_params *p = m->params;
    const uint32_t a_slice = slots_of(p) / p->slices;
    wfi_lane lanes[WFI_MOST_LANES];
    uint32_t span = 0, *words = m->words;
    for (uint32_t i = 0; i < m->row_block_count; i++, words += p->slices * p->subgroup) {
        start_row_block(m, &m->row_blocks[i], lanes, words);
        const uint32_t here = fill_slots(m, i, 0, slots_of(p), lanes);
        span = here > span ? here : span;
    }
    for (uint32_t i = 0; i < (m->out->blocks - m->row_block_count) * p->slices; i++) {
        const uint32_t block = m->row_block_count + i / p->slices, first = i % p->slices * a_slice;
        start_slice(m, i < m->slice_count ? &m->slices[i] : NULL, lanes, words);
        const uint32_t here = fill_slots(m, block, first, first + a_slice, lanes);
        span = here > span ? here : span;
        words += p->subgroup;
    }
    return span;
}

/* Writes the columns of a load as distances, lane by lane. */
static uint32_t *encode_load(const maker *m, const uint32_t *columns, uint32_t bases[4],
                             uint32_t *to)
{
    const uint32_t size = m->params->subgroup, words = UINT32_C(1) << m->out->width;
    for (uint32_t slot = 0; slot < 4; slot++)
        bases[slot] = m->out->based ? wfi_lowest_column(columns + (size_t)slot * size, size) : 0;
    for (uint32_t i = 0; i < size; i++)
        for (uint32_t word = 0; word < words; word++)
            *to++ = wfi_encode_columns(columns, size, bases, m->out->width, word, i);
    return to;
}

/* Writes words, bases and columns, block by block. */
static bool encode(maker *m, uint32_t span)
{
    const wfi_equal_params *p = m->params;
    wfi_equal *out = m->out;
    const bool short_enough = p->matrix->columns <= UINT16_MAX + 1;
    out->width = wfi_column_width(span);
    out->based = out->width == 0 || (out->width == 1 && !short_enough);
    const uint32_t words = p->slices * p->subgroup, bases = out->based ? 4 * p->loads : 0;
    out->stride = words + bases + (p->loads * p->subgroup << out->width);
    out->pattern_words = (uint64_t)out->blocks * out->stride;
    out->pattern = wfi_malloc((size_t)(out->pattern_words + 1) * sizeof *out->pattern);
    for (uint32_t block = 0; out->pattern && block < out->blocks; block++) {
        uint32_t *head = out->pattern + (uint64_t)block * out->stride, *to = head + words + bases;
        memcpy(head, m->words + (uint64_t)block * words, words * sizeof *head);
        for (uint64_t load = 0; load < p->loads; load++) {
            uint32_t of_load[4];
            const uint64_t slot = (block * (uint64_t)p->loads + load) * 4;
            to = encode_load(m, m->columns + slot * p->subgroup, of_load, to);
            if (out->based)
                memcpy(head + words + load * 4, of_load, sizeof of_load);
        }
    }
    return out->pattern != NULL;
}

static bool fill(maker *m)
{
    const wfi_equal_params *p = m->params;
    wfi_equal *out = m->out;
    const uint32_t others = (m->slice_count + p->slices - 1) / p->slices;
    out->group_row_blocks = m->row_block_count;
    out->blocks = (m->row_block_count + others + p->group - 1) / p->group * p->group;
    out->place_count = (uint64_t)out->blocks * block_entries(p);
    const size_t words = (size_t)out->blocks * p->slices * p->subgroup;
    out->places = wfi_malloc((size_t)(out->place_count + 1) * sizeof *out->places);
    m->columns = wfi_calloc((size_t)(out->place_count + 1), sizeof *m->columns);
    m->words = wfi_calloc(words + 1, sizeof *m->words);
    if (!out->places || !m->columns || !m->words)
        return false;
    memset(out->places, 0xff, (size_t)out->place_count * sizeof *out->places);
    return encode(m, fill_blocks(m));
}

wf_result wfi_equal_make(const wfi_equal_params *params, wfi_equal *out)
{
    maker m = {.params = params, .out = out};
    *out = (wfi_equal){0};
    const bool ok = add_shared_rows(&m) && cut_slices(&m) && fill(&m);
    wfi_free(m.order);
    wfi_free(m.slices);
    wfi_free(m.row_blocks);
    wfi_free(m.columns);
    wfi_free(m.words);
    if (ok)
        return WF_SUCCESS;
    wfi_equal_free(out);
    return WF_ERROR_OUT_OF_HOST_MEMORY;
}

void wfi_equal_free(wfi_equal *equal)
{
    wfi_free(equal->pattern);
    wfi_free(equal->places);
    *equal = (wfi_equal){0};
}
