/* What the steps of a star take, one or several a pass, where nobody has published a GPU's compute
 * units: clocks of a unit. A pass takes what memory moves, what the units' subgroups issue, and
 * what columns wait for plane by plane; each hides most of the others. Of the device the published
 * limits and arithmetic come in; the other numbers are guesses for all devices, fitted to grids on
 * an H100 and H200s (bench/notes/stencil.md#several-steps, #borders and #one-buffer say how far
 * they hold). */
#include <math.h>
#include <string.h>

#include "core/architectures.h"
#include "core/arithmetic.h"
#include "kernels/stencil/rows.h"
#include "profiles/published.h"

#define UNIT_BYTES 12.8 /* of memory, a clock, where none are published: 20 operations a byte */
#define ISSUED 4        /* instructions of subgroups that a unit begins in a clock */
#define DISPATCH 2450   /* of a dispatch and the barrier behind it */
#define FROM_MEMORY 0.8 /* of the bytes: caches hold some */
#define OVERLAP 0.33    /* likewise of those that several work-groups read */
#define SECTOR_BYTES 32 /* what caches fetch at once */
/* Instructions of a plane, and of each cell in it by variant and step. */
#define PLANE_ISSUE 11
#define MARCH_ISSUE 18
#define VECTOR_ISSUE 7.5
#define TIME_ISSUE 24
#define BLOCK_ISSUE 12
#define ROUNDED 3      /* more of several steps in f16: cells are rounded after each */
#define BEYOND 0.6     /* times as many more for each cell of the radius after the first */
#define NARROW_F16 1.8 /* times as many of a single step where a load is of a single f16 */
#define F64 1.8        /* likewise of several steps in f64 */
#define SOLID_F64 2.3  /* in three dimensions, but for blocks */
#define MIRRORED 1.2   /* likewise of several steps with a mirrored border in three dimensions */
/* Likewise in blocks of a plane's edges in one buffer, in two dimensions. */
#define ONE_BUFFER 0.9
#define ONE_BUFFER_F64 0.7
/* What a plane is waited for; with barriers also so many clocks for each of its instructions. */
#define MARCH_WAIT 290
#define VECTOR_WAIT 420
#define TIME_WAIT 75
#define BLOCK_WAIT 200
#define INSTRUCTION_WAIT 3
#define BARRIER_WAIT 100 /* of the second barrier that one buffer needs */
/* So many for blocks of f32, and of all types in two dimensions, where a unit begins instructions
 * of few subgroups in turn: these, and so many for each of them. */
#define LEAST_INSTRUCTION_WAIT 1.2
#define TURN_INSTRUCTION_WAIT 0.45
/* What a pass waits for before its first plane and after its last, but for single steps in two
 * dimensions and for blocks, whose planes' waits have it. */
#define LATE_START 2300
/* Registers of a work-item: these, and so many for each cell that it has at a step. */
#define LEAST_REGISTERS 40
#define CELL_REGISTERS 6
#define STEP_REGISTERS 3
#define MOST_REGISTERS 255
#define MOST_GROUPS 32  /* that a unit holds, where nothing is published */
#define SHORT_PASS 0.85 /* of a pass, one that makes the steps which are left */

/* A pass of the point, counted a work-item and plane where it is not said otherwise. */
typedef struct pass {
    double groups, steps, start;
    double planes, wait, issue; /* planes: of a column */
    double read;                /* of the whole grid, over its cells */
    double registers;           /* of a work-item */
} pass;

static bool is_time(const wfi_point *point)
{
    return wfi_variant_has(point->variant, STENCIL_ID_STEPS);
}

/* Whether the grid is of three dimensions and blocks of f32 can be taken, for which alone short
 * passes were timed. */
static bool is_solid_f32(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    return point->problem->type == WF_TYPE_F32 && p->dimensions == 3 && p->row_stride % 4 == 0;
}

static bool is_block(const wfi_point *point)
{
    return is_time(point) && point->variant->traits & WFI_STENCIL_VECTORS;
}

static bool is_solid_block(const wfi_point *point)
{
    return is_block(point) && is_solid_f32(point);
}

static bool is_flat_block(const wfi_point *point)
{
    return is_block(point) && point->problem->stencil.dimensions == 2;
}

static bool is_flat_with_one_buffer(const wfi_point *point)
{
    return is_flat_block(point) && wfi_point_value(point, STENCIL_ID_BUFFERS, 2) == 1;
}

static bool starts_late(const wfi_point *point)
{
    return !is_block(point) && (is_time(point) || point->problem->stencil.dimensions == 3);
}

