/* Sums and sorting on the device, in lists of dispatches (passes.h): every pass ends before the
 * next begins, and nothing waits within one. All arrays are regions of one buffer, in words. */
#ifndef WFI_KERNELS_SPMV_ANALYSIS_ORDER_H
#define WFI_KERNELS_SPMV_ANALYSIS_ORDER_H

#include "kernels/spmv/analysis/passes.h"

/* Words of scratch that sums over `count` words take. */
uint64_t wfi_scan_words(uint64_t count);
/* Replaces each of `count` words by the sum of those before it, modulo 2^32. */
void wfi_passes_scan(wfi_passes *passes, VkDescriptorBufferInfo work, uint32_t at, uint32_t count,
                     uint32_t scratch);

typedef struct wfi_sort {
    uint32_t count;   /* elements, which are indices of keys */
    uint32_t keys_at; /* a key for each index; equal ones keep their order */
    uint32_t bits;    /* that keys have, at least 1 */
    uint32_t at[2];   /* two regions of `count` words */
    uint32_t scratch; /* wfi_sort_words(count) words */
} wfi_sort;

uint64_t wfi_sort_words(uint64_t count);
/* Sorts 0, 1, … count - 1 by their keys; returns the region that has the outcome. */
uint32_t wfi_passes_sort(wfi_passes *passes, VkDescriptorBufferInfo work, const wfi_sort *sort);

#endif
