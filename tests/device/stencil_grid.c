#include "stencil_grid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness.h"

void test_stencil_grid_make(test_stencil_grid *p, wf_stencil_params params, const char *variant,
                            uint32_t pass)
{
    test_random random = {test_seed()};
    *p = (test_stencil_grid){.params = params, .steps = {"steps", pass}};
    p->tuning = (wf_tuning){.size = sizeof p->tuning,
                            .variant = variant,
                            .constants = &p->steps,
                            .constant_count = pass > 1};
    p->params.size = sizeof p->params;
    p->params.coefficients = p->coefficients;
    p->params.tuning = &p->tuning;
    p->planes = params.nz ? params.nz : params.ny;
    p->plane_bytes = (size_t)params.nx * (params.nz ? params.ny : 1) * wf_type_size(params.type);
    for (int i = 0; i < TEST_STENCIL_TAPS; i++)
        p->coefficients[i] = test_random_uniform(&random) / TEST_STENCIL_TAPS;
    const size_t bytes = p->planes * p->plane_bytes;
    p->in = malloc(bytes);
    p->expected = malloc(bytes);
    p->out = malloc(bytes);
    assert_true(p->in && p->expected && p->out);
    for (size_t i = 0; i < bytes / wf_type_size(params.type); i++)
        wf_element_set(params.type, p->in, i, test_random_uniform(&random));
}

void test_stencil_grid_free(test_stencil_grid *p)
{
    free(p->in);
    free(p->expected);
    free(p->out);
}

void test_stencil_run_whole(wf_device *device, test_stencil_grid *p)
{
    const size_t bytes = p->planes * p->plane_bytes;
    wf_plan *plan = NULL;
    wf_buffer *buffers[3] = {NULL, NULL, NULL};
    assert_int_equal(wf_stencil_plan(device, &p->params, &plan), WF_SUCCESS);
    const uint64_t workspace = wf_plan_workspace(plan);
    for (int i = 0; i < 3; i++)
        assert_int_equal(wf_buffer_create(device,
                                          i < 2       ? bytes
                                          : workspace ? workspace
                                                      : 4,
                                          WF_MEMORY_DEVICE, &buffers[i]),
                         WF_SUCCESS);
    const wf_bindings bindings = {.size = sizeof bindings,
                                  .items = {{.buffer = buffers[0]}, {.buffer = buffers[1]}},
                                  .workspace = {.buffer = buffers[2]}};
    assert_int_equal(wf_buffer_write(buffers[0], 0, p->in, bytes), WF_SUCCESS);
    assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(buffers[1], 0, p->expected, bytes), WF_SUCCESS);
    wf_plan_destroy(&plan);
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&buffers[i]);
}

bool test_stencil_grid_is_right(const test_stencil_grid *p)
{
    return memcmp(p->out, p->expected, p->planes * p->plane_bytes) == 0;
}
