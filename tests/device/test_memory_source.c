/* Device memory from an application's allocator (wf_memory_source): an allocator of the usual kind,
 * which cuts buffers out of large blocks, serves everything; what it does wrong is refused; each of
 * its allocations fails in turn, and all that it gave comes back. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "product.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define FUNCTION(e, name) ((PFN_##name)engine_function((e), #name))
#define CHUNK_BYTES (UINT64_C(8) << 20)
#define MOST_CHUNKS 16

typedef enum lie { HONEST, NO_MEMORY, OTHER_TYPE, UNALIGNED, NOT_MAPPED, LIES } lie;

/* Chunks are one of each memory type that was asked for; nothing in them is used twice. */
typedef struct chunk {
    VkDeviceMemory memory;
    unsigned char *mapped;
    uint64_t used;
    uint32_t type;
} chunk;

typedef struct pool {
    const engine *e;
    VkPhysicalDeviceMemoryProperties memory;
    chunk chunks[MOST_CHUNKS];
    uint32_t chunk_count;
    unsigned asked, given, offsets; /* calls; blocks not given back; blocks with an offset */
    unsigned fails_at;              /* the call that finds no memory; 0: none */
    lie lie;
    VkMemoryPropertyFlags lie_about; /* requests that require these are lied to */
} pool;

static uint32_t type_of(const pool *p, const wf_memory_request *request)
{
    const VkMemoryPropertyFlags wanted[] = {request->required | request->preferred,
                                            request->required};
    for (int i = 0; i < 2; i++)
        for (uint32_t type = 0; type < p->memory.memoryTypeCount; type++)
            if (request->requirements.memoryTypeBits >> type & 1 &&
                !(wanted[i] & ~p->memory.memoryTypes[type].propertyFlags))
                return type;
    return UINT32_MAX;
}

static chunk *chunk_of(pool *p, uint32_t type)
{
    for (uint32_t i = 0; i < p->chunk_count; i++)
        if (p->chunks[i].type == type)
            return &p->chunks[i];
    assert_true(p->chunk_count < MOST_CHUNKS);
    chunk *made = &p->chunks[p->chunk_count++];
    void *mapped = NULL;
    *made = (chunk){.type = type};
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .allocationSize = CHUNK_BYTES,
                                       .memoryTypeIndex = type};
    assert_int_equal(FUNCTION(p->e, vkAllocateMemory)(p->e->device, &info, NULL, &made->memory),
                     VK_SUCCESS);
    if (p->memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)
        assert_int_equal(
            FUNCTION(p->e, vkMapMemory)(p->e->device, made->memory, 0, VK_WHOLE_SIZE, 0, &mapped),
            VK_SUCCESS);
    made->mapped = mapped;
    return made;
}

static void tell_a_lie(const pool *p, wf_memory_block *block)
{
    if (p->lie == NO_MEMORY)
        block->memory = VK_NULL_HANDLE;
    if (p->lie == OTHER_TYPE)
        block->type = p->memory.memoryTypeCount;
    if (p->lie == UNALIGNED)
        block->offset++;
    if (p->lie == NOT_MAPPED)
        block->mapped = NULL;
}

static VkResult give(void *user, const wf_memory_request *request, wf_memory_block *block)
{
    pool *p = user;
    assert_int_equal(request->size, sizeof *request);
    assert_int_equal(block->size, sizeof *block);
    assert_true(request->buffer != VK_NULL_HANDLE && request->requirements.size > 0);
    if (++p->asked == p->fails_at)
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    const uint32_t type = type_of(p, request);
    assert_true(type != UINT32_MAX);
    chunk *c = chunk_of(p, type);
    const uint64_t alignment = request->requirements.alignment,
                   offset = (c->used + alignment - 1) / alignment * alignment;
    assert_true(offset + request->requirements.size <= CHUNK_BYTES);
    c->used = offset + request->requirements.size;
    block->memory = c->memory;
    block->offset = offset;
    block->type = type;
    block->mapped = c->mapped ? c->mapped + offset : NULL;
    block->owner = p;
    p->given++;
    p->offsets += offset > 0;
    if (p->lie != HONEST && (request->required & p->lie_about) == p->lie_about)
        tell_a_lie(p, block);
    return VK_SUCCESS;
}

static void take_back(void *user, const wf_memory_block *block)
{
    pool *p = user;
    assert_ptr_equal(block->owner, p);
    assert_true(p->given > 0);
    p->given--;
}

static wf_device *adopt(engine *e, const wf_vulkan *vulkan, pool *p)
{
    wf_device *device = NULL;
    wf_device_params params = engine_params();
    const wf_memory_source source = {
        .size = sizeof source, .allocate = give, .free = take_back, .user = p};
    params.memory_source = &source;
    *p = (pool){.e = e};
    FUNCTION(e, vkGetPhysicalDeviceMemoryProperties)(e->physical, &p->memory);
    assert_int_equal(wf_device_adopt(vulkan, &params, &device), WF_SUCCESS);
    return device;
}

static void close_pool(pool *p)
{
    assert_int_equal(p->given, 0);
    for (uint32_t i = 0; i < p->chunk_count; i++)
        FUNCTION(p->e, vkFreeMemory)(p->e->device, p->chunks[i].memory, NULL);
    p->chunk_count = 0;
}

