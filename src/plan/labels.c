/* Names of a plan and of its dispatches, which debuggers and captures show. */
#include <stdio.h>
#include <string.h>

#include "core/heap.h"
#include "plan/hooks.h"
#include "plan/object.h"

void wfi_plan_name(wf_plan *plan)
{
    const wfi_family *family = plan->choice.family;
    const char *variant = plan->choice.point.variant->name;
    char problem[64];
    if (!plan->device->debug_names)
        return;
    if (!family->hooks) { /* peaks, self-tests: kernels of no family */
        snprintf(plan->label, sizeof plan->label, "wavefit %s", variant);
        return;
    }
    family->hooks->text(&plan->problem, problem, sizeof problem);
    snprintf(plan->label, sizeof plan->label, "wavefit %s %s %s %s", family->name,
             wf_type_name(plan->problem.type), variant, problem);
}

/* "matmul_reduce_f32": "reduce", by the module's name without the first and the last word. */
static void middle_words(const char *module, char *words, size_t bytes)
{
    const char *begin = strchr(module, '_'), *end = strrchr(module, '_');
    const size_t length = begin && end > begin + 1 ? (size_t)(end - begin - 1) : 0;
    snprintf(words, bytes, "%.*s", length ? (int)length : (int)strlen(module),
             length ? begin + 1 : module);
    for (char *at = words; *at; at++)
        *at = *at == '_' ? ' ' : *at;
}

wf_result wfi_plan_name_steps(wf_plan *plan)
{
    if (!plan->device->debug_names || !plan->pipeline_count)
        return WF_SUCCESS;
    plan->step_labels = wfi_calloc(plan->pipeline_count, sizeof *plan->step_labels);
    if (!plan->step_labels)
        return wfi_no_memory(&plan->device->log);
    const bool fixed = strcmp(plan->choice.chosen_by, "fixed") == 0;
    for (uint32_t i = 0; i < plan->pipeline_count; i++) {
        const wfi_spirv *spirv = wfi_plan_pipeline(plan, i)->spirv;
        const bool main = !fixed && wfi_is_main_kernel(&plan->choice.point, spirv);
        char words[WFI_NAME_BYTES / 2];
        middle_words(spirv->name, words, sizeof words);
        snprintf(plan->step_labels[i], sizeof plan->step_labels[i], "%.60s: %.60s",
                 main && plan->choice.family->work ? plan->choice.family->work : words,
                 spirv->name);
    }
    return WF_SUCCESS;
}
