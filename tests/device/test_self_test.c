/* The self-test: what the drivers here offer works. What an outcome says to fail is not used.
 * Outcomes are kept, and are found anew when they are damaged or of another driver. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/device.h"
#include "model/self_test.h"
#include "core/quirks.h"
#include "core/volk.h"
#include "harness.h"
#include "model/peaks.h"

#define OFFSET_TESTED 48 /* in the file: tested, failed, wrong_shapes */
#define OFFSET_HASH 64
#define FILE_BYTES 72

static char directory[64], path[160];

static wf_device *open_device(void)
{
    const wf_device_params params = {.size = sizeof params, .cache_directory = directory};
    wf_device *device = NULL;
    assert_int_equal(wf_device_create(&params, &device), WF_SUCCESS);
    return device;
}

static int setup(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/wavefit-selftest-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static void read_outcome(uint32_t outcome[4])
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, OFFSET_TESTED, SEEK_SET), 0);
    assert_int_equal(fread(outcome, sizeof *outcome, 4, file), 4);
    fclose(file);
}

static void write_outcome(const uint32_t outcome[4])
{
    unsigned char bytes[FILE_BYTES];
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), sizeof bytes);
    memcpy(bytes + OFFSET_TESTED, outcome, 4 * sizeof *outcome);
    for (int i = 0; i < OFFSET_HASH; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    memcpy(bytes + OFFSET_HASH, &hash, sizeof hash);
    rewind(file);
    assert_int_equal(fwrite(bytes, 1, sizeof bytes, file), sizeof bytes);
    assert_int_equal(fclose(file), 0);
}

static void what_is_offered_works(void **state)
{
    (void)state;
    uint32_t outcome[4];
    char command[128];
    wf_device *device = open_device();
    const wf_caps *caps = wf_device_caps(device);
    assert_int_equal(caps->faults, 0);
    snprintf(command, sizeof command, "ls %s/selftest-*", directory);
    FILE *list = popen(command, "r");
    assert_non_null(list);
    assert_non_null(fgets(path, sizeof path, list));
    path[strcspn(path, "\n")] = '\0';
    pclose(list);
    read_outcome(outcome);
    assert_int_equal(outcome[1], 0);
    assert_true(outcome[0] & WF_FAULT_SHARED_MEMORY);
    if (caps->subgroup_operations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT)
        assert_true(outcome[0] & WF_FAULT_SHUFFLE);
    if (caps->subgroup_operations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT)
        assert_true(outcome[0] & WF_FAULT_SUBGROUP_ARITHMETIC);
    wf_device_destroy(&device);
}

static void what_failed_is_not_used(void **state)
{
    (void)state;
    const uint32_t all = WF_FAULT_SHUFFLE | WF_FAULT_SUBGROUP_ARITHMETIC | WF_FAULT_SHARED_MEMORY;
    uint32_t outcome[4];
    read_outcome(outcome);
    const uint32_t original[4] = {outcome[0], outcome[1], outcome[2], outcome[3]};
    outcome[0] = outcome[1] = all;
    write_outcome(outcome);
    wf_device *device = open_device();
    const wf_caps *caps = wf_device_caps(device);
    assert_int_equal(caps->faults, all);
    assert_int_equal(caps->max_shared_bytes, 0);
    assert_false(caps->subgroup_operations &
                 (VK_SUBGROUP_FEATURE_SHUFFLE_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT));
    /* Products run without any of these features. */
    const wf_matmul_params product = {.size = sizeof product, .m = 5, .n = 6, .k = 7};
    wf_plan *plan = NULL;
    assert_int_equal(wf_matmul_plan(device, &product, &plan), WF_SUCCESS);
    wf_plan_destroy(&plan);
    wf_device_destroy(&device);
    write_outcome(original);
}

/* A flipped bit anywhere in the file is noticed. */
static void flipped_bits_are_noticed(void **state)
{
    (void)state;
    unsigned char bytes[FILE_BYTES + 1];
    wf_device *device = open_device();
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), FILE_BYTES);
    assert_true(wfi_self_test_recall(device));
    for (int bit = 0; bit < 8 * FILE_BYTES; bit++) {
        for (int turn = 0; turn < 2; turn++) {
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            rewind(file);
            assert_int_equal(fwrite(bytes, 1, FILE_BYTES, file), FILE_BYTES);
            assert_int_equal(fflush(file), 0);
            if (wfi_self_test_recall(device) != (turn == 1))
                fail_msg("bit %d of byte %d", bit % 8, bit / 8);
        }
    }
    fclose(file);
    wf_device_destroy(&device);
}

