/* The geometry of matrix products on devices of every subgroup size from 4 to 128, with and without
 * a choice of it: what the model picks and what can be drawn is legal, whole, and covers every
 * element of a tile once. (What comes of it is run in tests/device/test_matmul_cooperative.c.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/families.h"
#include "kernels/matmul/tile.h"

#define DRAWN 6

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint32_t below(uint64_t *state, uint32_t bound)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ (z >> 31)) % bound);
}

static void offer(wf_caps *caps, uint32_t factor, uint32_t sum, uint32_t n, uint32_t k)
{
    caps->cooperative_shapes[caps->cooperative_shape_count++] =
        (wf_cooperative_shape){.m = 16,
                               .n = n,
                               .k = k,
                               .a_type = factor,
                               .b_type = factor,
                               .c_type = sum,
                               .result_type = sum,
                               .scope = VK_SCOPE_SUBGROUP_KHR};
}

static wf_caps device_of(uint32_t subgroup, bool control, uint32_t invocations, uint32_t shared)
{
    wf_caps caps = {.size = sizeof caps,
                    .device_type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
                    .max_invocations = invocations,
                    .max_group_size = {invocations, invocations, 64},
                    .max_groups = {65535, 65535, 65535},
                    .max_shared_bytes = shared,
                    .max_push_bytes = 128,
                    .max_storage_buffers = 8,
                    .max_storage_range = UINT64_C(1) << 30,
                    .storage_alignment = 16,
                    .subgroup_size = subgroup,
                    .subgroup_min = control ? 4 : subgroup,
                    .subgroup_max = control ? 128 : subgroup,
                    .max_group_subgroups = 32,
                    .subgroup_size_control = control,
                    .full_subgroups = true,
                    .f16_arithmetic = true,
                    .f16_storage = true,
                    .f64 = true,
                    .int8_arithmetic = true,
                    .int8_storage = true,
                    .integer_dot = true,
                    .integer_dot_accelerated = true,
                    .cooperative_matrix = true};
    for (uint32_t n = 8; n <= 16; n += 8) {
        offer(&caps, VK_COMPONENT_TYPE_FLOAT16_KHR, VK_COMPONENT_TYPE_FLOAT32_KHR, n, 16);
        offer(&caps, VK_COMPONENT_TYPE_SINT8_KHR, VK_COMPONENT_TYPE_SINT32_KHR, n, 32);
    }
    return caps;
}

static void fail_at(const wfi_point *point, const char *what)
{
    char text[512];
    int used = snprintf(text, sizeof text, "%s, subgroups of %u, %s:", point->variant->name,
                        point->caps->subgroup_size, wf_type_name(point->problem->type));
    for (uint32_t i = 0; i < point->variant->parameter_count; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %s=%u",
                         point->variant->parameters[i].name, wfi_point_get(point, i));
    fail_msg("%s: %s", text, what);
}

/* Work-items placed as matmul_vector.comp places them, and matmul_subgroup_k.comp those of each
 * slice of k: four rows or columns at a time. */
static void vector_covers(const wfi_point *point, bool pairs)
{
    static uint8_t seen[64][64];
    const uint32_t *v = point->values;
    const uint32_t threads_n = v[MATMUL_ID_TILE_N] / v[MATMUL_ID_THREAD_N],
                   lanes = v[MATMUL_ID_LANES_M] * v[MATMUL_ID_LANES_N];
    memset(seen, 0, sizeof seen);
    for (uint32_t item = 0; item < wfi_matmul_tile_threads(v); item++) {
        const uint32_t lane = item % lanes, block = item / lanes,
                       across = threads_n / v[MATMUL_ID_LANES_N];
        const uint32_t blocks_m = v[MATMUL_ID_THREAD_M] / 4, blocks_n = v[MATMUL_ID_THREAD_N] / 4;
        uint32_t lane_m = lane / v[MATMUL_ID_LANES_N], lane_n = lane % v[MATMUL_ID_LANES_N];
        if (pairs && v[MATMUL_ID_LANES_M] % 2 == 0) {
            lane_m = lane / (2 * v[MATMUL_ID_LANES_N]) * 2 + lane % 2;
            lane_n = lane / 2 % v[MATMUL_ID_LANES_N];
        }
        const uint32_t m = block / across * v[MATMUL_ID_LANES_M] * blocks_m + lane_m,
                       n = block % across * v[MATMUL_ID_LANES_N] * blocks_n + lane_n;
        for (uint32_t i = 0; i < blocks_m; i++)
            for (uint32_t j = 0; j < blocks_n; j++)
                seen[m + i * v[MATMUL_ID_LANES_M]][n + j * v[MATMUL_ID_LANES_N]]++;
    }
    for (uint32_t m = 0; m < v[MATMUL_ID_TILE_M] / 4; m++)
        for (uint32_t n = 0; n < v[MATMUL_ID_TILE_N] / 4; n++)
            if (seen[m][n] != 1)
                fail_at(point, "an output belongs to no work-item or to several");
}

