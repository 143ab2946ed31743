/* How the lanes of variants reach memory, by sums written out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "kernels/families.h"
#include "plan/access.h"
#include "plan/family.h"

/* Sectors: 8 floats side by side are one sector, 8 that lie 128 bytes apart are 8; an element over
 * the edge of a sector is in two. */
static void sectors(void **state)
{
    uint64_t at[32];
    wf_access access = {0};
    (void)state;
    for (uint64_t lane = 0; lane < 8; lane++)
        at[lane] = 64 + lane * 4;
    wfi_access_load(&access, at, 8, 4);
    assert_true(access.sectors == 1 && access.least_sectors == 1);
    for (uint64_t lane = 0; lane < 8; lane++)
        at[lane] = lane * 128;
    wfi_access_load(&access, at, 8, 4); /* sums: 1 + 8 */
    assert_true(access.sectors == 9 && access.least_sectors == 2);
    access = (wf_access){0};
    for (uint64_t lane = 0; lane < 4; lane++)
        at[lane] = 24 + lane * 16; /* 24 … 39, 40 … 55, 56 … 71, 72 … 87: sectors 0 to 2 */
    wfi_access_load(&access, at, 4, 16);
    assert_true(access.sectors == 3 && access.least_sectors == 2);
}

/* Banks: words 32 apart share one; equal words are read once. */
static void passes(void **state)
{
    uint32_t side[32], apart[32], same[32], odd[32], four[32];
    (void)state;
    for (uint32_t lane = 0; lane < 32; lane++) {
        side[lane] = 100 + lane;
        apart[lane] = lane * 32;
        same[lane] = 7;
        odd[lane] = lane * 33;
        four[lane] = lane * 4;
    }
    assert_int_equal(wfi_access_passes(side, 32), 1);
    assert_int_equal(wfi_access_passes(apart, 32), 32);
    assert_int_equal(wfi_access_passes(same, 32), 1);
    assert_int_equal(wfi_access_passes(odd, 32), 1);
    assert_int_equal(wfi_access_passes(four, 32), 4);
}

static wf_access access_of(const wfi_problem *problem, const char *variant,
                           const wf_constant *constants)
{
    static wf_caps caps = {
        .size = sizeof caps, .subgroup_size = 32, .subgroup_min = 32, .subgroup_max = 32};
    const wfi_family *family = wfi_family_get(problem->family);
    wfi_point point = {.caps = &caps,
                       .problem = problem,
                       .variant = family->variants[wfi_variant_find(family, variant)]};
    wf_access out = {0};
    wfi_point_defaults(&point);
    for (; constants->name; constants++)
        wfi_point_put(&point, wfi_parameter_find(point.variant, constants->name), constants->value);
    assert_non_null(point.variant->access);
    point.variant->access(&point, &out);
    return out;
}

/* Rows of 27 entries, as the 27-point Poisson matrix has. */
static void sparse_rows(void **state)
{
    const wfi_problem p = {
        .family = WF_FAMILY_SPMV,
        .type = WF_TYPE_F32,
        .spmv = {.rows = 1000, .columns = 1000, .entries = 27000, .mean_row = 27}};
    const wf_constant row[] = {{"local_x", 128}, {NULL, 0}},
                      wide[] = {{"local_x", 128}, {"lanes", 128}, {NULL, 0}},
                      four[] = {{"local_x", 128}, {"lanes", 4}, {NULL, 0}},
                      even[] = {{"items", 8}, {NULL, 0}}, odd[] = {{"items", 7}, {NULL, 0}};
    (void)state;
    /* Columns and values, each of 32 lanes 108 bytes apart: a sector a lane for 4 that would do. */
    wf_access a = access_of(&p, "row", row);
    assert_true(a.sectors == 64 && a.least_sectors == 8 && a.meeting == 0);
    assert_int_equal(a.row_lanes, 1);
    assert_int_equal(a.group_rows, 128);
    /* 27 of the first 32 lanes read 108 bytes in one piece: 4 sectors. */
    a = access_of(&p, "plain", wide);
    assert_true(a.sectors == 8 && a.least_sectors == 8);
    assert_int_equal(a.row_lanes, 128);
    assert_int_equal(a.group_rows, 1);
    /* 8 rows of 16 bytes each. Row r begins at 108 r, which is 12 r modulo 32 behind a sector's
     * begin and passes its end where that is over 16, in rows 2, 5 and 7 (24, 28, 20): 11
     * sectors. */
    a = access_of(&p, "lanes", four);
    assert_true(a.sectors == 22 && a.least_sectors == 8);
    assert_int_equal(a.group_rows, 32);
    a = access_of(&p, "add", row);
    assert_int_equal(a.row_lanes, 32);
    a = access_of(&p, "atomic", four);
    assert_true(a.meeting == 4);
    assert_true(access_of(&p, "merge", even).bank_passes == 8);
    assert_true(access_of(&p, "merge", odd).bank_passes == 1);
}

