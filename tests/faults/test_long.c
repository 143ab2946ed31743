/* Many plans, recordings and executions on one device, on the driver of faulty_icd.c, which counts:
 * at the end of each round of the same problems wavefit holds as much memory and as many Vulkan
 * objects as at the end of the second round, and every result has the bits of the first one.
 * WAVEFIT_LONG=1: 10,000 plans, 100,000 recordings, 200,000 executions (./dev test-long); without
 * it, a part. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine.h"
#include "every_family.h"
#include "faults/allocations.h"
#include "faults/faulty.h"
#include "harness.h"

#include "core/platform.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum {
    NUMBERS = 12, /* problems of each kind in a round */
    SETTLED = 2,  /* rounds after which nothing may grow */
    PLANS = 420,
    LONG_PLANS = 10080,
    PLACES = 31,  /* of a ring */
    RECORDED = 5, /* in a frame */
    ARRAYS = 7,   /* of a place: the last two are the solves' states */
    RECORDINGS = 3100,
    LONG_RECORDINGS = 100130,
    EXECUTIONS = 2000,
    LONG_EXECUTIONS = 200000,
    IN_QUEUE = 8,
    MOST_GROWTH = 4096, /* KiB of the process, drivers included */
    N = 24,
    SIDE = 12,
    ROWS = SIDE * SIDE,
};

static faulty *driver;

static uint32_t as_long(uint32_t few, uint32_t many)
{
    return getenv("WAVEFIT_LONG") ? many : few;
}

/* --------------------------------------------------------------------------------- what is held */

typedef struct held {
    int objects[FAULTY_OBJECTS], allocations;
} held;

static held held_now(void)
{
    held h = {.allocations = faulty_allocated()};
    for (int i = 0; i < FAULTY_OBJECTS; i++)
        h.objects[i] = atomic_load(&driver->alive[i]);
    return h;
}

static void expect_held(const held *before, const char *what, uint32_t round)
{
    const held h = held_now();
    for (int i = 0; i < FAULTY_OBJECTS; i++)
        if (h.objects[i] != before->objects[i])
            fail_msg("%s, round %u: %d objects of kind %s, %d before", what, round, h.objects[i],
                     driver->objects[i], before->objects[i]);
    if (h.allocations != before->allocations)
        fail_msg("%s, round %u: %d allocations, %d before", what, round, h.allocations,
                 before->allocations);
}

/* Of the process, drivers included, in KiB. */
static long resident(void)
{
    long pages = 0, unused = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &unused, &pages) != 2)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* The driver's part is what it is in a short run. */
static void tell_resident(long early)
{
    const long late = resident();
    printf("the process: %ld KiB after a quarter, %ld at the end\n", early, late);
    if (getenv("WAVEFIT_LONG"))
        assert_in_range(late, 0, early + MOST_GROWTH);
}

/* ---------------------------------------------------------------------------------------- plans */

static every_result first[EVERY_KINDS][NUMBERS];

static void run_round(wf_device *device, uint32_t round)
{
    static every_result now;
    for (int kind = 0; kind < EVERY_KINDS; kind++)
        for (uint32_t i = 0; i < NUMBERS; i++) {
            every_result *right = &first[kind][i], *result = round == 0 ? right : &now;
            if (every_run(device, kind, i, result) != WF_SUCCESS)
                fail_msg("%s %u, round %u: %s", every_name(kind), i, round, test_last_error());
            assert_int_equal(result->bytes, right->bytes);
            assert_memory_equal(result->data, right->data, result->bytes);
        }
}

static void test_plans(void **state)
{
    const uint32_t rounds = as_long(PLANS, LONG_PLANS) / (EVERY_KINDS * NUMBERS);
    held settled = {.allocations = 0};
    long early = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        run_round(*state, round);
        if (round + 1 == SETTLED)
            settled = held_now();
        else if (round + 1 > SETTLED)
            expect_held(&settled, "plans", round);
        if (round == rounds / 4)
            early = resident();
    }
    printf("%u plans and solves, %d allocations and %d pipelines held throughout\n",
           rounds * EVERY_KINDS * NUMBERS, settled.allocations, settled.objects[FAULTY_VkPipeline]);
    tell_resident(early);
}

