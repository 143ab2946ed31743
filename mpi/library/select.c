/* Which device a rank takes. */
#include <stdio.h>
#include <stdlib.h>

#include "ranks.h"

/* As wf_device_params.selector says: discrete, integrated, virtual, CPU, others. */
static int kind_of(const wf_caps *caps)
{
    static const uint32_t order[] = {
        VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
        VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU, VK_PHYSICAL_DEVICE_TYPE_CPU};
    int kind = 0;
    while (kind < 4 && caps->device_type != order[kind])
        kind++;
    return kind;
}

static int rank_in_host(const wfi_ranks *ranks)
{
    MPI_Comm host;
    int rank = 0;
    wfi_ranks_host(ranks, &host);
    MPI_Comm_rank(host, &rank);
    MPI_Comm_free(&host);
    return rank;
}

/* The number-th device of the best kind, counted round. */
static uint32_t pick(const wf_caps *caps, uint32_t count, int number)
{
    int best = kind_of(&caps[0]), alike = 0;
    for (uint32_t i = 1; i < count; i++)
        if (kind_of(&caps[i]) < best)
            best = kind_of(&caps[i]);
    for (uint32_t i = 0; i < count; i++)
        alike += kind_of(&caps[i]) == best;
    int left = alike ? number % alike : 0;
    uint32_t i = 0;
    for (; kind_of(&caps[i]) != best || left-- > 0; i++) {
    }
    return i;
}

static wf_result select_by_number(int number, char selector[WF_MPI_SELECTOR])
{
    uint32_t count = 0;
    wf_result result = wf_devices_list(NULL, NULL, &count);
    wf_caps *caps = result == WF_SUCCESS ? calloc(count, sizeof *caps) : NULL;
    if (result == WF_SUCCESS && !caps)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count && caps; i++)
        caps[i].size = sizeof *caps;
    uint32_t found = count;
    if (result == WF_SUCCESS)
        result = wf_devices_list(NULL, caps, &found);
    if (result == WF_SUCCESS)
        snprintf(selector, WF_MPI_SELECTOR, "%u",
                 pick(caps, found < count ? found : count, number));
    free(caps);
    return result;
}

wf_result wf_mpi_select(MPI_Comm comm, char selector[WF_MPI_SELECTOR])
{
    if (!selector)
        return WF_ERROR_INVALID_ARGUMENT;
    wfi_ranks ranks;
    wfi_ranks_open(&ranks, comm, NULL, NULL);
    const char *environment = getenv("WAVEFIT_DEVICE");
    char own[WF_MPI_SELECTOR] = "";
    wf_result result = WF_SUCCESS;
    /* Ranks whose environment selects count among those of their host all the same. */
    const int number = rank_in_host(&ranks);
    if (environment && *environment)
        snprintf(own, sizeof own, "%s", environment);
    else
        result = select_by_number(number, own);
    result = wfi_ranks_agree(&ranks, result);
    if (result == WF_SUCCESS)
        snprintf(selector, WF_MPI_SELECTOR, "%s", own);
    wfi_ranks_close(&ranks);
    return result;
}
