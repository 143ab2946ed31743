/* The spmv model: what each variant should take, and good values of its parameters. Times are in
 * loads of a work-item's loop, and comparable between variants of one device. */
#include <math.h>

#include "kernels/spmv/build.h"

static bool is_llvmpipe(const wfi_point *point)
{
    return point->caps->driver_id == VK_DRIVER_ID_MESA_LLVMPIPE;
}

static double vectors_of(const wfi_point *point)
{
    const uint32_t vectors = point->problem->spmv.vectors;
    return vectors ? vectors : 1;
}

/* What a variant takes on a CPU, where instructions are what costs, in loads of a work-item's loop:
 * a row, an entry, the wait of rows for longer neighbours, and what an empty row takes less than
 * another. Fitted to measurements (bench/notes/spmv.md#cpu-drivers). */
typedef struct cpu_cost {
    double row, entry, spread, empty;
} cpu_cost;

/* llvmpipe asks of each lane of each load from a buffer whether it is there; SwiftShader, taken for all
 * others, compiles barriers and exchanges within subgroups to what takes many times a row's work. */
static double cpu_time(const wfi_point *point, cpu_cost llvmpipe, cpu_cost other)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    const cpu_cost c = is_llvmpipe(point) ? llvmpipe : other;
    const double longest = p->longest_row - p->mean_row; /* alone, it keeps few others waiting */
    const double squares =
        p->row_deviation * p->row_deviation - longest * longest / (double)p->rows;
    const double spread = fmin(sqrt(fmax(squares, 0)), 2 * p->mean_row);
    /* The share of empty rows, were the others alike. */
    const double all = p->mean_row * p->mean_row + fmax(squares, 0);
    const double empty = all > 0 ? 1 - p->mean_row * p->mean_row / all : 1;
    return (double)p->rows * (c.row - c.empty * empty + p->mean_row * c.entry + spread * c.spread) *
           vectors_of(point);
}

/* The largest power of two that the device allows, up to 256: enough to hide latency, small enough
 * that a long row does not keep a large work-group. */
static uint32_t fit_local(const wf_caps *caps)
{
    uint32_t size = caps->max_invocations < 256 ? caps->max_invocations : 256;
    if (size > caps->max_group_size[0])
        size = caps->max_group_size[0];
    uint32_t power = 1;
    while (power * 2 <= size)
        power *= 2;
    return power;
}

/* Turns of the loop a row (a row takes as many as its longest lane, rows side by side wait for the
 * longest of them), a step of the reduction each halving, and on GPUs the memory transactions that
 * lanes apart in memory cost. Every vector reads the matrix again. */
static double row_time(const wfi_point *point, uint32_t lanes, double reduction_step)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    const double typical = p->mean_row + (lanes == 1 ? p->row_deviation : p->row_deviation / 2);
    const double loads = ceil(typical / lanes) + 1;
    const double scatter = wfi_is_cpu(point->caps) ? 1.0 : 1.0 + fmin(p->mean_row / lanes, 8.0);
    const double steps = lanes > 1 ? log2(lanes) * reduction_step : 0;
    return (double)p->rows * lanes * (loads * scatter + steps) * vectors_of(point);
}

/* The lane count of least time among those legal; the point gets it. */
static double best_lanes(wfi_point *point, double (*time_of)(const wfi_point *, uint32_t, double),
                         double reduction_step)
{
    double best = -1;
    uint32_t best_count = 1;
    for (uint32_t lanes = 1; lanes <= 128; lanes *= 2) {
        point->values[SPMV_ID_LANES] = lanes;
        if (!wfi_point_legal(point, NULL))
            continue;
        const double time = time_of(point, lanes, reduction_step);
        if (best < 0 || time < best) {
            best = time;
            best_count = lanes;
        }
    }
    point->values[SPMV_ID_LANES] = best_count;
    return best;
}

