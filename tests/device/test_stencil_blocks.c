/* A stencil's grid cut into blocks along x, y and z, whose halos the test carries while the blocks'
 * insides are updated: the grid has the bits of the whole one. Blocks are wide enough to have an
 * inside along x. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "blocks.h"
#include "harness.h"
#include "stencil_grid.h"

#define MOST_BLOCKS 8

typedef struct blocks {
    test_blocks cut; /* k: planes, in two dimensions rows */
    wf_stencil_slab *parts[MOST_BLOCKS];
    wf_halo halos[MOST_BLOCKS];
    uint32_t steps; /* of a pass */
} blocks;

/* As even as can be, but for a cell or two. */
static void cut_grid(const test_stencil_grid *g, const uint32_t count[3], test_blocks *out)
{
    const uint32_t cells[3] = {g->params.nx, g->params.nz ? g->params.ny : 1, g->planes};
    test_random random = {test_seed()};
    out->around = g->params.border == WF_BORDER_PERIODIC;
    for (int axis = 0; axis < 3; axis++) {
        out->count[axis] = count[axis];
        for (uint32_t n = 1; n < count[axis]; n++)
            out->cuts[axis][n] = cells[axis] * n / count[axis] + test_random_below(&random, 3) - 1;
        out->cuts[axis][count[axis]] = cells[axis];
    }
}

static void create(wf_device *device, const test_stencil_grid *g, blocks *b)
{
    for (uint32_t n = 0; n < test_blocks_all(&b->cut); n++) {
        const uint32_t *i = test_blocks_span(&b->cut, n, 0), *j = test_blocks_span(&b->cut, n, 1),
                       *k = test_blocks_span(&b->cut, n, 2);
        const bool flat = g->params.nz == 0;
        const wf_stencil_slab_params params = {.size = sizeof params,
                                               .grid = &g->params,
                                               .first_plane = k[0],
                                               .planes = k[1] - k[0],
                                               .first_row = flat ? 0 : j[0],
                                               .rows = flat ? 0 : j[1] - j[0],
                                               .first_cell = i[0],
                                               .cells = i[1] - i[0]};
        assert_int_equal(wf_stencil_slab_create(device, &params, &b->parts[n]), WF_SUCCESS);
        b->halos[n].size = sizeof b->halos[n];
        assert_int_equal(wf_stencil_slab_halos(b->parts[n], &b->halos[n]), WF_SUCCESS);
    }
}

/* Copies a block's cells between the whole grid and memory that has them alone. */
static void move(const test_stencil_grid *g, const test_blocks *cut, uint32_t n,
                 unsigned char *whole, unsigned char *own, bool take)
{
    const uint32_t *i = test_blocks_span(cut, n, 0), *j = test_blocks_span(cut, n, 1),
                   *k = test_blocks_span(cut, n, 2);
    const size_t size = wf_type_size(g->params.type), row = (i[1] - i[0]) * size;
    for (uint32_t plane = k[0]; plane < k[1]; plane++)
        for (uint32_t y = j[0]; y < j[1]; y++, own += row) {
            unsigned char *at =
                whole + plane * g->plane_bytes + ((size_t)y * g->params.nx + i[0]) * size;
            memcpy(take ? own : at, take ? at : own, row);
        }
}

static void run_passes(blocks *b, uint32_t all_steps, uint32_t forgotten)
{
    const uint32_t count = test_blocks_all(&b->cut);
    for (uint32_t left = all_steps; left > 0;) {
        const uint32_t steps = left < b->steps ? left : b->steps;
        for (uint32_t n = 0; n < count; n++)
            assert_int_equal(left == all_steps
                                 ? wf_stencil_slab_pass_begin(b->parts[n], steps)
                                 : wf_stencil_slab_pass_next(b->parts[n], steps, NULL),
                             WF_SUCCESS);
        test_blocks_carry(&b->cut, b->halos, forgotten);
        left -= steps;
    }
    for (uint32_t n = 0; n < count; n++)
        assert_int_equal(wf_stencil_slab_pass_end(b->parts[n], NULL), WF_SUCCESS);
}

