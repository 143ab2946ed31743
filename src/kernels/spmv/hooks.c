/* What the family of sparse products tells those who know no family by name. */
#include "plan/hooks.h"

#include <math.h>
#include <stdio.h>

#include "core/element.h"
#include "kernels/families.h"
#include "kernels/spmv/variant.h"
#include "wfi_sources.h"

/* How uneven the rows are decides as much as how many there are. */
static void classes(const wfi_problem *problem, wfi_key *key)
{
    const wfi_spmv_problem *p = &problem->spmv;
    const double mean = p->mean_row > 0 ? p->mean_row : 1;
    wfi_key_add_size(key, "rows", (double)p->rows);
    wfi_key_add_size(key, "row_length", p->mean_row);
    wfi_key_add(key, "row_spread", (int32_t)lround(2 * log2(1 + 10 * p->row_deviation / mean)));
    wfi_key_add(key, "longest_row", (int32_t)lround(log2(1 + p->longest_row / mean)));
    wfi_key_add_size(key, "vectors", p->vectors ? p->vectors : 1);
    wfi_key_add(key, "=strided", p->strided);
    wfi_key_add(key, "block_fill", p->block ? (int32_t)lround(4 * p->block_fill) : 0);
}

static void text(const wfi_problem *problem, char *out, size_t bytes)
{
    const wfi_spmv_problem *p = &problem->spmv;
    snprintf(out, bytes, "%llux%llu, %llu entries", (unsigned long long)p->rows,
             (unsigned long long)p->columns, (unsigned long long)p->entries);
}

static wf_result describe(const wfi_log *log, const wf_problem *given, wfi_problem *out)
{
    const uint64_t *e = given->extent;
    const wf_result result = wfi_describe_extents(log, given);
    if (result == WF_SUCCESS)
        out->spmv = (wfi_spmv_problem){.rows = e[0],
                                       .columns = e[1],
                                       .entries = e[2],
                                       .longest_row = given->longest_row,
                                       .mean_row = (double)e[2] / (double)e[0],
                                       .row_deviation = given->row_deviation};
    return result;
}

static void simplify(void *params)
{
    wf_spmv_params *p = params;
    p->alpha = NULL;
    p->beta = 0;
}

/* Vectors have the type of the sums. */
static wf_type element(wf_type type, uint32_t binding)
{
    (void)binding;
    return wfi_element_of(type)->real;
}

static wf_result check(const void *params, void *const *host, uint64_t seed, wf_check *out)
{
    (void)seed;
    return wf_spmv_check(params, host[WF_SPMV_X], host[WF_SPMV_Y], out);
}

static void list(wf_device *device, const wfi_choice *choice, const void *params,
                 wfi_pipeline_list *out)
{
    const wfi_point *point = &choice->point;
    wfi_pipeline_desc *desc = &out->items[out->count];
    (void)device, (void)params;
    if (point->variant->traits & WFI_SPMV_BY_MATRIX)
        return;
    wfi_point_pipeline(point, desc);
    desc->bound_sets = (point->variant->traits & WFI_SPMV_BINDS_SETS) != 0;
    out->count++;
}

const struct wfi_family_hooks wfi_spmv_hooks = {
    .sources = WFI_SOURCES_SPMV,
    .classes = classes,
    .text = text,
    .describe = describe,
    .list = list,
    .simplify = simplify,
    .element = element,
    .check = check,
};
