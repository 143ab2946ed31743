/* Accesses of an algorithm written down one by one, and the bytes that wavefit counts of it. */
#ifndef TESTS_UNIT_COUNTING_H
#define TESTS_UNIT_COUNTING_H

#include <stdbool.h>
#include <stdint.h>

#include "plan/family.h"

enum { COUNTED_MOST = 1 << 16 }; /* elements of all arrays */

/* Accesses by elements; `seen` is of the work-group under way. */
typedef struct counting {
    double items, groups;
    bool seen[COUNTED_MOST];
} counting;

extern counting counted;

void begin_group(void);
void touch(uint64_t element);
/* What the variant counts with these constants, up to one without a name, on a device with
 * subgroups of 32, or of the caps given; begins to count anew. */
wfi_traffic traffic_of(const wfi_problem *problem, const char *variant,
                       const wf_constant *constants);
wfi_traffic traffic_on(const wf_caps *caps, const wfi_problem *problem, const char *variant,
                       const wf_constant *constants);
/* The point of such constants. */
wfi_point point_of(const wf_caps *caps, const wfi_problem *problem, const char *variant,
                   const wf_constant *constants);
int clamp_to(int value, int low, int high);

#endif
