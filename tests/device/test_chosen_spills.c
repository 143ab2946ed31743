/* What wavefit's models choose for stencils, Himeno's benchmark, sparse products and vectors keeps
 * its registers on this device, by its compiler's own statistics: over fixed problems and over ones
 * that are drawn. test_matmul_spills.c does the same for matrix products, with all pipelines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/device.h"
#include "harness.h"
#include "plan/family.h"

#define DRAWN 24
#define FULL_REGISTERS 120

typedef struct tally {
    wf_device *device;
    uint32_t compiled, refused, told, spilling;
} tally;

/* Whether the driver has the statistic, under any of its names. */
static bool tells_spills(const wf_kernel_info *kernel)
{
    static const char *const words[] = {"pill", "cratch", "SLM Size", "STP Count", "Local Memory"};
    for (uint32_t i = 0; i < kernel->statistic_count; i++)
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            if (strstr(kernel->statistics[i].name, words[w]))
                return true;
    return false;
}

/* A type that the device does not have is refused by name. */
static void check(tally *t, const wf_problem *problem)
{
    const wf_tuning model = {.size = sizeof model, .no_tuning = true};
    wf_plan_info info = {.size = sizeof info};
    if (wf_kernel_compile(t->device, problem, &model, &info) != WF_SUCCESS) {
        t->refused++;
        return;
    }
    t->compiled++;
    t->told += tells_spills(&info.kernel);
    /* NVK tells of local memory alone, which has arrays that are indexed at run time as well: they
     * are no spills where registers are left. */
    const bool arrays = t->device->caps.driver_id == VK_DRIVER_ID_MESA_NVK;
    if (!wfi_kernel_spills(&info.kernel) || (arrays && info.kernel.registers < FULL_REGISTERS))
        return;
    t->spilling++;
    print_error("%s %s %s %llux%llux%llu spills: %u of %u registers\n", info.family, info.variant,
                wf_type_name(problem->type), (unsigned long long)problem->extent[0],
                (unsigned long long)problem->extent[1], (unsigned long long)problem->extent[2],
                info.kernel.spilled, info.kernel.registers);
}

static void check_stencil(tally *t, const wf_stencil_params *params)
{
    const wf_problem problem = {.size = sizeof problem,
                                .family = WF_FAMILY_STENCIL,
                                .type = params->type,
                                .stencil = params,
                                .extent = {params->nx, params->ny, params->nz}};
    check(t, &problem);
}

static void check_himeno(tally *t, uint64_t ni, uint64_t nj, uint64_t nk)
{
    const wf_problem problem = {
        .size = sizeof problem, .family = WF_FAMILY_HIMENO, .extent = {ni, nj, nk}};
    check(t, &problem);
}

static void check_matrix(tally *t, wf_type type, uint64_t rows, uint64_t a_row, uint32_t longest)
{
    const wf_problem problem = {.size = sizeof problem,
                                .family = WF_FAMILY_SPMV,
                                .type = type,
                                .extent = {rows, rows, rows * a_row},
                                .longest_row = longest,
                                .row_deviation = longest - (double)a_row};
    check(t, &problem);
}

static void check_fixed(tally *t)
{
    static const struct {
        uint32_t nx, ny, nz, radius, steps;
        wf_stencil_shape shape;
    } grids[] = {{256, 256, 256, 1, 1, WF_STENCIL_STAR},  {256, 256, 256, 1, 8, WF_STENCIL_STAR},
                 {512, 512, 512, 1, 16, WF_STENCIL_STAR}, {1024, 1024, 0, 1, 16, WF_STENCIL_STAR},
                 {8192, 8192, 0, 1, 64, WF_STENCIL_STAR}, {256, 256, 256, 1, 1, WF_STENCIL_BOX},
                 {256, 256, 256, 2, 1, WF_STENCIL_STAR},  {256, 256, 256, 2, 1, WF_STENCIL_BOX},
                 {255, 256, 256, 2, 1, WF_STENCIL_BOX},   {256, 256, 256, 4, 1, WF_STENCIL_STAR},
                 {2048, 2048, 0, 2, 4, WF_STENCIL_BOX}};
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F64, WF_TYPE_F16};
    for (size_t type = 0; type < sizeof types / sizeof *types; type++) {
        for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
            check_stencil(t, &(wf_stencil_params){.size = sizeof(wf_stencil_params),
                                                  .nx = grids[i].nx,
                                                  .ny = grids[i].ny,
                                                  .nz = grids[i].nz,
                                                  .shape = grids[i].shape,
                                                  .radius = grids[i].radius,
                                                  .steps = grids[i].steps,
                                                  .type = types[type]});
        check_matrix(t, types[type], 4096, 27, 27);
        check_matrix(t, types[type], 1000000, 7, 7);
        check_matrix(t, types[type], 1000000, 40, 4000);
    }
    check_himeno(t, 65, 33, 33);
    check_himeno(t, 257, 129, 129);
    check_himeno(t, 513, 257, 257);
}

static void check_products(tally *t)
{
    static const uint64_t shapes[][3] = {
        {1024, 1024, 1024}, {4096, 4096, 4096}, {4096, 1, 4096}, {1, 4096, 4096}, {127, 8192, 513}};
    for (int type = 0; type < WF_TYPE_COUNT; type++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            const wf_problem problem = {.size = sizeof problem,
                                        .family = WF_FAMILY_MATMUL,
                                        .type = (wf_type)type,
                                        .extent = {shapes[i][0], shapes[i][1], shapes[i][2]}};
            check(t, &problem);
        }
}

static void check_drawn(tally *t, test_random *random)
{
    const wf_type type = test_random_below(random, 3) == 0 ? WF_TYPE_F64 : WF_TYPE_F32;
    const uint32_t side = 16u << test_random_below(random, 5);
    const bool flat = test_random_below(random, 2);
    check_stencil(t, &(wf_stencil_params){.size = sizeof(wf_stencil_params),
                                          .nx = side + test_random_below(random, side),
                                          .ny = side + test_random_below(random, side),
                                          .nz = flat ? 0 : side,
                                          .shape = (wf_stencil_shape)test_random_below(random, 2),
                                          .radius = 1 + test_random_below(random, 2),
                                          .steps = 1 + test_random_below(random, 20),
                                          .type = type});
    check_himeno(t, 16 + test_random_below(random, 512), 16 + test_random_below(random, 256),
                 16 + test_random_below(random, 256));
    const uint32_t a_row = 1 + test_random_below(random, 64);
    check_matrix(t, type, UINT64_C(1000) << test_random_below(random, 12), a_row,
                 a_row + test_random_below(random, 1000));
}

static void chosen_points_do_not_spill(void **state)
{
    tally t = {.device = *state};
    test_random random = {test_seed()};
    test_expect_errors(true); /* a device may lack a type */
    check_fixed(&t);
    if (!t.device->caps.push_descriptors) /* else test_matmul_spills.c does, with all pipelines */
        check_products(&t);
    const int drawn = getenv("WAVEFIT_TEST_QUICK") ? DRAWN / 2 : DRAWN;
    for (int i = 0; i < drawn; i++)
        check_drawn(&t, &random);
    test_expect_errors(false);
    printf("%u kernels compiled, %u problems refused; seed %llu\n", t.compiled, t.refused,
           (unsigned long long)test_seed());
    assert_true(t.compiled >= 40);
    if (t.told == 0) {
        puts("the driver does not tell what it keeps in memory");
        skip();
    }
    assert_int_equal(t.spilling, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chosen_points_do_not_spill)};
    return cmocka_run_group_tests(tests, test_statistics_setup, test_device_teardown);
}
