/* Which rows need other ranks' elements of x, which elements these are, and who sends them. */
#include <limits.h>
#include <stdlib.h>

#include "matrix.h"

static bool is_own(const wf_mpi_matrix *m, uint32_t column)
{
    const int rank = m->ranks.rank;
    return column >= m->first_column[rank] && column < m->first_column[rank + 1];
}

static bool is_inside(const wf_mpi_matrix *m, const wf_mpi_matrix_params *p, uint32_t row)
{
    for (uint32_t i = p->row_offsets[row]; i < p->row_offsets[row + 1]; i++)
        if (!is_own(m, p->column_indices[i]))
            return false;
    return true;
}

static uint64_t rounded(const wf_mpi_matrix *m, uint64_t elements)
{
    const uint32_t unit = wfi_mpi_alignment(m);
    return (elements + unit - 1) / unit * unit;
}

/* Inside rows first, then boundary ones, which begin where a binding may. */
static wf_result lay_out(wf_mpi_matrix *m, const wf_mpi_matrix_params *p)
{
    const uint32_t rows = m->y.count;
    bool *inside = malloc(rows + (size_t)1);
    m->y.places = malloc((rows + (size_t)1) * sizeof *m->y.places);
    m->inside_rows = 0;
    for (uint32_t row = 0; inside && row < rows; row++) {
        inside[row] = is_inside(m, p, row);
        m->inside_rows += inside[row];
    }
    m->boundary_rows = rows - m->inside_rows;
    const uint64_t boundary_at = rounded(m, m->inside_rows),
                   y_length = rounded(m, boundary_at + m->boundary_rows),
                   x_length = m->alike ? y_length : rounded(m, m->x.count);
    wf_result result = WF_SUCCESS;
    if (!inside || !m->y.places)
        result = WF_ERROR_OUT_OF_HOST_MEMORY;
    else if (y_length > UINT32_MAX || x_length > UINT32_MAX)
        result = wfi_ranks_fail(&m->ranks, WF_ERROR_TOO_LARGE, "a rank has over 2^32 elements");
    m->boundary_at = (uint32_t)boundary_at;
    m->y.length = (uint32_t)y_length;
    m->x.length = (uint32_t)x_length;
    uint32_t next_inside = 0, next_boundary = m->boundary_at;
    for (uint32_t row = 0; row < rows && result == WF_SUCCESS; row++)
        m->y.places[row] = inside[row] ? next_inside++ : next_boundary++;
    m->x.places = m->alike ? m->y.places : NULL;
    free(inside);
    return result;
}

/* The others' columns that this rank's entries are in, ascending, each once. */
static wf_result find_received(wf_mpi_matrix *m, const wf_mpi_matrix_params *p)
{
    const uint32_t entries = m->y.count ? p->row_offsets[m->y.count] : 0;
    unsigned char *marks = calloc(m->columns / 8 + (size_t)1, 1);
    uint64_t count = 0;
    if (!marks)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < entries; i++) {
        const uint32_t column = p->column_indices[i];
        const unsigned char bit = (unsigned char)(1u << column % 8);
        if (is_own(m, column) || marks[column / 8] & bit)
            continue;
        marks[column / 8] |= bit;
        count++;
    }
    m->received.elements = malloc((size_t)count * sizeof(uint32_t) + 1);
    wf_result result = m->received.elements ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY;
    if (result == WF_SUCCESS && (count > INT_MAX))
        result = wfi_ranks_fail(&m->ranks, WF_ERROR_TOO_LARGE,
                                "a rank needs %llu elements of others, over the %d of a message",
                                (unsigned long long)count, INT_MAX);
    for (uint64_t column = 0; column < m->columns && result == WF_SUCCESS; column++)
        if (marks[column / 8] & 1u << column % 8)
            m->received.elements[m->received.total++] = (uint32_t)column;
    free(marks);
    return result;
}

static void count_received(wf_mpi_matrix *m)
{
    int owner = 0;
    for (uint32_t i = 0; i < m->received.total; i++) {
        while (m->received.elements[i] >= m->first_column[owner + 1])
            owner++;
        m->received.counts[owner]++;
    }
}

static uint64_t find_offsets(const wf_mpi_matrix *m, wfi_traffic *traffic)
{
    uint64_t sum = 0;
    for (int r = 0; r < m->ranks.count; r++) {
        traffic->offsets[r] = (int)sum;
        sum += (uint64_t)traffic->counts[r];
    }
    return sum;
}

/* Tells the owners what is needed of them. */
static wf_result find_sent(wf_mpi_matrix *m)
{
    const uint32_t first = m->first_column[m->ranks.rank];
    find_offsets(m, &m->received);
    MPI_Alltoall(m->received.counts, 1, MPI_INT, m->sent.counts, 1, MPI_INT, m->ranks.comm);
    const uint64_t total = find_offsets(m, &m->sent);
    wf_result result = WF_SUCCESS;
    if (total > INT_MAX)
        result = wfi_ranks_fail(&m->ranks, WF_ERROR_TOO_LARGE,
                                "%llu elements are needed of a rank, over the %d of a message",
                                (unsigned long long)total, INT_MAX);
    else
        m->sent.elements = malloc((size_t)total * sizeof(uint32_t) + 1);
    if (result == WF_SUCCESS && !m->sent.elements)
        result = WF_ERROR_OUT_OF_HOST_MEMORY;
    result = wfi_ranks_agree(&m->ranks, result);
    if (result != WF_SUCCESS || !m->sent.elements)
        return result;
    m->sent.total = (uint32_t)total;
    MPI_Alltoallv(m->received.elements, m->received.counts, m->received.offsets, MPI_UINT32_T,
                  m->sent.elements, m->sent.counts, m->sent.offsets, MPI_UINT32_T, m->ranks.comm);
    for (uint32_t i = 0; i < m->sent.total; i++) {
        const uint32_t own = m->sent.elements[i] - first;
        m->sent.elements[i] = m->x.places ? m->x.places[own] : own;
    }
    for (int r = 0; r < m->ranks.count; r++)
        if (m->sent.counts[r] || m->received.counts[r])
            m->peers[m->peer_count++].rank = r;
    return WF_SUCCESS;
}

/* Where each rank's elements are in the halo. */
static wf_result lay_halo_out(wf_mpi_matrix *m)
{
    uint64_t sum = 0;
    for (int r = 0; r < m->ranks.count; r++) {
        m->halo_at[r] = (uint32_t)sum;
        sum += rounded(m, (uint64_t)m->received.counts[r]);
    }
    m->halo = (uint32_t)sum;
    return m->x.length + sum <= UINT32_MAX
               ? WF_SUCCESS
               : wfi_ranks_fail(&m->ranks, WF_ERROR_TOO_LARGE, "a rank has over 2^32 elements");
}

wf_result wfi_mpi_matrix_lists(wf_mpi_matrix *m, const wf_mpi_matrix_params *p)
{
    wf_result result = lay_out(m, p);
    if (result == WF_SUCCESS)
        result = find_received(m, p);
    result = wfi_ranks_agree(&m->ranks, result);
    if (result != WF_SUCCESS)
        return result;
    count_received(m);
    result = find_sent(m);
    return result == WF_SUCCESS ? wfi_ranks_agree(&m->ranks, lay_halo_out(m)) : result;
}
