#include "kernels/spmv/analysis/cut.h"

#include "kernels/spmv/analysis/order.h"
#include "wfi_shaders.h"

/* As in the shaders. */
#define FIRST_KEY 15
#define LOCAL_WINDOW 256
#define NOT_KNOWN UINT32_MAX
#define CUT_TILE 512
#define WALK_RUN 64
#define FEW_RUNS 3 /* that one work-group takes less time for than three dispatches do */
#define STATE_WORDS 8
enum { SHARED_ROWS, SHARED_SLICES, SEGMENT_SLICES, LONG_ROWS, SLICES, ORDERED };

_Static_assert(sizeof(wfi_cut_push) == 92 && sizeof(wfi_cut_push) <= WFI_PASS_PUSH,
               "members lie as in analysis_lengths.glsl");

uint32_t wfi_take_words(uint64_t *words, uint64_t count)
{
    const uint64_t at = *words;
    *words += count;
    return (uint32_t)at;
}

uint64_t wfi_groups_of(uint64_t items, uint64_t group)
{
    return (items + group - 1) / group;
}

wf_result wfi_cut_buffer(const wfi_device_csr *csr, uint64_t words, wf_buffer **out)
{
    wf_device *device = csr->device;
    const uint64_t bytes = words ? words * 4 : 4;
    if (bytes > device->caps.max_storage_range || bytes > device->caps.max_buffer)
        return WF_NOT_READY;
    wf_result result = wfi_device_goes_on(device);
    return result == WF_SUCCESS ? wf_buffer_create(device, bytes, WF_MEMORY_DEVICE, out) : result;
}

/* A kernel that goes by the lengths of rows. */
static void lengths_pass(wfi_cutter *c, const wfi_spirv *spirv, uint64_t groups)
{
    const wfi_pass_kernel kernel = {
        spirv, WFI_PASS_GROUP, c->slices ? 3 : 2, sizeof(wfi_cut_push), {c->equal}, 0};
    const VkDescriptorBufferInfo buffers[] = {c->csr->row_offsets, wfi_pass_whole(c->work),
                                              wfi_pass_whole(c->slices ? c->slices : c->work)};
    wfi_passes_dispatch(c->passes, &kernel, groups, buffers, &c->push);
}

static void walk_pass(wfi_cutter *c, const wfi_spirv *spirv, uint64_t groups)
{
    const wfi_pass_kernel kernel = {spirv, WFI_PASS_GROUP, 1, sizeof(wfi_cut_push), {c->equal}, 0};
    const VkDescriptorBufferInfo work = wfi_pass_whole(c->work);
    wfi_passes_dispatch(c->passes, &kernel, groups, &work, &c->push);
}

/* Whether rows are sorted by windows and classes at once, since windows are too large for a
 * work-group's shared memory. */
static bool has_keys_of_windows(const wfi_cutter *c)
{
    return c->push.window > LOCAL_WINDOW;
}

/* The largest key that a row can have. */
static uint64_t largest_key(const wfi_cutter *c, bool reorders)
{
    const wfi_cut_push *p = &c->push;
    const uint64_t first = reorders ? FIRST_KEY : 0;
    return has_keys_of_windows(c)
               ? first + ((p->rows - 1) / p->window + UINT64_C(1)) * (p->direct + UINT64_C(1))
               : first;
}

/* Lays the work out. Rows that keep their order need none of the arrays that sort. */
static wf_result start(wfi_cutter *c, bool reorders)
{
    wfi_cut_push *p = &c->push;
    const uint64_t tiles = wfi_groups_of(p->rows, CUT_TILE), runs = wfi_groups_of(tiles, WALK_RUN);
    p->in_order = !reorders && p->window <= 1;
    const uint64_t key = largest_key(c, reorders), sorted = key ? p->rows : 0;
    if (key > UINT32_MAX || p->subgroup > WFI_PASS_GROUP)
        return WF_NOT_READY;
    while (c->key_bits < 32 && key >> c->key_bits)
        c->key_bits++;
    uint64_t words = 0;
    p->state_at = wfi_take_words(&words, STATE_WORDS);
    p->keys_at = wfi_take_words(&words, sorted);
    p->order_at = wfi_take_words(&words, p->in_order ? 0 : p->rows);
    c->other_at = wfi_take_words(&words, sorted);
    c->counts_at = wfi_take_words(&words, sorted ? wfi_sort_words(sorted) : 0);
    c->sums_at = wfi_take_words(&words, sorted ? wfi_scan_words(sorted + 1) : 0);
    p->tiles_at = wfi_take_words(&words, tiles * p->subgroup);
    p->supers_at = wfi_take_words(&words, 2 * runs * p->subgroup);
    p->entries_at = wfi_take_words(&words, 2 * runs * WALK_RUN);
    wf_result result = wfi_cut_buffer(c->csr, words, &c->work);
    if (result == WF_SUCCESS)
        wfi_passes_fill(c->passes, c->work, 0, STATE_WORDS * 4, 0);
    return result;
}

