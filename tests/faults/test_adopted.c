/* Plans and solves on an application's device whose driver fails: each call that wavefit makes, by
 * each code that it may return, and each allocation of wavefit's. A call of wavefit's then returns
 * an error with a text in the log, or what it computes is right to the bit, and no Vulkan object
 * and no allocation stays behind. Without WAVEFIT_ALL_FAULTS a sample is drawn by test_seed, of
 * which a turn of CI's has a third. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine.h"
#include "faults/allocations.h"
#include "faults/faulty.h"
#include "harness.h"

#include "core/platform.h"
#include "profiles/spmv.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { SAMPLE = 150, SIDE = 12, ROWS = SIDE * SIDE, MOST_BYTES = 4096, BUFFERS = 5 };

static faulty *driver;

/* An application that opens a device of wavefit's, works with it and closes it. */
typedef struct scene {
    engine e;
    wf_vulkan vulkan;
    wf_device *device;
    wf_arena *arena;
    wf_plan *plan;
    wf_buffer *buffers[BUFFERS];
    wf_bindings bindings;
    uint32_t bytes[BUFFERS]; /* of each */
    uint8_t result[MOST_BYTES];
    uint32_t result_bytes;
    unsigned allocations; /* of wavefit's, in the last run */
} scene;

/* What wavefit calls fails; what the application calls does not. */
static void faults_go_on(bool on)
{
    atomic_store(&driver->on, on);
}

/* The device is said to analyse every matrix in its memory faster than the host. */
const wfi_spmv_profile *__real_wfi_spmv_profile_of(const wf_caps *caps);
const wfi_spmv_profile *__wrap_wfi_spmv_profile_of(const wf_caps *caps);

const wfi_spmv_profile *__wrap_wfi_spmv_profile_of(const wf_caps *caps)
{
    static wfi_spmv_profile changed;
    changed = *__real_wfi_spmv_profile_of(caps);
    changed.device_entries = 1;
    return &changed;
}

/* ------------------------------------------------------------------------------ what scenes do */

#define TRY(call)                                                                                  \
    do {                                                                                           \
        const wf_result tried = (call);                                                            \
        if (tried != WF_SUCCESS)                                                                   \
            return tried;                                                                          \
    } while (0)

static wf_result open_scene(scene *s, uint32_t count, const uint32_t *floats)
{
    const wf_device_params params = engine_params();
    TRY(wf_device_adopt(&s->vulkan, &params, &s->device));
    TRY(wf_arena_create(s->device, &s->arena));
    s->bindings = (wf_bindings){.size = sizeof s->bindings};
    for (uint32_t i = 0; i < count; i++) {
        s->bytes[i] = floats[i] * (uint32_t)sizeof(float);
        TRY(wf_buffer_create(s->device, s->bytes[i], WF_MEMORY_UPLOAD, &s->buffers[i]));
        s->bindings.items[i].buffer = s->buffers[i];
        float *at = wf_buffer_mapped(s->buffers[i]);
        for (uint32_t n = 0; at && n < floats[i]; n++)
            at[n] = (float)(n * 7 % 31) / 32 - 0.25f;
    }
    return WF_SUCCESS;
}

static void close_scene(scene *s)
{
    wf_plan_destroy(&s->plan);
    for (int i = 0; i < BUFFERS; i++)
        wf_buffer_destroy(&s->buffers[i]);
    wf_arena_destroy(&s->arena);
    wf_device_destroy(&s->device);
}

static void keep_result(scene *s, uint32_t binding)
{
    s->result_bytes = s->bytes[binding];
    memcpy(s->result, wf_buffer_mapped(s->buffers[binding]), s->result_bytes);
}

static VkCommandBuffer begin(scene *s)
{
    faults_go_on(false);
    VkCommandBuffer commands = engine_begin(&s->e);
    faults_go_on(true);
    return commands;
}

static void finish(scene *s, VkCommandBuffer commands)
{
    faults_go_on(false);
    engine_finish(&s->e, commands);
    faults_go_on(true);
}

