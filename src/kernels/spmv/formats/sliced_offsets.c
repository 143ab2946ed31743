/* Slices whose rows have their entries on the same diagonals keep one offset a diagonal in place of
 * a column an entry. The matrices of grids and bands consist of such slices, most of which are
 * alike, so that one copy of the offsets serves them all. */
#include <string.h>

#include "core/arithmetic.h"
#include "kernels/spmv/formats/sliced_lanes.h"
#include "kernels/spmv/formats/sliced_maker.h"

#define MOST_DIAGONALS 128 /* of a slice */
#define MOST_LOADS 8       /* a lane has one word, with a bit for each of its slots */

/* The diagonals that a slice's rows have entries on, ascending. */
typedef struct diagonals {
    int64_t at[MOST_DIAGONALS];
    uint32_t count, most;
} diagonals;

static int64_t diagonal(const wfi_sliced_maker *m, uint32_t row, uint32_t entry)
{
    return (int64_t)m->params->matrix->column_indices[entry] - row;
}

static bool insert(diagonals *d, uint32_t place, int64_t at)
{
    if (d->count == d->most)
        return false;
    memmove(d->at + place + 1, d->at + place, (d->count - place) * sizeof *d->at);
    d->at[place] = at;
    d->count++;
    return true;
}

/* Adds a row's diagonals; false: there are too many, or the row's columns do not ascend. */
static bool add_row(const wfi_sliced_maker *m, uint32_t row, diagonals *d)
{
    const uint32_t begin = wfi_sliced_row_begin(m, row), end = wfi_sliced_row_begin(m, row + 1);
    uint32_t place = 0;
    for (uint32_t i = begin; i < end; i++, place++) {
        const int64_t at = diagonal(m, row, i);
        if (i > begin && at <= diagonal(m, row, i - 1))
            return false;
        while (place < d->count && d->at[place] < at)
            place++;
        if ((place == d->count || d->at[place] != at) && !insert(d, place, at))
            return false;
    }
    return true;
}

static bool has_diagonal(const wfi_sliced_maker *m, uint32_t row, int64_t at)
{
    for (uint32_t i = wfi_sliced_row_begin(m, row); i < wfi_sliced_row_begin(m, row + 1); i++)
        if (diagonal(m, row, i) == at)
            return true;
    return false;
}

/* Finds a diagonal that all rows have, from which padding reads; false: there is none. */
static bool common_diagonal(const wfi_sliced_maker *m, const wfi_sliced_slice *s, uint32_t first,
                            int64_t *common)
{
    for (uint32_t i = wfi_sliced_row_begin(m, first); i < wfi_sliced_row_begin(m, first + 1); i++) {
        bool all = true;
        *common = diagonal(m, first, i);
        for (uint32_t r = 1; all && r < s->rows; r++)
            all = has_diagonal(m, first + r, *common);
        if (all)
            return true;
    }
    return false;
}

static bool find_diagonals(const wfi_sliced_maker *m, const wfi_sliced_slice *s, uint32_t first,
                           diagonals *d)
{
    const uint32_t slots = s->loads * 4 * (m->params->subgroup / s->height);
    d->most = slots < MOST_DIAGONALS ? slots : MOST_DIAGONALS;
    for (uint32_t r = 0; r < s->rows; r++)
        if (!add_row(m, first + r, d))
            return false;
    return d->count > 0;
}

/* Writes the places of a row's entries, and sets the bits of the slots that hold them. */
static void place_row(const wfi_sliced_maker *m, const wfi_sliced_slice *s, uint32_t first,
                      uint32_t r, uint64_t load, const diagonals *d, uint32_t *bits)
{
    const uint32_t size = m->params->subgroup, step = size / s->height, row = first + r;
    uint32_t place = 0;
    for (uint32_t i = wfi_sliced_row_begin(m, row); i < wfi_sliced_row_begin(m, row + 1); i++) {
        while (d->at[place] != diagonal(m, row, i))
            place++;
        const uint32_t slot = place / step, lane = place % step * s->height + r;
        m->out->places[wfi_lane_value_index(m->params->matrix->type, size, load + slot / 4,
                                            slot % 4, lane)] = i;
        bits[lane] |= UINT32_C(1) << slot;
    }
}

/* A sum that a device's work-items can add up in any order. */
static uint32_t hash_of(const uint32_t *words, uint32_t count)
{
    uint32_t hash = 0;
    for (uint32_t i = 0; i < count; i++)
        hash += words[i] * (i * UINT32_C(0x9e3779b1) | 1);
    hash ^= hash >> 15;
    hash *= UINT32_C(0x2c1b3c6d);
    return hash ^ hash >> 12;
}

/* Where a copy of the words stands in the pattern, which gets one if need be; 0: out of memory. */
static uint32_t cached_words(wfi_sliced_maker *m, const uint32_t *words, uint32_t count)
{
    wfi_sliced_cached *cached = &m->cached[hash_of(words, count) % WFI_SLICED_CACHED];
    if (cached->at && cached->count == count &&
        memcmp(m->out->pattern + cached->at * UINT64_C(4), words, count * sizeof *words) == 0)
        return cached->at;
    if (!wfi_sliced_reserve(m, count))
        return 0;
    *cached = (wfi_sliced_cached){(uint32_t)(m->out->pattern_words / 4), count};
    memcpy(m->out->pattern + m->out->pattern_words, words, count * sizeof *words);
    m->out->pattern_words += count;
    return cached->at;
}

wfi_sliced_tried wfi_sliced_put_offsets(wfi_sliced_maker *m, const wfi_sliced_slice *s,
                                        uint64_t load, uint32_t *at)
{
    const uint32_t size = m->params->subgroup, step = size / s->height;
    const uint32_t first = wfi_sliced_order_row(m, s->at);
    const uint32_t count = 4 + size + 4 * s->loads * step;
    uint32_t words[4 + WFI_MOST_LANES + 4 * MOST_LOADS * WFI_MOST_LANES];
    uint32_t *bits = words + 4, *offsets = bits + size;
    diagonals d = {.count = 0};
    int64_t common = 0;
    if (s->loads == 0 || s->loads > MOST_LOADS || s->rows != s->height ||
        !find_diagonals(m, s, first, &d) || !common_diagonal(m, s, first, &common))
        return WFI_SLICED_NOT;
    memset(words, 0, count * sizeof *words);
    words[0] = (uint32_t)common;
    for (uint32_t r = 0; r < s->rows; r++)
        place_row(m, s, first, r, load, &d, bits);
    for (uint32_t i = 0; i < d.count; i++) {
        const uint32_t slot = i / step, lane_in_row = i % step;
        offsets[(slot / 4 * step + lane_in_row) * 4 + slot % 4] = (uint32_t)d.at[i];
    }
    *at = cached_words(m, words, count);
    return *at ? WFI_SLICED_DONE : WFI_SLICED_NO_MEMORY;
}