static const uint32_t offsets[] = {0, 2, 3, 3, 5}, columns[] = {0, 2, 1, 0, 2};
static const float values[] = {1, 2, 3, 4, 5}, vector[] = {1, 10, 100};
static const wf_spmv_params sparse = {.size = sizeof sparse,
                                      .rows = 4,
                                      .columns = 3,
                                      .row_offsets = offsets,
                                      .column_indices = columns,
                                      .values = values};

/* y = A x with all buffers, the matrix's too, in the application's memory; returns what failed. */
static wf_result multiply(wf_device *device, float out[4])
{
    wf_plan *plan = NULL;
    wf_buffer *x = NULL, *y = NULL;
    wf_result result = wf_spmv_plan(device, &sparse, &plan);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, sizeof vector, WF_MEMORY_DEVICE, &x);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, 4 * sizeof *out, WF_MEMORY_DEVICE, &y);
    if (result == WF_SUCCESS)
        result = wf_buffer_write(x, 0, vector, sizeof vector);
    const wf_bindings bindings = {.size = sizeof bindings, .items = {{.buffer = x}, {.buffer = y}}};
    if (result == WF_SUCCESS)
        result = wf_plan_run(plan, &bindings);
    if (result == WF_SUCCESS)
        result = wf_buffer_read(y, 0, out, 4 * sizeof *out);
    wf_buffer_destroy(&x);
    wf_buffer_destroy(&y);
    wf_plan_destroy(&plan);
    return result;
}

static void test_everything_is_lent(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    pool p;
    product work;
    float out[4] = {0};
    const float expected[] = {201, 30, 0, 504};
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    const unsigned before = engine_counted().memories;
    wf_device *device = adopt(&e, &vulkan, &p);
    product_open(&work, device, NULL);
    product_poison(&work);
    assert_int_equal(wf_plan_run(work.plan, &work.bindings), WF_SUCCESS);
    product_check(&work);
    assert_int_equal(multiply(device, out), WF_SUCCESS);
    assert_memory_equal(out, expected, sizeof out);
    assert_true(p.asked >= 6 && p.offsets >= 4);
    assert_true(p.given >= 3);
    product_close(&work);
    assert_true(p.given <= 1); /* the staging ring stays until the device is destroyed */
    wf_device_destroy(&device);
    assert_int_equal(engine_counted().memories, before);
    close_pool(&p);
    engine_close(&e);
}

/* A device that ends before its buffers gives their memory back at once. */
static void test_device_ends_first(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    pool p;
    wf_buffer *left = NULL;
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    wf_device *device = adopt(&e, &vulkan, &p);
    assert_int_equal(wf_buffer_create(device, 1000, WF_MEMORY_DEVICE, &left), WF_SUCCESS);
    assert_int_equal(p.given, 1);
    wf_device_destroy(&device);
    close_pool(&p);
    wf_buffer_destroy(&left);
    engine_close(&e);
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    pool p;
    float out[4];
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    wf_device *device = adopt(&e, &vulkan, &p);
    assert_int_equal(multiply(device, out), WF_SUCCESS);
    const unsigned calls = p.asked;
    assert_true(calls >= 3);
    wf_device_destroy(&device);
    close_pool(&p);
    for (unsigned n = 1; n <= calls; n++) {
        device = adopt(&e, &vulkan, &p);
        test_expect_errors(true);
        p.fails_at = n;
        assert_int_equal(multiply(device, out), WF_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_non_null(strstr(test_last_error(), "wf_memory_source.allocate"));
        assert_true(p.given <= 1); /* the staging ring stays until the device is destroyed */
        test_expect_errors(false);
        assert_int_equal(multiply(device, out), WF_SUCCESS);
        wf_device_destroy(&device);
        close_pool(&p);
    }
    engine_close(&e);
}

static void test_what_was_not_asked_for(void **state)
{
    (void)state;
    static const char *const texts[LIES] = {"", "no VkDeviceMemory", "cannot have", "alignment",
                                            "not mapped"};
    engine e;
    wf_vulkan vulkan;
    pool p;
    wf_buffer *buffer = NULL;
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    wf_device *device = adopt(&e, &vulkan, &p);
    test_expect_errors(true);
    for (lie l = NO_MEMORY; l < LIES; l++) {
        p.lie = l;
        p.lie_about = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
        assert_int_equal(wf_buffer_create(device, 256, WF_MEMORY_UPLOAD, &buffer),
                         WF_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(test_last_error(), texts[l]));
        assert_null(buffer);
        assert_int_equal(p.given, 0);
    }
    test_expect_errors(false);
    p.lie = HONEST;
    wf_device_destroy(&device);

    /* Only one of the two functions is given. */
    wf_device_params params = engine_params();
    const wf_memory_source half = {.size = sizeof half, .allocate = give, .user = &p};
    params.memory_source = &half;
    test_expect_errors(true);
    assert_int_equal(wf_device_adopt(&vulkan, &params, &device), WF_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(test_last_error(), "go together"));
    test_expect_errors(false);
    close_pool(&p);
    engine_close(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_is_lent),
        cmocka_unit_test(test_device_ends_first),
        cmocka_unit_test(test_every_allocation_fails),
        cmocka_unit_test(test_what_was_not_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