/* Blocks that wait by turns, and of which columns of four planes were timed. */
static bool is_flat_or_solid_block(const wfi_point *point)
{
    return is_solid_block(point) || is_flat_block(point);
}

static double cell_issue(const wfi_point *point)
{
    const bool vectors = point->variant->traits & WFI_STENCIL_VECTORS, time = is_time(point);
    const wf_type type = point->problem->type;
    const bool solid = point->problem->stencil.dimensions == 3;
    double issue =
        time ? (vectors ? BLOCK_ISSUE : TIME_ISSUE) : (vectors ? VECTOR_ISSUE : MARCH_ISSUE);
    issue *= 1 + BEYOND * (point->problem->stencil.radius - 1.0);
    if (is_flat_with_one_buffer(point))
        issue *= type == WF_TYPE_F64 ? ONE_BUFFER_F64 : ONE_BUFFER;
    if (type == WF_TYPE_F16 && !vectors && !time)
        issue *= NARROW_F16;
    if (type == WF_TYPE_F64 && time)
        issue *= solid && !vectors ? SOLID_F64 : F64;
    if (time && solid && point->problem->stencil.border == WF_BORDER_NEUMANN)
        issue *= MIRRORED;
    return time && type == WF_TYPE_F16 ? issue + ROUNDED : issue;
}

/* Cells that the tiles of an axis of n cells read, over n. */
static double widened(double n, double tiles, double length, double radius)
{
    return tiles * fmin(length, n + 2 * radius) / n;
}

static pass pass_of(const wfi_point *point)
{
    const wfi_stencil_axes a = wfi_stencil_axes_of(&point->problem->stencil);
    const wfi_stencil_tile tile = wfi_stencil_tile_of(point);
    const bool vectors = point->variant->traits & WFI_STENCIL_VECTORS, time = is_time(point);
    const double ni = (double)a.ni, nj = (double)a.nj, nk = (double)a.nk,
                 width = wfi_stencil_width(point), whole = time ? width : 1,
                 size = (double)wf_type_size(point->problem->type),
                 radius = point->problem->stencil.radius,
                 steps = wfi_point_value(point, STENCIL_ID_STEPS, 1), side = steps * radius,
                 march = fmin((double)tile.k, nk), columns = ceil(nk / march),
                 cells = steps * width * wfi_point_value(point, STENCIL_ID_ROWS, 1);
    uint64_t groups[2];
    wfi_stencil_groups(point, groups);
    const double tiles_i = (double)groups[0], tiles_j = (double)groups[1];
    const double sector = 0.5 * (SECTOR_BYTES / size - 1);
    const double i = widened(ni, tiles_i, (double)tile.i + 2 * ceil(side / whole) * whole, radius) +
                     sector * tiles_i / ni,
                 j = a.flat ? 1 : widened(nj, tiles_j, (double)tile.j + 2 * side, radius),
                 k = columns * (march + 2 * side) / nk;
    pass p = {.groups = tiles_i * tiles_j * columns, .steps = steps};
    p.read = 1 + OVERLAP * fmax((time ? i * j * k : i + j + k - 2) - 1, 0);
    p.planes = time ? march + 2 * side + vectors : march + 2 * radius - 1;
    p.issue = PLANE_ISSUE * (time && vectors ? 2 : 1) + cells * cell_issue(point);
    p.wait = time ? (vectors || is_solid_f32(point) ? BLOCK_WAIT : TIME_WAIT)
                  : (vectors ? VECTOR_WAIT : MARCH_WAIT);
    if (is_flat_with_one_buffer(point))
        p.wait += BARRIER_WAIT;
    p.start = starts_late(point) ? LATE_START : 0;
    p.registers = fmin(LEAST_REGISTERS +
                           cells * (size > 4 ? 2 : 1) * (time ? STEP_REGISTERS : CELL_REGISTERS),
                       MOST_REGISTERS);
    return p;
}

/* What a time needs of the device, looked up once. */
typedef struct device {
    wfi_unit unit;
    double units, bytes; /* bytes: of memory for one of the units, a clock */
} device;

static device device_of(const wf_caps *caps)
{
    const wfi_unit unit = wfi_unit_of(caps);
    const double published = wfi_published_bytes(&unit);
    return (device){.unit = unit,
                    .units = ceil((double)wfi_units_of(caps) / unit.counted),
                    .bytes = published > 0 ? published : UNIT_BYTES};
}

