/* How much of a compute unit a kernel can occupy. */
#ifndef WFI_MODEL_OCCUPANCY_H
#define WFI_MODEL_OCCUPANCY_H

#include "core/architectures.h"

/* What a kernel uses; 0: unknown, or none. */
typedef struct wfi_kernel_use {
    uint32_t group_size;    /* work-items a work-group */
    uint32_t subgroup_size; /* 0: the architecture's usual one */
    uint32_t registers;     /* a lane */
    uint32_t shared_bytes;  /* a work-group */
} wfi_kernel_use;

typedef enum wfi_limiter {
    WFI_LIMITER_NONE = 0,   /* as many waves as there can be */
    WFI_LIMITER_GROUP_SIZE, /* whole work-groups of this size do not fill the unit */
    WFI_LIMITER_GROUPS,     /* the most work-groups a unit holds */
    WFI_LIMITER_REGISTERS,
    WFI_LIMITER_SHARED,
    WFI_LIMITER_TOO_LARGE /* not even one work-group fits */
} wfi_limiter;

typedef struct wfi_occupancy {
    uint32_t groups; /* work-groups resident on a unit */
    uint32_t waves, most_waves;
    double fraction; /* waves / most_waves */
    wfi_limiter limiter;
    /* Work-groups that each alone leaves room for; UINT32_MAX: it sets no limit. */
    uint32_t by_waves, by_groups, by_registers, by_shared;
} wfi_occupancy;

/* False when too little is published (or told by the device: caps may be NULL) to say. */
bool wfi_architecture_occupancy(const wfi_architecture *architecture, const wf_caps *caps,
                                const wfi_kernel_use *use, wfi_occupancy *out);

#endif
