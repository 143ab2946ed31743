/* Variant equal: blocks of one size a subgroup (formats/equal.h), in as few dispatches as bindings
 * allow. */
#include <math.h>
#include <string.h>

#include "core/arithmetic.h"
#include "kernels/spmv/analysis/equal_convert.h"
#include "kernels/spmv/analysis/values.h"
#include "kernels/spmv/build.h"
#include "kernels/spmv/cost.h"
#include "kernels/spmv/formats/equal.h"
#include "kernels/spmv/gathers.h"
#include "kernels/spmv/variant.h"
#include "plan/dispatch_size.h"

/* `slices` is 1 in every row that ships. It stays a parameter all the same: with a constant in its
 * place an H100 took up to 6 % longer for two of eight cases (bench/notes/spmv.md, "equal"). */
static const uint32_t slice_values[] = {1, 2, 4, 8}, long_values[] = {0, 128, 256, 512, 1024};

static const wfi_parameter parameters[] = {
    WFI_SPMV_LOCAL_X,
    {"loads", SPMV_ID_LOADS, 2, 4, wfi_spmv_load_values, "loads a block, of four entries a lane"},
    {"slices", SPMV_ID_SLICES, 1, WFI_COUNT(slice_values), slice_values,
     "rows that a lane's entries are of"},
    WFI_SPMV_WINDOW,
    WFI_SPMV_ROW_SUBGROUPS,
    {"long_x", SPMV_ID_LONG_X, 0, WFI_COUNT(long_values), long_values,
     "work-items a work-group of a dispatch of its own for rows that row_subgroups cannot hold; "
     "0: there is none"},
    {"long_loads", SPMV_ID_LONG_LOADS, 2, 4, wfi_spmv_load_values,
     "loads a block of that dispatch"},
};

static bool loads_fit(const wfi_point *point)
{
    const uint32_t loads = point->values[SPMV_ID_LOADS];
    return loads > 0 && loads <= 8;
}

static bool long_loads_fit(const wfi_point *point)
{
    const uint32_t loads = point->values[SPMV_ID_LONG_LOADS];
    return loads > 0 && loads <= 8;
}

static bool slices_divide_loads(const wfi_point *point)
{
    const uint32_t slices = point->values[SPMV_ID_SLICES];
    return slices > 0 && slices <= 8 && 4 * point->values[SPMV_ID_LOADS] % slices == 0;
}

static bool long_group_of_subgroups(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const uint32_t size = point->values[SPMV_ID_LONG_X];
    return size <= caps->max_invocations && size <= caps->max_group_size[0] &&
           size % caps->subgroup_size == 0 &&
           (size == 0 || wfi_spmv_power_of_two(size / caps->subgroup_size));
}

static const wfi_constraint constraints[] = {
    WFI_SPMV_SUBGROUP_KNOWN("blocks"),
    WFI_SPMV_WHOLE_SUBGROUPS("blocks"),
    {"loads must be 1 to 8, since a lane keeps them in registers", loads_fit},
    {"slices must be 1 to 8 and divide four times loads, since they share a lane's entries",
     slices_divide_loads},
    WFI_SPMV_WINDOW_POSITIVE,
    WFI_SPMV_SUBGROUPS_IN_GROUP,
    {"long_x must be 0 or a power of two of subgroups and fit a work-group, since all of its "
     "subgroups share a row",
     long_group_of_subgroups},
    {"long_loads must be 1 to 8, since a lane keeps them in registers", long_loads_fit},
    WFI_SPMV_ONE_VECTOR,
};

/* Of the larger of its two kernels. */
static uint64_t shared_bytes(const wfi_point *point)
{
    const uint32_t local = point->values[SPMV_ID_LOCAL_X], longs = point->values[SPMV_ID_LONG_X];
    return (local > longs ? local : longs) / 4 * wfi_spmv_real_bytes(point);
}

/* ---------------------------------------------------------------------------------------- model */

