/* A stencil's grid cut into slabs, whose halos the test carries, or which the slabs read from each
 * other's buffers: the grid has the bits of the whole one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness.h"
#include "stencil_grid.h"

#define STEPS 7 /* which leaves a remainder for two and three steps a pass */
#define MOST_SLABS 3

typedef enum way { CARRIED, BOUND, FORGOTTEN } way; /* FORGOTTEN: a planted fault */

typedef struct slabs {
    uint32_t count, turn;
    bool around;
    way way;
    wf_stencil_slab *parts[MOST_SLABS];
    wf_halo halos[MOST_SLABS];
    wf_buffer *shared[MOST_SLABS][2][2]; /* BOUND: by turn and side, lower first */
} slabs;

/* The neighbour above; the count: there is none. */
static uint32_t above(const slabs *s, uint32_t i)
{
    return i + 1 < s->count ? i + 1 : s->around ? 0 : s->count;
}

/* Of either side, of which a slab at an end has one. */
static uint64_t halo_bytes(const wf_halo *halo)
{
    const uint64_t *bytes = halo->bytes;
    return bytes[WF_HALO_LOWER] ? bytes[WF_HALO_LOWER] : bytes[WF_HALO_UPPER];
}

static void carry(slabs *s)
{
    for (uint32_t i = 0; i < s->count && s->way != BOUND; i++) {
        const uint32_t upper = above(s, i);
        if (upper == s->count || (s->way == FORGOTTEN && i == 0))
            continue;
        memcpy(s->halos[upper].from[WF_HALO_LOWER], s->halos[i].to[WF_HALO_UPPER],
               halo_bytes(&s->halos[i]));
        memcpy(s->halos[i].from[WF_HALO_UPPER], s->halos[upper].to[WF_HALO_LOWER],
               halo_bytes(&s->halos[i]));
    }
}

/* What is written in this turn is read in the next. */
static void bind_all(slabs *s)
{
    s->turn = 1 - s->turn;
    for (uint32_t i = 0; i < s->count && s->way == BOUND; i++) {
        const uint32_t upper = above(s, i), lower = (i + s->count - 1) % s->count,
                       was = 1 - s->turn;
        wf_halo_bindings halos = {.size = sizeof halos};
        if (s->halos[i].to[WF_HALO_LOWER]) {
            halos.to[WF_HALO_LOWER].buffer = s->shared[i][s->turn][0];
            halos.from[WF_HALO_LOWER].buffer = s->shared[lower][was][1];
        }
        if (s->halos[i].to[WF_HALO_UPPER]) {
            halos.to[WF_HALO_UPPER].buffer = s->shared[i][s->turn][1];
            halos.from[WF_HALO_UPPER].buffer = s->shared[upper][was][0];
        }
        assert_int_equal(wf_stencil_slab_bind_halos(s->parts[i], &halos), WF_SUCCESS);
    }
}

static void open_slabs(wf_device *device, const test_stencil_grid *p, const uint32_t *begin,
                       slabs *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const wf_stencil_slab_params params = {.size = sizeof params,
                                               .grid = &p->params,
                                               .first_plane = begin[i],
                                               .planes = begin[i + 1] - begin[i]};
        assert_int_equal(wf_stencil_slab_create(device, &params, &s->parts[i]), WF_SUCCESS);
        s->halos[i].size = sizeof s->halos[i];
        assert_int_equal(wf_stencil_slab_halos(s->parts[i], &s->halos[i]), WF_SUCCESS);
        for (int n = 0; n < 4 && s->way == BOUND; n++)
            assert_int_equal(wf_buffer_create(device, halo_bytes(&s->halos[i]), WF_MEMORY_READBACK,
                                              &s->shared[i][n / 2][n % 2]),
                             WF_SUCCESS);
    }
}

static void close_slabs(slabs *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        wf_stencil_slab_destroy(&s->parts[i]);
        for (int n = 0; n < 4; n++)
            wf_buffer_destroy(&s->shared[i][n / 2][n % 2]);
    }
}

static void run_passes(slabs *s, uint32_t most)
{
    for (uint32_t left = STEPS; left > 0;) {
        const uint32_t steps = left < most ? left : most;
        bind_all(s);
        for (uint32_t i = 0; i < s->count; i++)
            if (left == STEPS)
                assert_int_equal(wf_stencil_slab_pass_begin(s->parts[i], steps), WF_SUCCESS);
            else
                assert_int_equal(wf_stencil_slab_pass_next(s->parts[i], steps, NULL), WF_SUCCESS);
        carry(s);
        left -= steps;
    }
    for (uint32_t i = 0; i < s->count; i++)
        assert_int_equal(wf_stencil_slab_pass_end(s->parts[i], NULL), WF_SUCCESS);
}

