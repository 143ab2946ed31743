/* Executions that are submitted without waiting for them (wf_queue). */

#include "core/command.h"
#include "core/heap.h"
#include "core/names.h"
#include "core/queue.h"
#include "plan/object.h"

/* Submissions that may be under way together. Until all but one are, each execution is submitted
 * at once; then executions gather in the last one, so that a host that is faster than the device
 * submits less often. */
#define SLOTS 4
#define MOST_GATHERED 64
#define ASK_NANOSECONDS 20000000u /* how often a wait asks wf_device_params.cancelled */

typedef struct slot {
    VkCommandBuffer command_buffer;
    VkFence fence;
    wf_arena *arena;
    uint64_t last; /* number of its last execution */
    VkEvent event; /* made at the first mark; set behind the execution `mark`, 0: none */
    uint64_t mark;
} slot;

struct wf_queue {
    wfi_object object;
    wf_device *device;
    wfi_side_queue on; /* the device's own or one beside it */
    VkCommandPool pool;
    slot slots[SLOTS];
    uint64_t submitted, waited; /* submissions so far; the n-th uses slot n % SLOTS */
    uint64_t given, ended;      /* executions */
    bool recording;             /* slot `submitted` has a command buffer that is begun */
    bool held;                  /* wf_queue_hold, wf_queue_prepare */
    bool prepares;              /* wf_queue_prepare: nothing but wf_queue_submit and waits submit */
    bool beside;                /* wf_queue_beside: of the next execution */
    bool no_events;             /* the driver makes none: marks are submissions */
    uint32_t gathered, gathered_steps;
    double gathered_seconds;
};

static slot *slot_of(wf_queue *q, uint64_t submission)
{
    return &q->slots[submission % SLOTS];
}

static wf_result make_slots(wf_queue *q)
{
    wf_device *device = q->device;
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = q->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    wf_result result = WF_SUCCESS;
    for (int i = 0; i < SLOTS && result == WF_SUCCESS; i++) {
        slot *s = &q->slots[i];
        VkResult vk =
            device->fn.vkAllocateCommandBuffers(device->vk, &allocate, &s->command_buffer);
        if (vk >= VK_SUCCESS) {
            wfi_name(device, VK_OBJECT_TYPE_COMMAND_BUFFER, (uint64_t)(uintptr_t)s->command_buffer,
                     "queue: commands %d", i);
            vk =
                WFI_MADE(device->fn.vkCreateFence(device->vk, &fence, device->allocator, &s->fence),
                         &s->fence);
            wfi_name(device, VK_OBJECT_TYPE_FENCE, WFI_HANDLE(s->fence), "queue: fence %d", i);
        }
        result = wfi_check_vk(&device->log, vk, "making command buffers");
        if (result == WF_SUCCESS)
            result = wf_arena_create(device, &s->arena);
    }
    return result;
}

/* Waits for what is under way, whatever becomes of it: a fence's signal covers what was submitted
 * before it. */
static void settle(wf_queue *q)
{
    if (q->waited == q->submitted)
        return;
    wfi_mutex_lock(&q->device->queue_lock);
    wfi_settle(q->device, slot_of(q, q->submitted - 1)->fence);
    wfi_mutex_unlock(&q->device->queue_lock);
    q->waited = q->submitted;
}

/* The work has ended then. */
static void close_queue(void *owner)
{
    wf_queue *q = owner;
    wf_device *device = q->device;
    for (int i = 0; i < SLOTS && !device->keeps; i++) {
        if (q->slots[i].fence)
            device->fn.vkDestroyFence(device->vk, q->slots[i].fence, device->allocator);
        if (q->slots[i].event)
            device->fn.vkDestroyEvent(device->vk, q->slots[i].event, device->allocator);
    }
    if (q->pool && !device->keeps)
        device->fn.vkDestroyCommandPool(device->vk, q->pool, device->allocator);
    for (int i = 0; i < SLOTS; i++) {
        q->slots[i].fence = VK_NULL_HANDLE;
        q->slots[i].event = VK_NULL_HANDLE;
        q->slots[i].mark = 0;
    }
    q->pool = VK_NULL_HANDLE;
    q->waited = q->submitted;
    q->recording = false;
}

