/* Predicted times against those that an H100 took: the ladder of matrix products of 2048^3 in f32
 * (bench/notes/ladders.md). The bytes are those that wavefit counts of these kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "core/vendors.h"
#include "model/predict.h"
#include "profiles/published.h"

typedef struct measured {
    const char *name;
    double us; /* that the H100 took */
    double groups, requested, shared;
    double passes; /* 0: not counted */
} measured;

static const measured ladder[] = {
    {"naive", 3670, 6459228160.0, 68736253952.0, 0, 0},
    {"tiled", 2260, 4311744512.0, 4311744512.0, 73014444032.0, 0},
    {"k-step", 2150, 4311744512.0, 4311744512.0, 73014444032.0, 0},
    {"private", 1280, 1090519040.0, 1090519040.0, 69793218560.0, 0},
    {"registers", 1260, 1090519040.0, 1090519040.0, 9663676416.0, 2.5},
    {"transposed", 1230, 1090519040.0, 1090519040.0, 9663676416.0, 0},
    {"large", 1060, 553648128.0, 553648128.0, 9126805504.0, 0},
    {"register", 606, 553648128.0, 553648128.0, 9126805504.0, 0},
    {"vector", 362, 822083584.0, 822083584.0, 9395240960.0, 0.25},
};

#define COUNT (sizeof ladder / sizeof *ladder)

static wf_plan_info plan_of(const measured *m)
{
    return (wf_plan_info){.size = sizeof(wf_plan_info),
                          .variant = m->name,
                          .flops = 2.0 * 2048 * 2048 * 2048,
                          .least_bytes = 3.0 * 2048 * 2048 * 4,
                          .requested_bytes = m->requested,
                          .shared_requested_bytes = m->shared,
                          .access = {.bank_passes = m->passes},
                          .group_bytes = m->groups};
}

static double predicted(const measured *m)
{
    const wf_plan_info plan = plan_of(m);
    wfi_prediction p;
    assert_true(wfi_predict(wfi_data_sheet_of("nvidia:h100"), &plan, WF_TYPE_F32, NULL, &p));
    assert_true(p.us > 0 && p.peak_part <= 1);
    return p.us;
}

/* What bench/notes/other-devices.md says of how far it can be trusted. */
static void within_a_factor_of_two_and_a_half(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        const double ratio = predicted(&ladder[i]) / ladder[i].us;
        if (ratio < 0.4 || ratio > 2.5)
            fail_msg("%s: predicted %g of the measured time", ladder[i].name, ratio);
    }
}

/* Of two kernels of which one takes more than 1.5 times as long. */
static void most_pairs_are_in_order(void **state)
{
    unsigned pairs = 0, right = 0;
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < COUNT; k++)
            if (ladder[i].us > 1.5 * ladder[k].us) {
                pairs++;
                right += predicted(&ladder[i]) > predicted(&ladder[k]);
            }
    assert_true(pairs >= 25);
    assert_true(right >= 0.8 * pairs);
}

static double time_of(const wf_plan_info *plan, uint32_t held)
{
    const wf_occupancy occupancy = {.fraction = 1, .groups = held, .counted_units = 1};
    wfi_prediction p;
    assert_true(wfi_predict(wfi_data_sheet_of("intel:dg2"), plan, WF_TYPE_F32, &occupancy, &p));
    return p.us;
}

static void spills_cost_time(void **state)
{
    wf_plan_info plan = plan_of(&ladder[COUNT - 1]);
    wfi_prediction none, spilled;
    const wfi_data_sheet *sheet = wfi_data_sheet_of("intel:dg2");
    (void)state;
    plan.kernel.statistic_count = 1;
    plan.kernel.statistics[0] = (wf_statistic){.name = "Instruction Count", .value = 700};
    assert_int_equal(wfi_instruction_count(&plan.kernel), 700);
    assert_true(wfi_predict(sheet, &plan, WF_TYPE_F32, NULL, &none));
    plan.kernel.spilled = 350;
    assert_true(wfi_predict(sheet, &plan, WF_TYPE_F32, NULL, &spilled));
    assert_true(spilled.us > 2 * none.us);
    assert_string_equal(spilled.set_by, "loads");
}

