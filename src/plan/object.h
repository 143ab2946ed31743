/* What a plan is made of; for the files of src/plan alone. */
#ifndef WFI_PLAN_OBJECT_H
#define WFI_PLAN_OBJECT_H

#include "core/arena.h"
#include "core/compile.h"
#include "core/doom.h"
#include "core/names.h"
#include "plan/bind.h"
#include "plan/hooks.h"
#include "plan/plan.h"

#define WFI_TOLD 32
/* Dispatches of a submission: lavapipe (Mesa 25.0) crashes at 65536. */
#define WFI_MOST_STEPS 8192u

/* What a slot of a step is bound to: a buffer, or a storage image (wfi_step.images). */
typedef struct wfi_descriptor {
    VkDescriptorBufferInfo buffer;
    VkDescriptorImageInfo image;
} wfi_descriptor;

/* A descriptor set of one step in the plan's own arena, and what it was written with. */
typedef struct wfi_kept_set {
    VkDescriptorSet set;
    wfi_descriptor slots[WF_MAX_BINDINGS];
    uint32_t next; /* of the same step, counted from 1; 0: there are no more */
} wfi_kept_set;

#define WFI_KEPT_RUNS 4

/* A command buffer of one execution that wf_plan_run submits again for the same bindings. Buffers
 * are known by their numbers: a handle may be another buffer's by now. */
typedef struct wfi_kept_run {
    VkCommandBuffer command_buffer; /* VK_NULL_HANDLE: none */
    wf_arena *arena;                /* its sets; NULL: they are pushed */
    wfi_bound bound[WF_MAX_BINDINGS + 1];
    uint32_t parity;
    uint64_t used; /* when it was last */
} wfi_kept_run;

/* What executions do with an own buffer. */
typedef enum wfi_own_use {
    WFI_OWN_READ,    /* a copy of the plan uses the same */
    WFI_OWN_SCRATCH, /* a copy has another */
    WFI_OWN_ZEROED   /* likewise, which begins with zeros */
} wfi_own_use;

/* What a plan whose sizes vary has more: what depends on sizes, for those of the last recording,
 * or for the plan's own while those are in use. */
typedef struct wfi_sized {
    wfi_ranges ranges;
    void *params;
    uint64_t extent[WF_MAX_EXTENTS]; /* of the last recording; 0: there was none */
    wfi_problem problem;
    uint32_t step_count, binding_count, room; /* of steps */
    wfi_step *steps;
    wfi_binding_spec bindings[WF_MAX_BINDINGS];
    uint64_t workspace;
    bool rebuilding; /* then these count what the build has asked for */
    uint32_t next_pipeline, next_own;
} wfi_sized;

struct wf_plan {
    wfi_object object;
    wfi_doom doom;
    /* Of a copy: the plan that was there first, which has what they share. It counts itself and its
     * copies in `users`, and ends with the last of them. */
    wf_plan *first;
    atomic_uint users;
    wf_device *device;
    wfi_pipeline_list *listed; /* not NULL: the build adds pipelines to it, and makes nothing */
    wf_jobs jobs;              /* submit NULL: pipelines are compiled in the call */
    wfi_problem problem;
    wfi_choice choice;

    char label[WFI_NAME_BYTES];          /* "wavefit matmul f32 vector 64x64x64" */
    char (*step_labels)[WFI_NAME_BYTES]; /* a pipeline; NULL: the device names nothing */

    uint32_t pipeline_count, step_count, binding_count, own_count;
    wfi_pipeline *pipelines;
    wfi_pooled **pooled;    /* a pipeline that is compiled, from the device's pool; or */
    wfi_compile **compiles; /* the job that compiles it */
    bool compiling;
    wfi_step *steps;
    wfi_binding_spec bindings[WF_MAX_BINDINGS];
    wf_buffer **own;
    wfi_own_use *own_uses;
    wf_buffer **staging; /* an own buffer; NULL: it has its data, or starts at zero */
    bool wants_upload;   /* wf_plan_record_upload was not recorded yet */
    uint64_t workspace;
    uint32_t recordings;   /* of executions, or what wfi_plan_set_parity said */
    double seconds;        /* of an execution, as it ran last; 0: it did not */
    double submit_seconds; /* seconds of one submission, if it can be cut: a stop waits no longer */
    void *kept;            /* the family's own; NULL: none */
    void (*destroy_kept)(void *kept);
    wfi_traffic traffic; /* where it depends on data that the plan is made of; 0: by the variant */
    wfi_sized *sized;    /* NULL: sizes are fixed */
    VkBuffer sizes; /* of dispatches, the first's at sizes_offset; VK_NULL_HANDLE: the steps' */
    uint64_t sizes_offset;
    bool writes_own; /* steps write memory that is not the caller's to order */

    /* Without push descriptors, or with bind_sets: the sets of the recording under way, a step. */
    bool bind_sets;
    VkDescriptorSet *sets; /* NULL: they are pushed */
    /* Sets of what wavefit records and submits itself are found again by what they bind, until the
     * application's next blocking call, before which it may have destroyed buffers. */
    wf_arena *arena; /* made when it is first needed */
    wfi_kept_set *kept_sets;
    uint32_t kept_count, kept_room;
    uint32_t *kept_first; /* a step: as wfi_kept_set.next */

    wfi_kept_run kept_runs[WFI_KEPT_RUNS];
    uint64_t runs; /* of kept ones, so far */

