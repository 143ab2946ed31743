/* What there is to know of an element type on the host: one row a type. */
#ifndef WFI_CORE_ELEMENT_H
#define WFI_CORE_ELEMENT_H

#include "wavefit/wavefit.h"

typedef struct wfi_element {
    const char *name;
    size_t size;
    /* Whether shaders may load and store the type; NULL: every device lets them. */
    bool (*stored)(const wf_caps *caps);
    uint32_t feature; /* WF_WITHHELD_…: what is missing where it may not be stored */
    /* One element as f64, and an f64 rounded to one; `at` need not be aligned. */
    double (*get)(const void *at);
    void (*set)(void *at, double value);
    /* Elements first, first + step, … as f64. */
    void (*read)(const void *data, uint64_t first, uint64_t step, uint64_t count, double *out);
    bool whole;        /* integers: products add them up in 32-bit integers, which C and bias are */
    wf_type real;      /* of sums, of scalars and of what is not stored so; of integers f64 */
    uint32_t sum_size; /* bytes of a sum of products */
    /* Of a number that is rounded to the type: the largest error relative to it, and the largest
     * beside that, of numbers near 0. Vulkan leaves open which way f16 rounds. */
    double rounding, underflow;
    double largest;          /* number; INFINITY: as large as that of the sums */
    const char *numpy;       /* its name in .npy files; NULL: it has none */
    uint32_t component;      /* VkComponentTypeKHR of factors on matrix units */
    const char *ceilings[2]; /* `wavefit peaks` of instructions for products of it; or NULL */
    /* Whether matrix units multiply it; NULL: none do. */
    bool (*multiplied)(const wf_caps *caps);
} wfi_element;

/* Stored with less precision than its sums have. */
static inline bool wfi_element_narrow(const wfi_element *element)
{
    return element->rounding > 0;
}

/* NULL for an unknown type. */
const wfi_element *wfi_element_of(wf_type type);

#endif
