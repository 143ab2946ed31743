/* What device tests share: a device as the environment asks, random data, failures that say how to
 * repeat them. */
#ifndef WFI_TESTS_HARNESS_H
#define WFI_TESTS_HARNESS_H

#if !defined(TEST_ON_WINDOWS)
#define TEST_ON_WINDOWS 0 /* tests/windows/posix.h says 1 */
#endif

#include "wavefit/wavefit.h"

/* cmocka group fixtures: *state is a wf_device on the driver that the loader is pointed at, with
 * WAVEFIT_TEST_LIMITS=minimum or full. Errors logged go to stderr. */
/* The limits of the environment, and a log that keeps errors for test_last_error. */
wf_device_params test_device_params(void);
int test_device_setup(void **state);
/* One that has the compiler's statistics, and no pipelines of runs before. */
int test_statistics_setup(void **state);
int test_device_teardown(void **state);

/* The last line of error logged, "" if none since the last call. */
const char *test_last_error(void);
/* Keeps expected errors off stderr while on. */
void test_expect_errors(bool on);

/* The seed of this run: WAVEFIT_TEST_SEED or a fixed one; failures print it. */
uint64_t test_seed(void);

/* splitmix64 (Steele, Lea, Flood 2014). */
typedef struct test_random {
    uint64_t state;
} test_random;
uint64_t test_random_bits(test_random *random);
uint32_t test_random_below(test_random *random, uint32_t bound);
double test_random_uniform(test_random *random); /* in [-1, 1) */

/* Whether the device computes in the type: F32, F64, or a packed one. */
bool test_has_type(const wf_device *device, wf_type type);

/* Whether an emulator runs the test (cross-compiled builds set WAVEFIT_TEST_EMULATED). Drivers then
 * take seconds to compile a small kernel and minutes for a large one. Every family, type and
 * variant still runs; only further kernels that show the same are left out. */
bool test_emulated(void);

/* Whether what has the number runs in the turn of CI's that WAVEFIT_TURN names: one in three, all
 * of it without a turn. */
bool test_has_turn(uint32_t number);

/* Fills a buffer with NaN bit patterns (all bits set). */
void test_poison(wf_buffer *buffer);

#endif
