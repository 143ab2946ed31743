/* Laplace's equation recorded into a frame's command buffer: results against the host's residual in
 * every frame, the state, dispatches behind the end that have no work-groups, and what surrounds
 * the grid. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "harness.h"
#include "solve/laplace.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { NX = 41, NY = 27, CELLS = NX * NY, MOST = 960, EVERY = 8 };

typedef struct host {
    engine e;
    wf_device *device;
    wf_laplace *laplace;
    wf_arena *arena;
    wf_buffer *u, *state; /* with NaN around them */
    uint64_t align;       /* bytes in front of them */
    wf_type type;
    test_random random;
} host;

static void open_host(host *h, engine_features features, const wf_laplace_params *params)
{
    wf_vulkan vulkan;
    *h = (host){.random = {test_seed()}, .type = params->type};
    engine_open(&h->e, features, &vulkan);
    vulkan.queue = VK_NULL_HANDLE;
    h->device = engine_adopt(&vulkan);
    h->align = wf_device_caps(h->device)->storage_alignment;
    h->align = h->align > 64 ? h->align : 64;
    assert_int_equal(wf_laplace_create(h->device, params, &h->laplace), WF_SUCCESS);
    assert_int_equal(wf_arena_create(h->device, &h->arena), WF_SUCCESS);
    const uint64_t bytes[2] = {CELLS * wf_type_size(h->type), sizeof(wf_solve_state)};
    wf_buffer **const buffers[2] = {&h->u, &h->state};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            wf_buffer_create(h->device, bytes[i] + 2 * h->align, WF_MEMORY_UPLOAD, buffers[i]),
            WF_SUCCESS);
        memset(wf_buffer_mapped(*buffers[i]), 255, bytes[i] + 2 * h->align);
    }
    VkCommandBuffer commands = engine_begin(&h->e);
    assert_int_equal(wf_laplace_record_upload(h->laplace, commands), WF_SUCCESS);
    engine_finish(&h->e, commands);
    assert_false(wf_laplace_needs_upload(h->laplace));
    wf_laplace_trim(h->laplace);
}

static void close_host(host *h)
{
    wf_laplace_destroy(&h->laplace);
    wf_arena_destroy(&h->arena);
    wf_buffer_destroy(&h->u);
    wf_buffer_destroy(&h->state);
    wf_device_destroy(&h->device);
    engine_close(&h->e);
}

static void *cells_of(const host *h)
{
    return (char *)wf_buffer_mapped(h->u) + h->align;
}

static double u_at(const host *h, uint32_t x, uint32_t y)
{
    return wf_element_get(h->type, cells_of(h), y * (size_t)NX + x);
}

static wf_solve_state state_of(const host *h)
{
    wf_solve_state state;
    memcpy(&state, (const char *)wf_buffer_mapped(h->state) + h->align, sizeof state);
    return state;
}

static bool is_inner(uint32_t x, uint32_t y)
{
    return x > 0 && y > 0 && x + 1 < NX && y + 1 < NY;
}

/* Draws the border; the inner cells are NaN unless `inner` is given. */
static void draw(host *h, bool zero_border, const double *inner)
{
    for (uint32_t y = 0; y < NY; y++)
        for (uint32_t x = 0; x < NX; x++) {
            const double border = zero_border ? 0 : test_random_uniform(&h->random);
            wf_element_set(h->type, cells_of(h), y * (size_t)NX + x,
                           !is_inner(x, y) ? border
                           : inner         ? *inner
                                           : (double)NAN);
        }
}

static wf_bindings bindings_of(const host *h)
{
    return (wf_bindings){.size = sizeof(wf_bindings),
                         .items = {[WF_LAPLACE_U] = {.buffer = h->u,
                                                     .offset = h->align,
                                                     .bytes = CELLS * wf_type_size(h->type)},
                                   [WF_LAPLACE_STATE] = {.buffer = h->state,
                                                         .offset = h->align,
                                                         .bytes = sizeof(wf_solve_state)}}};
}

/* With `again` the solve is recorded twice, and the second begins from what the first left. */
static void solve(host *h, uint32_t iterations, uint32_t flags, bool again)
{
    const wf_bindings bindings = bindings_of(h);
    VkCommandBuffer commands = engine_begin(&h->e);
    assert_int_equal(
        wf_laplace_record(h->laplace, commands, h->arena, &bindings, iterations, flags),
        WF_SUCCESS);
    if (again)
        assert_int_equal(wf_laplace_record(h->laplace, commands, h->arena, &bindings, iterations,
                                           flags | WF_SOLVE_WARM),
                         WF_SUCCESS);
    engine_finish(&h->e, commands);
    assert_int_equal(wf_arena_reset(h->arena), WF_SUCCESS);
}