/* Records the plan, with its upload, into a command buffer of the application's. An application
 * submits what was recorded before a failure, or throws it away: here it is submitted. */
static wf_result record(scene *s)
{
    VkCommandBuffer commands = begin(s);
    wf_result result = WF_SUCCESS;
    if (wf_plan_needs_upload(s->plan))
        result = wf_plan_record_upload(s->plan, commands);
    if (result == WF_SUCCESS)
        result = wf_plan_record(s->plan, commands, s->arena, &s->bindings);
    finish(s, commands);
    return result;
}

static wf_result product(scene *s)
{
    const wf_matmul_params params = {.size = sizeof params, .m = 20, .n = 24, .k = 16};
    TRY(open_scene(s, 3, (const uint32_t[]){20 * 16, 16 * 24, 20 * 24}));
    TRY(wf_matmul_plan(s->device, &params, &s->plan));
    TRY(record(s));
    keep_result(s, 2);
    return WF_SUCCESS;
}

static uint32_t offsets[ROWS + 1], columns[5 * ROWS];
static float values[5 * ROWS];

static wf_spmv_params matrix(void)
{
    uint32_t at = 0;
    for (uint32_t row = 0; row < ROWS; row++) {
        const uint32_t x = row % SIDE, y = row / SIDE;
        const struct {
            bool there;
            int64_t column;
        } entries[] = {{y > 0, (int64_t)row - SIDE},
                       {x > 0, (int64_t)row - 1},
                       {true, row},
                       {x + 1 < SIDE, row + 1},
                       {y + 1 < SIDE, row + SIDE}};
        offsets[row] = at;
        for (int i = 0; i < 5; i++)
            if (entries[i].there) {
                columns[at] = (uint32_t)entries[i].column;
                values[at++] = i == 2 ? 4.5f : -1.0f;
            }
    }
    offsets[ROWS] = at;
    return (wf_spmv_params){.size = sizeof(wf_spmv_params),
                            .rows = ROWS,
                            .columns = ROWS,
                            .row_offsets = offsets,
                            .column_indices = columns,
                            .values = values,
                            .updatable = true};
}

static wf_result sparse_product(scene *s)
{
    const wf_spmv_params params = matrix();
    TRY(open_scene(s, 3, (const uint32_t[]){ROWS, ROWS, 5 * ROWS}));
    TRY(wf_spmv_plan(s->device, &params, &s->plan));
    TRY(record(s));
    const wf_binding changed = {.buffer = s->buffers[2]};
    VkCommandBuffer commands = begin(s);
    wf_result result = wf_spmv_record_update(s->plan, commands, s->arena, &changed);
    if (result == WF_SUCCESS)
        result = wf_plan_record(s->plan, commands, s->arena, &s->bindings);
    finish(s, commands);
    TRY(result);
    keep_result(s, 1);
    return WF_SUCCESS;
}

/* With the matrix of matrix() in buffers 2 to 4. */
static wf_result open_lent(scene *s, wf_spmv_params *params, wf_spmv_buffers *lent)
{
    TRY(open_scene(s, 5, (const uint32_t[]){ROWS, ROWS, ROWS + 1, 5 * ROWS, 5 * ROWS}));
    *params = matrix();
    memcpy(wf_buffer_mapped(s->buffers[2]), offsets, sizeof offsets);
    memcpy(wf_buffer_mapped(s->buffers[3]), columns, offsets[ROWS] * sizeof *columns);
    memcpy(wf_buffer_mapped(s->buffers[4]), values, offsets[ROWS] * sizeof *values);
    *lent = (wf_spmv_buffers){sizeof *lent,
                              {.buffer = s->buffers[2]},
                              {.buffer = s->buffers[3]},
                              {.buffer = s->buffers[4]}};
    params->row_offsets = params->column_indices = NULL;
    params->values = NULL;
    params->buffers = lent;
    for (int i = 2; i < 5; i++)
        s->bindings.items[i] = (wf_binding){.buffer = NULL};
    return WF_SUCCESS;
}

