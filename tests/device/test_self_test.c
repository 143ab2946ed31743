/* The self-test: what drivers here offer works; what an outcome says fails is not used; outcomes are
 * kept, and doubted when damaged or of another driver. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/device.h"
#include "core/quirks.h"
#include "harness.h"

#define OFFSET_TESTED 48 /* in the file: tested, failed, wrong_shapes */

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
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, OFFSET_TESTED, SEEK_SET), 0);
    assert_int_equal(fwrite(outcome, sizeof *outcome, 4, file), 4);
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
    /* Products go on without all of it. */
    const wf_matmul_params product = {.size = sizeof product, .m = 5, .n = 6, .k = 7};
    wf_plan *plan = NULL;
    assert_int_equal(wf_matmul_plan(device, &product, &plan), WF_SUCCESS);
    wf_plan_destroy(&plan);
    wf_device_destroy(&device);
    write_outcome(original);
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
    /* Another driver's. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_offered_works),
        cmocka_unit_test(what_failed_is_not_used),
        cmocka_unit_test(damaged_outcomes_are_found_anew),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