/* |r| / |b| by the host. */
static double residual_of(const host *h)
{
    double squares = 0, norm = 0;
    for (uint32_t y = 1; y + 1 < NY; y++)
        for (uint32_t x = 1; x + 1 < NX; x++) {
            const uint32_t to[4][2] = {{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}};
            double r = -4 * u_at(h, x, y), b = 0;
            for (int i = 0; i < 4; i++) {
                r += u_at(h, to[i][0], to[i][1]);
                b += is_inner(to[i][0], to[i][1]) ? 0 : u_at(h, to[i][0], to[i][1]);
            }
            squares += r * r;
            norm += b * b;
        }
    return sqrt(squares / norm);
}

static void expect_surroundings(const host *h, const wf_buffer *buffer, uint64_t bytes)
{
    const unsigned char *all = wf_buffer_mapped(buffer);
    for (uint64_t i = 0; i < h->align; i++) {
        assert_int_equal(all[i], 255);
        assert_int_equal(all[h->align + bytes + i], 255);
    }
}

static void expect_solution(const host *h, wf_laplace_status status, double tolerance)
{
    const wf_solve_state state = state_of(h);
    const double found = residual_of(h);
    /* Values up to 1, eight of them in a residual, over |b| of about the root of the border. */
    const double rounding = (h->type == WF_TYPE_F64 ? 0x1p-53 : 0x1p-24) * 16 * CELLS;
    assert_int_equal(state.status, (uint32_t)status);
    assert_int_equal(state.iterations % EVERY, 0);
    assert_int_equal(state.refinements, 0);
    assert_true(fabs(found - (double)state.residual) <= rounding + 1e-5 * found);
    if (status == WF_LAPLACE_CONVERGED)
        assert_true(found <= tolerance + rounding);
    expect_surroundings(h, h->u, CELLS * wf_type_size(h->type));
    expect_surroundings(h, h->state, sizeof(wf_solve_state));
}

/* Whether the host sees the sizes of dispatches: memory of CPU drivers is unified. */
static bool sizes_seen(const host *h)
{
    return wf_buffer_mapped(h->laplace->l.state) != NULL;
}

static uint32_t groups_left(const host *h)
{
    const wfi_laplace *l = &h->laplace->l;
    const char *state = wf_buffer_mapped(l->state);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < l->sizes; i++) {
        VkDispatchIndirectCommand size;
        memcpy(&size, state + wfi_laplace_sizes_at(l) + i * sizeof size, sizeof size);
        assert_true(size.y > 0 && size.z > 0);
        sum += size.x;
    }
    return sum;
}

static void run(engine_features features, wf_laplace_method method, wf_type type)
{
    const double tolerance = type == WF_TYPE_F64 ? 1e-9 : 1e-4, zero = 3;
    const wf_laplace_params params = {.size = sizeof params,
                                      .nx = NX,
                                      .ny = NY,
                                      .type = type,
                                      .method = method,
                                      .tolerance = tolerance,
                                      .max_iterations = 4 * MOST,
                                      .check_every = EVERY};
    const uint32_t enough = method == WF_LAPLACE_SOR ? MOST / 2 : 4 * MOST;
    host h;
    open_host(&h, features, &params);
    draw(&h, false, NULL);
    solve(&h, 20, WF_SOLVE_CONDITIONAL, false); /* the number is rounded up; too few to converge */
    assert_int_equal(state_of(&h).iterations, 24);
    expect_solution(&h, WF_LAPLACE_MAX_ITERATIONS, 0);
    assert_true(!sizes_seen(&h) || groups_left(&h) >= h.laplace->l.sizes);
    const double first = residual_of(&h);
    solve(&h, 3, WF_SOLVE_WARM, true); /* two recordings that go on */
    expect_solution(&h, WF_LAPLACE_MAX_ITERATIONS, 0);
    assert_true(residual_of(&h) < first);
    if (type != WF_TYPE_F64 || method == WF_LAPLACE_SOR) {
        solve(&h, enough, 0, false);
        expect_solution(&h, WF_LAPLACE_CONVERGED, tolerance);
        assert_true(state_of(&h).iterations < enough);
        assert_true(!sizes_seen(&h) || groups_left(&h) == 0);
        solve(&h, 2 * EVERY, WF_SOLVE_WARM | WF_SOLVE_FIXED, false);
        assert_int_equal(state_of(&h).iterations, 2 * EVERY);
        expect_solution(&h, WF_LAPLACE_MAX_ITERATIONS, 0);
    }
    draw(&h, true, &zero); /* a border of zeros */
    solve(&h, EVERY, WF_SOLVE_WARM, false);
    assert_int_equal(state_of(&h).status, WF_LAPLACE_CONVERGED);
    for (uint32_t i = 0; i < CELLS; i++)
        assert_true(wf_element_get(type, cells_of(&h), i) == 0);
    wf_element_set(type, cells_of(&h), NX / 2, INFINITY);
    solve(&h, EVERY, 0, false);
    assert_int_equal(state_of(&h).status, WF_LAPLACE_NOT_FINITE);
    close_host(&h);
}

