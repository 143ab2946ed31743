#include "kernels/spmv/analysis/sliced_convert.h"

#include "core/arithmetic.h"
#include "kernels/spmv/analysis/cut.h"
#include "kernels/spmv/analysis/order.h"
#include "wfi_shaders.h"

#define BUCKET_BITS 11 /* of hashes, as in the shaders */

/* As in sliced_slice.glsl. */
typedef struct slices_push {
    uint32_t count, list_at, info_at, loads_at, kinds_at, keys_at, words_at;
    uint32_t sorted_at, runs_at, leaders_at, segments_at, segment_slices, row_subgroups;
    uint32_t indices_at;
} slices_push;

_Static_assert(sizeof(slices_push) == 56, "members lie as in sliced_slice.glsl");

/* A conversion under way. */
typedef struct converter {
    wfi_cutter cut;
    const wfi_sliced_params *params;
    bool places; /* they are made, too */
    slices_push push;
    uint32_t other_at, scratch_at; /* in the work of the slices */
    uint32_t loads, words;         /* of all slices */
    uint64_t list_words;
} converter;

/* A kernel on slices, `groups` work-groups of `size`. */
static void slices_pass(converter *c, const wfi_spirv *spirv, uint32_t size, uint64_t groups)
{
    const wfi_pass_kernel kernel = {spirv, size, 3, sizeof(slices_push), {0}, 0};
    const VkDescriptorBufferInfo buffers[] = {c->cut.csr->row_offsets, c->cut.csr->column_indices,
                                              wfi_pass_whole(c->cut.slices)};
    wfi_passes_dispatch(c->cut.passes, &kernel, groups, buffers, &c->push);
}

/* Kernels that walk slices, a work-group a subgroup. */
typedef enum walker { MEASURE, PATTERN, PLACES, VALUES } walker;

static const wfi_spirv *const walkers[] = {
    [MEASURE] = &wfi_spv_sliced_measure,
    [PATTERN] = &wfi_spv_sliced_pattern,
    [PLACES] = &wfi_spv_sliced_places,
    [VALUES + WF_TYPE_F32] = &wfi_spv_sliced_values_f32,
    [VALUES + WF_TYPE_F64] = &wfi_spv_sliced_values_f64,
    [VALUES + WF_TYPE_F16] = &wfi_spv_sliced_values_f16,
};

/* The kernel on all slices; `out` is what it writes beside the work of the slices, if anything. */
static void walk_slices(converter *c, walker which, const wf_buffer *out)
{
    const uint32_t size = c->params->subgroup;
    const bool pairs = which >= PLACES && c->cut.csr->type == WF_TYPE_F64;
    const wfi_pass_kernel kernel = {walkers[which == VALUES ? VALUES + c->cut.csr->type : which],
                                    size,
                                    which == VALUES ? 5
                                    : out           ? 4
                                                    : 3,
                                    sizeof(slices_push),
                                    {pairs},
                                    0};
    const VkDescriptorBufferInfo buffers[] = {
        c->cut.csr->row_offsets, c->cut.csr->column_indices, wfi_pass_whole(c->cut.slices),
        wfi_pass_whole(out ? out : c->cut.slices), c->cut.csr->values};
    wfi_passes_dispatch(c->cut.passes, &kernel, c->push.count, buffers, &c->push);
}

/* Lays the work of the slices out. */
static wf_result start_slices(converter *c)
{
    wfi_cut_push *cut = &c->cut.push;
    const uint64_t count = c->cut.slices_count;
    const uint64_t segments = c->cut.segment_slices / c->params->row_subgroups;
    slices_push *p = &c->push;
    uint64_t words = 0;
    c->list_words = wfi_round_up(cut->ordered, 4);
    *p = (slices_push){.count = c->cut.slices_count,
                       .segment_slices = c->cut.segment_slices,
                       .row_subgroups = c->params->row_subgroups,
                       .indices_at = (uint32_t)(count + segments + c->list_words / 4)};
    p->list_at = wfi_take_words(&words, c->list_words);
    p->info_at = wfi_take_words(&words, 4 * count);
    p->loads_at = wfi_take_words(&words, count + 1);
    p->kinds_at = wfi_take_words(&words, count);
    p->keys_at = wfi_take_words(&words, count);
    p->words_at = wfi_take_words(&words, count + 1);
    p->sorted_at = wfi_take_words(&words, count);
    c->other_at = wfi_take_words(&words, count);
    p->runs_at = wfi_take_words(&words, count + 1);
    p->leaders_at = wfi_take_words(&words, count);
    p->segments_at = wfi_take_words(&words, 4 * segments);
    c->scratch_at = wfi_take_words(&words, wfi_sort_words(count + 1) + wfi_scan_words(count + 1));
    cut->list_at = p->list_at;
    cut->info_at = p->info_at;
    cut->loads_at = p->loads_at;
    cut->segments_at = p->segments_at;
    return wfi_cut_buffer(c->cut.csr, words, &c->cut.slices);
}

static void read_word(converter *c, uint32_t at, uint32_t *word)
{
    wfi_passes_see(c->cut.passes, c->cut.slices, at * UINT64_C(4), 4, word);
}

