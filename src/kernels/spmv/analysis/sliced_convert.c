#include "kernels/spmv/analysis/sliced_convert.h"

#include "core/arithmetic.h"
#include "kernels/spmv/analysis/order.h"
#include "wfi_shaders.h"

/* As in the shaders. */
#define FIRST_KEY 16
#define CUT_TILE 512
#define WALK_RUN 64
#define BUCKET_BITS 11
#define STATE_WORDS 8
enum { SHARED_ROWS, SHARED_SLICES, SEGMENT_SLICES, LONG_ROWS, SLICES };

/* As in analysis_lengths.glsl. */
typedef struct lengths_push {
    uint32_t rows, subgroup, direct, row_subgroups, window, most, shared_rows, shared_slices;
    uint32_t keys_at, order_at, state_at, tiles_at, supers_at, entries_at;
    uint32_t list_at, info_at, loads_at, segments_at, in_order;
} lengths_push;

/* As in sliced_slice.glsl. */
typedef struct slices_push {
    uint32_t count, list_at, info_at, loads_at, kinds_at, keys_at, words_at;
    uint32_t sorted_at, runs_at, leaders_at, segments_at, segment_slices, row_subgroups;
    uint32_t indices_at;
} slices_push;

_Static_assert(sizeof(lengths_push) == 76 && sizeof(slices_push) == 56 &&
                   sizeof(lengths_push) <= WFI_PASS_PUSH,
               "members lie as in the shaders");

/* A conversion under way. */
typedef struct converter {
    wfi_passes *passes;
    const wfi_device_csr *csr;
    const wfi_sliced_params *params;
    wfi_sliced_how how;
    wf_buffer *work, *slices; /* of the rows; of the slices */
    lengths_push lengths;
    slices_push push;
    uint32_t counts_at, sums_at, other_at, scratch_at;
    uint32_t key_bits, state[STATE_WORDS];
    uint32_t loads, words; /* of all slices */
    uint64_t list_words;
} converter;

/* Takes the next words of a layout. */
static uint32_t take(uint64_t *words, uint64_t count)
{
    const uint64_t at = *words;
    *words += count;
    return (uint32_t)at;
}

/* A buffer of so many words that is one binding; WF_NOT_READY where it cannot be. */
static wf_result make(const converter *c, uint64_t words, wf_buffer **out)
{
    wf_device *device = c->csr->device;
    const uint64_t bytes = words ? words * 4 : 4;
    if (bytes > device->caps.max_storage_range || bytes > device->caps.max_buffer)
        return WF_NOT_READY;
    wf_result result = wfi_device_goes_on(device);
    return result == WF_SUCCESS ? wf_buffer_create(device, bytes, WF_MEMORY_DEVICE, out) : result;
}

static uint64_t groups_of(uint64_t items, uint64_t group)
{
    return (items + group - 1) / group;
}

/* A kernel that goes by the lengths of rows. */
static void lengths_pass(converter *c, const wfi_spirv *spirv, uint64_t groups)
{
    const wfi_pass_kernel kernel = {
        spirv, WFI_PASS_GROUP, c->slices ? 3 : 2, sizeof(lengths_push), {0}, 0};
    const VkDescriptorBufferInfo buffers[] = {c->csr->row_offsets, wfi_pass_whole(c->work),
                                              wfi_pass_whole(c->slices ? c->slices : c->work)};
    wfi_passes_dispatch(c->passes, &kernel, groups, buffers, &c->lengths);
}

static void walk_pass(converter *c, const wfi_spirv *spirv, uint64_t groups)
{
    const wfi_pass_kernel kernel = {spirv, WFI_PASS_GROUP, 1, sizeof(lengths_push), {0}, 0};
    const VkDescriptorBufferInfo work = wfi_pass_whole(c->work);
    wfi_passes_dispatch(c->passes, &kernel, groups, &work, &c->lengths);
}

/* A kernel on slices, `groups` work-groups of `size`. */
static void slices_pass(converter *c, const wfi_spirv *spirv, uint32_t size, uint64_t groups)
{
    const wfi_pass_kernel kernel = {spirv, size, 3, sizeof(slices_push), {0}, 0};
    const VkDescriptorBufferInfo buffers[] = {c->csr->row_offsets, c->csr->column_indices,
                                              wfi_pass_whole(c->slices)};
    wfi_passes_dispatch(c->passes, &kernel, groups, buffers, &c->push);
}

/* Kernels that walk slices, a work-group a subgroup: in shared memory, and by shuffles. */
typedef enum walker { MEASURE, PATTERN, PLACES, VALUES } walker;