static wf_result create(wf_device *device, bool beside, wf_queue **out)
{
    if (!device || !out)
        return wfi_fail(device ? &device->log : NULL, WF_ERROR_INVALID_ARGUMENT,
                        "wf_queue_create: bad parameters");
    wf_result result = wfi_device_usable(device, "wf_queue_create");
    if (result != WF_SUCCESS)
        return result;
    if (!device->queue)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "wf_device_adopt was given no queue: wavefit cannot run anything itself");
    if (beside && !device->kernels_beside)
        return WF_ERROR_UNSUPPORTED; /* no fault of the caller's: nothing is logged */
    wf_queue *q = wfi_calloc(1, sizeof *q);
    if (!q)
        return wfi_no_memory(&device->log);
    q->on = beside ? device->sides[WFI_SIDE_KERNELS]
                   : (wfi_side_queue){device->queue, device->queue_family};
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = q->on.family,
    };
    q->device = device;
    q->no_events = !device->has_events;
    wfi_object_enlist(device, &q->object, close_queue, q);
    result = wfi_check_vk(
        &device->log,
        WFI_MADE(device->fn.vkCreateCommandPool(device->vk, &pool, device->allocator, &q->pool),
                 &q->pool),
        "creating a command pool");
    wfi_name(device, VK_OBJECT_TYPE_COMMAND_POOL, WFI_HANDLE(q->pool), "queue: command pool");
    if (result == WF_SUCCESS)
        result = make_slots(q);
    if (result == WF_SUCCESS)
        *out = q;
    else
        wf_queue_destroy(&q);
    return result;
}

wf_result wf_queue_create(wf_device *device, wf_queue **out)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, create(device, false, out));
}

wf_result wf_queue_create_beside(wf_device *device, wf_queue **out)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, create(device, true, out));
}

static void note_end(wf_queue *q, uint64_t number)
{
    q->ended = number > q->ended ? number : q->ended;
}

/* Takes note of the oldest submission's end. */
static void retire(wf_queue *q)
{
    note_end(q, slot_of(q, q->waited)->last);
    q->waited++;
}

static void look(wf_queue *q)
{
    while (q->waited < q->submitted &&
           q->device->fn.vkGetFenceStatus(q->device->vk, slot_of(q, q->waited)->fence) ==
               VK_SUCCESS)
        retire(q);
}

static void look_at_marks(wf_queue *q)
{
    const wf_device *device = q->device;
    for (uint64_t i = q->waited; i < q->submitted; i++) {
        const slot *s = slot_of(q, i);
        if (s->mark > q->ended && device->fn.vkGetEventStatus(device->vk, s->event) == VK_EVENT_SET)
            note_end(q, s->mark);
    }
}

/* The submission whose mark tells that the execution has ended; NULL: none does before a fence. */
static const slot *marked(wf_queue *q, uint64_t number)
{
    for (uint64_t i = q->waited; i < q->submitted; i++) {
        const slot *s = slot_of(q, i);
        if (s->mark >= number)
            return s;
        if (s->last >= number)
            return NULL;
    }
    return NULL;
}

/* Waits for a submission, the oldest one, or for what is before the mark of any; one that the
 * application no longer waits for goes on. */
static wf_result wait_slot(wf_queue *q, const slot *s, bool for_mark)
{
    wf_device *device = q->device;
    VkResult vk;
    while ((vk = for_mark ? wfi_wait_event(device, s->event, s->fence, ASK_NANOSECONDS)
                          : wfi_wait_for(device, s->fence, ASK_NANOSECONDS)) == VK_TIMEOUT) {
        wf_result result = wfi_device_goes_on(device);
        if (result != WF_SUCCESS)
            return result;
    }
    if (vk < VK_SUCCESS) {
        wfi_mutex_lock(&device->queue_lock);
        wfi_settle(device, s->fence);
        wfi_mutex_unlock(&device->queue_lock);
    }
    if (!for_mark)
        retire(q);
    else if (vk >= VK_SUCCESS)
        note_end(q, s->mark);
    return wfi_check_vk(&device->log, vk,
                        for_mark ? "waiting for an event" : "waiting for a submission");
}

static wf_result wait_oldest(wf_queue *q)
{
    return wait_slot(q, slot_of(q, q->waited), false);
}

/* What is gathered is not executed after a failure. */
static wf_result submit(wf_queue *q)
{
    wf_device *device = q->device;
    slot *s = slot_of(q, q->submitted);
    q->held = q->prepares = false;
    if (!q->gathered)
        return WF_SUCCESS;
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &s->command_buffer,
    };
    q->gathered = q->gathered_steps = 0;
    q->gathered_seconds = 0;
    q->recording = false;
    wfi_barrier_host(device, s->command_buffer);
    wf_result result = wfi_check_vk(&device->log, device->fn.vkEndCommandBuffer(s->command_buffer),
                                    "vkEndCommandBuffer");
    if (result != WF_SUCCESS)
        return result;
    wfi_mutex_lock(&device->queue_lock);
    VkResult vk = device->fn.vkResetFences(device->vk, 1, &s->fence);
    if (vk >= VK_SUCCESS)
        vk = wfi_submit_to(device, q->on.vk, &info, s->fence);
    wfi_mutex_unlock(&device->queue_lock);
    s->last = q->given;
    q->submitted += vk >= VK_SUCCESS;
    return wfi_check_vk(&device->log, vk, "vkQueueSubmit");
}