/* What a plane is waited for by a work-group, of which a unit has so many subgroups at once. */
static double plane_wait(const wfi_point *point, const pass *p, double subgroups)
{
    double clocks = is_time(point) ? INSTRUCTION_WAIT : 0;
    if (is_flat_or_solid_block(point))
        clocks = fmin(clocks,
                      LEAST_INSTRUCTION_WAIT + TURN_INSTRUCTION_WAIT * fmax(subgroups / ISSUED, 1));
    return p->wait + clocks * p->issue;
}

/* Of all steps of the plan. */
static double time_of(const wfi_point *point, const device *d)
{
    const wfi_stencil_problem *problem = &point->problem->stencil;
    const pass p = pass_of(point);
    const double bytes = (double)wf_type_size(point->problem->type) *
                         (double)wfi_stencil_elements(problem) * (p.read + 1);
    uint32_t size[3];
    wfi_stencil_group_size(point, size);
    const double items = (double)size[0] * size[1], lanes = fmax(point->caps->subgroup_size, 1),
                 shared =
                     point->variant->shared_bytes ? (double)point->variant->shared_bytes(point) : 0;
    const double published = wfi_published_held(&d->unit, items, p.registers, shared),
                 held =
                     published > 0 ? published : fmin(WFI_STENCIL_UNIT_ITEMS / items, MOST_GROUPS),
                 unit_groups = p.groups / d->units, waves = fmax(unit_groups / held, 1),
                 subgroups = ceil(items / lanes);
    const double memory = FROM_MEMORY * bytes / (d->units * d->bytes),
                 issue = ceil(unit_groups) * subgroups * p.planes * p.issue / ISSUED,
                 wait = waves * (p.planes + 2) *
                        plane_wait(point, &p, fmin(ceil(unit_groups), held) * subgroups);
    const double time = sqrt(memory * memory + issue * issue + wait * wait);
    const double passes = problem->steps / p.steps, whole = floor(passes);
    return ceil(passes) * (DISPATCH + p.start) +
           (whole + SHORT_PASS * (ceil(passes) - whole)) * time;
}

/* The cost of the variant that the model takes where each step is a pass, and its time. */
static double single_cost(const wfi_point *point, const device *d, double *time)
{
    static const wfi_variant *const variants[] = {&wfi_stencil_march, &wfi_stencil_vector};
    double least = INFINITY;
    for (size_t i = 0; i < WFI_COUNT(variants); i++) {
        wfi_point single = *point;
        single.variant = variants[i];
        wfi_point_defaults(&single);
        const double cost = single.variant->fit(&single);
        if (cost < least && wfi_point_legal(&single, NULL)) {
            least = cost;
            *time = time_of(&single, d);
        }
    }
    return least;
}

static const uint32_t marches[] = {4, 8, 16, 32, 64};

double wfi_stencil_fit_steps(wfi_point *point, const wfi_stencil_values *tiles, size_t count)
{
    const device d = device_of(point->caps);
    wfi_point trial = *point;
    double single = 0, least = INFINITY;
    const double cost = single_cost(point, &d, &single);
    const bool short_columns = is_flat_or_solid_block(point);
    for (size_t i = 0; i < count; i++)
        for (size_t m = short_columns ? 0 : 1; m < WFI_COUNT(marches); m++)
            for (size_t s = 1; s < WFI_COUNT(wfi_stencil_step_counts); s++) {
                wfi_stencil_values values = tiles[i];
                values.march = marches[m];
                values.steps = wfi_stencil_step_counts[s];
                if (values.steps > wfi_least(tiles[i].steps, point->problem->stencil.steps))
                    break;
                wfi_stencil_set_values(&trial, &values);
                const double time =
                    wfi_stencil_tile_outlasts_steps(&trial) ? time_of(&trial, &d) : INFINITY;
                if (time >= least || !wfi_point_legal(&trial, NULL))
                    continue;
                least = time;
                memcpy(point->values, trial.values, sizeof point->values);
            }
    return least < INFINITY && cost < INFINITY ? cost * least / single : INFINITY;
}

double wfi_stencil_expect_steps(const wfi_point *point)
{
    const device d = device_of(point->caps);
    double single = 0;
    if (!wfi_stencil_steps_are_timed(point))
        return -1;
    const double cost = single_cost(point, &d, &single);
    return cost < INFINITY ? cost * time_of(point, &d) / single : -1;
}

bool wfi_stencil_steps_are_timed(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool near = p->radius == 1 || (p->dimensions == 2 && p->border != WF_BORDER_NEUMANN);
    return wfi_stencil_goes_by_times(point) && wfi_stencil_has_fast_shared(point) &&
           p->shape == WF_STENCIL_STAR && near && p->steps > 1;
}
