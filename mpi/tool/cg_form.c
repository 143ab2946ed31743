#include "cg_form.h"

#include <stdio.h>
#include <string.h>

#include "tool/cli/table.h"

#define ITERATIONS 20 /* of a trial */
#define TRIALS 2      /* of each form; the first has drivers compile what they leave till then */

int wfi_cg_form_parse(const char *text, wfi_cg_form *form)
{
    *form = (wfi_cg_form){.pipelined = false};
    if (!text || strcmp(text, "plain") == 0)
        return WFI_EXIT_DONE;
    form->pipelined = strcmp(text, "pipelined") == 0;
    form->measured = strcmp(text, "auto") == 0;
    return form->pipelined || form->measured
               ? WFI_EXIT_DONE
               : wfi_usage_error("cg: --form '%s' is not plain, pipelined or auto", text);
}

/* Devices idle while a matrix is handed out: what counts is measured at their full clock. */
static wf_result try_form(const wfi_rank *rank, const wf_mpi_cg_params *given, int trial,
                          const void *b, void *x, double *us)
{
    wf_mpi_cg_params params = *given;
    wf_mpi_cg_result found;
    params.pipelined = trial % 2;
    params.max_iterations = ITERATIONS;
    params.history = NULL;
    params.trace = NULL;
    params.warm_seconds = trial / 2 == TRIALS - 1 ? given->warm_seconds : 0;
    const wf_result result =
        wf_mpi_cg_solve(MPI_COMM_WORLD, rank->session.device, &params, b, x, &found);
    *us = result == WF_SUCCESS && found.iterations ? found.seconds / found.iterations * 1e6 : 0;
    return result;
}

wf_result wfi_cg_form_measure(const wfi_rank *rank, const wf_mpi_cg_params *params, const void *b,
                              void *x, wfi_cg_form *form)
{
    wf_result result = WF_SUCCESS;
    for (int n = 0; n < 2 * TRIALS && form->measured && result == WF_SUCCESS; n++)
        result = try_form(rank, params, n, b, x, &form->us[n % 2]);
    if (form->measured)
        form->pipelined = form->us[1] < form->us[0];
    return result;
}

void wfi_cg_form_print(const wfi_cg_form *form)
{
    char plain[32], pipelined[32];
    if (!form->measured)
        return;
    wfi_format_time(form->us[0], plain, sizeof plain);
    wfi_format_time(form->us[1], pipelined, sizeof pipelined);
    printf("form      %s, by a trial: plain %s, pipelined %s an iteration\n",
           form->pipelined ? "pipelined" : "plain", plain, pipelined);
}
