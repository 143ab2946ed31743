/* Every element of a matrix product, in time proportional to the matrices' elements.
 *
 * Freivalds (1979): with D = C - (alpha A B + beta C0 + bias) and random r, D r needs no product of
 * matrices. r_j is s (1 + u), s = +-1 and u in [0, 1) drawn evenly: whatever a row's other errors
 * are, an element that is off by E leaves |(D r)_i| <= t with probability t / E at most (the
 * density of r_j is 1/2). Two independent r square that. What rounding leaves in D r is far smaller
 * than any bound of it that holds for sure; so no threshold is applied to it. Instead the rows
 * whose D r is largest beside the noise that the operands' norms lead to expect are compared
 * element by element, and of the others the largest D r says how probable a miss is. */
#include <float.h>
#include <math.h>

#include "core/heap.h"
#include "core/random.h"
#include "kernels/matmul/check.h"

#define ROUNDS 2
#define WORST 2 /* rows that are compared whole */
#define WEIGHT_BITS 20
#define LEAST_CHANCE 0x1p-20 /* of r's being among so many numbers */

typedef struct pair {
    double at[ROUNDS];
} pair;

/* Rows of largest rank, over all products; of each the probability that an error as large as its
 * root mean square is missed, and of all others the largest such. */
typedef struct worst_rows {
    uint64_t row[WORST];
    double rank[WORST], missed[WORST + 1];
} worst_rows;

/* What one thread works with: a share of B's lines, and then of the rows. */
typedef struct share {
    wfi_matmul_reference w; /* with lines of its own */
    double *row, *old;      /* n: a row of C, and of C before */
    double *column;         /* n: squares of B's columns */
    pair *br;               /* k: B r, where B is stored transposed */
    worst_rows worst;
    wf_check check;
} share;

typedef struct sums {
    const wfi_matmul_reference *w;
    wfi_crew *crew;
    wfi_operand c;         /* what is summed */
    pair *r, *br;          /* n; k: B r */
    double *column, *bias; /* n: norms of B's columns; the bias */
    pair bias_r;
    double b_norm, b_most, bias_norm, bias_most; /* b_most: the largest column's norm */
    uint64_t z;                                  /* the product that is looked at */
    share *shares;
    uint32_t parts;
} sums;

static pair *pairs(uint64_t count)
{
    return wfi_calloc((size_t)count + 1, sizeof(pair));
}

static double *numbers(uint64_t count)
{
    return wfi_calloc((size_t)count + 1, sizeof(double));
}

static void clear(worst_rows *worst)
{
    *worst = (worst_rows){{0}, {0}, {0}};
    for (int i = 0; i < WORST; i++)
        worst->rank[i] = -1;
}

static bool open_share(const wfi_matmul_reference *w, share *p)
{
    clear(&p->worst);
    p->row = numbers(w->n);
    p->old = numbers(w->n);
    p->column = numbers(w->n);
    p->br = w->b.column == 1 ? NULL : pairs(w->k);
    return wfi_matmul_open_part(w, &p->w) && p->row && p->old && p->column &&
           (p->br || w->b.column == 1);
}

static void close_share(share *p)
{
    wfi_matmul_close_part(&p->w);
    wfi_free(p->row);
    wfi_free(p->old);
    wfi_free(p->column);
    wfi_free(p->br);
}

static bool open_sums(sums *s)
{
    const wfi_matmul_reference *w = s->w;
    const double m = (double)w->m, n = (double)w->n, k = (double)w->k,
                 bytes = sizeof(double) * (3 * n + (w->b.column == 1 ? 0 : 2 * k));
    bool open = true;
    s->parts = wfi_matmul_check_parts(w, 3 * (m * k + k * n + m * n), bytes);
    s->r = pairs(w->n);
    s->br = pairs(w->k);
    s->column = numbers(w->n);
    s->bias = numbers(w->n);
    s->shares = wfi_calloc(s->parts, sizeof *s->shares);
    for (uint32_t i = 0; s->shares && i < s->parts; i++)
        open = open_share(w, &s->shares[i]) && open;
    return open && s->r && s->br && s->column && s->bias && s->shares;
}

static void close_sums(sums *s)
{
    for (uint32_t i = 0; s->shares && i < s->parts; i++)
        close_share(&s->shares[i]);
    wfi_free(s->shares);
    wfi_free(s->r);
    wfi_free(s->br);
    wfi_free(s->column);
    wfi_free(s->bias);
}

/* The first of `count` lines or rows of a part. */
static uint64_t first_of(const sums *s, uint32_t part, uint64_t count)
{
    return count / s->parts * part + (part < count % s->parts ? part : count % s->parts);
}

