/* The pattern of a sparse matrix: checks, transposition, statistics. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/spmv/push.h"
#include "kernels/spmv/spmv.h"

static wf_result check_pattern(const wf_device *device, const wf_spmv_params *p)
{
    if (p->row_offsets[0] != 0)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_spmv_plan: row_offsets[0] is %u, not 0", p->row_offsets[0]);
    for (uint32_t row = 0; row < p->rows; row++)
        if (p->row_offsets[row + 1] < p->row_offsets[row])
            return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                            "wf_spmv_plan: row_offsets[%u] is below the one before", row + 1);
    const uint32_t entries = p->row_offsets[p->rows];
    if (entries && (!p->column_indices || !p->values))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_spmv_plan: column_indices and values are missing");
    for (uint32_t i = 0; i < entries; i++)
        if (p->column_indices[i] >= p->columns)
            return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                            "wf_spmv_plan: column_indices[%u] is %u, not below %u", i,
                            p->column_indices[i], p->columns);
    return WF_SUCCESS;
}

static wf_result check_vectors(const wf_device *device, const wf_spmv_params *p)
{
    const uint32_t vectors = p->vectors ? p->vectors : 1;
    if (vectors > WF_SPMV_MOST_VECTORS)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_spmv_plan: %u right-hand sides are more than %d", vectors,
                        WF_SPMV_MOST_VECTORS);
    if ((p->x_stride && p->x_stride < vectors) || (p->y_stride && p->y_stride < vectors))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_spmv_plan: x_stride and y_stride must be at least vectors, %u",
                        vectors);
    if (!wfi_spmv_scale_fits(p->type, p->alpha ? *p->alpha : 1, p->beta))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_spmv_plan: alpha and beta must be finite in the type of x and y");
    return WF_SUCCESS;
}

wf_result wfi_spmv_check_params(const wf_device *device, const wf_spmv_params *p)
{
    if (p->rows == 0 || p->columns == 0 || !p->row_offsets)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_spmv_plan: rows and columns must be positive and row_offsets given");
    if ((unsigned)p->type >= WF_TYPE_COUNT)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT, "wf_spmv_plan: unknown type");
    if (p->rows == UINT32_MAX || p->columns == UINT32_MAX)
        return wfi_fail(&device->log, WF_ERROR_TOO_LARGE, "wf_spmv_plan: too many rows or columns");
    wf_result result = check_vectors(device, p);
    return result == WF_SUCCESS ? check_pattern(device, p) : result;
}

/* ------------------------------------------------------------------------------- transposition */

static void transpose_entries(const wf_spmv_params *from, uint32_t *offsets, uint32_t *columns,
                              uint32_t *sources)
{
    const uint32_t entries = from->row_offsets[from->rows];
    memset(offsets, 0, (from->columns + (size_t)2) * sizeof *offsets);
    /* offsets[c + 1] is where column c goes on, and in the end where it ends. */
    for (uint32_t i = 0; i < entries; i++)
        offsets[from->column_indices[i] + 2]++;
    for (uint32_t c = 0; c < from->columns; c++)
        offsets[c + 2] += offsets[c + 1];
    for (uint32_t row = 0; row < from->rows; row++)
        for (uint32_t i = from->row_offsets[row]; i < from->row_offsets[row + 1]; i++) {
            const uint32_t at = offsets[from->column_indices[i] + 1]++;
            columns[at] = row;
            sources[at] = i;
        }
}

static bool transpose(wfi_spmv_job *job)
{
    const wf_spmv_params from = job->matrix;
    const size_t entries = from.row_offsets[from.rows], size = wf_type_size(from.type);
    uint32_t *offsets = malloc((from.columns + (size_t)2) * sizeof *offsets);
    uint32_t *columns = malloc((entries + 1) * sizeof *columns);
    uint32_t *sources = calloc(entries + 1, sizeof *sources);
    char *values = malloc(entries * size + 1);
    if (!offsets || !columns || !sources || !values) {
        free(offsets);
        free(columns);
        free(sources);
        free(values);
        return false;
    }
    transpose_entries(&from, offsets, columns, sources);
    for (size_t i = 0; i < entries; i++)
        memcpy(values + i * size, (const char *)from.values + sources[i] * size, size);
    job->matrix.rows = from.columns;
    job->matrix.columns = from.rows;
    job->matrix.row_offsets = offsets;
    job->matrix.column_indices = columns;
    job->matrix.values = values;
    job->sources = sources;
    return true;
}

