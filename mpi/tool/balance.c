/* Weights of ranks by the speed of their devices. */
#include <stdio.h>
#include <stdlib.h>

#include "balance.h"

#define ALIKE 1.2 /* speeds that differ less are noise: two equal cards came to 1.14 */

int wfi_shares_parse(const wfi_rank *rank, const char *command, wfi_shares *shares)
{
    if (shares->text && shares->balance)
        return rank->prints ? wfi_usage_error("%s: give --weights or --balance, not both", command)
                            : WFI_EXIT_USAGE;
    if (!shares->balance)
        return wfi_rank_weights(rank, shares->text, &shares->weights);
    shares->weights = calloc((size_t)rank->count, sizeof *shares->weights);
    return wfi_rank_worst(shares->weights ? WFI_EXIT_DONE
                                          : wfi_run_error("%s: out of memory", command));
}

int wfi_shares_check_blocks(const char *command, const wfi_shares *shares, const char *blocks)
{
    if (!blocks || !(shares->text || shares->balance))
        return WFI_EXIT_DONE;
    return wfi_usage_error("%s: %s is for slabs: blocks have equal shares", command,
                           shares->text ? "--weights" : "--balance");
}

void wfi_shares_weigh(const wfi_rank *rank, double speed, wfi_shares *shares)
{
    double *weights = shares->weights, sum = 0, least = 0, most = 0;
    int known = 0;
    MPI_Allgather(&speed, 1, MPI_DOUBLE, weights, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int r = 0; r < rank->count; r++) {
        sum += weights[r];
        known += weights[r] > 0;
        most = weights[r] > most ? weights[r] : most;
        least = weights[r] > 0 && (least <= 0 || weights[r] < least) ? weights[r] : least;
    }
    const bool alike = most < ALIKE * least;
    /* A rank that had nothing to do counts as one of the others. */
    for (int r = 0; r < rank->count; r++)
        weights[r] = weights[r] > 0 && !alike ? weights[r] * known / sum : 1;
}

void wfi_shares_print(const wfi_rank *rank, const wfi_shares *shares)
{
    if (!shares->balance)
        return;
    printf("balanced ");
    for (int r = 0; r < rank->count && r < 12; r++)
        printf("%s%.3f", r ? "," : " ", shares->weights[r]);
    printf("%s by measured speed\n", rank->count > 12 ? ",…" : "");
}

void wfi_shares_free(wfi_shares *shares)
{
    free(shares->weights);
    shares->weights = NULL;
}