/* Finds each slice's form, which slices share their offsets, and how large all becomes. */
static wf_result measure(converter *c)
{
    const VkDescriptorBufferInfo slices = wfi_pass_whole(c->cut.slices);
    const uint32_t count = c->push.count, scratch = c->scratch_at, size = c->params->subgroup;
    const uint64_t items = wfi_groups_of(count, WFI_PASS_GROUP);
    const wfi_sort sort = {
        count, c->push.keys_at, BUCKET_BITS, {c->push.sorted_at, c->other_at}, scratch};
    walk_slices(c, MEASURE, NULL);
    c->push.sorted_at = wfi_passes_sort(c->cut.passes, slices, &sort);
    slices_pass(c, &wfi_spv_sliced_alike, size, count);
    wfi_passes_scan(c->cut.passes, slices, c->push.runs_at, count + 1, scratch);
    slices_pass(c, &wfi_spv_sliced_leaders, WFI_PASS_GROUP, items);
    slices_pass(c, &wfi_spv_sliced_followers, WFI_PASS_GROUP, items);
    wfi_passes_scan(c->cut.passes, slices, c->push.words_at, count + 1, scratch);
    read_word(c, c->push.loads_at + count, &c->loads);
    read_word(c, c->push.words_at + count, &c->words);
    return wfi_passes_run(c->cut.passes);
}

/* Makes the buffers that are wanted and fills them. */
static wf_result fill(converter *c, wfi_sliced_made *made)
{
    wfi_sliced *out = &made->sizes;
    const bool at_once = !c->places && c->cut.csr->device->caps.max_storage_buffers >= 5;
    const uint64_t size = at_once ? wf_type_size(c->cut.csr->type) : 4;
    out->place_count = (uint64_t)c->loads * 4 * c->params->subgroup;
    out->slices = c->push.count;
    out->segments = c->push.segment_slices / c->params->row_subgroups;
    out->long_rows = c->cut.long_rows;
    out->group_row_slices = c->params->row_subgroups > 1 ? c->cut.push.shared_slices : 0;
    out->segments_at = out->slices;
    out->list_at = (out->slices + out->segments) * 4;
    out->pattern_words = c->push.indices_at * UINT64_C(4) + c->words;
    wf_buffer **slots = at_once ? &made->values : &made->places;
    wf_result result = wfi_cut_buffer(c->cut.csr, out->pattern_words, &made->pattern);
    if (result == WF_SUCCESS)
        result = wfi_cut_buffer(c->cut.csr, (out->place_count * size + 3) / 4, slots);
    if (result != WF_SUCCESS)
        return result;
    const VkDescriptorBufferInfo list = {c->cut.slices->vk, c->push.list_at * UINT64_C(4),
                                         c->list_words * 4};
    const VkDescriptorBufferInfo to = {made->pattern->vk, out->list_at * UINT64_C(4), list.range};
    wfi_passes_fill(c->cut.passes, made->pattern, 0, made->pattern->bytes, 0);
    if (out->place_count == 0)
        wfi_passes_fill(c->cut.passes, *slots, 0, (*slots)->bytes, 0);
    wfi_passes_together(c->cut.passes, true);
    wfi_passes_copy(c->cut.passes, list, to);
    walk_slices(c, PATTERN, made->pattern);
    walk_slices(c, at_once ? VALUES : PLACES, *slots);
    wfi_passes_together(c->cut.passes, false);
    result = wfi_device_csr_wait(c->cut.csr, at_once ? WFI_CSR_VALUES : WFI_CSR_COLUMNS);
    return result == WF_SUCCESS ? wfi_passes_run(c->cut.passes) : result;
}

static wf_result convert(converter *c, uint32_t longest_row, wfi_sliced_made *made)
{
    wf_result result = wfi_cut(&c->cut, longest_row > c->cut.push.direct);
    if (result == WF_SUCCESS)
        result = start_slices(c);
    if (result != WF_SUCCESS)
        return result;
    wfi_cut_write(&c->cut);
    wfi_passes_scan(c->cut.passes, wfi_pass_whole(c->cut.slices), c->push.loads_at,
                    c->push.count + 1, c->scratch_at);
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
                             const wfi_sliced_params *params, bool places, uint32_t longest_row,
                             wfi_sliced_made *made)
{
    converter c = {.cut = {.passes = passes,
                           .csr = csr,
                           .push = {.rows = csr->rows,
                                    .subgroup = params->subgroup,
                                    .direct = wfi_sliced_direct_entries(params),
                                    .row_subgroups = params->row_subgroups,
                                    .window = params->window,
                                    .most = 4 * params->loads * params->subgroup}},
                   .params = params,
                   .places = places};
    *made = (wfi_sliced_made){.pattern = NULL};
    passes->beside = wfi_device_csr_comes(csr);
    wf_result result = convert(&c, longest_row, made);
    wfi_cut_close(&c.cut);
    if (result != WF_SUCCESS)
        wfi_sliced_made_free(made);
    return result;
}
