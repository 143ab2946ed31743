#include "tool/cli/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "core/platform_file.h"
#include "tool/cli/options.h"
#include "tool/cli/path.h"

typedef struct target_row {
    const char *name, *driver, *shim, *environment;
} target_row;

#define TARGET(name, driver, shim, environment) {name, driver, shim, environment},
static const target_row rows[] = {
#include "tool/cli/targets.def"
};
#undef TARGET

#define ROWS WFI_COUNT(rows)
#define MOST_PATH 512

/* Whether `target` has the row's vendor, and for a chip what the row's environment sets first:
 * "nvk:172". */
static bool names_chip(const target_row *row, const char *target)
{
    const size_t vendor = strcspn(row->name, ":") + 1;
    const char *chip = strchr(row->environment, '=') + 1;
    const size_t length = strcspn(chip, " ");
    return strncmp(row->name, target, vendor) == 0 && strlen(target + vendor) == length &&
           strncmp(chip, target + vendor, length) == 0;
}

static const target_row *row_of(const char *target)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, target) == 0 || names_chip(&rows[i], target))
            return &rows[i];
    return NULL;
}

static int unknown_target(const char *target)
{
    char names[64 * ROWS] = "";
    for (size_t i = 0; i < ROWS; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? " " : "",
                 rows[i].name);
    return wfi_usage_error("--target: '%s' is none of %s", target, names);
}

/* The file that tells the loader of the driver; false: it is not installed. */
static bool driver_file(const char *name, char path[MOST_PATH])
{
    const char *own = getenv("WAVEFIT_DRIVERS");
    const char *const folders[] = {own ? own : "", "/usr/share/vulkan/icd.d",
                                   "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"};
    for (size_t i = 0; i < WFI_COUNT(folders); i++) {
        const int length = snprintf(path, MOST_PATH, "%s/%s", folders[i], name);
        if (*folders[i] && length > 0 && length < MOST_PATH &&
            wfi_file_kind_of(path) == WFI_FILE_REGULAR)
            return true;
    }
    return false;
}

typedef struct places {
    char driver[MOST_PATH], shim[MOST_PATH]; /* shim "": the driver needs none */
} places;

/* Finds what the target's compiler needs; false, and why: it is not here. */
static bool find_places(const target_row *row, places *out, char *reason, size_t bytes)
{
    const char *own = getenv("WAVEFIT_DRIVERS");
    *out->shim = '\0';
    if (!driver_file(row->driver, out->driver)) {
        snprintf(reason, bytes,
                 "Mesa's driver, whose compiler it takes, is not installed (%s): './dev drivers' "
                 "in wavefit's sources says how it is had",
                 row->driver);
        return false;
    }
    if (!*row->shim)
        return true;
    if (own &&
        snprintf(out->shim, sizeof out->shim, "%s/lib%s_noop_drm_shim.so", own, row->shim) <
            (int)sizeof out->shim &&
        wfi_file_kind_of(out->shim) == WFI_FILE_REGULAR)
        return true;
    snprintf(reason, bytes,
             "needs a shim in front of its driver: './dev drivers' in wavefit's sources builds it "
             "and says what to put into WAVEFIT_DRIVERS");
    return false;
}

/* Starts this program again, with the shim in front, since a compiler that crashes ends its process
 * alone. Returns only where that failed. */
static int start_again(const target_row *row, const char *shim, char **argv)
{
    wfi_process_end end;
    if (*shim)
        wfi_environment_set("LD_PRELOAD", shim);
    wfi_environment_set("WAVEFIT_TARGET", row->name);
    if (wfi_process_begin_again(argv, &end))
        return wfi_run_error("--target %s: its driver's compiler crashes on this: %s", row->name,
                             end.how);
    if (!*shim)
        return WFI_EXIT_DONE; /* compiles here, then */
    return wfi_run_error("--target %s: the program does not start again", row->name);
}

static void set_environment(const char *words)
{
    char name[64], value[64];
    int used = 0;
    while (sscanf(words, " %63[^=]=%63s%n", name, value, &used) == 2) {
        wfi_environment_set(name, value);
        words += used;
    }
}

int wfi_target_probe_main(const wfi_starter *starter)
{
    uint32_t count = 0;
    wfi_process_crash_silently();
    if (wf_devices_list(NULL, NULL, &count) != WF_SUCCESS)
        count = 0;
    return wfi_pipe_write(starter->to, &count, sizeof count) ? WFI_EXIT_DONE : WFI_EXIT_FAILED;
}

/* Drivers end the process for a chip that they do not know, so a child asks. */
static bool chip_is_known(void)
{
    wfi_process child;
    wfi_process_end end;
    uint32_t count = 0;
    if (!wfi_process_start(WFI_ROLE_TARGET, &child))
        return false;
    const bool told = wfi_pipe_read_all(child.from, &count, sizeof count);
    return wfi_process_reap(&child, false, &end) && told && count > 0;
}

/* Of the driver, but for the shim. */
static void select_driver(const target_row *row, const places *found)
{
    wfi_environment_set("VK_DRIVER_FILES", found->driver);
    wfi_environment_set("MESA_SHADER_CACHE_DISABLE", "true");
    set_environment(row->environment);
    wfi_environment_set("WAVEFIT_DEVICE", NULL);
}

int wfi_target_select(const char **target, char **argv)
{
    places found;
    char reason[256];
    const target_row *row = row_of(*target);
    const char *started = getenv("WAVEFIT_TARGET");
    if (!row)
        return unknown_target(*target);
    *target = row->name;
    if (!find_places(row, &found, reason, sizeof reason)) {
        wfi_run_error("--target %s: %s", row->name, reason);
        return WFI_EXIT_NO_DEVICE;
    }
    select_driver(row, &found);
    if (!(started && strcmp(started, row->name) == 0)) {
        const int code = start_again(row, found.shim, argv);
        if (code != WFI_EXIT_DONE)
            return code;
    }
    if (chip_is_known())
        return WFI_EXIT_DONE;
    wfi_run_error("--target %s: the driver does not know the chip, or does not load", row->name);
    return WFI_EXIT_NO_DEVICE;
}

uint32_t wfi_target_count(void)
{
    return (uint32_t)ROWS;
}

const char *wfi_target_name(uint32_t index)
{
    return rows[index].name;
}

const char *wfi_target_usual(const char *target)
{
    const target_row *row = row_of(target);
    return row ? row->name : NULL;
}

int wfi_target_check(const char **target)
{
    const target_row *row = row_of(*target);
    if (!row)
        return unknown_target(*target);
    *target = row->name;
    return WFI_EXIT_DONE;
}

bool wfi_target_prepare(const char *target, char *reason, size_t bytes)
{
    places found;
    const target_row *row = row_of(target);
    if (!row || !find_places(row, &found, reason, bytes))
        return false;
    select_driver(row, &found);
    wfi_environment_set("LD_PRELOAD", *found.shim ? found.shim : NULL);
    return true;
}
