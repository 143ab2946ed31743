#include "kernels/spmv/statistics.h"

#include <math.h>
#include <string.h>

#include "core/heap.h"

static uint32_t histogram_bin(uint32_t length)
{
    uint32_t bin = 0;
    while (length >> bin && bin < 32)
        bin++;
    return bin;
}

uint32_t wfi_spmv_sample_step(uint32_t rows, uint32_t side)
{
    return rows / side / WFI_SPMV_SAMPLED + 1;
}

/* Counts the aligned blocks of the side that have any entries, and these, in every `step`-th row of
 * blocks. */
static void count_blocks(const wf_spmv_params *p, uint32_t side, wfi_spmv_counts *c)
{
    const uint32_t block_rows = p->rows / side, step = wfi_spmv_sample_step(p->rows, side);
    uint64_t entries = 0, blocks = 0;
    uint32_t *seen = wfi_calloc(p->columns / side + (size_t)1, sizeof *seen);
    for (uint32_t row = 0; seen && row < block_rows; row += step) {
        const uint32_t end = p->row_offsets[(row + 1) * side];
        for (uint32_t i = p->row_offsets[row * side]; i < end; i++) {
            const uint32_t column = p->column_indices[i] / side;
            blocks += seen[column] != row + 1;
            seen[column] = row + 1;
            entries++;
        }
    }
    wfi_free(seen);
    c->block_entries[side - 2] = entries;
    c->blocks[side - 2] = blocks;
}

static void count_padding(const wf_spmv_params *p, wfi_spmv_counts *c)
{
    const uint32_t side = WFI_SPMV_SLICE_ROWS;
    for (uint32_t row = 0; row < p->rows; row += side) {
        const uint32_t end = p->rows - row < side ? p->rows : row + side;
        uint32_t most = 0;
        for (uint32_t i = row; i < end; i++) {
            const uint32_t length = p->row_offsets[i + 1] - p->row_offsets[i];
            const uint32_t loads = length > WFI_SPMV_SLICE_LONGEST ? 0 : (length + 3) / 4;
            c->needed += loads;
            most = loads > most ? loads : most;
        }
        c->taken += most * (uint64_t)(end - row);
    }
}

void wfi_spmv_count(const wf_spmv_params *p, wfi_spmv_counts *c)
{
    *c = (wfi_spmv_counts){.entries = p->row_offsets[p->rows], .shortest = UINT32_MAX};
    for (uint32_t row = 0; row < p->rows; row++) {
        const uint32_t begin = p->row_offsets[row], length = p->row_offsets[row + 1] - begin;
        c->squares += (uint64_t)length * length;
        c->longest = length > c->longest ? length : c->longest;
        c->shortest = length < c->shortest ? length : c->shortest;
        c->histogram[histogram_bin(length)]++;
        for (uint32_t i = begin; i < begin + length; i++) {
            const uint32_t column = p->column_indices[i];
            const uint32_t distance = column > row ? column - row : row - column;
            c->bandwidth = distance > c->bandwidth ? distance : c->bandwidth;
        }
    }
    count_padding(p, c);
    for (uint32_t side = 2; side < 2 + WFI_SPMV_SIDES; side++)
        count_blocks(p, side, c);
}

/* The fraction of places that entries fill in the blocks of the side that have any. */
static double block_fill(const wfi_spmv_counts *c, uint32_t side)
{
    const uint64_t entries = c->block_entries[side - 2], blocks = c->blocks[side - 2];
    return blocks ? (double)entries / ((double)blocks * side * side) : 0;
}

/* The deviation of row lengths. Differences from a whole number near the mean keep the sum exact
 * until the last step. */
static double deviation(uint32_t rows, double mean, const wfi_spmv_counts *c)
{
    const uint64_t near = c->entries / rows;
    const uint64_t sum = c->squares - 2 * near * c->entries + near * near * rows;
    const double apart = mean - (double)near;
    return sqrt(fmax((double)sum / (double)rows - apart * apart, 0));
}

wfi_problem wfi_spmv_describe(const wf_spmv_params *p, const wfi_spmv_counts *c,
                              wf_spmv_analysis *a)
{
    wfi_spmv_problem s = {.rows = p->rows,
                          .columns = p->columns,
                          .entries = c->entries,
                          .longest_row = c->longest,
                          .mean_row = (double)c->entries / (double)p->rows,
                          .padding = c->needed ? (double)c->taken / (double)c->needed : 1,
                          .bandwidth = c->bandwidth,
                          .vectors = p->vectors,
                          .strided = p->vectors > 1 || p->x_stride > 1 || p->y_stride > 1};
    s.row_deviation = deviation(p->rows, s.mean_row, c);
    for (uint32_t side = 2; side < 2 + WFI_SPMV_SIDES; side++) {
        const double fill = block_fill(c, side);
        if (fill >= 0.9 || fill > s.block_fill) {
            s.block = side;
            s.block_fill = fill;
        }
    }
    *a = (wf_spmv_analysis){.rows = s.rows,
                            .columns = s.columns,
                            .entries = s.entries,
                            .shortest_row = c->shortest,
                            .longest_row = s.longest_row,
                            .mean_row = s.mean_row,
                            .row_deviation = s.row_deviation,
                            .bandwidth = c->bandwidth,
                            .block = s.block,
                            .block_fill = s.block_fill};
    for (uint32_t i = 0; i < WFI_SPMV_HISTOGRAM; i++)
        a->row_histogram[i] = c->histogram[i];
    return (wfi_problem){.family = WF_FAMILY_SPMV, .type = p->type, .spmv = s};
}