double wfi_spmv_row_fit(wfi_point *point)
{
    point->values[SPMV_ID_LOCAL_X] = fit_local(point->caps);
    return wfi_is_cpu(point->caps)
               ? cpu_time(point, (cpu_cost){2.4, 1.05, 1, 0}, (cpu_cost){2.7, 1, 0.4, 0})
               : row_time(point, 1, 0);
}

double wfi_spmv_lanes_fit(wfi_point *point)
{
    point->values[SPMV_ID_LOCAL_X] = fit_local(point->caps);
    if (!wfi_is_cpu(point->caps))
        return best_lanes(point, row_time, 0.5);
    point->values[SPMV_ID_LANES] = 1;
    return cpu_time(point, (cpu_cost){2.2, 1, 1, 0}, (cpu_cost){3.2, 1.05, 0.4, 0});
}

double wfi_spmv_add_fit(wfi_point *point)
{
    point->values[SPMV_ID_LOCAL_X] = fit_local(point->caps);
    return wfi_is_cpu(point->caps)
               ? cpu_time(point, (cpu_cost){23, 1, 0, 0}, (cpu_cost){8, 1.1, 0, 0})
               : row_time(point, point->caps->subgroup_size, 0.6);
}

/* A barrier in place of a shuffle. */
double wfi_spmv_shared_fit(wfi_point *point)
{
    point->values[SPMV_ID_LOCAL_X] = fit_local(point->caps);
    if (!wfi_is_cpu(point->caps))
        return best_lanes(point, row_time, 4.0);
    point->values[SPMV_ID_LANES] = 1;
    return cpu_time(point, (cpu_cost){12, 1.2, 0.5, 0}, (cpu_cost){100, 2, 0, 0});
}

double wfi_spmv_step_fit(wfi_point *point)
{
    wfi_spmv_shared_fit(point);
    return -1;
}

/* Neighbouring work-items read neighbouring elements of X, and the matrix once for all. */
static double many_time(const wfi_point *point, uint32_t lanes, double reduction_step)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    const double loads = ceil((p->mean_row + p->row_deviation / 2) / lanes) + 1;
    const double steps = lanes > 1 ? log2(lanes) * reduction_step : 0;
    return (double)p->rows * lanes * (loads * 1.5 + steps) * vectors_of(point);
}

double wfi_spmv_many_fit(wfi_point *point)
{
    point->values[SPMV_ID_LOCAL_X] = fit_local(point->caps);
    const double time = best_lanes(point, many_time, 4.0);
    return point->problem->spmv.vectors > 1 ? time : -1;
}

/* Short rows as with one lane, long ones with as many as they can use. */
double wfi_spmv_adaptive_fit(wfi_point *point)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    point->values[SPMV_ID_LOCAL_X] = fit_local(point->caps);
    const double entry = wfi_is_cpu(point->caps) ? 5.0 : 4.0;
    return ((double)p->entries * entry + (double)p->rows * 4) * vectors_of(point);
}

/* Every step costs the same, with two dispatches and passes through shared memory. */
double wfi_spmv_merge_fit(wfi_point *point)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    point->values[SPMV_ID_LOCAL_X] = fit_local(point->caps) < 128 ? fit_local(point->caps) : 128;
    point->values[SPMV_ID_ITEMS] = 7;
    return ((double)p->entries + (double)p->rows) * (wfi_is_cpu(point->caps) ? 6.0 : 2.0) + 50000;
}

static double blocked_time(const wfi_point *point, uint32_t lanes, double reduction_step)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    const double side = p->block ? p->block : 2, fill = fmax(p->block_fill, 0.05);
    const double blocks = p->mean_row / (side * fill); /* a row of blocks */
    const double loads = (ceil(blocks / lanes) + 1) * side * side;
    const double steps = lanes > 1 ? log2(lanes) * reduction_step * side : 0;
    const double scatter = wfi_is_cpu(point->caps) ? 1.0 : 1.5;
    return (double)p->rows / side * lanes * (loads * scatter + steps) * vectors_of(point);
}