/* Work-groups are larger where rows have more entries than the subgroups of a usual one hold:
 * segments cost more than what large work-groups wait for (H100: email-Enron in f64 8 %, arrow and
 * dense-row 2 %). */
static uint32_t fit_equal_local(const wf_caps *caps, uint32_t longest, uint32_t loads)
{
    const uint32_t local = wfi_spmv_fit_local(caps);
    const bool fits = caps->max_invocations >= 2 * local && caps->max_group_size[0] >= 2 * local;
    const bool shares = wfi_spmv_profile_of(caps)->shares_rows;
    return shares && fits && longest > 4 * loads * local ? 2 * local : local;
}

/* Rows that read x all over and are no longer than this had better have the shorter chain, however
 * many there are (H200, f64: 479,274 rows of 29 entries 110.8 us, sliced 115.1; f32: 203,642 of 13
 * 21.1 and 23.6). */
#define GATHERED_MEAN 16
#define GATHERED_MEAN_F64 32 /* where they share few sectors */

static bool gathers_decide(const wfi_point *point)
{
    const double mean = point->problem->spmv.mean_row;
    const bool f64 = point->problem->type == WF_TYPE_F64;
    const bool longer = f64 && !wfi_spmv_shares_sectors(point);
    return wfi_spmv_reads_all_over(point) && mean <= (longer ? GATHERED_MEAN_F64 : GATHERED_MEAN);
}

static double mean_but_longest(const wfi_spmv_problem *p)
{
    return p->rows > 1 ? (double)(p->entries - p->longest_row) / (double)(p->rows - 1)
                       : p->mean_row;
}

#define LONG_ROW 8192     /* entries from which on a row is worth a dispatch of its own */
#define SHORT_ROWS 2.5    /* mean entries up to which two rows share the four places of a lane, */
#define SHORTEST_ROWS 1.5 /* and up to which four do */
/* Entries of the matrix, below which another dispatch takes longer than empty places do (H200,
 * 60,000 rows of one entry: 4.16 us, 4.04 by `equal` as it is elsewhere). */
#define LEAST_BESIDE 250000

/* Rows of an entry or two beside long ones: a diagonal and a dense row, arrows. */
static bool is_diagonal_beside_long(const wfi_spmv_problem *p)
{
    return p->entries >= LEAST_BESIDE && p->longest_row >= LONG_ROW &&
           mean_but_longest(p) <= SHORT_ROWS && wfi_spmv_waiting(p) <= mean_but_longest(p);
}

/* The rows share the places of a lane, of which all but one or two would be empty, and the long
 * ones get a dispatch of their own (H200, 900,000 rows of one entry and a dense one: 7.0 us, 13.0
 * before; 2,416,549: 15.8, sliced 26.5). */
static void fit_beside_long(wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const bool f64 = point->problem->type == WF_TYPE_F64;
    const uint32_t subgroups = wfi_spmv_fit_row_subgroups(caps, wfi_spmv_fit_local(caps));
    const bool shortest = mean_but_longest(&point->problem->spmv) <= SHORTEST_ROWS;
    point->values[SPMV_ID_LOADS] = 1;
    point->values[SPMV_ID_SLICES] = shortest ? 4 : 2;
    point->values[SPMV_ID_WINDOW] = 256;
    point->values[SPMV_ID_ROW_SUBGROUPS] = f64 ? subgroups : 1;
    point->values[SPMV_ID_LONG_X] = point->values[SPMV_ID_LOCAL_X];
    point->values[SPMV_ID_LONG_LOADS] = f64 ? 1 : 2;
}

#define UNEVEN 0.4 /* of the slots, that padding adds where rows deviate by the mean */

/* The time where instructions are what costs: a row takes all slots of a power of two of lanes, and
 * padding costs as much as entries. */
