/* With weights z^i, |z| = 1, the sum of a row turns a stencil of three dimensions into one of two:
 *
 *   sum_i z^i u'(i, j, k) = sum_taps c z^-oi sum_i z^i u(i, j + oj, k + ok),
 *
 * i in the second sum from first + oi to last + oi. Of a periodic grid it is the row itself where
 * z is a root of unity of its length. Of others the rows' sums begin and end `radius` cells from
 * the ends, and what a moved sum has more or less is known from two strips of cells there, which
 * are computed one by one: as many as the steps carry what is not known inwards. So a run of t
 * steps takes the work of radius (t + 1) cells at each end, not of the row's.
 *
 * Each |weight| is 1, so that a single wrong cell changes a row's sum by as much as it is off. The
 * result may be off by the bound of a cell, e, in each of n cells, so sums may differ by n e and
 * by what rounding adds here: a cell that is off by more than twice that is found where the others
 * of its row are right. Three z are used: 1, which adds up errors of one sign, and two that are
 * drawn; errors of several cells that make up for each other by all three are missed.
 *
 * Rounding: z^i of the cosine of an exact fraction is off by `TABLE` at most; a sum of n products
 * by gamma_n times its terms' magnitudes, twice for both parts of a complex number. */
#include "kernels/stencil/row_sums.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "core/heap.h"
#include "core/random.h"
#include "kernels/check/crew.h"
#include "kernels/stencil/reference_slab.h"

#define WEIGHTS 3
#define MOST_OPERATIONS 4e9 /* multiply-adds of a thread, about two seconds */
#define MOST_BYTES 1e9      /* of all threads */
#define SHARE_BYTES 3.2e7   /* of a thread, where that is no less than twice what steps reach */
#define TABLE 0x1p-48       /* 32 units of rounding: the angle's product, the cosine's ulp */
#define TURN 6.283185307179586476925286766559

typedef struct number {
    double re, im;
} number;

/* A row's numbers, one for each weight. */
typedef struct row_sum {
    number weight[WEIGHTS];
} row_sum;

typedef struct share {
    wfi_stencil_reference grids[2]; /* the strips at the two ends */
    wfi_reference_slab ends[2];
    wfi_reference_planes planes;
    row_sum *sums;  /* of the rows held */
    row_sum *moved; /* the same, 2 radius + 1 of each row, whose windows are moved by -radius … */
    wf_check cells, rows;
    uint64_t summed, ranged;
} share;

typedef struct state {
    const wfi_stencil_reference *g;
    const wfi_stencil_bounds *bounds;
    bool open;           /* periodic: no strips */
    int64_t first, last; /* cells of a row's sum: from first to last - 1 */
    int64_t strip;       /* cells of each strip */
    int64_t planes;      /* of the result that a share takes at once */
    uint64_t step[WEIGHTS], period;
    row_sum *weights; /* z^i of the cells of a row */
    row_sum *taps;    /* c z^-oi */
    double bound;     /* of the difference of a row's sums */
    atomic_int_fast64_t next;
    share shares[1 + WFI_MOST_WORKERS];
} state;

/* ------------------------------------------------------------------------------------ numbers */

static void add_product(number *sum, number a, number b)
{
    sum->re += a.re * b.re - a.im * b.im;
    sum->im += a.re * b.im + a.im * b.re;
}

/* sum += x z */
static void add_scaled(row_sum *sum, const row_sum *z, double x)
{
    for (int n = 0; n < WEIGHTS; n++) {
        sum->weight[n].re += x * z->weight[n].re;
        sum->weight[n].im += x * z->weight[n].im;
    }
}

/* z^i: the fraction of a turn is exact. */
static row_sum power(const state *s, int64_t i)
{
    const int64_t period = (int64_t)s->period;
    const uint64_t at = (uint64_t)((i % period + period) % period);
    row_sum z;
    for (int n = 0; n < WEIGHTS; n++) {
        const double angle = TURN * ((double)(s->step[n] * at % s->period) / (double)period);
        z.weight[n] = (number){cos(angle), sin(angle)};
    }
    return z;
}

