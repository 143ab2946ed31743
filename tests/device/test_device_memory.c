/* Memory of devices: what small buffers share, and what is kept for the next ones. */
#include <stdint.h>
#include <string.h>

#include "core/block.h"
#include "core/buffer.h"
#include "core/random.h"
#include "harness.h"
#include "staged.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define KIB UINT64_C(1024)

/* ------------------------------------------------------------------------------ shared memory */

static bool overlap(const wf_buffer *a, const wf_buffer *b)
{
    const wf_memory_block *in_a = &a->memory.block, *in_b = &b->memory.block;
    return in_a->memory == in_b->memory && in_a->offset < in_b->offset + b->memory.bytes &&
           in_b->offset < in_a->offset + a->memory.bytes;
}

static unsigned chunks_of(const wf_buffer *const *buffers, int count)
{
    unsigned chunks = 0;
    for (int i = 0; i < count; i++) {
        bool seen = false;
        for (int j = 0; j < i; j++)
            seen = seen || (buffers[i] && buffers[j] &&
                            buffers[i]->memory.block.memory == buffers[j]->memory.block.memory);
        chunks += buffers[i] && !seen;
    }
    return chunks;
}

enum { BUFFERS = 96 };

static void assert_apart(wf_buffer *const *buffers)
{
    for (int i = 0; i < BUFFERS; i++)
        for (int j = 0; j < i; j++)
            if (buffers[i] && buffers[j])
                assert_false(overlap(buffers[i], buffers[j]));
}

/* Buffers come and go in random order; none overlaps another, and each keeps its words. */
static void test_chunks(void **state)
{
    wf_device *device = *state;
    wf_buffer *buffers[BUFFERS] = {NULL};
    uint32_t words[2];
    test_random random = {test_seed()};
    wfi_chunk *const before = device->chunks;
    for (int round = 0; round < 600; round++) {
        const uint32_t i = test_random_below(&random, BUFFERS);
        if (buffers[i]) {
            assert_int_equal(wf_buffer_read(buffers[i], 0, words, sizeof words), WF_SUCCESS);
            assert_int_equal(words[0], i);
            wf_buffer_destroy(&buffers[i]);
            continue;
        }
        const uint64_t bytes = 8 + test_random_below(&random, round % 9 ? 9000 : 200000);
        assert_int_equal(wf_buffer_create(device, bytes, WF_MEMORY_READBACK, &buffers[i]),
                         WF_SUCCESS);
        assert_int_equal(wf_buffer_fill(buffers[i], 0, wf_buffer_size(buffers[i]), i), WF_SUCCESS);
        assert_int_equal((uintptr_t)wf_buffer_mapped(buffers[i]) % 64, 0);
        if (round % 50 == 0)
            assert_apart(buffers);
    }
    for (int i = 0; i < BUFFERS; i++)
        wf_buffer_destroy(&buffers[i]);
    assert_ptr_equal(device->chunks, before); /* the chunk was freed */
}

static void test_small_buffers_share(void **state)
{
    wf_buffer *buffers[5];
    for (int i = 0; i < 5; i++)
        assert_int_equal(wf_buffer_create(*state, 20, WF_MEMORY_DEVICE, &buffers[i]), WF_SUCCESS);
    assert_int_equal(chunks_of((const wf_buffer *const *)buffers, 5), 1);
    for (int i = 0; i < 5; i++)
        wf_buffer_destroy(&buffers[i]);
}

/* ------------------------------------------------------------------------- memory that is kept */

#define MIB (1024 * KIB)

static void keep_at_most(wf_device *device, uint64_t bytes)
{
    wfi_blocks_free(device);
    for (uint32_t i = 0; i < device->memory.memoryHeapCount; i++)
        device->kept_most[i] = bytes;
}

/* What a buffer leaves serves the next of about its size, up to the bound and until it is asked
 * for. */