static void slices_cover(const wfi_point *point, uint32_t items)
{
    const uint32_t *v = point->values;
    vector_covers(point, v[MATMUL_ID_PAIRS]);
    if (items != v[MATMUL_ID_SLICES_K] * wfi_matmul_tile_threads(v))
        fail_at(point, "not a tile's work-items a slice of k");
    if (v[MATMUL_ID_SLICES_K] == 0 || (v[MATMUL_ID_SLICES_K] & (v[MATMUL_ID_SLICES_K] - 1)))
        fail_at(point, "slices of k whose sums do not meet in halves");
    const uint32_t pinned = point->variant->subgroup_size(point);
    const uint32_t slice = wfi_matmul_tile_threads(v), least = point->caps->subgroup_min,
                   most = point->caps->subgroup_max;
    if (v[MATMUL_ID_PER_SUBGROUP] &&
        (pinned ? pinned != slice || slice < least || slice > most || (slice & (slice - 1))
                : point->caps->subgroup_size != slice))
        fail_at(point, "slices of k that do not wait are no subgroups");
}

/* As matmul_panel.comp: lanes along the sum and along outputs, in blocks of 8 where there are 8. */
static void panel_covers(const wfi_point *point, uint32_t items)
{
    const uint32_t *v = point->values, lanes_k = v[MATMUL_ID_LANES_K],
                   lanes_o = v[MATMUL_ID_LANES_O];
    if (items != lanes_k * lanes_o)
        fail_at(point, "not lanes_k x lanes_o work-items");
    if ((lanes_k >= 8 && lanes_k % 8) || (lanes_o >= 8 && lanes_o % 8))
        fail_at(point, "blocks of 8 are cut");
    if (v[MATMUL_ID_KEPT] == 0 || v[MATMUL_ID_KEPT] % (4 * lanes_k))
        fail_at(point, "what is kept is no whole pass of the work-items along the sum");
}

static void cooperative_covers(const wfi_point *point, uint32_t items)
{
    const uint32_t *v = point->values;
    const uint32_t size = v[MATMUL_ID_SUBGROUP], pinned = point->variant->subgroup_size(point);
    const uint32_t blocks =
        v[MATMUL_ID_TILE_M] / v[MATMUL_ID_SUB_M] * (v[MATMUL_ID_TILE_N] / v[MATMUL_ID_SUB_N]);
    if (items != blocks * v[MATMUL_ID_SUBS_K] * size)
        fail_at(point, "not subs_k subgroups a block");
    if (pinned ? pinned != size : point->caps->subgroup_size != size)
        fail_at(point, "subgroups will be of another size");
    if (v[MATMUL_ID_SUB_M] % v[MATMUL_ID_FRAG_M] || v[MATMUL_ID_SUB_N] % v[MATMUL_ID_FRAG_N] ||
        v[MATMUL_ID_TILE_K] % (v[MATMUL_ID_FRAG_K] * v[MATMUL_ID_SUBS_K]))
        fail_at(point, "fragments do not fill a block");
    if (v[MATMUL_ID_SUB_M] * v[MATMUL_ID_SUB_N] * blocks !=
        v[MATMUL_ID_TILE_M] * v[MATMUL_ID_TILE_N])
        fail_at(point, "blocks do not fill the tile");
}

