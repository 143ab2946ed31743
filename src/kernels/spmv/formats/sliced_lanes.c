#include "kernels/spmv/formats/sliced_lanes.h"

#define ALIGN_DISTANCE 64 /* diagonals that are nearer may stand in one slot */

void wfi_lane_start(wfi_lane *l, uint32_t row, uint32_t begin, uint32_t end, uint32_t lane_in_row,
                    uint32_t slots)
{
    l->row = row;
    l->begin = begin;
    l->next = begin + lane_in_row;
    l->end = end;
    l->slack = slots - (l->next < end ? (end - l->next + l->step - 1) / l->step : 0);
}

static int64_t diagonal(const wf_spmv_params *matrix, const wfi_lane *l)
{
    return (int64_t)matrix->column_indices[l->next] - l->row;
}

/* Padding's column: of the row's entries before and after, the one nearer to the base. */
static uint32_t padding_column(const wf_spmv_params *matrix, const wfi_lane *l, uint32_t base)
{
    const uint32_t *columns = matrix->column_indices;
    if (l->begin == l->end)
        return base;
    const uint32_t after = columns[l->next < l->end ? l->next : l->end - 1];
    const uint32_t before = columns[l->next >= l->begin + l->step ? l->next - l->step : l->begin];
    const uint32_t far_after = after > base ? after - base : base - after;
    const uint32_t far_before = before > base ? before - base : base - before;
    return far_after < far_before ? after : before;
}

uint32_t wfi_lowest_column(const uint32_t *columns, uint32_t count)
{
    uint32_t low = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        low = columns[i] < low ? columns[i] : low;
    return low;
}

uint32_t wfi_column_width(uint32_t span)
{
    return span <= UINT8_MAX ? 0 : span <= UINT16_MAX ? 1 : 2;
}

uint32_t wfi_encode_columns(const uint32_t *columns, uint32_t size, const uint32_t bases[4],
                            uint32_t width, uint32_t word, uint32_t lane)
{
    const uint32_t a_word = UINT32_C(4) >> width, bits = UINT32_C(8) << width;
    uint32_t packed = 0;
    for (uint32_t n = 0; n < a_word; n++) {
        const uint32_t slot = word * a_word + n;
        packed |= (columns[(size_t)slot * size + lane] - bases[slot]) << n * bits;
    }
    return packed;
}

uint32_t wfi_lanes_fill(const wf_spmv_params *matrix, wfi_lane *lanes, uint32_t size,
                        uint32_t *columns, uint32_t *entries)
{
    int64_t lowest = INT64_MAX;
    uint32_t base = UINT32_MAX, top = 0;
    for (uint32_t i = 0; i < size; i++)
        if (lanes[i].next < lanes[i].end && diagonal(matrix, &lanes[i]) < lowest)
            lowest = diagonal(matrix, &lanes[i]);
    for (uint32_t i = 0; i < size; i++) {
        wfi_lane *l = &lanes[i];
        entries[i] = UINT32_MAX;
        if (l->next >= l->end || (l->slack > 0 && diagonal(matrix, l) > lowest + ALIGN_DISTANCE))
            continue;
        columns[i] = matrix->column_indices[l->next];
        entries[i] = l->next;
        l->next += l->step;
        base = columns[i] < base ? columns[i] : base;
    }
    if (base == UINT32_MAX) /* a slot of padding alone */
        base = 0;
    for (uint32_t i = 0; i < size; i++) {
        if (entries[i] == UINT32_MAX) {
            lanes[i].slack -= lanes[i].slack > 0;
            columns[i] = padding_column(matrix, &lanes[i], base);
        }
        top = columns[i] > top ? columns[i] : top;
    }
    return top - wfi_lowest_column(columns, size);
}
