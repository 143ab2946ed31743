#include "tool/tune/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/cases/families.h"

uint32_t wfi_tune_suite(bool quick, bool cpu, wf_family family,
                        wfi_case_problem problems[WFI_MAX_TUNE_PROBLEMS])
{
    uint32_t count = 0;
    for (int f = 0; f < WFI_TOOL_FAMILY_COUNT; f++) {
        const wfi_tool_family *of = wfi_tool_families[f];
        const bool wanted = family == WF_FAMILY_COUNT || family == of->family;
        for (uint32_t i = 0; wanted && i < of->suite_count && count < WFI_MAX_TUNE_PROBLEMS; i++)
            if ((!quick || of->suite[i].quick) && (!cpu || of->suite[i].cpu))
                problems[count++] = of->suite[i];
    }
    return count;
}

bool wfi_tune_data_make(const wfi_case_problem *problem, uint64_t seed, wfi_problem_data *data,
                        wf_tune_params *params, char error[1024])
{
    memset(data, 0, sizeof *data);
    const wfi_tool_family *family = wfi_tool_family_of(problem->family);
    data->own = calloc(1, family->data_bytes);
    if (!data->own)
        snprintf(error, 1024, "there is no memory for the problem");
    const bool ok = data->own && family->data(problem, seed, data, params, error);
    if (!ok)
        wfi_tune_data_free(data);
    return ok;
}

void wfi_tune_data_free(wfi_problem_data *data)
{
    wfi_csr_free(&data->matrix);
    free(data->narrow);
    free(data->own);
    data->narrow = data->own = NULL;
}