/* A matrix in buffers, which the device analyses and converts. */
static wf_result analysed(scene *s)
{
    wf_spmv_params params;
    wf_spmv_buffers lent;
    TRY(open_lent(s, &params, &lent));
    TRY(wf_spmv_plan(s->device, &params, &s->plan));
    TRY(record(s));
    keep_result(s, 1);
    return WF_SUCCESS;
}

static wf_result stencil(scene *s)
{
    const double coefficients[5] = {-4, 1, 1, 1, 1};
    const wf_stencil_params params = {
        .size = sizeof params, .nx = 24, .ny = 20, .coefficients = coefficients, .steps = 3};
    TRY(open_scene(s, 3, (const uint32_t[]){24 * 20, 24 * 20, 4 * 24 * 20}));
    TRY(wf_stencil_plan(s->device, &params, &s->plan));
    if (wf_plan_workspace(s->plan))
        s->bindings.workspace = (wf_binding){.buffer = s->buffers[2]};
    s->bindings.items[2] = (wf_binding){.buffer = NULL};
    TRY(record(s));
    keep_result(s, 1);
    return WF_SUCCESS;
}

static wf_result recorded_cg(scene *s)
{
    const wf_spmv_params params = matrix();
    const wf_cg_params solve = {.size = sizeof solve, .matrix = &params, .max_iterations = 40};
    wf_cg *cg = NULL;
    TRY(open_scene(s, 3, (const uint32_t[]){ROWS, ROWS, sizeof(wf_solve_state) / sizeof(float)}));
    TRY(wf_cg_create(s->device, &solve, &cg));
    VkCommandBuffer commands = begin(s);
    wf_result result = wf_cg_record_upload(cg, commands);
    if (result == WF_SUCCESS)
        result = wf_cg_record(cg, commands, s->arena, &s->bindings, 40, 0);
    finish(s, commands);
    wf_cg_destroy(&cg);
    TRY(result);
    keep_result(s, 1);
    return WF_SUCCESS;
}

static wf_result recorded_laplace(scene *s)
{
    const wf_laplace_params solve = {
        .size = sizeof solve, .nx = 24, .ny = 20, .max_iterations = 64, .check_every = 16};
    wf_laplace *laplace = NULL;
    TRY(open_scene(s, 2, (const uint32_t[]){24 * 20, sizeof(wf_solve_state) / sizeof(float)}));
    TRY(wf_laplace_create(s->device, &solve, &laplace));
    VkCommandBuffer commands = begin(s);
    wf_result result = wf_laplace_record_upload(laplace, commands);
    if (result == WF_SUCCESS)
        result = wf_laplace_record(laplace, commands, s->arena, &s->bindings, 64, 0);
    finish(s, commands);
    wf_laplace_destroy(&laplace);
    TRY(result);
    keep_result(s, 0);
    return WF_SUCCESS;
}

/* One behind which the host waits for it alone, several times in each submission slot. */
static wf_result marked(scene *s, wf_queue *queue)
{
    uint64_t number = 0;
    wf_result result = WF_SUCCESS;
    for (int i = 0; i < 6 && result == WF_SUCCESS; i++) {
        TRY(wf_queue_hold(queue));
        TRY(wf_queue_run(queue, s->plan, &s->bindings, &number));
        TRY(wf_queue_mark(queue));
        TRY(wf_queue_run(queue, s->plan, &s->bindings, NULL));
        TRY(wf_queue_submit(queue));
        result = wf_queue_wait(queue, number);
    }
    return result;
}

