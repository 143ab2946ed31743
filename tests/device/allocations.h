/* Counts what the library and a test allocate from the C library, and has it fail. The test's
 * executable is linked with --wrap for malloc, calloc and realloc (wavefit_count_allocations in
 * CMakeLists.txt). */
#ifndef WFI_TESTS_ALLOCATIONS_H
#define WFI_TESTS_ALLOCATIONS_H

#include <stdbool.h>

/* Counting goes on from the count so far. */
void test_count_allocations(bool on);
unsigned test_allocations(void);
/* The n-th allocation from now on finds no memory; 0: none. */
void test_fail_allocation(unsigned n);

#endif