/* A solve in chunks gives the bits of one that is recorded whole, with conditional rendering or
 * without. */
static void run_chunks(wf_laplace_method method, bool conditional)
{
    const double tolerance = method == WF_LAPLACE_SOR ? 1e-4 : 1e-2;
    const wf_laplace_params params = {.size = sizeof params,
                                      .nx = NX,
                                      .ny = NY,
                                      .method = method,
                                      .tolerance = tolerance,
                                      .max_iterations = MOST,
                                      .check_every = EVERY};
    const uint32_t flags = conditional ? WF_SOLVE_CONDITIONAL : 0, chunk = 3 * EVERY;
    float whole[CELLS];
    host h;
    open_host(&h, ENGINE_REQUIRED, &params);
    const bool blocks = conditional && wf_device_caps(h.device)->conditional_rendering;
    const unsigned before = engine_counted().conditions;
    draw(&h, false, NULL);
    solve(&h, MOST, flags, false);
    expect_solution(&h, WF_LAPLACE_CONVERGED, tolerance);
    assert_int_equal(engine_counted().conditions - before, blocks ? MOST / EVERY : 0);
    memcpy(whole, cells_of(&h), sizeof whole);
    const wf_solve_state expected = state_of(&h);
    uint32_t made = chunk;
    solve(&h, chunk, flags, false);
    for (; made < expected.iterations; made += chunk) {
        assert_int_equal(state_of(&h).iterations, made);
        expect_solution(&h, WF_LAPLACE_MAX_ITERATIONS, 0);
        solve(&h, chunk, flags | WF_SOLVE_CONTINUE, false);
    }
    assert_true(made >= 2 * chunk);
    solve(&h, chunk, flags | WF_SOLVE_CONTINUE, false); /* finds nothing to do */
    const wf_solve_state told = state_of(&h);
    assert_memory_equal(&told, &expected, sizeof told);
    assert_memory_equal(cells_of(&h), whole, sizeof whole);
    assert_true(!sizes_seen(&h) || groups_left(&h) == 0);
    close_host(&h);
}

static void test_chunks(void **state)
{
    (void)state;
    for (int conditional = 0; conditional < 2; conditional++) {
        run_chunks(WF_LAPLACE_SOR, conditional);
        run_chunks(WF_LAPLACE_JACOBI, conditional);
    }
}

static void test_sor(void **state)
{
    (void)state;
    run(ENGINE_REQUIRED, WF_LAPLACE_SOR, WF_TYPE_F32);
}

static void test_sor_without_push_descriptors(void **state)
{
    (void)state;
    run(ENGINE_NOTHING, WF_LAPLACE_SOR, WF_TYPE_F32);
}

static void test_jacobi(void **state)
{
    (void)state;
    run(ENGINE_REQUIRED, WF_LAPLACE_JACOBI, WF_TYPE_F32);
}

static void test_doubles(void **state)
{
    if (!test_has_type(*state, WF_TYPE_F64))
        skip();
    run(ENGINE_REQUIRED, WF_LAPLACE_SOR, WF_TYPE_F64);
    run(ENGINE_REQUIRED, WF_LAPLACE_JACOBI, WF_TYPE_F64);
}

static void test_refusals(void **state)
{
    (void)state;
    const wf_laplace_params params = {
        .size = sizeof params, .nx = NX, .ny = NY, .max_iterations = 40, .check_every = EVERY};
    host h;
    open_host(&h, ENGINE_REQUIRED, &params);
    wf_bindings bindings = bindings_of(&h);
    VkCommandBuffer commands = engine_begin(&h.e);
    test_expect_errors(true);
    assert_int_equal(wf_laplace_record(h.laplace, commands, NULL, &bindings, 8, 0),
                     WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_laplace_record(h.laplace, commands, h.arena, &bindings, 41, 0),
                     WF_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(test_last_error(), "there may be 1 to 40"));
    assert_int_equal(
        wf_laplace_record(h.laplace, commands, h.arena, &bindings, 8, WF_SOLVE_CONTINUE),
        WF_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(test_last_error(), "no solve was recorded before"));
    bindings.items[WF_LAPLACE_U].bytes -= 4;
    assert_int_equal(wf_laplace_record(h.laplace, commands, h.arena, &bindings, 8, 0),
                     WF_ERROR_BINDING);
    assert_non_null(strstr(test_last_error(), "binding u has"));
    test_expect_errors(false);
    engine_finish(&h.e, commands);
    close_host(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sor),    cmocka_unit_test(test_sor_without_push_descriptors),
        cmocka_unit_test(test_jacobi), cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_chunks), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
