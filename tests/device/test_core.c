/* Buffers, measuring, the pipeline cache and refusals, on a real device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/device.h"
#include "harness.h"

#define ODD_BYTES 100003

static void buffers_round_trip(void **state)
{
    static const wf_memory kinds[] = {WF_MEMORY_DEVICE, WF_MEMORY_UPLOAD, WF_MEMORY_READBACK};
    test_random random = {test_seed()};
    unsigned char *in = malloc(ODD_BYTES), *out = malloc(ODD_BYTES);
    assert_true(in && out);
    for (size_t k = 0; k < 3; k++) {
        wf_buffer *buffer = NULL;
        assert_int_equal(wf_buffer_create(*state, ODD_BYTES, kinds[k], &buffer), WF_SUCCESS);
        for (size_t i = 0; i < ODD_BYTES; i++)
            in[i] = (unsigned char)test_random_bits(&random);
        memset(out, 0, ODD_BYTES);
        assert_int_equal(wf_buffer_write(buffer, 0, in, ODD_BYTES), WF_SUCCESS);
        assert_int_equal(wf_buffer_read(buffer, 0, out, ODD_BYTES), WF_SUCCESS);
        assert_memory_equal(in, out, ODD_BYTES);
        assert_int_equal(wf_buffer_fill(buffer, 4, 8, 0x01020304), WF_SUCCESS);
        assert_int_equal(wf_buffer_read(buffer, 1, out, 16), WF_SUCCESS);
        assert_memory_equal(out, in + 1, 3);
        assert_int_equal(out[3], 4);
        assert_int_equal(out[10], 1);
        assert_memory_equal(out + 11, in + 12, 5);
        wf_buffer_destroy(&buffer);
        assert_null(buffer);
    }
    free(in);
    free(out);
}

/* Memory that is not mapped goes through staging; forced here, since CPU devices map everything. */
static void staging_round_trips(void **state)
{
    wf_device *device = *state;
    const bool unified = device->caps.unified_memory;
    device->caps.unified_memory = false;
    wf_buffer *buffer = NULL;
    unsigned char in[777], out[777];
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)(i * 7);
    assert_int_equal(wf_buffer_create(device, sizeof in + 8, WF_MEMORY_DEVICE, &buffer),
                     WF_SUCCESS);
    test_poison(buffer);
    assert_int_equal(wf_buffer_write(buffer, 8, in, sizeof in), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(buffer, 8, out, sizeof out), WF_SUCCESS);
    assert_memory_equal(in, out, sizeof in);
    assert_int_equal(wf_buffer_read(buffer, 0, out, 8), WF_SUCCESS);
    assert_int_equal(out[7], 0xff);
    wf_buffer_destroy(&buffer);
    device->caps.unified_memory = unified;
}

