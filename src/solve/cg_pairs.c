/* What the host does with numbers of f64 for devices that compute in f32, by several threads. */
#include <math.h>
#include <stdatomic.h>

#include "core/heap.h"
#include "core/share.h"
#include "solve/cg.h"

#define PART 65536u /* numbers */

static uint32_t parts_of(uint64_t count)
{
    return (uint32_t)((count + PART - 1) / PART);
}

static uint64_t end_of(uint64_t count, uint32_t part)
{
    const uint64_t end = (part + UINT64_C(1)) * PART;
    return end < count ? end : count;
}

/* ------------------------------------------------------------------------------------- rounding */

typedef struct narrowing {
    const double *wide;
    float *narrow;
    uint64_t count;
    atomic_bool too_large; /* some value */
} narrowing;

static void narrow_part(void *user, uint32_t part)
{
    narrowing *n = user;
    const uint64_t end = end_of(n->count, part);
    bool finite = true;
    for (uint64_t i = part * (uint64_t)PART; i < end; i++) {
        n->narrow[i] = (float)n->wide[i];
        finite = finite && isfinite(n->narrow[i]);
    }
    if (!finite)
        atomic_store(&n->too_large, true);
}

wf_result wfi_cg_narrow(wf_device *device, const char *function, const wf_spmv_params *matrix,
                        float **values, wf_spmv_params *out)
{
    const uint32_t entries = matrix->row_offsets[matrix->rows];
    narrowing n = {.wide = matrix->values,
                   .narrow = wfi_malloc((entries + (size_t)1) * sizeof **values),
                   .count = entries};
    *values = n.narrow;
    if (!n.narrow)
        return wfi_no_memory(&device->log);
    wfi_share(device, parts_of(entries), narrow_part, &n);
    if (atomic_load(&n.too_large)) {
        uint32_t first = 0;
        while (isfinite(n.narrow[first]))
            first++;
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "%s: the value %g is too large for an f32 iteration", function,
                        n.wide[first]);
    }
    *out = *matrix;
    out->type = WF_TYPE_F32;
    out->values = n.narrow;
    return WF_SUCCESS;
}

/* ---------------------------------------------------------------------------------------- pairs */

typedef struct pairing {
    const double *from;
    double by;
    const wfi_pair *pairs;
    double *to;
    uint64_t count;
} pairing;

wfi_pair wfi_cg_split(double value)
{
    const float high = (float)value;
    return (wfi_pair){high, (float)(value - high)};
}

static void split_part(void *user, uint64_t at, uint64_t bytes, void *to)
{
    const pairing *p = user;
    const double *from = p->from + at / sizeof(wfi_pair);
    wfi_pair *pairs = to;
    for (uint64_t i = 0; i < bytes / sizeof *pairs; i++)
        pairs[i] = wfi_cg_split(from[i] / p->by);
}

wf_result wfi_cg_write_pairs(wf_buffer *buffer, uint64_t offset, const double *numbers,
                             uint64_t count, double by)
{
    pairing p = {.from = numbers, .by = by};
    const wfi_maker maker = {split_part, &p, PART * (uint64_t)sizeof(wfi_pair)};
    return wfi_buffer_make(buffer, offset, count * sizeof(wfi_pair), &maker);
}

static void join_part(void *user, uint32_t part)
{
    const pairing *p = user;
    const uint64_t end = end_of(p->count, part);
    for (uint64_t i = part * (uint64_t)PART; i < end; i++)
        p->to[i] = ((double)p->pairs[i].high + p->pairs[i].low) * p->by;
}

wf_result wfi_cg_read_pairs(wf_buffer *buffer, uint32_t count, double by, double *numbers)
{
    const uint64_t bytes = count * (uint64_t)sizeof(wfi_pair);
    wfi_pair *pairs = wfi_malloc((size_t)bytes);
    if (!pairs)
        return wfi_no_memory(&buffer->device->log);
    const wf_result result = wf_buffer_read(buffer, 0, pairs, bytes);
    pairing p = {.by = by, .pairs = pairs, .to = numbers, .count = count};
    if (result == WF_SUCCESS)
        wfi_share(buffer->device, parts_of(count), join_part, &p);
    wfi_free(pairs);
    return result;
}
