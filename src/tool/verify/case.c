#include <stdio.h>

#include "tool/cases/random.h"
#include "tool/verify/verify.h"

#define CPU_WORK 3e6 /* operations of a case, on devices that are CPUs */
#define GPU_WORK 5e7

static const struct {
    wf_family family;
    wf_result (*run)(wfi_verifier *v);
} families[] = {{WF_FAMILY_HIMENO, wfi_verify_himeno},
                {WF_FAMILY_SPMV, wfi_verify_spmv},
                {WF_FAMILY_MATMUL, wfi_verify_matmul},
                {WF_FAMILY_STENCIL, wfi_verify_stencil}};
enum { FAMILIES = sizeof families / sizeof *families };

static void finish(wfi_verifier *v, wf_result result)
{
    wfi_verdict *out = v->verdict;
    if (result == WF_SUCCESS || out->status == WFI_STATUS_UNSUPPORTED)
        return;
    out->status = result == WF_ERROR_CANCELLED ? WFI_STATUS_CANCELLED : WFI_STATUS_ERROR;
    snprintf(out->reason, sizeof out->reason, "%.300s",
             *v->session->error ? v->session->error : wf_result_string(result));
}

wf_result wfi_verify_case(wfi_session *session, const wfi_verify_request *request, uint64_t number,
                          const wfi_verify_listener *listener, wfi_verdict *verdict)
{
    const bool cpu = session->caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    uint64_t mixed = request->seed;
    wfi_verifier v = {.session = session,
                      .listener = listener,
                      .work = cpu ? CPU_WORK : GPU_WORK,
                      .verdict = verdict};
    v.state = wfi_random_bits(&mixed) ^ number * UINT64_C(0xd1342543de82ef95);
    *verdict = (wfi_verdict){.number = number};
    *session->error = '\0';
    uint64_t at = wfi_draw_below(&v, FAMILIES);
    for (uint64_t i = 0; request->one_family && i < FAMILIES; i++)
        if (families[i].family == request->family)
            at = i;
    verdict->family = families[at].family;
    verdict->family_name = wf_family_name(verdict->family);
    wfi_verify_at(&v);
    const wf_result result = families[at].run(&v);
    finish(&v, result);
    return result;
}