/* -------------------------------------------------------------------------------------- setup */

static int64_t strip_of(const wfi_stencil_reference *g)
{
    return g->border == WF_BORDER_PERIODIC ? 0 : (int64_t)g->radius * (g->steps + 1);
}

static int64_t planes_of(const wfi_stencil_reference *g)
{
    const double reach = (double)g->radius * g->steps;
    const double cells = 2.0 * (double)(strip_of(g) + 2 * g->radius) * (double)g->size[1];
    const double fit = fmax(fmax(SHARE_BYTES / 16 / fmax(cells, 1), 2 * reach), 1);
    return fit < (double)g->size[2] ? (int64_t)fit : g->size[2];
}

/* Of a share: of each row held its sums and, where the grid is not periodic, both strips. */
static double bytes_of(const wfi_stencil_reference *g)
{
    const double reach = (double)g->radius * g->steps;
    const double rows = ((double)planes_of(g) + 2 * reach) * (double)g->size[1];
    const double strip = (double)(strip_of(g) + 2 * g->radius) * 4 * sizeof(double);
    const bool open = g->border == WF_BORDER_PERIODIC;
    return rows * ((2.0 * g->radius + 2) * sizeof(row_sum) + (open ? 0 : strip));
}

/* How many have something to do and the memory for it. */
static double threads_of(const wfi_stencil_reference *g)
{
    const double slabs = ceil((double)g->size[2] / (double)planes_of(g));
    const double most = fmin(fmin(wfi_processors(), 1 + WFI_MOST_WORKERS), slabs);
    return fmax(fmin(most, floor(MOST_BYTES / bytes_of(g))), 1);
}

bool wfi_stencil_sums_pay(const wfi_stencil_reference *g, const wfi_stencil_bounds *bounds)
{
    const double rows = (double)g->size[1] * (double)g->size[2], strip = (double)strip_of(g);
    const double again = 1 + 2.0 * g->radius * g->steps / (double)planes_of(g);
    const double work = rows * again * g->count * g->steps * (2 * strip + 4 * WEIGHTS);
    return 4 * strip <= (double)g->size[0] && g->size[0] > 4 * (int64_t)g->radius &&
           bytes_of(g) <= MOST_BYTES && work <= MOST_OPERATIONS * threads_of(g) &&
           bounds->most < DBL_MAX / 16 / (double)g->size[0] / fmax(bounds->sum, 1);
}

/* The roots of unity of a periodic row's length, else of 2^32. */
static void draw(state *s, uint64_t seed)
{
    s->period = s->open ? (uint64_t)s->g->size[0] : UINT64_C(1) << 32;
    s->step[0] = 0;
    for (int n = 1; n < WEIGHTS; n++)
        s->step[n] = 1 + wfi_random_bits(&seed) % (s->period - 1);
}

static bool make_tables(state *s)
{
    const wfi_stencil_reference *g = s->g;
    s->weights = wfi_calloc((size_t)g->size[0], sizeof *s->weights);
    s->taps = wfi_calloc(g->count, sizeof *s->taps);
    if (!s->weights || !s->taps)
        return false;
    for (int64_t i = 0; i < g->size[0]; i++)
        s->weights[i] = power(s, i);
    for (uint32_t n = 0; n < g->count; n++) {
        const row_sum z = power(s, -g->taps[n].offset[0]);
        add_scaled(&s->taps[n], &z, g->taps[n].value);
    }
    return true;
}

/* Of a row's sums: M the largest magnitude of a step's cells, `cell` what a strip's cell may be off
 * by, `sum` what a sum of n cells may. */
