/* Copies of a plan (wf_plan_copy) share the matrix and end in any order; plans, buffers and arenas
 * end behind a timeline semaphore (wf_plan_destroy_after and the like), and not before. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "product.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define FUNCTION(e, name) ((PFN_##name)engine_function((e), #name))

/* Row 3 is long, so that several work-groups sum it where the variant does so; the others have two
 * entries. All values are small integers: sums are exact in any order. */
enum { ROWS = 700, ENTRIES = ROWS + 2 * (ROWS - 1) };
static uint32_t offsets[ROWS + 1], columns[ENTRIES];
static float values[ENTRIES], other_values[ENTRIES], x[ROWS];

static void make_matrix(void)
{
    uint32_t n = 0;
    for (uint32_t row = 0; row < ROWS; row++) {
        const uint32_t count = row == 3 ? ROWS : 2;
        for (uint32_t i = 0; i < count; i++, n++) {
            columns[n] = row == 3 ? i : i == 0 ? row / 2 : row / 2 + ROWS / 2;
            values[n] = (float)((row + i) % 5);
            other_values[n] = (float)((row * 3 + i) % 7);
        }
        offsets[row + 1] = n;
        x[row] = (float)(row % 4);
    }
    assert_int_equal(n, ENTRIES);
}

static void check_y(const float *y, const float *with, float alpha)
{
    for (uint32_t row = 0; row < ROWS; row++) {
        float sum = 0;
        for (uint32_t e = offsets[row]; e < offsets[row + 1]; e++)
            sum += with[e] * x[columns[e]];
        if (y[row] != alpha * sum)
            fail_msg("row %u is %g, not %g", row, (double)y[row], (double)(alpha * sum));
    }
}

typedef struct vectors {
    wf_buffer *x, *y;
    wf_bindings bindings;
} vectors;

static void open_vectors(vectors *v, wf_device *device)
{
    *v = (vectors){.bindings = {.size = sizeof v->bindings}};
    assert_int_equal(wf_buffer_create(device, sizeof x, WF_MEMORY_DEVICE, &v->x), WF_SUCCESS);
    assert_int_equal(wf_buffer_create(device, sizeof x, WF_MEMORY_DEVICE, &v->y), WF_SUCCESS);
    assert_int_equal(wf_buffer_write(v->x, 0, x, sizeof x), WF_SUCCESS);
    v->bindings.items[WF_SPMV_X].buffer = v->x;
    v->bindings.items[WF_SPMV_Y].buffer = v->y;
}

static void close_vectors(vectors *v)
{
    wf_buffer_destroy(&v->x);
    wf_buffer_destroy(&v->y);
}

static void run(wf_plan *plan, vectors *v, const float *with, float alpha)
{
    float y[ROWS];
    test_poison(v->y);
    assert_int_equal(wf_plan_run(plan, &v->bindings), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(v->y, 0, y, sizeof y), WF_SUCCESS);
    check_y(y, with, alpha);
}

/* A plan and copies of it and of a copy, which end in this order: the first, the copies. */
static void copy_variant(engine *e, wf_device *device, const char *variant)
{
    const double two = 2; /* some variants are compiled without scaling where alpha is 1 */
    const wf_tuning tuning = {.size = sizeof tuning, .variant = variant};
    const wf_spmv_params params = {.size = sizeof params,
                                   .rows = ROWS,
                                   .columns = ROWS,
                                   .row_offsets = offsets,
                                   .column_indices = columns,
                                   .values = values,
                                   .alpha = &two,
                                   .updatable = true,
                                   .tuning = &tuning};
    wf_plan *first = NULL, *copy = NULL, *second = NULL;
    wf_plan_info info = {.size = sizeof info};
    vectors v;
    (void)e;
    test_expect_errors(true);
    const wf_result result = wf_spmv_plan(device, &params, &first);
    test_expect_errors(false);
    if (result != WF_SUCCESS) /* the device lacks what the variant needs */
        return;
    open_vectors(&v, device);
    if (wf_plan_needs_upload(first)) { /* its matrix is not there yet */
        test_expect_errors(true);
        assert_int_equal(wf_plan_copy(first, &copy), WF_NOT_READY);
        test_expect_errors(false);
    }
    run(first, &v, values, 2);
    const engine_calls before = engine_counted();
    assert_int_equal(wf_plan_copy(first, &copy), WF_SUCCESS);
    assert_int_equal(wf_plan_describe(first, &info), WF_SUCCESS);
    assert_int_equal(engine_counted().pipelines, before.pipelines);
    if (!info.writes_own_memory)
        assert_int_equal(engine_counted().buffers, before.buffers);
    assert_int_equal(wf_spmv_scale(copy, 3, 0), WF_SUCCESS);
    run(copy, &v, values, 3);
    run(first, &v, values, 2);
    assert_int_equal(wf_plan_copy(copy, &second), WF_SUCCESS);
    wf_plan_destroy(&first);
    assert_null(first);
    run(second, &v, values, 3);
    assert_int_equal(wf_spmv_update(second, other_values), WF_SUCCESS); /* all copies see it */
    run(copy, &v, other_values, 3);
    wf_plan_destroy(&copy);
    run(second, &v, other_values, 3);
    wf_plan_destroy(&second);
    close_vectors(&v);
}

