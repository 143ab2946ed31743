#include "tool/cli/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/cli/options.h"

/* The file that tells the loader of RADV; NULL: not installed. */
static const char *radv_file(void)
{
    static const char *const files[] = {
        "/usr/share/vulkan/icd.d/radeon_icd.json",
        "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json",
        "/usr/share/vulkan/icd.d/radeon_icd.aarch64.json",
        "/usr/local/share/vulkan/icd.d/radeon_icd.json",
        "/etc/vulkan/icd.d/radeon_icd.json",
    };
    const char *given = getenv("VK_DRIVER_FILES");
    if (given && strstr(given, "radeon_icd"))
        return given;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (access(files[i], R_OK) == 0)
            return files[i];
    return NULL;
}

/* RADV ends the process for a chip that it does not know, so a child asks. */
static bool chip_is_known(void)
{
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit no_core = {0, 0};
        uint32_t count = 0;
        setrlimit(RLIMIT_CORE, &no_core);
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        _exit(wf_devices_list(NULL, NULL, &count) == WF_SUCCESS && count > 0 ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

int wfi_target_select(const char *target)
{
    const char *chip = strncmp(target, "amd:", 4) == 0 ? target + 4 : NULL;
    const char *file = radv_file();
    if (!chip || !*chip || strspn(chip, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(chip))
        return wfi_usage_error("--target: '%s' is not amd:CHIP, like amd:navi31", target);
    if (!file) {
        wfi_run_error("--target %s: Mesa's RADV, whose compiler it takes, is not installed",
                      target);
        return WFI_EXIT_NO_DEVICE;
    }
    setenv("VK_DRIVER_FILES", file, 1);
    setenv("RADV_FORCE_FAMILY", chip, 1);
    unsetenv("WAVEFIT_DEVICE");
    if (chip_is_known())
        return WFI_EXIT_DONE;
    wfi_run_error("--target %s: this RADV does not know the chip %s", target, chip);
    return WFI_EXIT_NO_DEVICE;
}
