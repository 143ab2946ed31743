/* What a sparse plan can be asked for besides y = A x: scaling, transposes, several right-hand
 * sides, new values, and what its analysis says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "core/command.h"
#include "sparse.h"

enum { ROWS = 300, COLUMNS = 211 };

static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F64, WF_TYPE_F16};

/* Mostly short rows, some empty, one long. */
static void make(sparse_system *s, wf_device *device, const sparse_options *options,
                 test_random *random)
{
    uint32_t lengths[ROWS];
    for (uint32_t i = 0; i < ROWS; i++)
        lengths[i] = i == 77 ? 1500 : test_random_below(random, 12);
    test_sparse_make(s, device, options, ROWS, COLUMNS, lengths, random);
}

/* The fewest points that must have run: under an emulator a third of the variants does. */
static uint32_t least(uint32_t of_all)
{
    return test_emulated() ? of_all / 3 : of_all;
}

static void scales_and_adds_in_every_variant(void **state)
{
    test_random random = {test_seed()};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const sparse_options options = {.type = types[t], .alpha = -1.7, .beta = 0.3};
        sparse_system s;
        if (!test_has_type(*state, types[t]))
            continue;
        make(&s, *state, &options, &random);
        assert_true(test_sparse_each_point(&s, 0, false, &random) >= least(4));
        test_sparse_free(&s);
    }
}

static void transposes_in_every_variant(void **state)
{
    test_random random = {test_seed()};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const sparse_options options = {.type = types[t], .transpose = true};
        sparse_system s;
        if (!test_has_type(*state, types[t]))
            continue;
        make(&s, *state, &options, &random);
        assert_true(test_sparse_each_point(&s, 0, false, &random) >= least(4));
        test_sparse_free(&s);
    }
}

static void multiplies_many_vectors(void **state)
{
    static const uint32_t shapes[][3] = {{2, 0, 0},  {3, 5, 4},    {8, 0, 9},
                                         {17, 0, 0}, {32, 33, 40}, {1, 2, 3}};
    test_random random = {test_seed()};
    for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++) {
        const sparse_options options = {.type = n == 2 ? WF_TYPE_F16
                                                : n == 4 && test_has_type(*state, WF_TYPE_F64)
                                                    ? WF_TYPE_F64
                                                    : WF_TYPE_F32,
                                        .vectors = shapes[n][0],
                                        .x_stride = shapes[n][1],
                                        .y_stride = shapes[n][2],
                                        .alpha = 2.5,
                                        .beta = n % 2 ? -1 : 0,
                                        .transpose = n == 3};
        sparse_system s;
        make(&s, *state, &options, &random);
        test_sparse_multiply(&s, NULL);
        test_sparse_right(&s, "the model's choice");
        assert_true(test_sparse_each_point(&s, 0, false, &random) >= least(3));
        test_sparse_free(&s);
    }
}

typedef struct recorded_update {
    wf_plan *plan;
    wf_arena *arena;
    wf_binding values;
} recorded_update;

static wf_result record_update(void *user, VkCommandBuffer command_buffer)
{
    const recorded_update *u = user;
    return wf_spmv_record_update(u->plan, command_buffer, u->arena, &u->values);
}

/* New values replace the first ones, of which nothing may be left. */
static void takes_new_values(sparse_system *s, const char *variant, test_random *random)
{
    const wf_tuning tuning = {.size = sizeof tuning, .variant = variant};
    const uint64_t bytes = s->row_offsets[s->params.rows] * wf_type_size(s->params.type);
    const uint64_t room = bytes ? (bytes + 3) / 4 * 4 : 4;
    wf_plan *plan = NULL;
    recorded_update update = {0};
    wf_arena *arena = NULL;
    wf_buffer *values = NULL;
    s->params.tuning = &tuning;
    assert_int_equal(wf_spmv_plan(s->device, &s->params, &plan), WF_SUCCESS);
    test_sparse_new_values(s, random);
    assert_int_equal(wf_spmv_update(plan, s->values), WF_SUCCESS);
    test_sparse_run(s, plan);
    test_sparse_right(s, variant ? variant : "updated from the host");
    test_sparse_new_values(s, random);
    assert_int_equal(wf_buffer_create(s->device, room, WF_MEMORY_DEVICE, &values), WF_SUCCESS);
    assert_int_equal(wf_buffer_write(values, 0, s->values, bytes), WF_SUCCESS);
    assert_int_equal(wf_arena_create(s->device, &arena), WF_SUCCESS);
    update = (recorded_update){plan, arena, {.buffer = values}};
    assert_int_equal(wfi_run(s->device, record_update, &update), WF_SUCCESS);
    wf_arena_destroy(&arena);
    test_sparse_run(s, plan);
    test_sparse_right(s, variant ? variant : "updated from the device");
    wf_buffer_destroy(&values);
    wf_plan_destroy(&plan);
    s->params.tuning = NULL;
}