/* ----------------------------------------------------------------------------------- recordings */

/* An application with a ring of PLACES places in each buffer. */
typedef struct scene {
    engine e;
    wf_device *device;
    wf_arena *arena;
    wf_plan *product, *sparse, *grid;
    wf_cg *cg;
    wf_laplace *laplace;
    wf_buffer *in, *out;
    uint64_t place; /* bytes of one */
    uint8_t *right; /* what each place of `out` gets */
} scene;

static uint32_t offsets[ROWS + 1], columns[ROWS];
static float values[ROWS];

static wf_spmv_params diagonal(void)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        offsets[i + 1] = i + 1;
        columns[i] = i;
        values[i] = 1 + (float)(i % 3);
    }
    return (wf_spmv_params){.size = sizeof(wf_spmv_params),
                            .rows = ROWS,
                            .columns = ROWS,
                            .row_offsets = offsets,
                            .column_indices = columns,
                            .values = values};
}

static void open_plans(scene *s)
{
    static const double taps[5] = {0.5, 0.125, 0.125, 0.125, 0.125};
    const wf_matmul_params product = {.size = sizeof product, .m = N, .n = N, .k = N};
    const wf_spmv_params sparse = diagonal();
    const wf_stencil_params grid = {
        .size = sizeof grid, .nx = N, .ny = N, .coefficients = taps, .steps = 1};
    const wf_cg_params cg = {.size = sizeof cg, .matrix = &sparse, .max_iterations = 8};
    const wf_laplace_params laplace = {
        .size = sizeof laplace, .nx = N, .ny = N, .max_iterations = 16, .check_every = 8};
    assert_int_equal(wf_matmul_plan(s->device, &product, &s->product), WF_SUCCESS);
    assert_int_equal(wf_spmv_plan(s->device, &sparse, &s->sparse), WF_SUCCESS);
    assert_int_equal(wf_stencil_plan(s->device, &grid, &s->grid), WF_SUCCESS);
    assert_int_equal(wf_cg_create(s->device, &cg, &s->cg), WF_SUCCESS);
    assert_int_equal(wf_laplace_create(s->device, &laplace, &s->laplace), WF_SUCCESS);
    VkCommandBuffer commands = engine_begin(&s->e);
    if (wf_plan_needs_upload(s->product))
        assert_int_equal(wf_plan_record_upload(s->product, commands), WF_SUCCESS);
    assert_int_equal(wf_plan_record_upload(s->sparse, commands), WF_SUCCESS);
    if (wf_plan_needs_upload(s->grid))
        assert_int_equal(wf_plan_record_upload(s->grid, commands), WF_SUCCESS);
    assert_int_equal(wf_cg_record_upload(s->cg, commands), WF_SUCCESS);
    assert_int_equal(wf_laplace_record_upload(s->laplace, commands), WF_SUCCESS);
    engine_finish(&s->e, commands);
}

/* Where the arrays of a place begin. */
static uint64_t array(const scene *s, uint32_t place, uint32_t index)
{
    return s->place * place + index * (s->place / ARRAYS);
}

static void open_scene(scene *s)
{
    wf_vulkan vulkan;
    engine_open(&s->e, ENGINE_REQUIRED, &vulkan);
    s->device = engine_adopt(&vulkan);
    const uint64_t to = wf_device_caps(s->device)->storage_alignment;
    s->place = ARRAYS * ((N * N * sizeof(float) + to - 1) / to * to);
    const uint64_t bytes = PLACES * s->place;
    assert_int_equal(wf_arena_create(s->device, &s->arena), WF_SUCCESS);
    assert_int_equal(wf_buffer_create(s->device, bytes, WF_MEMORY_UPLOAD, &s->in), WF_SUCCESS);
    assert_int_equal(wf_buffer_create(s->device, bytes, WF_MEMORY_READBACK, &s->out), WF_SUCCESS);
    float *in = wf_buffer_mapped(s->in);
    for (uint64_t i = 0; i < bytes / sizeof *in; i++)
        in[i] = (float)(i * 7 % 61) / 64 - 0.4f;
    memset(wf_buffer_mapped(s->out), 0, bytes);
    s->right = malloc(bytes);
    assert_non_null(s->right);
    open_plans(s);
}

