/* Whether a row that was measured for one problem is worth taking for another one like it. */
#ifndef WFI_CHOOSE_NEIGHBOUR_H
#define WFI_CHOOSE_NEIGHBOUR_H

#include "choose/tuning_data.h"

/* What the model says of a problem: its own choice, the time that it expects of that, and the time
 * that it expects of the row's point; < 0: it knows none. */
typedef struct wfi_model_view {
    wfi_named_point choice;
    double choice_time, row_time;
} wfi_model_view;

/* `there`: at the problem that the row was measured for; `here`: at the problem that is asked for;
 * `error`: the relative error of the model's times, 0.06 for 6 %. True where the model cannot tell.
 */
bool wfi_row_serves(const wfi_tuning_entry *entry, const wfi_model_view *there,
                    const wfi_model_view *here, double error);

#endif
