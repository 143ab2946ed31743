#include "tool/cli/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/arithmetic.h"
#include "core/platform.h"

#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

#define KILL_SECONDS 60 /* how long a killed one may take to go, on a busy machine */
#define MOST_PATH 4096

/* This program, as it was started, even where its file was replaced since. */
static const char *program(char path[MOST_PATH])
{
#if defined(__APPLE__)
    uint32_t bytes = MOST_PATH;
    return _NSGetExecutablePath(path, &bytes) == 0 ? path : NULL;
#else
    snprintf(path, MOST_PATH, "/proc/self/exe");
    return path;
#endif
}

/* ----------------------------------------------------------------------------------- processes */

static void close_both(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

/* A pipe that programs which are started do not get. */
static bool make_pipe(int ends[2])
{
    if (pipe(ends) != 0)
        return false;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return true;
}

/* Between fork and exec, where no more than this may be called. */
static void become(const char *path, char *const argv[], int from, int to)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    fcntl(from, F_SETFD, 0);
    fcntl(to, F_SETFD, 0);
    execv(path, argv);
    _exit(1);
}

bool wfi_process_start(const char *role, wfi_process *out)
{
    char path[MOST_PATH], name[] = "wavefit", what[32], from[16], to[16];
    char *const argv[] = {name, what, from, to, NULL};
    int down[2], up[2];
    if (!program(path) || access(path, X_OK) != 0 || !make_pipe(down))
        return false;
    if (!make_pipe(up)) {
        close_both(down);
        return false;
    }
    snprintf(what, sizeof what, "%s", role);
    snprintf(from, sizeof from, "%d", down[0]);
    snprintf(to, sizeof to, "%d", up[1]);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        become(path, argv, down[0], up[1]);
    const int cause = errno;
    close(down[0]);
    close(up[1]);
    if (child < 0) {
        close(down[1]);
        close(up[0]);
        errno = cause;
        return false;
    }
    *out = (wfi_process){.id = child, .to = down[1], .from = up[0]};
    return true;
}

bool wfi_process_is(int argc, char **argv, const char *role, wfi_starter *starter)
{
    if (argc != 4 || strcmp(argv[1], role) != 0)
        return false;
    *starter = (wfi_starter){.from = strtol(argv[2], NULL, 10), .to = strtol(argv[3], NULL, 10)};
    fcntl((int)starter->from, F_SETFD, FD_CLOEXEC);
    fcntl((int)starter->to, F_SETFD, FD_CLOEXEC);
    return true;
}

/* Waits for the process; false: it is still there. */
static bool wait_for(pid_t id, bool hangs, int *status)
{
    if (hangs)
        kill(id, SIGKILL);
    const double until = wfi_host_seconds() + KILL_SECONDS;
    for (;;) {
        const pid_t got = waitpid(id, status, hangs ? WNOHANG : 0);
        if (got == id)
            return true;
        if (got < 0 && errno != EINTR)
            return false;
        if (hangs && wfi_host_seconds() > until)
            return false;
        if (hangs)
            wfi_sleep(0.02);
    }
}

static void tell_end(int status, wfi_process_end *end)
{
    end->told = WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
    snprintf(end->how, sizeof end->how, "%s",
             WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "the driver ends its process");
}

bool wfi_process_reap(wfi_process *process, bool hangs, wfi_process_end *end)
{
    int status = 0;
    const bool ended = wait_for((pid_t)process->id, hangs, &status);
    wfi_pipe_close(&process->to); /* not before: it would take that for this process's end */
    wfi_pipe_close(&process->from);
    tell_end(ended ? status : 0, end);
    return ended;
}

void wfi_process_leave(int code)
{
    _exit(code);
}

void wfi_process_crash_silently(void)
{
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    if (!freopen("/dev/null", "w", stderr))
        _exit(1);
}

#define NOT_STARTED 127

static volatile pid_t begun;

static void pass_on(int number)
{
    kill(begun, number);
}

bool wfi_process_begin_again(char **argv, wfi_process_end *end)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    /* Not signal(), whose handler is gone after the first signal on some systems. */
    const struct sigaction passes = {.sa_handler = pass_on};
    struct sigaction now;
    char path[MOST_PATH];
    int status = 0;
    if (!program(path))
        return false;
    fflush(NULL);
    begun = fork();
    if (begun == 0) {
        execv(path, argv);
        _exit(NOT_STARTED);
    }
    if (begun < 0)
        return false;
    for (size_t i = 0; i < WFI_COUNT(ends); i++)
        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(ends[i], &passes, NULL);
    if (!wait_for(begun, false, &status))
        return false;
    if (WIFEXITED(status) && WEXITSTATUS(status) != NOT_STARTED)
        _exit(WEXITSTATUS(status));
    for (size_t i = 0; i < WFI_COUNT(ends); i++)
        if (WIFSIGNALED(status) && WTERMSIG(status) == ends[i]) {
            signal(ends[i], SIG_DFL);
            raise(ends[i]);
        }
    tell_end(status, end);
    return WIFSIGNALED(status);
}

void wfi_process_become(const char *name, char **argv)
{
    char own[MOST_PATH], path[MOST_PATH + 64];
    if (!program(own))
        return;
    const ssize_t length = readlink(own, path, MOST_PATH - 1);
    if (length > 0)
        path[length] = '\0';
    else
        snprintf(path, sizeof path, "%s", own); /* a path, no link */
    char *folder_end = strrchr(path, '/');
    if (!folder_end)
        return;
    snprintf(folder_end + 1, sizeof path - (size_t)(folder_end + 1 - path), "%s", name);
    fflush(NULL);
    execv(path, argv);
}

void wfi_environment_set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* --------------------------------------------------------------------------------------- pipes */

bool wfi_pipe_write(intptr_t to, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0) {
        const ssize_t written = write((int)to, at, bytes);
        if (written <= 0 && errno != EINTR)
            return false;
        if (written > 0) {
            at += written;
            bytes -= (size_t)written;
        }
    }
    return true;
}

int64_t wfi_pipe_read(intptr_t from, void *data, size_t most, double seconds)
{
    struct pollfd readable = {.fd = (int)from, .events = POLLIN};
    const int ready = poll(&readable, 1, seconds < 0 ? -1 : (int)(seconds * 1e3));
    if (ready == 0 || (ready < 0 && errno == EINTR))
        return 0;
    const ssize_t got = ready > 0 ? read((int)from, data, most) : -1;
    return got > 0 ? got : got < 0 && errno == EINTR ? 0 : -1;
}

void wfi_pipe_close(intptr_t *end)
{
    if (*end >= 0)
        close((int)*end);
    *end = -1;
}
