/* Star and box stencils: every variant, shape, border and type is compared with f64, and all
 * variants, windows and numbers of steps a pass must give the same bits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/families.h"
#include "core/device.h"
#include "points.h"

#define DRAWN 14 /* random problems, of which half are run at each limits */
#define MOST_TAPS 729

/* A problem with random values; the reference variant's result is what others must give. */
typedef struct problem {
    wf_device *device;
    wf_stencil_params params;
    double coefficients[MOST_TAPS];
    uint32_t taps;
    size_t elements, bytes;
    void *in, *out, *expected;
    uint32_t seen, phase;
} problem;

static const char *const borders[] = {"dirichlet", "neumann", "periodic"};

static uint32_t taps_of(const wf_stencil_params *p)
{
    const uint32_t side = 2 * p->radius + 1, dimensions = p->nz ? 3 : 2;
    return p->shape == WF_STENCIL_STAR ? 1 + 2 * p->radius * dimensions
                                       : side * side * (p->nz ? side : 1);
}

/* A binary16 of random bits whose magnitude is between 2^-14 and 2. */
static uint16_t random_half(test_random *random)
{
    return (uint16_t)((test_random_bits(random) & 0x83ff) |
                      ((1 + test_random_below(random, 15)) << 10));
}

static void make_problem(problem *p, wf_device *device, const wf_stencil_params *params,
                         test_random *random)
{
    *p = (problem){.device = device, .params = *params, .taps = taps_of(params)};
    p->params.size = sizeof p->params;
    p->params.coefficients = p->coefficients;
    for (uint32_t i = 0; i < p->taps; i++)
        p->coefficients[i] = test_random_uniform(random) * 2 / p->taps;
    const size_t stride = params->row_stride ? params->row_stride : params->nx;
    p->elements = stride * params->ny * (params->nz ? params->nz : 1);
    p->bytes = p->elements * wf_type_size(params->type);
    p->in = malloc(p->bytes);
    p->out = malloc(p->bytes);
    p->expected = malloc(p->bytes);
    assert_true(p->in && p->out && p->expected);
    memset(p->in, 0xff, p->bytes); /* NaN between the rows */
    for (size_t i = 0; i < p->elements; i++)
        if (i % stride >= params->nx)
            continue;
        else if (params->type == WF_TYPE_F64)
            ((double *)p->in)[i] = test_random_uniform(random);
        else if (params->type == WF_TYPE_F16)
            ((uint16_t *)p->in)[i] = random_half(random);
        else
            ((float *)p->in)[i] = (float)test_random_uniform(random);
}

static void free_problem(problem *p)
{
    free(p->in);
    free(p->out);
    free(p->expected);
}

static const char *text_of(const problem *p, const char *what)
{
    static char text[512];
    const wf_stencil_params *s = &p->params;
    snprintf(text, sizeof text, "%s: %s %s radius %u %s %ux%ux%u stride %u steps %u, seed %llu",
             what, wf_type_name(s->type), s->shape == WF_STENCIL_STAR ? "star" : "box", s->radius,
             borders[s->border], s->nx, s->ny, s->nz, s->row_stride, s->steps,
             (unsigned long long)test_seed());
    return text;
}

static void apply(problem *p, const wf_tuning *tuning, const char *what)
{
    wf_plan *plan = NULL;
    wf_buffer *buffers[3] = {NULL};
    wf_stencil_params params = p->params;
    params.tuning = tuning;
    if (wf_stencil_plan(p->device, &params, &plan) != WF_SUCCESS)
        fail_msg("%s: %s", text_of(p, what), test_last_error());
    const uint64_t workspace = wf_plan_workspace(plan);
    for (int n = 0; n < 3; n++) {
        const uint64_t bytes = n < 2 ? p->bytes : workspace ? workspace : 4;
        assert_int_equal(wf_buffer_create(p->device, bytes, WF_MEMORY_DEVICE, &buffers[n]),
                         WF_SUCCESS);
        test_poison(buffers[n]);
    }
    const wf_bindings bindings = {.size = sizeof bindings,
                                  .items = {{.buffer = buffers[0]}, {.buffer = buffers[1]}},
                                  .workspace = {.buffer = buffers[2]}};
    assert_int_equal(wf_buffer_write(buffers[0], 0, p->in, p->bytes), WF_SUCCESS);
    assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(buffers[1], 0, p->out, p->bytes), WF_SUCCESS);
    wf_plan_destroy(&plan);
    for (int n = 0; n < 3; n++)
        wf_buffer_destroy(&buffers[n]);
}