/* Of 20 x 24 outputs, tiles of 16 x 16 cover 32 x 32. */
static void products(void **state)
{
    wfi_problem p = {
        .family = WF_FAMILY_MATMUL, .type = WF_TYPE_F32, .matmul = wfi_matmul_plain(20, 24, 64)};
    const wf_constant block[] = {{"tile_m", 64},  {"tile_n", 64},  {"tile_k", 32},
                                 {"thread_m", 8}, {"thread_n", 8}, {NULL, 0}},
                      small[] = {{"local_x", 8}, {"local_y", 4}, {NULL, 0}},
                      square[] = {{"tile", 16}, {NULL, 0}};
    wf_constant wide[] = {{"tile_m", 64},  {"tile_n", 256}, {"tile_k", 8},
                          {"thread_m", 8}, {"thread_n", 8}, {"lanes_m", 4},
                          {"lanes_n", 32}, {"pairs", 0},    {NULL, 0}};
    (void)state;
    /* 4 rows of A, one element each, and 8 side by side of B. */
    wf_access a = access_of(&p, "naive", small);
    assert_true(a.sectors == 4 + 1 && a.least_sectors == 4 + 4 && a.busy == 1);
    p.matmul.transpose_b = true; /* 8 columns, 64 floats apart */
    p.matmul.ldb = 64;
    a = access_of(&p, "naive", small);
    assert_true(a.sectors == 4 + 8);
    a = access_of(&p, "tiled", square);
    assert_true(a.busy == 20.0 * 24 / (32 * 32));
    /* 8 work-items across: a subgroup has 4 rows of A's tile. They are 32 words apart: the same
     * bank, 4 passes for 8 reads; 8 reads of B take 1. Transposed they take 1. */
    assert_true(access_of(&p, "blocked", block).bank_passes == (8 * 4 + 8 * 1) / 16.0);
    assert_true(access_of(&p, "register", block).bank_passes == 1);
    /* Reads of 4 words. A subgroup has 32 fours of B's tile, which are 128 words, and one of A's;
     * in pairs 16 of B's and 2 of A's. */
    assert_true(access_of(&p, "vector", wide).bank_passes == (2 * 1 + 2 * 4) / 16.0);
    wide[7].value = 1;
    assert_true(access_of(&p, "vector", wide).bank_passes == (2 * 1 + 2 * 2) / 16.0);
}

/* Rows of 62 inner cells in a grid of 64; with 32 lanes along them 2 of 64 are idle. */
static void relaxation(void **state)
{
    const wfi_problem p = {.family = WF_FAMILY_HIMENO, .himeno = {64, 34, 34}};
    const wf_constant along[] = {{"local_x", 32}, {"local_y", 4}, {NULL, 0}},
                      across[] = {{"local_x", 1}, {"local_y", 16}, {"local_z", 4}, {NULL, 0}},
                      tile[] = {{"local_x", 8}, {"local_y", 4}, {NULL, 0}};
    (void)state;
    wf_access a = access_of(&p, "naive", along);
    assert_true(a.busy == 62.0 / 64);
    assert_true(a.sectors == 5 && a.least_sectors == 4); /* cell 1 is no sector's first */
    a = access_of(&p, "naive", across);
    assert_true(a.sectors == 32 && a.least_sectors == 4);
    /* Rows of 10 words: those of lanes 0 … 7 are words 0 … 7, then 10 …, 20 …, 30 … 37, whose last
     * six are in the banks of words 0 … 5. */
    assert_true(access_of(&p, "shared", tile).bank_passes == 2);
}

static void stencils(void **state)
{
    const wfi_problem p = {.family = WF_FAMILY_STENCIL,
                           .type = WF_TYPE_F64,
                           .stencil = {.nx = 100,
                                       .ny = 100,
                                       .nz = 1,
                                       .row_stride = 100,
                                       .dimensions = 2,
                                       .shape = WF_STENCIL_STAR,
                                       .radius = 1,
                                       .steps = 1}};
    const wf_constant wide[] = {{"local_x", 128}, {NULL, 0}}, thin[] = {{"local_x", 32}, {NULL, 0}};
    (void)state;
    wf_access a = access_of(&p, "naive", wide);
    assert_true(a.busy == 100.0 / 128);
    assert_true(a.sectors == 8 && a.least_sectors == 8); /* 32 f64 */
    assert_true(access_of(&p, "naive", thin).busy == 100.0 / 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sectors),  cmocka_unit_test(passes),     cmocka_unit_test(sparse_rows),
        cmocka_unit_test(products), cmocka_unit_test(relaxation), cmocka_unit_test(stencils),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
