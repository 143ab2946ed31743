/* Plans that are made for a largest size and recorded with smaller ones: every variant, and a frame
 * loop that draws its sizes. Inputs are whole numbers so small that every sum is exact in any
 * order: results must equal a reference in f64. Whatever lies around them is NaN before and
 * after. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define FUNCTION(e, name) ((PFN_##name)engine_function((e), #name))

/* ------------------------------------------------------------------------- allocations counted */

static bool counting;
static unsigned allocations; /* of the library, while it records */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    allocations += counting;
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    allocations += counting;
    return __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    allocations += counting;
    return __real_realloc(old, bytes);
}

/* --------------------------------------------------------------------------------------- arrays */

static double small_number(test_random *random)
{
    return (double)((int)test_random_below(random, 5) - 2);
}

/* A size up to `most`, a multiple of the unit that is at least `least`. */
static uint64_t draw(test_random *random, uint64_t most, uint32_t unit, uint32_t least)
{
    const uint32_t first = (least + unit - 1) / unit, last = (uint32_t)(most / unit);
    return (uint64_t)unit * (first + test_random_below(random, last - first + 1));
}

/* A buffer that the host sees, all NaN. */
typedef struct array {
    wf_buffer *buffer;
    wf_type type;
    uint64_t elements;
} array;

static void poison(const array *a)
{
    memset(wf_buffer_mapped(a->buffer), 0xff, a->elements * wf_type_size(a->type));
}

static array make_array(wf_device *device, wf_type type, uint64_t elements)
{
    array a = {NULL, type, elements};
    assert_int_equal(
        wf_buffer_create(device, elements * wf_type_size(type), WF_MEMORY_UPLOAD, &a.buffer),
        WF_SUCCESS);
    poison(&a);
    return a;
}

static double get(const array *a, uint64_t at)
{
    return wf_element_get(a->type, wf_buffer_mapped(a->buffer), at);
}

static void set(const array *a, uint64_t at, double value)
{
    wf_element_set(a->type, wf_buffer_mapped(a->buffer), at, value);
}

static bool is_poison(const array *a, uint64_t at)
{
    static const unsigned char poisoned[8] = {255, 255, 255, 255, 255, 255, 255, 255};
    const size_t size = wf_type_size(a->type);
    return memcmp((const char *)wf_buffer_mapped(a->buffer) + at * size, poisoned, size) == 0;
}

/* ------------------------------------------------------------------------------------- products */

enum { M = 72, N = 56, K = 88, BATCH = 3 };

typedef struct product {
    wf_matmul_params params;
    wf_plan *plan;
    array arrays[WF_MATMUL_BINDINGS];
    uint64_t extent[4];
    double *before; /* C, where beta is not 0 */
} product;

static uint64_t ld_of(const product *p, int matrix)
{
    const wf_matmul_params *q = &p->params;
    return matrix == 0                     ? (q->transpose_a ? q->m : q->k)
           : matrix == 1 && q->transpose_b ? q->k
                                           : q->n;
}

static uint64_t stride_of(const product *p, int matrix)
{
    const wf_matmul_params *q = &p->params;
    return ld_of(p, matrix) * (matrix == 0   ? (q->transpose_a ? q->k : q->m)
                               : matrix == 1 ? (q->transpose_b ? q->n : q->k)
                                             : q->m);
}

static uint64_t at(const product *p, int matrix, uint64_t z, uint64_t row, uint64_t column)
{
    const bool transposed = matrix == 0   ? p->params.transpose_a
                            : matrix == 1 ? p->params.transpose_b
                                          : false;
    return z * stride_of(p, matrix) + (transposed ? column : row) * ld_of(p, matrix) +
           (transposed ? row : column);
}