static const wfi_spirv *const walkers[][2] = {
    [MEASURE] = {&wfi_spv_sliced_measure, &wfi_spv_sliced_measure_shuffles},
    [PATTERN] = {&wfi_spv_sliced_pattern, &wfi_spv_sliced_pattern_shuffles},
    [PLACES] = {&wfi_spv_sliced_places, &wfi_spv_sliced_places_shuffles},
    [VALUES + WF_TYPE_F32] = {&wfi_spv_sliced_values_f32, &wfi_spv_sliced_values_shuffles_f32},
    [VALUES + WF_TYPE_F64] = {&wfi_spv_sliced_values_f64, &wfi_spv_sliced_values_shuffles_f64},
    [VALUES + WF_TYPE_F16] = {&wfi_spv_sliced_values_f16, &wfi_spv_sliced_values_shuffles_f16},
};

/* The kernel on all slices; `out` is what it writes beside the work of the slices, if anything. */
static void walk_slices(converter *c, walker which, const wf_buffer *out)
{
    const wf_caps *caps = &c->csr->device->caps;
    const uint32_t size = c->params->subgroup;
    const bool pairs = which >= PLACES && c->csr->type == WF_TYPE_F64;
    const bool varies = caps->subgroup_min != caps->subgroup_max;
    const wfi_pass_kernel kernel = {
        walkers[which == VALUES ? VALUES + c->csr->type : which][c->how.shuffles],
        size,
        which == VALUES ? 5
        : out           ? 4
                        : 3,
        sizeof(slices_push),
        {pairs},
        c->how.shuffles && varies ? size : 0};
    const VkDescriptorBufferInfo buffers[] = {
        c->csr->row_offsets, c->csr->column_indices, wfi_pass_whole(c->slices),
        wfi_pass_whole(out ? out : c->slices), c->csr->values};
    wfi_passes_dispatch(c->passes, &kernel, c->push.count, buffers, &c->push);
}

bool wfi_sliced_has_shuffles(const wf_caps *caps, uint32_t subgroup)
{
    const uint32_t needed = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    const bool varies = caps->subgroup_min != caps->subgroup_max;
    return (caps->subgroup_operations & needed) == needed && caps->subgroup_size == subgroup &&
           (!varies || caps->subgroup_size_control);
}

/* ------------------------------------------------------------------------------ order and slices */

/* The largest key that a row can have. */
static uint64_t largest_key(const converter *c, bool has_shared)
{
    const lengths_push *l = &c->lengths;
    const uint64_t first = has_shared ? FIRST_KEY : 0;
    return l->window > 1 ? first + ((l->rows - 1) / l->window + UINT64_C(1)) * (l->direct + 1)
                         : first;
}

/* Lays the work of the rows out. Rows that keep their order need none of the arrays that sort. */
static wf_result start(converter *c, bool has_shared)
{
    const wfi_sliced_params *p = c->params;
    const uint64_t rows = c->csr->rows, tiles = groups_of(rows, CUT_TILE);
    const uint64_t runs = groups_of(tiles, WALK_RUN);
    c->lengths = (lengths_push){.rows = c->csr->rows,
                                .subgroup = p->subgroup,
                                .direct = wfi_sliced_direct_entries(p),
                                .row_subgroups = p->row_subgroups,
                                .window = p->window,
                                .most = 4 * p->loads * p->subgroup,
                                .in_order = !has_shared && p->window <= 1};
    const uint64_t key = largest_key(c, has_shared), sorted = c->lengths.in_order ? 0 : rows;
    if (key > UINT32_MAX || p->subgroup > WFI_PASS_GROUP)
        return WF_NOT_READY;
    while (c->key_bits < 32 && key >> c->key_bits)
        c->key_bits++;
    uint64_t words = 0;
    c->lengths.state_at = take(&words, STATE_WORDS);
    c->lengths.keys_at = take(&words, sorted);
    c->lengths.order_at = take(&words, sorted);
    c->other_at = take(&words, sorted);
    c->counts_at = take(&words, sorted ? wfi_sort_words(sorted) : 0);
    c->sums_at = take(&words, sorted ? wfi_scan_words(sorted) : 0);
    c->lengths.tiles_at = take(&words, tiles * p->subgroup);
    c->lengths.supers_at = take(&words, 2 * runs * p->subgroup);
    c->lengths.entries_at = take(&words, 2 * runs * WALK_RUN);
    wf_result result = make(c, words, &c->work);
    if (result == WF_SUCCESS)
        wfi_passes_fill(c->passes, c->work, 0, STATE_WORDS * 4, 0);
    return result;
}

static void read_state(converter *c)
{
    VkDescriptorBufferInfo state = wfi_pass_whole(c->work);
    state.offset = c->lengths.state_at * UINT64_C(4);
    state.range = sizeof c->state;
    wfi_passes_read(c->passes, state, c->state);
}

