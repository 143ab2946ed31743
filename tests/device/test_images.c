/* Stencils from one storage image to another, as an application's frame has them: all formats, two
 * and three dimensions, borders, sizes that change, against a reference in f64 with the bound of
 * the format's rounding. What lies around the grid stays as it was. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "harness.h"
#include "texture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { NX = 21, NY = 17, NZ = 9, AROUND = 3, MOST_TAPS = 125 };

typedef struct host {
    engine e;
    wf_device *device;
    wf_arena *arena;
    const texture_format *format;
    VkExtent3D extent; /* the images' size, larger than the grid */
    texture in, out;
    wf_stencil_params params;
    double taps[MOST_TAPS];
    wf_plan *plan;
    uint32_t size[3]; /* of the recording */
    test_random random;
} host;

/* --------------------------------------------------------------------------------------- texels */

static uint64_t place(const host *h, uint32_t x, uint32_t y, uint32_t z, uint32_t component)
{
    const uint64_t texel = ((uint64_t)z * h->extent.height + y) * h->extent.width + x;
    return texel * h->format->components + component;
}

static bool is_poison(const host *h, const texture *t, uint64_t at)
{
    const unsigned char *data = wf_buffer_mapped(t->host);
    for (uint32_t i = 0; i < h->format->bytes; i++)
        if (data[at * h->format->bytes + i] != 255)
            return false;
    return true;
}

/* A texel's components, among them 0, 1 and values that the format clamps. */
static void draw(host *h)
{
    memset(wf_buffer_mapped(h->in.host), 255, wf_buffer_size(h->in.host));
    memset(wf_buffer_mapped(h->out.host), 255, wf_buffer_size(h->out.host));
    for (uint32_t z = 0; z < (h->size[2] ? h->size[2] : 1); z++)
        for (uint32_t y = 0; y < h->size[1]; y++)
            for (uint32_t x = 0; x < h->size[0]; x++)
                for (uint32_t c = 0; c < h->format->components; c++)
                    texture_set(&h->in, place(h, x, y, z, c), test_random_uniform(&h->random));
}

/* ------------------------------------------------------------------------------------ reference */

static int64_t bordered(wf_border border, int64_t at, int64_t n)
{
    if (border == WF_BORDER_PERIODIC)
        return ((at % n) + n) % n;
    return at < 0 ? -1 - at : at >= n ? 2 * n - 1 - at : at;
}

typedef struct sums {
    double value, magnitude;
    uint32_t terms;
} sums;

static void add(const host *h, sums *s, int tap, const int64_t at[3], uint32_t c)
{
    const int64_t depth = h->params.nz ? h->size[2] : 1;
    const wf_border border = h->params.border;
    const double term =
        (double)(float)h->taps[tap] *
        texture_get(&h->in, place(h, (uint32_t)bordered(border, at[0], h->size[0]),
                                  (uint32_t)bordered(border, at[1], h->size[1]),
                                  (uint32_t)(depth > 1 ? bordered(border, at[2], depth) : 0), c));
    s->value += term;
    s->magnitude += fabs(term);
    s->terms++;
}

static sums sum_at(const host *h, const int64_t at[3], uint32_t c)
{
    const wf_stencil_params *p = &h->params;
    const int64_t r = p->radius, deep = p->nz ? r : 0;
    const int axes = p->nz ? 3 : 2;
    sums s = {0};
    int tap = 0;
    if (p->shape == WF_STENCIL_STAR) {
        add(h, &s, tap++, at, c);
        for (int axis = 0; axis < axes; axis++)
            for (int64_t d = 1; d <= r; d++)
                for (int side = -1; side <= 1; side += 2) {
                    int64_t to[3] = {at[0], at[1], at[2]};
                    to[axis] += side * d;
                    add(h, &s, tap++, to, c);
                }
        return s;
    }
    for (int64_t dz = -deep; dz <= deep; dz++)
        for (int64_t dy = -r; dy <= r; dy++)
            for (int64_t dx = -r; dx <= r; dx++) {
                const int64_t to[3] = {at[0] + dx, at[1] + dy, at[2] + dz};
                add(h, &s, tap++, to, c);
            }
    return s;
}

