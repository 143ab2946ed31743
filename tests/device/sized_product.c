#include "sized.h"

#include <math.h>
#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static uint64_t ld_of(const sized_product *p, int matrix)
{
    const wf_matmul_params *q = &p->params;
    return matrix == 0                     ? (q->transpose_a ? q->m : q->k)
           : matrix == 1 && q->transpose_b ? q->k
                                           : q->n;
}

static uint64_t stride_of(const sized_product *p, int matrix)
{
    const wf_matmul_params *q = &p->params;
    return ld_of(p, matrix) * (matrix == 0   ? (q->transpose_a ? q->k : q->m)
                               : matrix == 1 ? (q->transpose_b ? q->n : q->k)
                                             : q->m);
}

static uint64_t at(const sized_product *p, int matrix, uint64_t z, uint64_t row, uint64_t column)
{
    const bool transposed = matrix == 0   ? p->params.transpose_a
                            : matrix == 1 ? p->params.transpose_b
                                          : false;
    return z * stride_of(p, matrix) + (transposed ? column : row) * ld_of(p, matrix) +
           (transposed ? row : column);
}

void sized_product_open(sized_product *p, wf_device *device, const wf_matmul_params *params)
{
    *p = (sized_product){.params = *params};
    const wf_type type = params->type, sums = type == WF_TYPE_F64 ? WF_TYPE_F64 : WF_TYPE_F32;
    const uint64_t batch = params->batch ? params->batch : 1;
    assert_int_equal(wf_matmul_plan(device, params, &p->plan), WF_SUCCESS);
    for (int i = 0; i < 3; i++)
        p->arrays[i] = sized_array_make(device, i == 2 ? sums : type, batch * stride_of(p, i));
    p->arrays[3] = sized_array_make(device, sums, params->n);
    p->before = calloc(p->arrays[2].elements, sizeof *p->before);
    assert_non_null(p->before);
}

void sized_product_close(sized_product *p)
{
    wf_plan_destroy(&p->plan);
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++)
        wf_buffer_destroy(&p->arrays[i].buffer);
    free(p->before);
}

static void fill_matrix(const sized_product *p, int matrix, uint64_t rows, uint64_t columns,
                        test_random *random)
{
    sized_poison(&p->arrays[matrix]);
    for (uint64_t z = 0; z < p->extent[3]; z++)
        for (uint64_t i = 0; i < rows; i++)
            for (uint64_t j = 0; j < columns; j++)
                sized_set(&p->arrays[matrix], at(p, matrix, z, i, j), sized_number(random));
}

wf_bindings sized_product_draw(sized_product *p, test_random *random)
{
    const wf_matmul_params *q = &p->params;
    const uint64_t most[4] = {q->m, q->n, q->k, q->batch ? q->batch : 1};
    const uint32_t units[4] = {q->vary_m, q->vary_n, q->vary_k, q->vary_batch};
    wf_bindings bindings = {.size = sizeof bindings};
    for (int i = 0; i < 4; i++) {
        p->extent[i] = units[i] ? sized_draw(random, most[i], units[i], 1) : most[i];
        bindings.extent[i] = p->extent[i];
        bindings.items[i].buffer = p->arrays[i].buffer;
    }
    fill_matrix(p, 0, p->extent[0], p->extent[2], random);
    fill_matrix(p, 1, p->extent[2], p->extent[1], random);
    sized_poison(&p->arrays[2]);
    if (isgreater(fabs(q->beta), 0)) {
        fill_matrix(p, 2, p->extent[0], p->extent[1], random);
        for (uint64_t i = 0; i < p->arrays[2].elements; i++)
            p->before[i] = sized_get(&p->arrays[2], i);
    }
    sized_poison(&p->arrays[3]);
    for (uint64_t j = 0; j < p->extent[1]; j++)
        sized_set(&p->arrays[3], j, sized_number(random));
    return bindings;
}

void sized_product_expect(const sized_product *p)
{
    const wf_matmul_params *q = &p->params;
    const uint64_t batch = q->batch ? q->batch : 1;
    for (uint64_t z = 0; z < batch; z++)
        for (uint64_t i = 0; i < q->m; i++)
            for (uint64_t j = 0; j < q->n; j++) {
                const uint64_t c = at(p, 2, z, i, j);
                if (z >= p->extent[3] || i >= p->extent[0] || j >= p->extent[1]) {
                    assert_true(sized_is_poison(&p->arrays[2], c));
                    continue;
                }
                double sum = isgreater(fabs(q->beta), 0) ? q->beta * p->before[c] : 0;
                for (uint64_t k = 0; k < p->extent[2]; k++)
                    sum += sized_get(&p->arrays[0], at(p, 0, z, i, k)) *
                           sized_get(&p->arrays[1], at(p, 1, z, k, j));
                sum += q->bias ? sized_get(&p->arrays[3], j) : 0;
                assert_true(sized_get(&p->arrays[2], c) == sum);
            }
}

void sized_product_run(wf_device *device, const wf_matmul_params *params, int executions,
                       test_random *random)
{
    sized_product p;
    sized_product_open(&p, device, params);
    for (int i = 0; i < executions; i++) {
        const wf_bindings bindings = sized_product_draw(&p, random);
        assert_int_equal(wf_plan_run(p.plan, &bindings), WF_SUCCESS);
        sized_product_expect(&p);
    }
    sized_product_close(&p);
}