/* Only where blocks are nearly full: zeros in them are read and multiplied. */
double wfi_spmv_blocked_fit(wfi_point *point)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    point->values[SPMV_ID_LOCAL_X] = fit_local(point->caps);
    point->values[SPMV_ID_BLOCK] = p->block ? p->block : 2;
    while (point->values[SPMV_ID_LOCAL_X] > 32 && !wfi_point_legal(point, NULL))
        point->values[SPMV_ID_LOCAL_X] /= 2;
    const double time = best_lanes(point, blocked_time, 4.0);
    return p->block_fill >= 0.75 ? time : -1;
}

/* Four words for one question. Rows side by side wait for the longest: sorted where they differ. */
double wfi_spmv_quads_fit(wfi_point *point)
{
    point->values[SPMV_ID_LOCAL_X] = fit_local(point->caps);
    point->values[SPMV_ID_WINDOW] = point->problem->spmv.padding < 1.2 ? 1 : UINT32_MAX;
    return wfi_is_cpu(point->caps)
               ? cpu_time(point, (cpu_cost){4.5, 0.6, 0, 0}, (cpu_cost){4.8, 0.63, 0, 3.1})
               : -1;
}

/* Subgroups of a work-group, which share long rows; CPU devices have no use for it. */
static uint32_t fit_row_subgroups(const wf_caps *caps, uint32_t local)
{
    uint32_t row_subgroups = 1;
    while (!wfi_is_cpu(caps) && row_subgroups * 2 * caps->subgroup_size <= local &&
           row_subgroups < 32)
        row_subgroups *= 2;
    return row_subgroups;
}

/* Of kernels that add up by shuffles, which CPU devices make loops of. */
static double shuffled_cpu_time(const wfi_point *point)
{
    return cpu_time(point, (cpu_cost){21, 1.9, 0, 0}, (cpu_cost){400, 14, 0, 0});
}

/* Turns as many as leave enough subgroups to fill the device. Where rows are of all lengths, slices
 * of few loads leave lanes idle, and fewer subgroups do, until the last one's loads are long (R-MAT
 * of 2^16 to 2^20 rows, H100). */
static uint32_t sliced_loads(const wfi_point *point, double spread)
{
    const double units = point->caps->compute_units ? point->caps->compute_units : 32;
    const double all =
        (double)point->problem->spmv.entries / (4.0 * point->caps->subgroup_size) / units;
    if (wfi_is_cpu(point->caps))
        return 16;
    if (spread >= 3 && all / 32 >= 24)
        return 32;
    uint32_t loads = spread >= 3 ? 16 : 8;
    while (loads > 2 && all / loads < (spread >= 3 ? 12 : 30))
        loads /= 2;
    return loads;
}

/* Sorting pays where rows side by side wait for each other; the wider the window, the further apart
 * the x and y of a slice may lie. */
double wfi_spmv_sliced_fit(wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const wfi_spmv_problem *p = &point->problem->spmv;
    const bool cpu = wfi_is_cpu(point->caps);
    const double spread = p->mean_row > 0 ? p->row_deviation / p->mean_row : 0;
    const uint32_t local = fit_local(caps);
    point->values[SPMV_ID_LOCAL_X] = local;
    point->values[SPMV_ID_SLICE_LOADS] = sliced_loads(point, spread);
    point->values[SPMV_ID_WINDOW] = p->padding < 1.5   ? 1
                                    : p->rows < 200000 ? 256
                                    : spread < 3       ? 2048
                                                       : UINT32_MAX;
    point->values[SPMV_ID_ROW_SUBGROUPS] = fit_row_subgroups(caps, local);
    return cpu ? shuffled_cpu_time(point) : (double)p->entries + (double)p->rows;
}

