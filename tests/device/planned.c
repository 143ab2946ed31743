#define _GNU_SOURCE /* strcasestr */
#include "planned.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/device.h"
#include "kernels/families.h"

static test_planned *planned;

/* Replaces the plan's functions: pipelines are noted and no memory is allocated. */
wf_result __wrap_wfi_plan_add_pipeline(wf_plan *plan, const wfi_pipeline_desc *desc,
                                       uint32_t *index);
wf_result __wrap_wfi_plan_add_scratch(wf_plan *plan, uint64_t bytes, uint32_t *index);
wf_result __wrap_wfi_plan_add_own(wf_plan *plan, const void *data, uint64_t bytes, uint32_t *index);

wf_result __wrap_wfi_plan_add_pipeline(wf_plan *plan, const wfi_pipeline_desc *desc,
                                       uint32_t *index)
{
    (void)plan;
    if (!planned) /* called by the self-test when the device is opened, which cannot run */
        return WF_ERROR_UNSUPPORTED;
    assert_true(planned->count < TEST_MOST_PLANNED);
    *index = planned->count++;
    planned->pipelines[*index] = *desc;
    return WF_SUCCESS;
}

wf_result __wrap_wfi_plan_add_scratch(wf_plan *plan, uint64_t bytes, uint32_t *index)
{
    (void)plan;
    (void)bytes;
    *index = 0;
    return WF_SUCCESS;
}

wf_result __wrap_wfi_plan_add_own(wf_plan *plan, const void *data, uint64_t bytes, uint32_t *index)
{
    (void)data;
    return __wrap_wfi_plan_add_scratch(plan, bytes, index);
}

wf_result test_plan_matmul(wf_device *device, const wfi_point *point,
                           const wf_matmul_params *params, test_planned *out)
{
    const wfi_choice choice = {
        .point = *point, .chosen_by = "test", .family = wfi_family_get(WF_FAMILY_MATMUL)};
    wf_plan *plan = NULL;
    /* Else descriptor sets are made with the pipelines' layouts, of which there are none. */
    const bool pushed = device->caps.push_descriptors;
    device->caps.push_descriptors = true;
    out->count = 0;
    planned = out;
    const wf_result result = wfi_plan_create(device, &choice, params, &plan);
    wf_plan_destroy(&plan);
    planned = NULL;
    device->caps.push_descriptors = pushed;
    return result;
}

/* FNV-1a, of words. */
static uint64_t add_to_hash(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * UINT64_C(1099511628211);
}

static uint64_t hash_of(const wfi_pipeline_desc *desc)
{
    uint64_t hash = add_to_hash(UINT64_C(14695981039346656037), (uintptr_t)desc->spirv);
    hash = add_to_hash(hash, (uint64_t)desc->full_subgroups << 32 | desc->subgroup_size);
    for (uint32_t i = 0; i < desc->constant_count; i++)
        hash = add_to_hash(hash, (uint64_t)desc->constants[i].id << 32 | desc->constants[i].value);
    return hash;
}

bool test_first_of_its_kind(test_built *built, const wfi_pipeline_desc *desc)
{
    const uint64_t hash = hash_of(desc);
    for (uint32_t i = 0; i < built->count; i++)
        if (built->hashes[i] == hash)
            return false;
    if (built->count == built->room) {
        built->room = built->room ? 2 * built->room : 256;
        built->hashes = realloc(built->hashes, built->room * sizeof *built->hashes);
        assert_non_null(built->hashes);
    }
    built->hashes[built->count++] = hash;
    return true;
}

void test_built_free(test_built *built)
{
    free(built->hashes);
    *built = (test_built){0};
}

bool test_tells_spills(const wfi_pipeline *pipeline)
{
    static const char *const words[] = {"spill", "scratch", "slm size", "stp count",
                                        "local memory"};
    for (uint32_t i = 0; i < pipeline->statistic_count; i++)
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            if (strcasestr(pipeline->statistics[i].name, words[w]))
                return true;
    return false;
}

bool test_spills(const wfi_point *point, const wfi_pipeline *pipeline, wf_kernel_info *out)
{
    if (!test_tells_spills(pipeline))
        fail_msg("the driver does not tell of registers that it keeps in memory");
    wfi_describe_pipeline(point, pipeline, 1, out);
    return wfi_kernel_spills(out);
}