static bool is_fixed(const host *h, const int64_t at[3])
{
    for (int axis = 0; axis < (h->params.nz ? 3 : 2); axis++)
        if (at[axis] < h->params.radius || at[axis] >= (int64_t)h->size[axis] - h->params.radius)
            return h->params.border == WF_BORDER_DIRICHLET;
    return false;
}

static void expect_component(const host *h, const int64_t at[3], uint32_t c)
{
    const uint64_t where = place(h, (uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2], c);
    const double found = texture_get(&h->out, where);
    if (is_fixed(h, at)) {
        assert_true(found == texture_get(&h->in, where));
        return;
    }
    const sums s = sum_at(h, at, c);
    const double computed = 2.0 * s.terms * 0x1p-24 * s.magnitude;
    double wanted = s.value, rounding = 0;
    if (h->format->bytes == 2) /* to nearest or towards zero */
        rounding = 0x1p-10 * fabs(s.value) + 0x1p-24;
    if (h->format->bytes == 1) {
        wanted = fmin(fmax(wanted, 0), 1);
        rounding = 0.6 / 255;
    }
    if (!(fabs(found - wanted) <= computed + rounding))
        fail_msg("(%d, %d, %d) component %u is %g, not %g", (int)at[0], (int)at[1], (int)at[2], c,
                 found, wanted);
}

static void expect_image(const host *h)
{
    for (int64_t z = 0; z < h->extent.depth; z++)
        for (int64_t y = 0; y < h->extent.height; y++)
            for (int64_t x = 0; x < h->extent.width; x++)
                for (uint32_t c = 0; c < h->format->components; c++) {
                    const int64_t at[3] = {x, y, z};
                    if (x < h->size[0] && y < h->size[1] && z < (h->size[2] ? h->size[2] : 1))
                        expect_component(h, at, c);
                    else
                        assert_true(is_poison(h, &h->out,
                                              place(h, (uint32_t)x, (uint32_t)y, (uint32_t)z, c)));
                }
}

/* ----------------------------------------------------------------------------------------- runs */

static void open_host(host *h, engine_features features)
{
    wf_vulkan vulkan;
    *h = (host){.random = {test_seed()}};
    engine_open(&h->e, features, &vulkan);
    vulkan.queue = VK_NULL_HANDLE;
    h->device = engine_adopt(&vulkan);
    assert_int_equal(wf_arena_create(h->device, &h->arena), WF_SUCCESS);
    for (int i = 0; i < MOST_TAPS; i++)
        h->taps[i] = test_random_uniform(&h->random) / 4;
}

static void close_host(host *h)
{
    wf_arena_destroy(&h->arena);
    wf_device_destroy(&h->device);
    engine_close(&h->e);
}

static wf_stencil_params params_of(const host *h, const texture_format *f, uint32_t n)
{
    return (wf_stencil_params){.size = sizeof(wf_stencil_params),
                               .nx = NX,
                               .ny = NY,
                               .nz = n % 2 ? NZ : 0,
                               .radius = 1 + n / 2 % 2,
                               .shape = n % 3 == 1 ? WF_STENCIL_BOX : WF_STENCIL_STAR,
                               .border = (wf_border)(n % 3),
                               .coefficients = h->taps,
                               .image = f->image,
                               .vary_x = 1,
                               .vary_y = 1,
                               .vary_z = n % 2};
}

static void execute(host *h)
{
    wf_bindings bindings = {
        .size = sizeof bindings,
        .extent = {h->size[0], h->size[1], h->size[2]},
        .images = {[WF_STENCIL_IN] = h->in.view, [WF_STENCIL_OUT] = h->out.view}};
    VkCommandBuffer commands = engine_begin(&h->e);
    texture *const both[2] = {&h->in, &h->out};
    for (int i = 0; i < 2; i++) {
        texture_record_upload(&h->e, commands, both[i]);
    }
    assert_int_equal(wf_plan_record(h->plan, commands, h->arena, &bindings), WF_SUCCESS);
    texture_record_download(&h->e, commands, &h->out);
    engine_finish(&h->e, commands);
    assert_int_equal(wf_arena_reset(h->arena), WF_SUCCESS);
}

