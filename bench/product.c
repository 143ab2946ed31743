#include "product.h"

#include <stdio.h>
#include <string.h>

#include "tool/cases/cases.h"

static uint64_t batch_of(const wfi_case_problem *p)
{
    return p->batch ? p->batch : 1;
}

wf_type bench_product_type(const char *name)
{
    wf_type type = WF_TYPE_F32;
    while (strcmp(wf_type_name(type), name) != 0 && type + 1 < WF_TYPE_COUNT)
        type++;
    return type;
}

double bench_product_operations(const wfi_case_problem *p)
{
    return 2.0 * (double)p->a * (double)p->b * (double)p->c * (double)batch_of(p);
}

wf_result bench_product_plan(wf_device *device, const wfi_case_problem *p, const char *variant,
                             const wf_constant *constants, uint32_t count, wf_plan **plan)
{
    const wf_tuning tuning = {.size = sizeof tuning,
                              .variant = variant,
                              .no_tuning = true,
                              .constants = constants,
                              .constant_count = count};
    wf_matmul_params params = wfi_product_params(p);
    params.tuning = &tuning;
    return wf_matmul_plan(device, &params, plan);
}

void bench_product_print(const wfi_case_problem *p)
{
    printf("%s,%llu,%llu,%llu,%llu,%d,%d", wf_type_name(p->type), (unsigned long long)p->a,
           (unsigned long long)p->b, (unsigned long long)p->c, (unsigned long long)batch_of(p),
           p->transpose_a, p->transpose_b);
}
