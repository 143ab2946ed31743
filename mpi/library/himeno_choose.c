/* One choice of variant and constants for all ranks, and how the grid is cut for it. */
#include <string.h>

#include "himeno.h"

/* How much more than its share of the planes a rank may have before work-groups are made
 * thinner, so that there are more places to cut at. Along i and j that costs a kernel more. */
#define MOST_UNEVEN 1.1
#define MOST_UNEVEN_TILE 1.5
#define LEAST_OF_AXIS 2
#define MOST_TWICE 4  /* own planes of a march for each that it updates a second time, at least */
#define CELL_BYTES 56 /* a cell's coefficients, bnd, wrk1 and both p */

static void keep_choice(const wf_himeno_cut *cut, wfi_himeno_choice *out)
{
    *out = (wfi_himeno_choice){.unit = cut->unit, .steps = cut->steps};
    memcpy(out->group, cut->group, sizeof out->group);
    wfi_choice_keep(cut->variant, cut->chosen_by, cut->constants, cut->constant_count, &out->sent);
}

/* Has the tuning of h's parameters name the choice. */
static void force(wf_mpi_himeno *h)
{
    h->tuning = wfi_choice_tuning(&h->choice.sent, h->constants);
    h->params.tuning = &h->tuning;
}

static const char *const thinner[3] = {"local_x", "local_y", "march"}; /* along i, j and k */

static uint32_t *constant_of(wfi_himeno_choice *choice, int axis)
{
    for (uint32_t i = 0; i < choice->sent.constant_count; i++)
        if (strcmp(choice->sent.names[i], thinner[axis]) == 0)
            return &choice->sent.values[i];
    return NULL;
}

static bool is_named(const wf_tuning *tuning, int axis)
{
    for (uint32_t i = 0; tuning && i < tuning->constant_count; i++)
        if (strcmp(tuning->constants[i].name, thinner[axis]) == 0)
            return true;
    return false;
}

static wfi_blocks_axis along(const wf_mpi_himeno *h, int axis)
{
    const uint32_t cells[] = {h->params.ni - 2, h->params.nj - 2, h->params.nk - 2},
                   steps = h->choice.steps, group = h->choice.group[axis];
    return (wfi_blocks_axis){.cells = cells[axis],
                             .unit =
                                 axis == 2 ? h->choice.unit : (steps + group - 1) / group * group,
                             .least = steps};
}

/* The cells of a part of an axis over those that it should have, where that is most. */
static double unevenness(const wf_mpi_himeno *h, int axis, const double *weights)
{
    const int count = h->blocks.count[axis];
    const uint32_t *first = h->blocks.first[axis];
    double sum = 0, most = 0;
    for (int n = 0; n < count; n++)
        sum += weights ? weights[n] : 1;
    for (int n = 0; n < count; n++) {
        const double share = along(h, axis).cells * (weights ? weights[n] : 1) / sum,
                     cells = first[n + 1] - first[n];
        most = share > 0 && cells / share > most ? cells / share : most;
    }
    return most;
}

/* Weights are those of slabs. */
static wf_result divide(wf_mpi_himeno *h, const double *weights)
{
    wf_result result = WF_SUCCESS;
    for (int axis = 0; axis < 3 && result == WF_SUCCESS; axis++) {
        const wfi_blocks_axis cells = along(h, axis);
        result = wfi_blocks_divide(&h->ranks, &h->blocks, axis, &cells, axis == 2 ? weights : NULL);
    }
    return result;
}

/* What the device says of the choice for the whole grid. */
static wf_result plan(wf_mpi_himeno *h, wf_himeno_cut *cut)
{
    wf_himeno_params whole = h->params;
    force(h);
    whole.tuning = &h->tuning;
    return wf_himeno_plan_cut(h->device, &whole, cut);
}

/* What neighbours need is updated first, a march on each side, and the exchange hides behind the
 * rest alone. */