static void open_product(product *p, wf_device *device, const wf_matmul_params *params)
{
    *p = (product){.params = *params};
    const wf_type type = params->type, sums = type == WF_TYPE_F64 ? WF_TYPE_F64 : WF_TYPE_F32;
    const uint64_t batch = params->batch ? params->batch : 1;
    assert_int_equal(wf_matmul_plan(device, params, &p->plan), WF_SUCCESS);
    for (int i = 0; i < 3; i++)
        p->arrays[i] = make_array(device, i == 2 ? sums : type, batch * stride_of(p, i));
    p->arrays[3] = make_array(device, sums, params->n);
    p->before = calloc(p->arrays[2].elements, sizeof *p->before);
    assert_non_null(p->before);
}

static void close_product(product *p)
{
    wf_plan_destroy(&p->plan);
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++)
        wf_buffer_destroy(&p->arrays[i].buffer);
    free(p->before);
}

static void fill_matrix(const product *p, int matrix, uint64_t rows, uint64_t columns,
                        test_random *random)
{
    poison(&p->arrays[matrix]);
    for (uint64_t z = 0; z < p->extent[3]; z++)
        for (uint64_t i = 0; i < rows; i++)
            for (uint64_t j = 0; j < columns; j++)
                set(&p->arrays[matrix], at(p, matrix, z, i, j), small_number(random));
}

static wf_bindings draw_product(product *p, test_random *random)
{
    const wf_matmul_params *q = &p->params;
    const uint64_t most[4] = {q->m, q->n, q->k, q->batch ? q->batch : 1};
    const uint32_t units[4] = {q->vary_m, q->vary_n, q->vary_k, q->vary_batch};
    wf_bindings bindings = {.size = sizeof bindings};
    for (int i = 0; i < 4; i++) {
        p->extent[i] = units[i] ? draw(random, most[i], units[i], 1) : most[i];
        bindings.extent[i] = p->extent[i];
        bindings.items[i].buffer = p->arrays[i].buffer;
    }
    fill_matrix(p, 0, p->extent[0], p->extent[2], random);
    fill_matrix(p, 1, p->extent[2], p->extent[1], random);
    poison(&p->arrays[2]);
    if (isgreater(fabs(q->beta), 0)) {
        fill_matrix(p, 2, p->extent[0], p->extent[1], random);
        for (uint64_t i = 0; i < p->arrays[2].elements; i++)
            p->before[i] = get(&p->arrays[2], i);
    }
    poison(&p->arrays[3]);
    for (uint64_t j = 0; j < p->extent[1]; j++)
        set(&p->arrays[3], j, small_number(random));
    return bindings;
}

static void expect_product(const product *p)
{
    const wf_matmul_params *q = &p->params;
    const uint64_t batch = q->batch ? q->batch : 1;
    for (uint64_t z = 0; z < batch; z++)
        for (uint64_t i = 0; i < q->m; i++)
            for (uint64_t j = 0; j < q->n; j++) {
                const uint64_t c = at(p, 2, z, i, j);
                if (z >= p->extent[3] || i >= p->extent[0] || j >= p->extent[1]) {
                    assert_true(is_poison(&p->arrays[2], c));
                    continue;
                }
                double sum = isgreater(fabs(q->beta), 0) ? q->beta * p->before[c] : 0;
                for (uint64_t k = 0; k < p->extent[2]; k++)
                    sum += get(&p->arrays[0], at(p, 0, z, i, k)) *
                           get(&p->arrays[1], at(p, 1, z, k, j));
                sum += q->bias ? get(&p->arrays[3], j) : 0;
                assert_true(get(&p->arrays[2], c) == sum);
            }
}

static void run_product(wf_device *device, const wf_matmul_params *params, int executions,
                        test_random *random)
{
    product p;
    open_product(&p, device, params);
    for (int i = 0; i < executions; i++) {
        const wf_bindings bindings = draw_product(&p, random);
        assert_int_equal(wf_plan_run(p.plan, &bindings), WF_SUCCESS);
        expect_product(&p);
    }
    close_product(&p);
}

