#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

static char last_error[1024];
static bool errors_expected;

static void keep_log(void *user, wf_log_level level, const char *text)
{
    (void)user;
    if (level == WF_LOG_ERROR)
        snprintf(last_error, sizeof last_error, "%s", text);
    if (level != WF_LOG_ERROR || !errors_expected)
        fprintf(stderr, "wavefit: %s\n", text);
}

const char *test_last_error(void)
{
    static char copy[sizeof last_error];
    memcpy(copy, last_error, sizeof copy);
    last_error[0] = '\0';
    return copy;
}

void test_expect_errors(bool on)
{
    errors_expected = on;
}

wf_device_params test_device_params(void)
{
    const char *limits = getenv("WAVEFIT_TEST_LIMITS");
    const bool minimum = limits && strcmp(limits, "minimum") == 0;
    return (wf_device_params){
        .size = sizeof(wf_device_params),
        .limits = minimum ? WF_LIMITS_MINIMUM : WF_LIMITS_DEVICE,
        .log = keep_log,
    };
}

int test_device_setup(void **state)
{
    const wf_device_params params = test_device_params();
    wf_device *device = NULL;
    if (wf_device_create(&params, &device) != WF_SUCCESS)
        return -1;
    printf("device: %s, seed %llu\n", wf_device_caps(device)->name,
           (unsigned long long)test_seed());
    *state = device;
    return 0;
}

int test_statistics_setup(void **state)
{
    wf_device_params params = test_device_params();
    params.capture_statistics = true;
    params.cache_directory = "";
    wf_device *device = NULL;
    const wf_result result = wf_device_create(&params, &device);
    *state = device;
    return result == WF_SUCCESS ? 0 : -1;
}

int test_device_teardown(void **state)
{
    wf_device *device = *state;
    wf_device_destroy(&device);
    return 0;
}

bool test_emulated(void)
{
    return getenv("WAVEFIT_TEST_EMULATED") != NULL;
}

bool test_has_turn(uint32_t number)
{
    const char *turn = getenv("WAVEFIT_TURN");
    return !turn || strcmp(turn, "all") == 0 || number % 3 == strtoul(turn, NULL, 10);
}

uint64_t test_seed(void)
{
    const char *text = getenv("WAVEFIT_TEST_SEED");
    return text ? strtoull(text, NULL, 10) : UINT64_C(20261121);
}

uint64_t test_random_bits(test_random *random)
{
    uint64_t z = (random->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint32_t test_random_below(test_random *random, uint32_t bound)
{
    return (uint32_t)(((test_random_bits(random) >> 32) * bound) >> 32);
}

double test_random_uniform(test_random *random)
{
    return (double)(test_random_bits(random) >> 11) * 0x1p-52 - 1.0;
}

bool test_has_type(const wf_device *device, wf_type type)
{
    return type != WF_TYPE_F64 || wf_device_caps(device)->f64;
}

void test_poison(wf_buffer *buffer)
{
    assert_int_equal(wf_buffer_fill(buffer, 0, wf_buffer_size(buffer), UINT32_MAX), WF_SUCCESS);
}
