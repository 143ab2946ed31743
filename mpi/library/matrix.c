/* A sparse matrix on many ranks, and its vectors: their making and their elements. */
#include "matrix.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 256 /* bytes; devices may ask for more */

uint32_t wfi_mpi_alignment(const wf_mpi_matrix *m)
{
    const uint64_t least = wf_device_caps(m->device)->storage_alignment;
    return (uint32_t)((least > ALIGNMENT ? least : ALIGNMENT) / wf_type_size(m->type));
}

/* --------------------------------------------------------------------------------------- sizes */

/* A parameter structure of a caller built against another version of the header. */
static bool read_params(const wf_mpi_matrix_params *given, wf_mpi_matrix_params *out)
{
    if (!given || given->size < sizeof given->size || given->size > sizeof *out)
        return false;
    memset(out, 0, sizeof *out);
    memcpy(out, given, given->size);
    return true;
}

/* Each rank's first of `count` things, of which this one has `own`. Collective. */
static wf_result find_firsts(const wfi_ranks *ranks, uint32_t own, uint32_t count, const char *what,
                             uint32_t *first)
{
    uint64_t sum = 0;
    MPI_Allgather(&own, 1, MPI_UINT32_T, first, 1, MPI_UINT32_T, ranks->comm);
    for (int r = 0; r < ranks->count; r++) {
        const uint32_t of_rank = first[r];
        first[r] = (uint32_t)sum;
        sum += of_rank;
    }
    first[ranks->count] = (uint32_t)sum;
    if (sum == count)
        return WF_SUCCESS;
    return wfi_ranks_fail(ranks, WF_ERROR_INVALID_ARGUMENT,
                          "the ranks have %llu %s together, and the matrix has %u",
                          (unsigned long long)sum, what, count);
}

static wf_result check_arrays(const wf_mpi_matrix *m, const wf_mpi_matrix_params *p)
{
    const uint32_t *offsets = p->row_offsets;
    if (p->type != WF_TYPE_F32 && p->type != WF_TYPE_F64)
        return wfi_ranks_fail(&m->ranks, WF_ERROR_UNSUPPORTED,
                              "matrices on many ranks are of f32 or f64");
    if (p->own_rows == 0)
        return WF_SUCCESS;
    if (!offsets || offsets[0] != 0)
        return wfi_ranks_fail(&m->ranks, WF_ERROR_INVALID_ARGUMENT,
                              "row_offsets do not begin with 0");
    for (uint32_t row = 0; row < p->own_rows; row++)
        if (offsets[row + 1] < offsets[row])
            return wfi_ranks_fail(&m->ranks, WF_ERROR_INVALID_ARGUMENT,
                                  "row_offsets descend at row %u",
                                  m->first_row[m->ranks.rank] + row);
    const uint32_t entries = offsets[p->own_rows];
    if (entries && (!p->column_indices || !p->values))
        return wfi_ranks_fail(&m->ranks, WF_ERROR_INVALID_ARGUMENT,
                              "there are no columns or no values");
    for (uint32_t i = 0; i < entries; i++)
        if (p->column_indices[i] >= p->columns)
            return wfi_ranks_fail(&m->ranks, WF_ERROR_INVALID_ARGUMENT,
                                  "entry %u is in column %u of %u", i, p->column_indices[i],
                                  p->columns);
    return WF_SUCCESS;
}