static bool is_refused(wf_device *device, const wf_matmul_params *params)
{
    wf_plan *plan = NULL;
    test_expect_errors(true);
    const wf_result result = wf_matmul_plan(device, params, &plan);
    test_expect_errors(false);
    test_last_error();
    wf_plan_destroy(&plan);
    /* One of a dispatch for each output is TOO_LARGE. */
    return result == WF_ERROR_CONSTRAINT || result == WF_ERROR_UNSUPPORTED ||
           result == WF_ERROR_TOO_LARGE;
}

static void test_every_variant_of_products(void **state)
{
    wf_device *device = *state;
    test_random random = {test_seed()};
    uint32_t ran = 0;
    for (uint32_t i = 0; i < wf_family_variant_count(WF_FAMILY_MATMUL); i++) {
        wf_variant_info info;
        assert_int_equal(wf_family_variant(WF_FAMILY_MATMUL, i, &info), WF_SUCCESS);
        const wf_constant split = {"split_k", 3};
        bool has_split = false;
        for (uint32_t n = 0; n < info.parameter_count; n++)
            has_split |= strcmp(info.parameters[n].name, "split_k") == 0;
        const wf_tuning tuning = {.size = sizeof tuning,
                                  .variant = info.name,
                                  .constants = &split,
                                  .constant_count = has_split && i % 2};
        const bool thin = strcmp(info.name, "matvec") == 0 || strcmp(info.name, "panel") == 0;
        const bool f32 = info.types & 1u << WF_TYPE_F32;
        for (uint32_t unit = 1; unit <= 8; unit *= 8) {
            const wf_matmul_params params = {.size = sizeof params,
                                             .m = thin && unit == 1 ? 7 : M,
                                             .n = thin && unit > 1 ? 8 : N,
                                             .k = K,
                                             .batch = unit == 1 ? BATCH : 0,
                                             .type = f32 ? WF_TYPE_F32 : WF_TYPE_F16,
                                             .output = WF_MATMUL_OUTPUT_SUMS,
                                             .tuning = &tuning,
                                             .transpose_a = (i + unit) % 2,
                                             .transpose_b = unit == 1,
                                             .beta = unit == 1 ? 2 : 0,
                                             .bias = unit > 1,
                                             .vary_m = unit,
                                             .vary_n = unit,
                                             .vary_k = unit,
                                             .vary_batch = unit == 1};
            if (is_refused(device, &params))
                continue;
            run_product(device, &params, 4, &random);
            ran++;
        }
    }
    assert_true(ran >= 10);
}

static void test_types_of_products(void **state)
{
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F64, WF_TYPE_F16};
    wf_device *device = *state;
    test_random random = {test_seed()};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (uint32_t rows = 0; rows < 2; rows++) {
            const wf_matmul_params params = {.size = sizeof params,
                                             .m = M,
                                             .n = N,
                                             .k = K,
                                             .type = types[i],
                                             .output = WF_MATMUL_OUTPUT_SUMS,
                                             .vary_m = 1,
                                             .vary_n = rows ? 0 : 1,
                                             .vary_k = rows ? 0 : 1};
            if (!is_refused(device, &params))
                run_product(device, &params, 4, &random);
        }
}

/* ------------------------------------------------------------------------------------- stencils */

enum { MOST_TAPS = 125 };

typedef struct grid {
    wf_stencil_params params;
    double taps[MOST_TAPS];
    wf_plan *plan;
    array in, out;
    wf_buffer *workspace;
    uint64_t extent[4];
    double *cells[2]; /* of the reference */
} grid;

static uint64_t cell(const grid *g, uint64_t x, uint64_t y, uint64_t z)
{
    return (z * g->params.ny + y) * g->params.row_stride + x;
}