static void test_copies(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    wf_variant_info info;
    make_matrix();
    engine_open(&e, ENGINE_MERGED, &vulkan);
    wf_device *device = engine_adopt(&vulkan);
    for (uint32_t i = 0; i < wf_family_variant_count(WF_FAMILY_SPMV); i++) {
        assert_int_equal(wf_family_variant(WF_FAMILY_SPMV, i, &info), WF_SUCCESS);
        copy_variant(&e, device, info.name);
    }
    wf_device_destroy(&device);
    engine_close(&e);
}

/* Two copies in command buffers that overlap need no barrier between them even where they write
 * memory of their own: each has its own. The validation layer would report it. */
static void test_side_by_side(void **state)
{
    (void)state;
    enum { SIDE = 16, DEPTH = 1024 };
    engine e;
    wf_vulkan vulkan;
    wf_plan *plans[2] = {NULL, NULL};
    wf_arena *arena = NULL;
    wf_buffer *in[2], *out[2], *workspace[2] = {NULL, NULL};
    const wf_constant constants[] = {{"split_k", 4}};
    const wf_tuning tuning = {
        .size = sizeof tuning, .variant = "vector", .constants = constants, .constant_count = 1};
    const wf_matmul_params params = {
        .size = sizeof params, .m = SIDE, .n = SIDE, .k = DEPTH, .tuning = &tuning};
    const float two = 2;
    uint32_t bits;
    memcpy(&bits, &two, sizeof bits);
    engine_open(&e, ENGINE_MERGED, &vulkan);
    wf_device *device = engine_adopt(&vulkan);
    assert_int_equal(wf_arena_create(device, &arena), WF_SUCCESS);
    assert_int_equal(wf_matmul_plan(device, &params, &plans[0]), WF_SUCCESS);
    VkCommandBuffer commands = engine_begin(&e);
    assert_int_equal(wf_plan_record_upload(plans[0], commands), WF_SUCCESS);
    assert_int_equal(wf_plan_copy(plans[0], &plans[1]), WF_SUCCESS);
    assert_int_equal(wf_plan_record_upload(plans[1], commands), WF_SUCCESS);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(wf_buffer_create(device, SIDE * DEPTH * 4, WF_MEMORY_DEVICE, &in[i]),
                         WF_SUCCESS);
        assert_int_equal(wf_buffer_create(device, SIDE * SIDE * 4, WF_MEMORY_READBACK, &out[i]),
                         WF_SUCCESS);
        assert_int_equal(wf_buffer_fill(in[i], 0, SIDE * DEPTH * 4, bits), WF_SUCCESS);
        if (wf_plan_workspace(plans[i]))
            assert_int_equal(wf_buffer_create(device, wf_plan_workspace(plans[i]), WF_MEMORY_DEVICE,
                                              &workspace[i]),
                             WF_SUCCESS);
    }
    for (int i = 0; i < 2; i++) {
        const wf_bindings bindings = {
            .size = sizeof bindings,
            .items = {{.buffer = in[0]}, {.buffer = in[1]}, {.buffer = out[i]}},
            .workspace = {.buffer = workspace[i]}};
        assert_int_equal(wf_plan_record(plans[i], commands, arena, &bindings), WF_SUCCESS);
    }
    engine_finish(&e, commands);
    for (int i = 0; i < 2; i++) {
        float got[SIDE * SIDE];
        assert_int_equal(wf_buffer_read(out[i], 0, got, sizeof got), WF_SUCCESS);
        for (int n = 0; n < SIDE * SIDE; n++)
            assert_true(got[n] == 4 * DEPTH);
        wf_buffer_destroy(&in[i]);
        wf_buffer_destroy(&out[i]);
        wf_buffer_destroy(&workspace[i]);
        wf_plan_destroy(&plans[i]);
    }
    wf_arena_destroy(&arena);
    wf_device_destroy(&device);
    engine_close(&e);
}

