/* Picks the variant and its values for a problem: what the user forces comes first, then what
 * was measured on this device, then rows that ship with wavefit, then the model. */
#ifndef WFI_CHOOSE_CHOOSE_H
#define WFI_CHOOSE_CHOOSE_H

#include "plan/family.h"

wf_result wfi_choose(wf_device *device, const wfi_problem *problem, const wf_tuning *tuning,
                     wfi_choice *out);
/* The same where a refusal is no failure: nothing is logged. */
wf_result wfi_choose_silently(wf_device *device, const wfi_problem *problem,
                              const wf_tuning *tuning, wfi_choice *out);

#endif
