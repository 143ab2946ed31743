/* Variant sliced: slices of sorted rows a subgroup (formats/sliced.h), in as few dispatches as
 * bindings allow. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/ahead.h"
#include "kernels/spmv/analysis/sliced_convert.h"
#include "kernels/spmv/analysis/values.h"
#include "kernels/spmv/build.h"
#include "kernels/spmv/cost.h"
#include "kernels/spmv/formats/sliced.h"
#include "kernels/spmv/gathers.h"
#include "kernels/spmv/variant.h"
#include "plan/dispatch_size.h"

static const wfi_parameter parameters[] = {
    WFI_SPMV_LOCAL_X,
    {"loads", SPMV_ID_SLICE_LOADS, 16, 6, wfi_spmv_load_values,
     "the most loads a slice, of four entries a lane; longer rows get more lanes"},
    WFI_SPMV_WINDOW,
    WFI_SPMV_ROW_SUBGROUPS,
};

static bool loads_fit_their_field(const wfi_point *point)
{
    const uint32_t loads = point->values[SPMV_ID_SLICE_LOADS];
    return loads > 0 && loads <= 2048;
}

static const wfi_constraint constraints[] = {
    WFI_SPMV_SUBGROUP_KNOWN("slices"),
    WFI_SPMV_WHOLE_SUBGROUPS("slices"),
    {"loads must be 1 to 2048, since a slice counts them in 12 bits", loads_fit_their_field},
    WFI_SPMV_WINDOW_POSITIVE,
    WFI_SPMV_SUBGROUPS_IN_GROUP,
    WFI_SPMV_ONE_VECTOR,
};

static uint64_t shared_bytes(const wfi_point *point)
{
    return point->values[SPMV_ID_LOCAL_X] / 4 * wfi_spmv_real_bytes(point);
}

/* ---------------------------------------------------------------------------------------- model */

#define FILLING 20 /* subgroups for a compute unit, whose loads hide each other's latency */

/* Whether rows that are alike fill the device by so many loads. Each has a power of two of
 * lanes, whose loads may be far fewer, so that half as many loads would mean padding alone. */
static bool rows_fill(const wfi_spmv_problem *p, uint32_t loads, double subgroup, double units)
{
    const double fours = ceil(p->mean_row / 4);
    double lanes = 1;
    while (lanes * loads < fours && lanes < subgroup)
        lanes *= 2;
    return (double)p->rows * lanes / subgroup / units >= FILLING;
}

/* As many loads as leave enough subgroups to fill the device. Where rows are of all lengths, slices
 * of few loads leave lanes idle, and fewer subgroups are enough until the loads of the last one
 * take long (R-MAT graphs of 2^16 to 2^20 rows, H100). */
static uint32_t fit_loads(const wfi_point *point, double spread)
{
    const uint32_t fixed = wfi_spmv_profile_of(point->caps)->slice_loads;
    const wfi_spmv_problem *p = &point->problem->spmv;
    const double units = point->caps->compute_units ? point->caps->compute_units : 32;
    const double all = (double)p->entries / (4.0 * point->caps->subgroup_size) / units;
    if (fixed)
        return fixed;
    if (spread >= 3 && all / 32 >= 24)
        return 32;
    uint32_t loads = spread >= 3 ? 16 : 8;
    while (loads > 2 && all / loads < (spread >= 3 ? 12 : 30) &&
           !(wfi_spmv_rows_alike(p) && rows_fill(p, loads, point->caps->subgroup_size, units)))
        loads /= 2;
    return loads;
}

/* Sorting pays where rows side by side wait for each other; the wider the window, the further apart
 * the x and y of a slice may lie. */
static double fit(wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const wfi_spmv_costs *costs = wfi_spmv_profile_of(caps)->costs;
    const wfi_spmv_problem *p = &point->problem->spmv;
    const double spread = p->mean_row > 0 ? p->row_deviation / p->mean_row : 0;
    const uint32_t local = wfi_spmv_fit_local(caps);
    const uint32_t loads = fit_loads(point, spread);
    const wfi_spmv_sweep sweep = wfi_spmv_fit_sweep(point);
    const bool sweeps = sweep.loads > loads; /* else rows have their own lane anyway */
    point->values[SPMV_ID_LOCAL_X] = sweeps && sweep.local ? sweep.local : local;
    point->values[SPMV_ID_SLICE_LOADS] = sweeps ? sweep.loads : loads;
    point->values[SPMV_ID_WINDOW] = p->padding < 1.5   ? 1
                                    : p->rows < 200000 ? 256
                                    : spread < 3       ? 2048
                                                       : UINT32_MAX;
    point->values[SPMV_ID_ROW_SUBGROUPS] = wfi_spmv_fit_row_subgroups(caps, local);
    if (wfi_spmv_profile_of(caps)->few_registers && !p->fused)
        return -1;
    return costs ? wfi_spmv_instruction_time(point, costs->shuffled)
                 : (double)p->entries + (double)p->rows;
}

