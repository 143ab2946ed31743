/* What runs and how much is left, on standard error, where that is a terminal and it takes longer
 * than a second. */
#ifndef WFI_TOOL_CLI_PROGRESS_H
#define WFI_TOOL_CLI_PROGRESS_H

#include <stdbool.h>

/* Shows "[=====     ] what"; does nothing when quiet or not on a terminal. A fraction that is NaN
 * is not known: instead of a bar the line then has the seconds that passed. */
void wfi_progress_show(bool quiet, double fraction, const char *what);
/* What the case that is shown is at; where none is, the same as wfi_progress_show. */
void wfi_progress_phase(bool quiet, double fraction, const char *what);
/* Clears the line. */
void wfi_progress_clear(bool quiet);

#endif