static void open_grid(grid *g, wf_device *device, const wf_stencil_params *params,
                      test_random *random)
{
    *g = (grid){.params = *params};
    const uint64_t elements =
        (uint64_t)params->row_stride * params->ny * (params->nz ? params->nz : 1);
    for (int i = 0; i < MOST_TAPS; i++)
        g->taps[i] = small_number(random);
    g->params.coefficients = g->taps;
    assert_int_equal(wf_stencil_plan(device, &g->params, &g->plan), WF_SUCCESS);
    g->in = make_array(device, params->type, elements);
    g->out = make_array(device, params->type, elements);
    const uint64_t workspace = wf_plan_workspace(g->plan);
    if (workspace)
        assert_int_equal(wf_buffer_create(device, workspace, WF_MEMORY_UPLOAD, &g->workspace),
                         WF_SUCCESS);
    for (int i = 0; i < 2; i++) {
        g->cells[i] = calloc(elements, sizeof(double));
        assert_non_null(g->cells[i]);
    }
}

static void close_grid(grid *g)
{
    wf_plan_destroy(&g->plan);
    wf_buffer_destroy(&g->in.buffer);
    wf_buffer_destroy(&g->out.buffer);
    wf_buffer_destroy(&g->workspace);
    free(g->cells[0]);
    free(g->cells[1]);
}

static wf_bindings draw_grid(grid *g, test_random *random)
{
    const wf_stencil_params *p = &g->params;
    const uint32_t least = 2 * (p->radius ? p->radius : 1) + 1;
    wf_bindings bindings = {.size = sizeof bindings,
                            .items = {{.buffer = g->in.buffer}, {.buffer = g->out.buffer}},
                            .workspace = {.buffer = g->workspace}};
    g->extent[0] = p->vary_x ? draw(random, p->nx, p->vary_x, least) : p->nx;
    g->extent[1] = p->vary_y ? draw(random, p->ny, p->vary_y, least) : p->ny;
    g->extent[2] = p->nz && p->vary_z ? draw(random, p->nz, p->vary_z, least) : p->nz;
    memcpy(bindings.extent, g->extent, sizeof bindings.extent);
    poison(&g->in);
    poison(&g->out);
    if (g->workspace)
        memset(wf_buffer_mapped(g->workspace), 0xff, wf_buffer_size(g->workspace));
    for (uint64_t z = 0; z < (p->nz ? g->extent[2] : 1); z++)
        for (uint64_t y = 0; y < g->extent[1]; y++)
            for (uint64_t x = 0; x < g->extent[0]; x++)
                set(&g->in, cell(g, x, y, z), small_number(random));
    return bindings;
}

/* Where the border takes a place along an axis of n cells. */
static int64_t bordered(wf_border border, int64_t place, int64_t n)
{
    if (border == WF_BORDER_PERIODIC)
        return ((place % n) + n) % n;
    return place < 0 ? -1 - place : place >= n ? 2 * n - 1 - place : place;
}

static double updated(const grid *g, const double *cells, const int64_t at_[3])
{
    const wf_stencil_params *p = &g->params;
    const int64_t r = p->radius ? p->radius : 1,
                  n[3] = {(int64_t)g->extent[0], (int64_t)g->extent[1], (int64_t)g->extent[2]};
    const int axes = p->nz ? 3 : 2;
    double sum =
        p->shape == WF_STENCIL_STAR
            ? g->taps[0] * cells[cell(g, (uint64_t)at_[0], (uint64_t)at_[1], (uint64_t)at_[2])]
            : 0;
    int tap = p->shape == WF_STENCIL_STAR ? 1 : 0;
    for (int axis = 0; axis < axes; axis++) /* a fixed border keeps its cells */
        if (p->border == WF_BORDER_DIRICHLET && (at_[axis] < r || at_[axis] >= n[axis] - r))
            return cells[cell(g, (uint64_t)at_[0], (uint64_t)at_[1], (uint64_t)at_[2])];
    for (int axis = 0; p->shape == WF_STENCIL_STAR && axis < axes; axis++)
        for (int64_t d = 1; d <= r; d++)
            for (int side = -1; side <= 1; side += 2) {
                int64_t of[3] = {at_[0], at_[1], at_[2]};
                of[axis] = bordered(p->border, of[axis] + side * d, n[axis]);
                sum += g->taps[tap++] *
                       cells[cell(g, (uint64_t)of[0], (uint64_t)of[1], (uint64_t)of[2])];
            }
    const int64_t deep = axes == 3 ? r : 0;
    for (int64_t dz = -deep; p->shape == WF_STENCIL_BOX && dz <= deep; dz++)
        for (int64_t dy = -r; dy <= r; dy++)
            for (int64_t dx = -r; dx <= r; dx++)
                sum +=
                    g->taps[tap++] *
                    cells[cell(g, (uint64_t)bordered(p->border, at_[0] + dx, n[0]),
                               (uint64_t)bordered(p->border, at_[1] + dy, n[1]),
                               (uint64_t)(axes == 3 ? bordered(p->border, at_[2] + dz, n[2]) : 0))];
    return sum;
}

