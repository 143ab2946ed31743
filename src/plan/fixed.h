/* Plans of a single kernel that is the same for every device and problem, as solvers use. */
#ifndef WFI_PLAN_FIXED_H
#define WFI_PLAN_FIXED_H

#include "plan/plan.h"

/* Work-items along x of such a kernel unless it needs another number; every device allows it. */
#define WFI_FIXED_GROUP 128
void wfi_fixed_group(const wfi_point *point, uint32_t size[3]);

/* The family of such kernels: it has no variants and counts no work. */
extern const wfi_family wfi_family_none;

/* A plan of the row, whose point has `value` first (0 where the row reads none). */
wf_result wfi_fixed_plan(wf_device *device, const wfi_family *family, const wfi_problem *problem,
                         const wfi_variant *row, uint32_t value, const void *params, wf_plan **out);
/* For a row's `build`: the point's pipeline, the bindings, and the step that uses them in their
 * order; each whole, but where the step has a slot already. */
wf_result wfi_fixed_build(wf_plan *plan, const wfi_point *point, const wfi_binding_spec *bindings,
                          uint32_t count, wfi_step *step);

#endif
