#include "choice.h"

#include <stdio.h>

void wfi_choice_keep(const char *variant, const char *chosen_by, const wf_constant *constants,
                     uint32_t count, wfi_choice_sent *out)
{
    *out = (wfi_choice_sent){.constant_count = count};
    snprintf(out->variant, sizeof out->variant, "%s", variant);
    snprintf(out->chosen_by, sizeof out->chosen_by, "%s", chosen_by);
    for (uint32_t i = 0; i < count; i++) {
        snprintf(out->names[i], sizeof out->names[i], "%s", constants[i].name);
        out->values[i] = constants[i].value;
    }
}

wf_tuning wfi_choice_tuning(const wfi_choice_sent *choice, wf_constant *constants)
{
    for (uint32_t i = 0; i < choice->constant_count; i++)
        constants[i] = (wf_constant){choice->names[i], choice->values[i]};
    return (wf_tuning){.size = sizeof(wf_tuning),
                       .variant = choice->variant,
                       .constants = constants,
                       .constant_count = choice->constant_count};
}