/* ------------------------------------------------------------------------- behind a semaphore */

/* One row more or less of a product's ones, by a plan and by copies that outlive it. */
static void run_rows(wf_plan *plan, wf_buffer *const buffers[3], uint64_t rows)
{
    enum { SIDE = 16 };
    float c[SIDE * SIDE];
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {{.buffer = buffers[0]}, {.buffer = buffers[1]}, {.buffer = buffers[2]}},
        .extent = {rows}};
    test_poison(buffers[2]);
    assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(buffers[2], 0, c, sizeof c), WF_SUCCESS);
    for (uint64_t i = 0; i < SIDE * SIDE; i++)
        assert_true(i < rows * SIDE ? c[i] == 2 * SIDE : c[i] != c[i]);
}

static void test_copies_of_varying_sizes(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    wf_plan *first = NULL, *copy = NULL, *second = NULL;
    wf_buffer *buffers[3];
    const float one = 1;
    uint32_t bits;
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    wf_device *device = engine_adopt(&vulkan);
    memcpy(&bits, &one, sizeof bits);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(wf_buffer_create(device, 1024, WF_MEMORY_DEVICE, &buffers[i]), WF_SUCCESS);
        assert_int_equal(wf_buffer_fill(buffers[i], 0, 1024, bits), WF_SUCCESS);
    }
    {
        const double two = 2; /* gone when the copies are recorded */
        const wf_matmul_params params = {
            .size = sizeof params, .m = 16, .n = 16, .k = 16, .vary_m = 1, .alpha = &two};
        assert_int_equal(wf_matmul_plan(device, &params, &first), WF_SUCCESS);
    }
    run_rows(first, buffers, 3);
    assert_int_equal(wf_plan_copy(first, &copy), WF_SUCCESS);
    assert_int_equal(wf_plan_copy(copy, &second), WF_SUCCESS);
    run_rows(copy, buffers, 5);
    run_rows(first, buffers, 7);
    wf_plan_destroy(&first);
    run_rows(copy, buffers, 16);
    run_rows(second, buffers, 9);
    wf_plan_destroy(&copy);
    run_rows(second, buffers, 1);
    wf_plan_destroy(&second);
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&buffers[i]);
    wf_device_destroy(&device);
    engine_close(&e);
}

static unsigned given; /* blocks of memory that were not given back yet */
static engine *source_engine;

/* An allocator that gives each buffer memory of its own, only to count it. */
static VkResult give(void *user, const wf_memory_request *request, wf_memory_block *block)
{
    VkPhysicalDeviceMemoryProperties memory;
    (void)user;
    FUNCTION(source_engine, vkGetPhysicalDeviceMemoryProperties)(source_engine->physical, &memory);
    while (!(request->requirements.memoryTypeBits >> block->type & 1) ||
           request->required & ~memory.memoryTypes[block->type].propertyFlags)
        block->type++;
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .allocationSize = request->requirements.size,
                                       .memoryTypeIndex = block->type};
    VkResult result = FUNCTION(source_engine, vkAllocateMemory)(source_engine->device, &info, NULL,
                                                                &block->memory);
    if (result == VK_SUCCESS && request->required)
        result = FUNCTION(source_engine, vkMapMemory)(source_engine->device, block->memory, 0,
                                                      VK_WHOLE_SIZE, 0, &block->mapped);
    given++;
    return result;
}

static void take_back(void *user, const wf_memory_block *block)
{
    (void)user;
    FUNCTION(source_engine, vkFreeMemory)(source_engine->device, block->memory, NULL);
    given--;
}

static wf_device *adopt_counted(engine *e, const wf_vulkan *vulkan)
{
    wf_device *device = NULL;
    wf_device_params params = engine_params();
    const wf_memory_source source = {.size = sizeof source, .allocate = give, .free = take_back};
    params.memory_source = &source;
    source_engine = e;
    given = 0;
    assert_int_equal(wf_device_adopt(vulkan, &params, &device), WF_SUCCESS);
    return device;
}

