/* Products whose operands, bias and result are storage images, in all formats and in f32 and f16,
 * against sums in f64 with the bound of the type's and the format's rounding: whole sizes, sizes
 * that change, several dispatches, stored transposed, added to C. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "harness.h"
#include "texture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { M = 19, N = 23, K = 13, MOST = 32 };

typedef struct host {
    engine e;
    wf_device *device;
    wf_arena *arena;
    test_random random;
    wf_matmul_params params;
    const texture_format *formats[WF_MATMUL_BINDINGS]; /* NULL: a buffer */
    texture textures[WF_MATMUL_BINDINGS];
    wf_buffer *buffers[WF_MATMUL_BINDINGS], *workspace;
    uint32_t widths[WF_MATMUL_BINDINGS], heights[WF_MATMUL_BINDINGS]; /* of the matrices, largest */
    double values[WF_MATMUL_BINDINGS][MOST * MOST];                   /* before, rows of MOST */
    uint32_t m, n, k;                                                 /* of the recording */
    wf_plan *plan;
} host;

static void open_host(host *h)
{
    wf_vulkan vulkan;
    *h = (host){.random = {test_seed()}};
    engine_open(&h->e, ENGINE_REQUIRED, &vulkan);
    vulkan.queue = VK_NULL_HANDLE;
    h->device = engine_adopt(&vulkan);
    assert_int_equal(wf_arena_create(h->device, &h->arena), WF_SUCCESS);
}

static void close_host(host *h)
{
    wf_arena_destroy(&h->arena);
    wf_device_destroy(&h->device);
    engine_close(&h->e);
}

/* The type of a binding's elements where it is a buffer. */
static wf_type type_of(const host *h, int binding)
{
    const bool sums = binding == WF_MATMUL_BIAS ||
                      (binding == WF_MATMUL_C && h->params.output == WF_MATMUL_OUTPUT_SUMS);
    return sums ? WF_TYPE_F32 : h->params.type;
}

/* Where element (row, column) of a binding is in its buffer or among its texture's components. */
static uint64_t place(const host *h, int binding, uint32_t row, uint32_t column)
{
    const texture *t = &h->textures[binding];
    return h->formats[binding] ? (uint64_t)row * t->extent.width * t->format->components + column
                               : (uint64_t)row * h->widths[binding] + column;
}

static double get(const host *h, int binding, uint32_t row, uint32_t column)
{
    const uint64_t at = place(h, binding, row, column);
    return h->formats[binding]
               ? texture_get(&h->textures[binding], at)
               : wf_element_get(type_of(h, binding), wf_buffer_mapped(h->buffers[binding]), at);
}

static void set(host *h, int binding, uint32_t row, uint32_t column, double value)
{
    const uint64_t at = place(h, binding, row, column);
    if (h->formats[binding])
        texture_set(&h->textures[binding], at, value);
    else
        wf_element_set(type_of(h, binding), wf_buffer_mapped(h->buffers[binding]), at, value);
    h->values[binding][row * MOST + column] = get(h, binding, row, column);
}

static void make_bindings(host *h)
{
    const wf_matmul_params *p = &h->params;
    const uint32_t sizes[WF_MATMUL_BINDINGS][2] = {{p->transpose_a ? M : K, p->transpose_a ? K : M},
                                                   {p->transpose_b ? K : N, p->transpose_b ? N : K},
                                                   {N, M},
                                                   {N, 1}};
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++) {
        const texture_format *f = h->formats[i];
        h->widths[i] = sizes[i][0];
        h->heights[i] = sizes[i][1];
        if (f) /* larger than the matrix */
            texture_make(&h->e, h->device, f,
                         (VkExtent3D){(sizes[i][0] + f->components - 1) / f->components + 1,
                                      sizes[i][1] + 1, 1},
                         &h->textures[i]);
        else
            assert_int_equal(
                wf_buffer_create(h->device,
                                 (uint64_t)sizes[i][0] * sizes[i][1] * wf_type_size(type_of(h, i)),
                                 WF_MEMORY_UPLOAD, &h->buffers[i]),
                WF_SUCCESS);
    }
    const uint64_t bytes = wf_plan_workspace(h->plan);
    assert_int_equal(
        wf_buffer_create(h->device, bytes ? bytes : 4, WF_MEMORY_DEVICE, &h->workspace),
        WF_SUCCESS);
}

static void destroy_bindings(host *h)
{
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++)
        if (h->formats[i])
            texture_destroy(&h->e, &h->textures[i]);
        else
            wf_buffer_destroy(&h->buffers[i]);
    wf_buffer_destroy(&h->workspace);
    wf_plan_destroy(&h->plan);
}

