/* Each rule speaks for a case made for it, and not for one just on the other side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/advice.h"

static const wf_variant_info variant = {
    .name = "register",
    .parameter_count = 4,
    .parameters = {
        {.name = "tile_m"}, {.name = "tile_k"}, {.name = "thread_m"}, {.name = "local_x"}}};

static const wf_variant_info many_lanes = {
    .name = "plain", .parameter_count = 2, .parameters = {{.name = "local_x"}, {.name = "lanes"}}};

static const wf_variant_info many_steps = {.name = "time"};

/* A kernel that nothing can be said about. */
static wfi_observation calm(void)
{
    return (wfi_observation){
        .family = "matmul",
        .type = WF_TYPE_F32,
        .arguments = "--shape 1000x1000x1000",
        .variant = &variant,
        .time_us = 1000,
        .floor_us = 500,
        .dispatches = 1,
        .dispatch_us = 1,
        .barrier_us = 2,
        .submit_us = 40,
        .upload_us = 100,
        .download_us = 100,
        .kernel = {.group_size = {256, 1, 1}, .groups = 6336, .subgroup_size = 32, .registers = 32},
        .compute_units = 132,
        .has_occupancy = true,
        .occupancy = {.fraction = 1,
                      .groups = 8,
                      .subgroups = 64,
                      .most_subgroups = 64,
                      .limited_by = "nothing"},
        .flops = 2e9,
        .least_bytes = 12e6,
        .requested_bytes = 2e8,
        .shared_requested_bytes = 1e9,
        .group_bytes = 2e8,
        .copy = 2500,
        .cache = 8000,
        .fma = 60000,
        .fma_f32 = 60000,
    };
}

static bool says(const wfi_observation *o, const char *rule, const char *command)
{
    wfi_advice advice[WFI_MAX_ADVICE];
    const uint32_t count = wfi_advise(o, advice);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(advice[i].gain >= 1);
        assert_true(strlen(advice[i].text) > 20);
        assert_true(advice[i].text[strlen(advice[i].text) - 1] == '.'); /* not cut off */
        assert_true(i == 0 || advice[i - 1].gain >= advice[i].gain);
        if (strcmp(advice[i].rule, rule) == 0) {
            if (command && !strstr(advice[i].command, command))
                fail_msg("%s: '%s' is not in '%s'", rule, command, advice[i].command);
            return true;
        }
    }
    return false;
}

