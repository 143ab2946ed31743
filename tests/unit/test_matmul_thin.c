/* What the model picks for few rows or columns of C on an NVIDIA device, where it was measured, and
 * on another, where it was not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/vendors.h"
#include "gpus.h"
#include "kernels/families.h"

typedef struct pick {
    uint32_t vendor;
    wf_type type;
    uint64_t m, n, k;
    const char *variant;
    uint32_t split_k, kept; /* of panel; 0: any */
} pick;

static void check_pick(const pick *p)
{
    const wf_caps caps = gpu_card(p->vendor);
    const wfi_point point = gpu_pick_product(&caps, p->type, wfi_matmul_plain(p->m, p->n, p->k));
    const char *variant = point.variant->name;
    if (strcmp(variant, p->variant) != 0)
        fail_msg("%s in place of %s for %llux%llux%llu %s", variant, p->variant,
                 (unsigned long long)p->m, (unsigned long long)p->n, (unsigned long long)p->k,
                 wf_type_name(p->type));
    if (p->split_k)
        assert_int_equal(point.values[MATMUL_ID_SPLIT_K], p->split_k);
    if (p->kept)
        assert_int_equal(point.values[MATMUL_ID_KEPT], p->kept);
}

static void check_picks(const pick *picks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_pick(&picks[i]);
}

/* The same for every number of rows (by_rows) or columns from `least` to `most`. */
static void check_panels(wf_type type, bool by_rows, uint64_t least, uint64_t most)
{
    for (uint64_t few = least; few <= most; few++)
        check_pick(&(pick){WFI_NVIDIA, type, by_rows ? few : 4096, by_rows ? 4096 : few, 4096,
                           "panel", 0, 0});
}

static void thin_products_go_past_a_panel(void **state)
{
    (void)state;
    check_panels(WF_TYPE_F32, false, 2, 16);
    check_panels(WF_TYPE_F32, true, 4, 16);
    check_panels(WF_TYPE_F64, true, 4, 8);
    check_panels(WF_TYPE_F64, false, 8, 8);
    check_panels(WF_TYPE_F16, false, 3, 3);
}

static void matvec_keeps_single_vectors(void **state)
{
    (void)state;
    static const pick picks[] = {{WFI_NVIDIA, WF_TYPE_F32, 1, 4096, 4096, "matvec", 0, 0},
                                 {WFI_NVIDIA, WF_TYPE_F32, 4096, 1, 4096, "matvec", 0, 0},
                                 {WFI_NVIDIA, WF_TYPE_F32, 2, 4096, 4096, "matvec", 0, 0},
                                 {WFI_AMD, WF_TYPE_F32, 4096, 4, 4096, "matvec", 0, 0}};
    check_picks(picks, sizeof picks / sizeof *picks);
}

/* Sums of middle length in f64, but for so few outputs that most compute units would be idle. */
static void middle_sums_in_f64_go_past_a_panel(void **state)
{
    (void)state;
    static const pick picks[] = {{WFI_NVIDIA, WF_TYPE_F64, 4, 7001, 203, "panel", 1, 256},
                                 {WFI_NVIDIA, WF_TYPE_F64, 5000, 4, 200, "panel", 1, 256},
                                 {WFI_NVIDIA, WF_TYPE_F64, 6, 9001, 151, "panel", 1, 256},
                                 {WFI_NVIDIA, WF_TYPE_F64, 5, 2001, 1003, "panel", 2, 256},
                                 {WFI_NVIDIA, WF_TYPE_F64, 4, 500, 203, "matvec", 0, 0},
                                 {WFI_AMD, WF_TYPE_F64, 4, 7001, 203, "matvec", 0, 0}};
    check_picks(picks, sizeof picks / sizeof *picks);
}

/* Each work-item along a row sums up to `steps` elements, and more than half as many, as far as
 * there are from 4 to `widest` work-items. */
