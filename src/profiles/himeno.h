/* What Himeno's models know of kinds of devices. */
#ifndef WFI_PROFILES_HIMENO_H
#define WFI_PROFILES_HIMENO_H

#include "profiles/profile.h"

/* Grids by their inner cells: under 2 million, up to 100 million, and more. */
typedef enum wfi_himeno_grid {
    WFI_HIMENO_SMALL,
    WFI_HIMENO_MIDDLE,
    WFI_HIMENO_LARGE,
    WFI_HIMENO_GRIDS
} wfi_himeno_grid;

/* Work-groups of the variants that march along k. */
typedef struct wfi_himeno_columns {
    uint32_t items;         /* work-items of a work-group */
    uint32_t width;         /* most of them along i */
    uint32_t march;         /* planes that a work-item of one cell a row updates */
    uint32_t march_of_vec4; /* likewise, of four cells a row */
} wfi_himeno_columns;

/* Expected times over that of march4, which is 1 on every device. "Tiny" grids are those of
 * wfi_himeno_is_tiny. */
typedef struct wfi_himeno_times {
    double naive, naive_tiny;
    double subgroup_sum, subgroup_sum_tiny;
    double subgroup_sum_small; /* not tiny, where it is faster than columns */
    double march;
    double march4_sum, march4_sum_small; /* small: not tiny, up to 2 million cells */
    double pairs, texels, planes;
} wfi_himeno_times;

typedef struct wfi_himeno_profile {
    uint32_t pad;             /* elements to whose multiple rows are padded */
    uint32_t interleave;      /* cells of a block of coefficients */
    uint32_t interleave_tiny; /* likewise, of tiny grids */
    bool dispatch_gaps;       /* most of a tiny grid's time passes between dispatches */
    bool caches_planes;       /* a cache still holds the planes that the pass before touched last */
    bool slow_barriers;       /* work-items had better store their own sums than add them up */
    bool fast_shared; /* shared memory is faster than caches, unless the architecture says no */
    uint32_t deep_registers; /* of a work-item of `time` with three steps; 0: it does with any */
    double unit_bytes;       /* of memory, a clock of a compute unit; 0: as an H200's */
    uint32_t pairs_march;    /* of `pairs` on grids that are not small; 0: as the columns say */
    uint32_t march_alone;    /* of `march`, where vectors gain nothing; 0: as the columns say */
    wfi_himeno_columns columns[WFI_HIMENO_GRIDS];
    wfi_himeno_times times;
} wfi_himeno_profile;

const wfi_himeno_profile *wfi_himeno_profile_of(const wf_caps *caps);

#endif
