#include "product.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

void product_open(product *p, wf_device *device, const wf_jobs *jobs)
{
    const size_t elements[3] = {PRODUCT_M * PRODUCT_K, PRODUCT_K * PRODUCT_N,
                                PRODUCT_M * PRODUCT_N};
    test_random random = {test_seed()};
    *p = (product){
        .params = {.size = sizeof p->params,
                   .m = PRODUCT_M,
                   .n = PRODUCT_N,
                   .k = PRODUCT_K,
                   .jobs = jobs},
        .bindings = {.size = sizeof p->bindings},
    };
    for (size_t i = 0; i < PRODUCT_M * PRODUCT_K; i++)
        p->a[i] = (float)test_random_uniform(&random);
    for (size_t i = 0; i < PRODUCT_K * PRODUCT_N; i++)
        p->b[i] = (float)test_random_uniform(&random);
    assert_int_equal(wf_matmul_plan(device, &p->params, &p->plan), WF_SUCCESS);
    assert_int_equal(wf_arena_create(device, &p->arena), WF_SUCCESS);
    for (int i = 0; i < 3; i++) {
        /* Upload memory can be written and read without a queue. */
        assert_int_equal(
            wf_buffer_create(device, elements[i] * sizeof(float), WF_MEMORY_UPLOAD, &p->buffers[i]),
            WF_SUCCESS);
        p->bindings.items[i].buffer = p->buffers[i];
    }
    wf_buffer_write(p->buffers[0], 0, p->a, sizeof p->a);
    wf_buffer_write(p->buffers[1], 0, p->b, sizeof p->b);
}

void product_poison(product *p)
{
    float c[PRODUCT_M * PRODUCT_N];
    memset(c, 0xff, sizeof c);
    assert_int_equal(wf_buffer_write(p->buffers[2], 0, c, sizeof c), WF_SUCCESS);
}

void product_check(product *p)
{
    float c[PRODUCT_M * PRODUCT_N];
    const wf_matmul_inputs inputs = {.size = sizeof inputs, .a = p->a, .b = p->b};
    wf_check check;
    assert_int_equal(wf_buffer_read(p->buffers[2], 0, c, sizeof c), WF_SUCCESS);
    assert_int_equal(wf_matmul_check(&p->params, &inputs, c, 0, 0, &check), WF_SUCCESS);
    assert_true(check.error_over_bound <= 1);
}

void product_close(product *p)
{
    wf_arena_destroy(&p->arena);
    wf_plan_destroy(&p->plan);
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&p->buffers[i]);
}

void job_list_keep(void *user, void (*run)(void *), void *job)
{
    job_list *list = user;
    assert_true(list->count < 16);
    list->run[list->count] = run;
    list->job[list->count++] = job;
}

void *job_list_run(void *user)
{
    job_list *list = user;
    for (uint32_t i = 0; i < list->count; i++)
        list->run[i](list->job[i]);
    list->count = 0;
    return NULL;
}
