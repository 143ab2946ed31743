#include "tool/tune/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/cases/families.h"

#define FAST(text, m, n, k)                                                                        \
    {                                                                                              \
        .family = WF_FAMILY_MATMUL, .name = text, .a = m, .b = n, .c = k, .math = WF_MATH_FAST     \
    }
#define GRID(text, type_, shape_, x, y, z, steps_, quick_, cpu_)                                   \
    {                                                                                              \
        .family = WF_FAMILY_STENCIL, .name = text, .type = type_, .shape = shape_, .radius = 1,    \
        .a = x, .b = y, .c = z, .steps = steps_, .quick = quick_, .cpu = cpu_                      \
    }

static const wfi_case_problem suite[] = {
    WFI_HIMENO_PROBLEM("himeno S", 128, 64, 64, true, true),
    WFI_HIMENO_PROBLEM("himeno M", 256, 128, 128, true, true),
    WFI_HIMENO_PROBLEM("himeno XS", 64, 32, 32, false, true),
    WFI_HIMENO_PROBLEM("himeno L", 512, 256, 256, false, false),
    WFI_SPMV_PROBLEM("poisson27 32^3", WF_TYPE_F32, WFI_MATRIX_POISSON27, 32, 0, true, true),
    WFI_SPMV_PROBLEM("poisson27 32^3", WF_TYPE_F64, WFI_MATRIX_POISSON27, 32, 0, false, true),
    WFI_SPMV_PROBLEM("uniform 64Ki x 8", WF_TYPE_F32, WFI_MATRIX_UNIFORM, 65536, 8, true, true),
    WFI_SPMV_PROBLEM("rmat 2^14 x 16", WF_TYPE_F32, WFI_MATRIX_RMAT, 14, 0, true, true),
    WFI_SPMV_PROBLEM("poisson27 128^3", WF_TYPE_F32, WFI_MATRIX_POISSON27, 128, 0, false, false),
    WFI_SPMV_PROBLEM("rmat 2^18 x 16", WF_TYPE_F32, WFI_MATRIX_RMAT, 18, 0, false, false),
    WFI_MATMUL_PROBLEM("256^3", WF_TYPE_F32, 256, 256, 256, true, true),
    WFI_MATMUL_PROBLEM("512^3", WF_TYPE_F32, 512, 512, 512, false, true),
    WFI_MATMUL_PROBLEM("1024^3", WF_TYPE_F32, 1024, 1024, 1024, true, false),
    WFI_MATMUL_PROBLEM("2048^3", WF_TYPE_F32, 2048, 2048, 2048, false, false),
    WFI_MATMUL_PROBLEM("127x8192x513", WF_TYPE_F32, 127, 8192, 513, false, false),
    WFI_MATMUL_PROBLEM("1000x2000x3000", WF_TYPE_F32, 1000, 2000, 3000, false, false),
    WFI_MATMUL_PROBLEM("4096^3", WF_TYPE_F32, 4096, 4096, 4096, false, false),
    WFI_MATMUL_PROBLEM("8192^3", WF_TYPE_F32, 8192, 8192, 8192, false, false),
    FAST("4096^3 fast", 4096, 4096, 4096),
    WFI_MATMUL_PROBLEM("256^3", WF_TYPE_F64, 256, 256, 256, false, true),
    WFI_MATMUL_PROBLEM("2048^3", WF_TYPE_F64, 2048, 2048, 2048, false, false),
    WFI_MATMUL_PROBLEM("256^3", WF_TYPE_F16, 256, 256, 256, false, true),
    WFI_MATMUL_PROBLEM("1024^3", WF_TYPE_F16, 1024, 1024, 1024, false, false),
    WFI_MATMUL_PROBLEM("4096^3", WF_TYPE_F16, 4096, 4096, 4096, false, false),
    WFI_MATMUL_PROBLEM("4096^3", WF_TYPE_BF16, 4096, 4096, 4096, false, false),
    WFI_MATMUL_PROBLEM("4096^3", WF_TYPE_I8, 4096, 4096, 4096, false, false),
    GRID("star 128^3", WF_TYPE_F32, WF_STENCIL_STAR, 128, 128, 128, 1, true, true),
    GRID("star 1024^2 x 4", WF_TYPE_F32, WF_STENCIL_STAR, 1024, 1024, 0, 4, true, true),
    GRID("box 96^3", WF_TYPE_F32, WF_STENCIL_BOX, 96, 96, 96, 1, false, true),
    GRID("star 128^3", WF_TYPE_F16, WF_STENCIL_STAR, 128, 128, 128, 1, false, true),
    GRID("star 512^3", WF_TYPE_F16, WF_STENCIL_STAR, 512, 512, 512, 1, false, false),
    GRID("star 256^3", WF_TYPE_F64, WF_STENCIL_STAR, 256, 256, 256, 1, false, false),
    GRID("star 512^3 x 2", WF_TYPE_F32, WF_STENCIL_STAR, 512, 512, 512, 2, false, false),
    GRID("star 8192^2 x 4", WF_TYPE_F64, WF_STENCIL_STAR, 8192, 8192, 0, 4, false, false),
};

uint32_t wfi_tune_suite(bool quick, bool cpu, wf_family family,
                        wfi_case_problem problems[WFI_MAX_TUNE_PROBLEMS])
{
    uint32_t count = 0;
    for (size_t i = 0; i < WFI_COUNT(suite); i++)
        if ((!quick || suite[i].quick) && (!cpu || suite[i].cpu) &&
            (family == WF_FAMILY_COUNT || family == suite[i].family))
            problems[count++] = suite[i];
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
