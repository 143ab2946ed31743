/* Recording a plan's steps, in pieces where a dispatch would take too long, and its upload. */
#include <stdatomic.h>
#include <string.h>

#include "core/architectures.h"
#include "core/command.h"
#include "core/params.h"
#include "plan/object.h"

/* ------------------------------------------------------------------------------------ duration */

#define UNIT_FLOPS 25e9 /* a rate that a compute unit reaches with ordinary code */
#define UNIT_BYTES 4e9
#define SCALE_MOST 1e3

/* The time by the problem's least work and the rates that devices of this type reach, without what
 * was learned. */
double wfi_plan_guessed_seconds(const wf_plan *plan)
{
    const wf_caps *caps = &plan->device->caps;
    const wfi_family *family = plan->choice.family;
    const double units = wfi_units_of(caps);
    const double slow = plan->problem.type == WF_TYPE_F64 ? 16 : 1;
    return family->flops(&plan->problem) * slow / (units * UNIT_FLOPS) +
           family->least_bytes(&plan->problem) / (units * UNIT_BYTES);
}

/* 0: nothing ran yet. */
static double known_slowness(wf_device *device)
{
    const uint64_t bits = atomic_load(&device->slowness_bits);
    double slowness;
    memcpy(&slowness, &bits, sizeof slowness);
    return slowness;
}

double wfi_plan_expected_seconds(const wf_plan *plan)
{
    const double slowness = known_slowness(plan->device);
    return wfi_plan_guessed_seconds(plan) * (slowness > 0 ? slowness : 1);
}

/* Takes a measured time into account: the mean of it and what was known. */
void wfi_plan_learn(wf_plan *plan, double seconds)
{
    const double guess = wfi_plan_guessed_seconds(plan);
    wf_device *device = plan->device;
    if (!(guess > 0) || !(seconds > 0) || !(device->dispatch_seconds > 0))
        return;
    double ratio = seconds / guess;
    ratio = ratio > SCALE_MOST ? SCALE_MOST : ratio < 1 / SCALE_MOST ? 1 / SCALE_MOST : ratio;
    const double before = known_slowness(device), now = before > 0 ? (before + ratio) / 2 : ratio;
    uint64_t bits;
    memcpy(&bits, &now, sizeof bits);
    atomic_store(&device->slowness_bits, bits);
}

/* A device may reach a hundredth of what its type is guessed to reach, so the first execution is
 * taken for long from a hundredth of the bound on. */
bool wfi_plan_may_be_long(const wf_plan *plan)
{
    return wfi_plan_guessed_seconds(plan) > plan->submit_seconds / 100;
}

static double all_groups(const wfi_step *step)
{
    return (double)step->groups[0] * step->groups[1] * step->groups[2];
}

/* Work-groups of steps first … end - 1. */
static double groups_between(const wf_plan *plan, uint32_t first, uint32_t end)
{
    double groups = 0;
    for (uint32_t i = first; i < end; i++)
        groups += all_groups(&plan->steps[i]);
    return groups;
}

double wfi_plan_fraction(const wf_plan *plan, uint32_t first, uint32_t end)
{
    return groups_between(plan, first, end) / groups_between(plan, 0, plan->step_count);
}

uint32_t wfi_plan_steps_at_once(const wf_plan *plan, uint32_t first)
{
    const double all = groups_between(plan, 0, plan->step_count);
    double groups = 0;
    uint32_t end = first;
    for (; end < plan->step_count && end - first < WFI_MOST_STEPS; end++) {
        groups += all_groups(&plan->steps[end]);
        if (end > first && groups * plan->seconds > plan->submit_seconds * all)
            break;
    }
    return end;
}

/* The number of dispatches that the step is cut into: it takes its work-groups' fraction of the
 * time. */
static uint32_t pieces_of(const wf_plan *plan, const wfi_step *step, int *axis)
{
    *axis = step->groups[2] > 1 ? 2 : step->groups[1] > 1 ? 1 : 0;
    if (!step->divisible || !(plan->device->dispatch_seconds > 0))
        return 1;
    const double fraction = all_groups(step) / groups_between(plan, 0, plan->step_count);
    const double pieces =
        wfi_plan_expected_seconds(plan) * fraction / plan->device->dispatch_seconds;
    const uint32_t most = step->groups[*axis];
    return pieces >= most ? most : pieces > 1 ? (uint32_t)pieces + 1 : 1;
}

