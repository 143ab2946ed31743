#include "tool/host/host.h"

#include <math.h>
#include <stdio.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "core/platform.h"
#include "tool/cli/console.h"
#include "tool/cli/sort.h"

#define SLOW_RATE 1e9   /* operations a second that any core reaches */
#define MOST_SECONDS 10 /* of one operation, by that rate */
#define LEAST_SAMPLES 3
#define MOST_SAMPLES 25

uint32_t wfi_host_threads(void)
{
#ifdef _OPENMP
    return (uint32_t)omp_get_max_threads();
#else
    return 1;
#endif
}

bool wfi_host_has_openmp(void)
{
#ifdef _OPENMP
    return true;
#else
    return false;
#endif
}

bool wfi_host_begin(double flops, wfi_result_host *out)
{
    const double seconds = flops / (SLOW_RATE * wfi_host_threads());
    *out = (wfi_result_host){
        .asked = true, .threads = wfi_host_threads(), .openmp = wfi_host_has_openmp()};
    if (seconds <= MOST_SECONDS)
        return true;
    snprintf(out->reason, sizeof out->reason, "skipped: it may take over %d s", MOST_SECONDS);
    return false;
}

bool wfi_host_verified(wf_result result, wfi_result_host *out)
{
    if (result != WF_SUCCESS)
        snprintf(out->reason, sizeof out->reason, "%s", wf_result_string(result));
    else if (!(out->check.error_over_bound <= 1))
        snprintf(out->reason, sizeof out->reason, "wrong: %.3g times the error bound",
                 out->check.error_over_bound);
    out->verified = !*out->reason;
    return out->verified;
}

void wfi_host_time(void (*run)(void *), void *user, double seconds, wfi_result_host *out)
{
    double samples[MOST_SAMPLES];
    const double begun = wfi_host_seconds();
    uint32_t count = 0;
    while (count < MOST_SAMPLES && !wfi_interrupted() &&
           (count < LEAST_SAMPLES || wfi_host_seconds() - begun < seconds)) {
        const double start = wfi_host_seconds();
        run(user);
        samples[count++] = (wfi_host_seconds() - start) * 1e6;
    }
    if (count == 0)
        return;
    wfi_sort(samples, count);
    out->samples = count;
    out->median_us = samples[count / 2];
    out->spread = (samples[count - 1 - count / 4] - samples[count / 4]) / out->median_us;
}