static void make_bound(state *s)
{
    const wfi_stencil_reference *g = s->g;
    const double n = (double)(s->last - s->first), size = s->bounds->sum, ends = 2.0 * g->radius;
    const double once = TABLE + wfi_gamma(n + 4, WF_TYPE_F64);
    double most = s->bounds->start, cell = 0, sum = 2 * once * n * most;
    for (uint32_t step = 0; step < g->steps; step++) {
        const double moved =
            sum + 2 * ends * (TABLE * most + cell) +
            2 * wfi_gamma(2 * ends + 4, WF_TYPE_F64) * ((n + 2 * ends) * (most + cell) + sum);
        const double tap = TABLE + wfi_gamma(4.0 * g->count + 8, WF_TYPE_F64);
        sum = fmax(sum, size * moved + 2 * tap * size * (n * most + moved));
        cell = fmax(cell, wfi_gamma(2.0 * g->count, WF_TYPE_F64) * size * (most + cell) +
                              size * cell + wfi_underflow(2.0 * g->count, WF_TYPE_F64));
        most = fmax(most, size * most);
    }
    s->bound = n * s->bounds->error + sum + 2 * once * n * (most + s->bounds->error);
}

static size_t rows_held(const state *s)
{
    const int64_t reach = (int64_t)s->g->radius * s->g->steps;
    return (size_t)(s->planes + 2 * reach) * (size_t)s->g->size[1];
}

/* The strips are grids of their own; what is not known creeps in from their inner sides. */
static bool open_share(state *s, share *p)
{
    const wfi_stencil_reference *g = s->g;
    p->sums = wfi_malloc(rows_held(s) * sizeof *p->sums);
    p->moved = wfi_malloc(rows_held(s) * (2 * g->radius + 1) * sizeof *p->moved);
    for (int side = 0; side < 2 && !s->open; side++) {
        wfi_reference_slab *end = &p->ends[side];
        const uint64_t at = side ? (uint64_t)(g->size[0] - s->strip) : 0;
        p->grids[side] = *g;
        p->grids[side].size[0] = s->strip;
        p->grids[side].in = (const char *)g->in + at * wf_type_size(g->type);
        wfi_reference_slab_shape(end, &p->grids[side]);
        const size_t bytes = (size_t)wfi_reference_slab_cells(end, s->planes) * sizeof(double);
        end->now = wfi_malloc(bytes);
        end->next = wfi_malloc(bytes);
        if (!end->now || !end->next)
            return false;
    }
    return p->sums && p->moved;
}

static void close_share(share *p)
{
    for (int side = 0; side < 2; side++) {
        wfi_free(p->ends[side].now);
        wfi_free(p->ends[side].next);
    }
    wfi_free(p->sums);
    wfi_free(p->moved);
}

/* --------------------------------------------------------------------------------------- sums */

static size_t row_of(const state *s, const share *p, int64_t j, int64_t k)
{
    return (size_t)(k - p->planes.low) * (size_t)s->g->size[1] + (size_t)j;
}

static row_sum sum_input(const state *s, int64_t j, int64_t k)
{
    const wfi_stencil_reference *g = s->g;
    row_sum sum = {0};
    for (int64_t i = s->first; i < s->last; i++)
        add_scaled(&sum, &s->weights[i], wfi_stencil_element(g, g->in, i, j, k));
    return sum;
}

static void begin(const state *s, share *p, int64_t first, int64_t end)
{
    const wfi_stencil_reference *g = s->g;
    wfi_reference_planes_begin(&p->planes, g, first, end);
    for (int side = 0; side < 2 && !s->open; side++)
        wfi_reference_slab_begin(&p->ends[side], first, end);
    for (int64_t k = p->planes.low; k < p->planes.high; k++)
        for (int64_t j = 0; j < g->size[1]; j++)
            p->sums[row_of(s, p, j, k)] = sum_input(s, j, wfi_stencil_within(g, k, g->size[2]));
}