/* What uses the lent queue: executions one by one and queued, and copies. */
static wf_result queued(scene *s)
{
    const wf_matmul_params params = {.size = sizeof params, .m = 20, .n = 24, .k = 16};
    wf_queue *queue = NULL;
    wf_result result = open_scene(s, 3, (const uint32_t[]){20 * 16, 16 * 24, 20 * 24});
    TRY(result);
    TRY(wf_matmul_plan(s->device, &params, &s->plan));
    TRY(wf_plan_run(s->plan, &s->bindings));
    TRY(wf_queue_create(s->device, &queue));
    for (int i = 0; i < 4 && result == WF_SUCCESS; i++)
        result = wf_queue_run(queue, s->plan, &s->bindings, NULL);
    if (result == WF_SUCCESS)
        result = wf_queue_wait(queue, 0);
    if (result == WF_SUCCESS)
        result = marked(s, queue);
    if (result == WF_SUCCESS)
        result = wf_queue_wait(queue, 0);
    wf_queue_destroy(&queue);
    TRY(result);
    TRY(wf_buffer_fill(s->buffers[0], 0, 64, 0x3f800000));
    TRY(wf_plan_run(s->plan, &s->bindings));
    s->result_bytes = s->bytes[2];
    return wf_buffer_read(s->buffers[2], 0, s->result, s->result_bytes);
}

/* The solvers that block. */
static wf_result solved(scene *s)
{
    const wf_spmv_params params = matrix();
    const wf_cg_params cg = {.size = sizeof cg, .matrix = &params, .tolerance = 1e-4};
    const wf_laplace_params laplace = {
        .size = sizeof laplace, .nx = 24, .ny = 20, .tolerance = 1e-3};
    const wf_himeno_params grid = {.size = sizeof grid, .ni = 9, .nj = 9, .nk = 9};
    static float b[ROWS], x[ROWS], u[24 * 20], p[9 * 9 * 9];
    wf_cg_result cg_result;
    wf_laplace_result laplace_result = {.size = sizeof laplace_result};
    wf_himeno *himeno = NULL;
    for (int i = 0; i < ROWS; i++)
        b[i] = (float)(i % 5);
    for (int i = 0; i < 24 * 20; i++)
        u[i] = (float)(i % 3);
    TRY(open_scene(s, 0, NULL));
    TRY(wf_cg_solve(s->device, &cg, b, x, &cg_result));
    TRY(wf_laplace_solve(s->device, &laplace, u, &laplace_result));
    TRY(wf_himeno_create(s->device, &grid, &himeno));
    float gosa = 0;
    wf_result result = wf_himeno_start(himeno);
    if (result == WF_SUCCESS)
        result = wf_himeno_run(himeno, 3, &gosa, NULL, NULL);
    if (result == WF_SUCCESS)
        result = wf_himeno_read(himeno, p);
    wf_himeno_destroy(&himeno);
    TRY(result);
    assert_int_equal(cg_result.status, WF_CG_CONVERGED);
    assert_int_equal(laplace_result.status, WF_LAPLACE_CONVERGED);
    memcpy(s->result, x, sizeof x);
    memcpy(s->result + sizeof x, u, sizeof u);
    s->result_bytes = sizeof x + sizeof u;
    return WF_SUCCESS;
}

/* A device of wavefit's own, and memory that others can have. */
static wf_result opened(scene *s)
{
    const wf_device_params params = engine_params();
    enum { FLOATS = 64 };
    TRY(wf_device_create(&params, &s->device));
    TRY(wf_buffer_create(s->device, FLOATS * sizeof(float), WF_MEMORY_DEVICE, &s->buffers[0]));
    if (wf_device_caps(s->device)->memory_fds) {
        int fd = -1;
        uint64_t bytes = 0;
        TRY(wf_buffer_create_exportable(s->device, FLOATS * sizeof(float), &s->buffers[1]));
        TRY(wf_buffer_export_fd(s->buffers[1], &fd, &bytes));
        close(fd);
    }
    TRY(wf_buffer_fill(s->buffers[0], 0, FLOATS * sizeof(float), 0x3f800000));
    s->result_bytes = FLOATS * sizeof(float);
    return wf_buffer_read(s->buffers[0], 0, s->result, s->result_bytes);
}

/* ----------------------------------------------------------------------------------- the faults */

typedef struct fault {
    int call; /* -1: an allocation */
    unsigned at;
    VkResult code;
} fault;