static void check_rows(uint64_t k, uint32_t steps, uint32_t widest)
{
    const wf_caps caps = gpu_card(WFI_NVIDIA);
    const wfi_point point = gpu_pick_product(&caps, WF_TYPE_F32, wfi_matmul_plain(20011, 1, k));
    const uint32_t row = point.values[MATMUL_ID_LOCAL_X];
    assert_string_equal(point.variant->name, "matvec");
    assert_in_range(row, 4, widest);
    assert_true(row * (uint64_t)point.values[MATMUL_ID_LOCAL_Y] >= 128);
    assert_true(row == widest || (uint64_t)row * steps >= k);
    assert_true(row == 4 || (uint64_t)row * steps < 2 * k);
}

static void few_items_share_short_rows(void **state)
{
    (void)state;
    for (uint64_t k = 67; k < 11000; k = 2 * k + 1) {
        check_rows(k, 32, 128);
        check_rows(k + 1, 64, 32); /* vectors */
    }
}

/* Of so few rows that compute units would be idle, each has more of them. */
static void more_items_share_few_rows(void **state)
{
    (void)state;
    const wf_caps caps = gpu_card(WFI_NVIDIA);
    const wfi_point many = gpu_pick_product(&caps, WF_TYPE_F32, wfi_matmul_plain(20000, 1, 220));
    assert_int_equal(many.values[MATMUL_ID_LOCAL_X], 4);
    for (uint64_t rows = 500; rows <= 4000; rows += 500) {
        const wfi_point few = gpu_pick_product(&caps, WF_TYPE_F32, wfi_matmul_plain(rows, 1, 220));
        const uint32_t row = few.values[MATMUL_ID_LOCAL_X];
        assert_string_equal(few.variant->name, "matvec");
        assert_in_range(row, 8, 32);
        assert_true(row == 32 ||
                    rows / few.values[MATMUL_ID_LOCAL_Y] + 1 >= 2 * caps.compute_units);
    }
}

/* Where the sum runs across rows, no work-item that shares it is without a step. */
static void few_items_share_short_sums(void **state)
{
    (void)state;
    const wf_caps caps = gpu_card(WFI_NVIDIA);
    for (uint64_t k = 16; k < 8192; k *= 2) {
        const wfi_point point = gpu_pick_product(&caps, WF_TYPE_F32, wfi_matmul_plain(1, 30000, k));
        assert_string_equal(point.variant->name, "matvec");
        assert_int_equal(point.values[MATMUL_ID_LOCAL_Y], k / 8 < 128 ? k / 8 : 128);
    }
}

/* Short sums of few rows, of which matvec waits for each step. */
static void short_sums_of_few_rows_go_to_outer(void **state)
{
    (void)state;
    static const pick picks[] = {{WFI_NVIDIA, WF_TYPE_F32, 4, 20001, 50, "outer", 0, 0},
                                 {WFI_NVIDIA, WF_TYPE_F64, 4, 20001, 50, "outer", 0, 0},
                                 {WFI_NVIDIA, WF_TYPE_F64, 2, 15000, 40, "outer", 0, 0},
                                 {WFI_NVIDIA, WF_TYPE_F32, 1, 20001, 50, "matvec", 0, 0}};
    check_picks(picks, sizeof picks / sizeof *picks);
}

/* Each work-group reads the panel by itself: the more of C there is, the larger they are. */
static void many_outputs_in_f64_take_wide_panels(void **state)
{
    (void)state;
    static const struct {
        uint64_t m, n, k;
        uint32_t batch, lanes;
    } picks[] = {{2, 12001, 99, 1, 8}, {4, 9001, 203, 1, 16}, {16001, 8, 800, 6, 32}};
    const wf_caps caps = gpu_card(WFI_NVIDIA);
    for (size_t i = 0; i < sizeof picks / sizeof *picks; i++) {
        wfi_matmul_problem p = wfi_matmul_plain(picks[i].m, picks[i].n, picks[i].k);
        p.batch = picks[i].batch;
        const wfi_point point = gpu_pick_product(&caps, WF_TYPE_F64, p);
        assert_string_equal(point.variant->name, "panel");
        assert_int_equal(point.values[MATMUL_ID_LANES_O], picks[i].lanes);
    }
}