static void expect_grid(grid *g)
{
    const wf_stencil_params *p = &g->params;
    const uint64_t nz = p->nz ? p->nz : 1, deep = p->nz ? g->extent[2] : 1;
    for (uint64_t i = 0; i < g->in.elements; i++)
        g->cells[0][i] = get(&g->in, i);
    for (uint32_t s = 0; s < (p->steps ? p->steps : 1); s++)
        for (uint64_t z = 0; z < deep; z++)
            for (uint64_t y = 0; y < g->extent[1]; y++)
                for (uint64_t x = 0; x < g->extent[0]; x++) {
                    const int64_t place[3] = {(int64_t)x, (int64_t)y, (int64_t)z};
                    g->cells[1 - s % 2][cell(g, x, y, z)] = updated(g, g->cells[s % 2], place);
                }
    const double *last = g->cells[(p->steps ? p->steps : 1) % 2];
    for (uint64_t z = 0; z < nz; z++)
        for (uint64_t y = 0; y < p->ny; y++)
            for (uint64_t x = 0; x < p->row_stride; x++) {
                const uint64_t i = cell(g, x, y, z);
                if (x < g->extent[0] && y < g->extent[1] && z < deep)
                    assert_true(get(&g->out, i) == last[i]);
                else
                    assert_true(is_poison(&g->out, i));
            }
}

static void run_grid(wf_device *device, const wf_stencil_params *params, int executions,
                     test_random *random)
{
    grid g;
    open_grid(&g, device, params, random);
    for (int i = 0; i < executions; i++) {
        const wf_bindings bindings = draw_grid(&g, random);
        assert_int_equal(wf_plan_run(g.plan, &bindings), WF_SUCCESS);
        expect_grid(&g);
    }
    close_grid(&g);
}

static void test_every_variant_of_stencils(void **state)
{
    wf_device *device = *state;
    test_random random = {test_seed()};
    uint32_t ran = 0;
    for (uint32_t i = 0; i < wf_family_variant_count(WF_FAMILY_STENCIL); i++)
        for (uint32_t n = 0; n < 6; n++) {
            wf_variant_info info;
            assert_int_equal(wf_family_variant(WF_FAMILY_STENCIL, i, &info), WF_SUCCESS);
            const wf_tuning tuning = {.size = sizeof tuning, .variant = info.name};
            const bool star = strncmp(info.name, "time", 4) == 0 || n % 2;
            const wf_stencil_params params = {
                .size = sizeof params,
                .nx = 44,
                .ny = 23,
                .nz = n < 3 ? 17 : 0,
                .row_stride = 48,
                .radius = strcmp(info.name, "time_vector") == 0 ? 1 : 1 + n % 2,
                .shape = star ? WF_STENCIL_STAR : WF_STENCIL_BOX,
                .border = (wf_border)(n % 3),
                .steps = 3,
                .tuning = &tuning,
                .vary_x = n % 2 ? 4 : 1,
                .vary_y = 1,
                .vary_z = n < 3};
            run_grid(device, &params, 3, &random);
            ran++;
        }
    assert_true(ran >= 25);
}

/* --------------------------------------------------------------------------------------- errors */

