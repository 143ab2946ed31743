/* Opens the device once in a child, since a driver may crash there, and takes over what it
 * tells. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/tune/process.h"
#include "tool/tune/worker.h"

/* Opens the device and writes what it is to the pipe. */
static int probe_main(const wfi_common *common, int to)
{
    wfi_session session;
    wfi_tune_device device;
    memset(&device, 0, sizeof device);
    wfi_parent_watch of_parent = {to, ""};
    wfi_parent_watch_start(&of_parent);
    const int code = wfi_session_open(&session, common);
    if (code != WFI_EXIT_DONE)
        return code;
    const wf_caps *caps = session.caps;
    device.cpu = caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    snprintf(device.name, sizeof device.name, "%s", caps->name);
    snprintf(device.driver, sizeof device.driver, "%.120s %.120s", caps->driver_name,
             caps->driver_info);
    const char *path = wf_tuning_path(session.device);
    if (path)
        snprintf(device.journal, sizeof device.journal, "%s.search", path);
    device.caps = *caps;
    const bool told = write(to, &device, sizeof device) == (ssize_t)sizeof device;
    wfi_session_close(&session);
    return told ? WFI_EXIT_DONE : WFI_EXIT_FAILED;
}

int wfi_tune_probe(const wfi_common *common, wfi_tune_device *out)
{
    int status = 0, ends[2];
    fflush(NULL);
    const pid_t pid = pipe(ends) == 0 ? fork() : -1;
    if (pid < 0)
        return wfi_run_error("no child process can be started: %s", strerror(errno));
    if (pid == 0) {
        close(ends[0]);
        _exit(probe_main(common, ends[1]));
    }
    close(ends[1]);
    size_t got = 0;
    for (ssize_t part = 1; part > 0 && got<sizeof *out; got += part> 0 ? (size_t)part : 0)
        part = read(ends[0], (char *)out + got, sizeof *out - got);
    const bool heard = got == sizeof *out;
    const bool reaped = wfi_child_reap(pid, false, &status);
    close(ends[0]); /* not before: the child would take it for this process's end */
    if (!reaped || !WIFEXITED(status))
        return wfi_run_error("the driver crashes when the device is opened");
    return WEXITSTATUS(status) == WFI_EXIT_DONE && !heard ? WFI_EXIT_FAILED : WEXITSTATUS(status);
}
