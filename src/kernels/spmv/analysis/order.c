#include "kernels/spmv/analysis/order.h"

#include "wfi_shaders.h"

#define TILE (WFI_PASS_GROUP * UINT64_C(8)) /* words of a work-group; as in the shaders */
#define FEW_TILES 8 /* that one work-group sums in less time than three dispatches take */
#define DIGIT_BITS 4
#define DIGIT_VALUES 16

static uint64_t tiles_of(uint64_t count)
{
    return (count + TILE - 1) / TILE;
}

/* As in analysis_scan.comp, analysis_add.comp and analysis_sort.comp. */
typedef struct scan_push {
    uint32_t at, count, sums_at;
} scan_push;
typedef struct sort_push {
    uint32_t count, from, to, keys_at, shift, counts_at, tiles, identity;
} sort_push;

uint64_t wfi_scan_words(uint64_t count)
{
    uint64_t words = 0;
    do {
        count = tiles_of(count);
        words += count;
    } while (count > 1);
    return words;
}

void wfi_passes_scan(wfi_passes *passes, VkDescriptorBufferInfo work, uint32_t at, uint32_t count,
                     uint32_t scratch)
{
    const wfi_pass_kernel scan = {
        &wfi_spv_analysis_scan, WFI_PASS_GROUP, 1, sizeof(scan_push), {0}, 0};
    const wfi_pass_kernel add = {
        &wfi_spv_analysis_add, WFI_PASS_GROUP, 1, sizeof(scan_push), {0}, 0};
    scan_push levels[4]; /* 2^32 words have four */
    uint32_t level = 0;
    for (;; level++) {
        const uint32_t all = (uint32_t)tiles_of(count), tiles = all <= FEW_TILES ? 1 : all;
        levels[level] = (scan_push){at, count, scratch};
        wfi_passes_dispatch(passes, &scan, tiles, &work, &levels[level]);
        if (tiles <= 1)
            break;
        at = scratch;
        count = tiles;
        scratch += tiles;
    }
    while (level-- > 0)
        wfi_passes_dispatch(passes, &add, tiles_of(levels[level].count), &work, &levels[level]);
}

uint64_t wfi_sort_words(uint64_t count)
{
    const uint64_t counts = DIGIT_VALUES * tiles_of(count);
    return counts + wfi_scan_words(counts);
}

uint32_t wfi_passes_sort(wfi_passes *passes, VkDescriptorBufferInfo work, const wfi_sort *sort)
{
    const wfi_pass_kernel digits = {
        &wfi_spv_analysis_digits, WFI_PASS_GROUP, 1, sizeof(sort_push), {0}, 0};
    const wfi_pass_kernel scatter = {
        &wfi_spv_analysis_scatter, WFI_PASS_GROUP, 1, sizeof(sort_push), {0}, 0};
    const uint32_t tiles = (uint32_t)tiles_of(sort->count), counts = DIGIT_VALUES * tiles;
    uint32_t from = sort->at[1], to = sort->at[0];
    for (uint32_t shift = 0; shift < sort->bits; shift += DIGIT_BITS) {
        const sort_push push = {sort->count, from,          to,    sort->keys_at,
                                shift,       sort->scratch, tiles, shift == 0};
        wfi_passes_dispatch(passes, &digits, tiles, &work, &push);
        wfi_passes_scan(passes, work, sort->scratch, counts, sort->scratch + counts);
        wfi_passes_dispatch(passes, &scatter, tiles, &work, &push);
        from = to;
        to = from == sort->at[0] ? sort->at[1] : sort->at[0];
    }
    return from;
}