/* Each update takes its values from a buffer of its own, which may have the handle of the one
 * before. */
static void updates_values_many_times(void **state)
{
    test_random random = {test_seed()};
    const sparse_options options = {.type = WF_TYPE_F32, .updatable = true};
    wf_plan *plan = NULL;
    wf_arena *arena = NULL;
    sparse_system s;
    make(&s, *state, &options, &random);
    const uint64_t bytes = s.row_offsets[s.params.rows] * wf_type_size(s.params.type);
    assert_int_equal(wf_spmv_plan(s.device, &s.params, &plan), WF_SUCCESS);
    assert_int_equal(wf_arena_create(s.device, &arena), WF_SUCCESS);
    for (uint32_t i = 0; i < 40; i++) {
        test_sparse_new_values(&s, &random);
        if (i % 2) {
            assert_int_equal(wf_spmv_update(plan, s.values), WF_SUCCESS);
            continue;
        }
        wf_buffer *values = NULL;
        assert_int_equal(wf_buffer_create(s.device, (bytes + 3) / 4 * 4, WF_MEMORY_DEVICE, &values),
                         WF_SUCCESS);
        assert_int_equal(wf_buffer_write(values, 0, s.values, bytes), WF_SUCCESS);
        recorded_update update = {plan, arena, {.buffer = values}};
        assert_int_equal(wfi_run(s.device, record_update, &update), WF_SUCCESS);
        wf_buffer_destroy(&values);
        assert_int_equal(wf_arena_reset(arena), WF_SUCCESS);
    }
    wf_arena_destroy(&arena);
    test_sparse_run(&s, plan);
    test_sparse_right(&s, "updated forty times");
    wf_plan_destroy(&plan);
    test_sparse_free(&s);
}

static void updates_values(void **state)
{
    static const char *const variants[] = {NULL, "row", "blocked"};
    test_random random = {test_seed()};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
            const sparse_options options = {
                .type = types[t], .updatable = true, .transpose = v == 2 || t == 2};
            sparse_system s;
            if (!test_has_type(*state, types[t]))
                continue;
            make(&s, *state, &options, &random);
            takes_new_values(&s, variants[v], &random);
            test_sparse_free(&s);
        }
}

/* Blocks of rows begin at offsets that are no multiples of the bindings' alignment. */
static void updates_blocks_of_a_split_matrix(void **state)
{
    wf_device *device = *state;
    wf_caps *caps = (wf_caps *)wf_device_caps(device);
    const uint64_t range = caps->max_storage_range;
    test_random random = {test_seed()};
    const sparse_options options = {.type = WF_TYPE_F16, .updatable = true};
    sparse_system s;
    make(&s, device, &options, &random);
    /* Named variants: rows of large blocks, as measured on a device, do not fit such bindings. */
    caps->max_storage_range = 7200;
    takes_new_values(&s, "row", &random);
    takes_new_values(&s, "shared", &random);
    caps->max_storage_range = range;
    test_sparse_free(&s);
}

/* Rows without entries are padding alone, which no value replaces: in a matrix of such rows, and in
 * the first block of a split one. */
static void updates_rows_without_entries(void **state)
{
    static const char *const variants[] = {"equal", "stream"};
    static const uint32_t empty_rows[] = {200, ROWS};
    wf_caps *caps = (wf_caps *)wf_device_caps(*state);
    const uint64_t range = caps->max_storage_range;
    const sparse_options options = {.type = WF_TYPE_F32, .updatable = true};
    test_random random = {test_seed()};
    for (size_t n = 0; n < 4; n++) {
        const uint32_t empty = empty_rows[n / 2];
        const wf_tuning tuning = {.size = sizeof tuning, .variant = variants[n % 2]};
        uint32_t lengths[ROWS];
        wf_plan *plan = NULL;
        sparse_system s;
        for (uint32_t i = 0; i < ROWS; i++)
            lengths[i] = i < empty ? 0 : 60;
        test_sparse_make(&s, *state, &options, ROWS, COLUMNS, lengths, &random);
        s.params.tuning = &tuning;
        caps->max_storage_range = empty < ROWS ? 16384 : range;
        test_expect_errors(true);
        const wf_result made = wf_spmv_plan(*state, &s.params, &plan);
        test_expect_errors(false);
        wf_plan_destroy(&plan);
        if (made == WF_SUCCESS)
            takes_new_values(&s, tuning.variant, &random);
        caps->max_storage_range = range;
        test_sparse_free(&s);
    }
}

