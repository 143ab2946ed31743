#include "recorded_cg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define FUNCTION(e, name) ((PFN_##name)engine_function((e), #name))

enum { MARGIN = 64 };

static void add_entry(cg_system *s, uint32_t *at, uint32_t column, double value)
{
    s->columns[*at] = column;
    s->values[*at] = value;
    s->narrow[(*at)++] = (float)value;
}

static void make_system(cg_system *s, wf_type type)
{
    uint32_t at = 0;
    for (uint32_t y = 0; y < CG_SIDE; y++)
        for (uint32_t x = 0; x < CG_SIDE; x++) {
            const uint32_t row = y * CG_SIDE + x;
            s->row_offsets[row] = at;
            if (y > 0)
                add_entry(s, &at, row - CG_SIDE, -1);
            if (x > 0)
                add_entry(s, &at, row - 1, -1);
            add_entry(s, &at, row, 4.25 + (row % 3) * 0.5);
            if (x + 1 < CG_SIDE)
                add_entry(s, &at, row + 1, -1);
            if (y + 1 < CG_SIDE)
                add_entry(s, &at, row + CG_SIDE, -1);
        }
    s->row_offsets[CG_ROWS] = at;
    s->params =
        (wf_spmv_params){.size = sizeof s->params,
                         .rows = CG_ROWS,
                         .columns = CG_ROWS,
                         .row_offsets = s->row_offsets,
                         .column_indices = s->columns,
                         .values = type == WF_TYPE_F64 ? (void *)s->values : (void *)s->narrow,
                         .type = type};
}

/* |b - A x| / |b| */
static double residual_of(const cg_system *s, const double *b, const double *x)
{
    double squares = 0, norm = 0;
    for (uint32_t row = 0; row < CG_ROWS; row++) {
        double r = b[row];
        for (uint32_t i = s->row_offsets[row]; i < s->row_offsets[row + 1]; i++)
            r -= s->values[i] * x[s->columns[i]];
        squares += r * r;
        norm += b[row] * b[row];
    }
    return sqrt(squares / norm);
}

static uint64_t real_size(const cg_host *h)
{
    return wf_type_size(h->type);
}

double cg_element(const cg_host *h, const wf_buffer *buffer, uint64_t i)
{
    const char *data = (const char *)wf_buffer_mapped(buffer) + h->align;
    float pair[2];
    if (!h->mixed)
        return wf_element_get(h->type, data, i);
    memcpy(pair, data + i * sizeof pair, sizeof pair);
    return (double)pair[0] + pair[1];
}

void cg_put_element(const cg_host *h, const wf_buffer *buffer, uint64_t i, double value)
{
    char *data = (char *)wf_buffer_mapped(buffer) + h->align;
    /* Any two floats with this sum: of some elements halves. */
    const float high = (float)(i % 3 ? value : value / 2), pair[2] = {high, (float)(value - high)};
    if (h->mixed)
        memcpy(data + i * sizeof pair, pair, sizeof pair);
    else
        wf_element_set(h->type, data, i, value);
}

wf_solve_state cg_state(const cg_host *h, const cg_frame *f)
{
    wf_solve_state state;
    memcpy(&state, (const char *)wf_buffer_mapped(f->state) + h->align, sizeof state);
    return state;
}

static void expect_surroundings(const cg_host *h, const wf_buffer *buffer, uint64_t bytes)
{
    const unsigned char *all = wf_buffer_mapped(buffer);
    for (uint64_t i = 0; i < 2 * h->align + bytes; i++)
        if (i < h->align || i >= h->align + bytes)
            assert_int_equal(all[i], 255);
}

static wf_buffer *make_buffer(cg_host *h, uint64_t bytes)
{
    wf_buffer *buffer = NULL;
    assert_int_equal(wf_buffer_create(h->device, bytes + 2 * h->align, WF_MEMORY_UPLOAD, &buffer),
                     WF_SUCCESS);
    memset(wf_buffer_mapped(buffer), 255, bytes + 2 * h->align);
    return buffer;
}

void cg_host_open(cg_host *h, engine_features features, wf_type type, const wf_cg_params *solve)
{
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    wf_vulkan vulkan;
    *h = (cg_host){.random = {test_seed()}, .type = type, .mixed = solve->mixed};
    engine_open(&h->e, features, &vulkan);
    vulkan.queue = VK_NULL_HANDLE;
    h->device = engine_adopt(&vulkan);
    h->align = wf_device_caps(h->device)->storage_alignment;
    h->align = h->align > MARGIN ? h->align : MARGIN;
    h->system = calloc(1, sizeof *h->system);
    assert_non_null(h->system);
    make_system(h->system, type);
    wf_cg_params params = *solve;
    params.matrix = &h->system->params;
    assert_int_equal(wf_cg_create(h->device, &params, &h->cg), WF_SUCCESS);
    VkCommandBuffer commands = engine_begin(&h->e);
    assert_int_equal(wf_cg_record_upload(h->cg, commands), WF_SUCCESS);
    engine_finish(&h->e, commands);
    assert_false(wf_cg_needs_upload(h->cg));
    wf_cg_trim(h->cg);
    for (int i = 0; i < CG_IN_FLIGHT; i++) {
        cg_frame *f = &h->frames[i];
        assert_int_equal(wf_arena_create(h->device, &f->arena), WF_SUCCESS);
        assert_int_equal(FUNCTION(&h->e, vkCreateFence)(h->e.device, &fence, NULL, &f->fence),
                         VK_SUCCESS);
        f->b = make_buffer(h, CG_ROWS * real_size(h));
        f->x = make_buffer(h, CG_ROWS * real_size(h));
        f->state = make_buffer(h, sizeof(wf_solve_state));
    }
}