typedef struct ends {
    unsigned well, told;
} ends;

/* One run of the scene with the fault; whether it fails. */
static wf_result run(scene *s, wf_result (*act)(scene *), const fault *f)
{
    for (int i = 0; i < FAULTY_CALLS; i++)
        atomic_store(&driver->count[i], 0);
    driver->call = f->call;
    driver->at = f->call >= 0 ? f->at : 0;
    driver->code = f->code;
    memset(s->result, 0xff, sizeof s->result);
    test_last_error();
    faults_go_on(true);
    faulty_allocations(true, f->call < 0 ? f->at : 0);
    const wf_result result = act(s);
    close_scene(s);
    s->allocations = faulty_allocations(false, 0);
    faults_go_on(false);
    return result;
}

static void expect_nothing_left(const int *alive, int allocated, const fault *f)
{
    const char *name = f->call < 0 ? "an allocation" : driver->calls[f->call].name;
    for (int i = 0; i < FAULTY_OBJECTS; i++)
        if (atomic_load(&driver->alive[i]) != alive[i])
            fail_msg("%s, call %u, code %d: %d objects left of kind %s", name, f->at, f->code,
                     atomic_load(&driver->alive[i]) - alive[i], driver->objects[i]);
    if (faulty_allocated() != allocated)
        fail_msg("%s, call %u, code %d: %d allocations left", name, f->at, f->code,
                 faulty_allocated() - allocated);
}

static unsigned list_faults(unsigned allocations, fault **out)
{
    unsigned count = 0, room = allocations;
    for (int i = 0; i < FAULTY_CALLS; i++)
        room += atomic_load(&driver->count[i]) * FAULTY_MOST_CODES;
    *out = calloc(room, sizeof **out);
    assert_non_null(*out);
    for (int i = 0; i < FAULTY_CALLS; i++)
        for (unsigned n = 1; n <= atomic_load(&driver->count[i]); n++)
            for (int c = 0; c < FAULTY_MOST_CODES && driver->calls[i].codes[c] != VK_SUCCESS; c++)
                (*out)[count++] = (fault){i, n, driver->calls[i].codes[c]};
    for (unsigned n = 1; n <= allocations; n++)
        (*out)[count++] = (fault){-1, n, VK_SUCCESS};
    return count;
}

/* As Fisher and Yates do. */
static void shuffle(fault *list, unsigned count)
{
    test_random random = {test_seed()};
    for (unsigned i = count; i > 1; i--) {
        const unsigned other = test_random_below(&random, i);
        const fault kept = list[i - 1];
        list[i - 1] = list[other];
        list[other] = kept;
    }
}

static void fail_each(const char *name, wf_result (*act)(scene *), bool has_queue, unsigned sample)
{
    static scene s;
    static uint8_t right[MOST_BYTES];
    const fault none = {-1, 0, VK_SUCCESS};
    fault *list = NULL;
    int alive[FAULTY_OBJECTS];
    ends end = {0, 0};
    engine_open(&s.e, ENGINE_REQUIRED, &s.vulkan);
    if (!has_queue)
        s.vulkan.queue = VK_NULL_HANDLE;
    assert_int_equal(run(&s, act, &none), WF_SUCCESS);
    memcpy(right, s.result, sizeof right);
    assert_int_equal(run(&s, act, &none), WF_SUCCESS);
    assert_memory_equal(s.result, right, s.result_bytes);
    for (int i = 0; i < FAULTY_OBJECTS; i++)
        alive[i] = atomic_load(&driver->alive[i]);
    assert_int_equal(run(&s, act, &none), WF_SUCCESS);
    unsigned count = list_faults(s.allocations, &list);
    const int allocated = faulty_allocated();
    const unsigned all = count;
    if (!getenv("WAVEFIT_ALL_FAULTS")) {
        shuffle(list, count);
        count = count < sample ? count : sample;
    }
    test_expect_errors(true);
    unsigned made = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!test_has_turn(i))
            continue;
        const wf_result result = run(&s, act, &list[i]);
        made++;
        if (result == WF_SUCCESS)
            assert_memory_equal(s.result, right, s.result_bytes);
        else
            assert_true(*test_last_error());
        end.well += result == WF_SUCCESS;
        end.told += result != WF_SUCCESS;
        expect_nothing_left(alive, allocated, &list[i]);
    }
    test_expect_errors(false);
    printf("%s: %u of %u faults: %u right results, %u errors\n", name, made, all, end.well,
           end.told);
    assert_true(end.told > 0);
    free(list);
    engine_close(&s.e);
}

