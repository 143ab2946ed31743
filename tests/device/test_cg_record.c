/* Solves that are recorded into a frame's command buffer: results in every frame, the state that
 * shaders and the host read, dispatches behind the end that have no work-groups, and what surrounds
 * the bindings. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "harness.h"
#include "solve/cg.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define FUNCTION(e, name) ((PFN_##name)engine_function((e), #name))

enum { SIDE = 17, ROWS = SIDE * SIDE, MARGIN = 64, IN_FLIGHT = 3, FRAMES = 240, MOST = 120 };

/* Minus the Laplacian of a square, and `shift` on the diagonal. */
typedef struct system_ {
    uint32_t row_offsets[ROWS + 1], columns[5 * ROWS];
    double values[5 * ROWS];
    float narrow[5 * ROWS];
    wf_spmv_params params;
} system_;

static void add_entry(system_ *s, uint32_t *at, uint32_t column, double value)
{
    s->columns[*at] = column;
    s->values[*at] = value;
    s->narrow[(*at)++] = (float)value;
}

static void make_system(system_ *s, wf_type type)
{
    uint32_t at = 0;
    for (uint32_t y = 0; y < SIDE; y++)
        for (uint32_t x = 0; x < SIDE; x++) {
            const uint32_t row = y * SIDE + x;
            s->row_offsets[row] = at;
            if (y > 0)
                add_entry(s, &at, row - SIDE, -1);
            if (x > 0)
                add_entry(s, &at, row - 1, -1);
            add_entry(s, &at, row, 4.25 + (row % 3) * 0.5);
            if (x + 1 < SIDE)
                add_entry(s, &at, row + 1, -1);
            if (y + 1 < SIDE)
                add_entry(s, &at, row + SIDE, -1);
        }
    s->row_offsets[ROWS] = at;
    s->params =
        (wf_spmv_params){.size = sizeof s->params,
                         .rows = ROWS,
                         .columns = ROWS,
                         .row_offsets = s->row_offsets,
                         .column_indices = s->columns,
                         .values = type == WF_TYPE_F64 ? (void *)s->values : (void *)s->narrow,
                         .type = type};
}

/* |b - A x| / |b| */
static double residual_of(const system_ *s, const double *b, const double *x)
{
    double squares = 0, norm = 0;
    for (uint32_t row = 0; row < ROWS; row++) {
        double r = b[row];
        for (uint32_t i = s->row_offsets[row]; i < s->row_offsets[row + 1]; i++)
            r -= s->values[i] * x[s->columns[i]];
        squares += r * r;
        norm += b[row] * b[row];
    }
    return sqrt(squares / norm);
}

/* --------------------------------------------------------------------------------------- frames */

typedef struct frame {
    VkCommandBuffer commands;
    VkFence fence;
    wf_arena *arena;
    wf_buffer *b, *x, *state; /* x and the state lie between NaN */
    uint32_t iterations, flags;
    bool pending;
} frame;

typedef struct host {
    engine e;
    wf_device *device;
    system_ *system;
    wf_cg *cg;
    test_random random;
    wf_type type;
    bool mixed;
    uint64_t align; /* bytes in front of x and the state */
    frame frames[IN_FLIGHT];
} host;

static uint64_t real(const host *h)
{
    return wf_type_size(h->type);
}

/* Elements of b and x: of the type, or pairs of floats. */
static double element(const host *h, const wf_buffer *buffer, uint64_t i)
{
    const char *data = (const char *)wf_buffer_mapped(buffer) + h->align;
    float pair[2];
    if (!h->mixed)
        return wf_element_get(h->type, data, i);
    memcpy(pair, data + i * sizeof pair, sizeof pair);
    return (double)pair[0] + pair[1];
}

static void put_element(const host *h, const wf_buffer *buffer, uint64_t i, double value)
{
    char *data = (char *)wf_buffer_mapped(buffer) + h->align;
    /* Any two floats with this sum: of some elements halves. */
    const float high = (float)(i % 3 ? value : value / 2), pair[2] = {high, (float)(value - high)};
    if (h->mixed)
        memcpy(data + i * sizeof pair, pair, sizeof pair);
    else
        wf_element_set(h->type, data, i, value);
}

static double x_at(const host *h, const frame *f, uint64_t i)
{
    return element(h, f->x, i);
}

