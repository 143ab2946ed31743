#include "matmul_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/element.h"

static wf_type sum_type(wf_type type)
{
    return wfi_element_of(type)->real;
}

/* A drawn number; whole ones for integers. */
static void draw(test_random *random, wf_type type, bool sums, void *data, uint64_t index)
{
    const double value = test_random_uniform(random);
    const wfi_element *element = wfi_element_of(type);
    if (element->whole && sums)
        ((int32_t *)data)[index] = (int32_t)(value * 1000);
    else if (element->whole)
        wf_element_set(type, data, index, value * element->largest);
    else
        wf_element_set(sums ? sum_type(type) : type, data, index, value);
}

typedef struct matrix {
    uint64_t rows, columns, ld, stride;
} matrix;

static matrix matrix_of(const wf_matmul_params *p, int binding)
{
    matrix x;
    if (binding == WF_MATMUL_A)
        x = (matrix){p->transpose_a ? p->k : p->m, p->transpose_a ? p->m : p->k, p->lda,
                     p->stride_a};
    else if (binding == WF_MATMUL_B)
        x = (matrix){p->transpose_b ? p->n : p->k, p->transpose_b ? p->k : p->n, p->ldb,
                     p->stride_b};
    else
        x = (matrix){p->m, p->n, p->ldc, p->stride_c};
    x.ld = x.ld ? x.ld : x.columns;
    x.stride = x.stride == WF_STRIDE_SHARED ? 0 : x.stride ? x.stride : x.rows * x.ld;
    return x;
}

/* Draws the elements of a matrix; all else in its buffer stays poison. */
static void draw_matrix(matmul_case *p, int binding, test_random *random)
{
    const matrix x = matrix_of(&p->params, binding);
    const bool sums = binding == WF_MATMUL_C && (p->params.output == WF_MATMUL_OUTPUT_SUMS ||
                                                 wfi_element_of(p->params.type)->whole);
    const uint64_t batch = p->params.batch ? p->params.batch : 1;
    for (uint64_t z = 0; z < batch; z++)
        for (uint64_t row = 0; row < x.rows; row++)
            for (uint64_t column = 0; column < x.columns; column++)
                draw(random, p->params.type, sums, p->host[binding],
                     z * x.stride + row * x.ld + column);
}

static uint64_t whole_words(uint64_t bytes)
{
    return (bytes + 3) / 4 * 4;
}

void matmul_case_write(matmul_case *p, int binding)
{
    assert_int_equal(wf_buffer_write(p->buffers[binding], p->offset, p->host[binding],
                                     whole_words(p->bytes[binding])),
                     WF_SUCCESS);
}

void matmul_case_make(matmul_case *p, wf_device *device, test_random *random)
{
    p->device = device;
    p->params.size = sizeof p->params;
    assert_int_equal(wf_matmul_bytes(&p->params, p->bytes), WF_SUCCESS);
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++) {
        if (!p->bytes[i])
            continue;
        const uint64_t room = whole_words(p->bytes[i]);
        p->host[i] = malloc(room);
        assert_non_null(p->host[i]);
        memset(p->host[i], 0xff, room); /* NaN in every float type */
        if (i == WF_MATMUL_BIAS)
            for (uint64_t j = 0; j < p->params.n; j++)
                draw(random, p->params.type, true, p->host[i], j);
        else if (i != WF_MATMUL_C || p->params.beta != 0)
            draw_matrix(p, i, random);
        const uint64_t around = 2 * p->offset;
        assert_int_equal(wf_buffer_create(device, room + around, WF_MEMORY_DEVICE, &p->buffers[i]),
                         0);
        test_poison(p->buffers[i]);
        matmul_case_write(p, i);
    }
    p->result = malloc(p->bytes[WF_MATMUL_C] + 4);
    assert_non_null(p->result);
}

void matmul_case_plant(matmul_case *p, int binding, uint64_t row, uint64_t column, double value)
{
    const matrix x = matrix_of(&p->params, binding);
    const bool turned = binding == WF_MATMUL_A ? p->params.transpose_a : p->params.transpose_b;
    const uint64_t at = turned ? column * x.ld + row : row * x.ld + column;
    wf_element_set(p->params.type, p->host[binding], at, value);
    matmul_case_write(p, binding);
}

void matmul_case_free(matmul_case *p)
{
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++) {
        wf_buffer_destroy(&p->buffers[i]);
        free(p->host[i]);
    }
    free(p->result);
}

static void say(const matmul_case *p, const char *what, char *text, size_t bytes)
{
    const wf_matmul_params *q = &p->params;
    snprintf(text, bytes,
             "%s %s %llux%llux%llu batch %llu ta %d tb %d lda %llu ldb %llu ldc %llu alpha %g beta "
             "%g bias %d activation %d output %d seed %llu",
             what, wf_type_name(q->type), (unsigned long long)q->m, (unsigned long long)q->n,
             (unsigned long long)q->k, (unsigned long long)q->batch, q->transpose_a, q->transpose_b,
             (unsigned long long)q->lda, (unsigned long long)q->ldb, (unsigned long long)q->ldc,
             q->alpha ? *q->alpha : 1, q->beta, q->bias, q->activation, q->output,
             (unsigned long long)test_seed());
}

