/* The curve of a sustained run: its windows, and what they come to. */
#ifndef WFI_TOOL_CLI_CURVE_H
#define WFI_TOOL_CLI_CURVE_H

#include "io/results.h"

typedef struct wfi_curve {
    wfi_window *windows;
    uint32_t count, room;
} wfi_curve;

/* False when out of memory. rate NaN: a pause; pauses that follow one another become one. */
bool wfi_curve_add(wfi_curve *curve, double start, double seconds, double rate);
void wfi_curve_free(wfi_curve *curve);

/* Fills what follows from the windows; the asked members are the caller's. */
void wfi_curve_summarise(const wfi_curve *curve, wfi_sustained *out);

#endif
