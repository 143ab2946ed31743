/* Dense products that the benches of this folder draw, name and plan. */
#ifndef WFI_BENCH_PRODUCT_H
#define WFI_BENCH_PRODUCT_H

#include "tool/cases/problem.h"

/* The last type where none has the name. */
wf_type bench_product_type(const char *name);
double bench_product_operations(const wfi_case_problem *p);
/* By the model alone, but for the variant (NULL: the model's) and the constants. */
wf_result bench_product_plan(wf_device *device, const wfi_case_problem *p, const char *variant,
                             const wf_constant *constants, uint32_t count, wf_plan **plan);
/* Prints type, m, n, k, batch, A^T and B^T (0 or 1), separated by commas. */
void bench_product_print(const wfi_case_problem *p);

#endif
