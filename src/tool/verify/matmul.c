/* Matrix products with all that their parameters can say. */
#include <string.h>

#include "core/element.h"
#include "tool/verify/verify.h"

typedef struct product {
    wf_matmul_params params; /* of the plan */
    wf_matmul_params run;    /* of the execution, which may be smaller */
    bool varies;
    double alpha;
    wf_plan **plan;
} product;

static wf_result make_plan(wfi_verifier *v, void *user, const wf_tuning *tuning)
{
    product *p = user;
    p->params.tuning = tuning;
    return wf_matmul_plan(v->session->device, &p->params, p->plan);
}

static void draw_sizes(wfi_verifier *v, wf_matmul_params *p)
{
    const bool thin = wfi_draw_chance(v, 20), deep = wfi_draw_chance(v, 15);
    p->m = wfi_draw_size(v, deep ? 40 : 300);
    p->n = thin ? 1 + wfi_draw_below(v, 16) : wfi_draw_size(v, deep ? 40 : 300);
    p->k = deep ? 500 + wfi_draw_below(v, 9000) : wfi_draw_size(v, 300);
    p->batch = wfi_draw_chance(v, 20) ? 1 + wfi_draw_below(v, 5) : 0;
    if (thin && wfi_draw_chance(v, 50)) {
        const uint64_t m = p->m;
        p->m = p->n;
        p->n = m;
    }
    while ((double)p->m * (double)p->n * (double)p->k > v->work) {
        p->m = (p->m + 1) / 2;
        p->n = (p->n + 1) / 2;
        p->k = (p->k + 1) / 2;
    }
}

/* Leading dimensions and strides with gaps, half of the time. */
static void draw_layout(wfi_verifier *v, wf_matmul_params *p)
{
    uint64_t *leading[] = {&p->lda, &p->ldb, &p->ldc};
    uint64_t *stride[] = {&p->stride_a, &p->stride_b, &p->stride_c};
    const uint64_t rows[] = {p->transpose_a ? p->k : p->m, p->transpose_b ? p->n : p->k, p->m};
    const uint64_t columns[] = {p->transpose_a ? p->m : p->k, p->transpose_b ? p->k : p->n, p->n};
    for (int i = 0; i < 3; i++) {
        if (wfi_draw_chance(v, 30))
            *leading[i] = columns[i] + wfi_draw_below(v, 20);
        if (p->batch && i < 2 && wfi_draw_chance(v, 20))
            *stride[i] = WF_STRIDE_SHARED;
        else if (p->batch && wfi_draw_chance(v, 30))
            *stride[i] = rows[i] * (*leading[i] ? *leading[i] : columns[i]) + wfi_draw_below(v, 9);
    }
}

static void draw_problem(wfi_verifier *v, product *p)
{
    wf_matmul_params *q = &p->params;
    const wfi_element *element = wfi_element_of(v->verdict->type);
    *q = (wf_matmul_params){.size = sizeof *q, .type = v->verdict->type, .alpha = &p->alpha};
    draw_sizes(v, q);
    q->transpose_a = wfi_draw_chance(v, 30);
    q->transpose_b = wfi_draw_chance(v, 30);
    draw_layout(v, q);
    p->alpha = wfi_draw_factor(v, false, element->whole);
    q->beta = wfi_draw_factor(v, true, element->whole);
    q->bias = wfi_draw_chance(v, 25);
    q->activation =
        wfi_draw_chance(v, 70) ? WF_ACTIVATION_NONE : (wf_activation)(1 + wfi_draw_below(v, 2));
    if (element->whole && q->activation == WF_ACTIVATION_GELU)
        q->activation = WF_ACTIVATION_RELU;
    q->output = wfi_draw_chance(v, 25) ? WF_MATMUL_OUTPUT_SUMS : WF_MATMUL_OUTPUT_TYPE;
    q->math = q->type == WF_TYPE_F32 && wfi_draw_chance(v, 25) ? WF_MATH_FAST : WF_MATH_EXACT;
}

/* What is executed: the product of the plan, or a smaller one where the plan's sizes vary. Leading
 * dimensions and strides stay the plan's. */
