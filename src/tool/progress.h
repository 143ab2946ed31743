/* What runs and how much is left, on standard error, where that is a terminal. */
#ifndef WFI_TOOL_PROGRESS_H
#define WFI_TOOL_PROGRESS_H

#include <stdbool.h>

/* Shows "[=====     ] what"; does nothing when quiet or not on a terminal. A fraction that is NaN is
 * not known, and no bar is drawn. */
void wfi_progress_show(bool quiet, double fraction, const char *what);
/* What the case that is shown is at; where none is, the same as wfi_progress_show. */
void wfi_progress_part(bool quiet, double fraction, const char *what);
/* Clears the line. */
void wfi_progress_clear(bool quiet);

/* From the first call on Ctrl-C no longer ends the program; it is reported here. */
bool wfi_interrupted(void);

/* The same, but leaves Ctrl-C as it is: before anything is measured it ends the program. */
bool wfi_interrupt_noted(void);

/* From now on the signal `number` is reported there in place of Ctrl-C, which is ignored, however
 * often it comes: for a child whose parent decides what Ctrl-C means. */
void wfi_interrupted_by(int number);

#endif