/* Where there are few outputs, shorter parts of the sum occupy the device. */
static void short_sums_are_split(void **state)
{
    (void)state;
    static const pick picks[] = {{WFI_NVIDIA, WF_TYPE_F32, 2048, 8, 2048, "panel", 8, 256},
                                 {WFI_NVIDIA, WF_TYPE_F32, 4096, 16, 4096, "panel", 8, 512},
                                 {WFI_NVIDIA, WF_TYPE_F32, 1024, 16, 1024, "vector", 0, 0},
                                 {WFI_NVIDIA, WF_TYPE_F32, 1024, 3, 1024, "matvec", 0, 0},
                                 {WFI_NVIDIA, WF_TYPE_F32, 512, 8, 512, "vector", 0, 0}};
    check_picks(picks, sizeof picks / sizeof *picks);
}

/* Where slices of k can be subgroups. Caches keep some of the large ones. */
static void sixteen_go_past_slices(void **state)
{
    (void)state;
    static const struct {
        uint64_t m, n, k;
        const char *variant;
        uint32_t split_k, reverse;
    } picks[] = {{16, 4096, 4096, "subgroup_k", 8, 1}, {9, 4096, 4096, "subgroup_k", 8, 1},
                 {16, 2048, 2048, "subgroup_k", 8, 0}, {4096, 16, 4096, "subgroup_k", 8, 1},
                 {8, 4096, 4096, "panel", 0, 0},       {4096, 12, 4096, "panel", 0, 0}};
    wf_caps caps = gpu_card(WFI_NVIDIA);
    caps.full_subgroups = caps.subgroup_size_control = true;
    for (size_t i = 0; i < sizeof picks / sizeof *picks; i++) {
        const wfi_point point = gpu_pick_product(
            &caps, WF_TYPE_F32, wfi_matmul_plain(picks[i].m, picks[i].n, picks[i].k));
        assert_string_equal(point.variant->name, picks[i].variant);
        if (picks[i].split_k) {
            assert_int_equal(point.values[MATMUL_ID_SPLIT_K], picks[i].split_k);
            assert_int_equal(point.values[MATMUL_ID_REVERSE], picks[i].reverse);
        }
    }
}

/* A work-item of no outputs, or of more than its registers hold, is refused before a plan divides
 * by it. */
static void panel_refuses_rows_and_blocks(void **state)
{
    (void)state;
    static const struct {
        uint32_t rows, blocks;
        bool legal;
    } cases[] = {{1, 1, true},  {4, 8, true},  {0, 1, false},
                 {5, 1, false}, {1, 0, false}, {1, 9, false}};
    const wf_caps caps = gpu_card(WFI_NVIDIA);
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    const wfi_problem problem = {
        .family = WF_FAMILY_MATMUL, .type = WF_TYPE_F32, .matmul = wfi_matmul_plain(4, 4096, 4096)};
    wfi_point point = {.caps = &caps,
                       .problem = &problem,
                       .variant = family->variants[wfi_variant_find(family, "panel")]};
    wfi_point_defaults(&point);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char reason[256] = "";
        point.values[MATMUL_ID_ROWS] = cases[i].rows;
        point.values[MATMUL_ID_BLOCKS] = cases[i].blocks;
        assert_int_equal(wfi_point_legal(&point, reason), cases[i].legal);
        assert_true(cases[i].legal || strstr(reason, "rows between 1 and 4"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thin_products_go_past_a_panel),
        cmocka_unit_test(matvec_keeps_single_vectors),
        cmocka_unit_test(middle_sums_in_f64_go_past_a_panel),
        cmocka_unit_test(few_items_share_short_rows),
        cmocka_unit_test(more_items_share_few_rows),
        cmocka_unit_test(few_items_share_short_sums),
        cmocka_unit_test(short_sums_of_few_rows_go_to_outer),
        cmocka_unit_test(many_outputs_in_f64_take_wide_panels),
        cmocka_unit_test(short_sums_are_split),
        cmocka_unit_test(sixteen_go_past_slices),
        cmocka_unit_test(panel_refuses_rows_and_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