/* ---------------------------------------------------------------------------------------- build */

/* As in spmv_sliced.comp, behind alpha and beta. */
typedef struct sliced_push {
    uint32_t slices, group_row_groups, segments_at, list_at, partials_at, base_y, groups, reversed;
} sliced_push;

_Static_assert(sizeof(sliced_push) == 32 && offsetof(sliced_push, reversed) == 28,
               "members lie as in spmv_sliced.comp");

/* Work-groups of a fused product, each of which leaves a partial sum to be added up. */
#define MOST_FUSED_GROUPS 2048
#define MOST_ROWS (UINT32_C(1) << 31) /* the list of rows has a flag in the top bit */

/* Where the partial sums of segments begin in the scratch, in partial sums: behind a counter for
 * each long row. */
static uint64_t partials_at(const wfi_sliced *sliced, uint64_t real)
{
    return (sliced->long_rows * UINT64_C(4) + real - 1) / real;
}

static uint64_t scratch_bytes(const wfi_sliced *sliced, uint64_t real)
{
    return (partials_at(sliced, real) + sliced->segments) * real;
}

static bool fits(const wf_caps *caps, const wfi_sliced *sliced, const wfi_spmv_job *job,
                 uint32_t rows)
{
    return wfi_spmv_rearranged_fits(caps, job, rows, sliced->pattern_words, sliced->place_count,
                                    scratch_bytes(sliced, wf_type_size(job->matrix.type)));
}

/* The host's arrays of a block, in buffers of the plan's. */
static wf_result put_arrays(wf_plan *plan, const wfi_spmv_job *job, const wfi_sliced_params *block,
                            const wfi_sliced *sliced, wfi_step *step)
{
    const wf_spmv_params *p = &job->matrix;
    wf_result result =
        wfi_spmv_own(plan, job, sliced->pattern, sliced->pattern_words * 4, &step->slots[0]);
    if (result != WF_SUCCESS)
        return result;
    return wfi_spmv_values(plan, job, sliced->places, sliced->place_count,
                           p->row_offsets[block->first], p->row_offsets[block->first + block->rows],
                           &step->slots[1]);
}

