/* Few rows or columns of C: the large matrix is read once, at the speed of memory. */
#include <math.h>

#include "profiles/matmul.h"
#include "kernels/matmul/build.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/published_time.h"
#include "kernels/matmul/model.h"
#include "kernels/matmul/tile.h"
#include "kernels/matmul/tile_time.h"
#include "kernels/matmul/thin.h"
#include "kernels/matmul/traffic.h"
#include "kernels/matmul/variants/list.h"
#include "core/arithmetic.h"

static const uint32_t local_x[] = {4, 8, 16, 32, 64, 128}, local_y[] = {1, 2, 4, 8, 16, 32, 64},
                      vec4s[] = {0, 1, 2, 3, 4, 7}, split_ks[] = {1, 2, 4, 8, 16, 32},
                      loads[] = {2, 4, 8}, chunks[] = {1, 2, 4, 8};

static const wfi_parameter parameters[] = {
    {"local_x", MATMUL_ID_LOCAL_X, 32, WFI_COUNT(local_x), local_x,
     "work-items along the stored rows of the large matrix"},
    {"local_y", MATMUL_ID_LOCAL_Y, 4, WFI_COUNT(local_y), local_y,
     "work-items down the stored rows of the large matrix"},
    {"vec4", MATMUL_ID_VEC4, 0, WFI_COUNT(vec4s), vec4s,
     "matrices that memory moves four elements at a time: the sum of 1 for A, 2 for B, 4 for C"},
    WFI_SPLIT_K_ROW(split_ks),
    {"loads", MATMUL_ID_LOADS, 4, WFI_COUNT(loads), loads,
     "loads of the large matrix that a work-item has under way"},
    {"chunks", MATMUL_ID_CHUNKS, 1, WFI_COUNT(chunks), chunks,
     "parts of the sum that a work-group makes one after another, every second execution from the "
     "last one, which caches still hold"},
};

static bool few_vectors(const wfi_point *point)
{
    return wfi_matmul_vectors(&point->problem->matmul) <= WFI_MOST_VECTORS;
}

static bool vec4_allowed(const wfi_point *point)
{
    return wfi_matmul_vec4_allowed(point, point->values[MATMUL_ID_VEC4]);
}

static bool split_k_positive(const wfi_point *point)
{
    return point->values[MATMUL_ID_SPLIT_K] >= 1 && point->values[MATMUL_ID_SPLIT_K] <= 4096;
}

static bool few_registers(const wfi_point *point)
{
    const uint32_t count = point->values[MATMUL_ID_LOADS], parts = point->values[MATMUL_ID_CHUNKS];
    return count >= 1 && count <= 16 && parts >= 1 && parts <= 16;
}

static const wfi_constraint constraints[] = {
    {"m or n must be at most 8, since a work-item keeps every vector's sums in registers",
     few_vectors},
    {WFI_VEC4_REASON, vec4_allowed},
    {"split_k must be between 1 and 4096", split_k_positive},
    {"loads and chunks must be between 1 and 16, since a work-item keeps as many values of each in "
     "registers",
     few_registers},
};

static uint64_t shared_bytes(const wfi_point *point)
{
    return UINT64_C(4) * point->values[MATMUL_ID_LOCAL_X] * point->values[MATMUL_ID_LOCAL_Y] *
           wfi_matmul_sum_size(point->problem->type);
}

static void constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    wfi_matmul_constants(point, desc);
    wfi_pipeline_constant(desc, MATMUL_ID_MATRIX_IS_B, wfi_matmul_matrix_is_b(p));
    wfi_pipeline_constant(desc, MATMUL_ID_VECTORS, (uint32_t)wfi_matmul_vectors(p));
}

/* Outputs of a work-group, along n where B is the large matrix, else along m. */
static uint32_t outputs(const wfi_point *point)
{
    return wfi_matmul_by_sum(&point->problem->matmul) ? point->values[MATMUL_ID_LOCAL_Y]
                                                      : 4 * point->values[MATMUL_ID_LOCAL_X];
}

static double groups(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    return ceil((double)(p->m > p->n ? p->m : p->n) / outputs(point)) * (double)p->batch;
}

/* Work-items along a row: each sums ROW_STEPS single elements or twice as many in vectors, at
 * most, since adding up their parts takes longer than reading a short row; but with so few rows
 * that compute units would have less than UNIT_GROUPS, more share each. Few work-items a row make
 * small work-groups. What an H100 measured: bench/notes/matmul.md#short-rows-gpu. */
#define ROW_STEPS 32
#define LEAST_ROW 4
#define MOST_ROW 32
#define SCALAR_ROW 128 /* of single elements, where 512 bytes side by side were worth it */
#define SHORT_GROUP 128
#define UNIT_GROUPS 2

static void set_group(uint32_t *v, uint32_t row, uint32_t most)
{
    const uint32_t items = row < MOST_ROW ? (uint32_t)wfi_least(SHORT_GROUP, most) : most;
    v[MATMUL_ID_LOCAL_X] = row;
    v[MATMUL_ID_LOCAL_Y] = items / row;
}

