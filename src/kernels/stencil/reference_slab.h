/* Planes of a grid in f64 on the host, and the steps of a star or box stencil on them. */
#ifndef WFI_KERNELS_STENCIL_REFERENCE_SLAB_H
#define WFI_KERNELS_STENCIL_REFERENCE_SLAB_H

#include "kernels/stencil/reference.h"

typedef struct wfi_reference_planes {
    int64_t low, high;             /* held; of a periodic grid also beyond its ends */
    int64_t right_low, right_high; /* of these, right after the steps made */
} wfi_reference_planes;

/* The planes that those from `first` to `end` - 1 of the result depend on. */
void wfi_reference_planes_begin(wfi_reference_planes *p, const wfi_stencil_reference *g,
                                int64_t first, int64_t end);
void wfi_reference_planes_step(wfi_reference_planes *p, const wfi_stencil_reference *g);

typedef struct wfi_reference_slab {
    const wfi_stencil_reference *g;
    int64_t pad_j, width, height; /* of a plane with `radius` cells more at each side */
    wfi_reference_planes planes;
    double *now, *next; /* wfi_reference_slab_cells each */
} wfi_reference_slab;

/* Sets what follows from the grid. */
void wfi_reference_slab_shape(wfi_reference_slab *s, const wfi_stencil_reference *g);

/* Cells to hold `planes` planes of the result and those that they depend on. */
double wfi_reference_slab_cells(const wfi_reference_slab *s, int64_t planes);

/* Reads the planes that those from `first` to `end` - 1 depend on. */
void wfi_reference_slab_begin(wfi_reference_slab *s, int64_t first, int64_t end);

/* False: the application cancels. */
bool wfi_reference_slab_step(wfi_reference_slab *s);

static inline double *wfi_reference_slab_row(const wfi_reference_slab *s, double *values, int64_t j,
                                             int64_t k)
{
    return values + ((k - s->planes.low) * s->height + j + s->pad_j) * s->width + s->g->radius;
}

/* The cell of the grid that stands for one beyond its ends. */
int64_t wfi_stencil_within(const wfi_stencil_reference *g, int64_t at, int64_t n);

/* Whether all cells at `at` along an axis of n keep their values. */
bool wfi_stencil_keeps(const wfi_stencil_reference *g, int64_t at, int64_t n);

double wfi_stencil_element(const wfi_stencil_reference *g, const void *data, int64_t i, int64_t j,
                           int64_t k);

#endif
