/* Recording as a frame loop does: several frames in flight, bindings at another place each frame,
 * buffers that end and are made again; and executions that nothing of the application orders. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define FUNCTION(e, name) ((PFN_##name)engine_function((e), #name))

enum {
    ROWS = 40,
    COLUMNS = 1500,
    LONG = 1200, /* entries of every eighth row, which several work-groups or segments share */
    IN_FLIGHT = 3,
    FRAMES = 2000,
    PLACES = 61, /* of x in the ring; prime, so that frames and places do not keep step */
    MOST_PLANS = 8
};

/* Whole numbers so small that sums in f32 are exact in any order. */
typedef struct matrix {
    uint32_t row_offsets[ROWS + 1];
    uint32_t columns[ROWS * LONG];
    float values[ROWS * LONG];
} matrix;

typedef struct host {
    engine e;
    wf_device *device;
    matrix *a;
    uint32_t plan_count;
    wf_plan *plans[MOST_PLANS];
    wf_buffer *ring; /* PLACES times x */
    uint64_t stride;
    test_random random;
} host;

static float small_number(test_random *random)
{
    return (float)((int)test_random_below(random, 9) - 4);
}

static matrix *make_matrix(test_random *random)
{
    matrix *a = calloc(1, sizeof *a);
    assert_non_null(a);
    for (uint32_t row = 0; row < ROWS; row++) {
        const uint32_t length = row % 8 == 0 ? LONG : 5 + row % 3;
        uint32_t entry = a->row_offsets[row];
        for (uint32_t i = 0; i < length; i++, entry++) {
            a->columns[entry] = (i * (COLUMNS / length) + row) % COLUMNS;
            a->values[entry] = small_number(random);
        }
        a->row_offsets[row + 1] = entry;
    }
    return a;
}

static void product_of(const matrix *a, const float *x, float *y)
{
    for (uint32_t row = 0; row < ROWS; row++) {
        double sum = 0;
        for (uint32_t i = a->row_offsets[row]; i < a->row_offsets[row + 1]; i++)
            sum += (double)a->values[i] * (double)x[a->columns[i]];
        y[row] = (float)sum;
    }
}

/* The variants that the device can run; those that keep memory which they write are counted. */
static uint32_t make_plans(host *h)
{
    static const char *const variants[] = {"sliced", "equal", "stream", "merge", "texel", "row"};
    uint32_t writing = 0;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        const wf_tuning tuning = {.size = sizeof tuning, .variant = variants[i]};
        const wf_spmv_params params = {.size = sizeof params,
                                       .rows = ROWS,
                                       .columns = COLUMNS,
                                       .row_offsets = h->a->row_offsets,
                                       .column_indices = h->a->columns,
                                       .values = h->a->values,
                                       .tuning = &tuning};
        wf_plan_info info = {.size = sizeof info};
        wf_plan *plan = NULL;
        test_expect_errors(true);
        const wf_result result = wf_spmv_plan(h->device, &params, &plan);
        test_expect_errors(false);
        test_last_error();
        if (result == WF_ERROR_CONSTRAINT || result == WF_ERROR_UNSUPPORTED)
            continue;
        assert_int_equal(result, WF_SUCCESS);
        assert_int_equal(wf_plan_describe(plan, &info), WF_SUCCESS);
        writing += info.writes_own_memory;
        h->plans[h->plan_count++] = plan;
    }
    return writing;
}

static void open_host(host *h, engine_features features)
{
    wf_vulkan vulkan;
    *h = (host){.random = {test_seed()}};
    engine_open(&h->e, features, &vulkan);
    vulkan.queue = VK_NULL_HANDLE;
    h->device = engine_adopt(&vulkan);
    h->a = make_matrix(&h->random);
    h->stride = (COLUMNS * sizeof(float) + 255) / 256 * 256;
    assert_int_equal(wf_buffer_create(h->device, PLACES * h->stride, WF_MEMORY_UPLOAD, &h->ring),
                     WF_SUCCESS);
}

