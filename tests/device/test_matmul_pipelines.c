/* Pipelines of plans for matrix products build with the compilers of cards that are not there: of
 * every variant and type a covering set of legal points and forms of the product (transposes,
 * beta, bias, activation, output, how thin it is). Every value of every parameter is in it, and
 * every pair of values that is legal. Every pipeline of a row's plan is built: whole tiles, parts
 * of shared ones and their join, reductions, copies, f32 taken apart into f16. AMD's generations
 * share the rows, each takes those that fall to it; GPUs of other vendors build all that are legal
 * there, or, where work-items have few registers, all whose values fit these: of others compilers
 * take minutes for a pipeline that nobody would run. Rows on matrix units, which few have, are
 * built wherever these are, and are fewer: every value, some of the pairs. test_matmul_spills.c has
 * the chosen points, on every generation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/families.h"
#include "core/device.h"
#include "core/platform.h"
#include "covering.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/shape.h"
#include "kernels/matmul/thin.h"
#include "matmul/matmul_ids.h"
#include "planned.h"
#include "points.h"

#define MOST_ROWS 256       /* of a variant and type; all of them need fewer */
#define FEW_ROWS 24         /* of a type whose pairs are left, unless values need more */
#define MOST_MATRIX_ROWS 32 /* on matrix units, unless their values need more */
#define LEAST_BUILT 10      /* pipelines for one that needs more scratch memory than there is */

/* All that the tests know of, and the subgroup sizes that pipelines can have there, and ask for
 * where there are two: of what decides about these points nothing else differs. */
static const struct generation {
    const char *name;
    uint32_t least_subgroup, most_subgroup;
} generations[] = {{"POLARIS10", 64, 64},
                   {"VEGA10", 64, 64},
                   {"NAVI21", 32, 64},
                   {"NAVI31", 32, 64},
                   {"GFX1201", 32, 64}};

#define GENERATIONS (sizeof generations / sizeof *generations)

/* Factors of the covering set beside the variant's parameters. */
enum { TRANSPOSE_A, TRANSPOSE_B, BETA, BIAS, ACTIVATION, OUTPUT, VECTORS, SIDE, FORMS };

/* Rows or columns of C, of variants for thin products. */
static const uint32_t vectors[] = {1, 2, 3, 4, 6, 8, 12, 16};

typedef struct sample {
    wf_device *device;
    wf_caps caps; /* the device's, with the subgroup sizes of all generations */
    uint32_t own; /* generation */
    const wfi_variant *variant;
    wf_type type;
    uint32_t taken[GENERATIONS]; /* rows */
    test_random random;
    test_built built;
    uint32_t rows, spilling, shares, fixups, reductions, copies, f16x2; /* of this generation */
    uint32_t number; /* of the next row, over all processes that share the work */
    uint32_t refused, failed, helpers_spilling, untold;
    double most_seconds;
    char slowest[256];
} sample;

/* A row as a point; `problem` and `params` are what it points at. */
typedef struct example {
    wf_matmul_params params;
    wfi_problem problem;
    wfi_point point;
} example;

static bool is_thin(const wfi_variant *variant)
{
    return strcmp(variant->name, "matvec") == 0 || strcmp(variant->name, "panel") == 0;
}

static bool on_matrix_units(const wfi_variant *variant)
{
    return (variant->needs & WFI_NEEDS_COOPERATIVE_MATRIX) != 0;
}

static bool has_matrix_units(const wf_caps *caps, wf_type type)
{
    return caps->cooperative_matrix && wfi_matmul_shape(caps, type, 0, 0, 0);
}

/* Extents are multiples of four, so that vec4 loads are legal; tiles of any size are odd in number,
 * so that stream-K has no whole number of waves. */
static wf_matmul_params params_of(const sample *s, const uint32_t *form)
{
    wf_matmul_params params = {.size = sizeof params,
                               .m = 1040,
                               .n = 2064,
                               .k = 1500,
                               .type = s->type,
                               .transpose_a = form[TRANSPOSE_A],
                               .transpose_b = form[TRANSPOSE_B],
                               .beta = form[BETA],
                               .bias = form[BIAS],
                               .activation = (wf_activation)form[ACTIVATION],
                               .output = (wf_matmul_output)form[OUTPUT],
                               .math = on_matrix_units(s->variant) ? WF_MATH_FAST : WF_MATH_EXACT};
    if (is_thin(s->variant))
        *(form[SIDE] ? &params.m : &params.n) = vectors[form[VECTORS]];
    if (strcmp(s->variant->name, "outer") == 0)
        params.k = 16; /* all its numbers of columns fit, in f64 too */
    if (strcmp(s->variant->name, "dispatch") == 0)
        params.m = params.n = 12;
    return params;
}