/* The sums of the windows that begin radius cells before the row's own and those after it. */
static void move(const state *s, share *p, int64_t j, int64_t k)
{
    const int64_t radius = s->g->radius, inner = s->g->size[0] - s->strip;
    const row_sum *own = &p->sums[row_of(s, p, j, k)];
    row_sum *moved = p->moved + row_of(s, p, j, k) * (size_t)(2 * radius + 1) + radius;
    moved[0] = *own;
    for (int64_t d = 1; d <= radius; d++)
        moved[d] = moved[-d] = *own;
    if (s->open)
        return;
    const double *low = wfi_reference_slab_row(&p->ends[0], p->ends[0].now, j, k);
    const double *high = wfi_reference_slab_row(&p->ends[1], p->ends[1].now, j, k);
    for (int64_t d = 1; d <= radius; d++) {
        const int64_t leaves = s->first + d - 1, comes = s->last + d - 1;
        moved[d] = moved[d - 1];
        add_scaled(&moved[d], &s->weights[leaves], -low[leaves]);
        add_scaled(&moved[d], &s->weights[comes], high[comes - inner]);
        moved[-d] = moved[1 - d];
        add_scaled(&moved[-d], &s->weights[s->first - d], low[s->first - d]);
        add_scaled(&moved[-d], &s->weights[s->last - d], -high[s->last - d - inner]);
    }
}

static void step_row(const state *s, share *p, int64_t j, int64_t k)
{
    const wfi_stencil_reference *g = s->g;
    row_sum sum = {0};
    if (wfi_stencil_keeps(g, k, g->size[2]) || (!g->flat && wfi_stencil_keeps(g, j, g->size[1])))
        return;
    for (uint32_t n = 0; n < g->count; n++) {
        const int64_t *offset = g->taps[n].offset;
        int64_t from_j = j + offset[1], from_k = k + offset[2];
        if (g->border != WF_BORDER_DIRICHLET)
            from_j = wfi_stencil_within(g, from_j, g->size[1]);
        if (g->border == WF_BORDER_NEUMANN)
            from_k = wfi_stencil_within(g, from_k, g->size[2]);
        const size_t row = row_of(s, p, from_j, from_k) * (2 * (size_t)g->radius + 1);
        const row_sum *from = &p->moved[row + (size_t)(offset[0] + g->radius)];
        for (int w = 0; w < WEIGHTS; w++)
            add_product(&sum.weight[w], s->taps[n].weight[w], from->weight[w]);
    }
    p->sums[row_of(s, p, j, k)] = sum;
}