/* Whether the slabs give the grid that the whole gives. */
static bool run_cut(wf_device *device, test_stencil_grid *p, const uint32_t *begin, uint32_t count,
                    way how)
{
    slabs s = {.count = count, .way = how, .around = p->params.border == WF_BORDER_PERIODIC};
    wf_stencil_cut cut = {.size = sizeof cut};
    assert_int_equal(wf_stencil_plan_cut(device, &p->params, &cut), WF_SUCCESS);
    assert_int_equal(cut.planes, p->planes);
    assert_int_equal(cut.plane_bytes, p->plane_bytes);
    assert_string_equal(cut.variant, p->tuning.variant);
    open_slabs(device, p, begin, &s);
    bind_all(&s);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(wf_stencil_slab_write(s.parts[i], p->in + begin[i] * p->plane_bytes),
                         WF_SUCCESS);
    carry(&s);
    run_passes(&s, cut.steps);
    memset(p->out, 0xff, p->planes * p->plane_bytes);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(wf_stencil_slab_read(s.parts[i], p->out + begin[i] * p->plane_bytes),
                         WF_SUCCESS);
    close_slabs(&s);
    return test_stencil_grid_is_right(p);
}

static void check(wf_device *device, wf_stencil_params params, const char *variant, uint32_t steps)
{
    test_stencil_grid p;
    params.steps = STEPS;
    test_stencil_grid_make(&p, params, variant, steps);
    const uint32_t begin[] = {0, p.planes / 2 + 1, p.planes - p.planes / 4, p.planes},
                   two[] = {0, p.planes / 3 + 1, p.planes};
    test_stencil_run_whole(device, &p);
    assert_true(run_cut(device, &p, begin, 3, CARRIED));
    assert_true(run_cut(device, &p, two, 2, BOUND));
    assert_false(run_cut(device, &p, begin, 3, FORGOTTEN));
    test_stencil_grid_free(&p);
}

static void slabs_are_the_whole(void **state)
{
    check(*state, (wf_stencil_params){.nx = 13, .ny = 7, .nz = 26, .border = WF_BORDER_PERIODIC},
          "naive", 1);
    check(*state, (wf_stencil_params){.nx = 16, .ny = 9, .nz = 29, .border = WF_BORDER_NEUMANN},
          "time", 2);
    check(*state,
          (wf_stencil_params){
              .nx = 21, .ny = 37, .radius = 2, .shape = WF_STENCIL_BOX, .type = WF_TYPE_F32},
          "march", 1);
    if (test_has_type(*state, WF_TYPE_F64))
        check(*state, (wf_stencil_params){.nx = 9, .ny = 25, .type = WF_TYPE_F64}, "time", 3);
    if (wf_device_caps(*state)->f16_storage)
        check(*state, (wf_stencil_params){.nx = 11, .ny = 3, .nz = 26, .type = WF_TYPE_F16},
              "naive", 1);
}

static void bad_requests(void **state)
{
    test_stencil_grid p;
    wf_stencil_slab *s = NULL;
    test_stencil_grid_make(&p, (wf_stencil_params){.nx = 16, .ny = 9, .nz = 20, .steps = STEPS},
                           "time", 2);
    wf_stencil_slab_params params = {
        .size = sizeof params, .grid = &p.params, .first_plane = 3, .planes = 1};
    const wf_halo_bindings nothing = {.size = sizeof nothing};
    test_expect_errors(true);
    assert_int_equal(wf_stencil_slab_create(*state, &params, &s), WF_ERROR_INVALID_ARGUMENT);
    params.planes = 18;
    assert_int_equal(wf_stencil_slab_create(*state, &params, &s), WF_ERROR_INVALID_ARGUMENT);
    params.planes = 8;
    assert_int_equal(wf_stencil_slab_create(*state, &params, &s), WF_SUCCESS);
    assert_int_equal(wf_stencil_slab_pass_begin(s, 3), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_stencil_slab_pass_begin(s, 0), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_stencil_slab_pass_next(s, 1, NULL), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_stencil_slab_pass_end(s, NULL), WF_ERROR_INVALID_ARGUMENT);
    wf_plan_info info = {.size = sizeof info};
    assert_int_equal(wf_stencil_slab_describe(s, &info), WF_NOT_READY);
    assert_int_equal(wf_stencil_slab_bind_halos(s, &nothing), WF_SUCCESS);
    assert_int_equal(wf_stencil_slab_write(s, p.in), WF_SUCCESS);
    assert_int_equal(wf_stencil_slab_pass_begin(s, 2), WF_SUCCESS);
    assert_int_equal(wf_stencil_slab_describe(s, &info), WF_SUCCESS);
    assert_string_equal(info.variant, "time");
    assert_int_equal(wf_stencil_slab_read(s, p.out), WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
    wf_stencil_slab_destroy(&s); /* with a pass under way */
    test_stencil_grid_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slabs_are_the_whole),
        cmocka_unit_test(bad_requests),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