/* An A770 has 32 units. */
static void work_groups_come_in_waves(void **state)
{
    wf_plan_info plan = plan_of(&ladder[COUNT - 1]);
    (void)state;
    plan.kernel.group_size[0] = plan.kernel.group_size[1] = plan.kernel.group_size[2] = 1;
    plan.kernel.group_size[0] = 4096; /* so many that one hides its own waits */
    plan.kernel.groups = 64;
    const double full = time_of(&plan, 16);
    plan.kernel.groups = 33;
    const double almost = time_of(&plan, 16);
    assert_true(almost > 1.85 * full && almost < 1.95 * full);
    /* The same work in groups that wait: one at a time takes longer than several in turns, and few
     * work-items longer than many. */
    plan.kernel.groups = 1024;
    plan.kernel.group_size[0] = 64;
    const double alone = time_of(&plan, 1), two = time_of(&plan, 2), eight = time_of(&plan, 8);
    assert_true(alone > 1.1 * two && two > 1.1 * eight && eight > full);
    plan.kernel.group_size[0] = 256;
    assert_true(time_of(&plan, 1) < 0.8 * alone && time_of(&plan, 1) > eight);
    plan.constant_count = 1; /* parts of sums, which another dispatch adds */
    plan.constants[0] = (wf_constant){"split_k", 4};
    assert_true(time_of(&plan, 1) > time_of(&plan, 2) + 1);
}

/* 24 work-items take two subgroups of 16, whose last eight lanes idle. */
static void idle_lanes_of_subgroups_cost_time(void **state)
{
    const wfi_data_sheet *sheet = wfi_data_sheet_of("intel:dg2");
    wf_plan_info plan = plan_of(&ladder[COUNT - 1]);
    wfi_prediction whole, idle;
    (void)state;
    memcpy(plan.kernel.group_size, (uint32_t[]){12, 2, 1}, sizeof plan.kernel.group_size);
    plan.kernel.subgroup_size = 8;
    assert_true(wfi_predict(sheet, &plan, WF_TYPE_F32, NULL, &whole));
    plan.kernel.subgroup_size = 16;
    assert_true(wfi_predict(sheet, &plan, WF_TYPE_F32, NULL, &idle));
    assert_true(fabs(idle.arithmetic_us * 3 - whole.arithmetic_us * 4) < 1e-6 * idle.arithmetic_us);
    assert_true(idle.memory_us == whole.memory_us);
}

static void what_no_sheet_tells_is_not_predicted(void **state)
{
    wf_plan_info plan = plan_of(&ladder[0]);
    wfi_prediction p;
    (void)state;
    assert_null(wfi_data_sheet_of("intel:none"));
    assert_false(wfi_predict(wfi_data_sheet_of("intel:dg2"), &plan, WF_TYPE_F64, NULL, &p));
    assert_true(wfi_predict(wfi_data_sheet_of("amd:navi31"), &plan, WF_TYPE_F64, NULL, &p));
    plan.variant = "cooperative";
    assert_false(wfi_predict(wfi_data_sheet_of("amd:navi31"), &plan, WF_TYPE_F16, NULL, &p));
}

/* What the choice on HD Graphics 530 goes by, where the driver does not count its units. */
static void units_are_those_of_the_sheet(void **state)
{
    const wfi_data_sheet *sheet = wfi_data_sheet_of("intel:skl");
    const wf_caps caps = {.vendor_id = WFI_INTEL,
                          .name = "Intel(R) HD Graphics 530 (SKL GT2)",
                          .device_type = VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU};
    (void)state;
    assert_true(wfi_has_published_units(&caps));
    const wfi_units units = wfi_published_units(&caps);
    const double rate = sheet->units * sheet->lanes * sheet->clock_mhz;
    assert_true(units.count == sheet->units);
    assert_true(units.lanes == sheet->lanes);
    assert_true(fabs(units.count * units.lanes * units.clock_mhz * units.memory_us /
                         (rate / (sheet->gbs * 1e3)) -
                     1) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(within_a_factor_of_two_and_a_half),
                                       cmocka_unit_test(most_pairs_are_in_order),
                                       cmocka_unit_test(spills_cost_time),
                                       cmocka_unit_test(work_groups_come_in_waves),
                                       cmocka_unit_test(idle_lanes_of_subgroups_cost_time),
                                       cmocka_unit_test(units_are_those_of_the_sheet),
                                       cmocka_unit_test(what_no_sheet_tells_is_not_predicted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
