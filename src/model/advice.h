/* What measurements of one kernel suggest to try. Each rule looks at an observation and either has
 * something to say or not; nothing here touches a device. */
#ifndef WFI_MODEL_ADVICE_H
#define WFI_MODEL_ADVICE_H

#include "wavefit/wavefit.h"

#define WFI_MAX_ADVICE 16

/* NaN or 0: not known. Rates in GFLOPS, times in microseconds. */
typedef struct wfi_observation {
    const char *family;
    wf_type type;
    const char *arguments; /* that name the problem on a command line */
    const wf_variant_info *variant;
    const char *chosen_by; /* as in wf_plan_info; NULL: not known */
    bool forced;           /* variant or constants were not wavefit's choice */
    double time_us, floor_us;
    bool memory_bound;
    bool box;         /* stencil: the shape is a box */
    uint32_t steps;   /* stencil: of one execution */
    double chosen_us; /* of wavefit's own choice, where another was forced */
    uint32_t dispatches;
    double dispatch_us, barrier_us, submit_us, upload_us, download_us;
    wf_kernel_info kernel;
    uint32_t compute_units;
    bool has_occupancy;
    wf_occupancy occupancy;
    double fma, fma_f32, matrix_f16;
} wfi_observation;

typedef struct wfi_advice {
    const char *rule;
    char text[320];
    char command[200]; /* that tries it */
    double gain;       /* at most so many times faster */
} wfi_advice;

/* Fills advice, the most gain first; returns how many. */
uint32_t wfi_advise(const wfi_observation *observation, wfi_advice advice[WFI_MAX_ADVICE]);

/* Waves of work-groups that a device needs, and how full the last is; false where not known. */
bool wfi_waves(const wfi_observation *observation, double *waves, double *efficiency);

#endif