static void draw(sums *s, uint64_t seed)
{
    for (uint64_t j = 0; j < s->w->n; j++)
        for (int round = 0; round < ROUNDS; round++) {
            const uint64_t bits = wfi_random_bits(&seed);
            const double size = 1 + ldexp((double)(bits >> (64 - WEIGHT_BITS)), -WEIGHT_BITS);
            s->r[j].at[round] = bits & 1 ? size : -size;
        }
}

/* A line of B that is a row of it, or a column. */
static void add_line(sums *s, share *p, uint64_t line, bool along)
{
    const wfi_matmul_reference *w = &p->w;
    const uint64_t length = along ? w->n : w->k;
    wfi_operand_read(&w->b, s->z * w->b.product + line * (along ? w->b.row : w->b.column), 1,
                     length, w->line);
    double first = 0, second = 0, squares = 0;
    const pair r = s->r[along ? 0 : line];
    for (uint64_t i = 0; i < length; i++) {
        const double b = w->line[i];
        if (along) {
            first += b * s->r[i].at[0];
            second += b * s->r[i].at[1];
            p->column[i] += b * b;
        } else {
            p->br[i].at[0] += b * r.at[0];
            p->br[i].at[1] += b * r.at[1];
            squares += b * b;
        }
    }
    if (along)
        s->br[line] = (pair){{first, second}};
    else
        p->column[line] = squares;
}

static void add_lines(void *user, uint32_t part, wfi_watch *watch)
{
    sums *s = user;
    share *p = &s->shares[part];
    const bool along = p->w.b.column == 1;
    const uint64_t lines = p->w.k == 0 ? 0
                           : along     ? p->w.k
                                       : p->w.n,
                   to = first_of(s, part + 1, lines);
    for (uint64_t j = 0; j < p->w.n; j++)
        p->column[j] = 0;
    for (uint64_t k = 0; !along && k < p->w.k; k++)
        p->br[k] = (pair){0};
    for (uint64_t line = first_of(s, part, lines); line < to; line++) {
        add_line(s, p, line, along);
        if (!wfi_watch_goes_on(watch, 3 * (along ? p->w.n : p->w.k)))
            return;
    }
}

/* B r and the norms of B's columns. */
static bool add_b(sums *s)
{
    const wfi_matmul_reference *w = s->w;
    if (!wfi_crew_run(s->crew, s->parts, add_lines, s))
        return false;
    double all = 0;
    s->b_most = 0;
    for (uint64_t j = 0; j < w->n; j++) {
        double squares = 0;
        for (uint32_t i = 0; i < s->parts; i++)
            squares += s->shares[i].column[j];
        all += squares;
        s->column[j] = sqrt(squares);
        s->b_most = fmax(s->b_most, s->column[j]);
    }
    for (uint64_t k = 0; w->b.column != 1 && k < w->k; k++) {
        s->br[k] = (pair){0};
        for (uint32_t i = 0; i < s->parts; i++)
            for (int round = 0; round < ROUNDS; round++)
                s->br[k].at[round] += s->shares[i].br[k].at[round];
    }
    s->b_norm = sqrt(all);
    return true;
}

static void add_bias(sums *s)
{
    const wfi_matmul_reference *w = s->w;
    double squares = 0;
    if (w->bias.data)
        wfi_operand_read(&w->bias, 0, 1, w->n, s->bias);
    for (uint64_t j = 0; j < w->n; j++) {
        for (int round = 0; round < ROUNDS; round++)
            s->bias_r.at[round] += s->bias[j] * s->r[j].at[round];
        squares += s->bias[j] * s->bias[j];
        s->bias_most = fmax(s->bias_most, fabs(s->bias[j]));
    }
    s->bias_norm = sqrt(squares);
}

/* A row of D r, with the row's norms; reads the rows of C and C before. */
typedef struct row_sum {
    pair difference;
    double a_norm, c_norm, old_norm;
    double old_most; /* the largest of C before */
} row_sum;

