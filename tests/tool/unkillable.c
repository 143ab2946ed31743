/* For LD_PRELOAD: SIGKILL ends nobody, as where a process waits in a driver for its device. The
 * host's clock runs 20 times as fast, so that waits of minutes for such a process are seconds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PACE 20

#define EXPORT __attribute__((visibility("default")))

/* By memcpy: C has no conversion from a pointer to data. */
static void find(const char *name, void *function, size_t bytes)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        _exit(99);
    memcpy(function, &found, bytes);
}

EXPORT int kill(pid_t id, int number)
{
    int (*real)(pid_t, int);
    find("kill", &real, sizeof real);
    return number == SIGKILL ? 0 : real(id, number);
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        find("clock_gettime", &real, sizeof real);
    const int result = real(clock, now);
    if (clock == CLOCK_MONOTONIC && result == 0) {
        const long long sum = (long long)now->tv_nsec * PACE;
        now->tv_sec = now->tv_sec * PACE + (time_t)(sum / 1000000000);
        now->tv_nsec = (long)(sum % 1000000000);
    }
    return result;
}
