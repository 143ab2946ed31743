/* With WAVEFIT_TEST_QUICK only the defaults and the model's choice are visited; under an emulator,
 * the defaults alone.
 *
 * Walks the legal points of a variant: the defaults, the model's choice, every candidate of every
 * parameter around both, and random combinations. In one of CI's turns (WAVEFIT_TURN) a third of
 * the points that are neither defaults nor choices run, at full limits; all of them are counted. */
#ifndef WFI_TESTS_POINTS_H
#define WFI_TESTS_POINTS_H

#include "harness.h"
#include "plan/family.h"

typedef void (*test_point_fn)(void *user, const wfi_point *point);

bool test_quick(void);

/* With WAVEFIT_TEST_SUBGROUPS walks leave out variants that use no subgroups. */
bool test_is_left_out(const wfi_variant *variant);

/* WAVEFIT_TEST_PART=K/N has one process of N build what falls to it of things that are numbered
 * from 0 on; without it everything is this process's. */
bool test_is_mine(uint32_t number);

/* The number of the family's variants whose defaults are legal for the problem: the least number
 * of points of a quick walk. */
uint32_t test_legal_defaults(const wf_caps *caps, const wfi_problem *problem);

/* The same without the model's choice: on CPU drivers large blocks take seconds to compile. */
uint32_t test_each_small_point(const wf_caps *caps, const wfi_problem *problem,
                               const wfi_variant *variant, uint32_t random_points,
                               test_random *random, test_point_fn fn, void *user);

/* Calls fn for each legal point; returns how many there were. random_points more are drawn. */
uint32_t test_each_point(const wf_caps *caps, const wfi_problem *problem,
                         const wfi_variant *variant, uint32_t random_points, test_random *random,
                         test_point_fn fn, void *user);

/* Draws at most `most` legal points for which wanted() holds, until every candidate of every
 * parameter was in one or could not be. Of several draws the one with most candidates that were in
 * none is taken, so that there are few points. Returns how many there were. A variant without
 * parameters has one. */
uint32_t test_each_value(const wf_caps *caps, const wfi_problem *problem,
                         const wfi_variant *variant, bool (*wanted)(const wfi_point *point),
                         uint32_t most, test_random *random, test_point_fn fn, void *user);

/* Whether work-items have at most 64 registers, as on VideoCore and Mali, whose compilers take
 * minutes for kernels that need more. */
bool test_has_few_registers(const wf_caps *caps);

/* Whether a work-item's values, by the models' count, fit its registers; of products where those
 * are few. Everything else counts as fitting. */
bool test_fits_registers(const wfi_point *point);

/* Whether the last error is ANV's refusal of a kernel whose spilled registers need more scratch
 * memory than a thread can have, as the driver itself says (docs/devices.md). */
bool test_exceeds_scratch(const wf_caps *caps);

/* "variant a=1 b=2" */
void test_point_text(const wfi_point *point, char *text, size_t bytes);

/* The point as a wf_tuning that forces it; constants has room for WF_MAX_PARAMETERS. */
wf_tuning test_point_tuning(const wfi_point *point, wf_constant *constants);

#endif
