/* Opens the device once in a child, since a driver may crash there, and takes over what it
 * tells. */
#include "tool/tune/probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tool/tune/job.h"

/* What the child tells. */
typedef struct answer {
    int code;
    wfi_tune_device device;
} answer;

static int ask(const wfi_common *common, wfi_tune_device *device)
{
    wfi_session session;
    const int code = wfi_session_open(&session, common);
    if (code != WFI_EXIT_DONE)
        return code;
    const wf_caps *caps = session.caps;
    device->cpu = caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    snprintf(device->name, sizeof device->name, "%s", caps->name);
    snprintf(device->driver, sizeof device->driver, "%.120s %.120s", caps->driver_name,
             caps->driver_info);
    const char *path = wf_tuning_path(session.device);
    if (path)
        snprintf(device->journal, sizeof device->journal, "%s.search", path);
    wf_rate rate = {.size = sizeof rate};
    device->guesses = wf_rate_get(session.device, 0, &rate) == WF_SUCCESS && !rate.measured;
    device->caps = *caps;
    wfi_session_close(&session);
    return WFI_EXIT_DONE;
}

int wfi_probe_main(const wfi_starter *starter)
{
    static wfi_tune_job job;
    static answer told;
    if (!wfi_job_hear(starter, &job))
        return WFI_EXIT_FAILED;
    wfi_process_watch_starter(starter, job.device.journal);
    told.code = ask(&job.common, &told.device);
    wfi_pipe_write(starter->to, &told, sizeof told);
    return told.code;
}

int wfi_tune_probe(const wfi_common *common, wfi_tune_device *out)
{
    static answer heard;
    wfi_process child;
    wfi_process_end end;
    if (!wfi_process_start(WFI_ROLE_PROBE, &child))
        return wfi_run_error("no child process can be started: %s", strerror(errno));
    const bool sent = wfi_job_send(&child, &(wfi_tune_work){.common = common}, 0, 0, false);
    if (!sent)
        wfi_pipe_close(&child.to); /* the child waits for its job, and this process for its end */
    const bool told = sent && wfi_pipe_read_all(child.from, &heard, sizeof heard);
    const bool ended = wfi_process_reap(&child, false, &end);
    if (!sent)
        return wfi_run_error("the process that opens the device cannot be told which: %s",
                             wf_result_string(WF_ERROR_OUT_OF_HOST_MEMORY));
    if (!ended || !told)
        return wfi_run_error("the driver crashes when the device is opened");
    *out = heard.device;
    return heard.code;
}