static void assert_right(const problem *p, const char *what)
{
    wf_check check;
    assert_int_equal(wf_stencil_check(&p->params, p->in, p->out, 0, 0, &check), WF_SUCCESS);
    if (!(check.error_over_bound <= 1))
        fail_msg("%s: cell %llu is %g bounds off", text_of(p, what),
                 (unsigned long long)check.worst, check.error_over_bound);
}

static void assert_same(const problem *p, const char *what)
{
    const size_t size = wf_type_size(p->params.type);
    for (size_t i = 0; i < p->elements; i++)
        if (memcmp((char *)p->out + i * size, (char *)p->expected + i * size, size) != 0)
            fail_msg("%s: element %zu differs", text_of(p, what), i);
}

static void make_expected(problem *p)
{
    const wf_tuning naive = {.size = sizeof naive, .variant = "naive"};
    apply(p, &naive, "naive");
    assert_right(p, "naive");
    memcpy(p->expected, p->out, p->bytes);
}

static bool has_type(const problem *p)
{
    const wf_caps *caps = wf_device_caps(p->device);
    return p->params.type == WF_TYPE_F64   ? caps->f64
           : p->params.type == WF_TYPE_F16 ? caps->f16_storage
                                           : true;
}

static wfi_problem planned(const problem *p)
{
    const wf_stencil_params *s = &p->params;
    return (wfi_problem){.family = WF_FAMILY_STENCIL,
                         .type = s->type,
                         .stencil = {.nx = s->nx,
                                     .ny = s->ny,
                                     .nz = s->nz,
                                     .row_stride = s->row_stride ? s->row_stride : s->nx,
                                     .dimensions = s->nz ? 3 : 2,
                                     .shape = s->shape,
                                     .radius = s->radius,
                                     .border = s->border,
                                     .steps = s->steps}};
}

static bool is_minimum(const wf_device *device)
{
    return wf_device_caps(device)->limits == WF_LIMITS_MINIMUM;
}

/* SwiftShader takes seconds to compile some of them: at minimum limits half of a problem's variants
 * run, and the others at full ones, where it walks quickly. Lavapipe has all of them there. */
static bool is_for_other_limits(const problem *p, uint32_t variant)
{
    const bool minimum = is_minimum(p->device);
    return !test_emulated() && (minimum || test_quick()) && (variant + p->phase) % 2 == minimum;
}

/* Runs each variant at its defaults where that is legal. */
static void run_defaults(problem *p)
{
    const wfi_family *family = wfi_family_get(WF_FAMILY_STENCIL);
    const wfi_problem whole = planned(p);
    make_expected(p);
    for (uint32_t v = 1; v < family->variant_count; v++) {
        wfi_point point = {
            .caps = wf_device_caps(p->device), .problem = &whole, .variant = family->variants[v]};
        const wf_tuning tuning = {.size = sizeof tuning, .variant = family->variants[v]->name};
        wfi_point_defaults(&point);
        point.variant->fit(&point);
        if (!wfi_point_legal(&point, NULL) || is_for_other_limits(p, v))
            continue;
        apply(p, &tuning, tuning.variant);
        assert_same(p, tuning.variant);
    }
}

/* Each shape and border in two and three dimensions, the types in turn, on small odd grids. */
static void every_variant_is_right(void **state)
{
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F64, WF_TYPE_F16};
    test_random random = {test_seed()};
    for (uint32_t n = 0; n < 12; n++) {
        problem p;
        const wf_stencil_params params = {.nx = n % 2 ? 37 : 3,
                                          .ny = n % 2 ? 11 : 3,
                                          .nz = n % 4 < 2 ? (n % 2 ? 9 : 3) : 0,
                                          .shape = (wf_stencil_shape)(n / 2 % 2),
                                          .radius = 1,
                                          .border = (wf_border)(n / 4),
                                          .steps = 1 + n % 3,
                                          .type = types[(n + n / 4) % 3],
                                          .row_stride = n % 2 ? 40 : 0};
        make_problem(&p, *state, &params, &random);
        p.phase = n / 2;
        if (has_type(&p))
            run_defaults(&p);
        free_problem(&p);
    }
}