static void expect_refusal(wf_plan *plan, const wf_bindings *bindings, const char *text)
{
    test_last_error();
    test_expect_errors(true);
    assert_int_equal(wf_plan_run(plan, bindings), WF_ERROR_INVALID_ARGUMENT);
    test_expect_errors(false);
    const char *said = test_last_error();
    if (!strstr(said, text))
        fail_msg("'%s' does not say '%s'", said, text);
}

static void test_sizes_refused(void **state)
{
    wf_device *device = *state;
    test_random random = {test_seed()};
    product p;
    wf_plan *plan = NULL;
    wf_matmul_params params = {.size = sizeof params, .m = 64, .n = 32, .k = 16, .vary_m = 4};
    open_product(&p, device, &params);
    wf_bindings bindings = draw_product(&p, &random);
    bindings.extent[0] = 68;
    expect_refusal(p.plan, &bindings, "over the 64");
    bindings.extent[0] = 62;
    expect_refusal(p.plan, &bindings, "no multiple of the plan's vary_m, 4");
    bindings.extent[0] = 60;
    bindings.extent[1] = 16;
    expect_refusal(p.plan, &bindings, "make it with vary_n");
    bindings.extent[1] = 32; /* its own size is no other size */
    assert_int_equal(wf_plan_run(p.plan, &bindings), WF_SUCCESS);
    close_product(&p);
    test_expect_errors(true);
    params.m = 63;
    assert_int_equal(wf_matmul_plan(device, &params, &plan), WF_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(test_last_error(), "must be a multiple of vary_m"));
    test_expect_errors(false);
    params.vary_m = 0;
    open_product(&p, device, &params);
    bindings = draw_product(&p, &random);
    bindings.extent[0] = 8;
    expect_refusal(p.plan, &bindings, "the sizes of this plan are fixed");
    close_product(&p);
}

static void test_grids_refused(void **state)
{
    wf_device *device = *state;
    test_random random = {test_seed()};
    const wf_stencil_params params = {.size = sizeof params,
                                      .nx = 16,
                                      .ny = 16,
                                      .row_stride = 16,
                                      .radius = 2,
                                      .vary_x = 1,
                                      .vary_y = 1};
    grid g;
    open_grid(&g, device, &params, &random);
    wf_bindings bindings = draw_grid(&g, &random);
    bindings.extent[1] = 4;
    expect_refusal(g.plan, &bindings, "less than the 5 (2 radius + 1)");
    bindings.extent[1] = 5;
    bindings.extent[2] = 8;
    expect_refusal(g.plan, &bindings, "extent[2] is given, but this plan has 2 sizes");
    close_grid(&g);
}

/* --------------------------------------------------------------------------------------- frames */

enum { IN_FLIGHT = 3, FRAMES = 2000 };

typedef struct frame {
    VkCommandBuffer commands;
    VkFence fence;
    wf_arena *arena;
    product p; /* with buffers of their own; the plan is the first frame's */
    grid g;
    bool pending;
} frame;

static void await(engine *e, frame *f)
{
    if (!f->pending)
        return;
    assert_int_equal(FUNCTION(e, vkWaitForFences)(e->device, 1, &f->fence, VK_TRUE, UINT64_MAX),
                     VK_SUCCESS);
    assert_int_equal(FUNCTION(e, vkResetFences)(e->device, 1, &f->fence), VK_SUCCESS);
    expect_product(&f->p);
    expect_grid(&f->g);
    FUNCTION(e, vkFreeCommandBuffers)(e->device, e->pool, 1, &f->commands);
    assert_int_equal(wf_arena_reset(f->arena), WF_SUCCESS);
    f->pending = false;
}

