/* The place of a call: the return addresses of this program's own code that lead to it. A fault at
 * the k-th call of a place hits the same code in every run, also where the number of calls before
 * it depends on time; and calls of one place are the same code reached again. */
#ifndef WFI_TESTS_FAULTS_PLACES_H
#define WFI_TESTS_FAULTS_PLACES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Of a fault that is asked for as "K@PLACE": the K-th call at that place. */
typedef struct faulty_at {
    unsigned k; /* 0: at no place */
    uint64_t place;
} faulty_at;

/* Reads "K@PLACE" at the beginning of text; returns the length, 0 where there is no place. */
int faulty_at_read(const char *text, faulty_at *at);

/* Counts this call of what has that number; true where it is the one asked for by `at`, if any.
 * Nothing happens where neither `at` is given nor WAVEFIT_FAULTY_PLACES is in the environment. */
bool faulty_place(int what, const faulty_at *at);

/* A line "place NAME(what) PLACE COUNT ADDRESS,ADDRESS…" for each place. */
void faulty_places_write(FILE *file, const char *(*name)(int what));

#endif
