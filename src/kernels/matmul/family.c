/* Dense matrix product: the variants of the family, in the order that tables show them. */
#include "core/arithmetic.h"
#include "kernels/families.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/variants/list.h"

static const wfi_variant *const variants[] = {
    &wfi_matmul_naive,    &wfi_matmul_dispatch, &wfi_matmul_tiled,      &wfi_matmul_tiled2,
    &wfi_matmul_kstep,    &wfi_matmul_blocked,  &wfi_matmul_kept,       &wfi_matmul_transposed,
    &wfi_matmul_register, &wfi_matmul_vector,   &wfi_matmul_subgroup_k, &wfi_matmul_panel,
    &wfi_matmul_outer,    &wfi_matmul_dot,      &wfi_matmul_matvec,     &wfi_matmul_cooperative,
    &wfi_matmul_f16x2,
};

const wfi_family wfi_family_matmul = {
    .name = "matmul",
    .summary = "dense matrix product C = activation(alpha op(A) op(B) + beta C + bias)",
    .work = "product",
    .variant_count = WFI_COUNT(variants),
    .variants = variants,
    .flops = wfi_matmul_flops,
    .hooks = &wfi_matmul_hooks,
    .least_bytes = wfi_matmul_least_bytes,
};
