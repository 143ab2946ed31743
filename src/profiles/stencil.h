/* What the models of star and box stencils know of kinds of devices. */
#ifndef WFI_PROFILES_STENCIL_H
#define WFI_PROFILES_STENCIL_H

#include "profiles/profile.h"

typedef struct wfi_stencil_profile {
    /* Work-items that a compute unit wants, to have something to do while others wait: columns get
     * shorter until there are as many; 0: any number will do. */
    uint32_t unit_items;
    /* Work-groups that the device wants at least where columns are long; 0: columns are as short as
     * the model says for the shape and the type. */
    uint32_t least_groups;
    uint32_t star_march, box_march; /* the longest columns of the shapes, with least_groups */
    uint32_t march_width;           /* most work-items along i of `march` */
    uint32_t flat_f64_items;        /* of a work-group of `vector`, f64 in two dimensions */
    uint32_t f64_march;             /* the longest columns of `vector` in f64; 0: as of others */
    uint32_t most_f64_radius;       /* whose planes fit registers in three dimensions; 0: any */
    uint32_t most_box_radius;       /* likewise of boxes in three dimensions, of any type */
    bool few_registers;             /* work-items had better compute one cell and keep no planes */
    bool fast_shared;  /* shared memory is faster than caches, unless the architecture says no */
    bool shares_cells; /* several cells a work-item pay, even where they are loaded one by one */
    /* Each load costs the same, so that several cells a work-item pay, which share loads. */
    bool loads_count;
} wfi_stencil_profile;

const wfi_stencil_profile *wfi_stencil_profile_of(const wf_caps *caps);

#endif