static wf_result begin(wf_queue *q)
{
    const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    wf_result result = WF_SUCCESS;
    if (q->recording)
        return WF_SUCCESS;
    if (q->submitted - q->waited == SLOTS)
        result = wait_oldest(q);
    slot *s = slot_of(q, q->submitted);
    if (result == WF_SUCCESS && s->mark)
        result = wfi_check_vk(&q->device->log, q->device->fn.vkResetEvent(q->device->vk, s->event),
                              "vkResetEvent");
    if (result == WF_SUCCESS) {
        s->mark = 0;
        result = wf_arena_reset(s->arena);
    }
    if (result == WF_SUCCESS)
        result = wfi_check_vk(&q->device->log,
                              q->device->fn.vkBeginCommandBuffer(s->command_buffer, &info),
                              "beginning a command buffer");
    q->recording = result == WF_SUCCESS;
    return result;
}

/* Whether wf_plan_run would make several submissions, or find out how many by the first. */
static bool goes_in_pieces(const wf_plan *plan)
{
    const bool known = plan->seconds > 0 || !wfi_plan_may_be_long(plan);
    return plan->step_count > 1 && (!known || wfi_plan_steps_at_once(plan, 0) < plan->step_count);
}

static wf_result wait_all(wf_queue *q, uint64_t number)
{
    const bool submitted = number <= q->given - q->gathered;
    wf_result result = q->prepares && submitted ? WF_SUCCESS : submit(q);
    while (result == WF_SUCCESS && q->waited < q->submitted && q->ended < number) {
        const slot *s = marked(q, number);
        result = s ? wait_slot(q, s, true) : wait_oldest(q);
    }
    if (q->waited == q->submitted && !q->gathered)
        q->ended = q->given;
    return result;
}

static wf_result run_now(wf_queue *q, wf_plan *plan, const wf_bindings *bindings)
{
    wf_result result = wait_all(q, UINT64_MAX);
    if (result == WF_SUCCESS)
        result = wf_plan_run(plan, bindings);
    if (result == WF_SUCCESS)
        q->ended = ++q->given;
    return result;
}