static wf_solve_state state_of(const host *h, const frame *f)
{
    wf_solve_state state;
    memcpy(&state, (const char *)wf_buffer_mapped(f->state) + h->align, sizeof state);
    return state;
}

static void expect_surroundings(const host *h, const wf_buffer *buffer, uint64_t bytes)
{
    const unsigned char *all = wf_buffer_mapped(buffer);
    for (uint64_t i = 0; i < 2 * h->align + bytes; i++)
        if (i < h->align || i >= h->align + bytes)
            assert_int_equal(all[i], 255);
}

static wf_buffer *make_buffer(host *h, uint64_t bytes)
{
    wf_buffer *buffer = NULL;
    assert_int_equal(wf_buffer_create(h->device, bytes + 2 * h->align, WF_MEMORY_UPLOAD, &buffer),
                     WF_SUCCESS);
    memset(wf_buffer_mapped(buffer), 255, bytes + 2 * h->align);
    return buffer;
}

static void open_host(host *h, engine_features features, wf_type type, const wf_cg_params *solve)
{
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    wf_vulkan vulkan;
    *h = (host){.random = {test_seed()}, .type = type, .mixed = solve->mixed};
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
    for (int i = 0; i < IN_FLIGHT; i++) {
        frame *f = &h->frames[i];
        assert_int_equal(wf_arena_create(h->device, &f->arena), WF_SUCCESS);
        assert_int_equal(FUNCTION(&h->e, vkCreateFence)(h->e.device, &fence, NULL, &f->fence),
                         VK_SUCCESS);
        f->b = make_buffer(h, ROWS * real(h));
        f->x = make_buffer(h, ROWS * real(h));
        f->state = make_buffer(h, sizeof(wf_solve_state));
    }
}

