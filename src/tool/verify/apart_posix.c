#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "tool/verify/apart.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/platform.h"
#include "tool/cli/console.h"
#include "tool/cli/options.h"
#include "tool/cli/process.h"

#define POLL_SECONDS 0.02
#define KILL_SECONDS 10 /* how long a killed one may take to go */

void *wfi_apart_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void wfi_apart_free(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

/* Ends this process soon after its parent, which holds the other end of the pipe. */
static void *watch_parent(void *user)
{
    struct pollfd end = {.fd = *(const int *)user};
    while (poll(&end, 1, -1) < 0 || !(end.revents & (POLLERR | POLLHUP)))
        ;
    wfi_interrupt();
    wfi_sleep(WFI_GRACE_SECONDS);
    _exit(WFI_EXIT_FAILED);
}

/* Whether the child ended by now. */
static bool has_ended(pid_t child, int *status)
{
    const pid_t got = waitpid(child, status, WNOHANG);
    return got == child || (got < 0 && errno != EINTR);
}

static void end_by_force(pid_t child, int *status)
{
    const double until = wfi_host_seconds() + KILL_SECONDS;
    kill(child, SIGKILL);
    while (!has_ended(child, status) && wfi_host_seconds() < until)
        wfi_sleep(POLL_SECONDS);
}

/* Waits for the end; false: it was killed, since it hung. */
static bool wait_for(pid_t child, const uint64_t *progress, double seconds, int *status)
{
    uint64_t seen = *progress;
    double since = wfi_host_seconds();
    bool told = false;
    while (!has_ended(child, status)) {
        if (*progress != seen) {
            seen = *progress;
            since = wfi_host_seconds();
        }
        if (wfi_interrupted() && !told) {
            told = true;
            since = wfi_host_seconds() - seconds + WFI_GRACE_SECONDS;
            kill(child, SIGTERM);
        }
        if (wfi_host_seconds() - since > seconds) {
            end_by_force(child, status);
            return false;
        }
        wfi_sleep(POLL_SECONDS);
    }
    return true;
}

int wfi_apart_run(int (*run)(void *user), void *user, const uint64_t *progress, double seconds,
                  const char **how)
{
    static int ends[2]; /* the child's thread looks at it */
    int status = 0;
    fflush(NULL);
    if (pipe(ends) != 0)
        return wfi_run_error("no child process can be started: %s", strerror(errno));
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        wfi_thread_start(NULL, watch_parent, &ends[1]);
        const int code = run(user);
        fflush(NULL);
        _exit(code);
    }
    const int cause = errno;
    close(ends[1]);
    const bool ended = child > 0 && wait_for(child, progress, seconds, &status);
    close(ends[0]);
    if (child < 0)
        return wfi_run_error("no child process can be started: %s", strerror(cause));
    *how = !ended ? "the driver did not come back" : strsignal(WTERMSIG(status));
    return ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