static wf_result usable(const wf_queue *q, const wf_plan *plan)
{
    if (plan->device != q->device)
        return wfi_fail(&q->device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_queue_run: the plan is of another device");
    return wfi_device_usable(q->device, "wf_queue_run");
}

static double seconds_of(const wf_plan *plan)
{
    return plan->seconds > 0 ? plan->seconds : wfi_plan_expected_seconds(plan);
}

/* Whether the execution may be in one submission with what is gathered. */
static bool fits(const wf_queue *q, const wf_plan *plan)
{
    return q->gathered_steps + plan->step_count <= WFI_MOST_STEPS &&
           q->gathered_seconds + seconds_of(plan) <= plan->submit_seconds;
}

static wf_result gather(wf_queue *q, wf_plan *plan, const wf_bindings *bindings, bool beside)
{
    wf_result result = fits(q, plan) ? WF_SUCCESS : submit(q);
    if (result == WF_SUCCESS)
        result = begin(q);
    if (result != WF_SUCCESS)
        return result;
    slot *s = slot_of(q, q->submitted);
    if (!beside)
        wfi_barrier(q->device, s->command_buffer);
    result = wf_plan_record(plan, s->command_buffer, s->arena, bindings);
    if (result != WF_SUCCESS)
        return result;
    q->given++;
    q->gathered++;
    q->gathered_steps += plan->step_count;
    q->gathered_seconds += seconds_of(plan);
    look(q);
    const bool room = q->submitted - q->waited < SLOTS - 1 && !q->held;
    const bool full = q->gathered >= MOST_GATHERED && !q->prepares;
    return room || full ? submit(q) : WF_SUCCESS;
}

wf_result wf_queue_run(wf_queue *q, wf_plan *plan, const wf_bindings *bindings, uint64_t *number)
{
    if (!q || !plan)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result result = usable(q, plan);
    if (result != WF_SUCCESS)
        return result;
    const bool now = plan->wants_upload || goes_in_pieces(plan), beside = q->beside;
    q->beside = false;
    if (q->prepares && (now || !fits(q, plan) || q->gathered >= MOST_GATHERED))
        return WF_NOT_READY;
    result = now ? run_now(q, plan, bindings) : gather(q, plan, bindings, beside);
    if (result == WF_SUCCESS && number)
        *number = q->given;
    return result;
}

static wf_result open_of(const wf_queue *q, const char *function)
{
    return q ? wfi_device_usable(q->device, function) : WF_ERROR_INVALID_ARGUMENT;
}

wf_result wf_queue_hold(wf_queue *q)
{
    wf_result result = open_of(q, "wf_queue_hold");
    if (result == WF_SUCCESS)
        q->held = true;
    return result;
}

wf_result wf_queue_prepare(wf_queue *q)
{
    wf_result result = open_of(q, "wf_queue_prepare");
    if (result == WF_SUCCESS)
        result = submit(q);
    if (result == WF_SUCCESS)
        q->held = q->prepares = true;
    return result;
}

wf_result wf_queue_drop(wf_queue *q)
{
    wf_result result = open_of(q, "wf_queue_drop");
    if (result != WF_SUCCESS)
        return result;
    slot *s = slot_of(q, q->submitted);
    if (q->recording) {
        s->mark = 0; /* nothing has set the event */
        result =
            wfi_check_vk(&q->device->log, q->device->fn.vkResetCommandBuffer(s->command_buffer, 0),
                         "vkResetCommandBuffer");
    }
    q->given -= q->gathered;
    q->gathered = q->gathered_steps = 0;
    q->gathered_seconds = 0;
    q->recording = q->held = q->prepares = q->beside = false;
    return result;
}

wf_result wf_queue_beside(wf_queue *q)
{
    wf_result result = open_of(q, "wf_queue_beside");
    if (result == WF_SUCCESS)
        q->beside = true;
    return result;
}

static bool has_event(wf_queue *q, slot *s)
{
    wf_device *device = q->device;
    const VkEventCreateInfo event = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    if (s->event || q->no_events)
        return s->event != VK_NULL_HANDLE;
    const VkResult vk = WFI_MADE(
        device->fn.vkCreateEvent(device->vk, &event, device->allocator, &s->event), &s->event);
    if (vk >= VK_SUCCESS)
        wfi_name(device, VK_OBJECT_TYPE_EVENT, WFI_HANDLE(s->event), "queue: mark %d",
                 (int)(s - q->slots));
    q->no_events = vk < VK_SUCCESS;
    return !q->no_events;
}

static wf_result mark(wf_queue *q)
{
    slot *s = slot_of(q, q->submitted);
    if (!q->gathered)
        return WF_SUCCESS;
    if (s->mark || !has_event(q, s))
        return q->prepares ? WF_NOT_READY : submit(q);
    wfi_barrier_host(q->device, s->command_buffer);
    q->device->fn.vkCmdSetEvent(s->command_buffer, s->event, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    s->mark = q->given;
    return WF_SUCCESS;
}

wf_result wf_queue_mark(wf_queue *q)
{
    wf_result result = open_of(q, "wf_queue_mark");
    return result == WF_SUCCESS ? mark(q) : result;
}

wf_result wf_queue_submit(wf_queue *q)
{
    wf_result result = open_of(q, "wf_queue_submit");
    return result == WF_SUCCESS ? submit(q) : result;
}

wf_result wf_queue_ended(wf_queue *q, uint64_t *number)
{
    if (!q || !number)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result result = wfi_device_usable(q->device, "wf_queue_ended");
    if (result != WF_SUCCESS)
        return result;
    look(q);
    look_at_marks(q);
    *number = q->ended;
    return WF_SUCCESS;
}

wf_result wf_queue_wait(wf_queue *q, uint64_t number)
{
    wf_result result = open_of(q, "wf_queue_wait");
    return result == WF_SUCCESS ? wait_all(q, number ? number : UINT64_MAX) : result;
}

void wf_queue_destroy(wf_queue **handle)
{
    wf_queue *q = handle ? *handle : NULL;
    if (!q)
        return;
    if (q->device->vk) {
        if (!q->prepares)
            submit(q);
        settle(q);
        close_queue(q);
    }
    for (int i = 0; i < SLOTS; i++)
        wf_arena_destroy(&q->slots[i].arena);
    wfi_object_leave(&q->object);
    wfi_free(q);
    *handle = NULL;
}