static row_sum sum_row(const sums *s, const share *p, uint64_t row)
{
    const wfi_matmul_reference *w = &p->w;
    const uint64_t z = s->z;
    row_sum sum = {0};
    pair product = {0};
    if (w->k)
        wfi_operand_read(&w->a, z * w->a.product + row * w->a.row, w->a.column, w->k, w->row);
    for (uint64_t k = 0; k < w->k; k++) {
        product.at[0] += w->row[k] * s->br[k].at[0];
        product.at[1] += w->row[k] * s->br[k].at[1];
        sum.a_norm += w->row[k] * w->row[k];
    }
    wfi_operand_read(&s->c, z * s->c.product + row * s->c.row, 1, w->n, p->row);
    if (w->before.data)
        wfi_operand_read(&w->before, z * w->before.product + row * w->before.row, 1, w->n, p->old);
    for (uint64_t j = 0; j < w->n; j++) {
        const double c = p->row[j], d = c - w->beta * p->old[j];
        sum.difference.at[0] += d * s->r[j].at[0];
        sum.difference.at[1] += d * s->r[j].at[1];
        sum.c_norm += c * c;
        sum.old_norm += p->old[j] * p->old[j];
        sum.old_most = fmax(sum.old_most, fabs(p->old[j]));
    }
    for (int round = 0; round < ROUNDS; round++)
        sum.difference.at[round] -= w->alpha * product.at[round] + s->bias_r.at[round];
    sum.a_norm = sqrt(sum.a_norm);
    sum.c_norm = sqrt(sum.c_norm);
    sum.old_norm = sqrt(sum.old_norm);
    return sum;
}

static void rank_row(worst_rows *worst, uint64_t number, double rank, double missed)
{
    int place = WORST;
    while (place > 0 && rank > worst->rank[place - 1])
        place--;
    /* What falls out, or was never in, stays unlooked at. */
    const double out = place < WORST ? worst->missed[WORST - 1] : missed;
    for (int i = WORST - 1; i > place; i--) {
        worst->row[i] = worst->row[i - 1];
        worst->rank[i] = worst->rank[i - 1];
        worst->missed[i] = worst->missed[i - 1];
    }
    worst->missed[WORST] = fmax(worst->missed[WORST], out);
    if (place < WORST) {
        worst->row[place] = number;
        worst->rank[place] = rank;
        worst->missed[place] = missed;
    }
}

/* What no sum of C is larger than, before it is rounded. */
static double most_of(const sums *s, const row_sum *sum)
{
    const wfi_matmul_reference *w = s->w;
    return fabs(w->alpha) * sum->a_norm * s->b_most + fabs(w->beta) * sum->old_most + s->bias_most;
}

static double limit_of(const wfi_matmul_reference *w)
{
    return w->element->whole ? 0x1p31 : w->narrow ? w->element->largest : INFINITY;
}

static void look_at_row(const sums *s, share *p, uint64_t row, const row_sum *sum)
{
    const wfi_matmul_reference *w = s->w;
    const double unit = w->type == WF_TYPE_F64 ? DBL_EPSILON : (double)FLT_EPSILON;
    const double stored = w->element->rounding;
    const double scale =
        fabs(w->alpha) * sum->a_norm * s->b_norm + fabs(w->beta) * sum->old_norm + s->bias_norm;
    const double noise = unit * scale + (w->narrow ? stored * sum->c_norm : 0) + DBL_MIN;
    const double size = sum->c_norm / sqrt((double)w->n);
    double rank = 0, missed = 1;
    /* Rows of inputs that are not finite, and rows that may wrap around or overflow, have no sum.
     */
    if (!isfinite(scale) || !(most_of(s, sum) < limit_of(w)))
        return;
    for (int round = 0; round < ROUNDS; round++) {
        const double d = fabs(sum->difference.at[round]);
        rank = fmax(rank, isfinite(d) ? d / noise : INFINITY);
        missed *= size > 0 ? fmin(fmax(d / size, LEAST_CHANCE), 1) : LEAST_CHANCE;
    }
    p->check.summed += w->n;
    rank_row(&p->worst, s->z * w->m + row, rank, missed);
}

/* Every element of a row: the activation of `linear`, whose error and that of C's own sum are both
 * within the bound, by Cauchy and Schwarz; or, where that is not there, what no activation exceeds.
 */
static void compare_row(const sums *s, share *p, uint64_t row, const row_sum *sum)
{
    const wfi_matmul_reference *w = &p->w;
    const double rounding = w->narrow ? w->element->rounding : 0;
    const double underflow = w->narrow ? w->element->underflow : 0;
    wf_check row_check = {0};
    for (uint64_t j = 0; j < w->n; j++) {
        const double product = fabs(w->alpha) * sum->a_norm * s->column[j];
        const double magnitude = product + fabs(w->beta * p->old[j]) + fabs(s->bias[j]);
        double bound = wfi_matmul_sum_bound(w, magnitude * (1 + 1e-9), product), c;
        wfi_expected e;
        wfi_operand_read(&w->c, s->z * w->c.product + row * w->c.row + j, 1, 1, &c);
        if (!isfinite(magnitude) || !(magnitude + bound < limit_of(w) * 0.99))
            continue;
        if (w->linear.data) {
            if (fabs(p->row[j]) > 256 * w->grain)
                bound += fabs(p->row[j]) * rounding + underflow;
            e = wfi_matmul_activated(w, (wfi_expected){p->row[j], 2 * bound});
        } else {
            const bool below = w->activation == WF_ACTIVATION_RELU && c < 0;
            const double most = magnitude * (1 + 0x1p-7) + bound + underflow;
            e = (wfi_expected){0, below ? 0 : most};
        }
        wfi_check_element(&row_check, (s->z * w->m + row) * w->n + j, c, e.value, e.bound);
    }
    if (!w->linear.data)
        p->check.ranged += row_check.checked;
    wfi_check_merge(&p->check, &row_check);
}

