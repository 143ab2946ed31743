/* Conjugate gradients on matrices that are symmetric and dominated by their diagonal: they are
 * positive definite, with condition numbers under 100, so that every solve must converge. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/verify/verify.h"

#define MOST_PAIRS 20000
#define MOST_ITERATIONS 600 /* a condition of 100 takes 120 for f64's tolerance */

typedef struct sparse_system {
    wf_spmv_params matrix;
    wf_cg_params params;
    uint32_t pairs, *rows, *columns; /* places below the diagonal */
    double *pair_values;
    uint32_t *offsets, *indices;
    void *values, *b, *x, *again;
    bool twice;
    wf_cg_result result;
} sparse_system;

static void draw_problem(wfi_verifier *v, sparse_system *s)
{
    wf_spmv_params *m = &s->matrix;
    wf_cg_params *p = &s->params;
    v->verdict->type = wfi_draw_chance(v, 50) ? WF_TYPE_F32 : WF_TYPE_F64;
    *m = (wf_spmv_params){.size = sizeof *m, .type = v->verdict->type};
    m->rows = m->columns = (uint32_t)wfi_draw_size(v, wfi_draw_chance(v, 20) ? 4000 : 300);
    *p = (wf_cg_params){.size = sizeof *p,
                        .matrix = m,
                        .max_iterations = MOST_ITERATIONS,
                        .progress = wfi_verify_goes_on};
    s->twice = wfi_draw_chance(v, 30);
    p->precondition = (wf_precondition)wfi_draw_below(v, 3);
    if (p->precondition == WF_PRECONDITION_BLOCK_JACOBI)
        p->block = 1 + (uint32_t)wfi_draw_below(v, WF_CG_MOST_BLOCK);
    p->mixed = m->type == WF_TYPE_F64 && wfi_draw_chance(v, 40);
    p->check_every = wfi_draw_chance(v, 50) ? 1 + (uint32_t)wfi_draw_below(v, 40) : 0;
    /* The answer's rounding is far below these. */
    p->tolerance = m->type == WF_TYPE_F32 ? pow(10, -2 - wfi_draw_uniform(v, 0, 3))
                                          : pow(10, -2 - wfi_draw_uniform(v, 0, 8));
}

static void say(wfi_verifier *v, const sparse_system *s)
{
    static const char *const names[] = {"no", "Jacobi's", "block-Jacobi's"};
    const wf_cg_params *p = &s->params;
    wfi_verify_say(v, "%u rows, %u entries, %s preconditioner", s->matrix.rows,
                   s->offsets[s->matrix.rows], names[p->precondition]);
    if (p->block)
        wfi_verify_say(v, " of %u", p->block);
    wfi_verify_say(v, ", tolerance %.2g%s", p->tolerance, p->mixed ? ", mixed" : "");
    if (p->check_every)
        wfi_verify_say(v, ", a check every %u", p->check_every);
}

/* Pairs of places, each standing for two entries. */
static void draw_pairs(wfi_verifier *v, sparse_system *s)
{
    const uint32_t n = s->matrix.rows, width = (uint32_t)wfi_draw_below(v, 12);
    const bool banded = wfi_draw_chance(v, 50);
    for (uint32_t row = 1; row < n; row++)
        for (uint32_t i = 0; i < width && s->pairs < MOST_PAIRS; i++) {
            const uint32_t reach = banded && row > 8 ? 8 : row;
            s->rows[s->pairs] = row;
            s->columns[s->pairs] = row - 1 - (uint32_t)wfi_draw_below(v, reach);
            /* In f32's values, so that f32 and mixed see the same matrix. */
            s->pair_values[s->pairs++] = (float)wfi_draw_uniform(v, -1, 1);
        }
}

static void put(sparse_system *s, uint32_t *next, uint32_t row, uint32_t column, double value)
{
    s->indices[next[row]] = column;
    wf_element_set(s->matrix.type, s->values, next[row]++, value);
}

/* The diagonal is the sum of its row's magnitudes, and 1 to 2 more. */
static void fill(wfi_verifier *v, sparse_system *s, uint32_t *next, double *sums)
{
    const uint32_t n = s->matrix.rows;
    for (uint32_t i = 0; i < s->pairs; i++) {
        s->offsets[s->rows[i] + 1]++;
        s->offsets[s->columns[i] + 1]++;
        sums[s->rows[i]] += fabs(s->pair_values[i]);
        sums[s->columns[i]] += fabs(s->pair_values[i]);
    }
    for (uint32_t row = 0; row < n; row++) {
        s->offsets[row + 1] += s->offsets[row] + 1;
        next[row] = s->offsets[row];
        put(s, next, row, row, (float)(sums[row] + wfi_draw_uniform(v, 1, 2)));
    }
    for (uint32_t i = 0; i < s->pairs; i++) {
        put(s, next, s->rows[i], s->columns[i], s->pair_values[i]);
        put(s, next, s->columns[i], s->rows[i], s->pair_values[i]);
    }
}