/* The step of a block; its pattern and values are bound already. */
static wf_result add_block(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                           const wfi_sliced_params *block, const wfi_sliced *sliced, wfi_step step)
{
    const wf_spmv_params *p = &job->matrix;
    const uint64_t real = wf_type_size(wfi_spmv_real(p->type));
    const uint32_t a_group = point->values[SPMV_ID_LOCAL_X] / block->subgroup;
    sliced_push push = {.slices = sliced->slices,
                        .group_row_groups = (sliced->group_row_slices + a_group - 1) / a_group,
                        .segments_at = sliced->segments_at,
                        .list_at = sliced->list_at,
                        .partials_at = (uint32_t)partials_at(sliced, real)};
    const uint64_t groups = (sliced->slices + (uint64_t)a_group - 1) / a_group;
    const uint32_t partials = job->kept->partials;
    const bool grid_stride = partials && groups > MOST_FUSED_GROUPS;
    wf_result result =
        wfi_dispatch_size(plan, grid_stride ? MOST_FUSED_GROUPS : groups, step.groups);
    push.groups = (uint32_t)groups;
    step.slot_count = 5;
    step.divisible = partials == 0;
    if (partials)
        step.slots[step.slot_count++] =
            (wfi_slot){WFI_SLOT_BINDING, WFI_SPMV_PARTIALS, 0, partials * real};
    if (result == WF_SUCCESS)
        result = wfi_spmv_own(plan, job, NULL, scratch_bytes(sliced, real), &step.slots[4]);
    step.slots[WFI_SPMV_X_SLOT] = wfi_spmv_x_slot(job);
    step.slots[WFI_SPMV_Y_SLOT] =
        wfi_spmv_y_slot(point->caps, job, block->first, block->rows, &push.base_y);
    const uint32_t at = wfi_spmv_put_push(p, &push, sizeof push, &step);
    if (block->window < block->rows) /* rows all sorted end with the shortest, in every execution */
        step.parity_at = at + (uint32_t)offsetof(sliced_push, reversed);
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

/* Converts the block's rows, or fewer until they fit. */
static wf_result make_block(wf_plan *plan, const wfi_spmv_job *job, wfi_sliced_params *block,
                            wfi_sliced *sliced)
{
    wf_device *device = wfi_plan_device(plan);
    for (;;) {
        wf_result result = wfi_sliced_make(block, sliced);
        if (result != WF_SUCCESS)
            return wfi_no_memory(&device->log);
        if (fits(&device->caps, sliced, job, block->rows))
            return WF_SUCCESS;
        wfi_sliced_free(sliced);
        if (block->rows == 1)
            return wfi_spmv_row_too_long(plan, job, block->first);
        block->rows /= 2;
    }
}

/* Whether the product goes into one dispatch. */
static bool is_short(const wf_plan *plan)
{
    const double longest = wfi_plan_device(plan)->dispatch_seconds;
    return !(longest > 0) || wfi_plan_guessed_seconds(plan) <= longest;
}

/* Whether the product and the dot product are one kernel: where the latter is asked for, the matrix
 * is one block and its product is one dispatch. */
static bool is_fused(const wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                     const wfi_sliced_params *block)
{
    return job->kept->fuse && block->rows == job->matrix.rows && job->matrix.type != WF_TYPE_F16 &&
           point->caps->max_storage_buffers >= 6 && is_short(plan);
}

static uint64_t groups_of(const wfi_point *point, const wfi_sliced_params *block, uint64_t slices)
{
    const uint32_t a_group = point->values[SPMV_ID_LOCAL_X] / block->subgroup;
    return (slices + a_group - 1) / a_group;
}

/* The kernel of so many work-groups. */
static void describe(const wfi_point *point, wf_type type, bool fused, uint64_t groups,
                     wfi_pipeline_desc *desc)
{
    wfi_point_pipeline(point, desc);
    wfi_pipeline_constant(desc, SPMV_ID_FENCES, wfi_spmv_profile_of(point->caps)->fences);
    if (!fused)
        return;
    desc->spirv = type == WF_TYPE_F64 ? &wfi_spv_spmv_fused_f64 : &wfi_spv_spmv_fused_f32;
    desc->storage_buffers = 6;
    wfi_pipeline_constant(desc, SPMV_ID_GRID_STRIDE, groups > MOST_FUSED_GROUPS);
}

/* Adds the pipeline, once the first block is made. */
static wf_result begin(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                       const wfi_sliced_params *block, const wfi_sliced *sliced, uint32_t *pipeline)
{
    const wf_type type = job->matrix.type;
    const bool fused = is_fused(plan, point, job, block);
    const uint64_t groups = groups_of(point, block, sliced->slices);
    wfi_pipeline_desc desc;
    describe(point, type, fused, groups, &desc);
    if (!fused)
        return wfi_spmv_begin_with(plan, &desc, job, pipeline);
    job->kept->partials =
        sliced->long_rows + (uint32_t)(groups < MOST_FUSED_GROUPS ? groups : MOST_FUSED_GROUPS);
    const wfi_binding_spec partials = {"partials", WFI_WRITES,
                                       job->kept->partials * (uint64_t)wf_type_size(type)};
    wf_result result = wfi_spmv_begin_with(plan, &desc, job, pipeline);
    return result == WF_SUCCESS ? wfi_plan_add_binding(plan, &partials) : result;
}

/* Compiles the kernel while the matrix is converted, for as many slices as there are at least. */
static wfi_ahead *begin_ahead(const wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                              const wfi_sliced_params *block)
{
    const uint64_t slices = (block->rows + (uint64_t)block->subgroup - 1) / block->subgroup;
    wfi_pipeline_desc desc;
    if (job->matrix.jobs)
        return NULL;
    describe(point, job->matrix.type, is_fused(plan, point, job, block),
             groups_of(point, block, slices), &desc);
    desc.bound_sets = true; /* as build says */
    return wfi_ahead_begin(wfi_plan_device(plan), &desc, 1);
}

/* The rows from `first` on, as many as a block can have. */
static wfi_sliced_params params_of(const wfi_point *point, const wfi_spmv_job *job, uint32_t first)
{
    const uint32_t left = job->matrix.rows - first;
    return (wfi_sliced_params){
        .matrix = &job->matrix,
        .first = first,
        .rows = left < MOST_ROWS ? left : MOST_ROWS - 1,
        .subgroup = point->caps->subgroup_size,
        .loads = point->values[SPMV_ID_SLICE_LOADS],
        .window = point->values[SPMV_ID_WINDOW],
        .row_subgroups = point->values[SPMV_ID_ROW_SUBGROUPS],
    };
}

static wf_result convert(wf_device *device, const wfi_spmv_job *job, const wfi_sliced_params *block,
                         wfi_sliced_made *made)
{
    wfi_passes passes;
    wf_result result = wfi_passes_open(device, &passes);
    if (result == WF_SUCCESS)
        result = wfi_sliced_convert(&passes, &job->csr, block, job->kept->updatable,
                                    job->kept->analysis.longest_row, made);
    if (result == WF_SUCCESS && !fits(&device->caps, &made->sizes, job, block->rows))
        result = WF_NOT_READY;
    if (result == WF_SUCCESS && !made->values)
        result = wfi_device_values(&passes, &job->csr, made->places, made->sizes.place_count,
                                   &made->values);
    wfi_passes_close(&passes);
    return result;
}

/* The plan of a matrix in device memory, all in one block. */
static wf_result build_on_device(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job)
{
    const wfi_sliced_params block = params_of(point, job, 0);
    wfi_sliced_made made = {.pattern = NULL};
    wfi_step step = {.pipeline = 0};
    if (block.rows != job->matrix.rows)
        return WF_NOT_READY;
    wfi_ahead *ahead = begin_ahead(plan, point, job, &block);
    wf_result result = convert(wfi_plan_device(plan), job, &block, &made);
    if (result == WF_SUCCESS)
        result = begin(plan, point, job, &block, &made.sizes, &step.pipeline);
    wfi_ahead_end(ahead);
    if (result == WF_SUCCESS)
        result =
            wfi_spmv_adopt(plan, job, &made.pattern, made.sizes.pattern_words * 4, &step.slots[0]);
    if (result == WF_SUCCESS)
        result = wfi_spmv_adopt_values(plan, job, &made.values, &made.places,
                                       made.sizes.place_count, &step.slots[1]);
    if (result == WF_SUCCESS)
        result = add_block(plan, point, job, &block, &made.sizes, step);
    wfi_sliced_made_free(&made);
    return result;
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_spmv_job *job = params;
    const wf_spmv_params *p = &job->matrix;
    uint32_t pipeline = 0;
    wf_result result = WF_SUCCESS;
    wfi_plan_bind_sets(plan); /* pushing them takes the device 0.27 us a product on an H100 */
    if (job->csr.device)
        return build_on_device(plan, point, job);
    for (uint32_t first = 0; result == WF_SUCCESS && first < p->rows;) {
        wfi_sliced_params block = params_of(point, job, first);
        wfi_step step = {.pipeline = pipeline};
        wfi_sliced sliced = {0};
        result = make_block(plan, job, &block, &sliced);
        if (result == WF_SUCCESS && first == 0)
            result = begin(plan, point, job, &block, &sliced, &pipeline);
        step.pipeline = pipeline;
        if (result == WF_SUCCESS)
            result = put_arrays(plan, job, &block, &sliced, &step);
        if (result == WF_SUCCESS)
            result = add_block(plan, point, job, &block, &sliced, step);
        wfi_sliced_free(&sliced);
        first += block.rows;
    }
    return result;
}

const wfi_variant wfi_spmv_sliced = {
    WFI_SPMV_ROW(sliced),
    .modules = WFI_MODULES_spmv_sliced,
    .summary = "slices of sorted rows a subgroup, columns as 8- or 16-bit distances",
    .source = "SELL-C-sigma (Kreutzer et al. 2014), here with lanes and column distances",
    .parameter_count = WFI_COUNT(parameters),
    .parameters = parameters,
    .constraint_count = WFI_COUNT(constraints),
    .constraints = constraints,
    .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT,
    .storage_buffers = 5,
    .push_bytes = WFI_SPMV_PUSH_OF(sliced_push),
    .traits = WFI_SPMV_CONVERTS | WFI_SPMV_READS_ONCE | WFI_SPMV_BY_MATRIX,
    .shared_bytes = shared_bytes,
    .subgroup_size = wfi_spmv_pinned_subgroup,
    .fit = fit,
    .build = build,
};