/* Multiples of 1/64, which all but RGBA8 hold. */
static void draw(host *h)
{
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++) {
        if (h->formats[i])
            memset(wf_buffer_mapped(h->textures[i].host), 255, wf_buffer_size(h->textures[i].host));
        for (uint32_t row = 0; row < h->heights[i]; row++)
            for (uint32_t column = 0; column < h->widths[i]; column++)
                set(h, i, row, column, floor(test_random_uniform(&h->random) * 32) / 64);
    }
}

static void execute(host *h)
{
    wf_bindings bindings = {.size = sizeof bindings, .workspace = {.buffer = h->workspace}};
    VkCommandBuffer commands = engine_begin(&h->e);
    if (wf_plan_needs_upload(h->plan))
        assert_int_equal(wf_plan_record_upload(h->plan, commands), WF_SUCCESS);
    if (h->params.vary_m) {
        const uint64_t extent[3] = {h->m, h->n, h->k};
        memcpy(bindings.extent, extent, sizeof extent);
    }
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++)
        if (h->formats[i]) {
            texture_record_upload(&h->e, commands, &h->textures[i]);
            bindings.images[i] = h->textures[i].view;
        } else {
            bindings.items[i].buffer = h->buffers[i];
        }
    assert_int_equal(wf_plan_record(h->plan, commands, h->arena, &bindings), WF_SUCCESS);
    if (h->formats[WF_MATMUL_C])
        texture_record_download(&h->e, commands, &h->textures[WF_MATMUL_C]);
    engine_finish(&h->e, commands);
    assert_int_equal(wf_arena_reset(h->arena), WF_SUCCESS);
}

static double value(const host *h, int binding, bool transposed, uint32_t row, uint32_t column)
{
    return h->values[binding][transposed ? column * MOST + row : row * MOST + column];
}

static void expect_element(const host *h, uint32_t row, uint32_t column)
{
    const wf_matmul_params *p = &h->params;
    const texture_format *f = h->formats[WF_MATMUL_C];
    double sum = p->beta * value(h, WF_MATMUL_C, false, row, column), magnitude = fabs(sum);
    for (uint32_t k = 0; k < h->k; k++) {
        const double term = value(h, WF_MATMUL_A, p->transpose_a, row, k) *
                            value(h, WF_MATMUL_B, p->transpose_b, k, column);
        sum += term;
        magnitude += fabs(term);
    }
    if (p->bias) {
        sum += value(h, WF_MATMUL_BIAS, false, 0, column);
        magnitude += fabs(value(h, WF_MATMUL_BIAS, false, 0, column));
    }
    double bound = 2.0 * (h->k + 3) * 0x1p-24 * magnitude;
    if (type_of(h, WF_MATMUL_C) == WF_TYPE_F16)
        bound += 0x1p-11 * fabs(sum) + 0x1p-24;
    if (f && f->bytes == 1 && p->type == WF_TYPE_F16) /* n/255, rounded as it is loaded */
        bound += 0x1p-9 * magnitude;
    if (f && f->bytes == 2) /* to nearest or towards zero */
        bound += 0x1p-10 * fabs(sum) + 0x1p-24;
    if (f && f->bytes == 1) {
        sum = fmin(fmax(sum, 0), 1);
        bound += 0.6 / 255;
    }
    const double found = get(h, WF_MATMUL_C, row, column);
    if (!(fabs(found - sum) <= bound))
        fail_msg("(%u, %u) of %u x %u x %u is %g, not %g", row, column, h->m, h->n, h->k, found,
                 sum);
}

static void expect_result(const host *h)
{
    const texture *c = &h->textures[WF_MATMUL_C];
    for (uint32_t row = 0; row < h->m; row++)
        for (uint32_t column = 0; column < h->n; column++)
            expect_element(h, row, column);
    if (!h->formats[WF_MATMUL_C])
        return;
    /* The last texel is filled with 0, and what lies behind it stays. */
    const uint32_t components = c->format->components, stride = c->extent.width * components,
                   end = (h->n + components - 1) / components * components;
    for (uint32_t row = 0; row < h->m; row++)
        for (uint32_t column = h->n; column < end; column++)
            assert_true(texture_get(c, (uint64_t)row * stride + column) == 0);
    const unsigned char *bytes = wf_buffer_mapped(c->host);
    for (uint32_t row = h->m; row < c->extent.height; row++)
        if (row >= h->heights[WF_MATMUL_C])
            for (uint32_t i = 0; i < stride * c->format->bytes; i++)
                assert_int_equal(bytes[(uint64_t)row * stride * c->format->bytes + i], 255);
}