/* Shared memory as matmul_slice_tiles.glsl declares it: tiles of both operands, a four longer each
 * row of an operand that is stored along the sum, and behind them room for sums where tiles have
 * none. */
static void slices_hold_their_tiles(const wfi_point *point)
{
    const uint32_t *v = point->values;
    const wfi_matmul_problem *p = &point->problem->matmul;
    const wf_type type = point->problem->type;
    const uint64_t size = type == WF_TYPE_F64 ? 8 : 4;
    const uint64_t fours_a = v[MATMUL_ID_TILE_M] / 4 + !p->transpose_a,
                   fours_b = v[MATMUL_ID_TILE_N] / 4 + p->transpose_b;
    const uint64_t tiles =
        (uint64_t)v[MATMUL_ID_SLICES_K] * v[MATMUL_ID_TILE_K] * (fours_a + fours_b);
    const uint64_t items = (uint64_t)v[MATMUL_ID_TILE_M] / v[MATMUL_ID_THREAD_M] *
                           (v[MATMUL_ID_TILE_N] / v[MATMUL_ID_THREAD_N]);
    const uint64_t sums = items * (v[MATMUL_ID_SLICES_K] > 1 ? v[MATMUL_ID_SLICES_K] - 1 : 1);
    if (point->variant->shared_bytes(point) != (tiles + (tiles < sums ? sums : 1)) * 4 * size)
        fail_at(point, "shared memory is not what the shader declares");
}

static void check_geometry(const wfi_point *point)
{
    uint32_t size[3];
    point->variant->group_size(point, size);
    const uint32_t items = size[0] * size[1] * size[2];
    if (items == 0 || items > point->caps->max_invocations)
        fail_at(point, "too many work-items");
    if (point->variant->shared_bytes &&
        point->variant->shared_bytes(point) > point->caps->max_shared_bytes)
        fail_at(point, "too much shared memory");
    if (strcmp(point->variant->name, "vector") == 0)
        vector_covers(point, point->values[MATMUL_ID_PAIRS]);
    else if (strcmp(point->variant->name, "subgroup_k") == 0) {
        slices_cover(point, items);
        slices_hold_their_tiles(point);
    } else if (strcmp(point->variant->name, "panel") == 0)
        panel_covers(point, items);
    else if (point->variant->needs & WFI_NEEDS_COOPERATIVE_MATRIX)
        cooperative_covers(point, items);
    else if (strcmp(point->variant->name, "register") == 0 &&
             items * point->values[MATMUL_ID_THREAD_M] * point->values[MATMUL_ID_THREAD_N] !=
                 point->values[MATMUL_ID_TILE_M] * point->values[MATMUL_ID_TILE_N])
        fail_at(point, "work-items do not fill the tile");
}

/* The model's point must be legal where it offers one; of the others, as many as are found. */
static uint32_t check_variant(wfi_point *point, uint64_t *random)
{
    uint32_t count = 0;
    char reason[256];
    wfi_point_defaults(point);
    if (point->variant->fit(point) >= 0) {
        if (!wfi_point_legal(point, reason))
            fail_at(point, reason);
        check_geometry(point);
        count++;
    }
    for (uint32_t n = 0, found = 0; n < 400 && found < DRAWN; n++) {
        for (uint32_t i = 0; i < point->variant->parameter_count; i++) {
            const wfi_parameter *p = &point->variant->parameters[i];
            wfi_point_put(point, i, p->candidates[below(random, p->candidate_count)]);
        }
        if (!wfi_point_legal(point, NULL))
            continue;
        check_geometry(point);
        found++;
        count++;
    }
    return count;
}

