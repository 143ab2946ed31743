/* The process that runs cases, one after another, and tells its starter of each. */
#include <stdio.h>

#include "core/platform.h"
#include "tool/cli/console.h"
#include "tool/verify/message.h"

typedef struct child {
    const wfi_starter *starter;
    wfi_verify_job job;
    wfi_verify_message message;
} child;

/* What nobody hears need not be gone on with. */
static void tell(child *c, wfi_verify_tells what)
{
    c->message.tells = what;
    if (!wfi_verify_tell(c->starter, &c->message))
        wfi_interrupt();
}

/* The message has the verdict that the case fills. */
static void tell_where(void *user)
{
    tell(user, WFI_VERIFY_AT);
}

static bool is_over(const child *c, uint64_t number)
{
    if (wfi_interrupted() || (c->job.most && number >= c->job.most))
        return true;
    return number > 0 && wfi_host_seconds() > c->job.until;
}

/* False: the device is lost. */
static bool run_cases(child *c, wfi_session *session)
{
    const wfi_verify_listener listener = {tell_where, c};
    for (uint64_t number = c->job.first; !is_over(c, number); number++) {
        const wf_result result =
            wfi_verify_case(session, &c->job.request, number, &listener, &c->message.verdict);
        tell(c, WFI_VERIFY_CASE);
        if (result == WF_ERROR_DEVICE_LOST)
            return false;
    }
    return true;
}

int wfi_verify_child_main(const wfi_starter *starter)
{
    static child c;
    wfi_session session;
    bool there = true;
    wfi_interrupts_are_the_starters();
    c.starter = starter;
    if (!wfi_verify_job_hear(starter, &c.job))
        return WFI_EXIT_FAILED;
    wfi_process_watch_starter(starter, "");
    const int code = wfi_session_open(&session, &c.job.common);
    if (code == WFI_EXIT_DONE) {
        c.message.caps = *session.caps;
        tell(&c, WFI_VERIFY_OPENED);
        there = run_cases(&c, &session);
        if (!there)
            tell(&c, WFI_VERIFY_LOSS); /* before the driver is asked to give back what is lost */
        wfi_session_close(&session);
    }
    c.message.code = code;
    if (there)
        tell(&c, WFI_VERIFY_END);
    return code;
}
