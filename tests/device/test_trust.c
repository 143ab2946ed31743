/* Files of the cache folder that others can write to, and links, are neither read nor written
 * through: compiled pipelines go to the driver, and the self-test's outcome says what the driver
 * gets wrong. test_tune_files.c has the same of tuning files and of the journal of a search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/device.h"
#include "core/file.h"
#include "core/platform_file.h"
#include "harness.h"
#include "model/self_test.h"

#define OTHER_USER 12345

static char directory[64], pipelines[600], outcome[600];

static wf_device *open_device(void)
{
    const wf_device_params params = {.size = sizeof params, .cache_directory = directory};
    wf_device *device = NULL;
    assert_int_equal(wf_device_create(&params, &device), WF_SUCCESS);
    return device;
}

/* Opens and closes a device that compiles a pipeline; returns what it found of the cache, or 0. */
static uint64_t cache_cycle(void)
{
    wf_device *device = open_device();
    const uint64_t found = device->cache.stored_hash;
    double rate;
    assert_int_equal(wf_device_fma_rate(device, WF_TYPE_F32, &rate), WF_SUCCESS);
    wf_device_destroy(&device);
    return found;
}

static void find(const char *beginning, char *path, size_t bytes)
{
    char command[160];
    snprintf(command, sizeof command, "ls %s/%s*", directory, beginning);
    FILE *list = popen(command, "r");
    assert_non_null(list);
    assert_non_null(fgets(path, (int)bytes, list));
    path[strcspn(path, "\n")] = '\0';
    pclose(list);
}

static int setup(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/wavefit-trust-XXXXXX");
    if (!mkdtemp(directory) || cache_cycle() != 0)
        return -1;
    find("pipelines-", pipelines, sizeof pipelines);
    find("selftest-", outcome, sizeof outcome);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static void pipelines_of_others_are_not_used(void **state)
{
    (void)state;
    char elsewhere[128];
    struct stat before, after;
    assert_true(cache_cycle() != 0);

    assert_int_equal(chmod(pipelines, 0666), 0);
    assert_true(cache_cycle() == 0);
    assert_int_equal(stat(pipelines, &after), 0);
    assert_int_equal(after.st_mode & 0022, 0); /* it was replaced */

    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", directory);
    assert_int_equal(rename(pipelines, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, pipelines), 0);
    assert_int_equal(stat(elsewhere, &before), 0);
    assert_true(cache_cycle() == 0);
    assert_int_equal(stat(elsewhere, &after), 0);
    assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim);
    assert_int_equal(before.st_size, after.st_size);
    assert_int_equal(lstat(pipelines, &after), 0);
    assert_true(S_ISREG(after.st_mode));

    assert_int_equal(chmod(directory, 0777), 0);
    assert_true(cache_cycle() == 0);
    assert_int_equal(chmod(directory, 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(pipelines, OTHER_USER, OTHER_USER), 0);
        assert_true(cache_cycle() == 0);
    }
    assert_true(cache_cycle() != 0);
}

static void outcomes_of_others_are_not_used(void **state)
{
    (void)state;
    char elsewhere[128];
    wf_device *device = open_device();
    assert_true(wfi_self_test_recall(device));

    assert_int_equal(chmod(outcome, 0666), 0);
    assert_false(wfi_self_test_recall(device));
    assert_int_equal(chmod(outcome, 0600), 0);
    assert_true(wfi_self_test_recall(device));
    if (geteuid() == 0) {
        assert_int_equal(chown(outcome, OTHER_USER, OTHER_USER), 0);
        assert_false(wfi_self_test_recall(device));
        assert_int_equal(chown(outcome, 0, 0), 0);
        assert_true(wfi_self_test_recall(device));
    }
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", directory);
    assert_int_equal(rename(outcome, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, outcome), 0);
    assert_false(wfi_self_test_recall(device));
    wf_device_destroy(&device);
    /* A new device finds the outcome anew, and puts it in the link's place. */
    device = open_device();
    assert_true(wfi_self_test_recall(device));
    wf_device_destroy(&device);
    struct stat there;
    assert_int_equal(lstat(outcome, &there), 0);
    assert_true(S_ISREG(there.st_mode));
}

/* The folder may be a link of the user's own, to another disk say. */
static void links_of_others_are_no_cache_folder(void **state)
{
    (void)state;
    char link[128];
    const char *why;
    snprintf(link, sizeof link, "%s/link", directory);
    assert_int_equal(symlink(directory, link), 0);
    assert_true(wfi_folder_trusted(link, &why));
    if (geteuid() == 0) {
        assert_int_equal(lchown(link, OTHER_USER, OTHER_USER), 0);
        assert_false(wfi_folder_trusted(link, &why));
        assert_non_null(strstr(why, "symbolic link"));
        const wfi_log quiet = {0};
        assert_null(wfi_cache_directory(&quiet, link));
    }
    assert_int_equal(unlink(link), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipelines_of_others_are_not_used),
        cmocka_unit_test(outcomes_of_others_are_not_used),
        cmocka_unit_test(links_of_others_are_no_cache_folder),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