static void close_host(host *h)
{
    for (int i = 0; i < IN_FLIGHT; i++) {
        frame *f = &h->frames[i];
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

static wf_bindings bindings_of(const host *h, const frame *f)
{
    return (wf_bindings){
        .size = sizeof(wf_bindings),
        .items = {[WF_CG_B] = {.buffer = f->b, .offset = h->align, .bytes = ROWS * real(h)},
                  [WF_CG_X] = {.buffer = f->x, .offset = h->align, .bytes = ROWS * real(h)},
                  [WF_CG_STATE] = {
                      .buffer = f->state, .offset = h->align, .bytes = sizeof(wf_solve_state)}}};
}

static void draw_b(host *h, const frame *f)
{
    for (uint32_t i = 0; i < ROWS; i++)
        put_element(h, f->b, i, test_random_uniform(&h->random));
}

/* Checks what a frame left: the residual, computed on the host, and the state that describes it. */
static void expect_frame(const host *h, const frame *f, double tolerance)
{
    static double b[ROWS], x[ROWS];
    const wf_solve_state state = state_of(h, f);
    const double unit = h->mixed ? 0x1p-44 : h->type == WF_TYPE_F64 ? 0x1p-53 : 0x1p-24;
    for (uint32_t i = 0; i < ROWS; i++) {
        b[i] = element(h, f->b, i);
        x[i] = x_at(h, f, i);
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
    expect_surroundings(h, f->x, ROWS * real(h));
    expect_surroundings(h, f->state, sizeof(wf_solve_state));
}

static void await(host *h, frame *f, double tolerance)
{
    if (!f->pending)
        return;
    assert_int_equal(
        FUNCTION(&h->e, vkWaitForFences)(h->e.device, 1, &f->fence, VK_TRUE, UINT64_MAX),
        VK_SUCCESS);
    assert_int_equal(FUNCTION(&h->e, vkResetFences)(h->e.device, 1, &f->fence), VK_SUCCESS);
    FUNCTION(&h->e, vkFreeCommandBuffers)(h->e.device, h->e.pool, 1, &f->commands);
    assert_int_equal(wf_arena_reset(f->arena), WF_SUCCESS);
    f->pending = false;
    expect_frame(h, f, tolerance);
}

static void submit(host *h, frame *f)
{
    const VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    const wf_bindings bindings = bindings_of(h, f);
    f->commands = engine_begin(&h->e);
    assert_int_equal(wf_cg_record(h->cg, f->commands, f->arena, &bindings, f->iterations, f->flags),
                     WF_SUCCESS);
    FUNCTION(&h->e, vkCmdPipelineBarrier)
    (f->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host,
     0, NULL, 0, NULL);
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &f->commands};
    assert_int_equal(FUNCTION(&h->e, vkEndCommandBuffer)(f->commands), VK_SUCCESS);
    assert_int_equal(FUNCTION(&h->e, vkQueueSubmit)(h->e.queue, 1, &info, f->fence), VK_SUCCESS);
    f->pending = true;
}

static void run_frames(engine_features features, wf_type type, const wf_cg_params *solve,
                       uint32_t frames)
{
    host h;
    engine_calls early = {0}, late;
    open_host(&h, features, type, solve);
    const double tolerance = solve->tolerance > 0  ? solve->tolerance
                             : type == WF_TYPE_F64 ? 1e-10
                                                   : 1e-6;
    for (uint32_t n = 0; n < frames; n++) {
        frame *f = &h.frames[n % IN_FLIGHT];
        await(&h, f, tolerance);
        /* Every other solve begins from what x held; some end early, others are cut off. */
        f->flags = (n / IN_FLIGHT % 2 && n >= IN_FLIGHT ? WF_SOLVE_WARM : 0) |
                   (n % 5 == 4 ? WF_SOLVE_FIXED : 0) | (n % 7 > 4 ? WF_SOLVE_CONDITIONAL : 0);
        f->iterations = n % 5 == 4 ? 1 + n % 7 : n % 5 == 3 ? 2 + n % 3 : MOST;
        draw_b(&h, f);
        submit(&h, f);
        if (n == 2 * IN_FLIGHT)
            early = engine_counted();
    }
    late = engine_counted();
    if (frames > 2 * IN_FLIGHT) {
        assert_int_equal(late.pipelines, early.pipelines);
        assert_int_equal(late.memories, early.memories);
        assert_int_equal(late.descriptor_pools, early.descriptor_pools);
    }
    for (int i = 0; i < IN_FLIGHT; i++)
        await(&h, &h.frames[i], tolerance);
    close_host(&h);
}

static const wf_cg_params plain = {.size = sizeof plain, .max_iterations = MOST};

static void test_frames_with_push_descriptors(void **state)
{
    (void)state;
    run_frames(ENGINE_REQUIRED, WF_TYPE_F32, &plain, FRAMES);
}

static void test_frames_without(void **state)
{
    (void)state;
    run_frames(ENGINE_NOTHING, WF_TYPE_F32, &plain, 30);
}

static void test_preconditioners(void **state)
{
    (void)state;
    for (uint32_t side = 1; side <= 3; side += 2) {
        const wf_cg_params params = {.size = sizeof params,
                                     .max_iterations = MOST,
                                     .precondition = side == 1 ? WF_PRECONDITION_JACOBI
                                                               : WF_PRECONDITION_BLOCK_JACOBI,
                                     .block = side};
        run_frames(ENGINE_REQUIRED, WF_TYPE_F32, &params, 12);
    }
}

static void test_doubles(void **state)
{
    if (!test_has_type(*state, WF_TYPE_F64))
        skip();
    run_frames(ENGINE_REQUIRED, WF_TYPE_F64, &plain, 12);
}

/* In f32 to the accuracy of f64, on devices without f64 too. */
static void test_mixed(void **state)
{
    (void)state;
    static const wf_cg_params params[] = {
        {.size = sizeof plain, .max_iterations = MOST, .mixed = true},
        {.size = sizeof plain,
         .max_iterations = MOST,
         .mixed = true,
         .check_every = 3, /* rounded up to an even number */
         .precondition = WF_PRECONDITION_BLOCK_JACOBI,
         .block = 3}};
    run_frames(ENGINE_REQUIRED, WF_TYPE_F64, &params[0], 30);
    run_frames(ENGINE_NOTHING, WF_TYPE_F64, &params[0], 12);
    run_frames(ENGINE_REQUIRED, WF_TYPE_F64, &params[1], 12);
}

/* ------------------------------------------------------------------------------------ one solve */

static void solve_once(host *h, frame *f, uint32_t iterations, uint32_t flags)
{
    f->iterations = iterations;
    f->flags = flags;
    submit(h, f);
    assert_int_equal(
        FUNCTION(&h->e, vkWaitForFences)(h->e.device, 1, &f->fence, VK_TRUE, UINT64_MAX),
        VK_SUCCESS);
    assert_int_equal(FUNCTION(&h->e, vkResetFences)(h->e.device, 1, &f->fence), VK_SUCCESS);
    FUNCTION(&h->e, vkFreeCommandBuffers)(h->e.device, h->e.pool, 1, &f->commands);
    assert_int_equal(wf_arena_reset(f->arena), WF_SUCCESS);
    f->pending = false;
}

/* Whether the host sees the sizes of dispatches: memory of CPU drivers is unified. */
static bool sizes_seen(const host *h)
{
    return wf_buffer_mapped(h->cg->c.scalars) != NULL;
}

/* Sizes of the dispatches as the device left them: along x, and whether all along y are there. */
static uint32_t groups_left(const host *h, bool *others)
{
    const wfi_cg *c = &h->cg->c;
    const uint32_t *words = wf_buffer_mapped(c->scalars);
    uint32_t sum = 0;
    *others = true;
    for (uint32_t i = 0; i < c->sizes; i++) {
        sum += words[c->sizes_at + 3 * i];
        *others = *others && words[c->sizes_at + 3 * i + 1] > 0;
    }
    return sum;
}

static void test_nothing_runs_behind_the_end(void **state)
{
    (void)state;
    host h;
    bool others;
    open_host(&h, ENGINE_REQUIRED, WF_TYPE_F32, &plain);
    frame *f = &h.frames[0];
    draw_b(&h, f);
    solve_once(&h, f, 3, 0); /* too few iterations to converge */
    assert_int_equal(state_of(&h, f).iterations, 3);
    if (sizes_seen(&h))
        assert_true(groups_left(&h, &others) >= h.cg->c.sizes && others);
    solve_once(&h, f, MOST, 0);
    const uint32_t taken = state_of(&h, f).iterations;
    assert_int_equal(state_of(&h, f).status, WF_CG_CONVERGED);
    assert_true(taken > 3 && taken < MOST - 1);
    if (sizes_seen(&h)) {
        assert_int_equal(groups_left(&h, &others), 0);
        assert_true(others);
    }
    solve_once(&h, f, MOST, WF_SOLVE_WARM); /* there is nothing left to do */
    assert_true(state_of(&h, f).iterations <= 1);
    expect_frame(&h, f, 1e-6);
    close_host(&h);
}

/* A solve in chunks, each recorded and executed by itself, gives the bits of one that is recorded
 * whole. */
static void test_chunks(void **state)
{
    enum { CHUNK = 7 };
    (void)state;
    host h;
    float whole[ROWS];
    open_host(&h, ENGINE_REQUIRED, WF_TYPE_F32, &plain);
    frame *f = &h.frames[0];
    const char *x = (const char *)wf_buffer_mapped(f->x) + h.align;
    draw_b(&h, f);
    solve_once(&h, f, MOST, 0);
    memcpy(whole, x, sizeof whole);
    const wf_solve_state expected = state_of(&h, f);
    uint32_t made = CHUNK;
    solve_once(&h, f, CHUNK, 0);
    for (; made < expected.iterations; made += CHUNK) {
        assert_int_equal(state_of(&h, f).status, WF_CG_MAX_ITERATIONS);
        assert_memory_not_equal(x, whole, sizeof whole);
        f->iterations = made;
        expect_frame(&h, f, 1e-6);
        solve_once(&h, f, CHUNK, WF_SOLVE_CONTINUE | (made % 2 ? WF_SOLVE_CONDITIONAL : 0));
    }
    assert_true(made >= 3 * CHUNK);
    for (int i = 0; i < 2; i++) { /* the second finds nothing to do */
        const wf_solve_state told = state_of(&h, f);
        assert_memory_equal(&told, &expected, sizeof told);
        assert_memory_equal(x, whole, sizeof whole);
        memset(wf_buffer_mapped(f->x), 255, ROWS * sizeof(float) + 2 * h.align);
        solve_once(&h, f, CHUNK, WF_SOLVE_CONTINUE);
    }
    assert_memory_equal(x, whole, sizeof whole);
    close_host(&h);
}

/* Whether iterations are blocks of conditional rendering, and what their condition is. */
static void test_condition(void **state)
{
    (void)state;
    host h;
    open_host(&h, ENGINE_REQUIRED, WF_TYPE_F32, &plain);
    const bool offered = wf_device_caps(h.device)->conditional_rendering;
    frame *f = &h.frames[0];
    uint32_t *words = wf_buffer_mapped(h.cg->c.scalars);
    const unsigned before = engine_counted().conditions;
    draw_b(&h, f);
    solve_once(&h, f, 3, 0);
    assert_int_equal(engine_counted().conditions, before);
    solve_once(&h, f, 3, WF_SOLVE_CONDITIONAL);
    assert_int_equal(engine_counted().conditions, before + (offered ? 3 + 1 : 0));
    assert_int_equal(state_of(&h, f).iterations, 3);
    if (offered && words) { /* the first word of the sizes */
        const uint32_t groups = words[h.cg->c.sizes_at];
        words[h.cg->c.sizes_at] = 0;
        solve_once(&h, f, 4, WF_SOLVE_CONTINUE | WF_SOLVE_CONDITIONAL);
        assert_int_equal(state_of(&h, f).iterations, 3);
        words[h.cg->c.sizes_at] = groups;
        solve_once(&h, f, 2, WF_SOLVE_CONTINUE | WF_SOLVE_CONDITIONAL);
        assert_int_equal(state_of(&h, f).iterations, 9);
    }
    close_host(&h);
    open_host(&h, ENGINE_NOTHING, WF_TYPE_F32, &plain);
    assert_false(wf_device_caps(h.device)->conditional_rendering);
    const unsigned without = engine_counted().conditions;
    draw_b(&h, &h.frames[0]);
    solve_once(&h, &h.frames[0], 3, WF_SOLVE_CONDITIONAL); /* which is not there */
    assert_int_equal(state_of(&h, &h.frames[0]).iterations, 3);
    assert_int_equal(engine_counted().conditions, without);
    close_host(&h);
}

/* What only solves in mixed precision have. */
static void test_mixed_ends(void **state)
{
    (void)state;
    const wf_cg_params params = {
        .size = sizeof params, .max_iterations = MOST, .mixed = true, .tolerance = 1e-12};
    host h;
    bool others;
    open_host(&h, ENGINE_REQUIRED, WF_TYPE_F64, &params);
    frame *f = &h.frames[0];
    draw_b(&h, f);
    for (uint32_t indirect = 0; indirect < 2; indirect++) {
        const uint32_t way = indirect ? 0 : WF_SOLVE_CONDITIONAL;
        solve_once(&h, f, MOST, way);
        expect_frame(&h, f, 1e-12);
        const wf_solve_state cold = state_of(&h, f);
        assert_int_equal(cold.status, WF_CG_CONVERGED);
        assert_true(cold.refinements >= 2 && cold.iterations < MOST);
        if (sizes_seen(&h))
            assert_int_equal(groups_left(&h, &others), 0);
        solve_once(&h, f, MOST, way | WF_SOLVE_WARM); /* there is nothing left to do */
        assert_int_equal(state_of(&h, f).iterations, 0);
        assert_int_equal(state_of(&h, f).refinements, 0);
        expect_frame(&h, f, 1e-12);
    }
    for (uint32_t i = 0; i < ROWS; i++) /* the squares of the residual would be less than any f32 */
        put_element(&h, f->b, i, element(&h, f->b, i) * 1e-16);
    solve_once(&h, f, MOST, 0);
    expect_frame(&h, f, 1e-12);
    assert_int_equal(state_of(&h, f).status, WF_CG_CONVERGED);
    VkCommandBuffer commands = engine_begin(&h.e);
    const wf_bindings bindings = bindings_of(&h, f);
    test_expect_errors(true);
    assert_int_equal(wf_cg_record(h.cg, commands, f->arena, &bindings, 8, WF_SOLVE_CONTINUE),
                     WF_ERROR_UNSUPPORTED);
    test_expect_errors(false);
    engine_finish(&h.e, commands);
    memset(wf_buffer_mapped(f->b), 0, ROWS * 8 + 2 * h.align);
    solve_once(&h, f, MOST, WF_SOLVE_WARM);
    assert_int_equal(state_of(&h, f).status, WF_CG_CONVERGED);
    for (uint32_t i = 0; i < ROWS; i++)
        assert_true(x_at(&h, f, i) == 0);
    put_element(&h, f->b, 7, INFINITY);
    solve_once(&h, f, MOST, 0);
    assert_int_equal(state_of(&h, f).status, WF_CG_NOT_FINITE);
    close_host(&h);
}

static void test_zero_and_not_finite(void **state)
{
    (void)state;
    host h;
    open_host(&h, ENGINE_REQUIRED, WF_TYPE_F32, &plain);
    frame *f = &h.frames[0];
    float *b = (float *)((char *)wf_buffer_mapped(f->b) + h.align),
          *x = (float *)((char *)wf_buffer_mapped(f->x) + h.align);
    memset(b, 0, ROWS * sizeof *b);
    for (uint32_t i = 0; i < ROWS; i++)
        x[i] = 3;
    solve_once(&h, f, MOST, WF_SOLVE_WARM);
    assert_int_equal(state_of(&h, f).status, WF_CG_CONVERGED);
    assert_int_equal(state_of(&h, f).iterations, 0);
    for (uint32_t i = 0; i < ROWS; i++)
        assert_true(x_at(&h, f, i) == 0);
    b[5] = INFINITY;
    solve_once(&h, f, MOST, 0);
    assert_int_equal(state_of(&h, f).status, WF_CG_NOT_FINITE);
    close_host(&h);
}

static void expect_flags_refused(host *h, uint32_t count, uint32_t flags, const char *text)
{
    const wf_bindings bindings = bindings_of(h, &h->frames[0]);
    VkCommandBuffer commands = engine_begin(&h->e);
    test_last_error();
    test_expect_errors(true);
    assert_int_equal(wf_cg_record(h->cg, commands, h->frames[0].arena, &bindings, count, flags),
                     WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
    assert_non_null(strstr(test_last_error(), text));
    engine_finish(&h->e, commands);
}

static void test_refused_flags(void **state)
{
    (void)state;
    host h;
    open_host(&h, ENGINE_REQUIRED, WF_TYPE_F32, &plain);
    expect_flags_refused(&h, 5, WF_SOLVE_CONTINUE, "no solve was recorded");
    expect_flags_refused(&h, 5, 16, "flags 0x10");
    draw_b(&h, &h.frames[0]);
    solve_once(&h, &h.frames[0], MOST - 4, 0);
    expect_flags_refused(&h, 5, WF_SOLVE_CONTINUE, "5 iterations after 116");
    expect_flags_refused(&h, 4, WF_SOLVE_CONTINUE | WF_SOLVE_WARM, "WF_SOLVE_CONDITIONAL alone");
    solve_once(&h, &h.frames[0], 4, WF_SOLVE_CONTINUE);
    close_host(&h);
}

static void expect_refused(host *h, const wf_bindings *bindings, wf_arena *arena, uint32_t count,
                           wf_result code, const char *text)
{
    VkCommandBuffer commands = engine_begin(&h->e);
    test_last_error();
    test_expect_errors(true);
    assert_int_equal(wf_cg_record(h->cg, commands, arena, bindings, count, 0), code);
    test_expect_errors(false);
    assert_non_null(strstr(test_last_error(), text));
    engine_finish(&h->e, commands);
}

static void test_refusals(void **state)
{
    (void)state;
    host h;
    open_host(&h, ENGINE_REQUIRED, WF_TYPE_F32, &plain);
    const frame *f = &h.frames[0];
    wf_bindings bindings = bindings_of(&h, f);
    expect_refused(&h, &bindings, NULL, 5, WF_ERROR_INVALID_ARGUMENT, "an arena");
    expect_refused(&h, &bindings, f->arena, MOST + 1, WF_ERROR_INVALID_ARGUMENT,
                   "there may be 1 to 120");
    bindings.items[WF_CG_STATE].bytes = 8;
    expect_refused(&h, &bindings, f->arena, 5, WF_ERROR_BINDING, "binding state has 8 bytes");
    bindings = bindings_of(&h, f);
    bindings.items[WF_CG_X].bytes -= 4;
    expect_refused(&h, &bindings, f->arena, 5, WF_ERROR_BINDING, "binding x has");
    bindings.items[WF_CG_X] = bindings.items[WF_CG_STATE];
    bindings.items[WF_CG_X].bytes = 0;
    expect_refused(&h, &bindings, f->arena, 5, WF_ERROR_BINDING, "binding x has");
    close_host(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_with_push_descriptors),
        cmocka_unit_test(test_frames_without),
        cmocka_unit_test(test_preconditioners),
        cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_nothing_runs_behind_the_end),
        cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_mixed_ends),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_condition),
        cmocka_unit_test(test_zero_and_not_finite),
        cmocka_unit_test(test_refused_flags),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