static double slot_time(const wfi_point *point, const wfi_spmv_costs *costs)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    const bool f64 = point->problem->type == WF_TYPE_F64;
    const double mean = mean_but_longest(p),
                 uneven = p->mean_row > 0 ? UNEVEN * wfi_spmv_waiting(p) / p->mean_row : 0,
                 all = 4.0 * point->values[SPMV_ID_LOADS] * point->caps->subgroup_size;
    double slots = mean > all ? ceil(mean / all) * all : 4.0 * point->values[SPMV_ID_LOADS];
    while (slots < mean)
        slots *= 2;
    const double row = point->values[SPMV_ID_SLICES] > 1 ? costs->sliced_row[f64]
                                                         : slots * (1 + uneven) * costs->slot[f64];
    return (double)p->rows * row + (double)p->longest_row * costs->shared_entry[f64];
}

#define LONG_ROW_BESIDE 1000 /* entries of it, from which on two loads a block are faster */
#define EVEN_ROWS 0.01       /* variance of rows but the longest */
#define SIMILAR_ROWS 1       /* likewise */

static double variance_but_longest(const wfi_spmv_problem *p)
{
    const double waiting = wfi_spmv_waiting(p), off = p->mean_row - mean_but_longest(p);
    return waiting * waiting - off * off;
}

/* On processors rows of one or two entries share a lane's places, which would be empty otherwise
 * (lavapipe, 67,843 rows of one: 176 us, `lanes` 279; 60,000 rows of two and a long one: 412 and
 * 786, bench/notes/spmv.md#processors-short-rows), and two rows do where they have two entries or
 * three and few have more (roads, luxembourg_osm: 416 us, `lanes` 799). Longer rows lose by it. */
static void share_places(wfi_point *point)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    const double mean = mean_but_longest(p), variance = variance_but_longest(p);
    if (mean > SHORT_ROWS || variance > SIMILAR_ROWS)
        return;
    if (mean > 2 || variance > EVEN_ROWS) {
        point->values[SPMV_ID_LOADS] = 1;
        point->values[SPMV_ID_SLICES] = 2;
        point->values[SPMV_ID_WINDOW] = 256;
        return;
    }
    point->values[SPMV_ID_LOADS] = mean > 1 || p->longest_row >= LONG_ROW_BESIDE ? 2 : 1;
    point->values[SPMV_ID_SLICES] = 4;
}

/* A shorter chain of loads than in sliced, and more padding: for matrices all of whose loads are
 * under way at once. Few loads a block where rows are short, whose padding takes longer than they
 * do, and in f64, where the H100's driver keeps more of them in memory. */
static double fit(wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const wfi_spmv_profile *profile = wfi_spmv_profile_of(caps);
    const wfi_spmv_problem *p = &point->problem->spmv;
    const bool f64 = point->problem->type == WF_TYPE_F64;
    const bool full = p->mean_row >= 16 && p->entries >= 500000;
    const uint32_t words = f64 ? 2 : 1;
    const uint32_t loads = f64 || profile->few_registers || p->mean_row < 6.5 ? 1 : full ? 4 : 2;
    const uint32_t local = fit_equal_local(caps, p->longest_row, loads);
    point->values[SPMV_ID_LOCAL_X] = local;
    point->values[SPMV_ID_LOADS] = loads;
    point->values[SPMV_ID_SLICES] = 1;
    point->values[SPMV_ID_WINDOW] = p->padding < 1.5 ? 1 : 256;
    point->values[SPMV_ID_ROW_SUBGROUPS] = wfi_spmv_fit_row_subgroups(caps, local);
    /* Small segments are faster, since the gathers of each go through the narrow path between one
     * compute unit and the cache, until there are too many sums to add up (H100: rows of 11,900
     * entries gain 7 %, rows of 46,500 lose as much). */
    const bool small_segments = p->longest_row >= 8192 && p->longest_row < 32768;
    point->values[SPMV_ID_LONG_X] =
        profile->shares_rows && small_segments ? wfi_spmv_fit_local(caps) : 0;
    point->values[SPMV_ID_LONG_LOADS] = 1;
    if (profile->costs && profile->costs->slot[0] > 0) {
        share_places(point);
        return slot_time(point, profile->costs);
    }
    if (profile->costs)
        return wfi_spmv_instruction_time(point, profile->costs->shuffled);
    if (p->fused || (profile->few_registers && words > profile->most_load_words))
        return -1;
    const bool beside_long = is_diagonal_beside_long(p);
    if (beside_long)
        fit_beside_long(point);
    const uint64_t most = f64 ? profile->equal_entries_f64 : profile->equal_entries_f32;
    return (p->entries < most || beside_long || gathers_decide(point) ? 0.9 : 1.1) *
           (double)(p->entries + p->rows);
}

