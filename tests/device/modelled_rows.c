/* Makes tuning rows for AMD generations whose devices nobody here has. For each problem, RADV's
 * compiler (which needs no card) compiles the model's points; where a point spills registers, or
 * leaves a compute unit emptier than a neighbour with one other value does, that neighbour takes
 * its place. Prints a file for src/choose/devices/, marked as modelled. Run with VK_DRIVER_FILES
 * pointing at RADV and RADV_FORCE_FAMILY=navi31 or the like. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choose/choose.h"
#include "core/device.h"
#include "core/heap.h"
#include "choose/store.h"

#define LEAST_OCCUPANCY 0.2 /* below it latency shows */

/* What the compiler made of a point. */
typedef struct verdict {
    bool built;
    uint32_t spilled;
    double occupancy; /* of 1; 1 where too little is published */
} verdict;

static verdict look_at(wf_device *device, const wfi_point *point)
{
    verdict v = {.occupancy = 1};
    wfi_pipeline_desc desc;
    wfi_pipeline pipeline = {0};
    wf_kernel_info kernel;
    wf_occupancy occupancy;
    wfi_point_pipeline(point, &desc);
    if (wfi_pipeline_create(device, &desc, &pipeline) != WF_SUCCESS)
        return v;
    wfi_describe_pipeline(point, &pipeline, UINT64_C(1) << 16, &kernel);
    v.built = true;
    v.spilled = kernel.spilled;
    if (wf_kernel_occupancy(&device->caps, &kernel, &occupancy) == WF_SUCCESS)
        v.occupancy = occupancy.fraction;
    wfi_pipeline_destroy(device, &pipeline);
    return v;
}

static bool good(const verdict *v)
{
    return v->built && v->spilled == 0 && v->occupancy >= LEAST_OCCUPANCY;
}

static bool better(const verdict *a, const verdict *b)
{
    if (a->built != b->built)
        return a->built;
    return a->spilled != b->spilled ? a->spilled < b->spilled : a->occupancy > b->occupancy;
}

/* The best neighbour of one changed value, where the point itself is no good. */
static void mend(wf_device *device, wfi_point *point)
{
    const wfi_point centre = *point;
    verdict best = look_at(device, point);
    if (good(&best))
        return;
    for (uint32_t p = 0; p < centre.variant->parameter_count; p++)
        for (uint32_t c = 0; c < centre.variant->parameters[p].candidate_count; c++) {
            wfi_point near = centre;
            wfi_point_put(&near, p, centre.variant->parameters[p].candidates[c]);
            if (wfi_point_get(&near, p) == wfi_point_get(&centre, p) ||
                !wfi_point_legal(&near, NULL))
                continue;
            const verdict v = look_at(device, &near);
            if (better(&v, &best)) {
                best = v;
                *point = near;
            }
        }
}

static bool add(wf_device *device, wfi_tuning_data *data, const wfi_problem *problem)
{
    const wf_tuning model = {.size = sizeof model, .no_tuning = true};
    wfi_choice choice;
    if (wfi_choose(device, problem, &model, &choice) != WF_SUCCESS)
        return false;
    choice.point.problem = problem;
    mend(device, &choice.point);
    const wfi_key key = wfi_key_of(problem);
    wfi_tuning_entry *entry = wfi_tuning_add(data, &key);
    if (!entry)
        return false;
    wfi_problem_text(problem, entry->problem, sizeof entry->problem);
    entry->sources = wfi_sources_hash(key.family);
    entry->best[0] = wfi_point_named(&choice.point);
    entry->best_count = 1;
    return true;
}

static bool add_all(wf_device *device, wfi_tuning_data *data)
{
    static const uint64_t sides[] = {256, 512, 1024, 2048, 4096};
    static const wfi_himeno_problem grids[] = {{.ni = 64, .nj = 32, .nk = 32},
                                               {.ni = 128, .nj = 64, .nk = 64},
                                               {.ni = 256, .nj = 128, .nk = 128},
                                               {.ni = 512, .nj = 256, .nk = 256}};
    static const wfi_spmv_problem matrices[] = {{.rows = 32768,
                                                 .columns = 32768,
                                                 .entries = 830584,
                                                 .longest_row = 27,
                                                 .mean_row = 25.3,
                                                 .row_deviation = 3.6},
                                                {.rows = 65536,
                                                 .columns = 65536,
                                                 .entries = 524266,
                                                 .longest_row = 8,
                                                 .mean_row = 8,
                                                 .row_deviation = 0.02},
                                                {.rows = 16384,
                                                 .columns = 16384,
                                                 .entries = 228340,
                                                 .longest_row = 1500,
                                                 .mean_row = 13.9,
                                                 .row_deviation = 45}};
    static const wfi_stencil_problem stencils[] = {
        {.nx = 128, .ny = 128, .nz = 128, .dimensions = 3, .steps = 1},
        {.nx = 512, .ny = 512, .nz = 512, .dimensions = 3, .steps = 1},
        {.nx = 512, .ny = 512, .nz = 512, .dimensions = 3, .steps = 2},
        {.nx = 1024, .ny = 1024, .dimensions = 2, .steps = 4},
        {.nx = 8192, .ny = 8192, .dimensions = 2, .steps = 4},
        {.nx = 96, .ny = 96, .nz = 96, .dimensions = 3, .shape = WF_STENCIL_BOX, .steps = 1},
        {.nx = 512, .ny = 512, .nz = 512, .dimensions = 3, .shape = WF_STENCIL_BOX, .steps = 2}};
    bool ok = true;
    for (size_t i = 0; i < sizeof stencils / sizeof *stencils; i++) {
        wfi_problem problem = {.family = WF_FAMILY_STENCIL, .type = WF_TYPE_F32};
        problem.stencil = stencils[i];
        problem.stencil.radius = 1;
        problem.stencil.row_stride = stencils[i].nx;
        ok = add(device, data, &problem) && ok;
    }
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        wfi_problem problem = {.family = WF_FAMILY_MATMUL, .type = WF_TYPE_F32};
        problem.matmul = wfi_matmul_plain(sides[i], sides[i], sides[i]);
        ok = add(device, data, &problem) && ok;
    }
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        wfi_problem problem = {.family = WF_FAMILY_HIMENO, .type = WF_TYPE_F32};
        problem.himeno = grids[i];
        ok = add(device, data, &problem) && ok;
    }
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
        wfi_problem problem = {.family = WF_FAMILY_SPMV, .type = WF_TYPE_F32};
        problem.spmv = matrices[i];
        ok = add(device, data, &problem) && ok;
    }
    return ok;
}

int main(void)
{
    const wf_device_params params = {
        .size = sizeof params, .capture_statistics = true, .cache_directory = ""};
    wf_device *device = NULL;
    if (wf_device_create(&params, &device) != WF_SUCCESS)
        return 3;
    wfi_tuning_data data = {.device = wfi_device_facts_of(&device->caps)};
    data.device.modelled = true;
    /* Without a card, some drivers report no device type. */
    data.device.device_type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    wfi_text text = {0};
    const bool added = add_all(device, &data);
    wfi_tuning_print(&data, true, &text);
    const bool ok = added && !text.failed && fputs(text.data, stdout) >= 0;
    wfi_free(text.data);
    wfi_tuning_data_free(&data);
    wf_device_destroy(&device);
    return ok ? 0 : 1;
}
