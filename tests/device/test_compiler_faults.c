/* Faults of compilers that docs/devices.md tells of, each by a small shader: that the driver of
 * WAVEFIT_TEST_TARGET still has them, and compiles what is said to compile. What crashes does so in
 * a process of its own; where that no longer happens, the table has a row to be bounded. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/arithmetic.h"
#include "core/device.h"
#include "core/pipeline.h"
#include "core/volk.h"
#include "harness.h"
#include "points.h"

extern const wfi_spirv wfi_spv_quirk_turnip_full_subgroups, wfi_spv_quirk_anv_scratch,
    wfi_spv_quirk_nvk_array, wfi_spv_quirk_v3dv_barrier;

#define MOST_SECONDS 15 /* of a compiler that ends; the others take less than one */
#define FIRST_CODE 64   /* exit codes of outcomes: none that a program ends with by itself */

typedef enum outcome {
    COMPILES,
    IN_LOCAL_MEMORY,
    EXCEEDS_SCRATCH,
    REFUSED,
    NO_DEVICE,
    CRASHES,
    NEVER_ENDS
} outcome;

static const char *const names[] = {"compiled",
                                    "compiled, with local memory",
                                    "refused for want of scratch memory",
                                    "refused",
                                    "not tried: no device",
                                    "the compiler crashes",
                                    "the compiler does not end"};

typedef struct trial {
    const char *target; /* begins with it */
    const wfi_spirv *shader;
    uint32_t buffers, subgroup_size;
    bool full;
    outcome expected;
} trial;

static const trial trials[] = {
    {"adreno:", &wfi_spv_quirk_turnip_full_subgroups, 2, 128, true, CRASHES},
    {"adreno:", &wfi_spv_quirk_turnip_full_subgroups, 2, 128, false, COMPILES},
    {"adreno:", &wfi_spv_quirk_turnip_full_subgroups, 2, 64, true, COMPILES},
    {"intel:lnl", &wfi_spv_quirk_anv_scratch, 2, 0, false, EXCEEDS_SCRATCH},
    {"intel:bmg", &wfi_spv_quirk_anv_scratch, 2, 0, false, EXCEEDS_SCRATCH},
    {"intel:dg2", &wfi_spv_quirk_anv_scratch, 2, 0, false, COMPILES},
    {"nvk:", &wfi_spv_quirk_nvk_array, 2, 0, false, IN_LOCAL_MEMORY},
    {"v3d:", &wfi_spv_quirk_v3dv_barrier, 2, 0, false, NEVER_ENDS},
};

static bool has_local_memory(const wfi_pipeline *pipeline)
{
    for (uint32_t i = 0; i < pipeline->statistic_count; i++)
        if (strcmp(pipeline->statistics[i].name, "SLM Size") == 0)
            return pipeline->statistics[i].value > 0;
    return false;
}

static outcome compile(const trial *t)
{
    void *device = NULL;
    wf_device *opened;
    wfi_pipeline pipeline = {0};
    const wfi_pipeline_desc desc = {.name = "fault of a compiler",
                                    .spirv = t->shader,
                                    .storage_buffers = t->buffers,
                                    .push_bytes = 16,
                                    .subgroup_size = t->subgroup_size,
                                    .full_subgroups = t->full};
    if (test_statistics_setup(&device) != 0)
        return NO_DEVICE;
    opened = device;
    test_expect_errors(true);
    if (wfi_pipeline_create(opened, &desc, &pipeline) != WF_SUCCESS)
        return test_exceeds_scratch(&opened->caps) ? EXCEEDS_SCRATCH : REFUSED;
    return has_local_memory(&pipeline) ? IN_LOCAL_MEMORY : COMPILES;
}

/* No device is open in this process, which a copy would share. */
static outcome compile_apart(const trial *t)
{
    static const int caught[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}; /* by cmocka */
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        for (size_t i = 0; i < WFI_COUNT(caught); i++)
            signal(caught[i], SIG_DFL);
        alarm(MOST_SECONDS);
        _exit(FIRST_CODE + (int)compile(t));
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGALRM ? NEVER_ENDS : CRASHES;
    const int code = WEXITSTATUS(status) - FIRST_CODE;
    return code >= COMPILES && code < NO_DEVICE ? (outcome)code : NO_DEVICE;
}

static void faults_are_still_there(void **state)
{
    const char *target = getenv("WAVEFIT_TEST_TARGET");
    uint32_t tried = 0, other = 0;
    (void)state;
    for (size_t i = 0; i < WFI_COUNT(trials); i++) {
        const trial *t = &trials[i];
        if (!target || strncmp(target, t->target, strlen(t->target)) != 0)
            continue;
        const outcome found = compile_apart(t);
        printf("%s, subgroups of %u%s: %s\n", t->shader->name, t->subgroup_size,
               t->full ? ", full" : "", names[found]);
        other += found != t->expected;
        tried++;
    }
    if (tried == 0)
        skip();
    assert_int_equal(other, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults_are_still_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
