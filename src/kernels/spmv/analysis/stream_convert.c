#include "kernels/spmv/analysis/stream_convert.h"

#include "kernels/spmv/analysis/cut.h"
#include "wfi_shaders.h"

/* As in the shaders. */
#define STATE_WORDS 8
#define TILE 2048
#define RUN 32     /* tiles */
#define FEW_RUNS 1 /* that one work-item takes less time for than three dispatches do */
enum { STATE_BLOCKS, STATE_SPAN };

/* As in stream_rows.glsl; places are words of the work. */
typedef struct stream_push {
    uint32_t rows, block_rows, block_entries, tiles, runs;
    uint32_t next_at, leaves_at, supers_at, runs_at, tiles_at, begins_at, lows_at;
    uint32_t blocks, width, stride;
} stream_push;

_Static_assert(sizeof(stream_push) == 60 && sizeof(stream_push) <= WFI_PASS_PUSH,
               "members lie as in stream_rows.glsl");
_Static_assert(WFI_CSR_STREAM_ROWS <= TILE * RUN,
               "blocks that begin before a run end in it or in the next");

/* A conversion under way. */
typedef struct converter {
    wfi_passes *passes;
    const wfi_device_csr *csr;
    const wfi_csr_stream_params *params;
    bool places; /* they are made, too */
    wf_buffer *work;
    stream_push push;
} converter;

/* A kernel that finds where blocks begin. */
static void rows_pass(converter *c, const wfi_spirv *spirv, uint64_t groups)
{
    const wfi_pass_kernel kernel = {spirv, WFI_PASS_GROUP, 2, sizeof(stream_push), {0}, 0};
    const VkDescriptorBufferInfo buffers[] = {c->csr->row_offsets, wfi_pass_whole(c->work)};
    wfi_passes_dispatch(c->passes, &kernel, groups, buffers, &c->push);
}

/* Kernels on blocks, a work-group each. */
typedef enum filler { SPAN, PATTERN, PLACES, VALUES } filler;

static const wfi_spirv *const fillers[] = {
    [SPAN] = &wfi_spv_stream_span,
    [PATTERN] = &wfi_spv_stream_pattern,
    [PLACES] = &wfi_spv_stream_places,
    [VALUES + WF_TYPE_F32] = &wfi_spv_stream_values_f32,
    [VALUES + WF_TYPE_F64] = &wfi_spv_stream_values_f64,
    [VALUES + WF_TYPE_F16] = &wfi_spv_stream_values_f16,
};

/* The kernel on so many blocks; `out` is what it writes beside the work, if anything. */
static void fill_blocks(converter *c, filler which, uint64_t blocks, const wf_buffer *out)
{
    const wfi_device_csr *csr = c->csr;
    const wfi_pass_kernel kernel = {fillers[which == VALUES ? VALUES + csr->type : which],
                                    WFI_PASS_GROUP,
                                    which == VALUES ? 5
                                    : out           ? 4
                                                    : 3,
                                    sizeof(stream_push),
                                    {0},
                                    0};
    const VkDescriptorBufferInfo buffers[] = {csr->row_offsets, csr->column_indices,
                                              wfi_pass_whole(c->work),
                                              wfi_pass_whole(out ? out : c->work), csr->values};
    wfi_passes_dispatch(c->passes, &kernel, blocks, buffers, &c->push);
}

/* The most blocks that there can be. One that does not have all rows is the last, or has with the
 * first row of the next more entries than a block has room for: at most two blocks share an entry
 * of these sums. */
static uint64_t most_blocks(const converter *c)
{
    const uint64_t rows = c->csr->rows, entries = c->csr->entries;
    const uint64_t most = rows / c->params->block_rows + 2 * entries / c->params->block_entries + 1;
    return most < rows ? most : rows;
}

/* Lays the work out. */
static wf_result start(converter *c)
{
    stream_push *p = &c->push;
    const uint64_t tiles = wfi_groups_of(p->rows, TILE), runs = wfi_groups_of(tiles, RUN);
    const uint64_t blocks = most_blocks(c);
    uint64_t words = STATE_WORDS;
    p->tiles = (uint32_t)tiles;
    p->runs = (uint32_t)runs;
    p->next_at = wfi_take_words(&words, p->rows);
    p->leaves_at = wfi_take_words(&words, p->rows);
    p->supers_at = wfi_take_words(&words, runs > FEW_RUNS ? 2 * runs * p->block_rows : 0);
    p->runs_at = wfi_take_words(&words, 2 * runs);
    p->tiles_at = wfi_take_words(&words, 2 * tiles);
    p->begins_at = wfi_take_words(&words, blocks + 1);
    p->lows_at = wfi_take_words(&words, blocks);
    wf_result result = wfi_cut_buffer(c->csr, words, &c->work);
    if (result == WF_SUCCESS)
        wfi_passes_fill(c->passes, c->work, 0, STATE_WORDS * 4, 0);
    return result;
}

