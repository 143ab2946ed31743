/* What the family of matrix products tells those who know no family by name. */
#include "plan/hooks.h"

#include <stdio.h>

#include "core/element.h"
#include "core/params.h"

#include "kernels/families.h"
#include "kernels/matmul/image.h"
#include "kernels/matmul/pack.h"
#include "plan/plan.h"
#include "wfi_sources.h"

#define CHECK_OPERATIONS 2e6 /* multiply-adds that elements drawn may cost on the host */
#define CHECK_LEAST 64       /* elements */

static void classes(const wfi_problem *problem, wfi_key *key)
{
    const wfi_matmul_problem *p = &problem->matmul;
    wfi_key_add_size(key, "m", (double)p->m);
    wfi_key_add_size(key, "n", (double)p->n);
    wfi_key_add_size(key, "k", (double)p->k);
    wfi_key_add_size(key, "batch", (double)p->batch);
    wfi_key_add(key, "=transpose_a", p->transpose_a);
    wfi_key_add(key, "=transpose_b", p->transpose_b);
    wfi_key_add(key, "=fast", p->fast);
    wfi_key_add(key, "=output", (int32_t)p->output);
    /* Rows were measured with operands whose rows are whole vectors; what they chose is slow where
     * any size may come. */
    if (p->varies && (wfi_matmul_chunk_bits(problem) & 3) != 3)
        wfi_key_add(key, "=any_size", 1);
}

static void text(const wfi_problem *problem, char *out, size_t bytes)
{
    const wfi_matmul_problem *p = &problem->matmul;
    snprintf(out, bytes, "%llux%llux%llu", (unsigned long long)p->m, (unsigned long long)p->n,
             (unsigned long long)p->k);
}

/* Rows of the matrices lie one behind the other, as where rows of tuning data are measured. */
static bool resize(const wfi_problem *problem, const char *given, wfi_problem *out)
{
    uint64_t e[3];
    if (!wfi_read_extents(given, e))
        return false;
    wfi_matmul_problem *p = &out->matmul;
    *out = *problem;
    p->m = e[0];
    p->n = e[1];
    p->k = e[2];
    p->lda = p->transpose_a ? p->m : p->k;
    p->ldb = p->transpose_b ? p->k : p->n;
    p->ldc = p->n;
    p->stride_a = p->m * p->k;
    p->stride_b = p->k * p->n;
    p->stride_c = p->m * p->n;
    p->varies = false;
    return true;
}

/* Sizes do not vary, and all operands are buffers. */
static void keep_plain(wf_matmul_params *p)
{
    p->vary_m = p->vary_n = p->vary_k = p->vary_batch = 0;
    p->image_a = p->image_b = p->image_c = p->image_bias = WF_IMAGE_NONE;
}

/* By its sizes and, where they are given, other parameters. */
static wf_result describe(const wfi_log *log, const wf_problem *given, wfi_problem *out)
{
    wf_matmul_params params;
    wf_result result = wfi_describe_extents(log, given);
    if (result == WF_SUCCESS)
        result = wfi_params_read(log, "wf_kernel_compile", given->matmul, &params, sizeof params);
    if (result != WF_SUCCESS)
        return result;
    params.m = given->extent[0];
    params.n = given->extent[1];
    params.k = given->extent[2];
    params.type = given->type;
    keep_plain(&params);
    return wfi_matmul_problem_of(log, &params, &out->matmul);
}

static void simplify(void *params)
{
    wf_matmul_params *p = params;
    p->alpha = NULL;
    p->beta = 0;
    keep_plain(p);
}

/* The bias has the type of the sums. */
static wf_type element(wf_type type, uint32_t binding)
{
    const wfi_element *element = wfi_element_of(type);
    return binding == WF_MATMUL_BIAS && !element->whole ? element->real : type;
}

static wf_result check(const void *params, void *const *host, uint64_t seed, wf_check *out)
{
    const wf_matmul_params *p = params;
    const wf_matmul_inputs inputs = {.size = sizeof inputs,
                                     .a = host[WF_MATMUL_A],
                                     .b = host[WF_MATMUL_B],
                                     .bias = host[WF_MATMUL_BIAS]};
    const double affordable = CHECK_OPERATIONS / ((double)p->k + 1);
    return wf_matmul_check(p, &inputs, host[WF_MATMUL_C],
                           affordable < CHECK_LEAST ? CHECK_LEAST : (uint64_t)affordable, seed,
                           out);
}

const struct wfi_family_hooks wfi_matmul_hooks = {
    .sources = WFI_SOURCES_MATMUL,
    .classes = classes,
    .text = text,
    .resize = resize,
    .describe = describe,
    .list = wfi_plan_list,
    .finish = wfi_matmul_exchange_images,
    .simplify = simplify,
    .element = element,
    .check = check,
};