static void refuses_bad_ranges(void **state)
{
    wf_device *device = *state;
    wf_buffer *buffer = NULL;
    unsigned char byte = 0;
    test_expect_errors(true);
    assert_int_equal(wf_buffer_create(device, 0, WF_MEMORY_DEVICE, &buffer),
                     WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(
        wf_buffer_create(device, device->caps.max_buffer + 4, WF_MEMORY_DEVICE, &buffer),
        WF_ERROR_TOO_LARGE);
    assert_non_null(strstr(test_last_error(), "limit"));
    assert_null(buffer);
    assert_int_equal(wf_buffer_create(device, 16, WF_MEMORY_DEVICE, &buffer), WF_SUCCESS);
    assert_int_equal(wf_buffer_write(buffer, 16, &byte, 1), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_buffer_read(buffer, UINT64_MAX, &byte, 2), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_buffer_fill(buffer, 2, 4, 0), WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
    wf_buffer_destroy(&buffer);
}

static void limits_are_as_asked(void **state)
{
    const wf_caps *caps = wf_device_caps(*state);
    assert_true(caps->max_invocations >= 128 && caps->max_shared_bytes >= 16384);
    if (caps->limits != WF_LIMITS_MINIMUM)
        return;
    assert_int_equal(caps->max_invocations, 128);
    assert_int_equal(caps->max_shared_bytes, 16384);
    assert_int_equal(caps->max_groups[0], 65535);
    assert_true(caps->max_storage_range == UINT64_C(1) << 27);
    assert_false(caps->f64 || caps->f16_arithmetic || caps->cooperative_matrix);
    assert_int_equal(caps->subgroup_size, 1);
}

static void peaks_are_positive(void **state)
{
    double copy = 0, again = 0, fma = 0;
    assert_int_equal(wf_device_copy_bandwidth(*state, &copy), WF_SUCCESS);
    assert_int_equal(wf_device_copy_bandwidth(*state, &again), WF_SUCCESS);
    assert_true(copy > 1e8 && copy == again);
    assert_int_equal(wf_device_fma_rate(*state, WF_TYPE_F32, &fma), WF_SUCCESS);
    assert_true(fma > 1e6);
    if (wf_device_caps(*state)->f64)
        return;
    test_expect_errors(true);
    assert_int_equal(wf_device_fma_rate(*state, WF_TYPE_F64, &fma), WF_ERROR_UNSUPPORTED);
    test_expect_errors(false);
}

/* Opens and closes a device that keeps its pipelines in `directory`, compiling one on the way. */
static uint64_t cache_cycle(const char *directory)
{
    const wf_device_params params = {.size = sizeof params, .cache_directory = directory};
    wf_device *device = NULL;
    double rate;
    assert_int_equal(wf_device_create(&params, &device), WF_SUCCESS);
    const uint64_t found = device->cache.stored_hash;
    assert_int_equal(wf_device_fma_rate(device, WF_TYPE_F32, &rate), WF_SUCCESS);
    wf_device_destroy(&device);
    return found;
}

static char *only_file(const char *directory, char *path, size_t bytes)
{
    char command[600];
    snprintf(command, sizeof command, "ls %s", directory);
    FILE *list = popen(command, "r");
    assert_non_null(list);
    char name[200] = "";
    assert_non_null(fgets(name, sizeof name, list));
    name[strcspn(name, "\n")] = '\0';
    pclose(list);
    snprintf(path, bytes, "%s/%s", directory, name);
    return path;
}

static void damage(const char *path, long offset)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, offset, offset < 0 ? SEEK_END : SEEK_SET), 0);
    const int byte = fgetc(file);
    assert_int_equal(fseek(file, -1, SEEK_CUR), 0);
    fputc(byte ^ 0x5a, file);
    assert_int_equal(fclose(file), 0);
}

static void cache_survives_damage(void **state)
{
    (void)state;
    char directory[] = "/tmp/wavefit-cache-XXXXXX", inner[64], path[600];
    assert_non_null(mkdtemp(directory));
    snprintf(inner, sizeof inner, "%s/deep/er", directory);
    assert_true(cache_cycle(inner) == 0);
    assert_true(cache_cycle(inner) != 0); /* the second run finds the file of the first */
    only_file(inner, path, sizeof path);
    damage(path, 24); /* the driver's UUID in the header: another driver's file */
    assert_true(cache_cycle(inner) == 0);
    assert_true(cache_cycle(inner) != 0); /* the file was written anew */
    damage(path, -1);
    assert_true(cache_cycle(inner) == 0);
    assert_int_equal(truncate(path, 40), 0);
    assert_true(cache_cycle(inner) == 0);
    assert_true(cache_cycle(inner) != 0);
    assert_true(cache_cycle("") == 0);
    /* The self-test's file is in the same folder. */
    while (rmdir(inner) != 0)
        assert_int_equal(unlink(only_file(inner, path, sizeof path)), 0);
    snprintf(inner, sizeof inner, "%s/deep", directory);
    rmdir(inner);
    rmdir(directory);
}

static void two_devices_at_once(void **state)
{
    const wf_device_params params = {.size = sizeof params, .cache_directory = ""};
    wf_device *second = NULL;
    wf_buffer *a = NULL, *b = NULL;
    uint32_t value = 7, read = 0;
    assert_int_equal(wf_device_create(&params, &second), WF_SUCCESS);
    assert_int_equal(wf_buffer_create(*state, 4, WF_MEMORY_DEVICE, &a), WF_SUCCESS);
    assert_int_equal(wf_buffer_create(second, 4, WF_MEMORY_DEVICE, &b), WF_SUCCESS);
    assert_int_equal(wf_buffer_write(b, 0, &value, 4), WF_SUCCESS);
    test_poison(a);
    assert_int_equal(wf_buffer_read(b, 0, &read, 4), WF_SUCCESS);
    assert_int_equal(read, 7);
    wf_buffer_destroy(&a);
    wf_buffer_destroy(&b);
    wf_device_destroy(&second);
    assert_null(second);
    wf_device_destroy(&second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_round_trip),  cmocka_unit_test(staging_round_trips),
        cmocka_unit_test(refuses_bad_ranges),  cmocka_unit_test(limits_are_as_asked),
        cmocka_unit_test(peaks_are_positive),  cmocka_unit_test(cache_survives_damage),
        cmocka_unit_test(two_devices_at_once),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