/* Finds where blocks begin and how far apart the columns of any are. */
static wf_result measure(converter *c, wfi_csr_stream *out)
{
    const stream_push *p = &c->push;
    uint32_t state[STATE_WORDS];
    rows_pass(c, &wfi_spv_stream_leaves, p->tiles);
    if (p->runs <= FEW_RUNS) {
        rows_pass(c, &wfi_spv_stream_walk_few, 1);
    } else {
        rows_pass(c, &wfi_spv_stream_walk_supers,
                  p->runs * wfi_groups_of(p->block_rows, WFI_PASS_GROUP));
        rows_pass(c, &wfi_spv_stream_walk_all, 1);
        rows_pass(c, &wfi_spv_stream_walk_tiles, wfi_groups_of(p->runs, WFI_PASS_GROUP));
    }
    rows_pass(c, &wfi_spv_stream_begins, p->tiles);
    fill_blocks(c, SPAN, most_blocks(c), NULL);
    wfi_passes_see(c->passes, c->work, 0, sizeof state, state);
    wf_result result = wfi_device_csr_wait(c->csr, WFI_CSR_COLUMNS);
    if (result == WF_SUCCESS)
        result = wfi_passes_run(c->passes);
    if (result != WF_SUCCESS)
        return result;
    wfi_csr_stream_size(c->params, state[STATE_BLOCKS], state[STATE_SPAN], out);
    c->push.blocks = out->blocks;
    c->push.width = out->width;
    c->push.stride = out->stride;
    return WF_SUCCESS;
}

/* Makes the buffers that are wanted and fills them. */
static wf_result fill(converter *c, wfi_csr_stream_made *made)
{
    const wfi_device_csr *csr = c->csr;
    const bool at_once = !c->places && csr->device->caps.max_storage_buffers >= 5;
    const uint64_t size = at_once ? wf_type_size(csr->type) : 4;
    wf_buffer **slots = at_once ? &made->values : &made->places;
    wf_result result = wfi_cut_buffer(csr, made->sizes.pattern_words, &made->pattern);
    if (result == WF_SUCCESS)
        result = wfi_cut_buffer(csr, (made->sizes.place_count * size + 3) / 4, slots);
    if (result != WF_SUCCESS)
        return result;
    wfi_passes_together(c->passes, true);
    fill_blocks(c, PATTERN, made->sizes.blocks, made->pattern);
    fill_blocks(c, at_once ? VALUES : PLACES, made->sizes.blocks, *slots);
    wfi_passes_together(c->passes, false);
    if (at_once)
        result = wfi_device_csr_wait(csr, WFI_CSR_VALUES);
    return result == WF_SUCCESS ? wfi_passes_run(c->passes) : result;
}

void wfi_csr_stream_made_free(wfi_csr_stream_made *made)
{
    wf_buffer_destroy(&made->pattern);
    wf_buffer_destroy(&made->places);
    wf_buffer_destroy(&made->values);
}

wf_result wfi_csr_stream_convert(wfi_passes *passes, const wfi_device_csr *csr,
                                 const wfi_csr_stream_params *params, bool places,
                                 wfi_csr_stream_made *made)
{
    converter c = {.passes = passes,
                   .csr = csr,
                   .params = params,
                   .places = places,
                   .push = {.rows = csr->rows,
                            .block_rows = params->block_rows,
                            .block_entries = params->block_entries}};
    *made = (wfi_csr_stream_made){.pattern = NULL};
    passes->beside = wfi_device_csr_comes(csr);
    wf_result result = params->block_rows > WFI_CSR_STREAM_ROWS ? WF_NOT_READY : start(&c);
    if (result == WF_SUCCESS)
        result = measure(&c, &made->sizes);
    if (result == WF_SUCCESS)
        result = fill(&c, made);
    wf_buffer_destroy(&c.work);
    if (result != WF_SUCCESS)
        wfi_csr_stream_made_free(made);
    return result;
}