static void damaged_outcomes_are_found_anew(void **state)
{
    (void)state;
    uint32_t outcome[4];
    assert_int_equal(truncate(path, 40), 0);
    wf_device *device = open_device();
    assert_int_equal(wf_device_caps(device)->faults, 0);
    wf_device_destroy(&device);
    read_outcome(outcome);
    assert_true(outcome[0] != 0);
    /* A file of another driver. */
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 16, SEEK_SET), 0);
    fputc(0x5a, file);
    assert_int_equal(fclose(file), 0);
    outcome[1] = outcome[0];
    write_outcome(outcome);
    device = open_device();
    assert_int_equal(wf_device_caps(device)->faults, 0);
    wf_device_destroy(&device);
}

/* ----------------------------------------------------------------- whether matrices are faster */

wf_result __wrap_wfi_peak_fma_f32(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result __wrap_wfi_peak_matrix_f16_f32(wf_device *device, const wf_peak_params *params,
                                         wf_peak *out);

/* What the two replaced measurements return; 0: they fail. */
static double plain_rate, matrix_rate;

static wf_result say(double rate, const wf_peak_params *params, wf_peak *out)
{
    assert_true(params->warm && params->budget_seconds > 0 && params->budget_seconds < 0.1);
    out->value = rate;
    return rate > 0 ? WF_SUCCESS : WF_ERROR_UNSUPPORTED;
}

wf_result __wrap_wfi_peak_fma_f32(wf_device *device, const wf_peak_params *params, wf_peak *out)
{
    (void)device;
    return say(plain_rate, params, out);
}

wf_result __wrap_wfi_peak_matrix_f16_f32(wf_device *device, const wf_peak_params *params,
                                         wf_peak *out)
{
    (void)device;
    return say(matrix_rate, params, out);
}

/* Cooperative matrices that give right results are used if they are faster than plain
 * multiply-adds, or where that cannot be told. The outcome is kept. */
static void matrices_are_used_where_they_are_faster(void **state)
{
    (void)state;
    static const struct {
        double plain, matrix;
        uint32_t depth;
        bool used;
    } cases[] = {
        {1000, 1001, 16, true}, {1000, 999, 16, false}, {1000, 20, 32, false},
        {0, 1, 16, true},       {1000, 0, 16, true},
    };
    wf_device *device = open_device();
    if (!device->caps.f16_arithmetic || !device->caps.f16_storage) {
        wf_device_destroy(&device);
        skip();
    }
    const wf_caps offered = device->offered;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        plain_rate = cases[i].plain;
        matrix_rate = cases[i].matrix;
        device->offered = offered;
        device->offered.cooperative_matrix = true;
        device->offered.cooperative_shape_count = 1;
        device->offered.cooperative_shapes[0] =
            (wf_cooperative_shape){.m = 16,
                                   .n = 8,
                                   .k = cases[i].depth,
                                   .a_type = VK_COMPONENT_TYPE_FLOAT16_KHR,
                                   .b_type = VK_COMPONENT_TYPE_FLOAT16_KHR,
                                   .c_type = VK_COMPONENT_TYPE_FLOAT32_KHR,
                                   .result_type = VK_COMPONENT_TYPE_FLOAT32_KHR,
                                   .scope = VK_SCOPE_SUBGROUP_KHR};
        wfi_self_test_run(device);
        for (int again = 0; again < 2; again++) {
            const wf_caps *caps = &device->caps;
            if (caps->cooperative_matrix != cases[i].used ||
                caps->cooperative_shape_count != cases[i].used)
                fail_msg("%g beside %g: %d", cases[i].matrix, cases[i].plain,
                         caps->cooperative_matrix);
            assert_int_equal(caps->faults & WF_FAULT_COOPERATIVE_MATRIX,
                             cases[i].used ? 0 : WF_FAULT_COOPERATIVE_MATRIX);
            assert_true(wfi_self_test_recall(device));
        }
    }
    wf_device_destroy(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_offered_works),
        cmocka_unit_test(what_failed_is_not_used),
        cmocka_unit_test(flipped_bits_are_noticed),
        cmocka_unit_test(damaged_outcomes_are_found_anew),
        cmocka_unit_test(matrices_are_used_where_they_are_faster),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
