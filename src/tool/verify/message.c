#include "tool/verify/message.h"

#include "core/heap.h"

uint32_t wfi_verdict_names(wfi_verdict *v, const char **names[WFI_VERDICT_NAMES])
{
    uint32_t count = 0;
    names[count++] = &v->family_name;
    names[count++] = &v->plan.family;
    names[count++] = &v->plan.variant;
    names[count++] = &v->plan.chosen_by;
    for (uint32_t i = 0; i < v->plan.constant_count; i++)
        names[count++] = &v->plan.constants[i].name;
    for (uint32_t i = 0; i < v->kernel_count; i++)
        names[count++] = &v->kernels[i].name;
    return count;
}

bool wfi_verify_tell(const wfi_starter *starter, wfi_verify_message *message)
{
    const char **names[WFI_VERDICT_NAMES];
    const uint32_t count = wfi_verdict_names(&message->verdict, names);
    wfi_text texts = {0};
    for (uint32_t i = 0; i < count; i++)
        wfi_texts_put(&texts, *names[i]);
    const bool ok = wfi_pipe_write(starter->to, message, sizeof *message) &&
                    wfi_pipe_write_texts(starter->to, &texts);
    wfi_free(texts.data);
    return ok;
}

bool wfi_verify_job_send(const wfi_process *process, const wfi_verify_job *job)
{
    wfi_text texts = {0};
    wfi_texts_put(&texts, job->common.device);
    const bool ok =
        wfi_pipe_write(process->to, job, sizeof *job) && wfi_pipe_write_texts(process->to, &texts);
    wfi_free(texts.data);
    return ok;
}

bool wfi_verify_job_hear(const wfi_starter *starter, wfi_verify_job *job)
{
    static char *texts; /* as long as the process */
    if (!wfi_pipe_read_all(starter->from, job, sizeof *job))
        return false;
    texts = wfi_pipe_read_texts(starter->from);
    if (!texts)
        return false;
    const char *at = texts;
    const wfi_common told = job->common;
    job->common = (wfi_common){.device = wfi_texts_take(&at),
                               .minimum_limits = told.minimum_limits,
                               .dispatch_seconds = told.dispatch_seconds,
                               .seed = told.seed,
                               .quiet = told.quiet,
                               .no_tuning = told.no_tuning};
    return true;
}
