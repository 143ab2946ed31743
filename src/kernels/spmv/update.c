/* New values under the same pattern: for each buffer of values a plan of its own moves the caller's
 * array into it, and the pattern is not looked at again. */
#include <string.h>

#include "core/command.h"
#include "core/device.h"
#include "core/heap.h"
#include "core/params.h"
#include "plan/fixed.h"
#include "plan/dispatch_size.h"
#include "kernels/spmv/push.h"
#include "kernels/spmv/spmv.h"
#include "spmv/spmv_ids.h"
#include "wfi_shaders.h"

enum { FROM, TO, MAP };

typedef struct update_job {
    wf_type type;
    uint64_t values_bytes, count;
    uint32_t begin, end; /* the caller's entries that are needed */
} update_job;

/* As in spmv_update.comp. */
typedef struct update_push {
    uint32_t count; /* places of the buffer */
    uint32_t base;  /* entries between the binding's begin and the first one */
} update_push;

_Static_assert(sizeof(update_push) == 8, "members lie as in spmv_update.comp");

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const update_job *job = params;
    const uint64_t size = wf_type_size(job->type), align = point->caps->storage_alignment;
    const uint64_t begin = job->begin * size, start = begin - begin % align;
    const uint64_t from_bytes = (job->end * size + 3) / 4 * 4, map_bytes = job->count * 4;
    const update_push push = {(uint32_t)job->count, (uint32_t)((begin - start) / size)};
    const wfi_binding_spec bindings[] = {
        [FROM] = {"values", WFI_READS, from_bytes},
        [TO] = {"the plan's values", WFI_WRITES, job->values_bytes},
        [MAP] = {"the plan's map", WFI_READS, map_bytes},
    };
    const uint64_t words = job->type == WF_TYPE_F16 ? (job->count + 1) / 2 : job->count;
    const uint64_t a_group = SPMV_UPDATE_WORDS * WFI_FIXED_GROUP;
    wfi_step step = {.slots = {{WFI_SLOT_BINDING, FROM, start, from_bytes - start}},
                     .push_bytes = sizeof push};
    memcpy(step.push, &push, sizeof push);
    wfi_plan_set_writes_own(plan); /* what products recorded before may still read */
    wf_result result = wfi_dispatch_size(plan, (words + a_group - 1) / a_group, step.groups);
    return result == WF_SUCCESS ? wfi_fixed_build(plan, point, bindings, 3, &step) : result;
}

static const wfi_variant row = {
    .name = "spmv_update",
    .modules = WFI_MODULES_spmv_update,
    .storage_buffers = 3,
    .push_bytes = sizeof(update_push),
    .group_size = wfi_fixed_group,
    .build = build,
};

/* The entry of each place, counted from `begin`; a transposed matrix takes entries from anywhere in
 * the caller's array. */
static uint32_t *make_map(const wfi_spmv_job *job, const uint32_t *places, uint64_t count,
                          uint32_t begin)
{
    uint32_t *map = wfi_malloc((size_t)count * sizeof *map);
    for (uint64_t i = 0; map && i < count; i++) {
        const uint32_t entry = places ? places[i] : begin + (uint32_t)i;
        if (entry == UINT32_MAX)
            map[i] = UINT32_MAX;
        else
            map[i] = job->sources ? job->sources[entry] : entry - begin;
    }
    return map;
}

wf_result wfi_spmv_add_update(wf_plan *plan, const wfi_spmv_job *job, const wfi_slot *values,
                              uint32_t map, uint64_t count, uint32_t begin, uint32_t end)
{
    wfi_spmv_kept *kept = job->kept;
    wf_device *device = wfi_plan_device(plan);
    const bool moved = job->sources != NULL;
    const update_job update = {job->matrix.type, values->bytes, count, moved ? 0 : begin,
                               moved ? kept->entries : end};
    const wfi_problem problem = {.family = WF_FAMILY_SPMV, .type = job->matrix.type};
    wfi_spmv_update *updates =
        wfi_realloc(kept->updates, (kept->update_count + (size_t)1) * sizeof *updates);
    if (!updates)
        return wfi_no_memory(&device->log);
    kept->updates = updates;
    wfi_spmv_update *added = &updates[kept->update_count];
    *added = (wfi_spmv_update){.values = wfi_plan_own(plan, values->index),
                               .map = wfi_plan_own(plan, map)};
    wf_result result =
        wfi_fixed_plan(device, wfi_plan_family(plan), &problem, &row, 0, &update, &added->plan);
    kept->update_count += result == WF_SUCCESS;
    return result;
}

wf_result wfi_spmv_map(wf_plan *plan, const wfi_spmv_job *job, const wfi_slot *values,
                       const uint32_t *places, uint64_t count, uint32_t begin, uint32_t end)
{
    uint32_t index = 0;
    uint32_t *map = make_map(job, places, count, begin);
    if (!map)
        return wfi_no_memory(&wfi_plan_device(plan)->log);
    wf_result result = wfi_plan_add_own(plan, map, count * 4, &index);
    wfi_free(map);
    return result == WF_SUCCESS ? wfi_spmv_add_update(plan, job, values, index, count, begin, end)
                                : result;
}

void wfi_spmv_kept_forget(wfi_spmv_kept *kept)
{
    for (uint32_t i = 0; i < kept->update_count; i++)
        wf_plan_destroy(&kept->updates[i].plan);
    kept->update_count = 0;
    kept->partials = 0;
    kept->analysis.matrix_bytes = 0;
    kept->places = 0;
}

