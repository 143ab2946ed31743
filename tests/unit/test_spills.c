/* Which kernels spill, by the statistics that drivers give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "plan/family.h"

/* What a driver says, as far as it matters here. */
typedef struct report {
    const char *driver;
    wf_statistic list[6];
    uint32_t registers, spilled;
    bool spills;
} report;

static const report reports[] = {
    {"RADV, Polaris",
     {{"SGPRs", 48},
      {"VGPRs", 128},
      {"Spilled SGPRs", 0},
      {"Spilled VGPRs", 0},
      {"LDS size", 25088},
      {"Scratch size", 0}},
     128,
     0,
     false},
    {"RADV, spilling",
     {{"SGPRs", 48},
      {"VGPRs", 256},
      {"Spilled SGPRs", 0},
      {"Spilled VGPRs", 12},
      {"LDS size", 0},
      {"Scratch size", 48}},
     256,
     12,
     true},
    {"RADV, scalars alone",
     {{"SGPRs", 104},
      {"VGPRs", 60},
      {"Spilled SGPRs", 9},
      {"Spilled VGPRs", 0},
      {"LDS size", 0},
      {"Scratch size", 0}},
     60,
     0,
     false},
    {"RADV, an indexed array",
     {{"VGPRs", 60}, {"Spilled VGPRs", 0}, {"Scratch size", 64}},
     60,
     0,
     true},
    {"NVIDIA",
     {{"Register Count", 128}, {"Stack Size", 0}, {"Local Memory Size", 0}},
     128,
     0,
     false},
    {"NVIDIA, spilling",
     {{"Register Count", 255}, {"Stack Size", 0}, {"Local Memory Size", 96}},
     255,
     0,
     true},
    {"ANV before 25.1",
     {{"Instruction Count", 900}, {"Spill Count", 3}, {"Fill Count", 4}},
     0,
     3,
     true},
    {"ANV since",
     {{"Instructions", 900}, {"Spills", 0}, {"Fills", 0}, {"Scratch Memory Size", 0}},
     0,
     0,
     false},
    {"PowerVR", {{"Scratch size", 0}, {"Spill count", 2}}, 0, 2, true},
    {"V3DV", {{"Instruction Count", 90}, {"Spill Size", 16}, {"TMU Spills", 256}}, 0, 4, true},
    {"V3DV, two threads",
     {{"Thread Count", 2}, {"Spill Size", 0}, {"TMU Spills", 0}},
     64,
     0,
     false},
    {"V3DV, four threads", {{"Thread Count", 4}, {"Spill Size", 0}}, 32, 0, false},
    {"NVK", {{"Code Size", 2048}, {"Number of GPRs", 128}, {"SLM Size", 0}}, 128, 0, false},
    {"NVK, an indexed array", {{"Number of GPRs", 40}, {"SLM Size", 64}}, 40, 0, true},
    {"Turnip", {{"Registers used", 24}, {"STP Count", 0}, {"LDP Count", 0}}, 96, 0, false},
    {"Turnip, spilling", {{"Registers used", 48}, {"STP Count", 7}}, 192, 7, true},
    {"a driver that says nothing", {{"Code size", 100}}, 0, 0, false},
};

static void spills_are_read(void **state)
{
    (void)state;
    const wf_caps caps = {.subgroup_size = 32};
    const wfi_variant variant = {.name = "any"};
    const wfi_problem problem = {.type = WF_TYPE_F32};
    const wfi_point point = {.caps = &caps, .problem = &problem, .variant = &variant};
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        const report *r = &reports[i];
        wf_statistic list[6];
        wfi_pipeline pipeline = {.statistics = list};
        wf_kernel_info kernel;
        memcpy(list, r->list, sizeof list);
        while (pipeline.statistic_count < 6 && *list[pipeline.statistic_count].name)
            pipeline.statistic_count++;
        wfi_describe_pipeline(&point, &pipeline, 1, &kernel);
        if (kernel.registers != r->registers || kernel.spilled != r->spilled ||
            wfi_kernel_spills(&kernel) != r->spills)
            fail_msg("%s: %u registers, %u spilled, %s", r->driver, kernel.registers,
                     kernel.spilled, wfi_kernel_spills(&kernel) ? "spills" : "does not spill");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(spills_are_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