static void draw_run(wfi_verifier *v, product *p)
{
    wf_matmul_params *q = &p->params, *run = &p->run;
    p->varies = wfi_draw_chance(v, 25);
    *run = *q;
    if (!p->varies)
        return;
    const uint64_t rows[] = {q->transpose_a ? q->k : q->m, q->transpose_b ? q->n : q->k, q->m};
    const uint64_t columns[] = {q->transpose_a ? q->m : q->k, q->transpose_b ? q->k : q->n, q->n};
    uint64_t *leading[] = {&run->lda, &run->ldb, &run->ldc};
    uint64_t *stride[] = {&run->stride_a, &run->stride_b, &run->stride_c};
    for (int i = 0; i < 3; i++) {
        *leading[i] = *leading[i] ? *leading[i] : columns[i];
        if (q->batch && *stride[i] == 0)
            *stride[i] = rows[i] * *leading[i];
    }
    q->vary_m = q->vary_n = q->vary_k = 1;
    run->m = wfi_draw_extent(v, 1, q->m);
    run->n = wfi_draw_extent(v, 1, q->n);
    run->k = wfi_draw_extent(v, 1, q->k);
}

static void say(wfi_verifier *v, const product *p, wfi_numbers numbers)
{
    static const char *const activations[] = {"", ", relu", ", gelu"};
    const wf_matmul_params *q = &p->run;
    const uint64_t leading[] = {q->lda, q->ldb, q->ldc};
    const uint64_t stride[] = {q->stride_a, q->stride_b, q->stride_c};
    wfi_verify_say(v, "%llux%llux%llu", (unsigned long long)q->m, (unsigned long long)q->n,
                   (unsigned long long)q->k);
    if (p->varies)
        wfi_verify_say(v, " by a plan of %llux%llux%llu", (unsigned long long)p->params.m,
                       (unsigned long long)p->params.n, (unsigned long long)p->params.k);
    if (q->batch)
        wfi_verify_say(v, ", batch %llu", (unsigned long long)q->batch);
    if (q->transpose_a)
        wfi_verify_say(v, ", A transposed");
    if (q->transpose_b)
        wfi_verify_say(v, ", B transposed");
    for (int i = 0; i < 3; i++) {
        if (leading[i])
            wfi_verify_say(v, ", ld%c %llu", "abc"[i], (unsigned long long)leading[i]);
        if (stride[i] == WF_STRIDE_SHARED)
            wfi_verify_say(v, ", %c shared", "ABC"[i]);
        else if (stride[i])
            wfi_verify_say(v, ", stride_%c %llu", "abc"[i], (unsigned long long)stride[i]);
    }
    wfi_verify_say(v, ", alpha %g, beta %g%s%s%s%s, of %s", p->alpha, q->beta,
                   q->bias ? ", bias" : "", activations[q->activation],
                   q->output == WF_MATMUL_OUTPUT_SUMS ? ", sums" : "",
                   q->math == WF_MATH_FAST ? ", fast" : "", wfi_numbers_name(numbers));
}

/* Elements of a matrix of `rows` stored rows; what lies between them stays as it is. */
typedef struct matrix {
    uint64_t batch, rows, columns, ld, stride;
} matrix;

static matrix matrix_of(const wf_matmul_params *p, uint64_t rows, uint64_t columns, uint64_t ld,
                        uint64_t stride)
{
    matrix m = {p->batch ? p->batch : 1, rows, columns, ld ? ld : columns, stride};
    if (stride == WF_STRIDE_SHARED)
        m.batch = 1;
    if (stride == 0 || stride == WF_STRIDE_SHARED)
        m.stride = rows * m.ld;
    return m;
}

static void fill(wfi_verifier *v, const matrix *m, wf_type type, bool whole32, wfi_numbers numbers,
                 void *data)
{
    const bool whole = wfi_element_of(type)->whole;
    for (uint64_t z = 0; z < m->batch; z++)
        for (uint64_t i = 0; i < m->rows; i++)
            for (uint64_t j = 0; j < m->columns; j++) {
                const uint64_t at = z * m->stride + i * m->ld + j;
                double value = wfi_draw_number(v, numbers);
                if (whole && numbers != WFI_NUMBERS_SIGNS && numbers != WFI_NUMBERS_WHOLE)
                    value = (double)wfi_draw_below(v, 255) - 127;
                if (whole32)
                    ((int32_t *)data)[at] = (int32_t)value;
                else
                    wf_element_set(type, data, at, value);
            }
}

