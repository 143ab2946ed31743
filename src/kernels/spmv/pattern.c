/* What is multiplied: the matrix with its defaults, transposed where that is asked for. */
#include <string.h>

#include "core/heap.h"
#include "kernels/spmv/spmv.h"

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
    uint32_t *offsets = wfi_malloc((from.columns + (size_t)2) * sizeof *offsets);
    uint32_t *columns = wfi_malloc((entries + 1) * sizeof *columns);
    uint32_t *sources = wfi_calloc(entries + 1, sizeof *sources);
    char *values = wfi_malloc(entries * size + 1);
    if (!offsets || !columns || !sources || !values) {
        wfi_free(offsets);
        wfi_free(columns);
        wfi_free(sources);
        wfi_free(values);
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

static void free_arrays(wf_spmv_params *matrix)
{
    wfi_free((void *)matrix->row_offsets);
    wfi_free((void *)matrix->column_indices);
    wfi_free((void *)matrix->values);
    matrix->row_offsets = matrix->column_indices = NULL;
    matrix->values = NULL;
}

wf_result wfi_spmv_job_download(wfi_spmv_job *job)
{
    uint32_t *row_offsets = NULL, *column_indices = NULL;
    void *values = NULL;
    if (job->matrix.row_offsets)
        return WF_SUCCESS;
    wf_result result = wfi_device_csr_download(&job->csr, &row_offsets, &column_indices, &values);
    job->downloaded.row_offsets = job->matrix.row_offsets = row_offsets;
    job->downloaded.column_indices = job->matrix.column_indices = column_indices;
    job->downloaded.values = job->matrix.values = values;
    return result;
}

void wfi_spmv_job_start(const wf_spmv_params *params, wfi_spmv_job *job)
{
    static const double one = 1;
    job->matrix = *params;
    wf_spmv_params *p = &job->matrix;
    p->vectors = p->vectors ? p->vectors : 1;
    p->x_stride = p->x_stride ? p->x_stride : p->vectors;
    p->y_stride = p->y_stride ? p->y_stride : p->vectors;
    p->alpha = p->alpha ? p->alpha : &one;
}

wf_result wfi_spmv_job_transpose(const wf_device *device, wfi_spmv_job *job)
{
    wf_result result = wfi_spmv_job_download(job);
    wfi_device_csr_close(&job->csr);
    if (result == WF_SUCCESS && !transpose(job))
        result = wfi_no_memory(&device->log);
    return result;
}

void wfi_spmv_job_free(wfi_spmv_job *job)
{
    if (job->sources)
        free_arrays(&job->matrix);
    wfi_free((void *)job->sources);
    job->sources = NULL;
    free_arrays(&job->downloaded);
    wfi_device_csr_close(&job->csr);
}
