/* Finds the pipelines of a plan without building it. Drivers that compile for cards that are not
 * there have no memory to build a plan in. A test that includes this is linked with
 * wavefit_wrap_plans(). */
#ifndef WFI_TESTS_PLANNED_H
#define WFI_TESTS_PLANNED_H

#include "harness.h"
#include "plan/plan.h"

#define TEST_MOST_PLANNED 16

typedef struct test_planned {
    uint32_t count;
    wfi_pipeline_desc pipelines[TEST_MOST_PLANNED];
} test_planned;

/* Of the point's plan for a matrix product of these parameters, in the order of building. */
wf_result test_plan_matmul(wf_device *device, const wfi_point *point,
                           const wf_matmul_params *params, test_planned *out);

/* Pipelines built so far, to build none twice. */
typedef struct test_built {
    uint32_t count, room;
    uint64_t *hashes;
} test_built;

/* Whether no pipeline with these constants was built before; notes that one is now. */
bool test_first_of_its_kind(test_built *built, const wfi_pipeline_desc *desc);
void test_built_free(test_built *built);

/* Whether the driver has the statistic, under any of the names that wavefit knows. */
bool test_tells_spills(const wfi_pipeline *pipeline);

/* Whether the pipeline keeps registers in memory, by the statistics of its compiler, which are
 * described in *out. The test fails where the compiler says nothing. */
bool test_spills(const wfi_point *point, const wfi_pipeline *pipeline, wf_kernel_info *out);

#endif