static void set_rows(wfi_point *point, uint32_t most)
{
    const wfi_matmul_profile *profile = wfi_matmul_profile_of(point->caps);
    uint32_t *v = point->values;
    const uint64_t k = point->problem->matmul.k,
                   steps = v[MATMUL_ID_VEC4] ? 2 * ROW_STEPS : ROW_STEPS;
    const bool scalar = !v[MATMUL_ID_VEC4] && profile->matvec_loads;
    const uint32_t widest = (uint32_t)wfi_least(scalar ? SCALAR_ROW : MOST_ROW, most),
                   row = wfi_power_at_least((k + steps - 1) / steps, widest);
    set_group(v, row < LEAST_ROW ? LEAST_ROW : row, most);
    while (v[MATMUL_ID_LOCAL_X] < MOST_ROW && v[MATMUL_ID_LOCAL_X] < most &&
           groups(point) < UNIT_GROUPS * wfi_matmul_units(point->caps))
        set_group(v, 2 * v[MATMUL_ID_LOCAL_X], most);
}

/* Where the sum runs across rows, work-items share it, each with some of its steps; of rows that
 * are no vectors, few work-groups have outputs, so that parts of the sum fill the device. What an
 * H200 measured: bench/notes/matmul.md#hundred. */
#define OUTPUTS 8         /* of a work-group, in fours, */
#define SCALAR_OUTPUTS 16 /* and of single elements */
#define SCALAR_SHARES 32  /* of its sum */
#define LEAST_SHARE 8     /* steps of the sum */
#define LEAST_PART 256    /* steps of each of split_k parts */
#define SCALAR_GROUPS 8   /* for a compute unit */

static void set_shares(wfi_point *point, uint32_t most)
{
    const wfi_matmul_profile *profile = wfi_matmul_profile_of(point->caps);
    const bool scalar = !point->values[MATMUL_ID_VEC4] && profile->matvec_loads;
    const uint64_t k = point->problem->matmul.k;
    const double units = wfi_matmul_units(point->caps);
    uint32_t *v = point->values, *share = &v[MATMUL_ID_LOCAL_Y], split_k = 1;
    v[MATMUL_ID_LOCAL_X] = scalar ? SCALAR_OUTPUTS : OUTPUTS;
    *share = most / v[MATMUL_ID_LOCAL_X];
    if (scalar)
        *share = (uint32_t)wfi_least(*share, SCALAR_SHARES);
    while (profile->hides_latency && *share > 1 && k < (uint64_t)LEAST_SHARE * *share)
        *share /= 2;
    while (scalar && split_k * 2 * groups(point) <= SCALAR_GROUPS * units &&
           k / (split_k * 2) >= LEAST_PART)
        split_k *= 2;
    v[MATMUL_ID_SPLIT_K] = split_k;
}

/* A processor runs a work-group's work-items one after another and gains nothing where they share a
 * sum. Sums along rows are shared all the same; their time is counted in multiply-adds of `naive`,
 * 8 units of the model each. Sums across rows are not shared. What lavapipe measured:
 * bench/notes/matmul.md#short-rows. */
#define PROCESSOR_ROW 4              /* work-items that share a row */
#define PROCESSOR_OUTPUT (130 * 8.0) /* time of an output */
#define PROCESSOR_STEP (1.3 * 8.0)   /* and of each step of its sum */
#define PROCESSOR_COLUMNS 64         /* most work-items of a work-group across rows */
#define LEAST_COLUMNS 8              /* and fewest */
#define PROCESSOR_GROUPS 8           /* work-groups that are wanted before these are larger */

static double processor_sums(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    return wfi_matmul_profile_of(point->caps)->registers_are_memory && wfi_matmul_by_sum(p)
               ? (PROCESSOR_OUTPUT + PROCESSOR_STEP * (double)p->k) * (double)p->m * (double)p->n *
                     (double)p->batch
               : 0;
}

static void set_processor_group(wfi_point *point, bool by_sum, uint32_t most)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    uint32_t *v = point->values;
    const uint64_t all = wfi_matmul_matrix_is_b(p) ? p->n : p->m;
    const uint32_t columns = wfi_power_at_least(all / (4 * PROCESSOR_GROUPS), PROCESSOR_COLUMNS);
    if (by_sum) {
        v[MATMUL_ID_LOCAL_X] = PROCESSOR_ROW;
        v[MATMUL_ID_LOCAL_Y] = most / PROCESSOR_ROW;
        return;
    }
    v[MATMUL_ID_LOCAL_X] = columns < LEAST_COLUMNS ? LEAST_COLUMNS : columns;
    v[MATMUL_ID_LOCAL_Y] = 1;
}

static void set_items(wfi_point *point, bool by_sum, uint32_t most)
{
    if (wfi_matmul_profile_of(point->caps)->registers_are_memory)
        set_processor_group(point, by_sum, most);
    else if (by_sum)
        set_rows(point, most);
    else
        set_shares(point, most);
}

