#include "kernels/families.h"
#include "core/architectures.h"
#include "core/device.h"
#include "kernels/matmul/model.h"
#include "kernels/matmul/thin.h"
#include "kernels/matmul/tile.h"
#include "points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct walk {
    test_point_fn fn;
    void *user;
    uint32_t count;
} walk;

bool test_quick(void)
{
    return test_emulated() || getenv("WAVEFIT_TEST_QUICK") != NULL;
}

bool test_is_left_out(const wfi_variant *variant)
{
    return getenv("WAVEFIT_TEST_SUBGROUPS") && !variant->subgroup_operations &&
           !variant->subgroup_size;
}

bool test_is_mine(uint32_t number)
{
    const char *text = getenv("WAVEFIT_TEST_PART");
    char *end = NULL;
    if (!text)
        return true;
    const unsigned long part = strtoul(text, &end, 10);
    const unsigned long parts = *end == '/' ? strtoul(end + 1, NULL, 10) : 0;
    return parts == 0 || number % parts == part % parts;
}

uint32_t test_legal_defaults(const wf_caps *caps, const wfi_problem *problem)
{
    const wfi_family *family = wfi_family_get(problem->family);
    uint32_t count = 0;
    for (uint32_t v = 0; v < family->variant_count; v++) {
        wfi_point point = {.caps = caps, .problem = problem, .variant = family->variants[v]};
        wfi_point_defaults(&point);
        count += wfi_point_legal(&point, NULL);
    }
    return count;
}

static void visit(walk *w, const wfi_point *point)
{
    if (!wfi_point_legal(point, NULL))
        return;
    w->fn(w->user, point);
    w->count++;
}

/* Points beside the defaults and the model's choice, of which a turn has a third at full limits. */
static void visit_in_turn(walk *w, const wfi_point *point)
{
    static uint32_t number; /* over all walks, so that short ones do not fall to one turn */
    if (!wfi_point_legal(point, NULL))
        return;
    if (point->caps->limits == WF_LIMITS_MINIMUM || test_has_turn(number++))
        w->fn(w->user, point);
    w->count++;
}

/* WAVEFIT_TEST_CENTRE names the one of two centres whose neighbours are visited; else both. */
static bool has_neighbours(const char *name)
{
    const char *centre = getenv("WAVEFIT_TEST_CENTRE");
    return !test_quick() && (!centre || strcmp(centre, name) == 0);
}

static void visit_around(walk *w, const wfi_point *centre, const char *name)
{
    visit(w, centre);
    if (!has_neighbours(name))
        return;
    for (uint32_t p = 0; p < centre->variant->parameter_count; p++) {
        const wfi_parameter *parameter = &centre->variant->parameters[p];
        for (uint32_t c = 0; c < parameter->candidate_count; c++) {
            wfi_point point = *centre;
            if (wfi_point_get(&point, p) == parameter->candidates[c])
                continue;
            wfi_point_put(&point, p, parameter->candidates[c]);
            visit_in_turn(w, &point);
        }
    }
}

static void draw(wfi_point *point, test_random *random)
{
    const wfi_variant *variant = point->variant;
    for (uint32_t p = 0; p < variant->parameter_count; p++) {
        const wfi_parameter *parameter = &variant->parameters[p];
        if (parameter->candidate_count)
            wfi_point_put(
                point, p,
                parameter->candidates[test_random_below(random, parameter->candidate_count)]);
    }
}

static uint32_t each_point(const wf_caps *caps, const wfi_problem *problem,
                           const wfi_variant *variant, uint32_t random_points, test_random *random,
                           walk w, bool model_too)
{
    wfi_point point = {.caps = caps, .problem = problem, .variant = variant};
    wfi_point_defaults(&point);
    visit_around(&w, &point, "defaults");
    if (model_too && !test_emulated() && variant->fit(&point) >= 0)
        visit_around(&w, &point, "model");
    if (test_quick())
        random_points = 0;
    for (uint32_t n = 0; n < random_points; n++) {
        draw(&point, random);
        visit_in_turn(&w, &point);
    }
    return w.count;
}

/* How many candidates that were in no point yet are the point's values; marks them when told to. */
static uint32_t unseen(const wfi_point *point, uint32_t seen[WF_MAX_PARAMETERS], bool mark)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < point->variant->parameter_count; p++)
        for (uint32_t c = 0; c < point->variant->parameters[p].candidate_count; c++) {
            if (wfi_point_get(point, p) != point->variant->parameters[p].candidates[c])
                continue;
            count += !(seen[p] & 1u << c);
            if (mark)
                seen[p] |= 1u << c;
        }
    return count;
}

#define MOST_DRAWS 4000 /* for one candidate; a point of many parameters is legal rarely */
#define MOST_RIVALS 64  /* legal ones, of which the one with most that is new is visited */

