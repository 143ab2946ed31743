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

typedef struct sums {
    const wfi_matmul_reference *w;
    wfi_operand c;         /* what is summed */
    pair *r, *br;          /* n; k: B r */
    double *column, *bias; /* n: norms of B's columns; the bias */
    double *row, *old;     /* n: a row of C, and of C before */
    pair bias_r;
    double b_norm, b_most, bias_norm, bias_most; /* b_most: the largest column's norm */
    uint64_t worst[WORST];                       /* rows, over all products */
    double rank[WORST], missed[WORST + 1];
    wf_check *check;
} sums;

static pair *pairs(uint64_t count)
{
    return wfi_calloc((size_t)count + 1, sizeof(pair));
}

static double *numbers(uint64_t count)
{
    return wfi_calloc((size_t)count + 1, sizeof(double));
}

static bool open_sums(sums *s)
{
    const wfi_matmul_reference *w = s->w;
    s->r = pairs(w->n);
    s->br = pairs(w->k);
    s->column = numbers(w->n);
    s->bias = numbers(w->n);
    s->row = numbers(w->n);
    s->old = numbers(w->n);
    return s->r && s->br && s->column && s->bias && s->row && s->old;
}

static void close_sums(sums *s)
{
    wfi_free(s->r);
    wfi_free(s->br);
    wfi_free(s->column);
    wfi_free(s->bias);
    wfi_free(s->row);
    wfi_free(s->old);
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

/* B r and the norms of B's columns. */
static void add_b(sums *s, uint64_t z)
{
    const wfi_matmul_reference *w = s->w;
    const bool along = w->b.column == 1;
    const uint64_t lines = along ? w->k : w->n, length = along ? w->n : w->k;
    for (uint64_t j = 0; j < w->n; j++)
        s->column[j] = 0;
    for (uint64_t k = 0; k < w->k; k++)
        s->br[k] = (pair){0};
    for (uint64_t line = 0; line < lines && w->k; line++) {
        wfi_operand_read(&w->b, z * w->b.product + line * (along ? w->b.row : w->b.column), 1,
                         length, w->line);
        double first = 0, second = 0, squares = 0;
        const pair r = s->r[along ? 0 : line];
        for (uint64_t i = 0; i < length; i++) {
            const double b = w->line[i];
            if (along) {
                first += b * s->r[i].at[0];
                second += b * s->r[i].at[1];
                s->column[i] += b * b;
            } else {
                s->br[i].at[0] += b * r.at[0];
                s->br[i].at[1] += b * r.at[1];
                squares += b * b;
            }
        }
        if (along)
            s->br[line] = (pair){{first, second}};
        else
            s->column[line] = squares;
        if (!wfi_watch_goes_on(w->watch, 3 * length))
            return;
    }
    double all = 0;
    s->b_most = 0;
    for (uint64_t j = 0; j < w->n; j++) {
        all += s->column[j];
        s->column[j] = sqrt(s->column[j]);
        s->b_most = fmax(s->b_most, s->column[j]);
    }
    s->b_norm = sqrt(all);
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

static row_sum sum_row(sums *s, uint64_t z, uint64_t row)
{
    const wfi_matmul_reference *w = s->w;
    row_sum sum = {0};
    pair product = {0};
    if (w->k)
        wfi_operand_read(&w->a, z * w->a.product + row * w->a.row, w->a.column, w->k, w->row);
    for (uint64_t k = 0; k < w->k; k++) {
        product.at[0] += w->row[k] * s->br[k].at[0];
        product.at[1] += w->row[k] * s->br[k].at[1];
        sum.a_norm += w->row[k] * w->row[k];
    }
    wfi_operand_read(&s->c, z * s->c.product + row * s->c.row, 1, w->n, s->row);
    if (w->before.data)
        wfi_operand_read(&w->before, z * w->before.product + row * w->before.row, 1, w->n, s->old);
    for (uint64_t j = 0; j < w->n; j++) {
        const double c = s->row[j], d = c - w->beta * s->old[j];
        sum.difference.at[0] += d * s->r[j].at[0];
        sum.difference.at[1] += d * s->r[j].at[1];
        sum.c_norm += c * c;
        sum.old_norm += s->old[j] * s->old[j];
        sum.old_most = fmax(sum.old_most, fabs(s->old[j]));
    }
    for (int round = 0; round < ROUNDS; round++)
        sum.difference.at[round] -= w->alpha * product.at[round] + s->bias_r.at[round];
    sum.a_norm = sqrt(sum.a_norm);
    sum.c_norm = sqrt(sum.c_norm);
    sum.old_norm = sqrt(sum.old_norm);
    wfi_watch_goes_on(w->watch, 3 * w->k + 5 * w->n);
    return sum;
}

/* Keeps the rows of largest rank, and of each the probability that an error as large as its root
 * mean square is missed. */
static void rank_row(sums *s, uint64_t number, double rank, double missed)
{
    int place = WORST;
    s->missed[WORST] = fmax(s->missed[WORST], 0);
    while (place > 0 && rank > s->rank[place - 1])
        place--;
    /* What falls out, or was never in, stays unlooked at. */
    const double out = place < WORST ? s->missed[WORST - 1] : missed;
    for (int i = WORST - 1; i > place; i--) {
        s->worst[i] = s->worst[i - 1];
        s->rank[i] = s->rank[i - 1];
        s->missed[i] = s->missed[i - 1];
    }
    s->missed[WORST] = fmax(s->missed[WORST], out);
    if (place < WORST) {
        s->worst[place] = number;
        s->rank[place] = rank;
        s->missed[place] = missed;
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

static void look_at_row(sums *s, uint64_t z, uint64_t row, const row_sum *sum)
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
    s->check->summed += w->n;
    rank_row(s, z * w->m + row, rank, missed);
}

/* Every element of a row: the activation of `linear`, whose error and that of C's own sum are both
 * within the bound, by Cauchy and Schwarz; or, where that is not there, what no activation exceeds.
 */
static void compare_row(sums *s, uint64_t z, uint64_t row, const row_sum *sum)
{
    const wfi_matmul_reference *w = s->w;
    const double rounding = w->narrow ? w->element->rounding : 0;
    const double underflow = w->narrow ? w->element->underflow : 0;
    wf_check row_check = {0};
    for (uint64_t j = 0; j < w->n; j++) {
        const double product = fabs(w->alpha) * sum->a_norm * s->column[j];
        const double magnitude = product + fabs(w->beta * s->old[j]) + fabs(s->bias[j]);
        double bound = wfi_matmul_sum_bound(w, magnitude * (1 + 1e-9), product), c;
        wfi_expected e;
        wfi_operand_read(&w->c, z * w->c.product + row * w->c.row + j, 1, 1, &c);
        if (!isfinite(magnitude) || !(magnitude + bound < limit_of(w) * 0.99))
            continue;
        if (w->linear.data) {
            if (fabs(s->row[j]) > 256 * w->grain)
                bound += fabs(s->row[j]) * rounding + underflow;
            e = wfi_matmul_activated(w, (wfi_expected){s->row[j], 2 * bound});
        } else {
            const bool below = w->activation == WF_ACTIVATION_RELU && c < 0;
            const double most = magnitude * (1 + 0x1p-7) + bound + underflow;
            e = (wfi_expected){0, below ? 0 : most};
        }
        wfi_check_element(&row_check, (z * w->m + row) * w->n + j, c, e.value, e.bound);
    }
    if (!w->linear.data)
        s->check->ranged += row_check.checked;
    const uint64_t compared = s->check->checked;
    wfi_check_merge(s->check, &row_check);
    s->check->checked = compared; /* element by element */
}

static wf_result look_at_all(sums *s)
{
    const wfi_matmul_reference *w = s->w;
    const bool linear = w->activation == WF_ACTIVATION_NONE || w->linear.data;
    for (uint64_t z = 0; z < w->batch; z++) {
        if (z == 0 || w->b.product)
            add_b(s, z);
        for (uint64_t row = 0; row < w->m && !w->watch->stopped; row++) {
            const row_sum sum = sum_row(s, z, row);
            if (linear)
                look_at_row(s, z, row, &sum);
            if (w->activation != WF_ACTIVATION_NONE)
                compare_row(s, z, row, &sum);
        }
        if (w->watch->stopped)
            return WF_ERROR_CANCELLED;
    }
    return WF_SUCCESS;
}

wf_result wfi_matmul_check_sums(const wfi_matmul_reference *w, uint64_t seed, wf_check *check)
{
    wfi_matmul_reference rows = *w;
    sums s = {.w = w, .c = w->linear.data ? w->linear : w->c, .check = check};
    wf_result result = WF_ERROR_OUT_OF_HOST_MEMORY;
    for (int i = 0; i < WORST; i++)
        s.rank[i] = -1;
    if (open_sums(&s)) {
        draw(&s, seed);
        add_bias(&s);
        result = look_at_all(&s);
    }
    rows.c = s.c;
    rows.activation = WF_ACTIVATION_NONE;
    for (int i = 0; i < WORST && result == WF_SUCCESS; i++)
        if (s.rank[i] >= 0 &&
            !wfi_matmul_check_row(&rows, s.worst[i] / w->m, s.worst[i] % w->m, check))
            result = WF_ERROR_CANCELLED;
    check->missed = s.missed[WORST];
    close_sums(&s);
    return result;
}
