/* A plan: pipelines, and the steps (dispatches) that use them on the caller's buffers, the plan's
 * own buffers and the workspace. */
#ifndef WFI_PLAN_PLAN_H
#define WFI_PLAN_PLAN_H

#include "core/buffer.h"
#include "core/pipeline.h"
#include "plan/family.h"

#define WFI_MAX_PUSH 128

/* Where a step's storage buffer comes from. */
typedef enum wfi_slot_kind { WFI_SLOT_BINDING, WFI_SLOT_OWN, WFI_SLOT_WORKSPACE } wfi_slot_kind;

typedef struct wfi_slot {
    wfi_slot_kind kind;
    uint32_t index;  /* of the caller's binding or of the plan's own buffer */
    uint64_t offset; /* bytes from the start of that binding, a multiple of storage_alignment */
    uint64_t bytes;  /* range; at most caps.max_storage_range */
} wfi_slot;

typedef struct wfi_step {
    uint32_t pipeline;
    uint32_t groups[3];
    uint32_t slot_count;
    wfi_slot slots[WF_MAX_BINDINGS];
    VkFormat texels[WF_MAX_BINDINGS]; /* of slots that are uniform texel buffers; else UNDEFINED */
    uint32_t images;                  /* bit i: slot i is a storage image of the caller's */
    uint32_t uniforms;                /* bit i: slot i is a uniform buffer */
    VkBufferView
        views[WF_MAX_BINDINGS]; /* of those that are the plan's own, made when it is added */
    uint32_t push_bytes;
    unsigned char push[WFI_MAX_PUSH];
    bool barrier; /* an earlier step of this plan writes what this one touches */
    /* Its work-groups do not depend on how many there are along the last axis that has several, so
     * that a dispatch that would take too long may be recorded as several. */
    bool divisible;
    bool takes_sequence; /* push constants start with the number of wfi_plan_record_sequence */
    /* Not 0: at this offset of the push constants every other recording finds a 1, the others a 0.
     * A kernel that then reads its matrix from the other end finds in the cache what the recording
     * before read last. */
    uint32_t parity_at;
} wfi_step;

typedef enum wfi_access { WFI_READS = 1, WFI_WRITES = 2, WFI_READS_WRITES = 3 } wfi_access;

#define WFI_IMAGE UINT64_MAX

/* What a binding of the plan must be. */
typedef struct wfi_binding_spec {
    const char *name;
    wfi_access access;
    uint64_t bytes; /* at least; 0: the plan does not use it; WFI_IMAGE: it is a storage image */
} wfi_binding_spec;

/* Before the first pipeline: descriptor sets are bound even where they could be pushed, since that
 * takes the device less or since views must be made. */
void wfi_plan_bind_sets(wf_plan *plan);
/* The slot over elements [first, first + elements) of `size` bytes of a binding, its start rounded
 * down to the storage alignment; *base is the first's place from there, in elements. */
wfi_slot wfi_slot_at(const wf_caps *caps, uint32_t binding, uint64_t first, uint64_t elements,
                     uint64_t size, uint32_t *base);

/* Adds to a plan under construction; each copies what it is given. */
wf_result wfi_plan_add_pipeline(wf_plan *plan, const wfi_pipeline_desc *desc, uint32_t *index);
wf_result wfi_plan_add_step(wf_plan *plan, const wfi_step *step);
wf_result wfi_plan_add_binding(wf_plan *plan, const wfi_binding_spec *spec);
/* A buffer the plan owns, filled from `data` (NULL: with zeros, for what the plan writes): where
 * the host cannot write it, through the device's own queue, which blocks, or on an adopted device
 * by wf_plan_record_upload. */
wf_result wfi_plan_add_own(wf_plan *plan, const void *data, uint64_t bytes, uint32_t *index);
/* A buffer the plan owns and writes before it reads. */
wf_result wfi_plan_add_scratch(wf_plan *plan, uint64_t bytes, uint32_t *index);
/* The same in memory that the host writes by itself, for what is small: touches no queue. */
wf_result wfi_plan_add_own_mapped(wf_plan *plan, const void *data, uint64_t bytes, uint32_t *index);
/* Makes *buffer, which is filled already, the plan's own; *buffer is then NULL. */
wf_result wfi_plan_adopt_own(wf_plan *plan, wf_buffer **buffer, uint32_t *index);
wf_buffer *wfi_plan_own(wf_plan *plan, uint32_t index);
void wfi_plan_set_workspace(wf_plan *plan, uint64_t bytes);
/* Says that the plan writes what another plan owns: recordings then begin with a barrier, as in
 * plans that write buffers of their own. */