static void run_case(host *h)
{
    h->m = M;
    h->n = N;
    h->k = K;
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++) {
        wf_image *const images[] = {&h->params.image_a, &h->params.image_b, &h->params.image_c,
                                    &h->params.image_bias};
        *images[i] = h->formats[i] ? h->formats[i]->image : WF_IMAGE_NONE;
    }
    assert_int_equal(wf_matmul_plan(h->device, &h->params, &h->plan), WF_SUCCESS);
    make_bindings(h);
    draw(h);
    execute(h);
    expect_result(h);
    if (h->params.vary_m) {
        h->m = 7;
        h->n = 10;
        h->k = 3;
        draw(h);
        execute(h);
        expect_result(h);
    }
    destroy_bindings(h);
}

static bool runs(const host *h, const texture_format *format, wf_type type)
{
    return test_has_type(h->device, type) &&
           (format->image != WF_IMAGE_R16F || wf_device_caps(h->device)->extended_images);
}

/* What a case has as images, and what else differs. */
typedef struct kind {
    bool a, b, bias, transpose_a, transpose_b, adds, sums, varies;
} kind;

static const kind kinds[] = {{.adds = true, .transpose_b = true},
                             {.a = true, .bias = true, .varies = true},
                             {.a = true, .b = true, .transpose_a = true, .sums = true}};

static void test_formats(void **state)
{
    (void)state;
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F16};
    host h;
    unsigned cases = 0;
    open_host(&h);
    for (int t = 0; t < 2; t++)
        for (uint32_t f = 0; f < TEXTURE_FORMATS; f++)
            for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
                const kind *k = &kinds[i];
                const texture_format *format = &texture_formats[f];
                const uint32_t unit = k->varies;
                if (!runs(&h, format, types[t]))
                    continue;
                h.params = (wf_matmul_params){.size = sizeof h.params,
                                              .m = M,
                                              .n = N,
                                              .k = K,
                                              .type = types[t],
                                              .transpose_a = k->transpose_a,
                                              .transpose_b = k->transpose_b,
                                              .beta = k->adds ? 0.5 : 0,
                                              .bias = true,
                                              .output = k->sums ? WF_MATMUL_OUTPUT_SUMS
                                                                : WF_MATMUL_OUTPUT_TYPE,
                                              .vary_m = unit,
                                              .vary_n = unit,
                                              .vary_k = unit};
                h.formats[WF_MATMUL_A] = k->a ? format : NULL;
                h.formats[WF_MATMUL_B] = k->b ? format : NULL;
                h.formats[WF_MATMUL_C] = format;
                h.formats[WF_MATMUL_BIAS] = k->bias ? format : NULL;
                run_case(&h);
                cases++;
            }
    print_message("%u products\n", cases);
    assert_true(cases >= 9);
    close_host(&h);
}

/* Products of several dispatches: partial sums that a reduction adds, and packed copies. */
static void test_several_dispatches(void **state)
{
    (void)state;
    static const wf_constant splits[] = {{"split_k", 4}}, packs[] = {{"pack", 3}};
    static const wf_tuning tunings[] = {
        {sizeof(wf_tuning), "vector", splits, 1, false, 0},
        {sizeof(wf_tuning), "vector", packs, 1, false, 0},
    };
    host h;
    open_host(&h);
    for (int i = 0; i < 2; i++) {
        h.params = (wf_matmul_params){.size = sizeof h.params,
                                      .m = M,
                                      .n = N,
                                      .k = K,
                                      .bias = true,
                                      .beta = 0.25,
                                      .tuning = &tunings[i]};
        for (int b = 0; b < WF_MATMUL_BINDINGS; b++)
            h.formats[b] = &texture_formats[b % 2 * 2];
        run_case(&h);
    }
    close_host(&h);
}

static void test_refusals(void **state)
{
    (void)state;
    host h;
    open_host(&h);
    uint64_t bytes[WF_MATMUL_BINDINGS];
    wf_matmul_params p = {
        .size = sizeof p, .m = M, .n = N, .k = K, .image_c = WF_IMAGE_RGBA16F, .bias = true};
    assert_int_equal(wf_matmul_bytes(&p, bytes), WF_SUCCESS);
    assert_true(bytes[WF_MATMUL_A] == M * K * 4 && bytes[WF_MATMUL_C] == 0);
    test_expect_errors(true);
    p.batch = 2;
    assert_int_equal(wf_matmul_plan(h.device, &p, &h.plan), WF_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(test_last_error(), "batch 1"));
    p.batch = 0;
    p.ldc = N + 1;
    assert_int_equal(wf_matmul_plan(h.device, &p, &h.plan), WF_ERROR_INVALID_ARGUMENT);
    p.ldc = 0;
    p.type = WF_TYPE_F64;
    assert_int_equal(wf_matmul_plan(h.device, &p, &h.plan), WF_ERROR_INVALID_ARGUMENT);
    p.type = WF_TYPE_F32;
    p.image_a = (wf_image)(WF_IMAGE_RGBA8 + 1);
    assert_int_equal(wf_matmul_plan(h.device, &p, &h.plan), WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
    close_host(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_several_dispatches),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
