/* What one rank chooses for all, in bytes that MPI can send. */
#ifndef WFI_MPI_CHOICE_H
#define WFI_MPI_CHOICE_H

#include "ranks.h"

#define WFI_NAME_BYTES 32

typedef struct wfi_choice_sent {
    uint32_t constant_count;
    uint32_t values[WF_MAX_PARAMETERS];
    char variant[WFI_NAME_BYTES], names[WF_MAX_PARAMETERS][WFI_NAME_BYTES];
    char chosen_by[WFI_NAME_BYTES];
} wfi_choice_sent;

void wfi_choice_keep(const char *variant, const char *chosen_by, const wf_constant *constants,
                     uint32_t count, wfi_choice_sent *out);
/* A tuning that forces the choice; `constants` has room for WF_MAX_PARAMETERS. Both arguments
 * outlive it. */
wf_tuning wfi_choice_tuning(const wfi_choice_sent *choice, wf_constant *constants);

#endif