static bool make_system(wfi_verifier *v, sparse_system *s)
{
    const size_t n = s->matrix.rows, entries = n + 2 * (size_t)MOST_PAIRS, size = sizeof(double);
    uint32_t *next = malloc(n * sizeof *next);
    double *sums = calloc(n, sizeof *sums);
    s->rows = malloc(MOST_PAIRS * sizeof *s->rows);
    s->columns = malloc(MOST_PAIRS * sizeof *s->columns);
    s->pair_values = malloc(MOST_PAIRS * sizeof *s->pair_values);
    s->offsets = calloc(n + 1, sizeof *s->offsets);
    s->indices = malloc(entries * sizeof *s->indices);
    s->values = malloc(entries * size);
    s->b = malloc(n * size);
    s->x = malloc(n * size);
    s->again = malloc(n * size);
    const bool ok = next && sums && s->rows && s->columns && s->pair_values && s->offsets &&
                    s->indices && s->values && s->b && s->x && s->again;
    if (ok) {
        draw_pairs(v, s);
        fill(v, s, next, sums);
        for (size_t i = 0; i < n; i++)
            wf_element_set(s->matrix.type, s->b, i, wfi_draw_uniform(v, -1, 1));
        s->matrix.row_offsets = s->offsets;
        s->matrix.column_indices = s->indices;
        s->matrix.values = s->values;
    }
    free(next);
    free(sums);
    return ok;
}

static wf_result solve(wfi_verifier *v, void *user, const wf_tuning *tuning)
{
    sparse_system *s = user;
    s->matrix.tuning = tuning;
    const size_t bytes = s->matrix.rows * wf_type_size(s->matrix.type);
    wf_cg_result other;
    memset(s->x, 0xff, bytes);
    wf_result result = wf_cg_solve(v->session->device, &s->params, s->b, s->x, &s->result);
    if (result != WF_SUCCESS || !s->twice)
        return result;
    result = wf_cg_solve(v->session->device, &s->params, s->b, s->again, &other);
    if (result == WF_SUCCESS && memcmp(s->x, s->again, bytes) != 0)
        wfi_verify_fail(v, "a second solve with the same inputs gave other bits");
    return result;
}

/* |b - A x| / |b| in long double, and what tolerance and rounding allow (wf_cg_result). */
static void check(wfi_verifier *v, const sparse_system *s)
{
    const wf_type type = s->matrix.type;
    long double r2 = 0, b2 = 0, x2 = 0, norm = 0;
    uint32_t longest = 0;
    for (uint32_t row = 0; row < s->matrix.rows; row++) {
        const long double b = wf_element_get(type, s->b, row), x = wf_element_get(type, s->x, row);
        long double r = b, sum = 0;
        for (uint32_t i = s->offsets[row]; i < s->offsets[row + 1]; i++) {
            const long double a = wf_element_get(type, s->values, i);
            r -= a * wf_element_get(type, s->x, s->indices[i]);
            sum += fabsl(a);
        }
        const uint32_t length = s->offsets[row + 1] - s->offsets[row];
        longest = length > longest ? length : longest;
        norm = sum > norm ? sum : norm;
        r2 += r * r;
        b2 += b * b;
        x2 += x * x;
    }
    const double size = (double)(norm * sqrtl(x2 / b2));
    const double u = s->params.mixed ? 0x1p-44 : type == WF_TYPE_F64 ? 0x1p-53 : 0x1p-24;
    const double steps = s->params.mixed ? s->result.refinements : s->result.iterations;
    wfi_verify_residual(v, s->matrix.rows, (double)sqrtl(r2 / b2),
                        s->params.tolerance + (4 * steps + 2.0 * longest + 8) * u * (1 + size),
                        s->result.true_residual);
}

wf_result wfi_verify_cg(wfi_verifier *v)
{
    static const char *const ends[] = {"converged",  "did not converge", "found A indefinite",
                                       "overflowed", "broke down",       "is inaccurate"};
    sparse_system s = {0};
    draw_problem(v, &s);
    wf_result result = make_system(v, &s) ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY;
    if (result == WF_SUCCESS) {
        say(v, &s);
        result = wfi_verify_point(v, solve, &s);
    }
    if (result == WF_SUCCESS) {
        wfi_verify_solver_plan(v, &s.result.product);
        v->verdict->check.checked = v->verdict->check.total = s.matrix.rows;
        if (s.result.status != WF_CG_CONVERGED)
            wfi_verify_fail(v, "it %s after %u iterations: the residual is %.3g",
                            ends[s.result.status], s.result.iterations, s.result.true_residual);
        else
            check(v, &s);
    }
    void *const all[] = {s.rows,   s.columns, s.pair_values, s.offsets, s.indices,
                         s.values, s.b,       s.x,           s.again};
    for (size_t i = 0; i < WFI_COUNT(all); i++)
        free(all[i]);
    return result;
}
