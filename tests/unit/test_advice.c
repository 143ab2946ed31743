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

static void who_chose_it(void **state)
{
    (void)state;
    TRIGGERS("untuned", "tune matmul --shape 1000x1000x1000",
             (o.chosen_by = "model", o.floor_us = 400));
    TRIGGERS("untuned", "tune spmv --matrix a.mtx",
             (o.family = "spmv", o.arguments = "--matrix a.mtx", o.chosen_by = "device row",
              o.floor_us = 400));
    TRIGGERS("untuned", "ladder spmv --matrix rmat:9",
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
    TRIGGERS("matrix-units", "--type f16", o.matrix_f16 = 600000);
    SILENT("matrix-units", o.matrix_f16 = 100000);
    SILENT("matrix-units", (o.matrix_f16 = 600000, o.family = "spmv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_to_say),          cmocka_unit_test(around_the_kernel),
        cmocka_unit_test(how_it_fills_the_device), cmocka_unit_test(who_chose_it),
        cmocka_unit_test(what_limits_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