/* Counts the rows that several subgroups multiply, and leaves each other row's place among its
 * like where the order will be. */
static wf_result count_shared(converter *c)
{
    const VkDescriptorBufferInfo work = wfi_pass_whole(c->work);
    lengths_pass(c, &wfi_spv_analysis_direct, groups_of(c->csr->rows, WFI_PASS_GROUP));
    wfi_passes_scan(c->passes, work, c->lengths.order_at, c->csr->rows, c->sums_at);
    read_state(c);
    wf_result result = wfi_passes_run(c->passes);
    c->lengths.shared_rows = c->state[SHARED_ROWS];
    c->lengths.shared_slices = c->state[SHARED_SLICES];
    return result;
}

static void sort_rows(converter *c)
{
    const wfi_sort sort = {c->csr->rows,
                           c->lengths.keys_at,
                           c->key_bits,
                           {c->other_at, c->lengths.order_at},
                           c->counts_at};
    lengths_pass(c, &wfi_spv_analysis_keys, groups_of(c->csr->rows, WFI_PASS_GROUP));
    c->lengths.order_at = wfi_passes_sort(c->passes, wfi_pass_whole(c->work), &sort);
}

/* Finds where slices begin; the host learns how many there are. */
static wf_result cut(converter *c)
{
    const uint64_t ordered = c->csr->rows - c->lengths.shared_rows;
    const uint64_t tiles = groups_of(ordered, CUT_TILE), runs = groups_of(tiles, WALK_RUN);
    lengths_pass(c, &wfi_spv_analysis_cut_tiles, tiles);
    walk_pass(c, &wfi_spv_analysis_walk_supers, runs);
    walk_pass(c, &wfi_spv_analysis_walk_all, 1);
    walk_pass(c, &wfi_spv_analysis_walk_tiles, groups_of(runs, WFI_PASS_GROUP));
    read_state(c);
    return wfi_passes_run(c->passes);
}

/* Lays the work of the slices out. */
static wf_result start_slices(converter *c)
{
    const uint64_t count = c->state[SLICES], ordered = c->csr->rows - c->lengths.shared_rows;
    const uint64_t segments = c->state[SEGMENT_SLICES] / c->params->row_subgroups;
    slices_push *p = &c->push;
    uint64_t words = 0;
    c->list_words = wfi_round_up(ordered, 4);
    *p = (slices_push){.count = c->state[SLICES],
                       .segment_slices = c->state[SEGMENT_SLICES],
                       .row_subgroups = c->params->row_subgroups,
                       .indices_at = (uint32_t)(count + segments + c->list_words / 4)};
    p->list_at = take(&words, c->list_words);
    p->info_at = take(&words, 4 * count);
    p->loads_at = take(&words, count + 1);
    p->kinds_at = take(&words, count);
    p->keys_at = take(&words, count);
    p->words_at = take(&words, count + 1);
    p->sorted_at = take(&words, count);
    c->other_at = take(&words, count);
    p->runs_at = take(&words, count + 1);
    p->leaders_at = take(&words, count);
    p->segments_at = take(&words, 4 * segments);
    c->scratch_at = take(&words, wfi_sort_words(count + 1) + wfi_scan_words(count + 1));
    c->lengths.list_at = p->list_at;
    c->lengths.info_at = p->info_at;
    c->lengths.loads_at = p->loads_at;
    c->lengths.segments_at = p->segments_at;
    return make(c, words, &c->slices);
}

/* Writes what slices are of; the rows of shared slices stand in front. */
static void write_slices(converter *c)
{
    const uint32_t shared = c->lengths.shared_rows;
    wfi_passes_fill(c->passes, c->slices, 0, c->slices->bytes, 0);
    if (shared) {
        lengths_pass(c, &wfi_spv_analysis_shared_counts, groups_of(shared, WFI_PASS_GROUP));
        wfi_passes_scan(c->passes, wfi_pass_whole(c->work), c->lengths.keys_at, shared, c->sums_at);
        lengths_pass(c, &wfi_spv_analysis_shared_rows, shared);
    }
    lengths_pass(c, &wfi_spv_analysis_cut_slices, groups_of(c->csr->rows - shared, CUT_TILE));
    wfi_passes_scan(c->passes, wfi_pass_whole(c->slices), c->push.loads_at, c->push.count + 1,
                    c->scratch_at);
}

static void read_word(converter *c, uint32_t at, uint32_t *word)
{
    VkDescriptorBufferInfo info = wfi_pass_whole(c->slices);
    info.offset = at * UINT64_C(4);
    info.range = 4;
    wfi_passes_read(c->passes, info, word);
}