static bool is_right(test_stencil_grid *g, blocks *b, uint32_t forgotten)
{
    const uint32_t count = test_blocks_all(&b->cut);
    unsigned char *own = malloc(g->planes * g->plane_bytes);
    assert_non_null(own);
    for (uint32_t n = 0; n < count; n++) {
        move(g, &b->cut, n, g->in, own, true);
        assert_int_equal(wf_stencil_slab_write(b->parts[n], own), WF_SUCCESS);
    }
    test_blocks_carry(&b->cut, b->halos, forgotten);
    run_passes(b, g->params.steps, forgotten);
    memset(g->out, 0xff, g->planes * g->plane_bytes);
    for (uint32_t n = 0; n < count; n++) {
        assert_int_equal(wf_stencil_slab_read(b->parts[n], own), WF_SUCCESS);
        move(g, &b->cut, n, g->out, own, false);
    }
    free(own);
    return test_stencil_grid_is_right(g);
}

typedef struct setup {
    wf_stencil_params params;
    const char *variant;
    uint32_t steps, count[3];
} setup;

/* `faults`: each of the sides counts. */
static void check(wf_device *device, const setup *given, bool faults)
{
    test_stencil_grid g;
    wf_stencil_cut cut = {.size = sizeof cut};
    test_stencil_grid_make(&g, given->params, given->variant, given->steps);
    test_stencil_run_whole(device, &g);
    assert_int_equal(wf_stencil_plan_cut(device, &g.params, &cut), WF_SUCCESS);
    blocks b = {.steps = cut.steps};
    cut_grid(&g, given->count, &b.cut);
    create(device, &g, &b);
    assert_true(is_right(&g, &b, WF_HALO_SIDES));
    for (uint32_t side = 0; side < WF_HALO_SIDES && faults; side++)
        assert_false(is_right(&g, &b, side));
    for (uint32_t n = 0; n < test_blocks_all(&b.cut); n++)
        wf_stencil_slab_destroy(&b.parts[n]);
    test_stencil_grid_free(&g);
}

static void blocks_are_the_whole(void **state)
{
    const wf_border mirrored = WF_BORDER_NEUMANN, periodic = WF_BORDER_PERIODIC;
    const setup setups[] = {
        {{.nx = 143, .ny = 15, .nz = 13, .steps = 2, .shape = WF_STENCIL_BOX, .border = periodic},
         "naive",
         1,
         {2, 2, 2}},
        {{.nx = 150, .ny = 21, .nz = 11, .steps = 5, .border = mirrored}, "time", 2, {2, 2, 1}},
        {{.nx = 152, .ny = 21, .nz = 9, .steps = 4}, "time_vector", 2, {2, 2, 1}},
        {{.nx = 148, .ny = 31, .steps = 4, .border = mirrored}, "time_vector", 2, {2, 1, 2}},
        {{.nx = 208, .ny = 14, .nz = 7, .steps = 2}, "vector", 1, {3, 2, 1}},
        {{.nx = 150,
          .ny = 22,
          .nz = 13,
          .steps = 2,
          .radius = 2,
          .shape = WF_STENCIL_BOX,
          .border = periodic},
         "march_shared",
         1,
         {2, 2, 2}},
        {{.nx = 145, .ny = 27, .steps = 2, .radius = 2, .shape = WF_STENCIL_BOX},
         "march",
         1,
         {2, 1, 2}},
    };
    for (size_t n = 0; n < sizeof setups / sizeof *setups; n++)
        check(*state, &setups[n], false);
    if (wf_device_caps(*state)->f16_storage)
        check(*state,
              &(setup){{.nx = 151, .ny = 9, .nz = 12, .steps = 2, .type = WF_TYPE_F16, .radius = 2},
                       "naive",
                       1,
                       {2, 1, 2}},
              false);
}

/* A box in a periodic grid needs cells from all sides. */
static void all_sides_count(void **state)
{
    check(*state,
          &(setup){{.nx = 9,
                    .ny = 7,
                    .nz = 8,
                    .steps = 1,
                    .shape = WF_STENCIL_BOX,
                    .border = WF_BORDER_PERIODIC},
                   "naive",
                   1,
                   {2, 2, 2}},
          true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_are_the_whole),
                                       cmocka_unit_test(all_sides_count)};
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