void wfi_spmv_kept_destroy(void *data)
{
    wfi_spmv_kept *kept = data;
    wfi_spmv_kept_forget(kept);
    wfi_free(kept->updates);
    wfi_free(kept);
}

/* ----------------------------------------------------------------------------------- public API */

static wf_result check(wf_plan *plan, const void *values, wfi_spmv_kept **kept)
{
    if (!plan || !values)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_log *log = &wfi_plan_device(plan)->log;
    *kept = wfi_plan_kept(plan);
    if (!*kept)
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT, "wf_spmv_update: not an spmv plan");
    if (!(*kept)->updatable)
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_spmv_update: the plan was not made with updatable values");
    return WF_SUCCESS;
}

/* arena NULL: the plans use descriptor sets of their own, as in wfi_plan_record. */
static wf_result record_update(wf_device *device, const wfi_spmv_kept *kept,
                               VkCommandBuffer command_buffer, wf_arena *arena,
                               const wf_binding *values)
{
    wf_result result = WF_SUCCESS;
    for (uint32_t i = 0; i < kept->update_count && result == WF_SUCCESS; i++) {
        const wfi_spmv_update *u = &kept->updates[i];
        const wf_bindings bindings = {
            .size = sizeof bindings,
            .items = {[FROM] = *values, [TO] = {.buffer = u->values}, [MAP] = {.buffer = u->map}}};
        result = arena ? wf_plan_record(u->plan, command_buffer, arena, &bindings)
                       : wfi_plan_record(u->plan, command_buffer, &bindings);
    }
    if (result == WF_SUCCESS)
        wfi_barrier_compute(device, command_buffer);
    return result;
}

wf_result wf_spmv_record_update(wf_plan *plan, VkCommandBuffer command_buffer, wf_arena *arena,
                                const wf_binding *values)
{
    wfi_spmv_kept *kept = NULL;
    wf_result result = check(plan, values, &kept);
    if (result != WF_SUCCESS)
        return result;
    wf_device *device = wfi_plan_device(plan);
    if (!command_buffer || !arena)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_spmv_record_update: a command buffer and an arena must be given");
    result = wfi_device_usable(device, "wf_spmv_record_update");
    /* The upload would bring the first values after the new ones. */
    if (result == WF_SUCCESS && wf_plan_needs_upload(plan))
        return wfi_fail(&device->log, WF_NOT_READY,
                        "wf_spmv_record_update: wf_plan_record_upload must be recorded first");
    return result == WF_SUCCESS ? record_update(device, kept, command_buffer, arena, values)
                                : result;
}

typedef struct host_update {
    wf_device *device;
    const wfi_spmv_kept *kept;
    wf_binding values;
} host_update;

static wf_result record(void *user, VkCommandBuffer command_buffer)
{
    const host_update *u = user;
    return record_update(u->device, u->kept, command_buffer, NULL, &u->values);
}

wf_result wf_spmv_update(wf_plan *plan, const void *values)
{
    wfi_spmv_kept *kept = NULL;
    wf_buffer *buffer = NULL;
    wf_result result = check(plan, values, &kept);
    if (result != WF_SUCCESS || kept->entries == 0)
        return result;
    wf_device *device = wfi_plan_device(plan);
    const uint64_t bytes = kept->entries * (uint64_t)wf_type_size(kept->type);
    result = wfi_plan_upload(plan);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, (bytes + 3) / 4 * 4, WF_MEMORY_DEVICE, &buffer);
    if (result == WF_SUCCESS)
        result = wf_buffer_write(buffer, 0, values, bytes);
    host_update update = {device, kept, {.buffer = buffer}};
    for (uint32_t i = 0; i < kept->update_count; i++)
        wfi_plan_forget_sets(kept->updates[i].plan);
    if (result == WF_SUCCESS)
        result = wfi_run(device, record, &update);
    wf_buffer_destroy(&buffer);
    return result;
}

wf_result wf_spmv_scale(wf_plan *plan, double alpha, double beta)
{
    wfi_spmv_kept *kept = plan ? wfi_plan_kept(plan) : NULL;
    if (!kept)
        return WF_ERROR_INVALID_ARGUMENT;
    const wf_device *device = wfi_plan_device(plan);
    if (wfi_device_usable(device, "wf_spmv_scale") != WF_SUCCESS)
        return WF_ERROR_DEVICE_CLOSED;
    if (!wfi_spmv_scale_fits(kept->type, alpha, beta))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_spmv_scale: alpha and beta must be finite in the type of x and y");
    if (kept->unscaled && (alpha < 1 || alpha > 1 || beta < 0 || beta > 0))
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "wf_spmv_scale: the plan is compiled for alpha 1 and beta 0; make it with "
                        "other factors, and then set any");
    for (uint32_t i = 0; i < wfi_plan_step_count(plan); i++)
        wfi_spmv_put_scale(kept->type, alpha, beta, wfi_plan_step(plan, i)->push);
    return WF_SUCCESS;
}

wf_result wf_spmv_analysis_of(const wf_plan *plan, wf_spmv_analysis *analysis)
{
    const wfi_spmv_kept *kept = plan ? wfi_plan_kept(plan) : NULL;
    if (!kept || !analysis)
        return WF_ERROR_INVALID_ARGUMENT;
    if (wfi_device_usable(wfi_plan_device(plan), "wf_spmv_analysis_of") != WF_SUCCESS)
        return WF_ERROR_DEVICE_CLOSED;
    return wfi_params_write(analysis, &kept->analysis, sizeof kept->analysis)
               ? WF_SUCCESS
               : WF_ERROR_INVALID_ARGUMENT;
}
