/* What the model picks for devices that are not here: within every limit of theirs, and no plain
 * kernel where tiles fit. The devices are patterned after what drivers of phones, single-board
 * computers and integrated GPUs report; beside them stand all subgroup sizes there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpus.h"
#include "choose/choose.h"
#include "kernels/families.h"
#include "core/arithmetic.h"
#include "core/device.h"
#include "core/vendors.h"
#include "core/volk.h"
#include "plan/family.h"
#include "plan/hooks.h"
#include "matmul/matmul_ids.h"
#include "kernels/stencil/stencil.h"
#include "choose/store.h"

#define BASIC VK_SUBGROUP_FEATURE_BASIC_BIT
#define MOST_DEVICES 96
#define GEN9 "Intel(R) UHD Graphics 630 (CFL GT2)"

static const gpu_pattern patterns[] = {
    {"Adreno (TM) 740", 0x5143, 1024, 64, 32, 64, 64, 128, GPU_ALL_OPERATIONS, true, true, true,
     false, 24},
    {"Adreno (TM) 610", 0x5143, 1024, 64, 32, 64, 64, 64, BASIC, false, false, true, false, 24},
    {"Mali-G710", 0x13b5, 1024, 1024, 32, 16, 16, 16, GPU_ALL_OPERATIONS, true, true, true, false,
     35},
    {"Mali-G52", 0x13b5, 384, 384, 32, 8, 8, 8, BASIC, false, true, true, false, 35},
    {"PowerVR Rogue GE8320", 0x1010, 512, 64, 16, 32, 32, 32, BASIC, false, false, false, false, 8},
    {"Apple M1", 0x106b, 1024, 1024, 32, 32, 32, 32, GPU_ALL_OPERATIONS, false, true, true, false,
     31},
    {"V3D 7.1.7.0", 0x14e4, 256, 256, 16, 16, 16, 16, BASIC, false, false, false, false, 64},
    {GEN9, 0x8086, 1024, 1024, 64, 32, 8, 32, GPU_ALL_OPERATIONS, true, true, true, true, 64},
    {"Intel(R) Graphics (LNL)", 0x8086, 1024, 1024, 128, 32, 16, 32, GPU_ALL_OPERATIONS, true, true,
     true, false, 64},
    {"what Vulkan guarantees", 0, 128, 64, 16, 1, 1, 1, 0, false, false, false, false, 4},
};

static uint32_t make_devices(wf_caps *out)
{
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        out[count++] = gpu_caps(&patterns[i]);
    for (uint32_t size = 4; size <= 128; size *= 2)
        for (int kind = 0; kind < 6; kind++) {
            const bool small = kind % 2, varies = kind >= 2, pins = kind >= 4;
            const gpu_pattern p = {.name = pins     ? "pinned"
                                           : varies ? "varying"
                                                    : "fixed",
                                   .invocations = small ? 128 : 1024,
                                   .groups_z = 64,
                                   .shared_kib = small ? 16 : 48,
                                   .subgroup = size,
                                   .subgroup_min = varies ? 4 : size,
                                   .subgroup_max = varies ? 128 : size,
                                   .operations = GPU_ALL_OPERATIONS,
                                   .pins = pins,
                                   .f16_arithmetic = !small,
                                   .buffers = small ? 4 : 16};
            out[count++] = gpu_caps(&p);
        }
    assert_true(count <= MOST_DEVICES);
    return count;
}

static wf_device *device_named(const char *name)
{
    size_t at = 0;
    while (strcmp(patterns[at].name, name) != 0)
        at++;
    const wf_caps caps = gpu_caps(&patterns[at]);
    return gpu_device(&caps);
}

/* ------------------------------------------------------------------------------------- problems */

static wfi_problem product(uint64_t m, uint64_t n, uint64_t k, wf_type type)
{
    return (wfi_problem){
        .family = WF_FAMILY_MATMUL, .type = type, .matmul = wfi_matmul_plain(m, n, k)};
}

static wfi_problem sparse(uint64_t rows, double mean, double deviation, uint32_t longest,
                          wf_type type)
{
    return (wfi_problem){.family = WF_FAMILY_SPMV,
                         .type = type,
                         .spmv = {.rows = rows,
                                  .columns = rows,
                                  .entries = (uint64_t)((double)rows * mean),
                                  .longest_row = longest,
                                  .mean_row = mean,
                                  .row_deviation = deviation}};
}

