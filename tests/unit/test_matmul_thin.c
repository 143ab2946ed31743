/* What the model picks for few rows or columns of C on an NVIDIA device, where it was measured, and
 * on another, where it was not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/vendors.h"
#include "kernels/families.h"
#include "picking.h"

typedef struct pick {
    uint32_t vendor;
    wf_type type;
    uint64_t m, n, k;
    const char *variant;
    uint32_t split_k, kept; /* of panel; 0: any */
} pick;

static void check_pick(const pick *p)
{
    const wf_caps caps = test_card_of(p->vendor);
    const wfi_point point = test_pick(&caps, p->type, wfi_matmul_plain(p->m, p->n, p->k));
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

/* Rows that are no vectors: no work-item along one is without an element, long or short. */
static void single_elements_keep_items_busy(void **state)
{
    (void)state;
    const wf_caps caps = test_card_of(WFI_NVIDIA);
    for (uint64_t k = 33; k < 11000; k = 2 * k + 1) {
        const wfi_point point = test_pick(&caps, WF_TYPE_F32, wfi_matmul_plain(20011, 1, k));
        const uint32_t row = point.values[MATMUL_ID_LOCAL_X];
        assert_string_equal(point.variant->name, "matvec");
        assert_true(row <= k && row * (uint64_t)point.values[MATMUL_ID_LOCAL_Y] >= 128);
        assert_true(k < 500 || row == 128);
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
    wf_caps caps = test_card_of(WFI_NVIDIA);
    caps.full_subgroups = caps.subgroup_size_control = true;
    caps.max_group_subgroups = 32;
    for (size_t i = 0; i < sizeof picks / sizeof *picks; i++) {
        const wfi_point point =
            test_pick(&caps, WF_TYPE_F32, wfi_matmul_plain(picks[i].m, picks[i].n, picks[i].k));
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
    const wf_caps caps = test_card_of(WFI_NVIDIA);
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
        cmocka_unit_test(single_elements_keep_items_busy),
        cmocka_unit_test(short_sums_are_split),
        cmocka_unit_test(sixteen_go_past_slices),
        cmocka_unit_test(panel_refuses_rows_and_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