/* Problems drawn at random: extents from the smallest, radius to 4, padding, several steps. */
static void drawn_problems_are_right(void **state)
{
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F32, WF_TYPE_F64, WF_TYPE_F16};
    test_random random = {test_seed()};
    /* Nearly every problem has kernels of its own, as in the next tests. */
    for (uint32_t n = 0; n < (test_emulated() ? DRAWN / 4 : DRAWN); n++) {
        problem p;
        const uint32_t radius = 1 + test_random_below(&random, 4), least = 2 * radius + 1;
        const bool flat = test_random_below(&random, 2);
        wf_stencil_params params = {
            .nx = least + test_random_below(&random, 60),
            .ny = least + test_random_below(&random, 20),
            .nz = flat ? 0 : least + test_random_below(&random, 12),
            .shape = (wf_stencil_shape)test_random_below(&random, radius > 2 && !flat ? 1 : 2),
            .radius = radius,
            .border = (wf_border)test_random_below(&random, 3),
            .steps = 1 + test_random_below(&random, 4),
            .type = types[test_random_below(&random, 4)]};
        params.row_stride = params.nx + test_random_below(&random, 5);
        make_problem(&p, *state, &params, &random);
        p.phase = n / 2;
        if (has_type(&p) && (test_emulated() || n % 2 == is_minimum(*state)))
            run_defaults(&p);
        free_problem(&p);
    }
}

/* Of four points three are run, each on one of the three grids; at minimum limits half of those
 * that are left. */
static void run_point(void *user, const wfi_point *point)
{
    problem *p = user;
    wf_constant constants[WF_MAX_PARAMETERS];
    char text[256];
    const uint32_t number = p->seen++;
    if (is_minimum(p->device) ? number % 8 != 3 + 4 * (p->phase % 2) : number % 4 != p->phase)
        return;
    const wf_tuning tuning = test_point_tuning(point, constants);
    test_point_text(point, text, sizeof text);
    apply(p, &tuning, text);
    assert_same(p, text);
}

static void every_candidate_is_right(void **state)
{
    const wfi_family *family = wfi_family_get(WF_FAMILY_STENCIL);
    test_random random = {test_seed()};
    uint32_t points = 0, least = 0;
    for (uint32_t n = 0; n < 3; n++) {
        problem p;
        const wf_stencil_params params = {.nx = 68,
                                          .ny = 21,
                                          .nz = n == 1 ? 0 : 18,
                                          .shape = n == 2 ? WF_STENCIL_BOX : WF_STENCIL_STAR,
                                          .radius = 1,
                                          .border =
                                              n == 1 ? WF_BORDER_NEUMANN : WF_BORDER_DIRICHLET,
                                          .steps = 9};
        make_problem(&p, *state, &params, &random);
        make_expected(&p);
        p.phase = n;
        const wfi_problem whole = planned(&p);
        for (uint32_t v = 0; v < family->variant_count; v++)
            points += test_each_small_point(wf_device_caps(*state), &whole, family->variants[v], 2,
                                            &random, run_point, &p);
        if (n < 2)
            least += test_legal_defaults(wf_device_caps(*state), &whole);
        free_problem(&p);
    }
    printf("%u points\n", points);
    assert_true(points >= (test_quick() ? least : 30) && least > 0);
}

/* Boxes of radius 1 and 2 by tiles in shared memory, with work-groups, columns and rows drawn:
 * tiles end within vectors and rows, and rows are padded or not. */
