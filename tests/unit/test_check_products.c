/* The checks of products find what is wrong: right results are made here, by plain loops of the
 * device's arithmetic, and then spoilt in one way at a time. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/element.h"
#include "kernels/check/bound.h"
#include "planted.h"

#define DRAWN 4 /* elements: nothing is found by chance */

typedef struct product {
    wf_matmul_params params;
    wf_matmul_inputs inputs;
    void *data[6]; /* A, B, C before, bias, C, C without activation */
    wf_type type, sums;
    double alpha;
    uint64_t left_out; /* terms at the end of each sum */
} product;

static uint64_t below(uint64_t n)
{
    return (uint64_t)((uniform() + 1) / 2 * (double)n) % n;
}

static bool is_whole(const product *p)
{
    return wfi_element_of(p->type)->whole;
}

static double get(const product *p, bool sums, const void *data, uint64_t at)
{
    if (sums && is_whole(p))
        return ((const int32_t *)data)[at];
    return wf_element_get(sums ? p->sums : p->type, data, at);
}

static void set(const product *p, bool sums, void *data, uint64_t at, double value)
{
    if (sums && is_whole(p))
        ((int32_t *)data)[at] = (int32_t)value;
    else
        wf_element_set(sums ? p->sums : p->type, data, at, value);
}

static bool c_is_sums(const product *p)
{
    return is_whole(p) || p->params.output == WF_MATMUL_OUTPUT_SUMS;
}