void wfi_plan_set_writes_own(wf_plan *plan);
wf_device *wfi_plan_device(const wf_plan *plan);
/* What a family keeps with its plan until the plan is destroyed; NULL where none is kept. */
void wfi_plan_keep(wf_plan *plan, void *data, void (*destroy)(void *data));
void *wfi_plan_kept(const wf_plan *plan);
/* Adds to the bytes of an execution, of which its point alone does not tell all. */
void wfi_plan_count_traffic(wf_plan *plan, const wfi_traffic *traffic);
/* Forgets the sets that wfi_plan_record keeps; nothing that it recorded may be pending or run
 * again. For the beginning of a blocking call: buffers may have ended since the last, and others
 * got their handles. */
void wfi_plan_forget_sets(wf_plan *plan);
/* The steps, whose push constants may be changed between recordings. */
uint32_t wfi_plan_step_count(const wf_plan *plan);
wfi_step *wfi_plan_step(wf_plan *plan, uint32_t index);
/* How long one execution takes: a rough prediction, corrected by what ran. */
double wfi_plan_expected_seconds(const wf_plan *plan);
/* The same without what was learned: for decisions that results depend on, which must not change
 * from run to run. */
double wfi_plan_guessed_seconds(const wf_plan *plan);
/* What the plan was made for, and the bindings that it wants. */
const wfi_family *wfi_plan_family(const wf_plan *plan);
const wfi_problem *wfi_plan_problem(const wf_plan *plan);
const wfi_point *wfi_plan_point(const wf_plan *plan);
const wfi_binding_spec *wfi_plan_bindings(const wf_plan *plan, uint32_t *count);

/* A size that recordings may give. */
typedef struct wfi_range {
    const char *name;
    uint64_t most, least, unit; /* unit 0: it is fixed; else sizes are multiples of it */
} wfi_range;

typedef struct wfi_ranges {
    uint32_t count;
    wfi_range of[WF_MAX_EXTENTS];
    void (*resize)(wfi_problem *problem, const uint64_t *extent); /* puts the sizes in */
} wfi_ranges;

/* Lets a plan that was just made be recorded with smaller sizes. Its variant's build is then called
 * again with these params (the plan's from now on; of a copy, its first plan's): it must add the
 * same pipelines and own buffers in the same order, and no more steps. */
wf_result wfi_plan_allow_sizes(wf_plan *plan, const wfi_ranges *ranges, void *params);

/* The sizes of the dispatches that are recorded from now on: step i's is the i-th
 * VkDispatchIndirectCommand from `offset` on in the buffer; NULL: the plan's own. Such dispatches
 * are not cut into pieces. */
void wfi_plan_set_indirect(wf_plan *plan, const wf_buffer *sizes, uint64_t offset);

/* Makes the next recording an even or an odd one, as wfi_step.parity_at counts. */
void wfi_plan_set_parity(wf_plan *plan, uint32_t parity);

/* wf_plan_record for what wavefit submits itself: descriptor sets are the plan's own, found again
 * by what they bind. The buffers must live until wfi_plan_forget_sets or the plan's end. */
wf_result wfi_plan_record(wf_plan *plan, VkCommandBuffer command_buffer,
                          const wf_bindings *bindings);
/* The same for a plan that is recorded many times with steps that depend on the number. */
wf_result wfi_plan_record_sequence(wf_plan *plan, VkCommandBuffer command_buffer,
                                   const wf_bindings *bindings, uint32_t sequence);

/* Sends the data that wf_plan_record_upload would record, where it has still to go to the device,
 * and frees the host's copy. For calls that run on the device's queue; blocks. */
wf_result wfi_plan_upload(wf_plan *plan);

struct wfi_pipeline_list; /* plan/hooks.h */
/* Adds to the list the pipelines that a plan of the choice asks for. For variants whose build makes
 * nothing by itself; nothing is made here either. */
void wfi_plan_list(wf_device *device, const wfi_choice *choice, const void *params,
                   struct wfi_pipeline_list *list);

/* An empty plan for the choice; then the variant's build is called with params. */
wf_result wfi_plan_create(wf_device *device, const wfi_choice *choice, const void *params,
                          wf_plan **out);
/* The same, its pipelines compiled as jobs (NULL: in the call). */
wf_result wfi_plan_create_with(wf_device *device, const wfi_choice *choice, const wf_jobs *jobs,
                               const void *params, wf_plan **out);

#endif