static uint32_t check_device(const wf_caps *caps, uint64_t *random)
{
    static const uint32_t shapes[][3] = {{4096, 4096, 4096}, {1000, 2000, 3000}, {64, 64, 65536},
                                         {1, 4096, 4096},    {127, 8192, 513},   {31, 29, 37}};
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    uint32_t count = 0;
    for (int type = 0; type < WF_TYPE_COUNT; type++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            wfi_problem problem = {.family = WF_FAMILY_MATMUL, .type = (wf_type)type};
            problem.matmul = wfi_matmul_plain(shapes[s][0], shapes[s][1], shapes[s][2]);
            problem.matmul.transpose_a = s % 2 != 0;
            problem.matmul.transpose_b = s % 3 != 0;
            problem.matmul.lda = problem.matmul.transpose_a ? shapes[s][0] : shapes[s][2];
            problem.matmul.ldb = problem.matmul.transpose_b ? shapes[s][2] : shapes[s][1];
            problem.matmul.fast = true;
            for (uint32_t v = 0; v < family->variant_count; v++) {
                wfi_point point = {
                    .caps = caps, .problem = &problem, .variant = family->variants[v]};
                if (point.variant->modules[type])
                    count += check_variant(&point, random);
            }
        }
    return count;
}

static void tiles_are_whole_for_every_subgroup_size(void **state)
{
    static const uint32_t limits[][2] = {{128, 16384}, {256, 32768}, {1024, 49152}};
    uint64_t random = 20261121;
    (void)state;
    for (uint32_t subgroup = 4; subgroup <= 128; subgroup *= 2)
        for (int control = 0; control < 2; control++)
            for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
                const wf_caps caps = device_of(subgroup, control != 0, limits[i][0], limits[i][1]);
                assert_true(check_device(&caps, &random) > 400);
            }
}

/* Matrix units are used whatever the subgroup size, where a work-group of it can hold a block. */
static void matrix_units_are_offered_for_every_subgroup_size(void **state)
{
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    const wfi_variant *variant = family->variants[wfi_variant_find(family, "cooperative")];
    wfi_problem problem = {.family = WF_FAMILY_MATMUL, .type = WF_TYPE_F16};
    problem.matmul = wfi_matmul_plain(1024, 1024, 1024);
    (void)state;
    if (!variant->modules[WF_TYPE_F16]->packed)
        skip(); /* the GLSL compiler is too old */
    for (uint32_t subgroup = 4; subgroup <= 128; subgroup *= 2) {
        const wf_caps caps = device_of(subgroup, false, 1024, 49152);
        wfi_point point = {.caps = &caps, .problem = &problem, .variant = variant};
        wfi_point_defaults(&point);
        assert_true(variant->fit(&point) >= 0);
        assert_int_equal(point.values[MATMUL_ID_SUBGROUP], subgroup);
    }
}

/* A known fault of compilers: slices of 128 that are a subgroup are refused by name; those of 64,
 * and those that are none, are not. */
static void slices_that_crash_a_compiler_are_refused(void **state)
{
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    const wfi_variant *variant = family->variants[wfi_variant_find(family, "subgroup_k")];
    wfi_problem problem = {.family = WF_FAMILY_MATMUL, .type = WF_TYPE_F32};
    wf_caps caps = device_of(128, true, 1024, 49152);
    char reason[256] = "";
    (void)state;
    problem.matmul = wfi_matmul_plain(1024, 1024, 1024);
    caps.subgroup_min = 64;
    caps.full_subgroups = true;
    for (int faulty = 0; faulty < 2; faulty++)
        for (uint32_t tile_m = 16; tile_m <= 32; tile_m += 16)
            for (uint32_t whole = 0; whole < 2; whole++) {
                wfi_point point = {.caps = &caps, .problem = &problem, .variant = variant};
                caps.faults = faulty ? WF_FAULT_FULL_SUBGROUPS : 0;
                wfi_point_defaults(&point);
                point.values[MATMUL_ID_TILE_M] = tile_m;
                point.values[MATMUL_ID_TILE_N] = 64;
                point.values[MATMUL_ID_PER_SUBGROUP] = whole;
                const bool legal = wfi_point_legal(&point, reason);
                assert_int_equal(legal, !(faulty && whole && tile_m == 32));
                if (!legal)
                    assert_non_null(strstr(reason, "compiler crashes"));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_are_whole_for_every_subgroup_size),
        cmocka_unit_test(matrix_units_are_offered_for_every_subgroup_size),
        cmocka_unit_test(slices_that_crash_a_compiler_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