static bool early_is_over_half(const wf_mpi_himeno *h)
{
    const uint32_t *first = h->blocks.first[2];
    const int count = h->blocks.count[2];
    bool over = false;
    for (int n = 0; n < count; n++) {
        const uint32_t planes = first[n + 1] - first[n],
                       sides = (uint32_t)(n > 0) + (uint32_t)(n + 1 < count);
        over |= planes > 0 && 2 * sides * h->choice.unit > planes;
    }
    return over;
}

/* Whether marches of half the length would leave more to hide the exchange behind, at the cost of
 * no more planes that are updated twice than a quarter of their own. */
static bool marches_too_far(const wf_mpi_himeno *h)
{
    const uint32_t twice = 2 * (h->choice.steps - 1);
    return early_is_over_half(h) && MOST_TWICE * twice <= h->choice.unit / 2;
}

/* Makes work-groups half as wide along an axis, as often as that evens out what ranks get or leaves
 * them something to do during the exchange. */
static wf_result even_out(wf_mpi_himeno *h, int axis, const double *weights)
{
    const double most = axis == 2 ? MOST_UNEVEN : MOST_UNEVEN_TILE;
    wf_himeno_cut cut = {.size = sizeof cut};
    uint32_t *constant = constant_of(&h->choice, axis);
    wf_result result = WF_SUCCESS;
    while (result == WF_SUCCESS && constant && *constant / 2 >= LEAST_OF_AXIS &&
           (unevenness(h, axis, weights) > most || (axis == 2 && marches_too_far(h)))) {
        *constant /= 2;
        if (plan(h, &cut) != WF_SUCCESS) { /* it cannot be thinner */
            *constant *= 2;
            return plan(h, &cut);
        }
        h->choice.unit = cut.unit;
        memcpy(h->choice.group, cut.group, sizeof h->choice.group);
        result = divide(h, weights);
    }
    return result;
}

static wf_result open_blocks(wf_mpi_himeno *h)
{
    wfi_blocks_close(&h->blocks);
    return wfi_blocks_open(&h->ranks, h->choice.blocks, &h->blocks);
}

/* On the root: how many blocks there are along each axis. */
static wf_result count_blocks(wf_mpi_himeno *h, const wf_mpi_himeno_params *params)
{
    wfi_blocks_axis axes[] = {along(h, 0), along(h, 1), along(h, 2)};
    axes[2].unit = 1; /* marches are made shorter where that evens ranks out */
    memcpy(h->choice.blocks, params->blocks, sizeof h->choice.blocks);
    if (params->blocks[0] == WF_MPI_BLOCKS_AUTO) {
        wfi_blocks_costs costs = wfi_blocks_costs_of(h->device, WF_TYPE_F32);
        costs.cell_bytes = CELL_BYTES;
        memset(h->choice.blocks, 0, sizeof h->choice.blocks);
        if (!params->weights)
            wfi_blocks_choose(h->ranks.count, axes, &costs, h->choice.blocks);
    }
    return open_blocks(h);
}

/* On the root: the device's choice, with thinner work-groups where its own are too coarse to give
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
    result = count_blocks(h, params);
    if (result == WF_SUCCESS)
        result = divide(h, params->weights);
    for (int axis = 0; axis < 3 && result == WF_SUCCESS; axis++)
        if (h->blocks.count[axis] > 1 && !is_named(params->tuning, axis))
            result = even_out(h, axis, axis == 2 ? params->weights : NULL);
    return result;
}

/* Whether this device can do the choice, in the same way. */
static wf_result try_choice(wf_mpi_himeno *h)
{
    wf_himeno_cut cut = {.size = sizeof cut};
    wf_result result = h->ranks.rank == h->root ? WF_SUCCESS : open_blocks(h);
    if (result == WF_SUCCESS)
        result = plan(h, &cut);
    if (result != WF_SUCCESS ||
        (cut.steps == h->choice.steps && memcmp(cut.group, h->choice.group, sizeof cut.group) == 0))
        return result;
    return wfi_ranks_fail(&h->ranks, WF_ERROR_UNSUPPORTED,
                          "variant %s works on other cells on this device than on rank %d's",
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
