/* The buffers and preconditioner of a conjugate-gradient solve. */

#include "api/plans.h"
#include "core/arithmetic.h"
#include "core/heap.h"
#include "solve/cg.h"

/* ---------------------------------------------------------------------------------------- sizes */

static uint64_t alignment_elements(const wfi_cg *c)
{
    const uint64_t align = c->device->caps.storage_alignment;
    return (align > 256 ? align : 256) / wf_type_size(c->type);
}

static uint64_t aligned(const wfi_cg *c, uint64_t elements)
{
    return wfi_round_up(elements, alignment_elements(c));
}

static uint32_t block_of(const wf_cg_params *p)
{
    if (p->precondition == WF_PRECONDITION_BLOCK_JACOBI)
        return p->block ? p->block : 4;
    return p->precondition == WF_PRECONDITION_JACOBI;
}

static wf_result set_sizes(wfi_cg *c, uint32_t fused_partials)
{
    const uint64_t real = wf_type_size(c->type), range = c->device->caps.max_storage_range;
    c->stride = (uint32_t)aligned(c, c->count);
    c->groups = wfi_cg_groups(&c->device->caps, c->count, c->block);
    c->fused = fused_partials != 0;
    c->partials = c->fused ? fused_partials : c->groups;
    c->history_at = WFI_CG_PARTIALS_AT + 4 * c->groups;
    c->partials_at = (uint32_t)aligned(c, c->history_at + (uint64_t)c->most);
    if (c->recorded) {
        c->sizes = wfi_plan_step_count(c->product) + (c->fused ? 2 : 3);
        c->sizes_at = (uint32_t)((c->partials_at + (uint64_t)c->partials) * real / 4);
    }
    const uint64_t of_a = wfi_cg_a_bytes(c), of_c = wfi_cg_c_elements(c) * real,
                   largest = of_a > of_c ? of_a : of_c;
    if (largest <= range && wfi_cg_scalars_bytes(c) <= range && wfi_cg_pairs_bytes(c) <= range)
        return WF_SUCCESS;
    return wfi_fail(&c->device->log, WF_ERROR_TOO_LARGE,
                    "%llu bytes of vectors, or of the matrix in pairs of floats, are over this "
                    "device's binding of %llu bytes",
                    (unsigned long long)largest, (unsigned long long)range);
}

static wf_result make_buffers(wfi_cg *c)
{
    const uint64_t vector = wfi_cg_vector_bytes(c), real = wf_type_size(c->type);
    const struct {
        wf_buffer **buffer;
        uint64_t bytes;
        wf_memory memory;
    } buffers[] = {
        {&c->a, wfi_cg_a_bytes(c), WF_MEMORY_DEVICE},
        {&c->b, 2 * vector, WF_MEMORY_DEVICE},
        {&c->scalars, wfi_cg_scalars_bytes(c), WF_MEMORY_DEVICE},
        {c->recorded ? NULL : &c->c, wfi_cg_c_elements(c) * real, WF_MEMORY_DEVICE},
        {c->recorded ? NULL : &c->state, WFI_STREAM_SLOTS * 8 * real, WF_MEMORY_READBACK}};
    wf_result result = WF_SUCCESS;
    for (size_t i = 0; i < WFI_COUNT(buffers) && result == WF_SUCCESS; i++)
        if (buffers[i].buffer)
            result =
                wf_buffer_create(c->device, buffers[i].bytes, buffers[i].memory, buffers[i].buffer);
    return result;
}

/* ------------------------------------------------------------------------------- preconditioner */

static wf_result write_preconditioner(wfi_cg *c)
{
    const size_t real = wf_type_size(c->type), elements = c->block * (size_t)c->count;
    if (!c->block)
        return WF_SUCCESS;
    void *inverse = wfi_calloc(elements, real);
    if (!inverse)
        return wfi_no_memory(&c->device->log);
    wf_result result = wfi_cg_fill_inverse(c, inverse);
    if (result == WF_SUCCESS)
        result = wf_buffer_write(c->c, wfi_cg_vector_bytes(c), inverse, elements * real);
    wfi_free(inverse);
    return result;
}

/* ----------------------------------------------------------------------------- opening, closing */

static wf_result open_solve(wf_device *device, const wf_cg_params *params,
                            const wf_spmv_params *matrix, const wf_spmv_params *wide, bool recorded,
                            wfi_cg *out)
{
    uint32_t partials = 0;
    *out = (wfi_cg){.device = device,
                    .params = params,
                    .matrix = matrix,
                    .type = matrix->type,
                    .count = matrix->rows,
                    .block = block_of(params),
                    .recorded = recorded,
                    .wide = wide,
                    .every = params->check_every ? (params->check_every + 1) / 2 * 2 : 8,
                    .most = params->max_iterations ? params->max_iterations : 1000};
    wfi_ahead *ahead = wfi_cg_begin_kernels(out);
    /* The plan checks the matrix, which all that follows reads. */
    wf_result result = wfi_spmv_plan_fused(device, matrix, &partials, &out->product);
    if (result == WF_SUCCESS)
        result = set_sizes(out, partials);
    if (result == WF_SUCCESS)
        result = wfi_cg_make_kernels(out);
    wfi_ahead_end(ahead);
    return result == WF_SUCCESS ? make_buffers(out) : result;
}

wf_result wfi_cg_open(wf_device *device, const wf_cg_params *params, const wf_spmv_params *matrix,
                      wfi_cg *out)
{
    wf_result result = open_solve(device, params, matrix, NULL, false, out);
    if (result == WF_SUCCESS)
        result = write_preconditioner(out);
    if (result == WF_SUCCESS)
        result = wfi_plan_upload(out->product);
    return result == WF_SUCCESS ? wfi_stream_open(device, WFI_STREAM_FIRST, &out->stream) : result;
}

wf_result wfi_cg_open_recorded(wf_device *device, const wf_cg_params *params,
                               const wf_spmv_params *matrix, const wf_spmv_params *wide,
                               wfi_cg *out)
{
    wf_result result = open_solve(device, params, matrix, wide, true, out);
    if (result == WF_SUCCESS)
        out->c = wfi_plan_own(out->kernels[WFI_CG_GATE], 0);
    if (result == WF_SUCCESS && wide)
        out->pairs = wfi_plan_own(out->kernels[WFI_CG_RESIDUAL], 0);
    return result;
}

void wfi_cg_close(wfi_cg *c)
{
    if (c->recorded)
        c->c = NULL; /* the gate's */
    wfi_stream_close(&c->stream);
    for (int i = 0; i < WFI_CG_KERNELS; i++)
        wf_plan_destroy(&c->kernels[i]);
    wf_plan_destroy(&c->product);
    wf_buffer_destroy(&c->a);
    wf_buffer_destroy(&c->b);
    wf_buffer_destroy(&c->c);
    wf_buffer_destroy(&c->scalars);
    wf_buffer_destroy(&c->state);
}