static VkSemaphore make_timeline(const engine *e)
{
    VkSemaphore timeline;
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    assert_int_equal(FUNCTION(e, vkCreateSemaphore)(e->device, &info, NULL, &timeline), VK_SUCCESS);
    return timeline;
}

static void signal_value(const engine *e, VkSemaphore timeline, uint64_t value)
{
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = timeline, .value = value};
    assert_int_equal(FUNCTION(e, vkSignalSemaphore)(e->device, &info), VK_SUCCESS);
}

static void test_destroy_after(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    wf_plan *plan = NULL;
    wf_buffer *buffer = NULL;
    wf_arena *arena = NULL;
    uint32_t left = 99;
    const wf_spmv_params params = {.size = sizeof params,
                                   .rows = ROWS,
                                   .columns = ROWS,
                                   .row_offsets = offsets,
                                   .column_indices = columns,
                                   .values = values};
    make_matrix();
    engine_open(&e, ENGINE_MERGED, &vulkan);
    wf_device *device = adopt_counted(&e, &vulkan);
    VkSemaphore timeline = make_timeline(&e);
    assert_int_equal(wf_spmv_plan(device, &params, &plan), WF_SUCCESS);
    assert_int_equal(wf_buffer_create(device, 64, WF_MEMORY_DEVICE, &buffer), WF_SUCCESS);
    assert_int_equal(wf_arena_create(device, &arena), WF_SUCCESS);
    const unsigned all = given;
    assert_true(all >= 2);
    assert_int_equal(wf_plan_destroy_after(&plan, timeline, 5), WF_SUCCESS);
    assert_int_equal(wf_buffer_destroy_after(&buffer, timeline, 7), WF_SUCCESS);
    assert_int_equal(wf_arena_destroy_after(&arena, timeline, 7), WF_SUCCESS);
    assert_true(!plan && !buffer && !arena);
    assert_int_equal(wf_device_collect(device, &left), WF_SUCCESS);
    assert_int_equal(left, 3);
    signal_value(&e, timeline, 4);
    assert_int_equal(wf_device_collect(device, &left), WF_SUCCESS);
    assert_int_equal(left, 3);
    assert_int_equal(given, all);
    signal_value(&e, timeline, 5);
    assert_int_equal(wf_device_collect(device, &left), WF_SUCCESS);
    assert_int_equal(left, 2);
    assert_int_equal(given, 1);
    signal_value(&e, timeline, 9);
    /* An object whose semaphore has its value is destroyed at once, with all that are due. */
    assert_int_equal(wf_spmv_plan(device, &params, &plan), WF_SUCCESS);
    assert_int_equal(wf_plan_destroy_after(&plan, timeline, 9), WF_SUCCESS);
    assert_int_equal(given, 0);
    /* Objects that still wait when the device is destroyed are destroyed with it. */
    assert_int_equal(wf_buffer_create(device, 64, WF_MEMORY_DEVICE, &buffer), WF_SUCCESS);
    assert_int_equal(wf_buffer_destroy_after(&buffer, timeline, 100), WF_SUCCESS);
    assert_int_equal(given, 1);
    wf_device_destroy(&device);
    assert_int_equal(given, 0);
    FUNCTION(&e, vkDestroySemaphore)(e.device, timeline, NULL);
    engine_close(&e);
}

static void test_destroy_after_refused(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    wf_buffer *buffer = NULL, *none = NULL;
    engine_open(&e, ENGINE_MERGED, &vulkan);
    wf_device *device = engine_adopt(&vulkan);
    assert_int_equal(wf_buffer_create(device, 64, WF_MEMORY_DEVICE, &buffer), WF_SUCCESS);
    test_expect_errors(true);
    assert_int_equal(wf_buffer_destroy_after(&buffer, VK_NULL_HANDLE, 1),
                     WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
    assert_non_null(buffer);
    assert_int_equal(wf_buffer_destroy_after(&none, VK_NULL_HANDLE, 1), WF_SUCCESS);
    wf_buffer_destroy(&buffer);
    assert_int_equal(wf_device_collect(NULL, NULL), WF_ERROR_INVALID_ARGUMENT);
    wf_device_destroy(&device);
    engine_close(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_copies_of_varying_sizes),
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_destroy_after),
        cmocka_unit_test(test_destroy_after_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