static void tiles_of_boxes_are_right(void **state)
{
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F64, WF_TYPE_F16};
    test_random random = {test_seed()};
    for (uint32_t n = 0; n < (test_emulated() ? 1 : 9); n++) {
        problem p;
        wf_stencil_params params = {.nx = 5 + test_random_below(&random, 80),
                                    .ny = 5 + test_random_below(&random, 40),
                                    .nz = 5 + test_random_below(&random, 12),
                                    .shape = WF_STENCIL_BOX,
                                    .radius = 1 + (n + n / 3) % 2,
                                    .border = (wf_border)(n / 3),
                                    .steps = 1 + n % 2,
                                    .type = types[n % 3]};
        params.row_stride = params.nx + test_random_below(&random, 2) * 3;
        const wf_constant constants[] = {{"local_x", 8u << test_random_below(&random, 2)},
                                         {"local_y", 2u << test_random_below(&random, 2)},
                                         {"march", 1 + test_random_below(&random, 9)},
                                         {"rows", 1 + test_random_below(&random, 4)}};
        const wf_tuning tuning = {.size = sizeof tuning,
                                  .variant = "march_shared",
                                  .constants = constants,
                                  .constant_count = sizeof constants / sizeof *constants};
        char what[80];
        snprintf(what, sizeof what, "march_shared %ux%u, march %u, %u rows", constants[0].value,
                 constants[1].value, constants[2].value, constants[3].value);
        make_problem(&p, *state, &params, &random);
        if (has_type(&p) && (!is_minimum(*state) || n % 3 == 0)) {
            make_expected(&p);
            apply(&p, &tuning, what);
            assert_same(&p, what);
        }
        free_problem(&p);
    }
}

static void run_steps(problem *p, const char *variant, uint32_t steps, uint32_t rows)
{
    const bool flat = p->params.nz == 0, blocks = strcmp(variant, "time_vector") == 0;
    const wfi_problem whole = planned(p);
    const wfi_family *family = wfi_family_get(WF_FAMILY_STENCIL);
    /* Tiles of 32 cells where items have several: there are some in the middle of the grid. */
    const wf_constant constants[] = {{"steps", steps},
                                     {"local_x", blocks ? 8 : 64},
                                     {"local_y", flat     ? 1
                                                 : blocks ? 4
                                                          : 2},
                                     {"rows", flat ? 1 : rows},
                                     {"march", 8},
                                     {"buffers", 1 + steps % 2}};
    const uint32_t count = blocks ? 6 : 5;
    const wf_tuning tuning = {
        .size = sizeof tuning, .variant = variant, .constants = constants, .constant_count = count};
    wfi_point point = {.caps = wf_device_caps(p->device), .problem = &whole};
    point.variant = family->variants[wfi_variant_find(family, variant)];
    for (uint32_t c = 0; c < count; c++)
        wfi_point_put(&point, wfi_parameter_find(point.variant, constants[c].name),
                      constants[c].value);
    if (!wfi_point_legal(&point, NULL))
        return;
    apply(p, &tuning, variant);
    assert_same(p, variant);
}

/* Every number of steps a pass, with a remainder, gives the bits of single steps. */
static void steps_a_pass_change_nothing(void **state)
{
    test_random random = {test_seed()};
    for (uint32_t n = 0; n < 3; n += test_quick() ? 3 : 1) {
        problem p;
        const wf_stencil_params params = {.nx = n % 2 ? 72 : 70,
                                          .ny = 27,
                                          .nz = n == 2 ? 0 : 17,
                                          .row_stride = 72,
                                          .radius = 1,
                                          .border = (wf_border)n,
                                          .steps = 7};
        make_problem(&p, *state, &params, &random);
        make_expected(&p);
        for (uint32_t steps = 1; steps <= 4; steps++) {
            if (params.nz > 0 && (steps + n) % 2) /* another grid has it */
                continue;
            run_steps(&p, "time", steps, 16);
            run_steps(&p, "time_vector", steps, 4);
        }
        free_problem(&p);
    }
}

/* Likewise each border of each type, in two dimensions and three; of these a quick run has f32. */
static void steps_of_all_types_change_nothing(void **state)
{
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F64, WF_TYPE_F16};
    test_random random = {test_seed()};
    for (uint32_t n = 0; n < (test_quick() ? 6 : 18); n++) {
        problem p;
        const bool flat = n % 2, even = n / 2 % 2;
        const wf_stencil_params params = {.nx = even ? 72 : 70,
                                          .ny = 27,
                                          .nz = flat ? 0 : 11,
                                          .row_stride = 72,
                                          .radius = 1,
                                          .border = (wf_border)(n / 2 % 3),
                                          .steps = 5,
                                          .type = types[n / 6]};
        make_problem(&p, *state, &params, &random);
        if (has_type(&p)) {
            make_expected(&p);
            run_steps(&p, "time", 2 + n % (flat ? 3 : 2), 16);
            run_steps(&p, "time_vector", 2 + (n + 1) % (flat ? 3 : 2), 4);
        }
        free_problem(&p);
    }
}

