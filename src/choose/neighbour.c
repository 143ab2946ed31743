/* The model is wrong about a row's point by some factor, which is known where the row was measured:
 * the search timed the point and the model's own choice, and the model expected other times of the
 * two. It is taken to be as wrong about the point at a problem nearby, give or take the error that
 * its predictions have. */
#include "choose/neighbour.h"

/* How many times longer than the row's point the model's choice took where the row was measured. A
 * search times the model's choice first, so that a choice that is not among the best took longer
 * than the last of them. Rows that ship have one point, of which no gain is known. */
static double gain_of(const wfi_tuning_entry *entry, const wfi_named_point *choice)
{
    uint32_t i = 0;
    while (i + 1 < entry->best_count && !wfi_named_point_same(&entry->best[i], choice))
        i++;
    const double best = (double)entry->best[0].time_ns;
    return best > 0 && entry->best[i].time_ns ? (double)entry->best[i].time_ns / best : 1;
}

bool wfi_row_serves(const wfi_tuning_entry *entry, const wfi_model_view *there,
                    const wfi_model_view *here, double error)
{
    if (there->choice_time <= 0 || there->row_time <= 0 || here->choice_time <= 0 ||
        here->row_time <= 0)
        return true;
    const double measured = gain_of(entry, &there->choice),
                 wrong = there->row_time / there->choice_time * measured;
    return here->row_time / here->choice_time <= wrong * (1 + error);
}