/* Draws points with a candidate of a parameter; false: there is none. */
static bool draw_with(wfi_point *point, uint32_t p, uint32_t c,
                      bool (*wanted)(const wfi_point *point), uint32_t seen[WF_MAX_PARAMETERS],
                      test_random *random)
{
    uint32_t rivals = 0, most = 0;
    wfi_point drawn = *point;
    for (uint32_t n = 0; n < MOST_DRAWS && rivals < MOST_RIVALS; n++) {
        draw(&drawn, random);
        wfi_point_put(&drawn, p, point->variant->parameters[p].candidates[c]);
        if (!wfi_point_legal(&drawn, NULL) || !wanted(&drawn))
            continue;
        rivals++;
        const uint32_t count = unseen(&drawn, seen, false);
        if (count > most) {
            most = count;
            *point = drawn;
        }
    }
    return rivals > 0;
}

uint32_t test_each_value(const wf_caps *caps, const wfi_problem *problem,
                         const wfi_variant *variant, bool (*wanted)(const wfi_point *point),
                         uint32_t most, test_random *random, test_point_fn fn, void *user)
{
    uint32_t seen[WF_MAX_PARAMETERS] = {0};
    walk w = {fn, user, 0};
    wfi_point point = {.caps = caps, .problem = problem, .variant = variant};
    if (test_quick())
        most = 0;
    if (variant->parameter_count == 0 && most > 0)
        visit(&w, &point);
    for (uint32_t p = 0; p < variant->parameter_count; p++)
        for (uint32_t c = 0; c < variant->parameters[p].candidate_count && w.count < most; c++)
            if (!(seen[p] & 1u << c) && draw_with(&point, p, c, wanted, seen, random)) {
                visit_in_turn(&w, &point);
                unseen(&point, seen, true);
            }
    return w.count;
}

uint32_t test_each_point(const wf_caps *caps, const wfi_problem *problem,
                         const wfi_variant *variant, uint32_t random_points, test_random *random,
                         test_point_fn fn, void *user)
{
    return each_point(caps, problem, variant, random_points, random, (walk){fn, user, 0}, true);
}

uint32_t test_each_small_point(const wf_caps *caps, const wfi_problem *problem,
                               const wfi_variant *variant, uint32_t random_points,
                               test_random *random, test_point_fn fn, void *user)
{
    return each_point(caps, problem, variant, random_points, random, (walk){fn, user, 0}, false);
}

#define FEW_REGISTERS 64 /* of a work-item: VideoCore's and Mali's */

bool test_has_few_registers(const wf_caps *caps)
{
    const uint32_t most = wfi_unit_of(caps).lane_registers;
    return most > 0 && most <= FEW_REGISTERS;
}

/* Registers of 32 bits of a product by count, as models do: sums, and what is loaded. */
static uint32_t counted_registers(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint32_t *v = point->values, m = v[MATMUL_ID_THREAD_M], n = v[MATMUL_ID_THREAD_N];
    const char *name = point->variant->name;
    if (strcmp(name, "vector") == 0 || strcmp(name, "subgroup_k") == 0)
        return wfi_matmul_registers(point);
    if (strcmp(name, "outer") == 0)
        return ((uint32_t)p->k * n + m * n + 4 * m) * wfi_matmul_words(point);
    if (strcmp(name, "panel") != 0)
        return (m * n + m + n) * wfi_matmul_words(point);
    const uint32_t outputs = wfi_matmul_by_sum(p) ? v[MATMUL_ID_ROWS] : 4,
                   fours = (uint32_t)(wfi_matmul_vectors(p) + 3) / 4;
    return 4 * outputs * (fours + v[MATMUL_ID_BLOCKS]) * wfi_matmul_words(point);
}

bool test_fits_registers(const wfi_point *point)
{
    return point->problem->family != WF_FAMILY_MATMUL || !test_has_few_registers(point->caps) ||
           counted_registers(point) + WFI_OTHER_REGISTERS <=
               wfi_unit_of(point->caps).lane_registers;
}

bool test_exceeds_scratch(const wf_caps *caps)
{
    return caps->driver_id == VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA &&
           strstr(test_last_error(), "Scratch space required is larger than supported");
}

void test_point_text(const wfi_point *point, char *text, size_t bytes)
{
    int used = snprintf(text, bytes, "%s", point->variant->name);
    for (uint32_t i = 0; i < point->variant->parameter_count && (size_t)used < bytes; i++)
        used += snprintf(text + used, bytes - (size_t)used, " %s=%u",
                         point->variant->parameters[i].name, wfi_point_get(point, i));
}

wf_tuning test_point_tuning(const wfi_point *point, wf_constant *constants)
{
    const uint32_t count = point->variant->parameter_count;
    for (uint32_t i = 0; i < count; i++)
        constants[i] = (wf_constant){point->variant->parameters[i].name, wfi_point_get(point, i)};
    return (wf_tuning){.size = sizeof(wf_tuning),
                       .variant = point->variant->name,
                       .constants = constants,
                       .constant_count = count};
}