static void submit(engine *e, frame *f, wf_plan *matmul, wf_plan *stencil, test_random *random)
{
    const VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    const wf_bindings matrices = draw_product(&f->p, random), cells = draw_grid(&f->g, random);
    f->commands = engine_begin(e);
    counting = true;
    assert_int_equal(wf_plan_record(matmul, f->commands, f->arena, &matrices), WF_SUCCESS);
    assert_int_equal(wf_plan_record(stencil, f->commands, f->arena, &cells), WF_SUCCESS);
    counting = false;
    FUNCTION(e, vkCmdPipelineBarrier)
    (f->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host,
     0, NULL, 0, NULL);
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &f->commands};
    assert_int_equal(FUNCTION(e, vkEndCommandBuffer)(f->commands), VK_SUCCESS);
    assert_int_equal(FUNCTION(e, vkQueueSubmit)(e->queue, 1, &info, f->fence), VK_SUCCESS);
    f->pending = true;
}

static void open_frame(engine *e, frame *f, wf_device *device, test_random *random)
{
    const wf_matmul_params product_ = {
        .size = sizeof product_, .m = 40, .n = 24, .k = 32, .vary_m = 1, .vary_n = 1, .vary_k = 1};
    const wf_stencil_params stencil = {.size = sizeof stencil,
                                       .nx = 40,
                                       .ny = 30,
                                       .row_stride = 40,
                                       .border = WF_BORDER_NEUMANN,
                                       .steps = 2,
                                       .vary_x = 1,
                                       .vary_y = 1};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    open_product(&f->p, device, &product_);
    open_grid(&f->g, device, &stencil, random);
    assert_int_equal(wf_arena_create(device, &f->arena), WF_SUCCESS);
    assert_int_equal(FUNCTION(e, vkCreateFence)(e->device, &fence, NULL, &f->fence), VK_SUCCESS);
}

/* The coefficients are those of the plan that is recorded. */
static void share_taps(frame *frames)
{
    for (int i = 1; i < IN_FLIGHT; i++)
        memcpy(frames[i].g.taps, frames[0].g.taps, sizeof frames[i].g.taps);
}

static void run_frames(engine_features features)
{
    test_random random = {test_seed()};
    wf_vulkan vulkan;
    engine e;
    frame frames[IN_FLIGHT] = {{0}};
    engine_calls early = {0};
    engine_open(&e, features, &vulkan);
    vulkan.queue = VK_NULL_HANDLE;
    wf_device *device = engine_adopt(&vulkan);
    for (int i = 0; i < IN_FLIGHT; i++)
        open_frame(&e, &frames[i], device, &random);
    share_taps(frames);
    for (uint32_t n = 0; n < FRAMES; n++) {
        frame *f = &frames[n % IN_FLIGHT];
        await(&e, f);
        submit(&e, f, frames[0].p.plan, frames[0].g.plan, &random);
        if (n == 2 * IN_FLIGHT) {
            early = engine_counted();
            allocations = 0;
        }
    }
    assert_int_equal(allocations, 0);
    const engine_calls late = engine_counted();
    assert_int_equal(late.pipelines, early.pipelines);
    assert_int_equal(late.memories, early.memories);
    assert_int_equal(late.buffers, early.buffers);
    assert_int_equal(late.descriptor_pools, early.descriptor_pools);
    for (int i = 0; i < IN_FLIGHT; i++)
        await(&e, &frames[i]);
    for (int i = 0; i < IN_FLIGHT; i++) {
        wf_arena_destroy(&frames[i].arena);
        FUNCTION(&e, vkDestroyFence)(e.device, frames[i].fence, NULL);
        close_product(&frames[i].p);
        close_grid(&frames[i].g);
    }
    wf_device_destroy(&device);
    engine_close(&e);
}

static void test_frames_with_push_descriptors(void **state)
{
    (void)state;
    run_frames(ENGINE_REQUIRED);
}

static void test_frames_without(void **state)
{
    (void)state;
    run_frames(ENGINE_NOTHING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_variant_of_products),
        cmocka_unit_test(test_types_of_products),
        cmocka_unit_test(test_every_variant_of_stencils),
        cmocka_unit_test(test_sizes_refused),
        cmocka_unit_test(test_grids_refused),
        cmocka_unit_test(test_frames_with_push_descriptors),
        cmocka_unit_test(test_frames_without),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