static double activated(wf_activation activation, double x)
{
    if (activation == WF_ACTIVATION_RELU)
        return x < 0 ? 0 : x;
    if (activation == WF_ACTIVATION_GELU)
        return x / (1 + exp(-2 * sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
    return x;
}

static double sum_of(const product *p, uint64_t row, uint64_t column)
{
    const wf_matmul_params *q = &p->params;
    double wide = 0;
    float narrow = 0;
    for (uint64_t k = 0; k < q->k - p->left_out; k++) {
        const double x =
            get(p, false, p->data[0], q->transpose_a ? k * q->m + row : row * q->k + k);
        const double y =
            get(p, false, p->data[1], q->transpose_b ? column * q->k + k : k * q->n + column);
        wide += x * y;
        narrow += (float)x * (float)y;
    }
    return p->sums == WF_TYPE_F64 ? wide : (double)narrow;
}

static void multiply(product *p)
{
    const wf_matmul_params *q = &p->params;
    for (uint64_t row = 0; row < q->m; row++)
        for (uint64_t column = 0; column < q->n; column++) {
            const uint64_t at = row * q->n + column;
            double value = p->alpha * sum_of(p, row, column);
            if (q->beta != 0)
                value += q->beta * get(p, c_is_sums(p), p->data[2], at);
            if (q->bias)
                value += get(p, true, p->data[3], column);
            set(p, c_is_sums(p), p->data[5], at, value);
            set(p, c_is_sums(p), p->data[4], at, activated(q->activation, value));
        }
}

/* signs: operands of 1 and -1. */
static void open_product(product *p, const wf_matmul_params *params, double alpha, bool signs)
{
    *p = (product){.params = *params, .alpha = alpha, .type = params->type};
    p->params.size = sizeof p->params;
    p->params.alpha = &p->alpha;
    p->sums = wfi_element_of(p->type)->real;
    const uint64_t counts[6] = {params->m * params->k, params->k * params->n,
                                params->m * params->n, params->n,
                                params->m * params->n, params->m * params->n};
    for (int i = 0; i < 6; i++) {
        p->data[i] = calloc((size_t)counts[i], 8);
        assert_non_null(p->data[i]);
        const bool sums = i == 3 || (i == 2 && c_is_sums(p));
        for (uint64_t n = 0; n < counts[i] && i < 4; n++) {
            const double u = uniform();
            set(p, sums, p->data[i], n, signs ? (u < 0 ? -1 : 1) : is_whole(p) ? rint(u * 100) : u);
        }
    }
    multiply(p);
    p->inputs = (wf_matmul_inputs){.size = sizeof p->inputs,
                                   .a = p->data[0],
                                   .b = p->data[1],
                                   .bias = p->data[3],
                                   .c = p->data[2],
                                   .linear = params->activation ? p->data[5] : NULL};
}

static void close_product(product *p)
{
    for (int i = 0; i < 6; i++)
        free(p->data[i]);
}

static wf_check checked(const product *p, uint64_t seed)
{
    wf_check check;
    assert_int_equal(wf_matmul_check(&p->params, &p->inputs, p->data[4], DRAWN, seed, &check),
                     WF_SUCCESS);
    return check;
}

typedef enum fault {
    LARGE_ELEMENT,
    NAN_ELEMENT,
    ZERO_ELEMENT, /* the largest of C */
    ZERO_TILE,
    NEIGHBOUR_ROW,
    LANE,
    STALE,
    FAULTS
} fault;

static void spoil_range(product *p, const product *stale, uint64_t rows[2], uint64_t columns[2],
                        uint64_t every, bool zero)
{
    for (uint64_t i = rows[0]; i < rows[1]; i++)
        for (uint64_t j = columns[0]; j < columns[1]; j += every)
            set(p, c_is_sums(p), p->data[4], i * p->params.n + j,
                zero ? 0 : get(p, c_is_sums(p), stale->data[4], i * p->params.n + j));
}

static void spoil(product *p, const product *stale, fault f)
{
    const wf_matmul_params *q = &p->params;
    void *c = p->data[4];
    uint64_t at = below(q->m * q->n);
    switch (f) {
    case LARGE_ELEMENT:
        set(p, c_is_sums(p), c, at,
            is_whole(p)                                  ? get(p, true, c, at) + 1
            : isfinite(wfi_element_of(p->type)->largest) ? wfi_element_of(p->type)->largest * 0.9
            : p->type == WF_TYPE_F64                     ? 1e300
                                                         : 3.3e38);
        break;
    case NAN_ELEMENT:
        set(p, c_is_sums(p), c, at, is_whole(p) ? -1e9 : (double)NAN);
        break;
    case ZERO_ELEMENT:
        for (uint64_t i = 0; i < q->m * q->n; i++)
            if (fabs(get(p, c_is_sums(p), c, i)) > fabs(get(p, c_is_sums(p), c, at)))
                at = i;
        set(p, c_is_sums(p), c, at, 0);
        break;
    case ZERO_TILE:
        spoil_range(p, stale, (uint64_t[]){32, 64}, (uint64_t[]){64, 128}, 1, true);
        break;
    case NEIGHBOUR_ROW: {
        const size_t bytes = (size_t)q->n * (c_is_sums(p) ? wfi_element_of(p->type)->sum_size
                                                          : wf_type_size(p->type));
        const uint64_t row = below(q->m - 1);
        memcpy((char *)c + row * bytes, (char *)c + (row + 1) * bytes, bytes);
        break;
    }
    case LANE:
        spoil_range(p, stale, (uint64_t[]){0, q->m}, (uint64_t[]){below(32), q->n}, 32, false);
        break;
    default:
        spoil_range(p, stale, (uint64_t[]){0, q->m}, (uint64_t[]){0, q->n}, 1, false);
    }
}

static const wf_matmul_params kinds[] = {
    {.type = WF_TYPE_F32},
    {.type = WF_TYPE_F32, .transpose_a = true, .beta = 0.5, .bias = true},
    {.type = WF_TYPE_F32, .transpose_b = true, .activation = WF_ACTIVATION_GELU},
    {.type = WF_TYPE_F64, .transpose_a = true, .transpose_b = true, .bias = true},
    {.type = WF_TYPE_F64, .activation = WF_ACTIVATION_RELU},
    {.type = WF_TYPE_F16},
    {.type = WF_TYPE_F16, .output = WF_MATMUL_OUTPUT_SUMS, .activation = WF_ACTIVATION_GELU},
    {.type = WF_TYPE_BF16, .beta = -1, .bias = true},
    {.type = WF_TYPE_BF16, .activation = WF_ACTIVATION_RELU},
    {.type = WF_TYPE_I8, .bias = true},
    {.type = WF_TYPE_I8, .transpose_b = true, .activation = WF_ACTIVATION_RELU},
};

/* Each fault in turn, in a product that is right. */
static void faults_are_found(const wf_matmul_params *params, uint64_t seed)
{
    const wfi_element *element = wfi_element_of(params->type);
    product p, stale;
    open_product(&p, params, element->whole ? 2 : 0.75, false);
    open_product(&stale, params, 1, false);
    const wf_check right = checked(&p, seed);
    assert_true(right.error_over_bound <= 1);
    assert_int_equal(right.summed, right.total);
    /* What f16 and bf16 round off is noise. */
    assert_true(right.missed < (c_is_sums(&p) || !wfi_element_narrow(element) ? 1e-6 : 1e-2));
    const size_t bytes = (size_t)(params->m * params->n * 8);
    void *kept = malloc(bytes);
    assert_non_null(kept);
    memcpy(kept, p.data[4], bytes);
    for (int f = 0; f < FAULTS; f++) {
        spoil(&p, &stale, (fault)f);
        const wf_check wrong = checked(&p, seed);
        if (wrong.error_over_bound <= 1)
            fail_msg("%s, %d x %d, seed %d: fault %d was not found", element->name, (int)params->m,
                     (int)params->n, (int)seed, f);
        memcpy(p.data[4], kept, bytes);
    }
    free(kept);
    close_product(&stale);
    close_product(&p);
}

static void wrong_products_are_found(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (uint64_t seed = 0; seed < seeds(); seed++) {
            wf_matmul_params params = kinds[kind];
            random_state = seed + 77;
            params.m = 70 + below(9);
            params.n = 140 + below(9);
            params.k = 40 + below(30);
            faults_are_found(&params, seed);
        }
}

/* So large that several threads have a share; of one type where faults of others are looked for. */
static void wrong_shares_are_found(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < (seeds() == 1 ? 1 : 5); kind += 2) {
        wf_matmul_params params = kinds[kind];
        random_state = kind + 5;
        params.m = 900 + below(9);
        params.n = 1700 + below(9);
        params.k = 3;
        faults_are_found(&params, kind);
    }
}

/* Operands of 1 and -1: the bound would let a missing term through. */
static void a_missing_term_is_found(void **state)
{
    (void)state;
    for (int type = 0; type < WF_TYPE_COUNT; type++)
        for (uint64_t seed = 0; seed < seeds(); seed++) {
            /* Sums of that many have 8 bits; C has them, or is the sums. */
            const bool coarse = wfi_element_of((wf_type)type)->rounding > 0x1p-8;
            const wf_matmul_params params = {.type = (wf_type)type,
                                             .m = 9,
                                             .n = 11,
                                             .k = 8192,
                                             .output = coarse ? WF_MATMUL_OUTPUT_SUMS
                                                              : WF_MATMUL_OUTPUT_TYPE};
            product p;
            random_state = seed;
            open_product(&p, &params, 1, true);
            assert_true(checked(&p, seed).error_over_bound <= 0);
            p.left_out = 1;
            multiply(&p);
            assert_false(checked(&p, seed).error_over_bound <= 1);
            close_product(&p);
        }
}

/* A product of two numbers by 1, in `type` or as its sums, and what the check says of a result. */
static bool is_right(wf_type type, bool sums, const double a[2], double result)
{
    const wf_type real = wfi_element_of(type)->real;
    const wf_matmul_params params = {.size = sizeof params,
                                     .m = 1,
                                     .n = 1,
                                     .k = 2,
                                     .type = type,
                                     .output =
                                         sums ? WF_MATMUL_OUTPUT_SUMS : WF_MATMUL_OUTPUT_TYPE};
    uint64_t x[2], y[2], c = 0;
    wf_check check;
    for (uint64_t i = 0; i < 2; i++) {
        wf_element_set(type, x, i, a[i]);
        wf_element_set(type, y, i, 1);
    }
    wf_element_set(sums ? real : type, &c, 0, result);
    const wf_matmul_inputs inputs = {.size = sizeof inputs, .a = x, .b = y};
    assert_int_equal(wf_matmul_check(&params, &inputs, &c, 0, 1, &check), WF_SUCCESS);
    return check.error_over_bound <= 1;
}

/* Infinity is right where the reference, rounded to the type of C, is infinite, and only there. */
static void results_may_overflow(void **state)
{
    (void)state;
    static const struct {
        wf_type type;
        double some;
    } cases[] = {{WF_TYPE_F32, 2e38},
                 {WF_TYPE_F64, 1e308},
                 {WF_TYPE_F16, 4e4},
                 {WF_TYPE_BF16, 2e38},
                 {WF_TYPE_BF16, 3e38}};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
        for (int sums = 0; sums < 2; sums++) {
            const wf_type type = cases[n].type;
            const double some = cases[n].some, over[2] = {some, some}, under[2] = {-some, -some},
                         within[2] = {some, -some / 2};
            if (type == WF_TYPE_F16 && sums) /* these hold 8e4 */
                continue;
            assert_true(is_right(type, sums, over, INFINITY));
            assert_true(is_right(type, sums, under, -INFINITY));
            assert_false(is_right(type, sums, over, -INFINITY));
            assert_false(is_right(type, sums, over, NAN));
            if (type != WF_TYPE_F64) /* the bound is infinite, too */
                assert_false(is_right(type, sums, over, some));
            assert_false(is_right(type, sums, within, INFINITY));
        }
}

/* GELU of f64 with a constant that is off; x is the product of one row and one column. */
static void constants_of_gelu_are_checked(void **state)
{
    (void)state;
    const double extremes[] = {0, -0.0, 1e-300, 1e-9, -1e-9, 700, -700, 1e100, -1e100};
    const double faults[][2] = {{0, 0}, {1e-11, 0}, {-1e-11, 0}, {0, 1e-11}, {0, -1e-11}};
    for (size_t f = 0; f < 5; f++) {
        double a[409], b = 1, c[409];
        const wf_matmul_params params = {.size = sizeof params,
                                         .m = 409,
                                         .n = 1,
                                         .k = 1,
                                         .type = WF_TYPE_F64,
                                         .activation = WF_ACTIVATION_GELU};
        const wf_matmul_inputs inputs = {.size = sizeof inputs, .a = a, .b = &b};
        wf_check check;
        for (int i = 0; i < 409; i++) {
            a[i] = i < 9 ? extremes[i] : (i - 209) * 0.05;
            /* Values worked out elsewhere: sqrt(2 / pi) and the cubic coefficient. */
            const long double x = a[i],
                              u = 0.797884560802865355879892119868763737L *
                                  (1 + (long double)faults[f][0]) *
                                  (x + 0.044715L * (1 + (long double)faults[f][1]) * x * x * x);
            c[i] = (double)(u < -5000 ? 0 : x / (1 + expl(-2 * u)));
        }
        assert_int_equal(wf_matmul_check(&params, &inputs, c, 0, 1, &check), WF_SUCCESS);
        assert_true(f == 0 ? check.error_over_bound <= 1 : check.error_over_bound > 1);
    }
    /* The value at 1, worked out with 40 digits. */
    const double one = 1, right = 0.84119199060827670;
    const wf_matmul_params params = {.size = sizeof params,
                                     .m = 1,
                                     .n = 1,
                                     .k = 1,
                                     .type = WF_TYPE_F64,
                                     .activation = WF_ACTIVATION_GELU};
    const wf_matmul_inputs inputs = {.size = sizeof inputs, .a = &one, .b = &one};
    wf_check check;
    assert_int_equal(wf_matmul_check(&params, &inputs, &right, 0, 1, &check), WF_SUCCESS);
    assert_true(check.error_over_bound <= 1);
}

/* Scalars of f64 that are off. */
static void scalars_are_checked(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++) {
        const wf_matmul_params params = {
            .type = WF_TYPE_F64, .m = 12, .n = 13, .k = 14, .beta = 0.7, .bias = true};
        product p;
        random_state = 5;
        open_product(&p, &params, 1.3, false);
        assert_true(checked(&p, 1).error_over_bound <= 1);
        if (which == 0)
            p.alpha *= 1 + 1e-11;
        else if (which == 1)
            p.params.beta *= 1 + 1e-11;
        else
            ((double *)p.data[3])[3] *= 1 + 1e-11;
        multiply(&p);
        p.alpha = 1.3;
        p.params.beta = 0.7;
        if (which == 2)
            ((double *)p.data[3])[3] /= 1 + 1e-11;
        assert_true(checked(&p, 1).error_over_bound > 1);
        close_product(&p);
    }
}

