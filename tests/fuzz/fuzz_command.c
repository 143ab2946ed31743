/* The command line: each line of an input is a word behind `wavefit`. There is no device, no other
 * process and no file that can be written (the linker puts the functions below in place of
 * wavefit's own); what a command does without them runs as it is: options, files, problems,
 * generated matrices, tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/atomic_file.h"
#include "target.h"
#include "tool/cli/options.h"
#include "tool/cli/process.h"
#include "tool/commands/commands.h"
#include "wavefit/wavefit.h"

#define MOST_WORDS 48
#define MOST_BYTES 2048
#define MOST_CHOICES 2000 /* `devices --profile` makes some hundreds, in half a second */

/* The names that the linker gives to functions which stand in for others and to those others. */
wf_result __wrap_wf_device_create(const wf_device_params *params, wf_device **device);
wf_result __real_wf_devices_list(const wf_device_params *params, wf_caps *caps, uint32_t *count);
wf_result __wrap_wf_devices_list(const wf_device_params *params, wf_caps *caps, uint32_t *count);
wf_result __real_wf_caps_choose(const wf_caps *caps, const wf_problem *problem,
                                const wf_tuning *tuning, wf_plan_info *info, char reason[256]);
wf_result __wrap_wf_caps_choose(const wf_caps *caps, const wf_problem *problem,
                                const wf_tuning *tuning, wf_plan_info *info, char reason[256]);
bool __wrap_wfi_process_start(const char *role, wfi_process *out);
bool __wrap_wfi_process_begin_again(char **argv, wfi_process_end *end);
void __wrap_wfi_environment_set(const char *name, const char *value);
bool __wrap_wfi_atomic_check(const char *path, wfi_io_error *error);
bool __wrap_wfi_atomic_open(wfi_atomic_file *out, const char *path, wfi_io_error *error);
int __wrap_wfi_apart_run(int (*run)(void *user), void *user, const uint64_t *progress,
                         double seconds, const char **how);

wf_result __wrap_wf_device_create(const wf_device_params *params, wf_device **device)
{
    (void)params;
    *device = NULL;
    return WF_ERROR_NO_DEVICE;
}

/* A profile's device brings its own loader, and is listed. */
wf_result __wrap_wf_devices_list(const wf_device_params *params, wf_caps *caps, uint32_t *count)
{
    if (params && params->get_instance_proc_addr)
        return __real_wf_devices_list(params, caps, count);
    *count = 0;
    return WF_ERROR_NO_LOADER;
}

/* The one profile that command lines can name is the same each time, and so are the problems that
 * are asked: the first runs of a process get what wavefit would choose, later ones a refusal. */
wf_result __wrap_wf_caps_choose(const wf_caps *caps, const wf_problem *problem,
                                const wf_tuning *tuning, wf_plan_info *info, char reason[256])
{
    static int choices;
    if (choices < MOST_CHOICES && ++choices)
        return __real_wf_caps_choose(caps, problem, tuning, info, reason);
    snprintf(reason, 256, "not asked again");
    return WF_ERROR_UNSUPPORTED;
}

bool __wrap_wfi_process_start(const char *role, wfi_process *out)
{
    (void)role;
    (void)out;
    return false;
}

bool __wrap_wfi_process_begin_again(char **argv, wfi_process_end *end)
{
    (void)argv;
    (void)end;
    return false;
}

void __wrap_wfi_environment_set(const char *name, const char *value)
{
    (void)name;
    (void)value;
}

bool __wrap_wfi_atomic_check(const char *path, wfi_io_error *error)
{
    (void)path;
    (void)error;
    return true;
}

bool __wrap_wfi_atomic_open(wfi_atomic_file *out, const char *path, wfi_io_error *error)
{
    *out = (wfi_atomic_file){0};
    return wfi_io_fail(error, WFI_IO_SYSTEM, "%s: cannot be written", path);
}

int __wrap_wfi_apart_run(int (*run)(void *user), void *user, const uint64_t *progress,
                         double seconds, const char **how)
{
    (void)run;
    (void)user;
    (void)progress;
    (void)seconds;
    *how = "no other process";
    return -1;
}

#define ROW(name, summary) {#name, wfi_tool_##name},
static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {WFI_COMMANDS(ROW)};
#undef ROW

/* Files that command lines can name. */
static const char *const named[][2] = {{"m.mtx", "fuzz/seeds/matrix_market/general.mtx"},
                                       {"r.json", "page/data/base.json"},
                                       {"t.json", "page/data/comparison.json"},
                                       {"p.json", "profiles/mali_g57.json"},
                                       {"a.npy", "fuzz/seeds/npy/matrix.npy"},
                                       {"z.npz", "fuzz/seeds/npz/stored.npz"}};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fuzz_memory = 1e6;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        size_t size = 0;
        char *data = fuzz_test_file(named[i][1], &size);
        FILE *file = fopen(named[i][0], "wb");
        if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
            fuzz_wrong("a file cannot be written");
        free(data);
    }
    return 0;
}

/* Words cannot lead out of the present folder. */
static int split(char *text, size_t size, char *argv[MOST_WORDS + 1])
{
    int argc = 0;
    static char program[] = "wavefit";
    argv[argc++] = program;
    for (char *at = text, *end = text + size; at < end && argc < MOST_WORDS;) {
        char *line_end = memchr(at, '\n', (size_t)(end - at));
        line_end = line_end ? line_end : end;
        *line_end = '\0';
        for (char *slash = at; (slash = strchr(slash, '/'));)
            *slash = '_';
        argv[argc++] = at;
        at = line_end + 1;
    }
    argv[argc] = NULL;
    return argc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[MOST_BYTES + 1], *argv[MOST_WORDS + 1];
    if (size > MOST_BYTES)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    const int argc = split(text, size, argv);
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[1], commands[i].name) == 0) {
            const int code = commands[i].run(argc, argv);
            if (code < WFI_EXIT_DONE || code > WFI_EXIT_NO_DEVICE)
                fuzz_wrong("an exit code that the grammar has not");
        }
    return 0;
}
