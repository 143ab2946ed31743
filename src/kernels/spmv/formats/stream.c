#include "kernels/spmv/formats/stream.h"

#include <string.h>

#include "core/heap.h"

#define HEAD_WORDS 4

/* Rows of the block that begins at row `at`; no row is longer than a block. */
static uint32_t rows_of(const wfi_csr_stream_params *s, uint32_t at)
{
    const uint32_t *offsets = s->matrix->row_offsets, end = s->first + s->rows;
    uint32_t rows = 0;
    while (at + rows < end && rows < s->block_rows &&
           offsets[at + rows + 1] - offsets[at] <= s->block_entries)
        rows++;
    return rows;
}

static uint32_t lowest_column(const wf_spmv_params *p, uint32_t at, uint32_t rows, uint32_t *span)
{
    uint32_t low = UINT32_MAX, high = 0;
    for (uint32_t i = p->row_offsets[at]; i < p->row_offsets[at + rows]; i++) {
        low = p->column_indices[i] < low ? p->column_indices[i] : low;
        high = p->column_indices[i] > high ? p->column_indices[i] : high;
    }
    *span = low <= high ? high - low : 0;
    return low <= high ? low : 0;
}

void wfi_csr_stream_size(const wfi_csr_stream_params *params, uint32_t blocks, uint32_t span,
                         wfi_csr_stream *out)
{
    *out = (wfi_csr_stream){.blocks = blocks, .width = span > UINT16_MAX ? 2 : 1};
    out->stride =
        HEAD_WORDS + params->block_rows / 2 + 4 + (params->block_entries << out->width) / 4;
    out->pattern_words = (uint64_t)blocks * out->stride;
    out->place_count = (uint64_t)blocks * params->block_entries;
}

void wfi_csr_stream_measure(const wfi_csr_stream_params *params, wfi_csr_stream *out)
{
    uint32_t blocks = 0, most = 0;
    for (uint32_t at = params->first; at < params->first + params->rows; blocks++) {
        const uint32_t taken = rows_of(params, at);
        uint32_t span;
        lowest_column(params->matrix, at, taken, &span);
        most = span > most ? span : most;
        at += taken;
    }
    wfi_csr_stream_size(params, blocks, most, out);
}

static void put_half(uint32_t *words, uint32_t at, uint32_t value)
{
    words[at / 2] |= value << at % 2 * 16;
}

/* A block; row `first` is y's first. */
static void fill_block(const wfi_csr_stream_params *params, wfi_csr_stream *s, uint32_t number,
                       uint32_t at, uint32_t rows)
{
    const wf_spmv_params *p = params->matrix;
    uint32_t *head = s->pattern + (size_t)number * s->stride, *begins = head + HEAD_WORDS;
    uint32_t *columns = begins + params->block_rows / 2 + 4, span;
    uint32_t *places = s->places + (size_t)number * params->block_entries;
    const uint32_t begin = p->row_offsets[at], entries = p->row_offsets[at + rows] - begin;
    const uint32_t low = lowest_column(p, at, rows, &span), base = s->width == 1 ? low : 0;
    const uint32_t words[HEAD_WORDS] = {at - params->first, rows, base, 0};
    memcpy(head, words, sizeof words);
    for (uint32_t row = 0; row <= params->block_rows; row++)
        put_half(begins, row, row < rows ? p->row_offsets[at + row] - begin : entries);
    for (uint32_t i = 0; i < params->block_entries; i++) {
        const uint32_t column = i < entries ? p->column_indices[begin + i] : low;
        if (s->width == 1)
            put_half(columns, i, column - base);
        else
            columns[i] = column;
        places[i] = i < entries ? begin + i : UINT32_MAX;
    }
}

wf_result wfi_csr_stream_make(const wfi_csr_stream_params *params, wfi_csr_stream *s)
{
    s->pattern = wfi_calloc((size_t)s->pattern_words + 1, sizeof *s->pattern);
    s->places = wfi_malloc((size_t)(s->place_count + 1) * sizeof *s->places);
    if (!s->pattern || !s->places) {
        wfi_csr_stream_free(s);
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    }
    uint32_t at = params->first;
    for (uint32_t number = 0; number < s->blocks; number++) {
        const uint32_t taken = rows_of(params, at);
        fill_block(params, s, number, at, taken);
        at += taken;
    }
    return WF_SUCCESS;
}

void wfi_csr_stream_free(wfi_csr_stream *stream)
{
    wfi_free(stream->pattern);
    wfi_free(stream->places);
    stream->pattern = stream->places = NULL;
}
