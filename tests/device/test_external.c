/* Buffers in memory that others have too: the application's own, and device memory that goes to
 * another device as a file descriptor. */
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define COUNT 5000

/* y[i] = i + 2 x[i], by the device, of which x is a wf_buffer of its own with i in it. */
static void add_to(wf_device *device, wf_buffer *y, uint64_t offset)
{
    const wf_vector_params params = {.size = sizeof params,
                                     .operation = WF_VECTOR_AXPY,
                                     .count = COUNT,
                                     .type = WF_TYPE_F32,
                                     .alpha = 2};
    float numbers[COUNT];
    wf_buffer *x = NULL;
    wf_plan *plan = NULL;
    for (int i = 0; i < COUNT; i++)
        numbers[i] = (float)i;
    assert_int_equal(wf_buffer_create(device, sizeof numbers, WF_MEMORY_DEVICE, &x), WF_SUCCESS);
    assert_int_equal(wf_buffer_write(x, 0, numbers, sizeof numbers), WF_SUCCESS);
    assert_int_equal(wf_vector_plan(device, &params, &plan), WF_SUCCESS);
    wf_bindings bindings = {.size = sizeof bindings};
    bindings.items[WF_VECTOR_X].buffer = x;
    bindings.items[WF_VECTOR_Y].buffer = y;
    bindings.items[WF_VECTOR_Y].offset = offset;
    bindings.items[WF_VECTOR_Y].bytes = sizeof numbers;
    assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
    wf_plan_destroy(&plan);
    wf_buffer_destroy(&x);
}

/* SwiftShader and, in front of every driver, wine have the extension but share no buffers. */
static bool refused(const wf_device *device, wf_result result, bool offered, const char *extension)
{
    if (!offered) {
        assert_int_equal(result, WF_ERROR_UNSUPPORTED);
        assert_non_null(strstr(test_last_error(), extension));
        return true;
    }
    if (result == WF_ERROR_UNSUPPORTED &&
        (device->caps.driver_id != VK_DRIVER_ID_MESA_LLVMPIPE || TEST_ON_WINDOWS))
        return true;
    assert_int_equal(result, WF_SUCCESS);
    return false;
}

/* The device works on memory of the test's, and on nothing beside it. */
static void test_host(void **state)
{
    wf_device *device = *state;
    const uint64_t step = device->caps.storage_alignment;
    unsigned char *memory = malloc(COUNT * sizeof(float) + 2 * step);
    assert_non_null(memory);
    memset(memory, 0x55, COUNT * sizeof(float) + 2 * step);
    unsigned char *data = memory + step - (uintptr_t)memory % step;
    float numbers[COUNT];
    wf_buffer *buffer = NULL;
    uint64_t offset = 0;
    for (int i = 0; i < COUNT; i++)
        numbers[i] = (float)i;
    memcpy(data, numbers, sizeof numbers);
    test_expect_errors(true);
    const wf_result result = wf_buffer_import_host(device, data, sizeof numbers, &buffer, &offset);
    test_expect_errors(false);
    if (!refused(device, result, device->caps.host_import_alignment,
                 "VK_EXT_external_memory_host")) {
        assert_ptr_equal((unsigned char *)wf_buffer_mapped(buffer) + offset, data);
        add_to(device, buffer, offset);
        memcpy(numbers, data, sizeof numbers);
        for (int i = 0; i < COUNT; i++)
            assert_true(numbers[i] == 3.0F * (float)i);
        assert_int_equal(data[-1], 0x55);
        assert_int_equal(data[sizeof numbers], 0x55);
        assert_int_equal(wf_buffer_fill(buffer, offset, 8, 0), WF_SUCCESS);
        assert_int_equal(data[7], 0);
        wf_buffer_destroy(&buffer);
        assert_int_equal(data[8], ((unsigned char *)numbers)[8]); /* the memory is still ours */
    }
    free(memory);
}

static void test_host_badly(void **state)
{
    wf_device *device = *state;
    unsigned char byte = 0;
    wf_buffer *buffer = NULL;
    uint64_t offset = 0;
    test_expect_errors(true);
    assert_int_equal(wf_buffer_import_host(NULL, &byte, 1, &buffer, &offset),
                     WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_buffer_import_host(device, NULL, 1, &buffer, &offset),
                     WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_buffer_import_host(device, &byte, 0, &buffer, &offset),
                     WF_ERROR_INVALID_ARGUMENT);
    /* At half a step of the alignment that bindings need, wherever the driver has one. */
    const uint64_t alignment = device->caps.storage_alignment;
    unsigned char many[64];
    if (device->caps.host_import_alignment && alignment > 1) {
        unsigned char *odd = many + (alignment - (uintptr_t)many % alignment) % alignment + 1;
        assert_int_equal(wf_buffer_import_host(device, odd, 8, &buffer, &offset),
                         WF_ERROR_UNSUPPORTED);
    }
    test_expect_errors(false);
    assert_null(buffer);
}

