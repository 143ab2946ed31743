/* What the model picks for Himeno's grids, and which of its rows serve others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpus.h"
#include "choose/store.h"
#include "himeno/himeno_ids.h"
#include "plan/family.h"
#include "tool/cases/random.h"

/* Grids that caches do not hold make two iterations a pass or more, in tiles that leave three of
 * four among 132 units a work-group, and in rows that are hardly longer than their cells; those of
 * a few MB make one. */
static void large_grids_make_several_iterations(void **state)
{
    wf_device *device = gpu_large();
    uint64_t random = 28;
    (void)state;
    device->caps.compute_units = 132;
    device->caps.max_buffer = device->caps.max_allocation = UINT64_C(1) << 33;
    for (int i = 0; i < 200; i++) {
        uint64_t n[3];
        for (int axis = 0; axis < 3; axis++)
            n[axis] = wfi_random_log(&random, 16, 1024);
        const uint64_t cells = (n[0] - 2) * (n[1] - 2) * (n[2] - 2);
        const wfi_problem problem = {.family = WF_FAMILY_HIMENO,
                                     .type = WF_TYPE_F32,
                                     .himeno = {(uint32_t)n[0], (uint32_t)n[1], (uint32_t)n[2]}};
        const wfi_point point = gpu_pick(device, &problem);
        const uint32_t steps = wfi_point_value(&point, HIMENO_ID_STEPS, 1),
                       pad = wfi_point_value(&point, HIMENO_ID_PAD, 1);
        const uint64_t row = (n[0] - 2 + pad - 1) / pad * pad;
        const uint64_t x = wfi_point_value(&point, HIMENO_ID_LOCAL_X, 1) - 2 * (steps - 1),
                       y = wfi_point_value(&point, HIMENO_ID_LOCAL_Y, 1) - 2 * (steps - 1),
                       march = wfi_point_value(&point, HIMENO_ID_MARCH, 1);
        const uint64_t groups =
            ((n[0] - 2 + x - 1) / x) * ((n[1] - 2 + y - 1) / y) * ((n[2] - 2 + march - 1) / march);
        const bool deep = strcmp(point.variant->name, "time") == 0;
        if (cells > 2000000 && (!deep || steps < 2 || groups < 99 || row > n[0] * 21 / 20))
            fail_msg("%ux%ux%u: %s, %u steps, rows of %u, %u work-groups", (unsigned)n[0],
                     (unsigned)n[1], (unsigned)n[2], point.variant->name, steps, (unsigned)row,
                     (unsigned)groups);
        if (cells < 100000 && deep)
            fail_msg("%ux%ux%u: %s", (unsigned)n[0], (unsigned)n[1], (unsigned)n[2],
                     point.variant->name);
    }
    gpu_forget(device);
}

/* Gives the device tuning data with one row that ships: `point` for a grid of these extents. */
static struct wfi_tuning *ship_row(wf_device *device, const wfi_himeno_problem *grid,
                                   const wfi_named_point *point)
{
    const wfi_problem problem = {.family = WF_FAMILY_HIMENO, .type = WF_TYPE_F32, .himeno = *grid};
    const wfi_key key = wfi_key_of(&problem);
    struct wfi_tuning *data = calloc(1, sizeof *data);
    assert_non_null(data);
    device->tuning = data;
    wfi_tuning_entry *row = wfi_tuning_add(&data->shipped[0], &key);
    assert_non_null(row);
    snprintf(row->problem, sizeof row->problem, "%ux%ux%u", (unsigned)grid->ni, (unsigned)grid->nj,
             (unsigned)grid->nk);
    row->best_count = 1;
    row->best[0] = *point;
    return data;
}

static void forget_rows(wf_device *device, struct wfi_tuning *data)
{
    wfi_tuning_data_free(&data->shipped[0]);
    free(data);
    gpu_forget(device);
}

/* A row for a grid whose planes of coefficients take 1.2 GB each is taken where a binding holds the
 * five that three iterations a pass read, and passed over for the model where it does not. */
static void rows_that_do_not_fit_are_passed_over(void **state)
{
    (void)state;
    const wfi_problem problem = {
        .family = WF_FAMILY_HIMENO, .type = WF_TYPE_F32, .himeno = {5000, 5000, 20}};
    const wf_tuning tuning = {.size = sizeof tuning};
    const uint64_t ranges[] = {UINT64_C(1) << 33, UINT32_MAX, UINT32_C(1) << 31};
    const wfi_named_point point = {
        .variant = "time",
        .count = 5,
        .values = {
            {"local_x", 64}, {"local_y", 16}, {"pad", 32}, {"interleave", 65536}, {"steps", 3}}};
    wf_device *device = gpu_large();
    struct wfi_tuning *data = ship_row(device, &problem.himeno, &point);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        wfi_choice choice;
        device->caps.max_storage_range = ranges[i];
        device->caps.max_buffer = device->caps.max_allocation = UINT64_C(1) << 33;
        assert_int_equal(wfi_choose(device, &problem, &tuning, &choice), WF_SUCCESS);
        assert_string_equal(choice.chosen_by, i == 0 ? "device row" : "model");
        const uint64_t steps = wfi_point_value(&choice.point, HIMENO_ID_STEPS, 1);
        assert_true((2 * steps - 1) * 12 * 4998 * 4998 * sizeof(float) < ranges[i]);
    }
    forget_rows(device, data);
}

/* A row of several iterations a pass serves grids nearby as long as the model would make several
 * there, too, and not one that caches hold. */
static void rows_do_not_cross_the_models_borders(void **state)
{
    static const struct {
        wfi_himeno_problem grid;
        const char *chosen_by;
    } cases[] = {{{.ni = 187, .nj = 45, .nk = 128}, "device row"},
                 {{.ni = 181, .nj = 44, .nk = 128}, "device row"},
                 {{.ni = 150, .nj = 36, .nk = 128}, "model"}};
    const wf_tuning tuning = {.size = sizeof tuning};
    const wfi_named_point point = {
        .variant = "time", .count = 3, .values = {{"local_x", 32}, {"local_y", 8}, {"steps", 2}}};
    wf_device *device = gpu_large();
    struct wfi_tuning *data = ship_row(device, &cases[0].grid, &point);
    (void)state;
    device->caps.compute_units = 132;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const wfi_problem problem = {
            .family = WF_FAMILY_HIMENO, .type = WF_TYPE_F32, .himeno = cases[i].grid};
        wfi_choice choice;
        assert_int_equal(wfi_choose(device, &problem, &tuning, &choice), WF_SUCCESS);
        assert_string_equal(choice.chosen_by, cases[i].chosen_by);
    }
    forget_rows(device, data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_grids_make_several_iterations),
        cmocka_unit_test(rows_that_do_not_fit_are_passed_over),
        cmocka_unit_test(rows_do_not_cross_the_models_borders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