static wf_result begin(wf_mpi_matrix *m, const wf_mpi_matrix_params *p)
{
    const size_t count = (size_t)m->ranks.count;
    m->type = p->type;
    m->rows = p->rows;
    m->columns = p->columns;
    m->x.count = p->own_columns;
    m->y.count = p->own_rows;
    m->first_row = calloc(count + 1, sizeof *m->first_row);
    m->first_column = calloc(count + 1, sizeof *m->first_column);
    m->sent.counts = calloc(2 * count, sizeof *m->sent.counts);
    m->received.counts = calloc(2 * count, sizeof *m->received.counts);
    m->peers = calloc(count, sizeof *m->peers);
    m->halo_at = calloc(count + 1, sizeof *m->halo_at);
    m->requests = calloc(2 * count, sizeof(MPI_Request));
    m->statuses = calloc(2 * count, sizeof(MPI_Status));
    const bool ok = m->first_row && m->first_column && m->sent.counts && m->received.counts &&
                    m->peers && m->halo_at && m->requests && m->statuses;
    wf_result result = wfi_ranks_agree(&m->ranks, ok ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY);
    if (result != WF_SUCCESS || !ok)
        return result;
    m->sent.offsets = m->sent.counts + count;
    m->received.offsets = m->received.counts + count;
    const wf_result of_rows = find_firsts(&m->ranks, p->own_rows, p->rows, "rows", m->first_row);
    result = find_firsts(&m->ranks, p->own_columns, p->columns, "columns", m->first_column);
    m->alike = memcmp(m->first_row, m->first_column, (count + 1) * sizeof *m->first_row) == 0;
    if (of_rows != WF_SUCCESS)
        result = of_rows;
    if (result == WF_SUCCESS)
        result = check_arrays(m, p);
    return wfi_ranks_agree(&m->ranks, result);
}

/* What the device must hold at least; formats may pad. */
static uint64_t bytes_needed(const wf_mpi_matrix *m, const wf_mpi_matrix_params *p)
{
    const uint64_t real = wf_type_size(m->type),
                   entries = p->own_rows ? p->row_offsets[p->own_rows] : 0;
    return entries * (real + 4) + m->y.count * UINT64_C(4) +
           (m->x.length + (uint64_t)m->halo + m->y.length) * real;
}

wf_result wfi_mpi_matrix_create(MPI_Comm comm, wf_device *device, const wf_mpi_matrix_params *given,
                                bool sums, wf_mpi_matrix **out)
{
    wf_mpi_matrix_params params;
    if (!device || !out || !read_params(given, &params))
        return WF_ERROR_INVALID_ARGUMENT;
    wf_mpi_matrix *m = calloc(1, sizeof *m);
    if (!m)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    m->device = device;
    m->sums = sums;
    m->pages.host = MPI_COMM_NULL;
    wfi_ranks_poll(device);
    wfi_ranks_open(&m->ranks, comm, params.log, params.log_user);
    wf_result result = begin(m, &params);
    if (result == WF_SUCCESS)
        result = wfi_mpi_matrix_lists(m, &params);
    if (result == WF_SUCCESS)
        result = wfi_ranks_fit(&m->ranks, device, bytes_needed(m, &params));
    if (result == WF_SUCCESS)
        result = wfi_mpi_matrix_share(m);
    if (result == WF_SUCCESS)
        result = wfi_ranks_agree(&m->ranks, wfi_mpi_matrix_plans(m, &params));
    if (result != WF_SUCCESS) {
        wf_mpi_matrix_destroy(&m);
        return result;
    }
    *out = m;
    return WF_SUCCESS;
}

wf_result wf_mpi_matrix_create(MPI_Comm comm, wf_device *device, const wf_mpi_matrix_params *params,
                               wf_mpi_matrix **out)
{
    return wfi_mpi_matrix_create(comm, device, params, false, out);
}

static void free_traffic(wfi_traffic *traffic)
{
    wf_buffer_destroy(&traffic->buffer);
    free(traffic->counts);
    free(traffic->elements);
}

void wf_mpi_matrix_destroy(wf_mpi_matrix **handle)
{
    wf_mpi_matrix *m = handle ? *handle : NULL;
    if (!m)
        return;
    wf_queue_destroy(&m->aside);
    wf_queue_destroy(&m->queue);
    wf_plan_destroy(&m->inside);
    wf_plan_destroy(&m->boundary);
    wf_plan_destroy(&m->pack);
    wf_plan_destroy(&m->unpack);
    wf_buffer_destroy(&m->sum_buffer);
    for (int n = 0; n < m->peer_count; n++) {
        wf_plan_destroy(&m->peers[n].unpack);
        wf_buffer_destroy(&m->peers[n].theirs);
    }
    wfi_pages_close(&m->pages);
    free_traffic(&m->sent);
    free_traffic(&m->received);
    if (!m->alike)
        free(m->x.places);
    free(m->y.places);
    free(m->first_row);
    free(m->first_column);
    free(m->peers);
    free(m->halo_at);
    free(m->requests);
    free(m->statuses);
    wfi_ranks_close(&m->ranks);
    free(m);
    *handle = NULL;
}