/* Limits under which a grid is updated in windows, and the variant that does. */
typedef struct windows_case {
    const char *variant;
    uint32_t planes; /* that a binding holds */
    uint32_t constants;
} windows_case;

#define MANY_PLANES 12

static void run_windows(problem *p, const windows_case *c)
{
    wf_device *device = p->device;
    const wf_caps caps = device->caps;
    const wf_stencil_params *s = &p->params;
    const bool flat = s->nz == 0;
    /* Edges of a block an item: at minimum limits half as many items as others have fit. */
    const uint32_t deep = strcmp(c->variant, "time_vector") == 0 ? 4 : 8;
    const wf_constant constants[] = {{"steps", 2}, {"local_x", 16}, {"local_y", flat ? 1 : deep}};
    const wf_tuning tuning = {.size = sizeof tuning,
                              .variant = c->variant,
                              .constants = constants,
                              .constant_count = c->constants};
    const uint64_t stride = s->row_stride ? s->row_stride : s->nx;
    const uint64_t plane = (flat ? 1 : s->ny) * stride * wf_type_size(s->type);
    const uint32_t unit = caps.storage_alignment > 16 ? (uint32_t)caps.storage_alignment : 16;
    device->caps.max_storage_range = c->planes * plane + unit;
    apply(p, &tuning, c->variant);
    device->caps = caps;
    assert_same(p, c->variant);
    if (c->planes < MANY_PLANES)
        return;
    device->caps.max_groups[2] = 3;
    apply(p, &tuning, "few work-groups");
    device->caps = caps;
    assert_same(p, "few work-groups");
}

/* Windows for small bindings, with one and several steps a pass and down to the least that they can
 * hold, give the bits of one piece, also where the grid wraps around. */
static void goes_through_windows(void **state)
{
    static const windows_case stars[] = {{"naive", 3, 0}, {"march", 7, 0},        {"vector", 12, 0},
                                         {"time", 6, 3},  {"time_vector", 12, 3}, {"naive", 40, 0}},
                              boxes[] = {{"naive", 5, 0},
                                         {"vector", 11, 0},
                                         {"march", 9, 0},
                                         {"march", 20, 0}};
    test_random random = {test_seed()};
    for (uint32_t n = 0; n < 5; n += test_quick() ? 2 : 1) {
        problem p;
        const bool box = n >= 3;
        const wf_stencil_params params = {.nx = n == 1 ? 61 : 64,
                                          .ny = n == 2 || n == 4 ? 41 : 12,
                                          .nz = n == 2 || n == 4 ? 0
                                                : box            ? 25
                                                                 : 40,
                                          .row_stride = n == 1 ? 63 : 0,
                                          .shape = box ? WF_STENCIL_BOX : WF_STENCIL_STAR,
                                          .radius = n == 4 ? 2 : 1,
                                          .border = n == 0 ? WF_BORDER_NEUMANN : WF_BORDER_PERIODIC,
                                          .type = n == 2 ? WF_TYPE_F16 : WF_TYPE_F32,
                                          .steps = n == 4 ? 3 : 5};
        const windows_case *cases = box ? boxes : stars;
        const size_t count = box ? sizeof boxes / sizeof *boxes : sizeof stars / sizeof *stars;
        make_problem(&p, *state, &params, &random);
        const bool runs = has_type(&p);
        if (runs)
            make_expected(&p);
        for (size_t c = 0; runs && c < count; c++)
            if (strcmp(cases[c].variant, "time_vector") != 0 || n != 1) /* rows of 63 cells */
                run_windows(&p, &cases[c]);
        free_problem(&p);
    }
}

