/* One choice of variant and constants for all ranks, and how the grid is cut for it. */
#include <string.h>

#include "himeno.h"

/* How much more than its share of the planes a rank may have before work-groups are made
 * thinner, so that there are more places to cut at. */
#define MOST_UNEVEN 1.1
#define LEAST_MARCH 2

static void keep_choice(const wf_himeno_cut *cut, wfi_himeno_choice *out)
{
    *out = (wfi_himeno_choice){.planes = cut->planes, .unit = cut->unit, .steps = cut->steps};
    wfi_choice_keep(cut->variant, cut->chosen_by, cut->constants, cut->constant_count, &out->sent);
}

/* Has the tuning of h's parameters name the choice. */
static void force(wf_mpi_himeno *h)
{
    h->tuning = wfi_choice_tuning(&h->choice.sent, h->constants);
    h->params.tuning = &h->tuning;
}

static uint32_t *march_of(wfi_himeno_choice *choice)
{
    for (uint32_t i = 0; i < choice->sent.constant_count; i++)
        if (strcmp(choice->sent.names[i], "march") == 0)
            return &choice->sent.values[i];
    return NULL;
}

static bool names_march(const wf_tuning *tuning)
{
    for (uint32_t i = 0; tuning && i < tuning->constant_count; i++)
        if (strcmp(tuning->constants[i].name, "march") == 0)
            return true;
    return false;
}

/* The planes of a rank over those that it should have, where that is most. */
static double unevenness(const wf_mpi_himeno *h, const double *weights)
{
    double sum = 0, most = 0;
    for (int r = 0; r < h->ranks.count; r++)
        sum += weights ? weights[r] : 1;
    for (int r = 0; r < h->ranks.count; r++) {
        const double share = h->choice.planes * (weights ? weights[r] : 1) / sum,
                     planes = h->first[r + 1] - h->first[r];
        most = share > 0 && planes / share > most ? planes / share : most;
    }
    return most;
}

static wf_result divide(wf_mpi_himeno *h, const double *weights)
{
    return wfi_ranks_divide(&h->ranks, h->choice.planes, h->choice.unit, h->choice.steps, weights,
                            h->first);
}

/* On the root: the device's choice, with a shorter march where its units are too coarse to give
 * every rank its share. */
static wf_result choose_here(wf_mpi_himeno *h, const wf_mpi_himeno_params *params)
{
    wf_himeno_params whole = h->params;
    wf_himeno_cut cut = {.size = sizeof cut};
    whole.tuning = params->tuning;
    wf_result result = wf_himeno_plan_cut(h->device, &whole, &cut);
    if (result != WF_SUCCESS)
        return result;
    keep_choice(&cut, &h->choice);
    uint32_t *march = march_of(&h->choice);
    result = divide(h, params->weights);
    while (result == WF_SUCCESS && march && !names_march(params->tuning) &&
           *march / 2 >= LEAST_MARCH && unevenness(h, params->weights) > MOST_UNEVEN) {
        *march /= 2;
        force(h);
        whole.tuning = &h->tuning;
        result = wf_himeno_plan_cut(h->device, &whole, &cut);
        h->choice.unit = cut.unit;
        if (result == WF_SUCCESS)
            result = divide(h, params->weights);
    }
    return result;
}

/* Whether this device can do the choice, in the same way. */
static wf_result try_choice(wf_mpi_himeno *h)
{
    wf_himeno_params whole = h->params;
    wf_himeno_cut cut = {.size = sizeof cut};
    force(h);
    whole.tuning = &h->tuning;
    const wf_result result = wf_himeno_plan_cut(h->device, &whole, &cut);
    if (result != WF_SUCCESS || (cut.unit == h->choice.unit && cut.steps == h->choice.steps))
        return result;
    return wfi_ranks_fail(&h->ranks, WF_ERROR_UNSUPPORTED,
                          "variant %s works on other planes on this device than on rank %d's",
                          h->choice.sent.variant, h->root);
}

static wf_result choose_together(wf_mpi_himeno *h, const wf_mpi_himeno_params *params)
{
    wf_result result = h->ranks.rank == h->root ? choose_here(h, params) : WF_SUCCESS;
    result = wfi_ranks_agree(&h->ranks, result);
    if (result != WF_SUCCESS)
        return result;
    MPI_Bcast(&h->choice, (int)sizeof h->choice, MPI_BYTE, h->root, h->ranks.comm);
    return wfi_ranks_agree(&h->ranks, try_choice(h));
}

wf_result wfi_mpi_himeno_choose(wf_mpi_himeno *h, const wf_mpi_himeno_params *params)
{
    static const wf_tuning portable = {.size = sizeof portable, .variant = "naive"};
    /* The parameters of ranks differ in their tuning alone, of which the root's counts. */
    int asked = params->tuning && params->tuning->variant;
    MPI_Bcast(&asked, 1, MPI_INT, h->root, h->ranks.comm);
    wf_result result = choose_together(h, params);
    if (!asked && (result == WF_ERROR_UNSUPPORTED || result == WF_ERROR_CONSTRAINT)) {
        wf_mpi_himeno_params again = *params;
        again.tuning = &portable;
        result = choose_together(h, &again);
    }
    if (result == WF_SUCCESS)
        result = divide(h, params->weights);
    return result;
}