/* Kernels that are compiled for y = A x refuse other factors; plans made with factors take any. */
static void rescales_compiled_kernels(void **state)
{
    static const char *const variants[] = {"equal", "stream"};
    test_random random = {test_seed()};
    const sparse_options options = {.type = WF_TYPE_F32};
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        wf_tuning tuning = {.size = sizeof tuning, .variant = variants[v], .no_tuning = true};
        wf_plan *plan = NULL;
        sparse_system s;
        make(&s, *state, &options, &random);
        s.params.tuning = &tuning;
        test_expect_errors(true);
        const wf_result made = wf_spmv_plan(*state, &s.params, &plan);
        if (made == WF_SUCCESS) {
            assert_int_equal(wf_spmv_scale(plan, 0.75, 2), WF_ERROR_UNSUPPORTED);
            assert_int_equal(wf_spmv_scale(plan, NAN, 0), WF_ERROR_INVALID_ARGUMENT);
            assert_non_null(strstr(test_last_error(), "finite"));
            assert_int_equal(wf_spmv_scale(plan, 1, 0), WF_SUCCESS);
            test_sparse_run(&s, plan);
            test_sparse_right(&s, "compiled for y = A x");
            wf_plan_destroy(&plan);
            s.alpha = 2;
            s.params.alpha = &s.alpha;
            assert_int_equal(wf_spmv_plan(*state, &s.params, &plan), WF_SUCCESS);
            s.alpha = 0.75;
            s.params.beta = 2;
            assert_int_equal(wf_spmv_scale(plan, 0.75, 2), WF_SUCCESS);
            test_sparse_run(&s, plan);
            test_sparse_right(&s, "made with factors");
        }
        test_expect_errors(false);
        wf_plan_destroy(&plan);
        test_sparse_free(&s);
    }
}

static void rescales_what_is_recorded_later(void **state)
{
    test_random random = {test_seed()};
    const sparse_options options = {.type = WF_TYPE_F32};
    wf_plan *plan = NULL;
    sparse_system s;
    make(&s, *state, &options, &random);
    /* A variant that is not compiled for alpha 1 and beta 0. */
    const wf_tuning tuning = {.size = sizeof tuning, .variant = "row", .no_tuning = true};
    s.params.tuning = &tuning;
    assert_int_equal(wf_spmv_plan(*state, &s.params, &plan), WF_SUCCESS);
    test_sparse_run(&s, plan);
    test_sparse_right(&s, "unscaled");
    s.alpha = 0.75;
    s.params.alpha = &s.alpha;
    s.params.beta = 2;
    assert_int_equal(wf_spmv_scale(plan, 0.75, 2), WF_SUCCESS);
    test_sparse_run(&s, plan);
    test_sparse_right(&s, "scaled");
    wf_plan_destroy(&plan);
    test_sparse_free(&s);
}

/* x at the n-th of 17 places of a buffer, read as texels; y must be that of the first. */
static wf_result run_at(sparse_system *s, wf_plan *plan, wf_buffer *many, uint64_t offset)
{
    const uint64_t bytes = s->x_elements * sizeof(float);
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {{.buffer = many, .offset = offset, .bytes = bytes}, {.buffer = s->device_y}}};
    assert_int_equal(wf_buffer_write(many, offset, s->x, bytes), WF_SUCCESS);
    test_poison(s->device_y);
    const wf_result result = wf_plan_run(plan, &bindings);
    if (result == WF_SUCCESS) {
        assert_int_equal(wf_buffer_read(s->device_y, 0, s->y, ROWS * sizeof(float)), WF_SUCCESS);
        test_sparse_right(s, "texel");
        test_poison(many);
    }
    return result;
}