/* The poison in front of C and behind it must be there. */
static void assert_outside_kept(const matmul_case *p, const char *text)
{
    unsigned char outside[2][256]; /* Vulkan's largest alignment */
    const uint64_t behind = p->offset + whole_words(p->bytes[WF_MATMUL_C]);
    wf_buffer *c = p->buffers[WF_MATMUL_C];
    if (p->offset == 0)
        return;
    assert_true(p->offset <= sizeof *outside);
    assert_int_equal(wf_buffer_read(c, 0, outside[0], p->offset), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(c, behind, outside[1], p->offset), WF_SUCCESS);
    for (uint64_t i = 0; i < p->offset; i++)
        if (outside[0][i] != 0xff || outside[1][i] != 0xff)
            fail_msg("%s: byte %llu in front of C or behind it was written", text,
                     (unsigned long long)i);
}

/* Bytes of C that belong to no element must be as before. */
static void assert_padding_kept(const matmul_case *p, const char *text)
{
    const matrix x = matrix_of(&p->params, WF_MATMUL_C);
    const uint64_t batch = p->params.batch ? p->params.batch : 1;
    const uint64_t last = (batch - 1) * x.stride + (x.rows - 1) * x.ld + x.columns;
    const uint64_t size = last ? p->bytes[WF_MATMUL_C] / last : 1;
    const unsigned char *before = p->host[WF_MATMUL_C], *after = p->result;
    for (uint64_t z = 0; z < batch; z++)
        for (uint64_t row = 0; row < x.rows; row++) {
            const uint64_t end = z * x.stride + row * x.ld + x.columns;
            const uint64_t next = row + 1 < x.rows ? z * x.stride + (row + 1) * x.ld
                                  : z + 1 < batch  ? (z + 1) * x.stride
                                                   : end;
            if (memcmp(before + end * size, after + end * size, (next - end) * size) != 0)
                fail_msg("%s: padding behind row %llu was written", text, (unsigned long long)row);
        }
}

static wf_bindings bindings_of(const matmul_case *p)
{
    wf_bindings bindings = {.size = sizeof bindings};
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++)
        bindings.items[i] = (wf_binding){
            .buffer = p->buffers[i], .offset = p->offset, .bytes = whole_words(p->bytes[i])};
    return bindings;
}

void matmul_case_execute(matmul_case *p, wf_plan *plan, const char *what)
{
    const wf_matmul_inputs inputs = {.size = sizeof inputs,
                                     .a = p->host[WF_MATMUL_A],
                                     .b = p->host[WF_MATMUL_B],
                                     .bias = p->host[WF_MATMUL_BIAS],
                                     .c = p->host[WF_MATMUL_C]};
    const wf_bindings bindings = bindings_of(p);
    wf_check check;
    char text[768];
    say(p, what, text, sizeof text);
    if (p->bytes[WF_MATMUL_C])
        matmul_case_write(p, WF_MATMUL_C);
    if (wf_plan_run(plan, &bindings) != WF_SUCCESS)
        fail_msg("%s: did not run", text);
    if (p->bytes[WF_MATMUL_C])
        assert_int_equal(
            wf_buffer_read(p->buffers[WF_MATMUL_C], p->offset, p->result, p->bytes[WF_MATMUL_C]),
            WF_SUCCESS);
    assert_int_equal(wf_matmul_check(&p->params, &inputs, p->result, 0, 0, &check), WF_SUCCESS);
    if (!(check.error_over_bound <= 1))
        fail_msg("%s: element %llu is %g bounds off", text, (unsigned long long)check.worst,
                 check.error_over_bound);
    if (p->bytes[WF_MATMUL_C]) {
        assert_padding_kept(p, text);
        assert_outside_kept(p, text);
    }
}

uint32_t matmul_case_run(matmul_case *p, const char *what)
{
    wf_plan *plan = NULL;
    wf_plan_info info = {.size = sizeof info};
    char text[768];
    say(p, what, text, sizeof text);
    if (wf_matmul_plan(p->device, &p->params, &plan) != WF_SUCCESS ||
        wf_plan_describe(plan, &info) != WF_SUCCESS)
        fail_msg("%s: has no plan", text);
    matmul_case_execute(p, plan, what);
    wf_plan_destroy(&plan);
    return info.dispatches;
}

wfi_problem matmul_case_problem(const wf_matmul_params *q)
{
    wfi_problem problem = {.family = WF_FAMILY_MATMUL, .type = q->type};
    wfi_matmul_problem_of(NULL, q, &problem.matmul);
    return problem;
}

const wf_tuning *matmul_any_variant(void)
{
    static const wf_tuning small = {.size = sizeof small, .variant = "register"};
    return test_emulated() ? &small : NULL;
}