static bool example_of(const sample *s, const uint32_t *row, example *e)
{
    const wfi_variant *variant = s->variant;
    e->params = params_of(s, row + variant->parameter_count);
    e->problem = (wfi_problem){.family = WF_FAMILY_MATMUL, .type = s->type};
    e->point = (wfi_point){.caps = &s->caps, .problem = &e->problem, .variant = variant};
    for (uint32_t p = 0; p < variant->parameter_count; p++)
        wfi_point_put(&e->point, p, variant->parameters[p].candidates[row[p]]);
    return wfi_matmul_problem_of(NULL, &e->params, &e->problem.matmul) == WF_SUCCESS;
}

/* Whether the validation layer takes it: until Vulkan 1.4.312 groups on matrix units were to be
 * multiples of the device's usual subgroup, even where the pipeline asks for smaller ones. */
static bool layer_takes(const wfi_point *point)
{
    uint32_t size[3];
    point->variant->group_size(point, size);
    return !on_matrix_units(point->variant) || size[0] % point->caps->subgroup_size == 0;
}

static bool is_legal(void *user, const uint32_t *row)
{
    example e;
    return example_of(user, row, &e) && wfi_point_legal(&e.point, NULL) && layer_takes(&e.point) &&
           test_fits_registers(&e.point);
}

static bool legal_on(const example *e, const struct generation *generation)
{
    wf_caps caps = *e->point.caps;
    wfi_point point = e->point;
    caps.subgroup_min = generation->least_subgroup;
    caps.subgroup_max = generation->most_subgroup;
    caps.subgroup_size_control = generation->least_subgroup < generation->most_subgroup;
    point.caps = &caps;
    return wfi_point_legal(&point, NULL);
}

/* Whether this GPU shares its rows with no generation. */
static bool alone(const sample *s)
{
    return s->own == GENERATIONS;
}

/* The generation that builds the row: of those where it is legal, the one with the fewest. */
static uint32_t taker(sample *s, const example *e)
{
    uint32_t best = GENERATIONS;
    if (on_matrix_units(s->variant))
        return s->own;
    for (uint32_t g = 0; g < GENERATIONS; g++)
        if (legal_on(e, &generations[g]) && (best == GENERATIONS || s->taken[g] < s->taken[best]))
            best = g;
    assert_true(best < GENERATIONS);
    s->taken[best]++;
    return best;
}

static bool has_constant(const wfi_pipeline_desc *desc, uint32_t id)
{
    for (uint32_t i = 0; i < desc->constant_count; i++)
        if (desc->constants[i].id == id)
            return true;
    return false;
}

static void count_kind(sample *s, const wfi_pipeline_desc *desc)
{
    s->shares += has_constant(desc, MATMUL_ID_PARTIAL_TILES);
    s->fixups += strcmp(desc->name, "matmul fixup") == 0;
    s->reductions += strcmp(desc->name, "matmul reduction") == 0;
    s->copies += strcmp(desc->name, "matmul copy") == 0;
    s->f16x2 += strcmp(desc->name, "matmul f16x2") == 0;
}

/* The product itself may spill, since rows include blocks that are too large; copies before it and
 * reductions behind it must not. */
static void note_spills(sample *s, const example *e, const wfi_pipeline_desc *desc,
                        const wfi_pipeline *pipeline)
{
    wf_kernel_info kernel;
    char text[256];
    if (!test_tells_spills(pipeline)) {
        s->untold++;
        return;
    }
    if (!test_spills(&e->point, pipeline, &kernel))
        return;
    s->spilling++;
    if (strcmp(desc->name, s->variant->name) == 0)
        return;
    s->helpers_spilling++;
    if (test_has_few_registers(&s->caps))
        return;
    test_point_text(&e->point, text, sizeof text);
    print_error("pipeline %s of %s %s spills\n", desc->name, text, wf_type_name(s->type));
}