#define TRIGGERS(rule, command, change)                                                            \
    do {                                                                                           \
        wfi_observation o = calm();                                                                \
        change;                                                                                    \
        if (!says(&o, rule, command))                                                              \
            fail_msg("%s says nothing for: %s", rule, #change);                                    \
    } while (0)
#define SILENT(rule, change)                                                                       \
    do {                                                                                           \
        wfi_observation o = calm();                                                                \
        change;                                                                                    \
        if (says(&o, rule, NULL))                                                                  \
            fail_msg("%s speaks for: %s", rule, #change);                                          \
    } while (0)

static void nothing_to_say(void **state)
{
    const wfi_observation o = calm();
    wfi_advice advice[WFI_MAX_ADVICE];
    (void)state;
    assert_int_equal(wfi_advise(&o, advice), 0);
}

static void around_the_kernel(void **state)
{
    (void)state;
    TRIGGERS("forced", "wavefit explain matmul --shape", (o.forced = true, o.chosen_us = 800));
    SILENT("forced", (o.forced = true, o.chosen_us = 990));
    SILENT("forced", (o.forced = false, o.chosen_us = 800));
    TRIGGERS("transfers", "upload,download", o.upload_us = 5000);
    SILENT("transfers", o.upload_us = 900);
    TRIGGERS("submissions", "submit", (o.time_us = 30, o.floor_us = 20));
    SILENT("submissions", (o.time_us = 50, o.floor_us = 20));
    TRIGGERS("dispatches", "ladder matmul", (o.dispatches = 101, o.time_us = 1000));
    SILENT("dispatches", o.dispatches = 50);
}

static void how_it_fills_the_device(void **state)
{
    (void)state;
    TRIGGERS("few-groups", "--over tile_m", o.kernel.groups = 64);
    SILENT("few-groups", o.kernel.groups = 132);
    SILENT("few-groups", (o.kernel.groups = 64, o.floor_us = 950));
    /* 132 units of 64 subgroups of 32 hold 270336 work-items; 140 groups have 35840. */
    TRIGGERS("few-items", "--over thread_m", o.kernel.groups = 140);
    SILENT("few-items", o.kernel.groups = 370);
    SILENT("few-items", (o.kernel.groups = 140, o.floor_us = 950));
    TRIGGERS("tail", "--over tile_m", o.kernel.groups = 1100);
    SILENT("tail", o.kernel.groups = 1056 * 9 + 100);
    SILENT("tail", (o.kernel.groups = 1100, o.has_occupancy = false));
    /* 132 compute units are 66 work-group processors of 8: 528 at once. */
    SILENT("tail", (o.kernel.groups = 1056, o.occupancy.counted_units = 2));
    TRIGGERS("tail", "--over tile_m",
             (o.kernel.groups = 1056 / 2 + 100, o.occupancy.counted_units = 2));
    TRIGGERS("registers", "--over thread_m",
             (o.occupancy.fraction = 0.25, o.occupancy.limited_by = "registers"));
    SILENT("registers", (o.occupancy.fraction = 0.5, o.occupancy.limited_by = "registers"));
    SILENT("registers", (o.occupancy.fraction = 0.25, o.occupancy.limited_by = "shared memory"));
    SILENT("registers",
           (o.occupancy.fraction = 0.25, o.occupancy.limited_by = "registers", o.floor_us = 900));
    TRIGGERS("shared", "--over tile_k",
             (o.occupancy.fraction = 0.25, o.occupancy.limited_by = "shared memory"));
    SILENT("shared", (o.occupancy.fraction = 0.4, o.occupancy.limited_by = "shared memory"));
    TRIGGERS("group-size", "--over work-group",
             (o.occupancy.fraction = 0.5, o.occupancy.limited_by = "work-groups a unit"));
    SILENT("group-size", (o.occupancy.fraction = 0.8, o.occupancy.limited_by = "work-group size"));
    TRIGGERS("idle-lanes", "--over work-group", o.kernel.group_size[0] = 48);
    SILENT("idle-lanes", o.kernel.group_size[0] = 64);
    SILENT("idle-lanes", (o.kernel.group_size[0] = 48, o.kernel.subgroup_size = 1));
    TRIGGERS("spills", "--over thread_m", o.kernel.spilled = 3);
    SILENT("spills", o.kernel.spilled = 0);
}

/* 19 rows a work-group: 18 of 4 entries wait for one of 100. */
static void how_lanes_use_rows(void **state)
{
    uint32_t offsets[39] = {0};
    (void)state;
    for (uint32_t row = 0; row < 38; row++)
        offsets[row + 1] = offsets[row] + (row % 19 == 7 ? 100 : 4);
    wfi_row_use use = wfi_row_use_of(offsets, 38, 1, 19);
    assert_true(use.busy == 1);
    assert_true(use.even == 172.0 / 1900);
    assert_int_equal(use.longest, 100);
    use = wfi_row_use_of(offsets, 38, 8, 19); /* passes: 1 of 4 entries, 13 of 100 */
    assert_true(use.busy == 172.0 / (8 * (18 + 13)));
    assert_true(use.even == 31.0 / (13 * 19));
    /* The text's own figure: rows of 27 entries, 128 lanes each. */
    for (uint32_t row = 0; row < 38; row++)
        offsets[row + 1] = offsets[row] + 27;
    use = wfi_row_use_of(offsets, 38, 128, 1);
    assert_true(use.busy == 27.0 / 128 && use.even == 1);
    use = wfi_row_use_of(offsets, 0, 4, 4);
    assert_true(use.busy == 1 && use.even == 1);

    TRIGGERS("row-lanes", "--variant plain --over lanes",
             (o.rows = (wfi_row_use){128, 27, 27, 27.0 / 128, 1}, o.family = "spmv",
              o.variant = &many_lanes));
    wfi_observation wide = calm();
    wfi_advice advice[WFI_MAX_ADVICE];
    wide.rows = (wfi_row_use){128, 27, 27, 27.0 / 128, 1};
    assert_int_equal(wfi_advise(&wide, advice), 1);
    assert_non_null(strstr(advice[0].text, "101 of 128 lanes"));
    SILENT("row-lanes", (o.rows = (wfi_row_use){4, 27, 27, 27.0 / 28, 1}));
    SILENT("row-lanes", (o.rows = (wfi_row_use){128, 27, 27, 0.2, 1}, o.floor_us = 900));
    TRIGGERS("uneven-rows", "--variant equal",
             (o.rows = (wfi_row_use){1, 100, 9, 1, 0.1}, o.family = "spmv"));
    SILENT("uneven-rows", o.rows = ((wfi_row_use){1, 30, 27, 1, 0.9}));
    SILENT("uneven-rows", o.rows = ((wfi_row_use){0}));
}

static void how_lanes_reach_memory(void **state)
{
    (void)state;
    TRIGGERS("edges", "--over tile_m", o.access.busy = 0.6);
    SILENT("edges", o.access.busy = 0.9);
    SILENT("edges", o.access.busy = 0);
    SILENT("edges", (o.access.busy = 0.6, o.floor_us = 900));
    TRIGGERS("coalescing", "--over work-group",
             (o.access.sectors = 64, o.access.least_sectors = 8));
    TRIGGERS("coalescing", "--variant lanes",
             (o.access.sectors = 64, o.access.least_sectors = 8, o.rows.lanes = 1,
              o.rows.busy = o.rows.even = 1));
    SILENT("coalescing", (o.access.sectors = 10, o.access.least_sectors = 8));
    SILENT("coalescing", (o.access.sectors = 64, o.access.least_sectors = 8, o.floor_us = 900));
    TRIGGERS("banks", "--variant register", o.access.bank_passes = 4);
    TRIGGERS("banks", "--over work-group", (o.access.bank_passes = 2, o.family = "himeno"));
    SILENT("banks", o.access.bank_passes = 1);
    SILENT("banks", (o.access.bank_passes = 4, o.floor_us = 900));
    SILENT("banks", (o.access.bank_passes = 4, o.processor = true));
    SILENT("coalescing", (o.access.sectors = 64, o.access.least_sectors = 8, o.processor = true));
    TRIGGERS("atomics", "--variant lanes", o.access.meeting = 8);
    SILENT("atomics", o.access.meeting = 1);
}

static void how_bytes_move(void **state)
{
    (void)state;
    /* 1e9 multiply-adds of 4 bytes a value. */
    TRIGGERS("loads", "--over thread_m", o.requested_bytes = 8e9);
    TRIGGERS("loads", "--over thread_m", o.shared_requested_bytes = 4e9);
    SILENT("loads", o.shared_requested_bytes = 3e9);
    SILENT("loads", (o.requested_bytes = 8e9, o.flops = 1e8)); /* memory should be the limit */
    SILENT("loads", (o.requested_bytes = 8e9, o.floor_us = 900));
    /* 2 GB at 2500 GB/s are 0.8 of the 1000 us. */
    TRIGGERS("reuse", "--over tile_m", (o.group_bytes = 2e9, o.least_bytes = 1e9));
    SILENT("reuse", (o.group_bytes = 1e9, o.least_bytes = 0.5e9)); /* 0.4 */
    SILENT("reuse", (o.group_bytes = 2e9, o.least_bytes = 1.5e9));
    /* Caches may have given 2 GB as well, in 250 us. */
    SILENT("reuse", (o.group_bytes = 2e9, o.least_bytes = 1e9, o.floor_us = 700));
    TRIGGERS("reuse", "--over tile_m",
             (o.group_bytes = 2e9, o.least_bytes = 1e9, o.floor_us = 600));
    /* 6 GB: memory would take 2400 us, so caches gave most, 750 us at 8000 GB/s. */
    TRIGGERS("reuse", "--over tile_m", (o.group_bytes = 6e9, o.least_bytes = 1e9));
    SILENT("reuse", (o.group_bytes = 4e9, o.least_bytes = 1e9)); /* 500 us */
    SILENT("reuse", (o.group_bytes = 6e9, o.least_bytes = 1e9, o.floor_us = 900));
}

/* What was forced is told why it is slow. */
static void why_forced_is_slow(void **state)
{
    const wf_plan_info own = {.variant = "vector",
                              .dispatches = 1,
                              .requested_bytes = 1e8,
                              .shared_requested_bytes = 1e9,
                              .kernel.groups = 6336};
    wfi_advice advice[WFI_MAX_ADVICE];
    wfi_observation o = calm();
    (void)state;
    o.forced = true;
    o.chosen_us = 500;
    o.chosen = &own;
    o.chosen_occupancy = 1;
    o.requested_bytes = 8e8;
    assert_int_equal(wfi_advise(&o, advice), 1);
    assert_non_null(strstr(advice[0].text, "(vector, 500 us): it asks memory for 8 times"));
    o.dispatches = 16;
    o.occupancy.fraction = 0.5;
    assert_true(wfi_advise(&o, advice) > 0);
    assert_non_null(strstr(advice[0].text, "it takes 16 dispatches in place of 1, asks memory"));
    assert_non_null(strstr(advice[0].text, "and fills 50 % of a compute unit's places in place"));
    assert_true(advice[0].gain == 2);
}

/* Nothing was measured: what follows from counts and occupancy is said all the same. */
static void of_a_target(void **state)
{
    wfi_advice advice[WFI_MAX_ADVICE];
    wfi_observation o = calm();
    (void)state;
    o.target = "amd:navi31";
    o.time_us = o.floor_us = o.submit_us = o.upload_us = o.download_us = 0;
    o.kernel.groups = 0;
    o.chosen_by = "model";
    o.copy = o.cache = o.fma = o.fma_f32 = o.dispatch_us = o.barrier_us = 0;
    assert_int_equal(wfi_advise(&o, advice), 0);
    /* No parameter makes blocks of a plain kernel: its ladder has others. */
    o.flops = 1e12;
    o.requested_bytes = 4e12;
    o.variant = NULL;
    assert_int_equal(wfi_advise(&o, advice), 1);
    assert_string_equal(advice[0].command + strlen(advice[0].command) - 19, "--target amd:navi31");
    assert_int_equal(strncmp(advice[0].command, "wavefit ladder ", 15), 0);
    o = calm();
    o.target = "amd:navi31";
    o.time_us = o.floor_us = o.submit_us = o.upload_us = o.download_us = 0;
    o.kernel.groups = 0;
    o.chosen_by = "model";
    o.copy = o.cache = o.fma = o.fma_f32 = o.dispatch_us = o.barrier_us = 0;
    o.access.bank_passes = 4;
    o.occupancy.fraction = 0.25;
    o.occupancy.limited_by = "registers";
    assert_int_equal(wfi_advise(&o, advice), 2);
    assert_true(advice[0].gain == 4 && advice[1].gain == 2);
    assert_non_null(strstr(advice[1].command, "--over thread_m --target amd:navi31"));
}

static void who_chose_it(void **state)
{
    (void)state;
    TRIGGERS("untuned", "tune matmul --shape 1000x1000x1000",
             (o.chosen_by = "model", o.floor_us = 400));
    TRIGGERS("untuned", "tune spmv --matrix a.mtx",
             (o.family = "spmv", o.arguments = "--matrix a.mtx", o.chosen_by = "device row",
              o.floor_us = 400));
    TRIGGERS("untuned", "tune spmv --matrix rmat:9",
             (o.family = "spmv", o.arguments = "--matrix rmat:9", o.chosen_by = "model",
              o.floor_us = 400));
    TRIGGERS("untuned", "ladder stencil --grid 9x9 --shape box",
             (o.family = "stencil", o.arguments = "--grid 9x9 --shape box", o.chosen_by = "model",
              o.floor_us = 400));
    TRIGGERS("untuned", "tune stencil --grid 9x9",
             (o.family = "stencil", o.arguments = "--grid 9x9", o.chosen_by = "model",
              o.floor_us = 400));
    SILENT("untuned", (o.chosen_by = "model", o.floor_us = 600));
    SILENT("untuned", (o.chosen_by = "tuned", o.floor_us = 400));
    SILENT("untuned", (o.chosen_by = "forced", o.forced = true, o.floor_us = 400));
}

static void what_limits_it(void **state)
{
    (void)state;
    TRIGGERS("memory-floor", "explain spmv --matrix a.mtx",
             (o.family = "spmv", o.type = WF_TYPE_F64, o.arguments = "--matrix a.mtx --type f64",
              o.memory_bound = true, o.floor_us = 950));
    TRIGGERS("memory-floor", "--variant time",
             (o.family = "himeno", o.memory_bound = true, o.floor_us = 950));
    SILENT("memory-floor", (o.family = "himeno", o.memory_bound = true, o.floor_us = 700));
    SILENT("memory-floor", (o.family = "himeno", o.memory_bound = false, o.floor_us = 950));
    TRIGGERS("memory-floor", "explain stencil --grid 9x9 --steps 4 --variant time",
             (o.family = "stencil", o.arguments = "--grid 9x9", o.steps = 1, o.memory_bound = true,
              o.floor_us = 950));
    TRIGGERS("memory-floor", "explain stencil --grid 9x9 --steps 2 --variant time",
             (o.family = "stencil", o.arguments = "--grid 9x9 --steps 2", o.steps = 2,
              o.memory_bound = true, o.floor_us = 950));
    TRIGGERS("memory-floor", "explain stencil --grid 9x9 --shape box --type f16",
             (o.family = "stencil", o.arguments = "--grid 9x9 --shape box", o.box = true,
              o.memory_bound = true, o.floor_us = 950));
    TRIGGERS("memory-floor", "explain stencil --grid 9x9",
             (o.family = "stencil", o.arguments = "--grid 9x9 --type f64", o.variant = &many_steps,
              o.type = WF_TYPE_F64, o.memory_bound = true, o.floor_us = 950));
    SILENT("memory-floor",
           (o.family = "stencil", o.arguments = "--grid 9x9 --type f16", o.box = true,
            o.type = WF_TYPE_F16, o.memory_bound = true, o.floor_us = 950));
    SILENT("memory-floor", (o.family = "stencil", o.arguments = "--grid 9x9", o.steps = 1,
                            o.memory_bound = true, o.floor_us = 700));
    TRIGGERS("slow-f64", "fma_f64", (o.type = WF_TYPE_F64, o.fma = 1000));
    SILENT("slow-f64", (o.type = WF_TYPE_F64, o.fma = 30000));
    SILENT("slow-f64", (o.type = WF_TYPE_F64, o.fma = 1000, o.memory_bound = true));
    TRIGGERS("no-hardware", "explain matmul --shape 1000x1000x1000",
             (o.type = WF_TYPE_BF16, o.arguments = "--shape 1000x1000x1000 --type bf16",
              o.no_hardware = true));
    SILENT("no-hardware", (o.type = WF_TYPE_BF16, o.no_hardware = false));
    SILENT("no-hardware", (o.type = WF_TYPE_BF16, o.no_hardware = o.memory_bound = true));
    TRIGGERS("matrix-units", "--type f16", o.matrix_f16 = 600000);
    SILENT("matrix-units", o.matrix_f16 = 100000);
    SILENT("matrix-units", (o.matrix_f16 = 600000, o.family = "spmv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_to_say),          cmocka_unit_test(around_the_kernel),
        cmocka_unit_test(how_it_fills_the_device), cmocka_unit_test(who_chose_it),
        cmocka_unit_test(what_limits_it),          cmocka_unit_test(how_lanes_use_rows),
        cmocka_unit_test(how_lanes_reach_memory),  cmocka_unit_test(how_bytes_move),
        cmocka_unit_test(why_forced_is_slow),      cmocka_unit_test(of_a_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
