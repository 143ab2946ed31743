/* Allocations that fail, for a test that asks for it in its own process. */
#ifndef WFI_TESTS_FAULTS_ALLOCATIONS_H
#define WFI_TESTS_FAULTS_ALLOCATIONS_H

#include <stdbool.h>

/* Counts from 0 while on, and has the n-th one fail (0: none); returns the count until now. */
unsigned faulty_allocations(bool on, unsigned n);
/* Allocations that were made and not freed. */
int faulty_allocated(void);

#endif