static void look_at_rows(void *user, uint32_t part, wfi_watch *watch)
{
    sums *s = user;
    share *p = &s->shares[part];
    const wfi_matmul_reference *w = &p->w;
    const bool linear = w->activation == WF_ACTIVATION_NONE || w->linear.data;
    const uint64_t to = first_of(s, part + 1, w->m);
    for (uint64_t row = first_of(s, part, w->m); row < to; row++) {
        const row_sum sum = sum_row(s, p, row);
        if (linear)
            look_at_row(s, p, row, &sum);
        if (w->activation != WF_ACTIVATION_NONE)
            compare_row(s, p, row, &sum);
        if (!wfi_watch_goes_on(watch, 3 * w->k + 5 * w->n))
            return;
    }
}

static bool look_at_all(sums *s)
{
    for (; s->z < s->w->batch; s->z++)
        if (((s->z == 0 || s->w->b.product) && !add_b(s)) ||
            !wfi_crew_run(s->crew, s->parts, look_at_rows, s))
            return false;
    return true;
}

/* What the threads found, in the rows' order. */
static void merge(const sums *s, worst_rows *worst, wf_check *check)
{
    const uint64_t compared = check->checked; /* element by element */
    clear(worst);
    for (uint32_t i = 0; i < s->parts; i++) {
        const share *p = &s->shares[i];
        for (int n = 0; n < WORST; n++)
            if (p->worst.rank[n] >= 0)
                rank_row(worst, p->worst.row[n], p->worst.rank[n], p->worst.missed[n]);
        worst->missed[WORST] = fmax(worst->missed[WORST], p->worst.missed[WORST]);
        check->summed += p->check.summed;
        check->ranged += p->check.ranged;
        wfi_check_merge(check, &p->check);
    }
    check->checked = compared;
}

/* A row that all threads compare. */
typedef struct whole_row {
    sums *s;
    uint64_t number;
} whole_row;

static void compare_elements(void *user, uint32_t part, wfi_watch *watch)
{
    const whole_row *row = user;
    share *p = &row->s->shares[part];
    p->w.watch = watch;
    p->w.c = row->s->c;
    p->w.activation = WF_ACTIVATION_NONE;
    wfi_matmul_check_row(&p->w, row->number / p->w.m, row->number % p->w.m,
                         first_of(row->s, part, p->w.n), first_of(row->s, part + 1, p->w.n),
                         &p->check);
}

static bool compare_worst(sums *s, const worst_rows *worst, wf_check *check)
{
    for (uint32_t i = 0; i < s->parts; i++)
        s->shares[i].check = (wf_check){0};
    for (int i = 0; i < WORST; i++) {
        whole_row row = {s, worst->row[i]};
        if (worst->rank[i] >= 0 && !wfi_crew_run(s->crew, s->parts, compare_elements, &row))
            return false;
    }
    for (uint32_t i = 0; i < s->parts; i++)
        wfi_check_merge(check, &s->shares[i].check);
    return true;
}

wf_result wfi_matmul_check_sums(const wfi_matmul_reference *w, wfi_crew *crew, uint64_t seed,
                                wf_check *check)
{
    sums s = {.w = w, .crew = crew, .c = w->linear.data ? w->linear : w->c};
    wf_result result = WF_ERROR_OUT_OF_HOST_MEMORY;
    worst_rows worst;
    if (open_sums(&s)) {
        draw(&s, seed);
        add_bias(&s);
        result = look_at_all(&s) ? WF_SUCCESS : WF_ERROR_CANCELLED;
        merge(&s, &worst, check);
        if (result == WF_SUCCESS && !compare_worst(&s, &worst, check))
            result = WF_ERROR_CANCELLED;
        check->missed = worst.missed[WORST];
    }
    close_sums(&s);
    return result;
}
