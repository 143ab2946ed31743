/* Products with few rows or columns of C: the row `panel`. */
#include "kernels/matmul/matmul.h"

static const uint32_t lanes_k[] = {4, 8, 16, 32, 64, 128}, lanes_o[] = {2, 4, 8, 16, 32},
                      vec4s[] = {0, 1, 2, 3}, splits[] = {1, 2, 4, 8, 16}, rows[] = {2, 4},
                      blocks[] = {1, 2, 4}, kept[] = {64, 128, 256, 512};

const wfi_parameter wfi_matmul_panel_parameters[WFI_PANEL_PARAMETERS] = {
    {"lanes_k", MATMUL_ID_LANES_K, 8, 6, lanes_k, "work-items that share a sum"},
    {"lanes_o", MATMUL_ID_LANES_O, 8, 5, lanes_o,
     "work-items along the large matrix's rows or columns of C, four each"},
    {"vec4", MATMUL_ID_VEC4, 0, 4, vec4s, "memory moves four at a time: 1 A, 2 B, added"},
    {"split_k", MATMUL_ID_SPLIT_K, 1, 5, splits,
     "parts of the sum that different work-groups make"},
    {"rows", MATMUL_ID_ROWS, 2, 2, rows,
     "outputs a work-item, where the matrix lies along the sum"},
    {"blocks", MATMUL_ID_BLOCKS, 1, 3, blocks, "blocks of the large matrix under way a work-item"},
    {"kept", MATMUL_ID_KEPT, 64, 4, kept, "steps of the sum whose panel is in shared memory"},
};

static uint64_t vectors(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    return p->m < p->n ? p->m : p->n;
}

static uint32_t fours(const wfi_point *point)
{
    return (uint32_t)((vectors(point) + 3) / 4);
}

static bool few_vectors(const wfi_point *point)
{
    return vectors(point) >= 1 && vectors(point) <= WFI_MOST_PANEL;
}

static bool sizes_positive(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return v[MATMUL_ID_LANES_K] >= 1 && v[MATMUL_ID_LANES_K] <= 1024 && v[MATMUL_ID_LANES_O] >= 1 &&
           v[MATMUL_ID_LANES_O] <= 1024 && v[MATMUL_ID_SPLIT_K] >= 1 &&
           v[MATMUL_ID_SPLIT_K] <= 4096;
}

/* Items are numbered in blocks: pairs, or eights, along the outputs, eights along the sum. */
static bool blocks_whole(const wfi_point *point)
{
    const uint32_t k = point->values[MATMUL_ID_LANES_K], o = point->values[MATMUL_ID_LANES_O];
    return (k < 8 || k % 8 == 0) && (o < 8 || o % 8 == 0);
}

static bool kept_whole(const wfi_point *point)
{
    const uint32_t kept_ = point->values[MATMUL_ID_KEPT];
    return kept_ > 0 && kept_ <= 65536 && kept_ % (4 * point->values[MATMUL_ID_LANES_K]) == 0;
}

static bool vec4_allowed(const wfi_point *point)
{
    const uint32_t bits = point->values[MATMUL_ID_VEC4];
    return bits <= 3 && wfi_matmul_vec4_allowed(point, bits);
}

const wfi_constraint wfi_matmul_panel_constraints[WFI_PANEL_CONSTRAINTS] = {
    {"m or n must be at most 16, since a work-item has the sums of four whole rows or columns",
     few_vectors},
    {"lanes_k and lanes_o must be between 1 and 1024, splits between 1 and 4096, rows between "
     "1 and 4, blocks between 1 and 8",
     sizes_positive},
    {"kept must be a multiple of 4 x lanes_k up to 65536, since it is whole blocks of every "
     "work-item",
     kept_whole},
    {"lanes_k and lanes_o must be less than 8 or multiples of 8, since items form blocks of 8",
     blocks_whole},
    {WFI_VEC4_REASON, vec4_allowed},
};

void wfi_matmul_panel_group(const wfi_point *point, uint32_t size[3])
{
    size[0] = point->values[MATMUL_ID_LANES_K] * point->values[MATMUL_ID_LANES_O];
    size[1] = size[2] = 1;
}

uint64_t wfi_matmul_panel_shared(const wfi_point *point)
{
    const uint32_t *v = point->values;
    const uint64_t panel = UINT64_C(4) * fours(point) * (v[MATMUL_ID_KEPT] / 4 + 1),
                   sums =
                       (uint64_t)v[MATMUL_ID_LANES_O] * fours(point) * (v[MATMUL_ID_LANES_K] + 1);
    return (panel > sums ? panel : sums) * 4 * wfi_matmul_sum_size(point->problem->type);
}

/* Of a work-item. */
static uint32_t outputs(const wfi_point *point)
{
    return wfi_matmul_by_sum(&point->problem->matmul) ? point->values[MATMUL_ID_ROWS] : 4;
}

void wfi_matmul_panel_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    wfi_matmul_constants(point, desc);
    wfi_pipeline_constant(desc, MATMUL_ID_MATRIX_IS_B,
                          wfi_matmul_matrix_is_b(&point->problem->matmul));
    wfi_pipeline_constant(desc, MATMUL_ID_FOURS, fours(point));
}

wf_result wfi_matmul_panel_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const bool is_b = wfi_matmul_matrix_is_b(&point->problem->matmul);
    const uint32_t all = outputs(point) * point->values[MATMUL_ID_LANES_O];
    return wfi_matmul_build(plan, point, params,
                            (wfi_matmul_tile){.m = is_b ? WFI_MOST_PANEL : all,
                                              .n = is_b ? all : WFI_MOST_PANEL,
                                              .k = 4,
                                              .split_k = point->values[MATMUL_ID_SPLIT_K],
                                              .reverse = true});
}
