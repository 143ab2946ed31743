#include "tool/tune/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/matrix_market.h"
#include "tool/cases/bench_matrices.h"
#include "tool/cases/generate.h"
#include "tool/cases/random.h"
#include "tool/cases/vectors.h"

/* Quick: in the quick suite; cpu: for CPU devices too. */
#define HIMENO(text, i, j, k, quick_, cpu_)                                                        \
    {                                                                                              \
        .family = WF_FAMILY_HIMENO, .name = text, .a = i, .b = j, .c = k, .quick = quick_,         \
        .cpu = cpu_                                                                                \
    }
#define SPMV(text, type_, kind_, size, more, quick_, cpu_)                                         \
    {                                                                                              \
        .family = WF_FAMILY_SPMV, .name = text, .type = type_, .kind = kind_, .a = size,           \
        .b = more, .quick = quick_, .cpu = cpu_                                                    \
    }
#define MATMUL(text, type_, m, n, k, quick_, cpu_)                                                 \
    {                                                                                              \
        .family = WF_FAMILY_MATMUL, .name = text, .type = type_, .a = m, .b = n, .c = k,           \
        .quick = quick_, .cpu = cpu_                                                               \
    }
#define FAST(text, m, n, k)                                                                        \
    {                                                                                              \
        .family = WF_FAMILY_MATMUL, .name = text, .a = m, .b = n, .c = k, .math = WF_MATH_FAST     \
    }
#define GRID(text, type_, shape_, x, y, z, steps_, quick_, cpu_)                                   \
    {                                                                                              \
        .family = WF_FAMILY_STENCIL, .name = text, .type = type_, .shape = shape_, .radius = 1,    \
        .a = x, .b = y, .c = z, .steps = steps_, .quick = quick_, .cpu = cpu_                      \
    }

static const wfi_tune_problem suite[] = {
    HIMENO("himeno S", 128, 64, 64, true, true),
    HIMENO("himeno M", 256, 128, 128, true, true),
    HIMENO("himeno XS", 64, 32, 32, false, true),
    HIMENO("himeno L", 512, 256, 256, false, false),
    SPMV("poisson27 32^3", WF_TYPE_F32, WFI_MATRIX_POISSON27, 32, 0, true, true),
    SPMV("poisson27 32^3", WF_TYPE_F64, WFI_MATRIX_POISSON27, 32, 0, false, true),
    SPMV("uniform 64Ki x 8", WF_TYPE_F32, WFI_MATRIX_UNIFORM, 65536, 8, true, true),
    SPMV("rmat 2^14 x 16", WF_TYPE_F32, WFI_MATRIX_RMAT, 14, 0, true, true),
    SPMV("poisson27 128^3", WF_TYPE_F32, WFI_MATRIX_POISSON27, 128, 0, false, false),
    SPMV("rmat 2^18 x 16", WF_TYPE_F32, WFI_MATRIX_RMAT, 18, 0, false, false),
    MATMUL("256^3", WF_TYPE_F32, 256, 256, 256, true, true),
    MATMUL("512^3", WF_TYPE_F32, 512, 512, 512, false, true),
    MATMUL("1024^3", WF_TYPE_F32, 1024, 1024, 1024, true, false),
    MATMUL("2048^3", WF_TYPE_F32, 2048, 2048, 2048, false, false),
    MATMUL("127x8192x513", WF_TYPE_F32, 127, 8192, 513, false, false),
    MATMUL("1000x2000x3000", WF_TYPE_F32, 1000, 2000, 3000, false, false),
    MATMUL("4096^3", WF_TYPE_F32, 4096, 4096, 4096, false, false),
    MATMUL("8192^3", WF_TYPE_F32, 8192, 8192, 8192, false, false),
    FAST("4096^3 fast", 4096, 4096, 4096),
    MATMUL("256^3", WF_TYPE_F64, 256, 256, 256, false, true),
    MATMUL("2048^3", WF_TYPE_F64, 2048, 2048, 2048, false, false),
    MATMUL("256^3", WF_TYPE_F16, 256, 256, 256, false, true),
    MATMUL("1024^3", WF_TYPE_F16, 1024, 1024, 1024, false, false),
    MATMUL("4096^3", WF_TYPE_F16, 4096, 4096, 4096, false, false),
    MATMUL("4096^3", WF_TYPE_BF16, 4096, 4096, 4096, false, false),
    MATMUL("4096^3", WF_TYPE_I8, 4096, 4096, 4096, false, false),
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
    char message[256];
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
    case WFI_MATRIX_GENERATED:
        ok = wfi_generate(p->path, seed, out, message);
        if (!ok)
            snprintf(error, 1024, "%s", message);
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
                                  .type = p->type};
    wfi_io_error cause;
    data->spmv.values =
        wfi_matrix_values(m, p->path ? p->path : p->name, p->type, &data->narrow, &cause);
    if (!data->spmv.values)
        snprintf(error, 1024, "%s", cause.text);
    return data->spmv.values != NULL;
}

/* Random coefficients whose magnitudes sum to at most 1, so that steps do not blow up. */
static void make_stencil(const wfi_tune_problem *p, uint64_t seed, wfi_tune_data *data)
{
    const uint32_t side = 2 * p->radius + 1, dimensions = p->c ? 3 : 2;
    const uint32_t taps = p->shape == WF_STENCIL_STAR ? 1 + 2 * p->radius * dimensions
                                                      : side * side * (p->c ? side : 1);
    wfi_random_fill(data->coefficients, WF_TYPE_F64, taps, seed);
    for (uint32_t i = 0; i < taps; i++)
        data->coefficients[i] /= taps;
    data->stencil = (wf_stencil_params){.size = sizeof data->stencil,
                                        .nx = (uint32_t)p->a,
                                        .ny = (uint32_t)p->b,
                                        .nz = (uint32_t)p->c,
                                        .shape = p->shape,
                                        .radius = p->radius,
                                        .border = p->border,
                                        .coefficients = data->coefficients,
                                        .steps = p->steps,
                                        .type = p->type};
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
        data->matmul = (wf_matmul_params){.size = sizeof data->matmul,
                                          .m = p->a,
                                          .n = p->b,
                                          .k = p->c,
                                          .type = p->type,
                                          .math = p->math};
        params->matmul = &data->matmul;
    } else if (p->family == WF_FAMILY_STENCIL) {
        make_stencil(p, seed, data);
        params->stencil = &data->stencil;
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
    free(data->narrow);
    data->narrow = NULL;
}
