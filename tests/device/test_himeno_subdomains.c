/* A Himeno grid cut into subdomains, whose halos the test carries: p and gosa have the bits of the
 * whole grid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/device.h"
#include "harness.h"
#include "himeno_field.h"

#define ITERATIONS 7 /* which leaves a remainder for every number of iterations a pass */
#define MOST_PARTS 4
#define NI 37u
#define NJ 21u
#define NK 34u
#define CELLS ((size_t)NI * NJ * NK)

typedef struct subdomains {
    uint32_t count, begin[MOST_PARTS]; /* inner planes */
    wf_himeno *parts[MOST_PARTS];
    wf_halo halos[MOST_PARTS];
} subdomains;

/* A planted fault: the halo that part 1 gets from below stays as it was. */
static void carry(subdomains *s, bool fault)
{
    for (uint32_t i = 0; i + 1 < s->count; i++) {
        wf_halo *below = &s->halos[i], *above = &s->halos[i + 1];
        assert_true(below->to[WF_HALO_UPPER] && below->from[WF_HALO_UPPER] &&
                    above->to[WF_HALO_LOWER] && above->from[WF_HALO_LOWER]);
        if (!fault || i != 0)
            memcpy(above->from[WF_HALO_LOWER], below->to[WF_HALO_UPPER],
                   below->bytes[WF_HALO_UPPER]);
        memcpy(below->from[WF_HALO_UPPER], above->to[WF_HALO_LOWER], below->bytes[WF_HALO_UPPER]);
    }
}

/* Each pass is with the device before the one before it has ended. */
static void relax_on(subdomains *s, uint32_t steps)
{
    for (uint32_t left = ITERATIONS; left > 0;) {
        const uint32_t iterations = left >= steps ? steps : 1;
        const bool first = left == ITERATIONS;
        for (uint32_t i = 0; i < s->count; i++)
            assert_int_equal(first ? wf_himeno_pass_begin(s->parts[i], iterations, false)
                                   : wf_himeno_pass_next(s->parts[i], iterations, true, NULL),
                             WF_SUCCESS);
        carry(s, false);
        left -= iterations;
    }
    for (uint32_t i = 0; i < s->count; i++)
        assert_int_equal(wf_himeno_pass_end(s->parts[i], NULL), WF_SUCCESS);
}

static void relax(subdomains *s, uint32_t steps, bool fault)
{
    bool arrived = false;
    for (uint32_t left = ITERATIONS; left > 0; arrived = true) {
        const uint32_t iterations = left >= steps ? steps : 1;
        /* Halos are carried while the parts are still under way, and in passes that are made whole
         * behind them. */
        for (uint32_t i = 0; i < s->count; i++)
            if (left % 4)
                assert_int_equal(wf_himeno_pass_begin(s->parts[i], iterations, arrived),
                                 WF_SUCCESS);
            else
                assert_int_equal(wf_himeno_pass(s->parts[i], iterations, arrived, NULL),
                                 WF_SUCCESS);
        carry(s, fault);
        for (uint32_t i = 0; i < s->count && left % 4; i++)
            assert_int_equal(wf_himeno_pass_end(s->parts[i], NULL), WF_SUCCESS);
        left -= iterations;
    }
}

static float add_up(wf_device *device, const subdomains *s)
{
    float *all = malloc(CELLS * sizeof *all), gosa = 0;
    uint32_t total = 0;
    assert_non_null(all);
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t count = 0;
        assert_int_equal(wf_himeno_partials(s->parts[i], NULL, &count), WF_SUCCESS);
        assert_true(total + count <= CELLS);
        assert_int_equal(wf_himeno_partials(s->parts[i], all + total, &count), WF_SUCCESS);
        total += count;
    }
    assert_int_equal(wf_himeno_gosa(device, all, total, &gosa), WF_SUCCESS);
    free(all);
    return gosa;
}

/* Cuts at the first multiples of the unit from `cuts` on. */
static float run_cut(wf_device *device, test_himeno_field *f, const wf_tuning *tuning,
                     const uint32_t *cuts, uint32_t count, bool fault)
{
    wf_himeno_params params = test_himeno_params(NI, NJ, NK, tuning);
    wf_himeno_cut cut = {.size = sizeof cut};
    assert_int_equal(wf_himeno_plan_cut(device, &params, &cut), WF_SUCCESS);
    assert_int_equal(cut.planes, NK - 2);
    assert_string_equal(cut.variant, tuning->variant);
    subdomains s = {0};
    uint32_t begin = 0;
    for (uint32_t i = 0; i < count && begin < cut.planes; i++) {
        const uint32_t wanted = i + 1 < count ? cuts[i] : cut.planes;
        uint32_t end = (wanted + cut.unit - 1) / cut.unit * cut.unit;
        if (end > cut.planes || cut.planes - end < cut.steps)
            end = cut.planes;
        if (end <= begin)
            continue;
        params.first_plane = begin;
        params.planes = end - begin;
        wf_himeno **part = &s.parts[s.count];
        assert_int_equal(wf_himeno_create(device, &params, part), WF_SUCCESS);
        assert_int_equal(wf_himeno_write(*part, &f->arrays), WF_SUCCESS);
        s.halos[s.count].size = sizeof s.halos[s.count];
        assert_int_equal(wf_himeno_halos(*part, &s.halos[s.count]), WF_SUCCESS);
        s.begin[s.count++] = begin;
        begin = end;
    }
    if (count > 2 && !fault)
        relax_on(&s, cut.steps);
    else
        relax(&s, cut.steps, fault);
    const float gosa = add_up(device, &s);
    memset(f->p, 0xff, CELLS * sizeof(float));
    /* The grid's first plane is a border, which the first part has before its own. */
    for (uint32_t i = 0; i < s.count; i++)
        assert_int_equal(
            wf_himeno_read(s.parts[i], f->p + (s.begin[i] ? s.begin[i] + 1 : 0) * (size_t)NI * NJ),
            WF_SUCCESS);
    for (uint32_t i = 0; i < s.count; i++)
        wf_himeno_destroy(&s.parts[i]);
    return gosa;
}