static void run_case(host *h, const texture_format *f, uint32_t n)
{
    const bool solid = n % 2;
    h->format = f;
    h->params = params_of(h, f, n);
    h->extent = (VkExtent3D){NX + AROUND, NY + AROUND, solid ? NZ + AROUND : 1};
    test_expect_errors(true);
    const wf_result result = wf_stencil_plan(h->device, &h->params, &h->plan);
    test_expect_errors(false);
    if (f->image == WF_IMAGE_R16F && !wf_device_caps(h->device)->extended_images) {
        assert_int_equal(result, WF_ERROR_UNSUPPORTED);
        if (wf_device_caps(h->device)->withheld & WF_WITHHELD_EXTENDED_IMAGES)
            assert_non_null(strstr(test_last_error(), "shaderStorageImageExtendedFormats"));
        return;
    }
    assert_int_equal(result, WF_SUCCESS);
    texture_make(&h->e, h->device, f, h->extent, &h->in);
    texture_make(&h->e, h->device, f, h->extent, &h->out);
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t sizes[3] = {i ? NX - 4 : NX, i ? NY - 1 : NY, solid ? NZ - 2 * i : 0};
        memcpy(h->size, sizes, sizeof sizes);
        draw(h);
        execute(h);
        expect_image(h);
    }
    texture_destroy(&h->e, &h->in);
    texture_destroy(&h->e, &h->out);
    wf_plan_destroy(&h->plan);
}

static void run(engine_features features, uint32_t cases)
{
    host h;
    open_host(&h, features);
    for (size_t f = 0; f < TEXTURE_FORMATS; f++)
        for (uint32_t n = 0; n < cases; n++)
            run_case(&h, &texture_formats[f], n);
    close_host(&h);
}

static void test_formats(void **state)
{
    (void)state;
    run(ENGINE_REQUIRED, 6);
}

static void test_formats_without_features(void **state)
{
    (void)state;
    run(ENGINE_NOTHING, 2);
}

static void expect_refused(host *h, const wf_bindings *bindings, const char *text)
{
    VkCommandBuffer commands = engine_begin(&h->e);
    test_last_error();
    test_expect_errors(true);
    assert_int_equal(wf_plan_record(h->plan, commands, h->arena, bindings), WF_ERROR_BINDING);
    test_expect_errors(false);
    assert_non_null(strstr(test_last_error(), text));
    engine_finish(&h->e, commands);
}

static void test_refusals(void **state)
{
    (void)state;
    host h;
    wf_plan *plan = NULL;
    open_host(&h, ENGINE_REQUIRED);
    h.format = &texture_formats[0];
    h.extent = (VkExtent3D){NX, NY, 1};
    wf_stencil_params params = params_of(&h, h.format, 0);
    texture_make(&h.e, h.device, h.format, h.extent, &h.in);
    assert_int_equal(wf_stencil_plan(h.device, &params, &h.plan), WF_SUCCESS);
    wf_bindings bindings = {.size = sizeof bindings, .images = {h.in.view}};
    expect_refused(&h, &bindings, "binding out is a storage image");
    bindings.images[WF_STENCIL_OUT] = h.in.view;
    expect_refused(&h, &bindings, "bindings in and out overlap");
    wf_plan_destroy(&h.plan);
    params.image = WF_IMAGE_NONE;
    assert_int_equal(wf_stencil_plan(h.device, &params, &h.plan), WF_SUCCESS);
    bindings.items[WF_STENCIL_IN].buffer = bindings.items[WF_STENCIL_OUT].buffer = h.in.host;
    expect_refused(&h, &bindings, "binding in is a buffer, but");
    wf_plan_destroy(&h.plan);
    test_expect_errors(true);
    params.image = WF_IMAGE_RGBA8;
    params.steps = 2;
    assert_int_equal(wf_stencil_plan(h.device, &params, &plan), WF_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(test_last_error(), "record the plan again"));
    test_expect_errors(false);
    texture_destroy(&h.e, &h.in);
    close_host(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_formats_without_features),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