/* Counts the rows that several subgroups multiply and those that one does, and leaves each of these
 * its place among its like where the order will be, if keys are made of it. */
static void count_shared(wfi_cutter *c)
{
    lengths_pass(c, &wfi_spv_analysis_direct, wfi_groups_of(c->push.rows, WFI_PASS_GROUP));
    if (has_keys_of_windows(c))
        wfi_passes_scan(c->passes, wfi_pass_whole(c->work), c->push.order_at, c->push.rows,
                        c->sums_at);
}

static void sort_rows(wfi_cutter *c)
{
    const wfi_sort sort = {
        c->push.rows, c->push.keys_at, c->key_bits, {c->other_at, c->push.order_at}, c->counts_at};
    if (c->key_bits) {
        lengths_pass(c, &wfi_spv_analysis_keys, wfi_groups_of(c->push.rows, WFI_PASS_GROUP));
        c->push.order_at = wfi_passes_sort(c->passes, wfi_pass_whole(c->work), &sort);
    }
    if (c->push.window > 1 && !has_keys_of_windows(c))
        lengths_pass(c, &wfi_spv_analysis_window, wfi_groups_of(c->push.rows, c->push.window));
}

/* What the host needs to know of the slices. */
static void take_state(wfi_cutter *c, const uint32_t *state, bool reorders)
{
    c->push.ordered = reorders ? state[ORDERED] : c->push.rows;
    c->push.shared_rows = state[SHARED_ROWS];
    c->push.shared_slices = state[SHARED_SLICES];
    c->slices_count = state[SLICES];
    c->segment_slices = state[SEGMENT_SLICES];
    c->long_rows = state[LONG_ROWS];
}

wf_result wfi_cut(wfi_cutter *c, bool reorders)
{
    uint32_t state[STATE_WORDS];
    c->push.ordered = reorders ? NOT_KNOWN : c->push.rows;
    wf_result result = start(c, reorders);
    if (result != WF_SUCCESS)
        return result;
    if (reorders)
        count_shared(c);
    if (!c->push.in_order)
        sort_rows(c);
    const uint64_t tiles = wfi_groups_of(c->push.rows, CUT_TILE);
    const uint64_t runs = wfi_groups_of(tiles, WALK_RUN);
    lengths_pass(c, &wfi_spv_analysis_cut_tiles, tiles);
    if (runs <= FEW_RUNS) {
        walk_pass(c, &wfi_spv_analysis_walk_few, 1);
    } else {
        walk_pass(c, &wfi_spv_analysis_walk_supers, runs);
        walk_pass(c, &wfi_spv_analysis_walk_all, 1);
        walk_pass(c, &wfi_spv_analysis_walk_tiles, runs);
    }
    wfi_passes_see(c->passes, c->work, c->push.state_at * UINT64_C(4), sizeof state, state);
    result = wfi_passes_run(c->passes);
    if (result == WF_SUCCESS)
        take_state(c, state, reorders);
    return result;
}

void wfi_cut_write(wfi_cutter *c)
{
    const uint32_t shared = c->push.shared_rows;
    wfi_passes_fill(c->passes, c->slices, 0, c->slices->bytes, 0);
    if (shared) {
        lengths_pass(c, &wfi_spv_analysis_shared_counts, wfi_groups_of(shared, WFI_PASS_GROUP));
        wfi_passes_scan(c->passes, wfi_pass_whole(c->work), c->push.keys_at, shared, c->sums_at);
        lengths_pass(c, &wfi_spv_analysis_shared_rows, shared);
    }
    lengths_pass(c, &wfi_spv_analysis_cut_slices, wfi_groups_of(c->push.ordered, CUT_TILE));
}

void wfi_cut_close(wfi_cutter *c)
{
    wf_buffer_destroy(&c->work);
    wf_buffer_destroy(&c->slices);
}