static unsigned pools_made(void)
{
    return atomic_load(&driver->count[FAULTY_vkCreateDescriptorPool]);
}

static wf_result analyse(scene *s, const wf_spmv_params *params)
{
    wf_plan *plan = NULL;
    const wf_result result = wf_spmv_plan(s->device, params, &plan);
    wf_plan_destroy(&plan);
    return result;
}

static void lose_next_submission(void)
{
    driver->call = FAULTY_vkQueueSubmit;
    driver->at = atomic_load(&driver->count[FAULTY_vkQueueSubmit]) + 1;
    driver->code = VK_ERROR_DEVICE_LOST;
    driver->stays = true;
}

static void find_the_device(void)
{
    driver->at = 0;
    driver->stays = false;
    atomic_store(&driver->is_lost, false);
}

/* An analysis uses the descriptor sets of the one before, unless the driver did not say that its
 * work has ended: those the device may still read, and the next one makes its own. */
static void test_sets_of_lost_work(void **state)
{
    (void)state;
    static scene s;
    wf_spmv_params params;
    wf_spmv_buffers lent;
    engine_open(&s.e, ENGINE_REQUIRED, &s.vulkan);
    assert_int_equal(open_lent(&s, &params, &lent), WF_SUCCESS);
    faults_go_on(true);
    assert_int_equal(analyse(&s, &params), WF_SUCCESS);
    const unsigned made = pools_made();
    assert_true(made > 0);
    assert_int_equal(analyse(&s, &params), WF_SUCCESS);
    assert_int_equal(pools_made(), made);
    lose_next_submission();
    test_expect_errors(true);
    assert_int_equal(analyse(&s, &params), WF_ERROR_DEVICE_LOST);
    assert_int_equal(pools_made(), made);
    assert_int_equal(analyse(&s, &params), WF_ERROR_DEVICE_LOST);
    assert_true(pools_made() > made);
    test_expect_errors(false);
    find_the_device();
    close_scene(&s);
    faults_go_on(false);
    engine_close(&s.e);
}

#define SCENE(name, has_queue, sample)                                                             \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        fail_each(#name, name, has_queue, sample);                                                 \
    }
SCENE(product, false, SAMPLE / 2)
SCENE(sparse_product, false, SAMPLE / 2)
SCENE(analysed, true, SAMPLE / 2)
SCENE(stencil, false, SAMPLE / 2)
SCENE(recorded_cg, false, SAMPLE)
SCENE(recorded_laplace, false, SAMPLE)
SCENE(queued, true, SAMPLE)
SCENE(solved, true, SAMPLE)
SCENE(opened, false, SAMPLE / 2)

/* usage: test_faults_adopted [TEST]   one of those below */
int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const char *path = getenv("WAVEFIT_FAULTY_DRIVER");
    void *library = path ? wfi_library_open(path) : NULL;
    const faulty_fn state = library ? (faulty_fn)wfi_library_symbol(library, FAULTY_SYMBOL) : NULL;
    if (!state)
        return 1;
    driver = state();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product),          cmocka_unit_test(test_sparse_product),
        cmocka_unit_test(test_stencil),          cmocka_unit_test(test_recorded_cg),
        cmocka_unit_test(test_recorded_laplace), cmocka_unit_test(test_queued),
        cmocka_unit_test(test_solved),           cmocka_unit_test(test_opened),
        cmocka_unit_test(test_analysed),         cmocka_unit_test(test_sets_of_lost_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