static void close_scene(scene *s)
{
    wf_plan_destroy(&s->product);
    wf_plan_destroy(&s->sparse);
    wf_plan_destroy(&s->grid);
    wf_cg_destroy(&s->cg);
    wf_laplace_destroy(&s->laplace);
    wf_buffer_destroy(&s->in);
    wf_buffer_destroy(&s->out);
    wf_arena_destroy(&s->arena);
    wf_device_destroy(&s->device);
    engine_close(&s->e);
    free(s->right);
}

static wf_binding at(wf_buffer *buffer, uint64_t offset)
{
    return (wf_binding){.buffer = buffer, .offset = offset};
}

/* A frame: each plan and each solve once, on the arrays of one place. */
static void record_frame(scene *s, VkCommandBuffer commands, uint32_t place)
{
    wf_bindings b = {.size = sizeof b};
    b.items[WF_MATMUL_A] = b.items[WF_MATMUL_B] = at(s->in, array(s, place, 0));
    b.items[WF_MATMUL_C] = at(s->out, array(s, place, 0));
    assert_int_equal(wf_plan_record(s->product, commands, s->arena, &b), WF_SUCCESS);
    b = (wf_bindings){.size = sizeof b};
    b.items[WF_SPMV_X] = at(s->in, array(s, place, 1));
    b.items[WF_SPMV_Y] = at(s->out, array(s, place, 1));
    assert_int_equal(wf_plan_record(s->sparse, commands, s->arena, &b), WF_SUCCESS);
    b = (wf_bindings){.size = sizeof b};
    b.items[WF_STENCIL_IN] = at(s->in, array(s, place, 2));
    b.items[WF_STENCIL_OUT] = at(s->out, array(s, place, 2));
    assert_int_equal(wf_plan_record(s->grid, commands, s->arena, &b), WF_SUCCESS);
    b = (wf_bindings){.size = sizeof b};
    b.items[WF_CG_B] = at(s->in, array(s, place, 3));
    b.items[WF_CG_X] = at(s->out, array(s, place, 3));
    b.items[WF_CG_STATE] = at(s->out, array(s, place, 5));
    assert_int_equal(wf_cg_record(s->cg, commands, s->arena, &b, 8, 0), WF_SUCCESS);
    b = (wf_bindings){.size = sizeof b};
    b.items[WF_LAPLACE_U] = at(s->out, array(s, place, 4));
    b.items[WF_LAPLACE_STATE] = at(s->out, array(s, place, 6));
    assert_int_equal(wf_laplace_record(s->laplace, commands, s->arena, &b, 16, 0), WF_SUCCESS);
}

/* Submits, waits, and frees the commands, which the engine keeps. */
static void finish(scene *s, VkCommandBuffer commands)
{
    const PFN_vkFreeCommandBuffers free_commands =
        (PFN_vkFreeCommandBuffers)engine_function(&s->e, "vkFreeCommandBuffers");
    engine_finish(&s->e, commands);
    free_commands(s->e.device, s->e.pool, 1, &commands);
}

static void run_frame(scene *s, uint32_t frame)
{
    const uint32_t place = frame % PLACES;
    uint8_t *out = (uint8_t *)wf_buffer_mapped(s->out) + s->place * place;
    memcpy(out + array(s, 0, 4), (uint8_t *)wf_buffer_mapped(s->in) + array(s, place, 4),
           N * N * sizeof(float));
    assert_int_equal(wf_arena_reset(s->arena), WF_SUCCESS);
    VkCommandBuffer commands = engine_begin(&s->e);
    record_frame(s, commands, place);
    finish(s, commands);
    if (frame < PLACES)
        memcpy(s->right + s->place * place, out, s->place);
    else
        assert_memory_equal(out, s->right + s->place * place, s->place);
    memset(out, 0, s->place);
}