/* Entries up to which equal was measured faster (H100): about what is under way at once. */
#define EQUAL_ENTRIES_F32 1900000
#define EQUAL_ENTRIES_F64 1200000

/* Larger work-groups where rows have more entries than a row_subgroups of the usual ones: segments cost more
 * than what large groups wait for (H100: email-Enron in f64 8 %, arrow and dense-row 2 %). */
static uint32_t equal_local(const wf_caps *caps, uint32_t longest, uint32_t loads)
{
    const uint32_t local = fit_local(caps);
    const bool fits = caps->max_invocations >= 2 * local && caps->max_group_size[0] >= 2 * local;
    return !wfi_is_cpu(caps) && fits && longest > 4 * loads * local ? 2 * local : local;
}

/* Sliced with a shorter chain of loads and more padding: for matrices that are under way all at once.
 * Fewer loads where rows are short, whose padding takes longer than they do, and in f64, where the H100's
 * driver keeps more of them in memory. */
double wfi_spmv_equal_fit(wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const wfi_spmv_problem *p = &point->problem->spmv;
    const bool cpu = wfi_is_cpu(point->caps), f64 = point->problem->type == WF_TYPE_F64;
    const bool full = p->mean_row >= 16 && p->entries >= 500000;
    const uint32_t loads = f64 || p->mean_row < 6.5 ? 1 : full ? 4 : 2;
    const uint32_t local = equal_local(caps, p->longest_row, loads);
    point->values[SPMV_ID_LOCAL_X] = local;
    point->values[SPMV_ID_LOADS] = loads;
    point->values[SPMV_ID_SLICES] = 1;
    point->values[SPMV_ID_WINDOW] = p->padding < 1.5 ? 1 : 256;
    point->values[SPMV_ID_ROW_SUBGROUPS] = fit_row_subgroups(caps, local);
    /* The gathers of a segment take its unit's narrow way to the cache: small ones are faster, until
     * there are too many sums to add up (H100: 11,900 entries gain 7 %, 46,500 lose that). */
    const bool small_segments = p->longest_row >= 8192 && p->longest_row < 32768;
    point->values[SPMV_ID_LONG_X] = !cpu && small_segments ? fit_local(caps) : 0;
    point->values[SPMV_ID_LONG_LOADS] = 1;
    if (cpu)
        return shuffled_cpu_time(point);
    if (p->fused)
        return -1;
    const uint64_t most = f64 ? EQUAL_ENTRIES_F64 : EQUAL_ENTRIES_F32;
    return (p->entries < most ? 0.9 : 1.1) * (double)(p->entries + p->rows);
}

#define STREAM_ITEMS 8    /* entries a work-item: half as many keep fewer loads under way */
#define STREAM_LONGEST 64 /* a work-item adds up a row alone */
#define STREAM_MEAN 6     /* above, the others' loads of four are nearly full */

/* For rows of a few entries, of which the others read twice as much as there is. Rows a work-item: those
 * that its entries are of, and a few more. H100, 2.2 a row: 16.1 us where sliced takes 28.4. */
double wfi_spmv_stream_fit(wfi_point *point)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    const bool f64 = point->problem->type == WF_TYPE_F64;
    const double rows = p->mean_row > 0 ? 1.05 * STREAM_ITEMS / p->mean_row : 8;
    const uint32_t local = fit_local(point->caps);
    point->values[SPMV_ID_LOCAL_X] = local < 128 ? local : 128;
    point->values[SPMV_ID_ITEMS] = STREAM_ITEMS;
    point->values[SPMV_ID_ROWS] = (uint32_t)fmin(fmax(ceil(rows), 1), 8);
    if (wfi_is_cpu(point->caps) || p->fused || p->longest_row > STREAM_LONGEST ||
        p->mean_row > STREAM_MEAN || p->entries < (f64 ? EQUAL_ENTRIES_F64 : EQUAL_ENTRIES_F32))
        return -1;
    return 0.6 * (double)(p->entries + p->rows);
}
