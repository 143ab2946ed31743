/* --form: which form of conjugate gradients iterates. */
#ifndef WFI_MPI_TOOL_CG_FORM_H
#define WFI_MPI_TOOL_CG_FORM_H

#include "ranks.h"

typedef struct wfi_cg_form {
    bool pipelined;
    bool measured; /* --form auto: the faster one of a trial */
    double us[2];  /* an iteration of the plain and of the pipelined form in it */
} wfi_cg_form;

/* text NULL: plain. */
int wfi_cg_form_parse(const char *text, wfi_cg_form *form);
/* Lets both forms make a few iterations of the system, by the slowest rank's clock, where one is to
 * be measured. x, of own_rows elements, is written. Collective. */
wf_result wfi_cg_form_measure(const wfi_rank *rank, const wf_mpi_cg_params *params, const void *b,
                              void *x, wfi_cg_form *form);
/* A line of the table's kind, where one was measured. */
void wfi_cg_form_print(const wfi_cg_form *form);

#endif
