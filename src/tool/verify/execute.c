#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/verify/verify.h"

#define GUARD 256 /* bytes behind a binding */

static uint64_t alignment_of(const wf_caps *caps)
{
    uint64_t unit = caps->storage_alignment > 16 ? caps->storage_alignment : 16;
    return caps->texel_alignment > unit ? caps->texel_alignment : unit;
}

bool wfi_verify_bind(wfi_verifier *v, wfi_verify_execution *e, uint32_t index, uint64_t bytes,
                     const wfi_verify_places *places, void **data)
{
    wfi_verify_binding *b = &e->items[index];
    b->offset = wfi_draw_below(v, 3) * alignment_of(v->session->caps);
    b->bytes = (bytes + 3) / 4 * 4;
    b->whole = b->offset + b->bytes + GUARD;
    b->before = malloc((size_t)b->whole);
    b->after = malloc((size_t)b->whole);
    if (places)
        b->places = *places;
    if (!b->before || !b->after)
        return false;
    memset(b->before, 0xff, (size_t)b->whole);
    *data = b->before + b->offset;
    return true;
}

/* The first byte that is not the result's and changed; b->whole: there is none. Takes the results
 * into `before`'s copy, which is compared with what is there. */
static wf_result find_touched(const wfi_verify_binding *b, uint64_t *at)
{
    const wfi_verify_places *p = &b->places;
    unsigned char *allowed = malloc((size_t)b->whole);
    if (!allowed)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(allowed, b->before, (size_t)b->whole);
    for (uint64_t i = 0; p->size && i < p->count[0]; i++)
        for (uint64_t j = 0; j < p->count[1]; j++)
            for (uint64_t k = 0; k < p->count[2]; k++) {
                const uint64_t place =
                    p->first + i * p->stride[0] + j * p->stride[1] + k * p->stride[2];
                memcpy(allowed + b->offset + place * p->size,
                       b->after + b->offset + place * p->size, (size_t)p->size);
            }
    for (*at = 0; *at < b->whole && allowed[*at] == b->after[*at]; ++*at)
        ;
    free(allowed);
    return WF_SUCCESS;
}

static wf_result look_around(wfi_verifier *v, const wfi_verify_execution *e)
{
    wf_result result = WF_SUCCESS;
    for (uint32_t i = 0; i < e->count && result == WF_SUCCESS; i++) {
        const wfi_verify_binding *b = &e->items[i];
        uint64_t at = 0;
        if (!b->buffer)
            continue;
        result = find_touched(b, &at);
        if (result == WF_SUCCESS && at < b->whole)
            wfi_verify_fail(
                v,
                "byte %lld of binding %u, of %llu bytes, was changed, which is none of the result",
                (long long)at - (long long)b->offset, i, (unsigned long long)b->bytes);
    }
    return result;
}

static wf_result run(wfi_verify_execution *e)
{
    wf_bindings bindings = {.size = sizeof bindings, .workspace = {.buffer = e->workspace}};
    wf_result result = WF_SUCCESS;
    memcpy(bindings.extent, e->extent, sizeof bindings.extent);
    for (uint32_t i = 0; i < e->count && result == WF_SUCCESS; i++) {
        const wfi_verify_binding *b = &e->items[i];
        if (!b->buffer)
            continue;
        bindings.items[i] =
            (wf_binding){.buffer = b->buffer, .offset = b->offset, .bytes = b->bytes};
        result = wf_buffer_write(b->buffer, 0, b->before, b->whole);
    }
    if (result == WF_SUCCESS)
        result = wf_plan_run(e->plan, &bindings);
    for (uint32_t i = 0; i < e->count && result == WF_SUCCESS; i++)
        if (e->items[i].buffer)
            result = wf_buffer_read(e->items[i].buffer, 0, e->items[i].after, e->items[i].whole);
    return result;
}

/* Runs it once more; the only binding that is written is `index`. */
static wf_result run_again(wfi_verifier *v, wfi_verify_execution *e, uint32_t index)
{
    const wfi_verify_binding *b = &e->items[index];
    unsigned char *kept = malloc((size_t)b->whole);
    if (!kept)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(kept, b->after, (size_t)b->whole);
    const wf_result result = run(e);
    if (result == WF_SUCCESS && memcmp(kept, b->after, (size_t)b->whole) != 0)
        wfi_verify_fail(v, "a second execution with the same inputs gave other bits");
    free(kept);
    return result;
}

static void note_plan(wfi_verifier *v, const wf_plan *plan)
{
    wfi_verdict *out = v->verdict;
    out->plan.size = sizeof out->plan;
    out->has_plan = wf_plan_describe(plan, &out->plan) == WF_SUCCESS;
    for (uint32_t i = 0; i < wf_plan_kernel_count(plan) && out->kernel_count < WFI_VERDICT_KERNELS;
         i++) {
        wf_plan_kernel kernel = {.size = sizeof kernel};
        if (wf_plan_describe_kernel(plan, i, &kernel) != WF_SUCCESS || kernel.dispatches == 0)
            continue;
        out->kernels[out->kernel_count].name = kernel.name;
        out->kernels[out->kernel_count++].hash = kernel.info.spirv_hash;
    }
}

wf_result wfi_verify_execute(wfi_verifier *v, wfi_verify_execution *e)
{
    wf_device *device = v->session->device;
    const uint64_t workspace = wf_plan_workspace(e->plan);
    wf_result result = WF_SUCCESS;
    note_plan(v, e->plan);
    wfi_verify_at(v);
    e->count = WF_MAX_BINDINGS;
    for (uint32_t i = 0; i < e->count && result == WF_SUCCESS; i++)
        if (e->items[i].whole)
            result =
                wf_buffer_create(device, e->items[i].whole, WF_MEMORY_DEVICE, &e->items[i].buffer);
    if (result == WF_SUCCESS && workspace)
        result = wf_buffer_create(device, workspace, WF_MEMORY_DEVICE, &e->workspace);
    if (result == WF_SUCCESS && workspace)
        result = wf_buffer_fill(e->workspace, 0, workspace / 4 * 4, UINT32_MAX);
    if (result == WF_SUCCESS)
        result = run(e);
    const bool again = e->repeats && wfi_draw_chance(v, 50);
    for (uint32_t i = 0; i < e->count && again && result == WF_SUCCESS; i++)
        if (e->items[i].buffer && e->items[i].places.size)
            result = run_again(v, e, i);
    return result == WF_SUCCESS ? look_around(v, e) : result;
}

void wfi_verify_close(wfi_verify_execution *e)
{
    wf_plan_destroy(&e->plan);
    wf_buffer_destroy(&e->workspace);
    for (uint32_t i = 0; i < WF_MAX_BINDINGS; i++) {
        wf_buffer_destroy(&e->items[i].buffer);
        free(e->items[i].before);
        free(e->items[i].after);
    }
}

void wfi_verify_checked(wfi_verifier *v, const char *what)
{
    const wf_check *c = &v->verdict->check;
    if (c->error_over_bound <= 1)
        return;
    v->verdict->status = WFI_STATUS_FAILED;
    snprintf(v->verdict->reason, sizeof v->verdict->reason,
             "%llu of %llu %s are wrong, the worst by %.3g times its error bound",
             (unsigned long long)c->wrong, (unsigned long long)c->total, what, c->error_over_bound);
}

void wfi_verify_place(wfi_verifier *v, uint64_t mismatch, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(v->verdict->places[mismatch], sizeof v->verdict->places[0], format, args);
    va_end(args);
}
