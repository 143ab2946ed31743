/* The plans of a rank's part: products with the inside and with the boundary, and the gathering of
 * what others need. Packing and unpacking are products, too, with matrices of one entry a row. */
#include <stdlib.h>
#include <string.h>

#include "matrix.h"

typedef struct local_rows {
    uint32_t rows;
    uint32_t *offsets, *columns;
    unsigned char *values;
} local_rows;

static void free_part(local_rows *part)
{
    free(part->offsets);
    free(part->columns);
    free(part->values);
}

/* Where the element of x of a column of the whole matrix is. */
static uint32_t find_place(const wf_mpi_matrix *m, uint32_t column)
{
    const int rank = m->ranks.rank;
    if (column >= m->first_column[rank] && column < m->first_column[rank + 1]) {
        const uint32_t own = column - m->first_column[rank];
        return m->x.places ? m->x.places[own] : own;
    }
    uint32_t low = 0, high = m->received.total - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (m->received.elements[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    int owner = 0;
    for (int end = m->ranks.count - 1; owner < end;) {
        const int middle = owner + (end - owner) / 2;
        if (column < m->first_column[middle + 1])
            end = middle;
        else
            owner = middle + 1;
    }
    return m->x.length + m->halo_at[owner] + low - (uint32_t)m->received.offsets[owner];
}

/* The rows of one part, in their order, with columns as they are in the buffer of x. */
static wf_result take_part(const wf_mpi_matrix *m, const wf_mpi_matrix_params *p, bool boundary,
                           local_rows *out)
{
    const size_t real = wf_type_size(m->type);
    uint32_t entries = 0, row_at = 0, at = 0;
    for (uint32_t row = 0; row < m->y.count; row++)
        if ((m->y.places[row] >= m->boundary_at) == boundary)
            entries += p->row_offsets[row + 1] - p->row_offsets[row];
    out->rows = boundary ? m->boundary_rows : m->inside_rows;
    out->offsets = calloc(out->rows + (size_t)1, sizeof *out->offsets);
    out->columns = malloc((entries + (size_t)1) * sizeof *out->columns);
    out->values = malloc((entries + (size_t)1) * real);
    if (!out->offsets || !out->columns || !out->values)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t row = 0; row < m->y.count; row++) {
        const uint32_t begin = p->row_offsets[row], count = p->row_offsets[row + 1] - begin;
        if ((m->y.places[row] >= m->boundary_at) != boundary)
            continue;
        for (uint32_t i = 0; i < count; i++)
            out->columns[at + i] = find_place(m, p->column_indices[begin + i]);
        if (count)
            memcpy(out->values + at * real, (const unsigned char *)p->values + begin * real,
                   count * real);
        at += count;
        out->offsets[++row_at] = at;
    }
    return WF_SUCCESS;
}

/* sums (NULL: none) gets how many partial sums of a dot product the product leaves. */
static wf_result plan_part(const wf_mpi_matrix *m, const wf_mpi_matrix_params *p, bool boundary,
                           const wf_tuning *tuning, uint32_t *sums, wf_plan **out)
{
    local_rows part = {0};
    wf_result result = take_part(m, p, boundary, &part);
    const wf_spmv_params params = {.size = sizeof params,
                                   .rows = part.rows,
                                   .columns = m->x.length + (boundary ? m->halo : 0),
                                   .row_offsets = part.offsets,
                                   .column_indices = part.columns,
                                   .values = part.values,
                                   .type = m->type,
                                   .tuning = tuning};
    if (result == WF_SUCCESS && part.rows)
        result = sums ? wf_cg_product_plan(m->device, &params, sums, out)
                      : wf_spmv_plan(m->device, &params, out);
    free_part(&part);
    return result;
}

wf_result wfi_mpi_single_plan(const wf_mpi_matrix *m, uint32_t rows, uint32_t width,
                              const uint32_t *columns, const void *values, wf_plan **out)
{
    const size_t real = wf_type_size(m->type);
    local_rows part = {.rows = rows};
    wf_result result = WF_SUCCESS;
    part.offsets = malloc((rows + (size_t)1) * sizeof *part.offsets);
    part.columns = malloc((rows + (size_t)1) * sizeof *part.columns);
    part.values = malloc((rows + (size_t)1) * real);
    if (!part.offsets || !part.columns || !part.values) {
        free_part(&part);
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    }
    part.offsets[0] = 0;
    for (uint32_t i = 0; i < rows; i++) {
        part.offsets[i + 1] = i + 1;
        part.columns[i] = columns ? columns[i] : i;
        if (!values)
            wf_element_set(m->type, part.values, i, 1);
    }
    if (values)
        memcpy(part.values, values, rows * real);
    const wf_spmv_params params = {.size = sizeof params,
                                   .rows = rows,
                                   .columns = width,
                                   .row_offsets = part.offsets,
                                   .column_indices = part.columns,
                                   .values = part.values,
                                   .type = m->type};
    result = wf_spmv_plan(m->device, &params, out);
    free_part(&part);
    return result;
}

static wf_result make_buffer(const wf_mpi_matrix *m, uint32_t elements, wf_memory memory,
                             wfi_traffic *traffic)
{
    return wf_buffer_create(m->device, elements * (uint64_t)wf_type_size(m->type), memory,
                            &traffic->buffer);
}

/* The elements of one peer, as they are where it packed them, or in this rank's own memory. */
static wf_result plan_unpack(const wf_mpi_matrix *m, wfi_peer *peer)
{
    const uint32_t count = (uint32_t)m->received.counts[peer->rank];
    if (count == 0)
        return WF_SUCCESS;
    if (!peer->reads)
        return wfi_mpi_single_plan(m, count, count, NULL, NULL, &peer->unpack);
    uint32_t *columns = malloc(count * sizeof *columns);
    if (!columns)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        columns[i] = peer->offer.first + i;
    const wf_result result =
        wfi_mpi_single_plan(m, count, peer->offer.total, columns, NULL, &peer->unpack);
    free(columns);
    return result;
}

/* Where all elements come by messages, they are taken at once. */
static wf_result plan_halo(wf_mpi_matrix *m)
{
    bool reads = false, messages = false;
    for (int n = 0; n < m->peer_count; n++) {
        reads |= m->peers[n].reads;
        messages |= !m->peers[n].reads && m->received.counts[m->peers[n].rank] > 0;
    }
    wf_result result = WF_SUCCESS;
    if (messages)
        result = make_buffer(m, m->halo, WF_MEMORY_UPLOAD, &m->received);
    if (messages && !reads && result == WF_SUCCESS)
        return wfi_mpi_single_plan(m, m->halo, m->halo, NULL, NULL, &m->unpack);
    for (int n = 0; n < m->peer_count && result == WF_SUCCESS; n++)
        result = plan_unpack(m, &m->peers[n]);
    return result;
}

wf_result wfi_mpi_matrix_plans(wf_mpi_matrix *m, const wf_mpi_matrix_params *p)
{
    wf_result result = wf_queue_create(m->device, &m->queue);
    if (result == WF_SUCCESS)
        result = plan_part(m, p, false, p->tuning, m->sums ? &m->sum_count : NULL, &m->inside);
    if (result == WF_SUCCESS && m->sum_count)
        result = wf_buffer_create(m->device, m->sum_count * (uint64_t)wf_type_size(m->type),
                                  WF_MEMORY_DEVICE, &m->sum_buffer);
    if (result == WF_SUCCESS)
        result = plan_part(m, p, true, m->inside ? NULL : p->tuning, NULL, &m->boundary);
    if (result == WF_SUCCESS && m->sent.total && !m->pages.own)
        result = make_buffer(m, m->sent.total, WF_MEMORY_READBACK, &m->sent);
    if (result == WF_SUCCESS && m->sent.total)
        result =
            wfi_mpi_single_plan(m, m->sent.total, m->x.length, m->sent.elements, NULL, &m->pack);
    return result == WF_SUCCESS ? plan_halo(m) : result;
}