/* ---------------------------------------------------------------------------------------- build */

/* As in spmv_equal.comp, behind alpha and beta. */
typedef struct equal_push {
    uint32_t blocks, base_y;
} equal_push;

_Static_assert(sizeof(equal_push) == 8, "members lie as in spmv_equal.comp");

#define SEGMENT_BYTES UINT64_C(16) /* of the scratch: a counter and a sum */

static bool fits(const wf_caps *caps, const wfi_equal *equal, const wfi_spmv_job *job,
                 uint32_t rows)
{
    return equal->segments < WFI_EQUAL_MOST_SEGMENTS &&
           wfi_spmv_rearranged_fits(caps, job, rows, equal->pattern_words, equal->place_count,
                                    equal->segments * SEGMENT_BYTES);
}

/* Converts the block's rows, or fewer until they fit. */
static wf_result make_block(wf_plan *plan, const wfi_spmv_job *job, wfi_equal_params *block,
                            wfi_equal *equal)
{
    wf_device *device = wfi_plan_device(plan);
    for (;;) {
        if (wfi_equal_make(block, equal) != WF_SUCCESS)
            return wfi_no_memory(&device->log);
        if (fits(&device->caps, equal, job, block->rows))
            return WF_SUCCESS;
        wfi_equal_free(equal);
        if (block->rows == 1)
            return wfi_spmv_row_too_long(plan, job, block->first);
        block->rows /= 2;
    }
}

/* What the kernel of a block is compiled for, besides the point. */
typedef struct equal_kind {
    uint32_t width, based, group_rows, folded, scaled;
} equal_kind;

/* A kernel of this kind; the first one adds the plan's bindings too. */
static wf_result add_pipeline(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                              const equal_kind *kind, bool first, uint32_t *pipeline)
{
    const wfi_constant constants[] = {{SPMV_ID_WIDTH, kind->width},
                                      {SPMV_ID_BASED, kind->based},
                                      {SPMV_ID_GROUP_ROWS, kind->group_rows},
                                      {SPMV_ID_FOLDED, kind->folded},
                                      {SPMV_ID_SCALED, kind->scaled},
                                      {SPMV_ID_FENCES, wfi_spmv_profile_of(point->caps)->fences}};
    return wfi_spmv_add_kernel(plan, point, job, constants, WFI_COUNT(constants), first, pipeline);
}

/* The host's arrays of a block, in buffers of the plan's. */
static wf_result put_arrays(wf_plan *plan, const wfi_spmv_job *job, const wfi_equal_params *block,
                            const wfi_equal *equal, wfi_step *step)
{
    const wf_spmv_params *p = &job->matrix;
    wf_result result =
        wfi_spmv_own(plan, job, equal->pattern, equal->pattern_words * 4, &step->slots[0]);
    if (result != WF_SUCCESS)
        return result;
    return wfi_spmv_values(plan, job, equal->places, equal->place_count,
                           p->row_offsets[block->first], p->row_offsets[block->first + block->rows],
                           &step->slots[1]);
}