static void dispatch(wf_plan *plan, VkCommandBuffer command_buffer, const wfi_step *step)
{
    const struct VolkDeviceTable *fn = &plan->device->fn;
    int axis;
    if (plan->sizes) {
        fn->vkCmdDispatchIndirect(command_buffer, plan->sizes,
                                  plan->sizes_offset + (uint64_t)(step - plan->steps) *
                                                           sizeof(VkDispatchIndirectCommand));
        return;
    }
    const uint32_t pieces = pieces_of(plan, step, &axis);
    if (pieces <= 1) {
        fn->vkCmdDispatch(command_buffer, step->groups[0], step->groups[1], step->groups[2]);
        return;
    }
    for (uint32_t i = 0; i < pieces; i++) {
        uint32_t base[3] = {0, 0, 0}, count[3];
        memcpy(count, step->groups, sizeof count);
        base[axis] = (uint32_t)((uint64_t)step->groups[axis] * i / pieces);
        count[axis] = (uint32_t)((uint64_t)step->groups[axis] * (i + 1) / pieces) - base[axis];
        fn->vkCmdDispatchBase(command_buffer, base[0], base[1], base[2], count[0], count[1],
                              count[2]);
    }
}

static void record_step(wf_plan *plan, VkCommandBuffer command_buffer, uint32_t index,
                        const wfi_bound *all, uint32_t sequence)
{
    wf_device *device = plan->device;
    const wfi_step *step = &plan->steps[index];
    const wfi_pipeline *pipeline = &plan->pipelines[step->pipeline];
    if (step->barrier)
        wfi_barrier_compute(device, command_buffer);
    device->fn.vkCmdBindPipeline(command_buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->vk);
    if (plan->sets) {
        device->fn.vkCmdBindDescriptorSets(command_buffer, VK_PIPELINE_BIND_POINT_COMPUTE,
                                           pipeline->layout, 0, 1, &plan->sets[index], 0, NULL);
    } else {
        wfi_descriptor infos[WF_MAX_BINDINGS];
        VkWriteDescriptorSet writes[WF_MAX_BINDINGS];
        wfi_plan_step_slots(plan, step, all, infos);
        wfi_plan_fill_writes(step, infos, NULL, VK_NULL_HANDLE, writes);
        device->fn.vkCmdPushDescriptorSetKHR(command_buffer, VK_PIPELINE_BIND_POINT_COMPUTE,
                                             pipeline->layout, 0, step->slot_count, writes);
    }
    if (step->push_bytes) {
        unsigned char push[WFI_MAX_PUSH];
        memcpy(push, step->push, step->push_bytes);
        if (step->takes_sequence)
            memcpy(push, &sequence, sizeof sequence);
        if (step->parity_at) {
            const uint32_t parity = plan->recordings & 1;
            memcpy(push + step->parity_at, &parity, sizeof parity);
        }
        device->fn.vkCmdPushConstants(command_buffer, pipeline->layout, VK_SHADER_STAGE_COMPUTE_BIT,
                                      0, step->push_bytes, push);
    }
    if (plan->step_labels)
        wfi_label_begin(device, command_buffer, plan->step_labels[step->pipeline]);
    dispatch(plan, command_buffer, step);
    if (plan->step_labels)
        wfi_label_end(device, command_buffer);
}

static wf_result recordable(wf_plan *plan, const wfi_log *log)
{
    if (!plan->device->vk)
        return wfi_fail(log, WF_ERROR_DEVICE_CLOSED,
                        "wf_plan_record: the device of the plan was destroyed");
    wf_result result = wfi_plan_collect(plan);
    if (result == WF_SUCCESS && plan->wants_upload)
        return wfi_fail(log, WF_NOT_READY,
                        "wf_plan_record: wf_plan_record_upload must be recorded first");
    return result;
}

/* Adds a text without its numbers, which change from frame to frame, to a hash. */
static uint32_t hash_of(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text; text++)
        if (*text < '0' || *text > '9')
            hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

static void tell_once(void *user, wf_log_level level, const char *text)
{
    wf_plan *plan = user;
    const uint32_t hash = hash_of(text);
    for (uint32_t i = 0; i < plan->told_count; i++)
        if (plan->told[i] == hash)
            return;
    if (plan->told_count == WFI_TOLD)
        return;
    plan->told[plan->told_count++] = hash;
    wfi_log_write(&plan->device->log, level, "%s", text);
}

/* Logs why an application's recording failed, each cause once. */
static wfi_log log_of(wf_plan *plan)
{
    return (wfi_log){tell_once, plan};
}

wf_result wfi_plan_begin_recording(wf_plan *plan, const wfi_log *log, const wf_bindings *bindings,
                                   wf_bindings *read)
{
    if (!bindings)
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT, "wf_plan_record: bad parameters");
    const wf_result result = recordable(plan, log);
    return result == WF_SUCCESS
               ? wfi_params_read(log, "wf_plan_record", bindings, read, sizeof *read)
               : result;
}

