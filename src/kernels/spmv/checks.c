#include "kernels/spmv/checks.h"

#include "kernels/spmv/push.h"

#define ROWS_AT_ONCE 4096u

wf_result wfi_spmv_bad_first(const wf_device *device, uint32_t offset)
{
    return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                    "wf_spmv_plan: row_offsets[0] is %u, not 0", offset);
}

wf_result wfi_spmv_bad_row(const wf_device *device, uint32_t at)
{
    return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                    "wf_spmv_plan: row_offsets[%u] is below the one before", at);
}

wf_result wfi_spmv_bad_column(const wf_device *device, uint32_t entry, uint32_t column,
                              uint32_t columns)
{
    return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                    "wf_spmv_plan: column_indices[%u] is %u, not below %u", entry, column, columns);
}

/* Rows from the first on that end where they begin or later. */
static uint32_t ascend(const uint32_t *offsets, uint32_t count)
{
    uint32_t row = 0;
    bool falls = false;
    for (uint32_t i = 0; i < count; i++) /* without a branch, so that compilers take vectors */
        falls |= offsets[i + 1] < offsets[i];
    if (!falls)
        return count;
    while (offsets[row + 1] >= offsets[row])
        row++;
    return row;
}

wf_result wfi_spmv_check_offsets(const wf_device *device, const wf_spmv_params *p)
{
    if (p->row_offsets[0] != 0)
        return wfi_spmv_bad_first(device, p->row_offsets[0]);
    for (uint32_t first = 0; first < p->rows;) {
        const uint32_t left = p->rows - first, count = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
        const uint32_t ascending = ascend(p->row_offsets + first, count);
        if (ascending < count)
            return wfi_spmv_bad_row(device, first + ascending + 1);
        first += count;
    }
    if (p->row_offsets[p->rows] && (!p->column_indices || !p->values))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_spmv_plan: column_indices and values are missing");
    return WF_SUCCESS;
}

wf_result wfi_spmv_check_columns(const wf_device *device, const wf_spmv_params *p)
{
    const uint32_t entries = p->row_offsets[p->rows];
    for (uint32_t i = 0; i < entries; i++)
        if (p->column_indices[i] >= p->columns)
            return wfi_spmv_bad_column(device, i, p->column_indices[i], p->columns);
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
    if (!p->row_offsets && !p->buffers)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_spmv_plan: row_offsets must be given");
    if (p->buffers && (p->row_offsets || p->column_indices || p->values))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_spmv_plan: the matrix is given in host memory and in buffers");
    if ((unsigned)p->type >= WF_TYPE_COUNT)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT, "wf_spmv_plan: unknown type");
    if (p->rows == UINT32_MAX || p->columns == UINT32_MAX)
        return wfi_fail(&device->log, WF_ERROR_TOO_LARGE, "wf_spmv_plan: too many rows or columns");
    return check_vectors(device, p);
}
