#include "tool/tune_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/matrix_market.h"
#include "tool/bench_matrices.h"

static const wfi_tune_problem suite[] = {
    {WF_FAMILY_STENCIL, "himeno S", WF_TYPE_F32, 128, 64, 64, 0, NULL, true, true},
    {WF_FAMILY_STENCIL, "himeno M", WF_TYPE_F32, 256, 128, 128, 0, NULL, true, true},
    {WF_FAMILY_STENCIL, "himeno XS", WF_TYPE_F32, 64, 32, 32, 0, NULL, false, true},
    {WF_FAMILY_STENCIL, "himeno L", WF_TYPE_F32, 512, 256, 256, 0, NULL, false, false},
    {WF_FAMILY_SPMV, "poisson27 32^3", WF_TYPE_F32, 32, 0, 0, WFI_MATRIX_POISSON27, NULL, true,
     true},
    {WF_FAMILY_SPMV, "poisson27 32^3", WF_TYPE_F64, 32, 0, 0, WFI_MATRIX_POISSON27, NULL, false,
     true},
    {WF_FAMILY_SPMV, "uniform 64Ki x 8", WF_TYPE_F32, 65536, 8, 0, WFI_MATRIX_UNIFORM, NULL, true,
     true},
    {WF_FAMILY_SPMV, "rmat 2^14 x 16", WF_TYPE_F32, 14, 0, 0, WFI_MATRIX_RMAT, NULL, true, true},
    {WF_FAMILY_SPMV, "poisson27 128^3", WF_TYPE_F32, 128, 0, 0, WFI_MATRIX_POISSON27, NULL, false,
     false},
    {WF_FAMILY_SPMV, "rmat 2^18 x 16", WF_TYPE_F32, 18, 0, 0, WFI_MATRIX_RMAT, NULL, false, false},
    {WF_FAMILY_MATMUL, "256^3", WF_TYPE_F32, 256, 256, 256, 0, NULL, true, true},
    {WF_FAMILY_MATMUL, "512^3", WF_TYPE_F32, 512, 512, 512, 0, NULL, false, true},
    {WF_FAMILY_MATMUL, "1024^3", WF_TYPE_F32, 1024, 1024, 1024, 0, NULL, true, false},
    {WF_FAMILY_MATMUL, "127x8192x513", WF_TYPE_F32, 127, 8192, 513, 0, NULL, false, false},
    {WF_FAMILY_MATMUL, "1000x2000x3000", WF_TYPE_F32, 1000, 2000, 3000, 0, NULL, false, false},
    {WF_FAMILY_MATMUL, "4096^3", WF_TYPE_F32, 4096, 4096, 4096, 0, NULL, false, false},
    {WF_FAMILY_MATMUL, "8192^3", WF_TYPE_F32, 8192, 8192, 8192, 0, NULL, false, false},
};

uint32_t wfi_tune_suite(bool quick, bool cpu, wf_family family,
                        wfi_tune_problem problems[WFI_MAX_TUNE_PROBLEMS])
{
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof suite / sizeof *suite; i++)
        if ((!quick || suite[i].quick) && (!cpu || suite[i].cpu) &&
            (family == WF_FAMILY_COUNT || family == suite[i].family))
            problems[count++] = suite[i];
    return count;
}

static bool make_matrix(const wfi_tune_problem *p, uint64_t seed, wfi_csr *out, char error[1024])
{
    wfi_io_error cause;
    bool ok = false;
    snprintf(error, 1024, "out of memory");
    switch (p->kind) {
    case WFI_MATRIX_POISSON27:
        ok = wfi_make_poisson27((uint32_t)p->a, out);
        break;
    case WFI_MATRIX_UNIFORM:
        ok = wfi_make_uniform((uint32_t)p->a, (uint32_t)p->b, seed, out);
        break;
    case WFI_MATRIX_RMAT:
        ok = wfi_make_rmat((uint32_t)p->a, seed, out);
        break;
    case WFI_MATRIX_FILE:
        ok = wfi_matrix_market_read(p->path, out, &cause);
        if (!ok)
            snprintf(error, 1024, "%s", cause.text);
        break;
    }
    return ok;
}

static bool make_spmv(const wfi_tune_problem *p, uint64_t seed, wfi_tune_data *data,
                      char error[1024])
{
    wfi_csr *m = &data->matrix;
    if (!make_matrix(p, seed, m, error))
        return false;
    data->spmv = (wf_spmv_params){.size = sizeof data->spmv,
                                  .rows = m->rows,
                                  .columns = m->columns,
                                  .row_offsets = m->row_offsets,
                                  .column_indices = m->column_indices,
                                  .values = m->values,
                                  .type = p->type};
    if (p->type == WF_TYPE_F64)
        return true;
    data->values32 = malloc((m->entries + (size_t)1) * sizeof *data->values32);
    for (uint32_t i = 0; data->values32 && i < m->entries; i++)
        data->values32[i] = (float)m->values[i];
    data->spmv.values = data->values32;
    return data->values32 != NULL;
}

bool wfi_tune_data_make(const wfi_tune_problem *problem, uint64_t seed, wfi_tune_data *data,
                        wf_tune_params *params, char error[1024])
{
    const wfi_tune_problem *p = problem;
    bool ok = true;
    memset(data, 0, sizeof *data);
    if (p->family == WF_FAMILY_SPMV) {
        ok = make_spmv(p, seed, data, error);
        params->spmv = &data->spmv;
    } else if (p->family == WF_FAMILY_MATMUL) {
        data->matmul = (wf_matmul_params){
            .size = sizeof data->matmul, .m = p->a, .n = p->b, .k = p->c, .type = p->type};
        params->matmul = &data->matmul;
    } else {
        data->himeno = (wf_himeno_params){.size = sizeof data->himeno,
                                          .ni = (uint32_t)p->a,
                                          .nj = (uint32_t)p->b,
                                          .nk = (uint32_t)p->c};
        params->himeno = &data->himeno;
    }
    if (!ok)
        wfi_tune_data_free(data);
    return ok;
}

void wfi_tune_data_free(wfi_tune_data *data)
{
    wfi_csr_free(&data->matrix);
    free(data->values32);
    data->values32 = NULL;
}