static void check_kept(wf_device *device)
{
    keep_at_most(device, 8 * MIB);
    wf_buffer *a = test_buffer(device, 3 * MIB), *b, *c;
    const VkDeviceMemory memory = a->memory.block.memory;
    wf_buffer_destroy(&a);
    assert_int_equal(device->kept_count, 1);
    b = test_buffer(device, MIB); /* far less than what is kept */
    assert_true(b->memory.block.memory != memory);
    a = test_buffer(device, 4 * MIB);
    assert_true(a->memory.block.memory == memory);
    assert_int_equal(device->kept_count, 0);
    wf_buffer_destroy(&a);
    a = test_buffer(device, 3 * MIB); /* the size that left it */
    assert_true(a->memory.block.memory == memory);
    c = test_buffer(device, 8 * MIB);
    wf_buffer_destroy(&a);
    wf_buffer_destroy(&b);
    assert_int_equal(device->kept_count, 2);
    wf_buffer_destroy(&c); /* the oldest make room for it */
    assert_int_equal(device->kept_count, 1);
    c = test_buffer(device, 10 * MIB);
    wf_buffer_destroy(&c); /* more than is ever kept */
    assert_int_equal(device->kept_count, 1);
    uint64_t kept = 0;
    for (uint32_t i = 0; i < device->memory.memoryHeapCount; i++)
        kept += wfi_blocks_kept(device, i);
    assert_int_equal(kept, 8 * MIB);
    assert_int_equal(wf_device_collect(device, NULL), WF_SUCCESS);
    assert_int_equal(device->kept_count, 0);
    keep_at_most(device, 0);
    a = test_buffer(device, 3 * MIB);
    wf_buffer_destroy(&a);
    assert_int_equal(device->kept_count, 0);
}

