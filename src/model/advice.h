/* What measurements of one kernel suggest to try. Each rule looks at an observation and either has
 * something to say or not; nothing here touches a device. */
#ifndef WFI_MODEL_ADVICE_H
#define WFI_MODEL_ADVICE_H

#include "model/row_use.h"
#include "wavefit/wavefit.h"

#define WFI_MAX_ADVICE 32

/* NaN or 0: not known. Rates in GFLOPS and GB/s, times in microseconds. */
typedef struct wfi_observation {
    const char *family;
    wf_type type;
    const char *arguments; /* that name the problem on a command line */
    const char *target;    /* of --target: nothing was measured; NULL: it ran */
    const wf_variant_info *variant;
    const char *chosen_by; /* as in wf_plan_info; NULL: not known */
    bool forced;           /* variant or constants were not wavefit's choice */
    double time_us, floor_us;
    bool memory_bound;
    bool box;                   /* stencil: the shape is a box */
    uint32_t steps;             /* stencil: of one execution */
    double chosen_us;           /* of wavefit's own choice, where another was forced */
    const wf_plan_info *chosen; /* that choice */
    double chosen_occupancy;    /* and the fraction of a unit that it fills */
    uint32_t dispatches;
    double dispatch_us, barrier_us, submit_us, upload_us, download_us;
    wf_kernel_info kernel;
    wf_access access;
    wfi_row_use rows;
    uint32_t compute_units;
    bool has_occupancy;
    wf_occupancy occupancy;
    double flops, least_bytes;
    double requested_bytes, shared_requested_bytes, group_bytes; /* as in wf_plan_info */
    double copy, cache;                                          /* measured rates */
    double fma, fma_f32, matrix_f16;
    bool processor;   /* the device is a CPU, which has neither banks nor a subgroup's loads */
    bool no_hardware; /* the device has no arithmetic of the type */
} wfi_observation;

typedef struct wfi_advice {
    const char *rule;
    char text[420];    /* what was seen, and why it costs */
    char command[240]; /* that tries it */
    double gain;       /* at most so many times faster */
} wfi_advice;

/* Fills advice, the most gain first; returns how many. */
uint32_t wfi_advise(const wfi_observation *observation, wfi_advice advice[WFI_MAX_ADVICE]);

/* Waves of work-groups that a device needs, and how full the last is; false where not known. */
bool wfi_waves(const wfi_observation *observation, double *waves, double *efficiency);

#endif
