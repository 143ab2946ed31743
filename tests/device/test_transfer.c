/* Transfers through staging, in pieces and by several threads, forced on devices that map all of
 * their memory. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "core/share.h"
#include "core/staging.h"
#include "core/transfer.h"
#include "harness.h"
#include "staged.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define MOST (37 * 1024 * KIB + 4099) /* larger than the ring, which has 32 MiB */

static unsigned char expected(uint64_t at)
{
    return (unsigned char)((at * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
}

/* Writes `bytes` bytes at `offset` from memory at no alignment and reads them back; what lies
 * beside them in the buffer stays. */
static void round_trip(wf_device *device, uint64_t offset, uint64_t bytes)
{
    wf_buffer *buffer = NULL;
    unsigned char *in = malloc(bytes + 1), *out = malloc(bytes + 3), edge[8];
    assert_true(in && out);
    for (uint64_t i = 0; i < bytes; i++)
        in[i + 1] = expected(i);
    memset(out, 0x55, bytes + 3);
    assert_int_equal(wf_buffer_create(device, offset + bytes + 8, WF_MEMORY_DEVICE, &buffer),
                     WF_SUCCESS);
    assert_null(wf_buffer_mapped(buffer));
    test_poison(buffer);
    assert_int_equal(wf_buffer_write(buffer, offset, in + 1, bytes), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(buffer, offset, out + 3, bytes), WF_SUCCESS);
    for (uint64_t i = 0; i < bytes; i++)
        if (out[i + 3] != expected(i))
            fail_msg("byte %llu of %llu is wrong", (unsigned long long)i,
                     (unsigned long long)bytes);
    assert_int_equal(out[2], 0x55);
    assert_int_equal(wf_buffer_read(buffer, offset + bytes, edge, 8), WF_SUCCESS);
    assert_int_equal(edge[0], 0xff);
    if (offset > 0) {
        assert_int_equal(wf_buffer_read(buffer, offset - 1, edge, 1), WF_SUCCESS);
        assert_int_equal(edge[0], 0xff);
    }
    wf_buffer_destroy(&buffer);
    free(in);
    free(out);
}

static void test_sizes(void **state)
{
    static const uint64_t sizes[] = {
        1, 4095, 64 * KIB, 256 * KIB + 1, 1024 * KIB - 1, 1024 * KIB, 4096 * KIB + 5, MOST};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        round_trip(*state, 0, sizes[i]);
        round_trip(*state, 4 + i, sizes[i]);
    }
}

/* A waiting thread polls the fence on GPUs. */
static void test_asking(void **state)
{
    wf_device *device = *state;
    device->poll_seconds = 10;
    round_trip(device, 0, 4096);
    round_trip(device, 5, 4096 * KIB + 5);
    device->poll_seconds = 1e-6;
    round_trip(device, 5, 4096 * KIB + 5);
    device->poll_seconds = 0;
}

/* Copies within the host's memory, as into buffers that are mapped. */
static void test_host_copies(void **state)
{
    unsigned char *in = malloc(MOST), *out = calloc(1, MOST + 1);
    assert_true(in && out);
    for (uint64_t i = 0; i < MOST; i++)
        in[i] = expected(i);
    wfi_copy(*state, out + 1, in, MOST);
    assert_memory_equal(out + 1, in, MOST);
    assert_int_equal(out[0], 0);
    free(in);
    free(out);
}

/* Where the memory budget is small, the ring is smaller, down to a slot or two. */
static void test_small_ring(void **state)
{
    wf_device *device = *state;
    wf_buffer_destroy(&device->staging->ring);
    assert_int_equal(
        wf_buffer_create(device, 192 * KIB, WF_MEMORY_READBACK, &device->staging->ring),
        WF_SUCCESS);
    const VkMemoryHeap heap = device->memory.memoryHeaps[0];
    for (uint32_t i = 0; i < device->memory.memoryHeapCount; i++)
        device->memory.memoryHeaps[i].size = 1;
    round_trip(device, 3, 1024 * KIB + 7);
    assert_int_equal(wf_buffer_size(device->staging->ring), 256 * KIB);
    for (uint32_t i = 0; i < device->memory.memoryHeapCount; i++)
        device->memory.memoryHeaps[i].size = heap.size;
}

/* ------------------------------------------------------------------------- imported memory */

static unsigned copies; /* by the device */
static uint64_t largest;
static PFN_vkCmdCopyBuffer real_copy;

static void VKAPI_CALL count_copy(VkCommandBuffer commands, VkBuffer from, VkBuffer to,
                                  uint32_t count, const VkBufferCopy *regions)
{
    copies += count;
    largest = regions[0].size > largest ? regions[0].size : largest;
    real_copy(commands, from, to, count, regions);
}

/* Data of which a part lies in imported memory, at odd addresses: that part is one copy, and the
 * ends go through staging. */
static void test_imported(void **state)
{
    wf_device *device = *state;
    const uint64_t unit = device->caps.host_import_alignment, whole = 40 * 1024 * KIB;
    if (!unit) {
        wf_host_memory *none = NULL;
        unsigned char byte;
        test_expect_errors(true);
        assert_int_equal(wf_host_memory_create(device, &byte, 1, &none), WF_ERROR_UNSUPPORTED);
        assert_non_null(strstr(test_last_error(), "VK_EXT_external_memory_host"));
        test_expect_errors(false);
        return;
    }
    unsigned char *data = malloc(whole);
    wf_buffer *buffer = NULL;
    wf_host_memory *host = NULL;
    assert_non_null(data);
    assert_int_equal(wf_buffer_create(device, whole, WF_MEMORY_DEVICE, &buffer), WF_SUCCESS);
    const wf_result result = wf_host_memory_create(device, data + 1001, whole - 3003, &host);
    /* SwiftShader and, in front of every driver, wine have the extension but say that no buffer can
     * be bound to such memory. */
    if (result == WF_ERROR_UNSUPPORTED &&
        (device->caps.driver_id != VK_DRIVER_ID_MESA_LLVMPIPE || TEST_ON_WINDOWS)) {
        wf_buffer_destroy(&buffer);
        free(data);
        return;
    }
    assert_int_equal(result, WF_SUCCESS);
    for (uint64_t i = 0; i < whole; i++)
        data[i] = expected(i);
    real_copy = device->fn.vkCmdCopyBuffer;
    device->fn.vkCmdCopyBuffer = count_copy;
    copies = 0;
    largest = 0;
    assert_int_equal(wf_buffer_write(buffer, 3, data + 2, whole - 5), WF_SUCCESS);
    assert_int_equal(copies, 3); /* the ends are shorter than a piece */
    assert_true(largest >= whole - 5000 - 2 * unit);
    memset(data, 0, whole);
    assert_int_equal(wf_buffer_read(buffer, 3, data + 2, whole - 5), WF_SUCCESS);
    assert_int_equal(copies, 6);
    for (uint64_t i = 2; i < whole - 3; i++)
        if (data[i] != expected(i))
            fail_msg("byte %llu is wrong", (unsigned long long)i);
    assert_int_equal(data[1], 0);
    assert_int_equal(data[whole - 1], 0);
    /* Small parts of it, inside and across its beginning. */
    memset(data, 0x33, 8192);
    assert_int_equal(wf_buffer_write(buffer, 0, data, 8192), WF_SUCCESS);
    memset(data, 0, 8192);
    assert_int_equal(wf_buffer_read(buffer, 100, data + 4000, 4000), WF_SUCCESS);
    assert_int_equal(data[4000], 0x33);
    assert_int_equal(data[7999], 0x33);
    assert_int_equal(data[8000], 0);
    wf_host_memory_destroy(&host);
    assert_null(host);
    copies = 0;
    assert_int_equal(wf_buffer_write(buffer, 0, data, whole), WF_SUCCESS);
    assert_true(copies > 3); /* through staging again */
    device->fn.vkCmdCopyBuffer = real_copy;
    wf_buffer_destroy(&buffer);
    free(data);
}

/* Memory smaller than the alignment cannot be imported, which is no error. */
static void test_imported_little(void **state)
{
    wf_device *device = *state;
    unsigned char data[100] = {7};
    wf_host_memory *host = NULL;
    if (!device->caps.host_import_alignment)
        return;
    assert_int_equal(wf_host_memory_create(device, data, sizeof data, &host), WF_SUCCESS);
    round_trip(device, 0, 4096);
    wf_host_memory_destroy(&host);
    test_expect_errors(true);
    assert_int_equal(wf_host_memory_create(device, NULL, 4096, &host), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_host_memory_create(device, data, 0, &host), WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
}

/* ------------------------------------------------------- device memory that the host may write */

typedef struct small_write {
    wf_buffer *buffer;
    const unsigned char *data;
    wf_result result;
    atomic_bool done;
} small_write;

static void *write_little(void *user)
{
    small_write *w = user;
    w->result = wf_buffer_write(w->buffer, 0, w->data, 1024 * KIB);
    atomic_store(&w->done, true);
    return NULL;
}

/* What the host writes itself does not wait for transfers under way, which have the lock. */
static void writes_beside_transfers(wf_device *device, wf_buffer *buffer, const unsigned char *data)
{
    small_write w = {.buffer = buffer, .data = data};
    pthread_t thread;
    wfi_mutex_lock(&device->staging->lock);
    assert_int_equal(pthread_create(&thread, NULL, write_little, &w), 0);
    for (int i = 0; i < 1000 && !atomic_load(&w.done); i++)
        wfi_sleep(0.01);
    const bool waits = !atomic_load(&w.done);
    wfi_mutex_unlock(&device->staging->lock);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_false(waits);
    assert_int_equal(w.result, WF_SUCCESS);
}

/* The device as a card of which the host sees all memory, but does not cache it: small writes make
 * no copy on the device, reads and large writes do. */
static void test_window(void **state)
{
    wf_device *device = *state;
    const uint32_t type = device->caps.device_type;
    const VkPhysicalDeviceMemoryProperties memory = device->memory;
    wf_buffer *buffer = NULL;
    if (device->caps.limits == WF_LIMITS_MINIMUM)
        return;
    unsigned char *data = malloc(20 * 1024 * KIB);
    assert_non_null(data);
    device->caps.device_type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++)
        device->memory.memoryTypes[i].propertyFlags &=
            ~(VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    real_copy = device->fn.vkCmdCopyBuffer;
    device->fn.vkCmdCopyBuffer = count_copy;
    assert_int_equal(wf_buffer_create(device, 20 * 1024 * KIB, WF_MEMORY_DEVICE, &buffer),
                     WF_SUCCESS);
    assert_null(wf_buffer_mapped(buffer));
    test_poison(buffer);
    for (uint64_t i = 0; i < 20 * 1024 * KIB; i++)
        data[i] = expected(i);
    copies = 0;
    assert_int_equal(wf_buffer_write(buffer, 5, data, 4 * 1024 * KIB), WF_SUCCESS);
    assert_int_equal(copies, 0);
    memset(data, 0, 4 * 1024 * KIB);
    assert_int_equal(wf_buffer_read(buffer, 5, data, 4 * 1024 * KIB + 1), WF_SUCCESS);
    assert_true(copies > 0);
    for (uint64_t i = 0; i < 4 * 1024 * KIB; i++)
        assert_int_equal(data[i], expected(i));
    assert_int_equal(data[4 * 1024 * KIB], 0xff);
    copies = 0;
    assert_int_equal(wf_buffer_write(buffer, 0, data, 20 * 1024 * KIB), WF_SUCCESS);
    assert_true(copies > 0);
    writes_beside_transfers(device, buffer, data);
    copies = 0;
    wf_host_memory *host = NULL;
    if (device->caps.host_import_alignment &&
        wf_host_memory_create(device, data, 20 * 1024 * KIB, &host) == WF_SUCCESS) {
        /* The device copies imported memory itself, if it is not little. */
        assert_int_equal(wf_buffer_write(buffer, 0, data + 4096, 64 * KIB), WF_SUCCESS);
        assert_int_equal(copies, 0);
        assert_int_equal(wf_buffer_write(buffer, 0, data + 4096, 4 * 1024 * KIB), WF_SUCCESS);
        assert_true(copies > 0);
        wf_host_memory_destroy(&host);
    }
    wf_buffer_destroy(&buffer);
    device->fn.vkCmdCopyBuffer = real_copy;
    device->memory = memory;
    device->caps.device_type = type;
    free(data);
}

static void reads(wf_buffer *buffer, uint64_t offset, uint32_t value, int recorded)
{
    uint32_t words[25] = {0};
    copies = 0;
    assert_int_equal(wf_buffer_fill(buffer, 0, 4096, value), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(buffer, offset, words, sizeof words), WF_SUCCESS);
    for (int i = 0; i < 25; i++)
        assert_int_equal(words[i], value);
    assert_int_equal(copies, recorded);
}

/* A copy like the last one in its place is recorded once; one of other bytes, or of a buffer that
 * came after the last, is not taken for it. */
static void test_recorded_once(void **state)
{
    wf_device *device = *state;
    wf_buffer *buffer = NULL;
    real_copy = device->fn.vkCmdCopyBuffer;
    device->fn.vkCmdCopyBuffer = count_copy;
    for (uint32_t n = 0; n < 3; n++) {
        assert_int_equal(wf_buffer_create(device, 4096, WF_MEMORY_DEVICE, &buffer), WF_SUCCESS);
        reads(buffer, 8, 10 * n + 1, 1);
        reads(buffer, 8, 10 * n + 2, 0);
        reads(buffer, 12, 10 * n + 3, 1);
        reads(buffer, 8, 10 * n + 4, 1);
        wf_buffer_destroy(&buffer);
    }
    device->fn.vkCmdCopyBuffer = real_copy;
}

/* --------------------------------------------------------------------------- without waiting */

static void test_begun(void **state)
{
    enum { COUNT = 5 };
    const uint64_t bytes = 1500 * KIB + 1;
    wf_buffer *buffers[COUNT];
    wf_transfer *up[COUNT], *down[COUNT];
    unsigned char *data[COUNT], *back[COUNT];
    for (int i = 0; i < COUNT; i++) {
        data[i] = malloc(bytes);
        back[i] = calloc(1, bytes);
        assert_true(data[i] && back[i]);
        for (uint64_t n = 0; n < bytes; n++)
            data[i][n] = expected(n + (uint64_t)i);
        assert_int_equal(wf_buffer_create(*state, bytes, WF_MEMORY_DEVICE, &buffers[i]),
                         WF_SUCCESS);
        assert_int_equal(wf_buffer_write_begin(buffers[i], 0, data[i], bytes, &up[i]), WF_SUCCESS);
        assert_int_equal(wf_buffer_read_begin(buffers[i], 0, back[i], bytes, &down[i]), WF_SUCCESS);
    }
    while (wf_transfer_status(down[COUNT - 1]) == WF_NOT_READY)
        ;
    for (int i = 0; i < COUNT; i++) { /* transfers end in the order in which they began */
        assert_int_equal(wf_transfer_status(up[i]), WF_SUCCESS);
        assert_int_equal(wf_transfer_end(&up[i]), WF_SUCCESS);
        assert_int_equal(wf_transfer_end(&down[i]), WF_SUCCESS);
        assert_null(down[i]);
        assert_memory_equal(data[i], back[i], bytes);
        wf_buffer_destroy(&buffers[i]);
        free(data[i]);
        free(back[i]);
    }
    assert_int_equal(wf_transfer_end(&up[0]), WF_SUCCESS);
}

static void test_begun_badly(void **state)
{
    unsigned char byte = 0;
    wf_buffer *buffer = NULL;
    wf_transfer *transfer = NULL;
    assert_int_equal(wf_buffer_create(*state, 16, WF_MEMORY_DEVICE, &buffer), WF_SUCCESS);
    test_expect_errors(true);
    assert_int_equal(wf_buffer_write_begin(buffer, 16, &byte, 1, &transfer),
                     WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_buffer_read_begin(buffer, 0, NULL, 1, &transfer),
                     WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_buffer_read_begin(buffer, 0, &byte, 1, NULL), WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
    assert_null(transfer);
    assert_int_equal(wf_buffer_write_begin(buffer, 0, NULL, 0, &transfer), WF_SUCCESS);
    assert_int_equal(wf_transfer_end(&transfer), WF_SUCCESS);
    wf_buffer_destroy(&buffer);
}

/* Destroying the device first completes all transfers that were begun. */
static void test_device_ends_first(void **state)
{
    (void)state;
    const wf_device_params params = test_device_params();
    wf_device *device = NULL;
    wf_buffer *buffer = NULL;
    wf_transfer *up = NULL, *down = NULL;
    uint32_t in = 77, out = 0;
    assert_int_equal(wf_device_create(&params, &device), WF_SUCCESS);
    device->caps.unified_memory = false;
    assert_int_equal(wf_buffer_create(device, 4, WF_MEMORY_DEVICE, &buffer), WF_SUCCESS);
    assert_int_equal(wf_buffer_write_begin(buffer, 0, &in, 4, &up), WF_SUCCESS);
    assert_int_equal(wf_buffer_read_begin(buffer, 0, &out, 4, &down), WF_SUCCESS);
    test_expect_errors(true);
    wf_device_destroy(&device);
    test_expect_errors(false);
    assert_int_equal(wf_transfer_end(&up), WF_SUCCESS);
    assert_int_equal(wf_transfer_end(&down), WF_SUCCESS);
    assert_int_equal(out, 77);
    wf_buffer_destroy(&buffer);
}

typedef struct mover {
    wf_device *device;
    uint64_t bytes;
    pthread_t thread;
    unsigned failures;
} mover;

/* cmocka's assertions belong to its own thread. */
static void *move(void *user)
{
    mover *m = user;
    wf_buffer *buffer = NULL;
    unsigned char *data = malloc(m->bytes);
    bool ok =
        data && wf_buffer_create(m->device, m->bytes, WF_MEMORY_DEVICE, &buffer) == WF_SUCCESS;
    for (int round = 0; ok && round < 4; round++) {
        for (uint64_t i = 0; i < m->bytes; i++)
            data[i] = expected(i + m->bytes + (uint64_t)round);
        ok = wf_buffer_write(buffer, 0, data, m->bytes) == WF_SUCCESS;
        memset(data, 0, m->bytes);
        ok = ok && wf_buffer_read(buffer, 0, data, m->bytes) == WF_SUCCESS;
        for (uint64_t i = 0; ok && i < m->bytes; i++)
            ok = data[i] == expected(i + m->bytes + (uint64_t)round);
    }
    m->failures += !ok;
    wf_buffer_destroy(&buffer);
    free(data);
    return NULL;
}

static void test_threads(void **state)
{
    mover movers[4];
    for (int i = 0; i < 4; i++) {
        movers[i] = (mover){.device = *state, .bytes = 777 + (uint64_t)i * 600 * KIB};
        assert_int_equal(pthread_create(&movers[i].thread, NULL, move, &movers[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(movers[i].thread, NULL);
    for (int i = 0; i < 4; i++)
        assert_int_equal(movers[i].failures, 0);
}

/* --------------------------------------------------------------------- work on several threads */

static void make_expected(void *user, uint64_t at, uint64_t bytes, void *to)
{
    atomic_fetch_add((atomic_uint *)user, 1);
    for (uint64_t i = 0; i < bytes; i++)
        ((unsigned char *)to)[i] = expected(at + i);
}

/* Bytes that are made for a buffer, where the host sees its memory and where it does not, each once
 * and nothing beside them. */
static void test_made(void **state)
{
    static const uint64_t sizes[] = {4, 8192 * KIB + 12, 17 * MIB + 4};
    static const uint64_t parts[] = {4096, 12 * MIB};
    wf_device *device = *state;
    for (size_t n = 0; n < 2 * 2 * WFI_COUNT(sizes); n++) {
        const uint64_t bytes = sizes[n / 4], part = parts[n / 2 % 2];
        device->caps.unified_memory = n % 2;
        wf_buffer *buffer = test_buffer(device, bytes + 8);
        unsigned char *found = malloc(bytes + 8);
        atomic_uint calls = 0;
        const wfi_maker maker = {make_expected, &calls, part};
        assert_non_null(found);
        assert_true((buffer->window != NULL) == (n % 2));
        test_poison(buffer);
        assert_int_equal(wfi_buffer_make(buffer, 4, bytes, &maker), WF_SUCCESS);
        assert_int_equal(wf_buffer_read(buffer, 0, found, bytes + 8), WF_SUCCESS);
        for (uint64_t i = 0; i < bytes; i++)
            if (found[i + 4] != expected(i))
                fail_msg("byte %llu of %llu is wrong", (unsigned long long)i,
                         (unsigned long long)bytes);
        assert_true(found[3] == 0xff && found[bytes + 4] == 0xff);
        assert_true(atomic_load(&calls) >= (bytes + part - 1) / part);
        wf_buffer_destroy(&buffer);
        free(found);
    }
    device->caps.unified_memory = false;
}

static void count_part(void *user, uint32_t part)
{
    atomic_fetch_add(&((atomic_uint *)user)[part], 1);
}

static void test_shared_work(void **state)
{
    enum { MOST_PARTS = 1000 };
    for (uint32_t parts = 0; parts <= MOST_PARTS; parts = 3 * parts + 1) {
        static atomic_uint counts[MOST_PARTS];
        for (uint32_t i = 0; i < MOST_PARTS; i++)
            atomic_store(&counts[i], 0);
        wfi_share(*state, parts, count_part, counts);
        for (uint32_t i = 0; i < MOST_PARTS; i++)
            assert_int_equal(atomic_load(&counts[i]), i < parts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),           cmocka_unit_test(test_asking),
        cmocka_unit_test(test_host_copies),     cmocka_unit_test(test_small_ring),
        cmocka_unit_test(test_threads),         cmocka_unit_test(test_made),
        cmocka_unit_test(test_shared_work),     cmocka_unit_test(test_imported),
        cmocka_unit_test(test_imported_little), cmocka_unit_test(test_window),
        cmocka_unit_test(test_recorded_once),   cmocka_unit_test(test_begun),
        cmocka_unit_test(test_begun_badly),     cmocka_unit_test(test_device_ends_first),
    };
    return cmocka_run_group_tests(tests, test_staged_setup, test_device_teardown);
}
