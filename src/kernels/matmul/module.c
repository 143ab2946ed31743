#include "kernels/matmul/module.h"

#include "core/arithmetic.h"

void wfi_matmul_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const wfi_constant constants[] = {
        {MATMUL_ID_TRANSPOSE_A, p->transpose_a},
        {MATMUL_ID_TRANSPOSE_B, p->transpose_b},
        {MATMUL_ID_BETA, p->beta},
        {MATMUL_ID_BIAS, p->bias},
        {MATMUL_ID_ACTIVATION, (uint32_t)p->activation},
        {MATMUL_ID_OUTPUT, p->output == WF_MATMUL_OUTPUT_SUMS},
    };
    for (size_t i = 0; i < WFI_COUNT(constants); i++)
        wfi_pipeline_constant(desc, constants[i].id, constants[i].value);
}

void wfi_matmul_set_constant(wfi_pipeline_desc *desc, uint32_t id, uint32_t value)
{
    for (uint32_t i = 0; i < desc->constant_count; i++)
        if (desc->constants[i].id == id)
            desc->constants[i].value = value;
}

uint32_t wfi_matmul_get_constant(const wfi_pipeline_desc *desc, uint32_t id)
{
    for (uint32_t i = 0; i < desc->constant_count; i++)
        if (desc->constants[i].id == id)
            return desc->constants[i].value;
    return 0;
}