static uint32_t make_problems(wfi_problem *out)
{
    uint32_t n = 0;
    for (int type = WF_TYPE_F32; type < WF_TYPE_COUNT; type++) {
        out[n++] = product(1024, 1024, 1024, (wf_type)type);
        out[n++] = product(33, 31, 29, (wf_type)type);
        out[n++] = product(4096, 1, 4096, (wf_type)type);
    }
    for (int type = WF_TYPE_F32; type <= WF_TYPE_F16; type++) {
        out[n++] = sparse(262144, 27, 2, 27, (wf_type)type);
        out[n++] = sparse(16384, 16, 40, 3000, (wf_type)type);
        out[n++] = sparse(5, 1, 1, 3, (wf_type)type);
        out[n++] = (wfi_problem){.family = WF_FAMILY_STENCIL,
                                 .type = (wf_type)type,
                                 .stencil = {.nx = 1024,
                                             .ny = 1024,
                                             .row_stride = 1024,
                                             .dimensions = 2,
                                             .radius = 1,
                                             .steps = 16}};
    }
    out[n++] = (wfi_problem){.family = WF_FAMILY_HIMENO, .himeno = {257, 129, 129}};
    out[n++] = (wfi_problem){.family = WF_FAMILY_HIMENO, .himeno = {19, 12, 9}};
    for (int type = WF_TYPE_F32; type <= WF_TYPE_F64; type++)
        out[n++] = (wfi_problem){
            .family = WF_FAMILY_VECTOR, .type = (wf_type)type, .vector = {1000003, WF_VECTOR_DOT}};
    return n;
}

/* --------------------------------------------------------------------------------------- checks */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s (subgroup %u of %u to %u, %u work-items): %s %s: %s: %s", caps->name,     \
                     caps->subgroup_size, caps->subgroup_min, caps->subgroup_max,                  \
                     caps->max_invocations, wf_family_name(point->problem->family),                \
                     wf_type_name(point->problem->type), point->variant->name, #condition);        \
    } while (0)

static void check_within_limits(const wf_caps *caps, const wfi_point *point)
{
    const wfi_variant *v = point->variant;
    wfi_pipeline_desc desc;
    uint32_t size[3];
    v->group_size(point, size);
    wfi_point_pipeline(point, &desc);
    CHECK((uint64_t)size[0] * size[1] * size[2] <= caps->max_invocations);
    for (int i = 0; i < 3; i++)
        CHECK(size[i] > 0 && size[i] <= caps->max_group_size[i]);
    CHECK(!v->shared_bytes || v->shared_bytes(point) <= caps->max_shared_bytes);
    CHECK(v->storage_buffers <= caps->max_storage_buffers);
    CHECK(v->push_bytes <= caps->max_push_bytes);
    CHECK((v->subgroup_operations & ~caps->subgroup_operations) == 0);
    CHECK(point->problem->type != WF_TYPE_F64 || caps->f64);
    CHECK(!desc.subgroup_size ||
          (caps->subgroup_size_control && desc.subgroup_size >= caps->subgroup_min &&
           desc.subgroup_size <= caps->subgroup_max &&
           (desc.subgroup_size & (desc.subgroup_size - 1)) == 0));
}

/* Kernels that count rows by subgroup run where the size is known or their values hold for all. */
static void check_subgroups(const wf_caps *caps, const wfi_point *point)
{
    const wfi_variant *v = point->variant;
    const bool pinned = v->subgroup_size && v->subgroup_size(point);
    const uint32_t lanes = wfi_parameter_find(v, "lanes");
    uint32_t size[3];
    if (point->problem->family != WF_FAMILY_SPMV || !v->subgroup_operations)
        return;
    v->group_size(point, size);
    CHECK(size[0] % (pinned ? caps->subgroup_size : caps->subgroup_max) == 0);
    CHECK(lanes == UINT32_MAX ||
          wfi_point_get(point, lanes) <= (pinned ? caps->subgroup_size : caps->subgroup_min));
}

/* Every problem has a pick but for types that a device lacks. */
static bool must_be_picked(const wf_caps *caps, const wfi_problem *problem)
{
    return problem->type == WF_TYPE_F32 || (problem->type == WF_TYPE_F64 && caps->f64) ||
           (problem->type == WF_TYPE_F16 &&
            (caps->f16_storage || problem->family == WF_FAMILY_SPMV));
}

static char last_error[512];

static void keep_error(void *user, wf_log_level level, const char *text)
{
    (void)user;
    if (level == WF_LOG_ERROR)
        snprintf(last_error, sizeof last_error, "%s", text);
}

