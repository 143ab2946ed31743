#include <stdio.h>
#include <string.h>

#include "tool/cases/random.h"
#include "tool/verify/verify.h"

#define CPU_WORK 3e6 /* operations of a case, on devices that are CPUs */
#define GPU_WORK 5e7

#define ROW(name) {#name, wfi_verify_##name},
static const struct {
    const char *name;
    wf_result (*run)(wfi_verifier *v);
} kinds[WFI_VERIFY_KIND_COUNT] = {WFI_VERIFY_KINDS(ROW)};
#undef ROW

const char *wfi_verify_kind_name(int kind)
{
    return kinds[kind].name;
}

int wfi_verify_kind_of(const char *name)
{
    for (int i = 0; i < WFI_VERIFY_KIND_COUNT; i++)
        if (strcmp(name, kinds[i].name) == 0)
            return i;
    return -1;
}

wf_family wfi_verify_kind_family(int kind)
{
    for (int f = 0; f < WF_FAMILY_COUNT; f++)
        if (strcmp(kinds[kind].name, wf_family_name((wf_family)f)) == 0)
            return (wf_family)f;
    return strcmp(kinds[kind].name, "cg") == 0 ? WF_FAMILY_SPMV : WF_FAMILY_STENCIL;
}

bool wfi_verify_kind_is_solver(int kind)
{
    return strcmp(kinds[kind].name, wf_family_name(wfi_verify_kind_family(kind))) != 0;
}

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
                          wfi_verdict *verdict)
{
    const bool cpu = session->caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    uint64_t mixed = request->seed;
    wfi_verifier v = {.session = session, .work = cpu ? CPU_WORK : GPU_WORK, .verdict = verdict};
    v.state = wfi_random_bits(&mixed) ^ number * UINT64_C(0xd1342543de82ef95);
    *verdict = (wfi_verdict){.number = number};
    *session->error = '\0';
    const int drawn = (int)wfi_draw_below(&v, WFI_VERIFY_KIND_COUNT);
    const int kind = request->kind >= 0 ? request->kind : drawn;
    verdict->kind = kind;
    verdict->family = wfi_verify_kind_family(kind);
    verdict->family_name = wfi_verify_kind_name(kind);
    const wf_result result = kinds[kind].run(&v);
    finish(&v, result);
    return result;
}
