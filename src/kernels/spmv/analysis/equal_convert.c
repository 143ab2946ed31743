#include "kernels/spmv/analysis/equal_convert.h"

#include "core/arithmetic.h"
#include "kernels/spmv/formats/sliced_lanes.h"
#include "wfi_shaders.h"

#define ROW_BLOCK_WORDS 6 /* of the work, a block of group rows and segments */

/* As in equal_fill.comp. */
typedef struct blocks_push {
    uint32_t count, row_blocks, of_rows, slice_count, loads, slices_a_block;
    uint32_t list_at, info_at, blocks_at, span_at;
    uint32_t width, based, stride;
} blocks_push;

_Static_assert(sizeof(blocks_push) == 52, "members lie as in equal_fill.comp");

/* A conversion under way. */
typedef struct converter {
    wfi_cutter cut;
    const wfi_equal_params *params;
    bool places; /* they are made, too */
    blocks_push push;
} converter;

/* Kernels that walk blocks, a work-group a subgroup. */
typedef enum walker { MEASURE, PATTERN, PLACES, VALUES } walker;

static const wfi_spirv *const walkers[] = {
    [MEASURE] = &wfi_spv_equal_measure,
    [PATTERN] = &wfi_spv_equal_pattern,
    [PLACES] = &wfi_spv_equal_places,
    [VALUES + WF_TYPE_F32] = &wfi_spv_equal_values_f32,
    [VALUES + WF_TYPE_F64] = &wfi_spv_equal_values_f64,
    [VALUES + WF_TYPE_F16] = &wfi_spv_equal_values_f16,
};

/* The kernel on all blocks; `out` is what it writes beside the work of the slices, if anything. */
static void walk_blocks(converter *c, walker which, const wf_buffer *out)
{
    const wfi_device_csr *csr = c->cut.csr;
    const uint32_t size = c->params->subgroup;
    const bool pairs = which >= PLACES && csr->type == WF_TYPE_F64;
    const wfi_pass_kernel kernel = {walkers[which == VALUES ? VALUES + csr->type : which],
                                    size,
                                    which == VALUES ? 5
                                    : out           ? 4
                                                    : 3,
                                    sizeof(blocks_push),
                                    {pairs},
                                    0};
    const VkDescriptorBufferInfo buffers[] = {
        csr->row_offsets, csr->column_indices, wfi_pass_whole(c->cut.slices),
        wfi_pass_whole(out ? out : c->cut.slices), csr->values};
    wfi_passes_dispatch(c->cut.passes, &kernel, c->push.count, buffers, &c->push);
}

/* Counts blocks, and lays the work of the slices out. */
static wf_result start_blocks(converter *c)
{
    const wfi_equal_params *p = c->params;
    wfi_cut_push *cut = &c->cut.push;
    blocks_push *push = &c->push;
    const uint64_t shared = cut->shared_slices, slices = c->cut.slices_count - shared;
    const uint64_t row_blocks = wfi_round_up(shared, p->group);
    const uint64_t others = wfi_groups_of(slices, p->slices);
    uint64_t words = 0;
    cut->list_at = wfi_take_words(&words, cut->ordered);
    cut->info_at = wfi_take_words(&words, 4 * (uint64_t)c->cut.slices_count);
    cut->segments_at = wfi_take_words(&words, ROW_BLOCK_WORDS * shared);
    *push = (blocks_push){.count = (uint32_t)wfi_round_up(row_blocks + others, p->group),
                          .row_blocks = (uint32_t)row_blocks,
                          .of_rows = (uint32_t)shared,
                          .slice_count = (uint32_t)slices,
                          .loads = p->loads,
                          .slices_a_block = p->slices,
                          .list_at = cut->list_at,
                          .info_at = cut->info_at + 4 * (uint32_t)shared,
                          .blocks_at = cut->segments_at,
                          .span_at = wfi_take_words(&words, 1)};
    return wfi_cut_buffer(c->cut.csr, words, &c->cut.slices);
}