/* How long a work-item that shares a short sum across rows waits: at each step, for its four
 * products with each vector; in f64 four times as long (bench/notes/matmul.md#short-rows-gpu). For
 * longer sums this is not known, since no other variant was measured there. */
static double waits(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const wfi_rates *rates = wfi_matmul_rates_of(point);
    const double words = wfi_matmul_words(point),
                 steps = ceil((double)p->k / point->values[MATMUL_ID_LOCAL_Y]),
                 products = 4 * (double)wfi_matmul_vectors(p) * words * words;
    return steps * products * rates->of[WFI_RATE_NARROW_WAIT] * wfi_matmul_microsecond(point);
}

static double fit(wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const wfi_matmul_profile *profile = wfi_matmul_profile_of(point->caps);
    const uint64_t count = wfi_matmul_vectors(p);
    const double bytes = wfi_matmul_least_bytes(point->problem);
    uint32_t *v = point->values;
    const bool by_sum = wfi_matmul_by_sum(p);
    const uint32_t wanted = by_sum ? 256 : profile->matvec_group;
    const uint32_t most =
        point->caps->max_invocations < wanted ? point->caps->max_invocations : wanted;
    v[MATMUL_ID_VEC4] = wfi_matmul_vec4_bits(p) & (wfi_matmul_matrix_is_b(p) ? 2u : 1u);
    v[MATMUL_ID_SPLIT_K] = 1;
    set_items(point, by_sum, most);
    if (profile->matvec_loads && point->problem->type == WF_TYPE_F32 && (p->m == 1 || p->n == 1) &&
        bytes >= WFI_LEAST_REVERSED) {
        v[MATMUL_ID_LOADS] = profile->matvec_loads;
        v[MATMUL_ID_CHUNKS] = profile->matvec_chunks;
    }
    if (!v[MATMUL_ID_VEC4] && profile->matvec_loads)
        v[MATMUL_ID_CHUNKS] = 1;
    if (!wfi_point_legal(point, NULL) || count > profile->most_vectors)
        return -1;
    if (wfi_matmul_has_published_time(point))
        return wfi_matmul_published_reading(point, groups(point));
    const double time = wfi_matmul_reading_time(point, groups(point) * v[MATMUL_ID_SPLIT_K]);
    if (profile->matrix_byte_flops > 0 && count == 1)
        return time * profile->matrix_byte_flops / profile->flops_a_byte;
    const bool adds = profile->vectors_add && count > (by_sum ? 3 : 4),
               timed = wfi_matmul_times_tiles(point) || wfi_matmul_times_matrices(point);
    if (timed && !by_sum && p->k <= WFI_SHORT_SUM)
        return fmax(time * (adds ? (double)count : 1), wfi_matmul_start_time(point) + waits(point));
    return time * (adds ? (double)count : 1) + processor_sums(point);
}

/* Each load of the large matrix goes with one of each vector; items beyond the last output load it
 * again. */
static void traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const double size = (double)wf_type_size(point->problem->type) * (double)p->batch;
    const double vectors = (double)wfi_matmul_vectors(p), k = (double)p->k;
    const double all = (double)(wfi_matmul_matrix_is_b(p) ? p->n : p->m);
    const double groups = ceil(all / outputs(point)), items = groups * outputs(point);
    /* A work-item has four outputs, or one of them and the sum in pieces. */
    const double each_step = items * (wfi_matmul_by_sum(p) ? 1 + vectors : 1 + vectors / 4);
    out->requested = size * k * each_step + wfi_matmul_c_bytes(point);
    out->stored = wfi_matmul_c_stored(point);
    out->groups = size * k * (all + groups * vectors) + wfi_matmul_c_bytes(point);
    out->work_groups = groups * (double)p->batch;
    wfi_matmul_count_split(point, out);
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const bool is_b = wfi_matmul_matrix_is_b(&point->problem->matmul);
    return wfi_matmul_build(plan, point, params,
                            (wfi_matmul_tile){.m = is_b ? WFI_MOST_VECTORS : outputs(point),
                                              .n = is_b ? outputs(point) : WFI_MOST_VECTORS,
                                              .k = 4,
                                              .split_k = point->values[MATMUL_ID_SPLIT_K],
                                              .reverse = true});
}

const wfi_variant wfi_matmul_matvec = {
    .name = "matvec",
    .summary = "few rows or columns of C: the large matrix is read once, at the speed of memory",
    .source = "",
    .modules = WFI_MODULES_matmul_matvec,
    .parameter_count = WFI_COUNT(parameters),
    .parameters = parameters,
    .constraint_count = WFI_COUNT(constraints),
    .constraints = constraints,
    .storage_buffers = WF_MATMUL_BINDINGS,
    .push_bytes = sizeof(wfi_matmul_push),
    .shared_bytes = shared_bytes,
    .group_size = wfi_matmul_local_group,
    .constants = constants,
    .fit = fit,
    .traffic = traffic,
    .build = build,
};
