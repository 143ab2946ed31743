/* Rows of matrices by the measured speed of devices. */
#include "sparse.h"

#define MEASURED_SECONDS 0.2

/* The product of this rank's rows with an x of all columns, while the others make theirs. */
static wf_result time_rows(wf_device *device, wf_plan *plan, const wf_mpi_matrix_params *p,
                           wf_timing *timing)
{
    const wf_measure_params params = {.size = sizeof params, .budget_seconds = MEASURED_SECONDS};
    const uint64_t real = wf_type_size(p->type),
                   bytes[] = {p->columns * real, p->own_rows * real, wf_plan_workspace(plan)};
    wf_buffer *buffers[3] = {NULL, NULL, NULL};
    wf_result result = WF_SUCCESS;
    for (int n = 0; n < 3 && result == WF_SUCCESS; n++) {
        result = wf_buffer_create(device, bytes[n] + 4, WF_MEMORY_DEVICE, &buffers[n]);
        if (result == WF_SUCCESS)
            result = wf_buffer_fill(buffers[n], 0, bytes[n] / 4 * 4 + 4, 0);
    }
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {[WF_SPMV_X] = {.buffer = buffers[0]}, [WF_SPMV_Y] = {.buffer = buffers[1]}},
        .workspace = {.buffer = buffers[2]}};
    if (result == WF_SUCCESS)
        result = wf_plan_measure(plan, &bindings, &params, timing);
    for (int n = 0; n < 3; n++)
        wf_buffer_destroy(&buffers[n]);
    return result;
}

/* What this rank has of the matrix, over the time that its device takes for it; 0: nothing. */
static wf_result measure_speed(wfi_rank *rank, const wfi_rank_matrix *m, double *speed)
{
    const wf_mpi_matrix_params *p = &m->params;
    const wf_spmv_params params = {.size = sizeof params,
                                   .rows = p->own_rows,
                                   .columns = p->columns,
                                   .row_offsets = p->row_offsets,
                                   .column_indices = p->column_indices,
                                   .values = p->values,
                                   .type = p->type,
                                   .tuning = &rank->session.tuning};
    wf_plan *plan = NULL;
    wf_timing timing;
    *speed = 0;
    if (p->own_rows == 0 || p->columns == 0)
        return WF_SUCCESS;
    wf_result result = wf_spmv_plan(rank->session.device, &params, &plan);
    if (result == WF_SUCCESS)
        result = time_rows(rank->session.device, plan, p, &timing);
    if (result == WF_SUCCESS && timing.median_us > 0)
        *speed = wfi_rank_matrix_work(p->own_rows, p->row_offsets[p->own_rows]) / timing.median_us;
    wf_plan_destroy(&plan);
    return result;
}

static bool are_equal(const wfi_rank *rank, const double *weights)
{
    for (int r = 1; r < rank->count; r++)
        if (weights[r] < weights[0] || weights[r] > weights[0])
            return false;
    return true;
}

int wfi_rank_matrix_balance(wfi_rank *rank, wfi_shares *shares, wfi_rank_matrix *m)
{
    double speed = 0;
    if (!shares->balance)
        return WFI_EXIT_DONE;
    const wf_result result = wfi_rank_agree(measure_speed(rank, m, &speed));
    if (result != WF_SUCCESS)
        return wfi_rank_failed(rank, result);
    wfi_shares_weigh(rank, speed, shares);
    return are_equal(rank, shares->weights) ? WFI_EXIT_DONE
                                            : wfi_rank_matrix_share(rank, shares->weights, m);
}