/* What one device writes, another has, in both directions, and after the first is gone. */
static void test_fd(void **state)
{
    wf_device *device = *state, *other = NULL;
    wf_buffer *ours = NULL, *theirs = NULL, *plain = NULL;
    float numbers[COUNT];
    uint64_t bytes = 0;
    int fd = -1;
    test_expect_errors(true);
    const wf_result result = wf_buffer_create_exportable(device, sizeof numbers, &ours);
    test_expect_errors(false);
    if (refused(device, result, device->caps.memory_fds, "VK_KHR_external_memory_fd"))
        return;
    const wf_device_params params = test_device_params();
    assert_int_equal(wf_device_create(&params, &other), WF_SUCCESS);
    assert_int_equal(wf_buffer_export_fd(ours, &fd, &bytes), WF_SUCCESS);
    assert_true(fd >= 0 && bytes >= sizeof numbers);
    assert_int_equal(wf_buffer_import_fd(other, fd, bytes, &theirs), WF_SUCCESS);
    for (int i = 0; i < COUNT; i++)
        numbers[i] = (float)i;
    assert_int_equal(wf_buffer_write(ours, 0, numbers, sizeof numbers), WF_SUCCESS);
    add_to(other, theirs, 0);
    assert_int_equal(wf_buffer_read(ours, 0, numbers, sizeof numbers), WF_SUCCESS);
    for (int i = 0; i < COUNT; i++)
        assert_true(numbers[i] == 3.0F * (float)i);
    wf_buffer_destroy(&ours);
    assert_int_equal(wf_buffer_read(theirs, 0, numbers, sizeof numbers), WF_SUCCESS);
    assert_true(numbers[COUNT - 1] == 3.0F * (COUNT - 1));

    test_expect_errors(true);
    assert_int_equal(wf_buffer_create(device, 4096, WF_MEMORY_DEVICE, &plain), WF_SUCCESS);
    assert_int_equal(wf_buffer_export_fd(plain, &fd, &bytes), WF_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(test_last_error(), "wf_buffer_create_exportable"));
    assert_int_equal(wf_buffer_export_fd(theirs, &fd, &bytes), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_buffer_export_fd(NULL, &fd, &bytes), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_buffer_create_exportable(device, 0, &ours), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_buffer_import_fd(other, -1, 4096, &ours), WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
    assert_null(ours);
    wf_buffer_destroy(&plain);
    wf_buffer_destroy(&theirs);
    wf_device_destroy(&other);
}

/* Copies in device memory, by the device and, where both are mapped, by the host. */
static void test_copy(void **state)
{
    wf_device *device = *state;
    wf_buffer *from = NULL, *to = NULL;
    unsigned char bytes[64];
    assert_int_equal(wf_buffer_create(device, 64, WF_MEMORY_DEVICE, &from), WF_SUCCESS);
    assert_int_equal(wf_buffer_create(device, 64, WF_MEMORY_DEVICE, &to), WF_SUCCESS);
    for (unsigned char i = 0; i < 64; i++)
        bytes[i] = i;
    assert_int_equal(wf_buffer_write(from, 0, bytes, 64), WF_SUCCESS);
    for (int round = 0; round < 2; round++) {
        void *mapped = from->mapped;
        assert_int_equal(wf_buffer_fill(to, 0, 64, 0), WF_SUCCESS);
        if (round == 1)
            from->mapped = NULL;
        assert_int_equal(wf_buffer_copy(from, 8, to, 20, 40), WF_SUCCESS);
        from->mapped = mapped;
        assert_int_equal(wf_buffer_read(to, 0, bytes, 64), WF_SUCCESS);
        for (int i = 0; i < 64; i++)
            assert_int_equal(bytes[i], i < 20 || i >= 60 ? 0 : i - 12);
    }
    test_expect_errors(true);
    assert_int_equal(wf_buffer_copy(from, 8, to, 20, 45), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_buffer_copy(from, 8, from, 20, 4), WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
    wf_buffer_destroy(&to);
    wf_buffer_destroy(&from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host),
        cmocka_unit_test(test_host_badly),
        cmocka_unit_test(test_fd),
        cmocka_unit_test(test_copy),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