/* Finds each slice's form, which slices share their offsets, and how large all becomes. */
static wf_result measure(converter *c)
{
    const VkDescriptorBufferInfo slices = wfi_pass_whole(c->slices);
    const uint32_t count = c->push.count, scratch = c->scratch_at, size = c->params->subgroup;
    const uint64_t items = groups_of(count, WFI_PASS_GROUP);
    const wfi_sort sort = {
        count, c->push.keys_at, BUCKET_BITS, {c->push.sorted_at, c->other_at}, scratch};
    walk_slices(c, MEASURE, NULL);
    c->push.sorted_at = wfi_passes_sort(c->passes, slices, &sort);
    slices_pass(c, &wfi_spv_sliced_alike, size, count);
    wfi_passes_scan(c->passes, slices, c->push.runs_at, count + 1, scratch);
    slices_pass(c, &wfi_spv_sliced_leaders, WFI_PASS_GROUP, items);
    slices_pass(c, &wfi_spv_sliced_followers, WFI_PASS_GROUP, items);
    wfi_passes_scan(c->passes, slices, c->push.words_at, count + 1, scratch);
    read_word(c, c->push.loads_at + count, &c->loads);
    read_word(c, c->push.words_at + count, &c->words);
    return wfi_passes_run(c->passes);
}

/* Makes the buffers that are wanted and fills them. */
static wf_result fill(converter *c, wfi_sliced_made *made)
{
    wfi_sliced *out = &made->sizes;
    const bool at_once = !c->how.places && c->csr->device->caps.max_storage_buffers >= 5;
    const uint64_t size = at_once ? wf_type_size(c->csr->type) : 4;
    out->place_count = (uint64_t)c->loads * 4 * c->params->subgroup;
    out->slices = c->push.count;
    out->segments = c->push.segment_slices / c->params->row_subgroups;
    out->long_rows = c->state[LONG_ROWS];
    out->group_row_slices = c->params->row_subgroups > 1 ? c->state[SHARED_SLICES] : 0;
    out->segments_at = out->slices;
    out->list_at = (out->slices + out->segments) * 4;
    out->pattern_words = c->push.indices_at * UINT64_C(4) + c->words;
    wf_buffer **slots = at_once ? &made->values : &made->places;
    wf_result result = make(c, out->pattern_words, &made->pattern);
    if (result == WF_SUCCESS)
        result = make(c, (out->place_count * size + 3) / 4, slots);
    if (result != WF_SUCCESS)
        return result;
    const VkDescriptorBufferInfo list = {c->slices->vk, c->push.list_at * UINT64_C(4),
                                         c->list_words * 4};
    const VkDescriptorBufferInfo to = {made->pattern->vk, out->list_at * UINT64_C(4), list.range};
    wfi_passes_fill(c->passes, made->pattern, 0, made->pattern->bytes, 0);
    if (out->place_count == 0)
        wfi_passes_fill(c->passes, *slots, 0, (*slots)->bytes, 0);
    wfi_passes_copy(c->passes, list, to);
    walk_slices(c, PATTERN, made->pattern);
    walk_slices(c, at_once ? VALUES : PLACES, *slots);
    return wfi_passes_run(c->passes);
}

static wf_result convert(converter *c, uint32_t longest_row, wfi_sliced_made *made)
{
    const bool has_shared = longest_row > wfi_sliced_direct_entries(c->params);
    wf_result result = start(c, has_shared);
    if (result == WF_SUCCESS && has_shared)
        result = count_shared(c);
    if (result != WF_SUCCESS)
        return result;
    if (!c->lengths.in_order)
        sort_rows(c);
    result = cut(c);
    if (result == WF_SUCCESS)
        result = start_slices(c);
    if (result != WF_SUCCESS)
        return result;
    write_slices(c);
    result = measure(c);
    return result == WF_SUCCESS ? fill(c, made) : result;
}

void wfi_sliced_made_free(wfi_sliced_made *made)
{
    wf_buffer_destroy(&made->pattern);
    wf_buffer_destroy(&made->places);
    wf_buffer_destroy(&made->values);
}

wf_result wfi_sliced_convert(wfi_passes *passes, const wfi_device_csr *csr,
                             const wfi_sliced_params *params, wfi_sliced_how how,
                             uint32_t longest_row, wfi_sliced_made *made)
{
    converter c = {.passes = passes, .csr = csr, .params = params, .how = how};
    *made = (wfi_sliced_made){.pattern = NULL};
    wf_result result = convert(&c, longest_row, made);
    wf_buffer_destroy(&c.work);
    wf_buffer_destroy(&c.slices);
    if (result != WF_SUCCESS)
        wfi_sliced_made_free(made);
    return result;
}
