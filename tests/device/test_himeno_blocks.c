/* A Himeno grid cut into blocks along i, j and k, whose halos the test carries: p has the bits of
 * the whole grid, from random values of all arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "blocks.h"
#include "harness.h"
#include "himeno_field.h"

#define ITERATIONS 7 /* which leaves a remainder for every number of iterations a pass */
#define MOST_BLOCKS 12
#define NI 45u
#define NJ 30u
#define NK 23u
#define CELLS ((size_t)NI * NJ * NK)

static const uint32_t extents[3] = {NI, NJ, NK};

typedef struct blocks {
    test_blocks cut; /* of inner cells */
    wf_himeno *parts[MOST_BLOCKS];
    wf_halo halos[MOST_BLOCKS];
} blocks;

static void create(wf_device *device, const wf_tuning *tuning, blocks *b)
{
    for (uint32_t n = 0; n < test_blocks_all(&b->cut); n++) {
        wf_himeno_params params = test_himeno_params(NI, NJ, NK, tuning);
        uint32_t *const first[] = {&params.first_cell, &params.first_row, &params.first_plane},
                        *const count[] = {&params.cells, &params.rows, &params.planes};
        for (int axis = 0; axis < 3; axis++) {
            const uint32_t *cut = test_blocks_span(&b->cut, n, axis);
            *first[axis] = cut[0];
            *count[axis] = cut[1] - cut[0];
        }
        assert_int_equal(wf_himeno_create(device, &params, &b->parts[n]), WF_SUCCESS);
        b->halos[n].size = sizeof b->halos[n];
        assert_int_equal(wf_himeno_halos(b->parts[n], &b->halos[n]), WF_SUCCESS);
    }
}

static void relax(blocks *b, const test_himeno_field *f, uint32_t steps, uint32_t forgotten)
{
    for (uint32_t n = 0; n < test_blocks_all(&b->cut); n++)
        assert_int_equal(wf_himeno_write(b->parts[n], &f->arrays), WF_SUCCESS);
    for (uint32_t left = ITERATIONS; left > 0;) {
        const uint32_t iterations = left >= steps ? steps : 1;
        for (uint32_t n = 0; n < test_blocks_all(&b->cut); n++)
            assert_int_equal(left == ITERATIONS
                                 ? wf_himeno_pass_begin(b->parts[n], iterations, false)
                                 : wf_himeno_pass_next(b->parts[n], iterations, true, NULL),
                             WF_SUCCESS);
        test_blocks_carry(&b->cut, b->halos, forgotten);
        left -= iterations;
    }
    for (uint32_t n = 0; n < test_blocks_all(&b->cut); n++)
        assert_int_equal(wf_himeno_pass_end(b->parts[n], NULL), WF_SUCCESS);
}

/* Puts what a part gives into the whole grid. */
static void collect(const blocks *b, uint32_t index, float *p)
{
    uint32_t begin[3], end[3];
    float *own = malloc(CELLS * sizeof *own), *from = own;
    assert_non_null(own);
    assert_int_equal(wf_himeno_read(b->parts[index], own), WF_SUCCESS);
    for (int axis = 0; axis < 3; axis++) {
        const uint32_t *cut = test_blocks_span(&b->cut, index, axis);
        begin[axis] = cut[0] ? cut[0] + 1 : 0;
        end[axis] = cut[1] + 2 == extents[axis] ? extents[axis] : cut[1] + 1;
    }
    for (uint32_t k = begin[2]; k < end[2]; k++)
        for (uint32_t j = begin[1]; j < end[1]; j++, from += end[0] - begin[0])
            memcpy(p + ((size_t)k * NJ + j) * NI + begin[0], from,
                   (end[0] - begin[0]) * sizeof *from);
    free(own);
}

/* Blocks that begin at multiples of what a work-group updates, as even as can be. */
static void cut_grid(const uint32_t group[3], const uint32_t count[3], test_blocks *out)
{
    for (int axis = 0; axis < 3; axis++) {
        const uint32_t inner = extents[axis] - 2;
        out->count[axis] = count[axis];
        for (uint32_t n = 0; n < count[axis]; n++)
            out->cuts[axis][n] =
                (inner * n / count[axis] + group[axis] / 2) / group[axis] * group[axis];
        out->cuts[axis][count[axis]] = inner;
    }
}

static bool is_right(blocks *b, test_himeno_field *f, uint32_t steps, uint32_t forgotten)
{
    relax(b, f, steps, forgotten);
    memset(f->p, 0xff, CELLS * sizeof(float));
    for (uint32_t n = 0; n < test_blocks_all(&b->cut); n++)
        collect(b, n, f->p);
    return memcmp(f->p, f->expected, CELLS * sizeof(float)) == 0;
}