/* Finds how wide columns are. */
static wf_result measure(converter *c, wfi_equal *out)
{
    const wfi_equal_params *p = c->params;
    const bool short_enough = c->cut.csr->columns <= UINT16_MAX + 1;
    uint32_t span = 0;
    wfi_cut_write(&c->cut);
    walk_blocks(c, MEASURE, NULL);
    wfi_passes_see(c->cut.passes, c->cut.slices, c->push.span_at * UINT64_C(4), 4, &span);
    wf_result result = wfi_passes_run(c->cut.passes);
    out->width = wfi_column_width(span);
    out->based = out->width == 0 || (out->width == 1 && !short_enough);
    out->stride = p->slices * p->subgroup + (out->based ? 4 * p->loads : 0) +
                  (p->loads * p->subgroup << out->width);
    out->blocks = c->push.count;
    out->group_row_blocks = c->push.row_blocks;
    out->segments = c->cut.segment_slices / p->row_subgroups;
    out->pattern_words = (uint64_t)out->blocks * out->stride;
    out->place_count = (uint64_t)out->blocks * 4 * p->loads * p->subgroup;
    c->push.width = out->width;
    c->push.based = out->based;
    c->push.stride = out->stride;
    return result;
}

/* Makes the buffers that are wanted and fills them. */
static wf_result fill(converter *c, wfi_equal_made *made)
{
    const wfi_device_csr *csr = c->cut.csr;
    const bool at_once = !c->places && csr->device->caps.max_storage_buffers >= 5;
    const uint64_t size = at_once ? wf_type_size(csr->type) : 4;
    wf_buffer **slots = at_once ? &made->values : &made->places;
    wf_result result = wfi_cut_buffer(csr, made->sizes.pattern_words, &made->pattern);
    if (result == WF_SUCCESS)
        result = wfi_cut_buffer(csr, (made->sizes.place_count * size + 3) / 4, slots);
    if (result != WF_SUCCESS)
        return result;
    wfi_passes_together(c->cut.passes, true);
    walk_blocks(c, PATTERN, made->pattern);
    walk_blocks(c, at_once ? VALUES : PLACES, *slots);
    wfi_passes_together(c->cut.passes, false);
    result = wfi_device_csr_wait(csr, at_once ? WFI_CSR_VALUES : WFI_CSR_COLUMNS);
    return result == WF_SUCCESS ? wfi_passes_run(c->cut.passes) : result;
}

static wf_result convert(converter *c, uint32_t longest_row, wfi_equal_made *made)
{
    const wfi_cut_push *p = &c->cut.push;
    const bool reorders = longest_row > p->direct || p->above > 0 || longest_row > p->upto;
    wf_result result = wfi_cut(&c->cut, reorders);
    if (result == WF_SUCCESS && c->cut.slices_count == 0)
        return WF_SUCCESS; /* no row is taken */
    if (result == WF_SUCCESS)
        result = start_blocks(c);
    if (result == WF_SUCCESS)
        result = measure(c, &made->sizes);
    return result == WF_SUCCESS ? fill(c, made) : result;
}

void wfi_equal_made_free(wfi_equal_made *made)
{
    wf_buffer_destroy(&made->pattern);
    wf_buffer_destroy(&made->places);
    wf_buffer_destroy(&made->values);
}

wf_result wfi_equal_convert(wfi_passes *passes, const wfi_device_csr *csr,
                            const wfi_equal_params *params, bool places, uint32_t longest_row,
                            wfi_equal_made *made)
{
    const uint32_t a_lane = 4 * params->loads / params->slices;
    const uint32_t block_entries = 4 * params->loads * params->subgroup;
    converter c = {.cut = {.passes = passes,
                           .csr = csr,
                           .equal = true,
                           .push = {.rows = csr->rows,
                                    .subgroup = params->subgroup,
                                    .direct = block_entries / params->slices,
                                    .row_subgroups = params->row_subgroups,
                                    .window = params->window,
                                    .most = a_lane * params->subgroup,
                                    .above = params->above,
                                    .upto = params->upto,
                                    .block_entries = block_entries}},
                   .params = params,
                   .places = places};
    *made = (wfi_equal_made){.pattern = NULL};
    passes->beside = wfi_device_csr_comes(csr);
    wf_result result =
        csr->rows > WFI_EQUAL_ROW_MASK ? WF_NOT_READY : convert(&c, longest_row, made);
    wfi_cut_close(&c.cut);
    if (result != WF_SUCCESS)
        wfi_equal_made_free(made);
    return result;
}