    /* An application that records every frame is told of a failure once: hashes of those told. */
    uint32_t told[WFI_TOLD], told_count;
};

/* plan.c: makes the choice and its problem the plan's own; the device is set. */
void wfi_plan_set_choice(wf_plan *plan, const wfi_choice *choice);

/* plan.c: takes over what compile jobs have made, and returns what wf_plan_status does. */
wf_result wfi_plan_collect(wf_plan *plan);

/* hooks.c: has the variant and its family add bindings, pipelines and steps. */
wf_result wfi_plan_build(wf_plan *plan, const void *params);

/* sizes.c: turns the plan to these sizes (0: its own) until wfi_plan_leave_sizes. */
wf_result wfi_plan_enter_sizes(wf_plan *plan, const wfi_log *log,
                               const uint64_t extent[WF_MAX_EXTENTS], bool *entered);
void wfi_plan_leave_sizes(wf_plan *plan, bool entered);
void wfi_sized_destroy(wf_plan *plan);
/* The copy's sizes may vary as those of the plan that it is of. */
wf_result wfi_plan_copy_sizes(wf_plan *plan, const wf_plan *from);

/* bind.c: resolves all bindings; the workspace comes last, at index binding_count. */
wf_result wfi_plan_resolve(const wf_plan *plan, const wfi_log *log, const wf_bindings *bindings,
                           wfi_bound all[WF_MAX_BINDINGS + 1]);
/* Puts into plan->sets the sets of steps first … end - 1 before anything is recorded: new ones of
 * the arena, or (NULL) kept ones of the plan's. WF_ERROR_BINDING: the device cannot view a buffer
 * as texels from where it is bound. */
wf_result wfi_plan_prepare_sets(wf_plan *plan, wf_arena *arena, const wfi_log *log,
                                const wfi_bound *all, uint32_t first, uint32_t end);
/* Free what kept_run.c keeps; a run keeps its arena for the next bindings. */
void wfi_plan_drop_run(wf_plan *plan, wfi_kept_run *run);
void wfi_plan_drop_runs(wf_plan *plan);
/* What a step's slots are bound to. */
void wfi_plan_step_slots(const wf_plan *plan, const wfi_step *step, const wfi_bound *all,
                         wfi_descriptor infos[WF_MAX_BINDINGS]);
void wfi_plan_fill_writes(const wfi_step *step, const wfi_descriptor *infos,
                          const VkBufferView *views, VkDescriptorSet set,
                          VkWriteDescriptorSet *writes);
/* How to view slot `index` of the step, which is a texel buffer. */
VkBufferViewCreateInfo wfi_plan_view_info(const wfi_step *step, uint32_t index,
                                          const VkDescriptorBufferInfo *info);

/* plan.c, for copies: adds an own buffer like the i-th of `from`; views of a step's own buffers;
 * what recordings without push descriptors need; and what a device does at its end. */
wf_result wfi_plan_copy_own(wf_plan *plan, const wf_plan *from, uint32_t i);
wf_result wfi_plan_view_own(wf_plan *plan, wfi_step *step);
wf_result wfi_plan_create_sets(wf_plan *plan);
void wfi_plan_close(void *owner);

/* labels.c: what the plan is called, and what its dispatches are. */
void wfi_plan_name(wf_plan *plan);
wf_result wfi_plan_name_steps(wf_plan *plan);

/* A pipeline of the plan, compiled or not. */
static inline const wfi_pipeline *wfi_plan_pipeline(const wf_plan *plan, uint32_t index)
{
    return plan->compiles[index] ? wfi_compile_pipeline(plan->compiles[index])
                                 : &plan->pipelines[index];
}

/* kernels.c: the variant's own kernel of the step with the most work-items. */
void wfi_plan_main_kernel(const wf_plan *plan, wf_kernel_info *kernel);

/* record.c: records steps first … end - 1 alone; arena NULL: as wfi_plan_record. */
wf_result wfi_plan_record_steps(wf_plan *plan, VkCommandBuffer command_buffer, wf_arena *arena,
                                const wf_bindings *bindings, uint32_t sequence, uint32_t first,
                                uint32_t end);
/* The checks of a recording before its bindings are looked at, which *read gets. */
wf_result wfi_plan_begin_recording(wf_plan *plan, const wfi_log *log, const wf_bindings *bindings,
                                   wf_bindings *read);
/* Records all steps with sets of the arena's (NULL: they are pushed), for wf_plan_run to keep. */
wf_result wfi_plan_record_kept(wf_plan *plan, VkCommandBuffer command_buffer, wf_arena *arena,
                               const wfi_bound *all);

/* kept_run.c: runs the execution as it was recorded before, or records it for that. *done false: it
 * is none to be kept, and nothing was run. */
wf_result wfi_plan_run_kept(wf_plan *plan, const wf_bindings *bindings, bool *done);

/* Whether the first execution is expected to take long, so that it is better cut. */
bool wfi_plan_may_be_long(const wf_plan *plan);
/* The step behind those from `first` on that go in one submission, at least one; a step's time is
 * its work-groups' fraction of plan->seconds. */
uint32_t wfi_plan_steps_at_once(const wf_plan *plan, uint32_t first);
/* The fraction of an execution's work-groups that steps first … end - 1 have. */
double wfi_plan_fraction(const wf_plan *plan, uint32_t first, uint32_t end);
/* Takes a measured time of an execution into account. */
void wfi_plan_learn(wf_plan *plan, double seconds);

#endif
