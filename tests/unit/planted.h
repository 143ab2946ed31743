/* What tests of checks draw the faults with that they plant. */
#ifndef WFI_TEST_PLANTED_H
#define WFI_TEST_PLANTED_H

#include <stdint.h>
#include <stdlib.h>

static uint64_t random_state; /* a test sets it to its seed */

/* How many of each fault are planted. Sanitizers look for others: one of each is enough there. */
static inline uint64_t seeds(void)
{
    return getenv("WAVEFIT_TEST_QUICK") ? 1 : 5;
}

/* From -1 to 1. */
static inline double uniform(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(random_state >> 11) * 0x1p-52 - 1;
}

#endif