static void test_recordings(void **state)
{
    (void)state;
    scene s = {.device = NULL};
    const uint32_t frames = as_long(RECORDINGS, LONG_RECORDINGS) / RECORDED;
    held settled = {.allocations = 0};
    long early = 0;
    open_scene(&s);
    for (uint32_t frame = 0; frame < frames; frame++) {
        run_frame(&s, frame);
        if (frame == SETTLED * PLACES)
            settled = held_now();
        else if (frame > SETTLED * PLACES)
            expect_held(&settled, "recordings", frame);
        if (frame == frames / 4)
            early = resident();
    }
    printf("%u recordings, %d allocations held throughout\n", frames * RECORDED,
           settled.allocations);
    tell_resident(early);
    close_scene(&s);
}

/* ----------------------------------------------------------------------------------- executions */

/* What a load without end does: runs of a plan one by one and several in a queue. */
static void test_executions(void **state)
{
    wf_device *device = *state;
    const uint32_t executions = as_long(EXECUTIONS, LONG_EXECUTIONS);
    const wf_matmul_params params = {.size = sizeof params, .m = N, .n = N, .k = N};
    wf_plan *plan = NULL;
    wf_queue *queue = NULL;
    wf_buffer *buffers[3];
    wf_bindings bindings = {.size = sizeof bindings};
    held settled = {.allocations = 0};
    assert_int_equal(wf_matmul_plan(device, &params, &plan), WF_SUCCESS);
    assert_int_equal(wf_queue_create(device, &queue), WF_SUCCESS);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(
            wf_buffer_create(device, N * N * sizeof(float), WF_MEMORY_DEVICE, &buffers[i]),
            WF_SUCCESS);
        assert_int_equal(wf_buffer_fill(buffers[i], 0, N * N * sizeof(float), 0x3f800000),
                         WF_SUCCESS);
        bindings.items[i].buffer = buffers[i];
    }
    long early = 0;
    for (uint32_t i = 0; i < executions; i += 2 * IN_QUEUE) {
        float c[N * N];
        for (int n = 0; n < IN_QUEUE; n++)
            assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
        for (int n = 0; n < IN_QUEUE; n++)
            assert_int_equal(wf_queue_run(queue, plan, &bindings, NULL), WF_SUCCESS);
        assert_int_equal(wf_queue_wait(queue, 0), WF_SUCCESS);
        assert_int_equal(wf_buffer_read(buffers[2], 0, c, sizeof c), WF_SUCCESS);
        for (int n = 0; n < N * N; n++)
            assert_true(c[n] == N);
        if (i / (2 * IN_QUEUE) + 1 == SETTLED)
            settled = held_now();
        else if (i / (2 * IN_QUEUE) + 1 > SETTLED)
            expect_held(&settled, "executions", i);
        if (!early && i >= executions / 4)
            early = resident();
    }
    printf("%u executions, %d allocations held throughout\n", executions, settled.allocations);
    tell_resident(early);
    wf_queue_destroy(&queue);
    wf_plan_destroy(&plan);
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&buffers[i]);
}

int main(void)
{
    const char *path = getenv("WAVEFIT_FAULTY_DRIVER");
    void *library = path ? wfi_library_open(path) : NULL;
    const faulty_fn state = library ? (faulty_fn)wfi_library_symbol(library, FAULTY_SYMBOL) : NULL;
    if (!state)
        return 1;
    driver = state();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plans, test_device_setup, test_device_teardown),
        cmocka_unit_test(test_recordings),
        cmocka_unit_test_setup_teardown(test_executions, test_device_setup, test_device_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