static VkResult give_nothing(void *user, const wf_memory_request *request, wf_memory_block *block)
{
    (void)user;
    (void)request;
    (void)block;
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

/* Of what the driver gives on a card, not of less than a page of 2 MiB nor beyond what a buffer can
 * have. */
static void test_what_is_dedicated(void **state)
{
    wf_device *device = *state;
    const wf_caps caps = device->caps;
    assert_false(device->dedicates || wfi_blocks_are_dedicated(device));
    assert_int_equal(wfi_block_extent(device, 8 * MIB), 0);
    device->caps.device_type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    device->caps.max_buffer = 9 * MIB;
    device->dedicates = wfi_blocks_are_dedicated(device);
    assert_true(device->dedicates);
    assert_int_equal(wfi_block_extent(device, 2 * MIB - 4), 0);
    assert_int_equal(wfi_block_extent(device, 2 * MIB), 2 * MIB);
    assert_int_equal(wfi_block_extent(device, 5 * MIB + 4), 6 * MIB);
    assert_int_equal(wfi_block_extent(device, 8 * MIB + 4), 0);
    device->memory_source.allocate = give_nothing;
    assert_false(wfi_blocks_are_dedicated(device));
    device->memory_source.allocate = NULL;
    device->caps = caps;
    device->dedicates = false;
}

static void test_kept(void **state)
{
    check_kept(*state);
}

/* The same where large buffers have dedicated allocations, as on cards: a VkBuffer stays with its
 * memory, which the validation layer watches. */
static void test_kept_dedicated(void **state)
{
    wf_device *device = *state;
    device->dedicates = true;
    check_kept(device);
    keep_at_most(device, 8 * MIB);
    wf_buffer *a = test_buffer(device, 3 * MIB), *small = test_buffer(device, MIB), *host = NULL;
    const VkBuffer vk = wf_buffer_handle(a);
    assert_true(vk == a->memory.buffer);
    wf_buffer_destroy(&a);
    /* What is dedicated to a buffer serves no other. */
    assert_int_equal(wf_buffer_create(device, 3 * MIB, WF_MEMORY_UPLOAD, &host), WF_SUCCESS);
    device->dedicates = false;
    wf_buffer *any = test_buffer(device, 3 * MIB);
    device->dedicates = true;
    assert_int_equal(device->kept_count, 1);
    assert_true(!small->memory.buffer && !host->memory.buffer && !any->memory.buffer);
    a = test_buffer(device, 3 * MIB + 4);
    assert_true(wf_buffer_handle(a) == vk);
    assert_int_equal(wf_buffer_size(a), 3 * MIB + 4);
    assert_int_equal(wf_buffer_fill(a, 0, wf_buffer_size(a), 7), WF_SUCCESS);
    wf_buffer_destroy(&a);
    wf_buffer_destroy(&small);
    wf_buffer_destroy(&host);
    wf_buffer_destroy(&any);
    keep_at_most(device, 0);
    device->dedicates = false;
}

static VKAPI_ATTR VkResult VKAPI_CALL refuse_bind(VkDevice device, VkBuffer buffer,
                                                  VkDeviceMemory memory, VkDeviceSize offset)
{
    (void)device;
    (void)buffer;
    (void)memory;
    (void)offset;
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static VKAPI_ATTR VkResult VKAPI_CALL refuse_memory(VkDevice device,
                                                    const VkMemoryAllocateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkDeviceMemory *memory)
{
    (void)device;
    (void)info;
    (void)allocator;
    *memory = VK_NULL_HANDLE;
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

/* A buffer whose memory fails is destroyed once, and its memory is neither kept nor lost, which the
 * validation layer tells when the device goes. */
static void test_dedicated_failures(void **state)
{
    wf_device *device = *state;
    const PFN_vkBindBufferMemory bind = device->fn.vkBindBufferMemory;
    const PFN_vkAllocateMemory allocate = device->fn.vkAllocateMemory;
    wf_buffer *buffer = NULL;
    device->dedicates = true;
    keep_at_most(device, 8 * MIB);
    device->fn.vkBindBufferMemory = refuse_bind;
    assert_int_equal(wf_buffer_create(device, 3 * MIB, WF_MEMORY_DEVICE, &buffer),
                     WF_ERROR_OUT_OF_DEVICE_MEMORY);
    device->fn.vkBindBufferMemory = bind;
    device->fn.vkAllocateMemory = refuse_memory;
    assert_int_equal(wf_buffer_create(device, 3 * MIB, WF_MEMORY_DEVICE, &buffer),
                     WF_ERROR_OUT_OF_DEVICE_MEMORY);
    device->fn.vkAllocateMemory = allocate;
    assert_int_equal(device->kept_count, 0);
    buffer = test_buffer(device, 3 * MIB);
    wf_buffer_destroy(&buffer);
    assert_int_equal(device->kept_count, 1);
    keep_at_most(device, 0);
    device->dedicates = false;
}

/* Buffers that come and go in drawn order and sizes have their own memory: each still holds what
 * was written to it when it goes. */
static void check_kept_apart(wf_device *device)
{
    enum { PLACES = 12, STEPS = 300 };
    wf_buffer *buffers[PLACES] = {NULL};
    unsigned char marks[PLACES], block[4096], found[4096];
    uint64_t random = 3;
    keep_at_most(device, 6 * MIB);
    for (int step = 0; step < STEPS; step++) {
        const uint64_t bits = wfi_random_bits(&random);
        const int i = (int)(bits % PLACES);
        if (buffers[i]) {
            const uint64_t last = wf_buffer_size(buffers[i]) - sizeof found;
            memset(block, marks[i], sizeof block);
            for (int end = 0; end < 2; end++) {
                assert_int_equal(wf_buffer_read(buffers[i], end ? last : 0, found, sizeof found),
                                 WF_SUCCESS);
                assert_memory_equal(found, block, sizeof found);
            }
            wf_buffer_destroy(&buffers[i]);
            continue;
        }
        buffers[i] = test_buffer(device, (64 + (bits >> 8) % 4000) * KIB);
        marks[i] = (unsigned char)(bits >> 40);
        memset(block, marks[i], sizeof block);
        for (int end = 0; end < 2; end++)
            assert_int_equal(wf_buffer_write(buffers[i],
                                             end ? wf_buffer_size(buffers[i]) - sizeof block : 0,
                                             block, sizeof block),
                             WF_SUCCESS);
    }
    for (int i = 0; i < PLACES; i++)
        wf_buffer_destroy(&buffers[i]);
    keep_at_most(device, 0);
}

static void test_kept_apart(void **state)
{
    wf_device *device = *state;
    check_kept_apart(device);
    device->dedicates = true;
    check_kept_apart(device);
    device->dedicates = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_small_buffers_share),
        cmocka_unit_test(test_what_is_dedicated),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_kept_dedicated),
        cmocka_unit_test(test_dedicated_failures),
        cmocka_unit_test(test_kept_apart),
    };
    return cmocka_run_group_tests(tests, test_staged_setup, test_device_teardown);
}