static void close_host(host *h)
{
    for (uint32_t i = 0; i < h->plan_count; i++)
        wf_plan_destroy(&h->plans[i]);
    wf_buffer_destroy(&h->ring);
    free(h->a);
    wf_device_destroy(&h->device);
    engine_close(&h->e);
}

/* Records the upload where the plan needs one. */
static void upload(host *h)
{
    VkCommandBuffer command_buffer = engine_begin(&h->e);
    for (uint32_t i = 0; i < h->plan_count; i++)
        assert_int_equal(wf_plan_record_upload(h->plans[i], command_buffer), WF_SUCCESS);
    engine_finish(&h->e, command_buffer);
}

static void draw_x(host *h, uint32_t place)
{
    float *x = (float *)((char *)wf_buffer_mapped(h->ring) + place * h->stride);
    for (uint32_t i = 0; i < COLUMNS; i++)
        x[i] = small_number(&h->random);
}

static const float *x_at(const host *h, uint32_t place)
{
    return (const float *)((const char *)wf_buffer_mapped(h->ring) + place * h->stride);
}

static wf_bindings bindings_at(const host *h, uint32_t place, const wf_buffer *y, uint64_t offset)
{
    return (wf_bindings){
        .size = sizeof(wf_bindings),
        .items = {[WF_SPMV_X] = {.buffer = h->ring,
                                 .offset = place * h->stride,
                                 .bytes = COLUMNS * sizeof(float)},
                  [WF_SPMV_Y] = {.buffer = y, .offset = offset, .bytes = ROWS * sizeof(float)}}};
}

static void expect_y(const host *h, uint32_t place, const wf_buffer *y, uint64_t offset)
{
    float expected[ROWS];
    product_of(h->a, x_at(h, place), expected);
    assert_memory_equal((const char *)wf_buffer_mapped(y) + offset, expected, sizeof expected);
}

/* ---------------------------------------------------------------------------------- frame loop */

typedef struct frame {
    VkCommandBuffer commands;
    VkFence fence;
    wf_arena *arena;
    wf_buffer *y[MOST_PLANS]; /* made anew each time */
    uint32_t place;
    bool pending;
} frame;

static void await(host *h, frame *f)
{
    if (!f->pending)
        return;
    assert_int_equal(
        FUNCTION(&h->e, vkWaitForFences)(h->e.device, 1, &f->fence, VK_TRUE, UINT64_MAX),
        VK_SUCCESS);
    assert_int_equal(FUNCTION(&h->e, vkResetFences)(h->e.device, 1, &f->fence), VK_SUCCESS);
    for (uint32_t i = 0; i < h->plan_count; i++) {
        expect_y(h, f->place, f->y[i], 0);
        wf_buffer_destroy(&f->y[i]);
    }
    FUNCTION(&h->e, vkFreeCommandBuffers)(h->e.device, h->e.pool, 1, &f->commands);
    assert_int_equal(wf_arena_reset(f->arena), WF_SUCCESS);
    f->pending = false;
}

static void submit(host *h, frame *f, uint32_t number)
{
    f->place = number * 7 % PLACES;
    draw_x(h, f->place);
    f->commands = engine_begin(&h->e);
    for (uint32_t i = 0; i < h->plan_count; i++) {
        assert_int_equal(
            wf_buffer_create(h->device, ROWS * sizeof(float), WF_MEMORY_UPLOAD, &f->y[i]),
            WF_SUCCESS);
        memset(wf_buffer_mapped(f->y[i]), 0xff, ROWS * sizeof(float));
        const wf_bindings bindings = bindings_at(h, f->place, f->y[i], 0);
        assert_int_equal(wf_plan_record(h->plans[i], f->commands, f->arena, &bindings), WF_SUCCESS);
    }
    engine_submit(&h->e, f->commands, f->fence);
    f->pending = true;
}

