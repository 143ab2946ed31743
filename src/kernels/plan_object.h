/* What a plan is made of; for the plan_*.c files alone. */
#ifndef WFI_KERNELS_PLAN_OBJECT_H
#define WFI_KERNELS_PLAN_OBJECT_H

#include "core/compile.h"
#include "kernels/plan.h"

/* A descriptor set of one step, and what it was written with. */
typedef struct wfi_kept_set {
    VkDescriptorSet set;
    VkDescriptorBufferInfo buffers[WF_MAX_BINDINGS];
    VkBufferView views[WF_MAX_BINDINGS]; /* of texel buffers */
} wfi_kept_set;

struct wf_plan {
    wfi_object object;
    wf_device *device;
    wf_jobs jobs; /* submit NULL: pipelines are compiled in the call */
    wfi_problem problem;
    wfi_choice choice;

    uint32_t pipeline_count, step_count, binding_count, own_count;
    wfi_pipeline *pipelines;
    wfi_compile **compiles; /* a pipeline; NULL: it is compiled and the plan's own */
    bool compiling;
    wfi_step *steps;
    wfi_binding_spec bindings[WF_MAX_BINDINGS];
    wf_buffer **own;
    wf_buffer **staging; /* an own buffer; NULL: it has its data, or starts at zero */
    bool wants_upload;   /* wf_plan_record_upload was not recorded yet */
    uint64_t workspace;
    uint32_t recordings;   /* of executions, or what wfi_plan_set_parity said */
    double seconds;        /* of an execution, as it ran last; 0: it did not */
    double submit_seconds; /* of one submission, where it can be cut: so long may a stop wait */
    void *kept;            /* the family's own; NULL: none */
    void (*destroy_kept)(void *kept);
    void (*forget_kept)(void *kept);

    /* Without push descriptors, or with keep_sets: WFI_SET_RING sets a step, kept for the plan's life.
     * Views live until their set is written anew. */
    bool keep_sets;
    VkDescriptorPool pool;
    wfi_kept_set *sets;  /* step_count x WFI_SET_RING */
    uint32_t *sets_used; /* a step */
};

/* A caller's binding made concrete. */
typedef struct wfi_bound {
    VkBuffer buffer;
    uint64_t offset, bytes;
} wfi_bound;

/* plan.c: takes over what compile jobs have made; as wf_plan_status. */
wf_result wfi_plan_collect(wf_plan *plan);

/* plan_bind.c: resolves all bindings; the workspace comes last, at index binding_count. */
wf_result wfi_plan_resolve(const wf_plan *plan, const wf_bindings *bindings,
                           wfi_bound all[WF_MAX_BINDINGS + 1]);
/* Finds (and writes) every step's set before anything is recorded. */
wf_result wfi_plan_prepare_sets(wf_plan *plan, const wfi_bound *all);
/* The buffers of a step's slots. */
void wfi_plan_step_buffers(const wf_plan *plan, const wfi_step *step, const wfi_bound *all,
                           VkDescriptorBufferInfo infos[WF_MAX_BINDINGS]);
void wfi_plan_fill_writes(const wfi_step *step, const VkDescriptorBufferInfo *infos,
                          const VkBufferView *views, VkDescriptorSet set,
                          VkWriteDescriptorSet *writes);
/* The kept set of a step with these buffers, written now if it is new. WF_ERROR_TOO_MANY_BINDINGS: the
 * ring is full. WF_ERROR_BINDING: the device cannot view the buffer as texels from there. */
wf_result wfi_plan_find_set(wf_plan *plan, uint32_t step_index, const VkDescriptorBufferInfo *infos,
                            const wfi_kept_set **out);
/* The view of slot `index` of the step, which is a texel buffer. */
wf_result wfi_plan_make_view(const wf_plan *plan, const wfi_step *step, uint32_t index,
                             const VkDescriptorBufferInfo *info, VkBufferView *view);
/* Destroys the views of all kept sets. */
void wfi_plan_drop_views(wf_plan *plan);

/* plan_kernels.c: the variant's own kernel of the step with the most work-items. */
void wfi_plan_main_kernel(const wf_plan *plan, wf_kernel_info *kernel);

/* plan_record.c: records steps first … end - 1 alone. */
wf_result wfi_plan_record_steps(wf_plan *plan, VkCommandBuffer command_buffer,
                                const wf_bindings *bindings, uint32_t turn, uint32_t first,
                                uint32_t end);
/* Whether a first execution may well take long. */
bool wfi_plan_may_be_long(const wf_plan *plan);
/* The step behind those from `first` on that go in one submission, at least one; a step's time is its
 * work-groups' share of plan->seconds. */
uint32_t wfi_plan_steps_at_once(const wf_plan *plan, uint32_t first);
/* The share of an execution's work-groups that steps first … end - 1 have. */
double wfi_plan_share(const wf_plan *plan, uint32_t first, uint32_t end);
/* Takes a measured time of an execution into account. */
void wfi_plan_learn(wf_plan *plan, double seconds);

#endif
