/* Weights of ranks by the speed of their devices. */
#include <stdio.h>
#include <stdlib.h>

#include "balance.h"

#define WARM_UP 3
#define ALIKE 1.2   /* speeds that differ less are noise: two equal cards came to 1.14 */
#define MEASURED 12 /* iterations; whole passes for 1 to 4 of them a pass */

/* Planes a second that this rank's device updates while the others' work too; 0: it has none. */
static wf_result measure(wf_mpi_himeno *h, double *speed)
{
    wf_mpi_times times = {.size = sizeof times};
    wf_plan_info info = {.size = sizeof info};
    uint32_t first = 0, planes = 0;
    *speed = 0;
    wf_result result = wf_mpi_himeno_describe(h, &info, &first, &planes);
    result = wfi_rank_agree(result);
    if (result == WF_SUCCESS)
        result = wf_mpi_himeno_start(h);
    if (result == WF_SUCCESS)
        result = wf_mpi_himeno_run(h, WARM_UP, NULL, NULL, NULL);
    if (result == WF_SUCCESS)
        result = wf_mpi_himeno_run(h, MEASURED, NULL, NULL, &times);
    if (result == WF_SUCCESS && times.inside > 0)
        *speed = planes / times.inside;
    return result;
}

wf_result wfi_mpi_balance(const wfi_rank *rank, const wf_mpi_himeno_params *params, double *weights)
{
    wf_mpi_himeno *h = NULL;
    double speed = 0, sum = 0, least = 0, most = 0;
    int known = 0;
    wf_result result = wf_mpi_himeno_create(MPI_COMM_WORLD, rank->session.device, params, &h);
    if (result == WF_SUCCESS)
        result = measure(h, &speed);
    wf_mpi_himeno_destroy(&h);
    if (result != WF_SUCCESS)
        return result;
    MPI_Allgather(&speed, 1, MPI_DOUBLE, weights, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int r = 0; r < rank->count; r++) {
        sum += weights[r];
        known += weights[r] > 0;
        most = weights[r] > most ? weights[r] : most;
        least = weights[r] > 0 && (least <= 0 || weights[r] < least) ? weights[r] : least;
    }
    const bool alike = most < ALIKE * least;
    /* A rank that got no planes to measure counts as one of the others. */
    for (int r = 0; r < rank->count; r++)
        weights[r] = weights[r] > 0 && !alike ? weights[r] * known / sum : 1;
    return WF_SUCCESS;
}

void wfi_mpi_balance_print(const wfi_rank *rank, const double *weights)
{
    printf("balanced ");
    for (int r = 0; r < rank->count && r < 12; r++)
        printf("%s%.3f", r ? "," : " ", weights[r]);
    printf("%s by measured speed\n", rank->count > 12 ? ",…" : "");
}
