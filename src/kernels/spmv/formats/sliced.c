#include "kernels/spmv/formats/sliced.h"

#include <string.h>

#include "core/heap.h"
#include "kernels/spmv/formats/sliced_maker.h"
#include "kernels/spmv/order.h"

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Entries that a subgroup multiplies in one load. */
static uint32_t load_entries(const wfi_sliced_params *p)
{
    return 4 * p->subgroup;
}

uint32_t wfi_sliced_direct_entries(const wfi_sliced_params *p)
{
    const uint32_t loads =
        p->row_subgroups > 1 ? WFI_SLICED_SEGMENT_LOADS : WFI_SLICED_DIRECT_LOADS;
    return larger(p->loads, loads) * load_entries(p);
}

static bool is_segmented(const wfi_sliced_params *p, uint32_t length)
{
    const uint32_t most =
        p->row_subgroups > 1 ? p->row_subgroups * WFI_SLICED_GROUP_ROW_LOADS * load_entries(p) : 0;
    return length > wfi_sliced_direct_entries(p) && length > most;
}

/* Slices of a row, or of each of its segments. */
static uint32_t row_subgroups_of(const wfi_sliced_params *p, uint32_t length)
{
    uint32_t row_subgroups = 1;
    if (is_segmented(p, length))
        return p->row_subgroups;
    while (length > wfi_sliced_direct_entries(p) && row_subgroups < p->row_subgroups &&
           row_subgroups * WFI_SLICED_SEGMENT_LOADS * load_entries(p) < length)
        row_subgroups *= 2;
    return row_subgroups;
}

static bool add_slice(wfi_sliced_maker *m, wfi_sliced_slice s)
{
    wfi_sliced_slice *slices = wfi_grown(m->slices, m->slice_count, &m->slice_room, sizeof *slices);
    if (!slices)
        return false;
    m->slices = slices;
    m->slices[m->slice_count++] = s;
    m->loads += s.loads;
    return true;
}

/* Adds row_subgroups slices for entries begin … end of a row, of equal length. */
static bool add_group_row(wfi_sliced_maker *m, uint32_t row, uint32_t begin, uint32_t end,
                          uint32_t row_subgroups, uint32_t segment)
{
    const uint32_t a_load = load_entries(m->params), loads = (end - begin + a_load - 1) / a_load;
    const uint32_t share = (loads + row_subgroups - 1) / row_subgroups * a_load;
    for (uint32_t i = 0; i < row_subgroups; i++) {
        const uint32_t left = end - begin, taken = left < share ? left : share;
        const wfi_sliced_slice s = {.at = row,
                                    .rows = 1,
                                    .height = 1,
                                    .loads = (taken + a_load - 1) / a_load,
                                    .of_one_row = true,
                                    .begin = begin,
                                    .end = begin + taken,
                                    .segment = segment,
                                    .row_subgroups = row_subgroups};
        if (!add_slice(m, s))
            return false;
        begin += taken;
    }
    return true;
}

static bool add_long_row(wfi_sliced_maker *m, uint32_t row)
{
    const wfi_sliced_params *p = m->params;
    const uint32_t most = p->row_subgroups * WFI_SLICED_SEGMENT_LOADS * load_entries(p),
                   length = wfi_sliced_row_length(m, row);
    const uint32_t count = (length + most - 1) / most, first = m->segment_count;
    uint32_t *segments = wfi_realloc(m->segments, (first + count) * 4 * sizeof *segments);
    if (!segments)
        return false;
    m->segments = segments;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t begin = wfi_sliced_row_begin(m, row) + i * most;
        const uint32_t left = length - i * most, taken = left < most ? left : most;
        const uint32_t words[4] = {row, first, count, m->long_rows};
        memcpy(segments + 4 * (first + i), words, sizeof words);
        m->segment_count++;
        if (!add_group_row(m, row, begin, begin + taken, p->row_subgroups, first + i))
            return false;
    }
    m->long_rows++;
    return true;
}

/* Adds segments and group rows. Those of the most slices come first, so that none lies across a
 * work-group's end. */
static bool add_shared_rows(wfi_sliced_maker *m)
{
    const wfi_sliced_params *p = m->params;
    for (uint32_t row = 0; row < p->rows; row++)
        if (is_segmented(p, wfi_sliced_row_length(m, row)) && !add_long_row(m, row))
            return false;
    for (uint32_t row_subgroups = p->row_subgroups; row_subgroups > 1; row_subgroups /= 2)
        for (uint32_t row = 0; row < p->rows; row++) {
            const uint32_t length = wfi_sliced_row_length(m, row),
                           begin = wfi_sliced_row_begin(m, row);
            if (!is_segmented(p, length) && row_subgroups_of(p, length) == row_subgroups &&
                !add_group_row(m, row, begin, begin + length, row_subgroups, UINT32_MAX))
                return false;
        }
    m->out->group_row_slices = p->row_subgroups > 1 ? m->slice_count : 0;
    return true;
}

/* Adds the slices of long rows and puts the other rows in order. */
static bool order_rows(wfi_sliced_maker *m)
{
    const wfi_sliced_params *p = m->params;
    m->order = wfi_malloc((p->rows + (size_t)1) * sizeof *m->order);
    if (!m->order || !add_shared_rows(m))
        return false;
    for (uint32_t row = 0; row < p->rows; row++)
        if (wfi_sliced_row_length(m, row) <= wfi_sliced_direct_entries(p))
            m->order[m->ordered++] = wfi_row_key(wfi_sliced_row_length(m, row), row);
    wfi_order_rows(m->order, m->ordered, p->window);
    return true;
}

static uint32_t longest(const wfi_sliced_maker *m, uint32_t at, uint32_t rows)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t length = wfi_sliced_row_length(m, wfi_sliced_order_row(m, at + i));
        most = length > most ? length : most;
    }
    return most;
}

/* Cuts the ordered rows into slices: the fewest lanes a row that end within the loads. */
static bool cut_slices(wfi_sliced_maker *m)
{
    const wfi_sliced_params *p = m->params;
    for (uint32_t at = 0; at < m->ordered;) {
        uint32_t lanes = 1, rows, loads;
        for (;; lanes *= 2) {
            const uint32_t height = p->subgroup / lanes, left = m->ordered - at;
            rows = left < height ? left : height;
            const uint32_t length = longest(m, at, rows);
            loads = length / (4 * lanes) + (length % (4 * lanes) != 0);
            if (loads <= p->loads || lanes == p->subgroup)
                break;
        }
        const wfi_sliced_slice s = {.at = at,
                                    .rows = rows,
                                    .height = p->subgroup / lanes,
                                    .loads = loads,
                                    .segment = UINT32_MAX,
                                    .row_subgroups = 1};
        if (!add_slice(m, s))
            return false;
        at += rows;
    }
    return true;
}

wf_result wfi_sliced_make(const wfi_sliced_params *params, wfi_sliced *out)
{
    wfi_sliced_maker m = {.params = params, .out = out};
    *out = (wfi_sliced){0};
    const bool ok = order_rows(&m) && cut_slices(&m) && wfi_sliced_fill(&m);
    wfi_free(m.order);
    wfi_free(m.slices);
    wfi_free(m.segments);
    wfi_free(m.columns);
    if (ok)
        return WF_SUCCESS;
    wfi_sliced_free(out);
    return WF_ERROR_OUT_OF_HOST_MEMORY;
}

void wfi_sliced_free(wfi_sliced *sliced)
{
    wfi_free(sliced->pattern);
    wfi_free(sliced->places);
    *sliced = (wfi_sliced){0};
}