/* `faults`: each of the sides counts. With several iterations a pass the corners do, too. */
static void check(wf_device *device, test_himeno_field *f, const wf_tuning *tuning,
                  const uint32_t count[3], bool faults)
{
    const wf_himeno_params params = test_himeno_params(NI, NJ, NK, tuning);
    wf_himeno_cut cut = {.size = sizeof cut};
    blocks b = {0};
    assert_int_equal(wf_himeno_plan_cut(device, &params, &cut), WF_SUCCESS);
    cut_grid(cut.group, count, &b.cut);
    create(device, tuning, &b);
    assert_true(is_right(&b, f, cut.steps, WF_HALO_SIDES));
    for (uint32_t side = 0; side < WF_HALO_SIDES && faults; side++)
        assert_false(is_right(&b, f, cut.steps, side));
    for (uint32_t n = 0; n < test_blocks_all(&b.cut); n++)
        wf_himeno_destroy(&b.parts[n]);
}

static void blocks_are_the_whole(void **state)
{
    static const wf_constant naive[] = {{"local_x", 8}, {"local_y", 4}, {"interleave", 32}},
                             march4[] = {{"local_x", 2}, {"local_y", 4}, {"march", 4}},
                             time2[] = {{"local_x", 16}, {"local_y", 8}, {"march", 4}},
                             time3[] = {
                                 {"local_x", 16}, {"local_y", 9}, {"march", 5}, {"steps", 3}};
    const wf_tuning tunings[] = {
        {.size = sizeof(wf_tuning), .variant = "naive", .constants = naive, .constant_count = 3},
        {.size = sizeof(wf_tuning), .variant = "march4", .constants = march4, .constant_count = 3},
        {.size = sizeof(wf_tuning), .variant = "time", .constants = time2, .constant_count = 3},
        {.size = sizeof(wf_tuning), .variant = "time", .constants = time3, .constant_count = 4},
    };
    static const uint32_t eight[3] = {2, 2, 2}, six[3] = {3, 2, 1};
    test_himeno_field f;
    test_himeno_field_make(&f, NI, NJ, NK);
    for (size_t n = 0; n < sizeof tunings / sizeof *tunings; n++) {
        test_himeno_run_whole(*state, &f, &tunings[n], ITERATIONS);
        check(*state, &f, &tunings[n], n % 2 ? six : eight, false);
    }
    check(*state, &f, &tunings[3], eight, true);
    test_himeno_field_free(&f);
}

/* 26 directions, each with its opposite. */
static void sides_are_in_pairs(void **state)
{
    (void)state;
    bool seen[27] = {false};
    for (uint32_t side = 0; side < WF_HALO_SIDES; side++) {
        int32_t here[3], there[3];
        wf_halo_direction(side, here);
        wf_halo_direction(side ^ 1, there);
        int number = 0;
        for (int axis = 0; axis < 3; axis++) {
            assert_in_range(here[axis] + 1, 0, 2);
            assert_int_equal(here[axis], -there[axis]);
            number = number * 3 + here[axis] + 1;
        }
        assert_false(seen[number]);
        seen[number] = true;
    }
    assert_false(seen[13]);
    int32_t direction[3];
    wf_halo_direction(WF_HALO_UPPER, direction);
    assert_true(direction[0] == 0 && direction[1] == 0 && direction[2] == 1);
}

static void bad_blocks(void **state)
{
    static const wf_constant three = {"steps", 3};
    const wf_tuning time = {
        .size = sizeof time, .variant = "time", .constants = &three, .constant_count = 1};
    wf_himeno_params params = test_himeno_params(NI, NJ, NK, &time);
    wf_himeno *h = NULL;
    test_expect_errors(true);
    params.planes = NK - 2;
    params.rows = 2; /* thinner than a pass */
    assert_int_equal(wf_himeno_create(*state, &params, &h), WF_ERROR_INVALID_ARGUMENT);
    params.rows = NJ;
    assert_int_equal(wf_himeno_create(*state, &params, &h), WF_ERROR_INVALID_ARGUMENT);
    params.rows = NJ - 4; /* as thick as can be, but what lies below or above it is not */
    params.first_row = 2;
    assert_int_equal(wf_himeno_create(*state, &params, &h), WF_ERROR_INVALID_ARGUMENT);
    params.first_row = 0;
    assert_int_equal(wf_himeno_create(*state, &params, &h), WF_ERROR_INVALID_ARGUMENT);
    params.rows = NJ - 2 - 3;
    assert_int_equal(wf_himeno_create(*state, &params, &h), WF_SUCCESS);
    wf_himeno_destroy(&h);
    params.rows = 0;
    params.cells = 8;
    params.first_cell = NI - 8;
    assert_int_equal(wf_himeno_create(*state, &params, &h), WF_ERROR_INVALID_ARGUMENT);
    params.first_cell = 0;
    params.planes = 0; /* a block says its planes */
    assert_int_equal(wf_himeno_create(*state, &params, &h), WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_the_whole),
        cmocka_unit_test(sides_are_in_pairs),
        cmocka_unit_test(bad_blocks),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