static void views_x_anywhere(void **state)
{
    enum { PLACES = 17, APART = 4096 };
    wf_caps *caps = (wf_caps *)wf_device_caps(*state);
    test_random random = {test_seed()};
    const sparse_options options = {.type = WF_TYPE_F32};
    const wf_tuning tuning = {.size = sizeof tuning, .variant = "texel"};
    const uint64_t alignment = caps->texel_alignment;
    wf_plan *plan = NULL;
    wf_buffer *many = NULL;
    sparse_system s;
    make(&s, *state, &options, &random);
    s.params.tuning = &tuning;
    assert_int_equal(wf_buffer_create(*state, PLACES * APART, WF_MEMORY_DEVICE, &many), WF_SUCCESS);
    assert_int_equal(wf_spmv_plan(*state, &s.params, &plan), WF_SUCCESS);
    test_expect_errors(true);
    caps->texel_alignment = 2 * APART;
    assert_int_equal(run_at(&s, plan, many, APART), WF_ERROR_BINDING);
    assert_non_null(strstr(test_last_error(), "binding x starts at byte 4096"));
    caps->texel_alignment = alignment;
    for (uint64_t i = 0; i < PLACES; i++)
        assert_int_equal(run_at(&s, plan, many, i * APART), WF_SUCCESS);
    wf_plan_destroy(&plan);
    const uint32_t most = caps->max_texel_elements;
    caps->max_texel_elements = COLUMNS - 1;
    assert_int_equal(wf_spmv_plan(*state, &s.params, &plan), WF_ERROR_UNSUPPORTED);
    assert_non_null(strstr(test_last_error(), "x must fit a texel buffer"));
    caps->max_texel_elements = most;
    test_expect_errors(false);
    wf_buffer_destroy(&many);
    test_sparse_free(&s);
}

static void tells_what_it_found(void **state)
{
    static const uint32_t lengths[] = {0, 1, 2, 3, 4, 40, 0};
    test_random random = {test_seed()};
    const sparse_options options = {.type = WF_TYPE_F32};
    wf_spmv_analysis a = {.size = sizeof a};
    wf_plan *plan = NULL;
    sparse_system s;
    test_sparse_make(&s, *state, &options, 7, 90, lengths, &random);
    s.column_indices[0] = 89; /* row 1 */
    assert_int_equal(wf_spmv_plan(*state, &s.params, &plan), WF_SUCCESS);
    assert_int_equal(wf_spmv_analysis_of(plan, &a), WF_SUCCESS);
    assert_int_equal(a.entries, 50);
    assert_int_equal(a.shortest_row, 0);
    assert_int_equal(a.longest_row, 40);
    assert_int_equal(a.row_histogram[0], 2);
    assert_int_equal(a.row_histogram[1], 1);
    assert_int_equal(a.row_histogram[2], 2);
    assert_int_equal(a.row_histogram[3], 1);
    assert_int_equal(a.row_histogram[6], 1);
    assert_int_equal(a.bandwidth, 88);
    assert_true(a.matrix_bytes >= 50 * 5 && a.seconds > 0 && a.candidate_count >= 10);
    wf_plan_destroy(&plan);
    test_sparse_free(&s);
}

static void refuses_what_it_cannot_do(void **state)
{
    test_random random = {test_seed()};
    const sparse_options options = {.type = WF_TYPE_F32};
    wf_plan *plan = NULL;
    sparse_system s;
    make(&s, *state, &options, &random);
    test_expect_errors(true);
    s.params.vectors = 33;
    assert_int_equal(wf_spmv_plan(*state, &s.params, &plan), WF_ERROR_INVALID_ARGUMENT);
    s.params.vectors = 4;
    s.params.x_stride = 3;
    assert_int_equal(wf_spmv_plan(*state, &s.params, &plan), WF_ERROR_INVALID_ARGUMENT);
    s.params.vectors = s.params.x_stride = 0;
    assert_int_equal(wf_spmv_plan(*state, &s.params, &plan), WF_SUCCESS);
    assert_int_equal(wf_spmv_update(plan, s.values), WF_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(test_last_error(), "updatable"));
    test_expect_errors(false);
    wf_plan_destroy(&plan);
    test_sparse_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_and_adds_in_every_variant),
        cmocka_unit_test(transposes_in_every_variant),
        cmocka_unit_test(multiplies_many_vectors),
        cmocka_unit_test(updates_values),
        cmocka_unit_test(updates_values_many_times),
        cmocka_unit_test(updates_blocks_of_a_split_matrix),
        cmocka_unit_test(updates_rows_without_entries),
        cmocka_unit_test(rescales_compiled_kernels),
        cmocka_unit_test(rescales_what_is_recorded_later),
        cmocka_unit_test(views_x_anywhere),
        cmocka_unit_test(tells_what_it_found),
        cmocka_unit_test(refuses_what_it_cannot_do),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