static void build(sample *s, const example *e, const wfi_pipeline_desc *desc)
{
    wfi_pipeline pipeline = {0};
    char text[256];
    count_kind(s, desc);
    if (!test_first_of_its_kind(&s->built, desc))
        return;
    test_point_text(&e->point, text, sizeof text);
    const double begin = wfi_host_seconds();
    if (wfi_pipeline_create(s->device, desc, &pipeline) == WF_SUCCESS)
        note_spills(s, e, desc, &pipeline);
    else if (test_exceeds_scratch(&s->device->caps)) {
        s->refused++;
        printf("  %s %s is refused: more scratch memory than there is\n", text,
               wf_type_name(s->type));
    } else {
        s->failed++;
        print_error("pipeline %s of %s %s does not build; seed %llu\n", desc->name, text,
                    wf_type_name(s->type), (unsigned long long)test_seed());
    }
    const double seconds = wfi_host_seconds() - begin;
    if (seconds > s->most_seconds) {
        s->most_seconds = seconds;
        snprintf(s->slowest, sizeof s->slowest, "%.240s %s", text, wf_type_name(s->type));
    }
    wfi_pipeline_destroy(s->device, &pipeline);
}

static void build_row(void *user, const uint32_t *row)
{
    sample *s = user;
    example e;
    test_planned planned;
    assert_true(example_of(s, row, &e));
    if (alone(s) ? !test_is_mine(s->number++) : taker(s, &e) != s->own)
        return;
    e.point.caps = &s->device->caps;
    char reason[256] = "";
    if (!wfi_point_legal(&e.point, reason))
        fail_msg("the table of generations is wrong: %s", reason);
    assert_int_equal(test_plan_matmul(s->device, &e.point, &e.params, &planned), WF_SUCCESS);
    for (uint32_t i = 0; i < planned.count; i++)
        build(s, &e, &planned.pipelines[i]);
    s->rows++;
}

static const wfi_parameter *parameter_of(const wfi_variant *variant, uint32_t id)
{
    for (uint32_t i = 0; i < variant->parameter_count; i++)
        if (variant->parameters[i].id == id)
            return &variant->parameters[i];
    fail_msg("%s has no parameter %u", variant->name, id);
    return NULL;
}

/* Sizes of fragments and subgroups that the matrix units do not have, and copies but of both
 * operands, where f32 is split. */
static uint32_t never_on_matrix_units(const sample *s)
{
    const wfi_parameter *pack = parameter_of(s->variant, MATMUL_ID_PACK),
                        *subgroup = parameter_of(s->variant, MATMUL_ID_SUBGROUP);
    uint32_t count = s->type == WF_TYPE_F32 ? pack->candidate_count - 1 : 0;
    for (uint32_t axis = 0; axis < 3; axis++) {
        const wfi_parameter *extent = parameter_of(s->variant, MATMUL_ID_FRAG_M + axis);
        for (uint32_t c = 0; c < extent->candidate_count; c++) {
            uint32_t size[3] = {0};
            size[axis] = extent->candidates[c];
            count += !wfi_matmul_shape(&s->caps, s->type, size[0], size[1], size[2]);
        }
    }
    for (uint32_t c = 0; c < subgroup->candidate_count; c++)
        count += subgroup->candidates[c] < s->caps.subgroup_min ||
                 subgroup->candidates[c] > s->caps.subgroup_max;
    return count;
}

/* Values that no legal point has: besides these GELU of i8, copies of narrow types, more vectors
 * than matvec takes. */
static uint32_t never_legal(const sample *s)
{
    const bool matvec = strcmp(s->variant->name, "matvec") == 0,
               packs = strcmp(s->variant->name, "vector") == 0,
               moves = s->type == WF_TYPE_F32 || s->type == WF_TYPE_F64;
    uint32_t count = (s->type == WF_TYPE_I8) + (packs && !moves ? 3 : 0);
    for (size_t n = 0; matvec && n < sizeof vectors / sizeof *vectors; n++)
        count += vectors[n] > WFI_MOST_VECTORS;
    return count + (on_matrix_units(s->variant) ? never_on_matrix_units(s) : 0);
}

/* Whether the device lacks what every point of the variant needs, which is said. */
static bool is_refused(const sample *s)
{
    static const uint32_t first[TEST_MOST_FACTORS];
    static const char lack[] = "the device has no ";
    char reason[256] = "";
    example e;
    if (!example_of(s, first, &e))
        return false;
    wfi_point_defaults(&e.point);
    if (wfi_point_legal(&e.point, reason) || strncmp(reason, lack, sizeof lack - 1) != 0)
        return false;
    printf("  %s %s: refused: %s\n", s->variant->name, wf_type_name(s->type), reason);
    return true;
}

/* All pairs of values in f32, whose code other types share but for loads and stores; these have all
 * pairs at length alone (./dev test-vendors), and not where compilers are slow. */
static bool has_all_pairs(const sample *s)
{
    return s->type == WF_TYPE_F32 || (alone(s) && !test_has_few_registers(&s->caps)) ||
           getenv("WAVEFIT_TEST_AT_LENGTH") != NULL;
}

