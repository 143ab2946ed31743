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
} wfi_element;

/* NULL for an unknown type. */
const wfi_element *wfi_element_of(wf_type type);

#endif