wf_result wf_mpi_matrix_describe(const wf_mpi_matrix *m, wf_mpi_matrix_info *info,
                                 wf_plan_info *plan)
{
    if (!m || !info || info->size != sizeof *info)
        return WF_ERROR_INVALID_ARGUMENT;
    info->first_row = m->first_row[m->ranks.rank];
    info->rows = m->y.count;
    info->boundary_rows = m->boundary_rows;
    info->received = m->received.total;
    info->sent = m->sent.total;
    info->neighbours = (uint32_t)m->peer_count;
    info->shared = 0;
    for (int n = 0; n < m->peer_count; n++)
        info->shared += m->peers[n].reads;
    const wf_plan *chosen = m->inside ? m->inside : m->boundary;
    return plan && chosen ? wf_plan_describe(chosen, plan) : WF_SUCCESS;
}

/* ------------------------------------------------------------------------------------- vectors */

wf_result wf_mpi_vector_create(wf_mpi_matrix *m, wf_mpi_side side, wf_mpi_vector **out)
{
    if (!m || !out || (side != WF_MPI_OF_COLUMNS && side != WF_MPI_OF_ROWS))
        return WF_ERROR_INVALID_ARGUMENT;
    wf_mpi_vector *v = calloc(1, sizeof *v);
    if (!v)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    v->matrix = m;
    v->layout = side == WF_MPI_OF_ROWS ? &m->y : &m->x;
    /* A vector of rows that are alike can be multiplied too, and has a place for the halo. */
    const bool halo = side == WF_MPI_OF_COLUMNS || m->alike;
    const uint64_t elements = v->layout->length + (halo ? (uint64_t)m->halo : 0);
    const uint64_t bytes = (elements ? elements : 1) * wf_type_size(m->type);
    wf_result result = wf_buffer_create(m->device, bytes, WF_MEMORY_DEVICE, &v->buffer);
    if (result == WF_SUCCESS)
        result = wf_buffer_fill(v->buffer, 0, bytes, 0);
    if (result != WF_SUCCESS)
        wf_mpi_vector_destroy(&v);
    else
        *out = v;
    return result;
}

void wf_mpi_vector_destroy(wf_mpi_vector **vector)
{
    if (!vector || !*vector)
        return;
    wf_buffer_destroy(&(*vector)->buffer);
    free(*vector);
    *vector = NULL;
}

static uint32_t place_of(const wfi_layout *layout, uint32_t i)
{
    return layout->places ? layout->places[i] : i;
}

wf_result wfi_mpi_place_write(const wf_mpi_matrix *m, const wfi_layout *layout, wfi_place place,
                              const void *own)
{
    const size_t real = wf_type_size(m->type), bytes = layout->length * real;
    if (layout->count == 0)
        return WF_SUCCESS;
    unsigned char *data = calloc(1, bytes);
    if (!data)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < layout->count; i++)
        memcpy(data + place_of(layout, i) * real, (const unsigned char *)own + i * real, real);
    const wf_result result = wf_buffer_write(place.buffer, place.offset, data, bytes);
    free(data);
    return result;
}

wf_result wfi_mpi_place_read(const wf_mpi_matrix *m, const wfi_layout *layout, wfi_place place,
                             void *own)
{
    const size_t real = wf_type_size(m->type), bytes = layout->length * real;
    if (layout->count == 0)
        return WF_SUCCESS;
    unsigned char *data = malloc(bytes);
    if (!data)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    const wf_result result = wf_buffer_read(place.buffer, place.offset, data, bytes);
    for (uint32_t i = 0; i < layout->count && result == WF_SUCCESS; i++)
        memcpy((unsigned char *)own + i * real, data + place_of(layout, i) * real, real);
    free(data);
    return result;
}

wf_result wf_mpi_vector_write(wf_mpi_vector *v, const void *own)
{
    if (!v || (!own && v->layout->count))
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_place place = {.buffer = v->buffer};
    return wfi_mpi_place_write(v->matrix, v->layout, place, own);
}

wf_result wf_mpi_vector_read(const wf_mpi_vector *v, void *own)
{
    if (!v || (!own && v->layout->count))
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_place place = {.buffer = v->buffer};
    return wfi_mpi_place_read(v->matrix, v->layout, place, own);
}