wf_result wfi_spmv_job_make(const wf_device *device, const wf_spmv_params *params,
                            wfi_spmv_job *job)
{
    static const double one = 1;
    job->matrix = *params;
    wf_spmv_params *p = &job->matrix;
    p->vectors = p->vectors ? p->vectors : 1;
    p->x_stride = p->x_stride ? p->x_stride : p->vectors;
    p->y_stride = p->y_stride ? p->y_stride : p->vectors;
    p->alpha = p->alpha ? p->alpha : &one;
    if (params->transpose && !transpose(job))
        return wfi_no_memory(&device->log);
    return WF_SUCCESS;
}

void wfi_spmv_job_free(wfi_spmv_job *job)
{
    if (!job->sources)
        return;
    free((void *)job->matrix.row_offsets);
    free((void *)job->matrix.column_indices);
    free((void *)job->matrix.values);
    free((void *)job->sources);
    job->sources = NULL;
}

/* ----------------------------------------------------------------------------------- statistics */

static uint32_t histogram_bin(uint32_t length)
{
    uint32_t bin = 0;
    while (length >> bin && bin < 32)
        bin++;
    return bin;
}

/* The fraction of places that entries fill in those aligned blocks of side `block` that have any
 * entries; every `step`-th row of blocks is looked at. */
static double block_fill(const wf_spmv_params *p, uint32_t block, uint32_t step)
{
    const uint32_t block_rows = p->rows / block;
    uint64_t entries = 0, blocks = 0;
    uint32_t *seen = calloc(p->columns / block + (size_t)1, sizeof *seen);
    for (uint32_t row = 0; seen && row < block_rows; row += step) {
        const uint32_t end = p->row_offsets[(row + 1) * block];
        for (uint32_t i = p->row_offsets[row * block]; i < end; i++) {
            const uint32_t column = p->column_indices[i] / block;
            blocks += seen[column] != row + 1;
            seen[column] = row + 1;
            entries++;
        }
    }
    free(seen);
    return blocks ? (double)entries / ((double)blocks * block * block) : 0;
}

/* Finds the side of the blocks that the entries fill best, from a sample of rows. */
static void find_blocks(const wf_spmv_params *p, wfi_spmv_problem *s)
{
    for (uint32_t side = 2; side <= 4; side++) {
        const double fill = block_fill(p, side, p->rows / side / 1000 + 1);
        if (fill >= 0.9 || fill > s->block_fill) {
            s->block = side;
            s->block_fill = fill;
        }
    }
}

/* Loads of four entries that 32 rows side by side take, over those that each needs alone. Long
 * rows, which several subgroups share, do not count. */
static double padding_of(const wf_spmv_params *p)
{
    const uint32_t side = 32, longest = 512;
    double taken = 0, needed = 0;
    for (uint32_t row = 0; row < p->rows; row += side) {
        const uint32_t end = p->rows - row < side ? p->rows : row + side;
        uint32_t most = 0;
        for (uint32_t i = row; i < end; i++) {
            const uint32_t length = p->row_offsets[i + 1] - p->row_offsets[i];
            const uint32_t loads = length > longest ? 0 : (length + 3) / 4;
            needed += loads;
            most = loads > most ? loads : most;
        }
        taken += (double)most * (end - row);
    }
    return needed > 0 ? taken / needed : 1;
}

wfi_problem wfi_spmv_describe(const wf_spmv_params *p, wf_spmv_analysis *a)
{
    wfi_spmv_problem s = {.rows = p->rows,
                          .columns = p->columns,
                          .entries = p->row_offsets[p->rows],
                          .vectors = p->vectors,
                          .strided = p->vectors > 1 || p->x_stride > 1 || p->y_stride > 1};
    double squares = 0;
    *a = (wf_spmv_analysis){
        .rows = s.rows, .columns = s.columns, .entries = s.entries, .shortest_row = UINT32_MAX};
    s.mean_row = (double)s.entries / (double)s.rows;
    for (uint32_t row = 0; row < p->rows; row++) {
        const uint32_t begin = p->row_offsets[row], length = p->row_offsets[row + 1] - begin;
        const double difference = length - s.mean_row;
        squares += difference * difference;
        s.longest_row = length > s.longest_row ? length : s.longest_row;
        a->shortest_row = length < a->shortest_row ? length : a->shortest_row;
        a->row_histogram[histogram_bin(length)]++;
        for (uint32_t i = begin; i < begin + length; i++) {
            const uint32_t c = p->column_indices[i], distance = c > row ? c - row : row - c;
            a->bandwidth = distance > a->bandwidth ? distance : a->bandwidth;
        }
    }
    s.row_deviation = sqrt(squares / (double)s.rows);
    s.padding = padding_of(p);
    find_blocks(p, &s);
    a->longest_row = s.longest_row;
    a->mean_row = s.mean_row;
    a->row_deviation = s.row_deviation;
    a->block = s.block;
    a->block_fill = s.block_fill;
    return (wfi_problem){.family = WF_FAMILY_SPMV, .type = p->type, .spmv = s};
}
