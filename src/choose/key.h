/* How alike two problems are, by their keys. */
#ifndef WFI_CHOOSE_KEY_H
#define WFI_CHOOSE_KEY_H

#include "plan/hooks.h"

#define WFI_KEY_FARTHEST 4 /* half octaves over all classes that may lie between like problems */
/* So far may a row be from the problem that it is chosen for without being tried there: the row
 * of 1000 x 2000 x 3000, 3 away, took 433 us at 2048^3 on an H100, the model's point 375. */
#define WFI_KEY_CHOSEN 2

wfi_key wfi_key_of(const wfi_problem *problem);

bool wfi_key_equal(const wfi_key *a, const wfi_key *b);

/* The distance of two problems in half octaves, summed over all classes; < 0: what is best for
 * one says nothing about the other (they differ in family, type or kind, or a size is over twice
 * the other). */
int wfi_key_distance(const wfi_key *a, const wfi_key *b);

/* The problem in a few characters, "1000x2000x3000". */
void wfi_problem_text(const wfi_problem *problem, char *text, size_t bytes);

#endif