static void picks_are_legal(void **state)
{
    (void)state;
    static wf_caps all[MOST_DEVICES];
    wfi_problem problems[64];
    const uint32_t devices = make_devices(all), count = make_problems(problems);
    const wf_tuning model = {.size = sizeof model, .no_tuning = true};
    wf_device *device = gpu_device(&all[0]);
    device->log.fn = keep_error;
    for (uint32_t d = 0; d < devices; d++) {
        const wf_caps *caps = &all[d];
        device->caps = *caps;
        for (uint32_t i = 0; i < count; i++) {
            wfi_choice choice;
            const wf_result result = wfi_choose(device, &problems[i], &model, &choice);
            const wfi_point *point = &choice.point;
            if (result != WF_SUCCESS) {
                assert_int_equal(result, WF_ERROR_UNSUPPORTED);
                if (must_be_picked(caps, &problems[i]))
                    fail_msg("%s, problem %u: %s", caps->name, i, last_error);
                continue;
            }
            assert_string_equal(choice.chosen_by, "model");
            check_within_limits(&device->caps, point);
            check_subgroups(&device->caps, point);
            /* Tiles of 16 KiB and 128 work-items are worth having on every GPU, and work-items that
             * share a row of a matrix times a vector; but on VideoCore, whose compiler spills them
             * and whose shared memory is memory (test_chosen_spills.c). */
            if (problems[i].family == WF_FAMILY_MATMUL && problems[i].matmul.m > 1000 &&
                caps->vendor_id != WFI_BROADCOM)
                CHECK(strcmp(point->variant->name, "naive") != 0);
        }
    }
    gpu_forget(device);
}

#define NARROWEST 8 /* work-items along i */

/* Part of the lanes that have a cell, over what work-groups leave that are as narrow as any. */
static double busy_lanes(const wfi_point *point)
{
    const wfi_stencil_axes a = wfi_stencil_axes_of(&point->problem->stencil);
    const wfi_stencil_tile t = wfi_stencil_tile_of(point);
    const uint32_t narrow = NARROWEST * wfi_stencil_width(point);
    const double i = (double)wfi_round_up(a.ni, (uint32_t)t.i),
                 j = (double)wfi_round_up(a.nj, (uint32_t)t.j);
    return (double)wfi_round_up(a.ni, narrow) * (double)a.nj / (i * j);
}

/* Where a GPU's units, by what is published of them, take longer than its memory, work-groups are
 * as wide as leaves few lanes without a cell, and columns load few planes again. */
static void grids_keep_published_units_busy(void **state)
{
    static const char *const names[] = {GEN9, "Adreno (TM) 740"};
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        wf_device *device = device_named(names[n]);
        double sum = 0;
        uint32_t count = 0;
        device->caps.compute_units = 3;
        for (uint32_t nx = 33; nx < 260; nx += 6) {
            wfi_problem problem = {.family = WF_FAMILY_STENCIL, .type = WF_TYPE_F32};
            problem.stencil = (wfi_stencil_problem){.nx = nx,
                                                    .ny = 131,
                                                    .nz = 96,
                                                    .row_stride = nx,
                                                    .dimensions = 3,
                                                    .shape = WF_STENCIL_BOX,
                                                    .radius = 2,
                                                    .steps = 1};
            const wfi_point point = gpu_pick(device, &problem);
            sum += busy_lanes(&point);
            count++;
        }
        if (sum < 0.95 * count)
            fail_msg("%s: %.3f of the lanes that could have a cell have one", names[n],
                     sum / count);
        gpu_forget(device);
    }
}

/* A hardware thread of Gen9 has 128 registers of 32 bytes, so that a work-item of the narrowest
 * subgroup, 8 lanes, has 128 words, whatever the width of the units' pipes: products keep blocks of
 * at least 32 sums there, which load half as much for a multiply-add as blocks of 16 do. */
static void products_use_registers_of_narrow_subgroups(void **state)
{
    const wfi_problem problem = product(1763, 2696, 304, WF_TYPE_F32);
    wf_device *device = device_named(GEN9);
    (void)state;
    assert_int_equal(device->caps.subgroup_min, 8);
    const wfi_point point = gpu_pick(device, &problem);
    const uint32_t sums = wfi_point_value(&point, MATMUL_ID_THREAD_M, 1) *
                          wfi_point_value(&point, MATMUL_ID_THREAD_N, 1);
    if (strcmp(point.variant->name, "vector") != 0 || sums < 32)
        fail_msg("%s: %s with %u sums a work-item", device->caps.name, point.variant->name, sums);
    gpu_forget(device);
}

/* Defaults are what every device can run. */
static void defaults_are_legal_everywhere(void **state)
{
    (void)state;
    static wf_caps all[MOST_DEVICES];
    const uint32_t devices = make_devices(all);
    wfi_problem problems[64];
    const uint32_t count = make_problems(problems);
    for (uint32_t d = 0; d < devices; d++)
        for (uint32_t i = 0; i < count; i++) {
            const wfi_family *family = wfi_family_get(problems[i].family);
            wfi_point point = {
                .caps = &all[d], .problem = &problems[i], .variant = family->variants[0]};
            char reason[256] = "";
            wfi_point_defaults(&point);
            if (problems[i].type == WF_TYPE_F32 && !wfi_point_legal(&point, reason))
                fail_msg("%s: %s %s: %s", all[d].name, family->name, point.variant->name, reason);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(picks_are_legal),
        cmocka_unit_test(grids_keep_published_units_busy),
        cmocka_unit_test(products_use_registers_of_narrow_subgroups),
        cmocka_unit_test(defaults_are_legal_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