wf_result wfi_plan_record_steps(wf_plan *plan, VkCommandBuffer command_buffer, wf_arena *arena,
                                const wf_bindings *bindings, uint32_t sequence, uint32_t first,
                                uint32_t end)
{
    wfi_bound all[WF_MAX_BINDINGS + 1] = {{0}};
    wf_bindings read;
    const wfi_log log = arena ? log_of(plan) : plan->device->log;
    bool entered = false;
    if (!command_buffer)
        return wfi_fail(&log, WF_ERROR_INVALID_ARGUMENT, "wf_plan_record: bad parameters");
    wf_result result = wfi_plan_begin_recording(plan, &log, bindings, &read);
    if (result == WF_SUCCESS)
        result = wfi_plan_enter_sizes(plan, &log, read.extent, &entered);
    const uint32_t last = end < plan->step_count ? end : plan->step_count;
    if (result == WF_SUCCESS)
        result = wfi_plan_resolve(plan, &log, &read, all);
    if (result == WF_SUCCESS)
        result = wfi_plan_prepare_sets(plan, arena, &log, all, first, last);
    if (result == WF_SUCCESS)
        wfi_label_begin(plan->device, command_buffer, plan->label);
    /* What wavefit submits itself has barriers where it is submitted. */
    if (result == WF_SUCCESS && arena && plan->writes_own)
        wfi_barrier_compute(plan->device, command_buffer);
    for (uint32_t i = first; result == WF_SUCCESS && i < last; i++)
        record_step(plan, command_buffer, i, all, sequence);
    if (result == WF_SUCCESS)
        wfi_label_end(plan->device, command_buffer);
    if (end >= plan->step_count) /* submissions of an execution in pieces agree */
        plan->recordings++;
    wfi_plan_leave_sizes(plan, entered);
    return result;
}

wf_result wfi_plan_record_kept(wf_plan *plan, VkCommandBuffer command_buffer, wf_arena *arena,
                               const wfi_bound *all)
{
    wf_result result =
        wfi_plan_prepare_sets(plan, arena, &plan->device->log, all, 0, plan->step_count);
    if (result != WF_SUCCESS)
        return result;
    wfi_label_begin(plan->device, command_buffer, plan->label);
    for (uint32_t i = 0; i < plan->step_count; i++)
        record_step(plan, command_buffer, i, all, 0);
    wfi_label_end(plan->device, command_buffer);
    return WF_SUCCESS;
}

void wfi_plan_set_indirect(wf_plan *plan, const wf_buffer *sizes, uint64_t offset)
{
    plan->sizes = sizes ? sizes->vk : VK_NULL_HANDLE;
    plan->sizes_offset = offset;
}

void wfi_plan_set_parity(wf_plan *plan, uint32_t parity)
{
    plan->recordings = parity & 1;
}

wf_result wfi_plan_record_sequence(wf_plan *plan, VkCommandBuffer command_buffer,
                                   const wf_bindings *bindings, uint32_t sequence)
{
    return wfi_plan_record_steps(plan, command_buffer, NULL, bindings, sequence, 0, UINT32_MAX);
}

wf_result wfi_plan_record(wf_plan *plan, VkCommandBuffer command_buffer,
                          const wf_bindings *bindings)
{
    return wfi_plan_record_sequence(plan, command_buffer, bindings, 0);
}

wf_result wf_plan_record(wf_plan *plan, VkCommandBuffer command_buffer, wf_arena *arena,
                         const wf_bindings *bindings)
{
    if (!plan)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_log log = log_of(plan);
    if (!arena)
        return wfi_fail(&log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_plan_record: an arena must be given (wf_arena_create)");
    if (wfi_arena_device(arena) != plan->device)
        return wfi_fail(&log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_plan_record: the arena is of another device");
    return wfi_plan_record_steps(plan, command_buffer, arena, bindings, 0, 0, UINT32_MAX);
}

bool wf_plan_needs_upload(const wf_plan *plan)
{
    return plan->wants_upload;
}

wf_result wf_plan_record_upload(wf_plan *plan, VkCommandBuffer command_buffer)
{
    if (!plan || !command_buffer)
        return wfi_fail(plan ? &plan->device->log : NULL, WF_ERROR_INVALID_ARGUMENT,
                        "wf_plan_record_upload: bad parameters");
    wf_device *device = plan->device;
    wf_result result = wfi_device_usable(device, "wf_plan_record_upload");
    if (result != WF_SUCCESS || !plan->wants_upload)
        return result;
    for (uint32_t i = 0; i < plan->own_count; i++)
        if (plan->staging[i])
            wfi_record_copy(device, command_buffer, plan->staging[i], 0, plan->own[i], 0,
                            plan->staging[i]->bytes);
        else if (!plan->own[i]->mapped && !(plan->first && plan->own_uses[i] == WFI_OWN_READ))
            device->fn.vkCmdFillBuffer(command_buffer, plan->own[i]->vk, 0, plan->own[i]->bytes, 0);
    wfi_barrier(device, command_buffer);
    plan->wants_upload = false;
    return WF_SUCCESS;
}

void wf_plan_trim(wf_plan *plan)
{
    if (plan->wants_upload)
        return;
    for (uint32_t i = 0; i < plan->own_count; i++)
        wf_buffer_destroy(&plan->staging[i]);
}
