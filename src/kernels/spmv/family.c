/* The spmv family: its variants in their order, and what all of them compute. */
#include "kernels/families.h"
#include "kernels/spmv/push.h"
#include "kernels/spmv/variants.h"

static double flops(const wfi_problem *problem)
{
    const uint32_t vectors = problem->spmv.vectors;
    return 2.0 * (double)problem->spmv.entries * (vectors ? vectors : 1);
}

/* Every value and index once, x and y once. */
static double least_bytes(const wfi_problem *problem)
{
    const wfi_spmv_problem *p = &problem->spmv;
    const double real = (double)wf_type_size(wfi_spmv_real(problem->type));
    return (double)p->entries * (4 + (double)wf_type_size(problem->type)) +
           (double)(p->rows + 1) * 4 +
           (double)(p->rows + p->columns) * real * (p->vectors ? p->vectors : 1);
}

#define ADDRESS(name) &wfi_spmv_##name,
#define ONE(name) +1

static const wfi_variant *const variants[] = {WFI_SPMV_VARIANTS(ADDRESS)};
enum { VARIANTS = WFI_SPMV_VARIANTS(ONE) };

/* wf_spmv_analysis lists them all. */
_Static_assert(VARIANTS <= WF_SPMV_MOST_CANDIDATES,
               "raise WF_SPMV_MOST_CANDIDATES: wf_spmv_analysis has no room for all variants");

const wfi_family wfi_family_spmv = {
    .name = "spmv",
    .summary = "sparse matrix times vector, y = alpha A x + beta y",
    .work = "product",
    .variant_count = VARIANTS,
    .variants = variants,
    .flops = flops,
    .hooks = &wfi_spmv_hooks,
    .least_bytes = least_bytes,
};