/* The step of a block of rows, all but its pipeline; its pattern and values are bound already. */
static wf_result make_step(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                           const wfi_equal_params *block, const wfi_equal *equal, wfi_step *step,
                           equal_kind *kind)
{
    const wf_spmv_params *p = &job->matrix;
    equal_push push = {.blocks = equal->blocks};
    step->slot_count = 5;
    step->divisible = true;
    wf_result result = wfi_dispatch_size(plan, equal->blocks / block->group, step->groups);
    if (result == WF_SUCCESS)
        result = wfi_spmv_own(plan, job, NULL, equal->segments * SEGMENT_BYTES, &step->slots[4]);
    step->slots[WFI_SPMV_X_SLOT] = wfi_spmv_x_slot(job);
    step->slots[WFI_SPMV_Y_SLOT] =
        wfi_spmv_y_slot(point->caps, job, block->first, block->rows, &push.base_y);
    wfi_spmv_put_push(p, &push, sizeof push, step);
    *kind = (equal_kind){equal->width, equal->based, equal->group_row_blocks > 0,
                         step->groups[1] > 1, wfi_spmv_is_scaled(p) || push.base_y != 0};
    if (job->kept && !kind->scaled)
        job->kept->unscaled = true;
    return result;
}

/* The plan under construction, and its last kernel. */
typedef struct builder {
    wf_plan *plan;
    const wfi_spmv_job *job;
    equal_kind kind;
    bool started; /* there is a kernel */
    bool longs;   /* it is that of long rows */
    uint32_t pipeline;
} builder;

/* Adds the step of a block, whose pattern and values are bound, and its kernel where the last one
 * is another. */
static wf_result add_step(builder *b, const wfi_point *point, const wfi_equal_params *block,
                          const wfi_equal *equal, bool longs, wfi_step *step)
{
    equal_kind kind = b->kind;
    wf_result result = make_step(b->plan, point, b->job, block, equal, step, &kind);
    const bool other =
        !b->started || b->longs != longs || memcmp(&kind, &b->kind, sizeof kind) != 0;
    if (result == WF_SUCCESS && other)
        result = add_pipeline(b->plan, point, b->job, &kind, !b->started, &b->pipeline);
    step->pipeline = b->pipeline;
    if (result == WF_SUCCESS)
        result = wfi_plan_add_step(b->plan, step);
    b->started = true;
    b->longs = longs;
    b->kind = kind;
    return result;
}

/* Converts and adds the block's rows. `longs`: the point is that of long rows. May take fewer rows
 * and says so in the block; without any rows of the wanted lengths it adds nothing. */
static wf_result add_rows(builder *b, const wfi_point *point, wfi_equal_params *block, bool longs)
{
    wfi_equal equal = {0};
    wfi_step step = {.pipeline = 0};
    wf_result result = make_block(b->plan, b->job, block, &equal);
    if (result == WF_SUCCESS && equal.blocks > 0) {
        result = put_arrays(b->plan, b->job, block, &equal, &step);
        if (result == WF_SUCCESS)
            result = add_step(b, point, block, &equal, longs, &step);
    }
    wfi_equal_free(&equal);
    return result;
}

static wf_result convert(wf_device *device, const wfi_spmv_job *job, const wfi_equal_params *block,
                         wfi_equal_made *made)
{
    wfi_passes passes;
    wf_result result = wfi_passes_open(device, &passes);
    if (result == WF_SUCCESS)
        result = wfi_equal_convert(&passes, &job->csr, block, job->kept->updatable,
                                   job->kept->analysis.longest_row, made);
    if (result == WF_SUCCESS && !fits(&device->caps, &made->sizes, job, block->rows))
        result = WF_NOT_READY;
    if (result == WF_SUCCESS && made->sizes.blocks && !made->values)
        result = wfi_device_values(&passes, &job->csr, made->places, made->sizes.place_count,
                                   &made->values);
    wfi_passes_close(&passes);
    return result;
}

/* The same for a matrix in device memory, all rows in one block. */
static wf_result add_on_device(builder *b, const wfi_point *point, const wfi_equal_params *block,
                               bool longs)
{
    wfi_equal_made made = {.pattern = NULL};
    wfi_step step = {.pipeline = 0};
    wf_result result = block->rows == b->job->matrix.rows
                           ? convert(wfi_plan_device(b->plan), b->job, block, &made)
                           : WF_NOT_READY;
    if (result == WF_SUCCESS && made.sizes.blocks > 0) {
        result = wfi_spmv_adopt(b->plan, b->job, &made.pattern, made.sizes.pattern_words * 4,
                                &step.slots[0]);
        if (result == WF_SUCCESS)
            result = wfi_spmv_adopt_values(b->plan, b->job, &made.values, &made.places,
                                           made.sizes.place_count, &step.slots[1]);
        if (result == WF_SUCCESS)
            result = add_step(b, point, block, &made.sizes, longs, &step);
    }
    wfi_equal_made_free(&made);
    return result;
}