static void run_frames(engine_features features, bool pushed)
{
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    host h;
    frame frames[IN_FLIGHT] = {{0}};
    engine_calls early = {0}, late;
    open_host(&h, features);
    if (pushed && !wf_device_caps(h.device)->push_descriptors) {
        close_host(&h);
        skip();
    }
    assert_int_equal(wf_device_caps(h.device)->push_descriptors, pushed);
    make_plans(&h);
    assert_true(h.plan_count >= 3);
    upload(&h);
    for (int i = 0; i < IN_FLIGHT; i++) {
        assert_int_equal(wf_arena_create(h.device, &frames[i].arena), WF_SUCCESS);
        assert_int_equal(FUNCTION(&h.e, vkCreateFence)(h.e.device, &fence, NULL, &frames[i].fence),
                         VK_SUCCESS);
    }
    for (uint32_t n = 0; n < FRAMES; n++) {
        await(&h, &frames[n % IN_FLIGHT]);
        submit(&h, &frames[n % IN_FLIGHT], n);
        if (n == 2 * IN_FLIGHT)
            early = engine_counted();
    }
    late = engine_counted();
    assert_int_equal(late.descriptor_pools, early.descriptor_pools);
    assert_int_equal(late.views, early.views);
    for (int i = 0; i < IN_FLIGHT; i++) {
        await(&h, &frames[i]);
        wf_arena_destroy(&frames[i].arena);
        FUNCTION(&h.e, vkDestroyFence)(h.e.device, frames[i].fence, NULL);
    }
    close_host(&h);
}

static void test_ring_with_push_descriptors(void **state)
{
    (void)state;
    run_frames(ENGINE_REQUIRED, true);
}

static void test_ring_without_push_descriptors(void **state)
{
    (void)state;
    run_frames(ENGINE_NOTHING, false);
}

/* ------------------------------------------------------------------------------------ unordered */

/* Two command buffers of one submission with nothing of the application's between them: the layer's
 * synchronization checks tell of what a plan shares among its executions. */
static void test_unordered_executions(void **state)
{
    (void)state;
    host h;
    wf_arena *arena = NULL;
    wf_buffer *y = NULL;
    open_host(&h, ENGINE_REQUIRED);
    assert_true(make_plans(&h) >= 1);
    upload(&h);
    assert_int_equal(wf_arena_create(h.device, &arena), WF_SUCCESS);
    assert_int_equal(wf_buffer_create(h.device, 2 * MOST_PLANS * 256, WF_MEMORY_UPLOAD, &y),
                     WF_SUCCESS);
    memset(wf_buffer_mapped(y), 0xff, 2 * MOST_PLANS * 256);
    VkCommandBuffer commands[2] = {engine_begin(&h.e), engine_begin(&h.e)};
    for (uint32_t c = 0; c < 2; c++) {
        draw_x(&h, c);
        for (uint32_t i = 0; i < h.plan_count; i++) {
            const wf_bindings bindings = bindings_at(&h, c, y, (2 * i + c) * UINT64_C(256));
            assert_int_equal(wf_plan_record(h.plans[i], commands[c], arena, &bindings), WF_SUCCESS);
        }
    }
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands[0]};
    assert_int_equal(FUNCTION(&h.e, vkEndCommandBuffer)(commands[0]), VK_SUCCESS);
    assert_int_equal(FUNCTION(&h.e, vkQueueSubmit)(h.e.queue, 1, &info, VK_NULL_HANDLE),
                     VK_SUCCESS);
    engine_finish(&h.e, commands[1]);
    for (uint32_t c = 0; c < 2; c++)
        for (uint32_t i = 0; i < h.plan_count; i++)
            expect_y(&h, c, y, (2 * i + c) * UINT64_C(256));
    wf_buffer_destroy(&y);
    wf_arena_destroy(&arena);
    close_host(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring_with_push_descriptors),
        cmocka_unit_test(test_ring_without_push_descriptors),
        cmocka_unit_test(test_unordered_executions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
