/* Rates of a device that only have to be there. */
#ifndef WFI_MODEL_ROUGH_H
#define WFI_MODEL_ROUGH_H

#include <stdbool.h>

/* WAVEFIT_ROUGH_RATES=1: rates are measured within milliseconds, for tests, which start the tool
 * hundreds of times and compare with no rate. */
bool wfi_rates_are_rough(void);

#endif
