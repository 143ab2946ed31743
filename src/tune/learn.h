/* What points that were timed say of those that were not. The logarithm of a point's time over what
 * the model expects of it, or of its time alone where the model knows none, is taken for a sum of
 * one number for each of its values, by ridge regression (Hoerl, Kennard 1970) over the points of
 * its variant; fast points count more. */
#ifndef WFI_TUNE_LEARN_H
#define WFI_TUNE_LEARN_H

#include "plan/family.h"

typedef struct wfi_learned wfi_learned;

/* Of no points yet; NULL without memory. */
wfi_learned *wfi_learned_open(const wfi_family *family);
void wfi_learned_free(wfi_learned *learned);

/* Takes in a point and its time; 0: it has none and counts as a slow one, since it spills. Without
 * memory nothing is learned of it. */
void wfi_learned_add(wfi_learned *learned, const wfi_point *point, double seconds);
/* Learns from what was taken in since. */
void wfi_learned_fit(wfi_learned *learned);

/* How many of the variant's points were taken in. */
uint32_t wfi_learned_count(const wfi_learned *learned, uint32_t variant);
/* Seconds that the point may take: what is expected of it, and as much less as is not known of its
 * values. Negative: nothing is known of it. Points of a variant of which little was learned are as
 * the model has them, all by the same factor off. */
double wfi_learned_expect(const wfi_learned *learned, const wfi_point *point);

#endif