/* The point of the long rows' dispatch: all subgroups of a work-group share a row. */
static wfi_point long_point(const wfi_point *point)
{
    wfi_point longs = *point;
    longs.values[SPMV_ID_LOCAL_X] = point->values[SPMV_ID_LONG_X];
    longs.values[SPMV_ID_LOADS] = point->values[SPMV_ID_LONG_LOADS];
    longs.values[SPMV_ID_SLICES] = 1;
    longs.values[SPMV_ID_ROW_SUBGROUPS] =
        point->values[SPMV_ID_LONG_X] / point->caps->subgroup_size;
    return longs;
}

/* All rows of more than `above` and at most `upto` entries, in blocks that bindings hold. */
static wf_result add_all(builder *b, const wfi_point *point, uint32_t above, uint32_t upto)
{
    const uint32_t all = b->job->matrix.rows;
    wf_result result = WF_SUCCESS;
    for (uint32_t first = 0; result == WF_SUCCESS && first < all;) {
        const uint32_t left = all - first;
        wfi_equal_params block = {
            .matrix = &b->job->matrix,
            .first = first,
            .rows = left < WFI_EQUAL_ROW_MASK ? left : WFI_EQUAL_ROW_MASK,
            .subgroup = point->caps->subgroup_size,
            .loads = point->values[SPMV_ID_LOADS],
            .slices = point->values[SPMV_ID_SLICES],
            .window = point->values[SPMV_ID_WINDOW],
            .row_subgroups = point->values[SPMV_ID_ROW_SUBGROUPS],
            .group = point->values[SPMV_ID_LOCAL_X] / point->caps->subgroup_size,
            .above = above,
            .upto = upto,
        };
        result = b->job->csr.device ? add_on_device(b, point, &block, above > 0)
                                    : add_rows(b, point, &block, above > 0);
        first += block.rows;
    }
    return result;
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_spmv_job *job = params;
    const uint64_t most = UINT64_C(4) * point->values[SPMV_ID_LOADS] *
                          point->values[SPMV_ID_ROW_SUBGROUPS] * point->caps->subgroup_size;
    const bool has_long = point->values[SPMV_ID_LONG_X] && job->kept->analysis.longest_row > most;
    builder b = {.plan = plan, .job = job};
    wf_result result = WF_SUCCESS;
    wfi_plan_bind_sets(plan); /* pushing them takes the device 0.27 us a product on an H100 */
    if (has_long) {           /* first: they take longest */
        const wfi_point longs = long_point(point);
        result = add_all(&b, &longs, (uint32_t)most, UINT32_MAX);
    }
    return result == WF_SUCCESS ? add_all(&b, point, 0, has_long ? (uint32_t)most : UINT32_MAX)
                                : result;
}

const wfi_variant wfi_spmv_equal = {
    WFI_SPMV_ROW(equal),
    .modules = WFI_MODULES_spmv_equal,
    .summary = "blocks of one size a subgroup, all loads but x's at once; for small matrices",
    .source = "",
    .parameter_count = WFI_COUNT(parameters),
    .parameters = parameters,
    .constraint_count = WFI_COUNT(constraints),
    .constraints = constraints,
    .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT,
    .storage_buffers = 5,
    .push_bytes = WFI_SPMV_PUSH_OF(equal_push),
    .traits = WFI_SPMV_CONVERTS | WFI_SPMV_READS_ONCE | WFI_SPMV_BY_MATRIX,
    .shared_bytes = shared_bytes,
    .subgroup_size = wfi_spmv_pinned_subgroup,
    .fit = fit,
    .build = build,
};