static bool make_operands(wfi_verifier *v, const product *p, wfi_numbers numbers,
                          wfi_verify_execution *e, void *data[WF_MATMUL_BINDINGS])
{
    const wf_matmul_params *q = &p->run;
    const wfi_element *element = wfi_element_of(q->type);
    const wf_type real = element->real;
    const bool sums = element->whole || q->output == WF_MATMUL_OUTPUT_SUMS;
    const matrix matrices[WF_MATMUL_BINDINGS] = {
        matrix_of(q, q->transpose_a ? q->k : q->m, q->transpose_a ? q->m : q->k, q->lda,
                  q->stride_a),
        matrix_of(q, q->transpose_b ? q->n : q->k, q->transpose_b ? q->k : q->n, q->ldb,
                  q->stride_b),
        matrix_of(q, q->m, q->n, q->ldc, q->stride_c),
        {1, 1, q->n, q->n, q->n}};
    const matrix *c = &matrices[WF_MATMUL_C];
    const wfi_verify_places places = {.size = element->whole ? sizeof(int32_t)
                                                             : wf_type_size(sums ? real : q->type),
                                      .count = {c->batch, c->rows, c->columns},
                                      .stride = {c->stride, c->ld, 1}};
    uint64_t bytes[WF_MATMUL_BINDINGS];
    if (wf_matmul_bytes(&p->params, bytes) != WF_SUCCESS)
        return false;
    for (uint32_t i = 0; i < WF_MATMUL_BINDINGS; i++) {
        const bool is_sums = i == WF_MATMUL_BIAS || (i == WF_MATMUL_C && sums);
        if (bytes[i] == 0)
            continue;
        if (!wfi_verify_bind(v, e, i, bytes[i], i == WF_MATMUL_C ? &places : NULL, &data[i]))
            return false;
        if (i != WF_MATMUL_C || q->beta < 0 || q->beta > 0)
            fill(v, &matrices[i], is_sums && !element->whole ? real : q->type,
                 is_sums && element->whole, numbers, data[i]);
    }
    return true;
}

static wf_result check(wfi_verifier *v, const product *p, const wfi_verify_execution *e,
                       void *const data[WF_MATMUL_BINDINGS])
{
    const wf_matmul_params *q = &p->run;
    const wfi_verify_binding *c = &e->items[WF_MATMUL_C];
    const wf_matmul_inputs inputs = {.size = sizeof inputs,
                                     .a = data[WF_MATMUL_A],
                                     .b = data[WF_MATMUL_B],
                                     .bias = data[WF_MATMUL_BIAS],
                                     .c = data[WF_MATMUL_C]};
    wf_check *out = &v->verdict->check;
    const wf_result result = wf_matmul_check(q, &inputs, c->after + c->offset, 0, 1, out);
    for (uint64_t i = 0; i < out->wrong && i < WF_CHECK_MISMATCHES; i++) {
        const uint64_t at = out->mismatches[i].index;
        wfi_verify_place(v, i, "product %llu, row %llu, column %llu",
                         (unsigned long long)(at / q->n / q->m),
                         (unsigned long long)(at / q->n % q->m), (unsigned long long)(at % q->n));
    }
    if (result == WF_SUCCESS)
        wfi_verify_checked(v, "elements of C");
    return result;
}

wf_result wfi_verify_matmul(wfi_verifier *v)
{
    product p = {0};
    wfi_verify_execution e = {.repeats = true};
    void *data[WF_MATMUL_BINDINGS] = {NULL};
    p.plan = &e.plan;
    v->verdict->type = (wf_type)wfi_draw_below(v, WF_TYPE_COUNT);
    draw_problem(v, &p);
    draw_run(v, &p);
    if (p.varies)
        memcpy(e.extent, (const uint64_t[]){p.run.m, p.run.n, p.run.k}, 3 * sizeof *e.extent);
    const wfi_numbers numbers = wfi_draw_numbers(v);
    say(v, &p, numbers);
    wf_result result = wfi_verify_point(v, make_plan, &p);
    if (result == WF_SUCCESS && !make_operands(v, &p, numbers, &e, data))
        result = WF_ERROR_OUT_OF_HOST_MEMORY;
    if (result == WF_SUCCESS)
        result = wfi_verify_execute(v, &e);
    if (result == WF_SUCCESS)
        result = check(v, &p, &e, data);
    wfi_verify_close(&e);
    return result;
}
