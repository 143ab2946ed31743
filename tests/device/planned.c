#include "planned.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static test_planned *planned;

/* In place of the plan's own: pipelines are noted, memory is not asked for. */
wf_result __wrap_wfi_plan_add_pipeline(wf_plan *plan, const wfi_pipeline_desc *desc,
                                       uint32_t *index);
wf_result __wrap_wfi_plan_add_scratch(wf_plan *plan, uint64_t bytes, uint32_t *index);
wf_result __wrap_wfi_plan_add_own(wf_plan *plan, const void *data, uint64_t bytes, uint32_t *index);

wf_result __wrap_wfi_plan_add_pipeline(wf_plan *plan, const wfi_pipeline_desc *desc,
                                       uint32_t *index)
{
    (void)plan;
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
    const wfi_choice choice = {.point = *point, .chosen_by = "test"};
    wf_plan *plan = NULL;
    /* Else descriptor sets are made with the pipelines' layouts. */
    assert_true(wf_device_caps(device)->push_descriptors);
    out->count = 0;
    planned = out;
    const wf_result result = wfi_plan_create(device, &choice, params, &plan);
    wf_plan_destroy(&plan);
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

static uint64_t statistic(const wfi_pipeline *pipeline, const char *name)
{
    for (uint32_t i = 0; i < pipeline->statistic_count; i++)
        if (strcmp(pipeline->statistics[i].name, name) == 0)
            return (uint64_t)pipeline->statistics[i].value;
    fail_msg("the driver does not tell of \"%s\"", name);
    return 0;
}

test_spills test_spills_of(const wfi_pipeline *pipeline)
{
    return (test_spills){.registers = statistic(pipeline, "Spilled VGPRs"),
                         .scratch = statistic(pipeline, "Scratch size")};
}