enum { ROWS = 500, WIDTH = 9 };

typedef struct sparse {
    uint32_t offsets[ROWS + 1], columns[ROWS * WIDTH];
    double values[ROWS * WIDTH], x[ROWS], before[ROWS], y[ROWS], kept[ROWS];
    double alpha;
    wf_spmv_params params;
} sparse;

static void multiply_sparse(sparse *s, double alpha, double beta, uint32_t left_out)
{
    for (uint32_t row = 0; row < ROWS; row++) {
        double sum = 0;
        for (uint32_t i = s->offsets[row]; i < s->offsets[row + 1] - left_out; i++)
            sum += s->values[i] * s->x[s->columns[i]];
        s->y[row] = alpha * sum + beta * s->before[row];
    }
}

static bool holds(const sparse *s)
{
    wf_check check;
    assert_int_equal(wf_spmv_check_scaled(&s->params, s->x, s->before, s->y, &check), WF_SUCCESS);
    assert_int_equal(check.checked, ROWS);
    return check.error_over_bound <= 1;
}

static void wrong_sparse_products_are_found(void **state)
{
    (void)state;
    static sparse s;
    for (uint64_t seed = 0; seed < seeds(); seed++) {
        random_state = seed;
        for (uint32_t row = 0; row < ROWS; row++) {
            s.offsets[row + 1] = (row + 1) * WIDTH;
            s.x[row] = uniform();
            s.before[row] = uniform();
        }
        for (uint32_t i = 0; i < ROWS * WIDTH; i++) {
            s.columns[i] = (uint32_t)below(ROWS);
            s.values[i] = uniform();
        }
        s.alpha = 1.1;
        s.params = (wf_spmv_params){.size = sizeof s.params,
                                    .rows = ROWS,
                                    .columns = ROWS,
                                    .row_offsets = s.offsets,
                                    .column_indices = s.columns,
                                    .values = s.values,
                                    .type = WF_TYPE_F64,
                                    .alpha = &s.alpha,
                                    .beta = 0.3};
        multiply_sparse(&s, 1.1, 0.3, 0);
        assert_true(holds(&s));
        memcpy(s.kept, s.y, sizeof s.y);
        s.y[below(ROWS)] *= 1 + 1e-11;
        assert_false(holds(&s));
        multiply_sparse(&s, 1.1 * (1 + 1e-11), 0.3, 0);
        assert_false(holds(&s));
        multiply_sparse(&s, 1.1, 0.3 * (1 + 1e-11), 0);
        assert_false(holds(&s));
        multiply_sparse(&s, 1.1, 0.3, 1);
        assert_false(holds(&s));
        memcpy(s.y, s.kept, sizeof s.y);
        for (uint32_t row = (uint32_t)below(32); row < ROWS; row += 32)
            s.y[row] = s.before[row];
        assert_false(holds(&s));
        memcpy(s.y, s.before, sizeof s.y);
        assert_false(holds(&s));
    }
}

/* Within an infinite bound every finite value is right: nothing has been compared then. */
static void infinite_bounds_check_nothing(void **state)
{
    (void)state;
    wf_check check = {0};
    wfi_check_element(&check, 0, 3, 1, INFINITY);
    assert_int_equal(check.checked, 0);
    assert_int_equal(check.wrong, 0);
    wfi_check_element(&check, 1, 1, 1, INFINITY);
    assert_int_equal(check.checked, 1);
    wfi_check_element(&check, 2, NAN, 1, INFINITY);
    wfi_check_element(&check, 3, INFINITY, 1, INFINITY);
    assert_int_equal(check.wrong, 2);
    assert_true(isinf(check.error_over_bound));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(infinite_bounds_check_nothing),
        cmocka_unit_test(wrong_products_are_found),
        cmocka_unit_test(wrong_shares_are_found),
        cmocka_unit_test(a_missing_term_is_found),
        cmocka_unit_test(results_may_overflow),
        cmocka_unit_test(constants_of_gelu_are_checked),
        cmocka_unit_test(scalars_are_checked),
        cmocka_unit_test(wrong_sparse_products_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