void cg_host_close(cg_host *h)
{
    for (int i = 0; i < CG_IN_FLIGHT; i++) {
        cg_frame *f = &h->frames[i];
        wf_arena_destroy(&f->arena);
        FUNCTION(&h->e, vkDestroyFence)(h->e.device, f->fence, NULL);
        wf_buffer_destroy(&f->b);
        wf_buffer_destroy(&f->x);
        wf_buffer_destroy(&f->state);
    }
    wf_cg_destroy(&h->cg);
    free(h->system);
    wf_device_destroy(&h->device);
    engine_close(&h->e);
}

wf_bindings cg_bindings(const cg_host *h, const cg_frame *f)
{
    return (wf_bindings){
        .size = sizeof(wf_bindings),
        .items = {[WF_CG_B] = {.buffer = f->b, .offset = h->align, .bytes = CG_ROWS * real_size(h)},
                  [WF_CG_X] = {.buffer = f->x, .offset = h->align, .bytes = CG_ROWS * real_size(h)},
                  [WF_CG_STATE] = {
                      .buffer = f->state, .offset = h->align, .bytes = sizeof(wf_solve_state)}}};
}

void cg_draw_b(cg_host *h, const cg_frame *f)
{
    for (uint32_t i = 0; i < CG_ROWS; i++)
        cg_put_element(h, f->b, i, test_random_uniform(&h->random));
}

void cg_expect(const cg_host *h, const cg_frame *f, double tolerance)
{
    static double b[CG_ROWS], x[CG_ROWS];
    const wf_solve_state state = cg_state(h, f);
    const double unit = h->mixed ? 0x1p-44 : h->type == WF_TYPE_F64 ? 0x1p-53 : 0x1p-24;
    for (uint32_t i = 0; i < CG_ROWS; i++) {
        b[i] = cg_element(h, f->b, i);
        x[i] = cg_element(h, f->x, i);
    }
    /* The bound of wf_cg_result.true_residual, with |A| <= 9.25 and |x| / |b| <= 1 / 0.25. */
    const double rounding = (4.0 * state.iterations + 18) * unit * (1 + 9.25 * 4);
    const double found = residual_of(h->system, b, x);
    assert_true(h->mixed || state.refinements == 0);
    assert_true(fabs(found - (double)state.residual) <= rounding + 1e-6 * found);
    if (f->flags & WF_SOLVE_FIXED || state.status == WF_CG_MAX_ITERATIONS) {
        /* Mixed: what is left of some check_every iterations, when a correction is done. */
        assert_true(state.iterations <= f->iterations);
        assert_true(state.iterations + (h->mixed ? 7 * state.refinements : 0) >= f->iterations);
        assert_int_equal(state.status, WF_CG_MAX_ITERATIONS);
    } else {
        assert_int_equal(state.status, WF_CG_CONVERGED);
        assert_true(found <= tolerance + rounding);
    }
    expect_surroundings(h, f->x, CG_ROWS * real_size(h));
    expect_surroundings(h, f->state, sizeof(wf_solve_state));
}

static void finish(cg_host *h, cg_frame *f)
{
    assert_int_equal(
        FUNCTION(&h->e, vkWaitForFences)(h->e.device, 1, &f->fence, VK_TRUE, UINT64_MAX),
        VK_SUCCESS);
    assert_int_equal(FUNCTION(&h->e, vkResetFences)(h->e.device, 1, &f->fence), VK_SUCCESS);
    FUNCTION(&h->e, vkFreeCommandBuffers)(h->e.device, h->e.pool, 1, &f->commands);
    assert_int_equal(wf_arena_reset(f->arena), WF_SUCCESS);
    f->pending = false;
}

void cg_await(cg_host *h, cg_frame *f, double tolerance)
{
    if (!f->pending)
        return;
    finish(h, f);
    cg_expect(h, f, tolerance);
}

void cg_submit(cg_host *h, cg_frame *f)
{
    const wf_bindings bindings = cg_bindings(h, f);
    f->commands = engine_begin(&h->e);
    assert_int_equal(wf_cg_record(h->cg, f->commands, f->arena, &bindings, f->iterations, f->flags),
                     WF_SUCCESS);
    engine_submit(&h->e, f->commands, f->fence);
    f->pending = true;
}

void cg_solve_once(cg_host *h, cg_frame *f, uint32_t iterations, uint32_t flags)
{
    f->iterations = iterations;
    f->flags = flags;
    cg_submit(h, f);
    finish(h, f);
}