/* Making a plan submits nothing, so that threads that do not own the queue may do it. */
static void planning_touches_no_queue(void **state)
{
    const wf_device_params device_params = {.size = sizeof device_params};
    const double coefficients[] = {0, 0.25, 0.25, 0.25, 0.25};
    const wf_stencil_params params = {
        .size = sizeof params, .nx = 20, .ny = 20, .coefficients = coefficients, .steps = 3};
    wf_device *device = NULL;
    wf_plan *plan = NULL;
    (void)state;
    /* The first device of a process may run its self-test. */
    assert_int_equal(wf_device_create(&device_params, &device), WF_SUCCESS);
    wf_device_destroy(&device);
    assert_int_equal(wf_device_create(&device_params, &device), WF_SUCCESS);
    assert_int_equal(wf_stencil_plan(device, &params, &plan), WF_SUCCESS);
    assert_false(device->submission_made);
    wf_plan_destroy(&plan);
    wf_device_destroy(&device);
}

/* The check finds a planted wrong element. */
static void check_finds_errors(void **state)
{
    test_random random = {test_seed()};
    wf_check check;
    problem p;
    const wf_stencil_params params = {
        .nx = 90, .ny = 80, .radius = 2, .steps = 3, .border = WF_BORDER_PERIODIC};
    make_problem(&p, *state, &params, &random);
    make_expected(&p);
    for (uint64_t most = 0; most <= 4096; most += 4096) {
        assert_int_equal(wf_stencil_check(&p.params, p.in, p.out, most, 3, &check), WF_SUCCESS);
        assert_true(check.error_over_bound <= 1 && check.checked >= (most ? most : 7200));
    }
    ((float *)p.out)[0] += 1e-3f;
    for (uint64_t most = 0; most <= 4096; most += 4096) {
        assert_int_equal(wf_stencil_check(&p.params, p.in, p.out, most, 3, &check), WF_SUCCESS);
        assert_true(check.error_over_bound > 1 && check.worst == 0);
    }
    free_problem(&p);
}

static void refuses_bad_requests(void **state)
{
    wf_device *device = *state;
    const wf_caps caps = device->caps;
    double coefficients[] = {0, 0.25, 0.25, 0.25, 0.25};
    const wf_stencil_params good = {
        .size = sizeof good, .nx = 9, .ny = 9, .coefficients = coefficients, .steps = 2};
    wf_stencil_params bad = good;
    wf_plan *plan = NULL;
    test_expect_errors(true);
    bad.nx = 2;
    assert_int_equal(wf_stencil_plan(device, &bad, &plan), WF_ERROR_INVALID_ARGUMENT);
    bad = good;
    bad.radius = 5;
    assert_int_equal(wf_stencil_plan(device, &bad, &plan), WF_ERROR_INVALID_ARGUMENT);
    bad = good;
    bad.row_stride = 8;
    assert_int_equal(wf_stencil_plan(device, &bad, &plan), WF_ERROR_INVALID_ARGUMENT);
    bad = good;
    bad.type = WF_TYPE_I8;
    assert_int_equal(wf_stencil_plan(device, &bad, &plan), WF_ERROR_UNSUPPORTED);
    bad = good;
    const wf_constant rows = {"rows", 2};
    const wf_tuning tuning = {
        .size = sizeof tuning, .variant = "time", .constants = &rows, .constant_count = 1};
    bad.tuning = &tuning;
    assert_int_equal(wf_stencil_plan(device, &bad, &plan), WF_ERROR_CONSTRAINT);
    bad = good;
    bad.border = WF_BORDER_PERIODIC;
    device->caps.max_storage_range = 64; /* less than three rows */
    assert_int_equal(wf_stencil_plan(device, &bad, &plan), WF_ERROR_TOO_LARGE);
    device->caps = caps;
    coefficients[1] = (double)NAN;
    assert_int_equal(wf_stencil_plan(device, &good, &plan), WF_ERROR_INVALID_ARGUMENT);
    coefficients[1] = 1e39; /* infinite in f32 */
    assert_int_equal(wf_stencil_plan(device, &good, &plan), WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
    assert_null(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant_is_right),
        cmocka_unit_test(drawn_problems_are_right),
        cmocka_unit_test(every_candidate_is_right),
        cmocka_unit_test(tiles_of_boxes_are_right),
        cmocka_unit_test(steps_a_pass_change_nothing),
        cmocka_unit_test(steps_of_all_types_change_nothing),
        cmocka_unit_test(goes_through_windows),
        cmocka_unit_test(planning_touches_no_queue),
        cmocka_unit_test(check_finds_errors),
        cmocka_unit_test(refuses_bad_requests),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
