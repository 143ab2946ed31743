/* Stencils and a card for tests of what the model picks of them. */
#ifndef WFI_TESTS_STENCIL_GRIDS_H
#define WFI_TESTS_STENCIL_GRIDS_H

#include "core/device.h"
#include "plan/family.h"

extern const wf_type stencil_types[3]; /* f32, f64 and f16 */

/* A GPU that nothing is known of, with 132 compute units; gpu_forget frees it. */
wf_device *stencil_card(void);

/* A star of radius 1 without a border's mirror; nz 0: in two dimensions. */
wfi_problem stencil_star(wf_type type, uint64_t nx, uint64_t ny, uint64_t nz, uint32_t steps);

/* A grid that was timed, for a single step, and what the model is to take for it. */
typedef struct stencil_measured {
    wf_type type;
    wf_stencil_shape shape;
    wf_border border;
    uint32_t radius;
    uint64_t nx, ny, nz;
    const char *variant;
    uint32_t x, y, march;
} stencil_measured;

/* The model must pick these on the device, which is forgotten then. */
void stencil_assert_picks(wf_device *device, const stencil_measured *cases, size_t count);

#endif