static bool step(const state *s, share *p, wfi_watch *watch)
{
    const wfi_stencil_reference *g = s->g;
    for (int64_t k = p->planes.right_low; k < p->planes.right_high; k++)
        for (int64_t j = 0; j < g->size[1]; j++)
            move(s, p, j, k);
    for (int side = 0; side < 2 && !s->open; side++)
        if (!wfi_reference_slab_step(&p->ends[side]))
            return false;
    wfi_reference_planes_step(&p->planes, g);
    for (int64_t k = p->planes.right_low; k < p->planes.right_high; k++) {
        for (int64_t j = 0; j < g->size[1]; j++)
            step_row(s, p, j, k);
        if (!wfi_watch_goes_on(watch, (uint64_t)g->size[1] * g->count * 4 * WEIGHTS))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------------------------- comparing */

/* The cells of a row beside those of its sum, which strip `side` has. */
static void compare_cells(const state *s, share *p, int side, int64_t j, int64_t k)
{
    const wfi_stencil_reference *g = s->g;
    const int64_t inner = side ? g->size[0] - s->strip : 0;
    const double *right = wfi_reference_slab_row(&p->ends[side], p->ends[side].now, j, k);
    const uint64_t row = (uint64_t)k * g->plane + (uint64_t)j * g->row;
    for (int64_t i = side ? s->last : 0; i < (side ? g->size[0] : s->first); i++)
        wfi_check_element(&p->cells, row + (uint64_t)i, wfi_stencil_element(g, g->out, i, j, k),
                          right[i - inner], s->bounds->error);
}

static void compare_row(const state *s, share *p, int64_t j, int64_t k)
{
    const wfi_stencil_reference *g = s->g;
    const row_sum *right = &p->sums[row_of(s, p, j, k)];
    const uint64_t at = (uint64_t)k * g->plane + (uint64_t)j * g->row;
    const double range = s->bounds->most + s->bounds->error;
    const uint64_t cells = (uint64_t)(s->last - s->first);
    row_sum sum = {0};
    double squares = 0;
    for (int64_t i = s->first; i < s->last; i++) {
        const double x = wfi_stencil_element(g, g->out, i, j, k);
        if (!(fabs(x) <= range))
            wfi_check_element(&p->rows, at + (uint64_t)i, x, 0, range);
        add_scaled(&sum, &s->weights[i], x);
        squares += x * x;
    }
    for (int w = 0; w < WEIGHTS; w++) {
        const number *a = &sum.weight[w], *b = &right->weight[w];
        wfi_check_element(&p->rows, at, hypot(a->re - b->re, a->im - b->im), 0, s->bound);
    }
    if (sqrt(squares / (double)cells) > 2 * s->bound)
        p->summed += cells;
    else
        p->ranged += cells;
}

static void compare(const state *s, share *p, int64_t first, int64_t end)
{
    for (int64_t k = first; k < end; k++)
        for (int64_t j = 0; j < s->g->size[1]; j++) {
            compare_row(s, p, j, k);
            for (int side = 0; side < 2 && !s->open; side++)
                compare_cells(s, p, side, j, k);
        }
}

static void check_part(void *user, uint32_t part, wfi_watch *watch)
{
    state *s = user;
    share *p = &s->shares[part];
    int64_t first;
    p->grids[0].watch = p->grids[1].watch = watch;
    while (!watch->stopped && (first = atomic_fetch_add(&s->next, s->planes)) < s->g->size[2]) {
        const int64_t end = first + s->planes < s->g->size[2] ? first + s->planes : s->g->size[2];
        begin(s, p, first, end);
        for (uint32_t n = 0; n < s->g->steps; n++)
            if (!step(s, p, watch))
                return;
        compare(s, p, first, end);
    }
}

/* Sums count neither as cells that were compared one by one. */
static void merge(const share *p, wf_check *check)
{
    const uint64_t compared = check->checked + p->cells.checked;
    wfi_check_merge(check, &p->cells);
    wfi_check_merge(check, &p->rows);
    check->checked = compared;
    check->summed += p->summed;
    check->ranged += p->ranged;
}

static wf_result run(state *s, wf_check *check)
{
    const uint32_t wanted = (uint32_t)threads_of(s->g);
    uint32_t parts = 0;
    wfi_crew crew;
    while (parts < wanted && open_share(s, &s->shares[parts]))
        parts++;
    if (parts < wanted)
        close_share(&s->shares[parts]);
    if (parts == 0)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    wfi_crew_open(&crew, s->g->watch);
    const bool whole = wfi_crew_run(&crew, parts, check_part, s);
    wfi_crew_close(&crew);
    for (uint32_t part = 0; part < parts; part++) {
        merge(&s->shares[part], check);
        close_share(&s->shares[part]);
    }
    return whole ? WF_SUCCESS : WF_ERROR_CANCELLED;
}

wf_result wfi_stencil_check_sums(const wfi_stencil_reference *g, const wfi_stencil_bounds *bounds,
                                 uint64_t seed, wf_check *check)
{
    const bool open = g->border == WF_BORDER_PERIODIC;
    state *s = wfi_calloc(1, sizeof *s);
    if (!s)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    s->g = g;
    s->bounds = bounds;
    s->open = open;
    s->first = open ? 0 : g->radius;
    s->last = g->size[0] - s->first;
    s->strip = strip_of(g);
    s->planes = planes_of(g);
    atomic_init(&s->next, 0);
    draw(s, seed);
    make_bound(s);
    const wf_result result = make_tables(s) ? run(s, check) : WF_ERROR_OUT_OF_HOST_MEMORY;
    wfi_free(s->weights);
    wfi_free(s->taps);
    wfi_free(s);
    return result;
}