static uint32_t most_rows(const sample *s)
{
    return on_matrix_units(s->variant) ? MOST_MATRIX_ROWS : has_all_pairs(s) ? MOST_ROWS : FEW_ROWS;
}

static void build_variant(sample *s)
{
    const wfi_variant *variant = s->variant;
    const bool narrow = wf_type_size(s->type) == 2, thin = is_thin(variant);
    const uint32_t forms[FORMS] = {
        2, 2, 2, 2, 3, narrow ? 2 : 1, thin ? sizeof vectors / sizeof *vectors : 1, thin ? 2 : 1};
    const uint32_t before = s->rows, built = s->built.count;
    test_factors factors = {.legal = is_legal, .user = s};
    for (uint32_t p = 0; p < variant->parameter_count; p++)
        factors.values[factors.count++] = variant->parameters[p].candidate_count;
    for (uint32_t f = 0; f < FORMS; f++)
        factors.values[factors.count++] = forms[f];
    assert_true(factors.count <= TEST_MOST_FACTORS);
    const test_coverage c = test_cover(&factors, most_rows(s), &s->random, build_row);
    printf(
        "  %s %s: %u rows, %u of them here with %u pipelines; in no row %u of %u values and %u of "
        "%u pairs\n",
        variant->name, wf_type_name(s->type), c.rows, s->rows - before, s->built.count - built,
        c.values_left, c.values, c.pairs_left, c.pairs);
    /* Other GPUs have other limits, which more values exceed. */
    if (!alone(s))
        assert_int_equal(c.values_left, never_legal(s));
    assert_true(c.rows < MOST_ROWS);
}

static uint32_t generation_of(const wf_caps *caps)
{
    for (uint32_t g = 0; g < GENERATIONS; g++)
        if (strstr(caps->name, generations[g].name))
            return g;
    return GENERATIONS;
}

static void build_type(sample *s)
{
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    const uint32_t shares = s->shares, fixups = s->fixups, reductions = s->reductions;
    for (uint32_t v = 0; v < family->variant_count; v++) {
        s->variant = family->variants[v];
        /* The seed is the same on all generations, even where they have different variants. */
        s->random.state = test_seed() + v * WF_TYPE_COUNT + (uint32_t)s->type;
        if (s->variant->modules[s->type] && !is_refused(s) &&
            (!on_matrix_units(s->variant) || has_matrix_units(&s->caps, s->type)))
            build_variant(s);
    }
    if (!alone(s) && has_all_pairs(s))
        assert_true(s->shares > shares && s->fixups > fixups && s->reductions > reductions);
}

static void all_pipelines_of_plans_build(void **state)
{
    sample s = {.device = *state};
    s.caps = s.device->caps;
    s.own = generation_of(&s.caps);
    if (alone(&s) && s.caps.driver_id == VK_DRIVER_ID_MESA_RADV)
        skip();
    if (!alone(&s)) {
        s.caps.subgroup_min = 32;
        s.caps.subgroup_max = 64;
        s.caps.subgroup_size_control = true;
    }
    for (int type = 0; type < WF_TYPE_COUNT; type++) {
        s.type = (wf_type)type;
        build_type(&s);
    }
    printf("%u pipelines of %u plans, %u spill, %u tell nothing, %u refused for scratch memory, %u "
           "failed; "
           "%u plans share tiles; seed %llu\n",
           s.built.count, s.rows, s.spilling, s.untold, s.refused, s.failed, s.shares,
           (unsigned long long)test_seed());
    printf("the slowest took %.1f s: %s\n", s.most_seconds, s.slowest);
    if (!alone(&s)) {
        assert_true(s.copies > 0);
        assert_int_equal(s.f16x2 > 0, has_matrix_units(&s.caps, WF_TYPE_F32));
    }
    const uint32_t built = s.built.count;
    test_built_free(&s.built);
    assert_int_equal(s.failed, 0);
    assert_true(s.refused * LEAST_BUILT <= built);
    if (test_has_few_registers(&s.caps)) /* V3DV keeps loads of the simplest kernels in memory */
        printf("%u of them copies and reductions\n", s.helpers_spilling);
    else
        assert_int_equal(s.helpers_spilling, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_pipelines_of_plans_build)};
    setvbuf(stdout, NULL, _IOLBF, 0); /* a compiler that crashes leaves the lines before */
    return cmocka_run_group_tests(tests, test_statistics_setup, test_device_teardown);
}