static bool same(const test_himeno_field *f, float gosa)
{
    return memcmp(f->p, f->expected, CELLS * sizeof(float)) == 0 &&
           memcmp(&gosa, &f->gosa, sizeof gosa) == 0;
}

static void parts_are_the_whole(void **state)
{
    static const uint32_t cuts[][MOST_PARTS - 1] = {{16, 32, 32}, {1, 2, 31}};
    static const wf_constant two[] = {{"steps", 2}, {"march", 4}}, three[] = {{"steps", 3}},
                             short_march[] = {{"march", 4}};
    static const wf_tuning tunings[] = {
        {.size = sizeof(wf_tuning), .variant = "naive"},
        {.size = sizeof(wf_tuning), .variant = "copy_back"},
        {.size = sizeof(wf_tuning),
         .variant = "march4",
         .constants = short_march,
         .constant_count = 1},
        {.size = sizeof(wf_tuning), .variant = "time", .constants = two, .constant_count = 2},
        {.size = sizeof(wf_tuning), .variant = "time", .constants = three, .constant_count = 1}};
    test_himeno_field f = {0};
    test_himeno_field_make(&f, NI, NJ, NK);
    for (size_t t = 0; t < sizeof tunings / sizeof *tunings; t++) {
        test_himeno_run_whole(*state, &f, &tunings[t], ITERATIONS);
        for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++)
            for (uint32_t count = 2; count <= MOST_PARTS; count += 2) {
                const float gosa = run_cut(*state, &f, &tunings[t], cuts[c], count, false);
                if (!same(&f, gosa))
                    fail_msg("%s in %u parts, cut %zu: gosa %.9g, not %.9g; seed %llu",
                             tunings[t].variant, count, c, (double)gosa, (double)f.gosa,
                             (unsigned long long)test_seed());
            }
        assert_false(same(&f, run_cut(*state, &f, &tunings[t], cuts[0], 2, true)));
    }
    test_himeno_field_free(&f);
}

/* Subdomains whose p and coefficients are themselves cut, by small limits. */
static void small_limits(void **state)
{
    static const wf_tuning naive = {.size = sizeof naive, .variant = "naive"};
    static const uint32_t cuts[] = {13, 24};
    wf_device *device = *state;
    const wf_caps caps = device->caps;
    test_himeno_field f = {0};
    test_himeno_field_make(&f, NI, NJ, NK);
    test_himeno_run_whole(device, &f, &naive, ITERATIONS);
    device->caps.max_allocation = (uint64_t)12 * NI * NJ * 4 * sizeof(float);
    const float gosa = run_cut(device, &f, &naive, cuts, 3, false);
    device->caps = caps;
    assert_true(same(&f, gosa));
    test_himeno_field_free(&f);
}

static void bad_requests(void **state)
{
    static const wf_tuning moved = {.size = sizeof moved, .variant = "moved"};
    static const wf_constant two = {"steps", 2};
    const wf_tuning time = {
        .size = sizeof time, .variant = "time", .constants = &two, .constant_count = 1};
    wf_himeno_params params = test_himeno_params(NI, NJ, NK, NULL);
    wf_himeno_cut cut = {.size = sizeof cut};
    wf_halo halo = {.size = sizeof halo};
    wf_himeno *h = NULL;
    uint32_t count = 0;
    float gosa;
    test_expect_errors(true);
    params.tuning = &moved;
    assert_int_equal(wf_himeno_plan_cut(*state, &params, &cut), WF_ERROR_UNSUPPORTED);
    params.planes = 8;
    assert_int_equal(wf_himeno_create(*state, &params, &h), WF_ERROR_UNSUPPORTED);
    params.tuning = &time;
    params.planes = 1;
    assert_int_equal(wf_himeno_create(*state, &params, &h), WF_ERROR_INVALID_ARGUMENT);
    params.tuning = NULL;
    params.first_plane = NK - 2;
    assert_int_equal(wf_himeno_create(*state, &params, &h), WF_ERROR_INVALID_ARGUMENT);
    params.planes = 0;
    params.first_plane = 1;
    assert_int_equal(wf_himeno_create(*state, &params, &h), WF_ERROR_INVALID_ARGUMENT);
    params.first_plane = 0;
    assert_int_equal(wf_himeno_create(*state, &params, &h), WF_SUCCESS);
    assert_int_equal(wf_himeno_halos(h, &halo), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_himeno_pass(h, 1, false, NULL), WF_ERROR_INVALID_ARGUMENT);
    wf_himeno_destroy(&h);
    params.planes = 16;
    assert_int_equal(wf_himeno_create(*state, &params, &h), WF_SUCCESS);
    assert_int_equal(wf_himeno_run(h, 1, &gosa, NULL, NULL), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_himeno_pass(h, 0, false, NULL), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_himeno_pass_end(h, NULL), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_himeno_partials(h, NULL, &count), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_himeno_gosa(*state, &gosa, 0, &gosa), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_himeno_start(h), WF_SUCCESS);
    assert_int_equal(wf_himeno_pass_begin(h, 1, false), WF_SUCCESS);
    assert_int_equal(wf_himeno_pass_begin(h, 1, false), WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
    wf_himeno_destroy(&h); /* with a pass under way */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_the_whole),
        cmocka_unit_test(small_limits),
        cmocka_unit_test(bad_requests),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
