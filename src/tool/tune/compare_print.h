/* The tables of `wavefit tune --compare`. */
#ifndef WFI_TOOL_TUNE_COMPARE_PRINT_H
#define WFI_TOOL_TUNE_COMPARE_PRINT_H

#include "io/comparison.h"

/* Time of the best rival; 0: none ran. */
double wfi_compared_best(const wfi_compared *item);

/* Prints the losses of every problem, what was chosen, and medians and worst cases by family and in
 * all, beside what is expected. `count` is at most WFI_MAX_TUNE_PROBLEMS, and not 0. */
void wfi_compare_print(const wfi_comparison_file *file, const wfi_compared *const *items,
                       uint32_t count);

#endif
