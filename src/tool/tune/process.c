#include "tool/tune/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tool/cli/clock.h"
#include "tool/cli/options.h"
#include "tool/cli/progress.h"

#define KILL_SECONDS 10 /* how long a killed one may take to go */

/* A symbolic link is not followed. */
bool wfi_journal_empty(const char *path)
{
    const int fd = *path ? open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    if (fd < 0)
        return !*path || errno == ENOENT;
    const bool ok = ftruncate(fd, 0) == 0;
    close(fd);
    return ok;
}

bool wfi_child_reap(pid_t pid, bool hangs, int *status)
{
    if (hangs)
        kill(pid, SIGKILL);
    const double until = wfi_clock_seconds() + KILL_SECONDS;
    for (;;) {
        const pid_t got = waitpid(pid, status, hangs ? WNOHANG : 0);
        if (got == pid)
            return true;
        if (got < 0 && errno != EINTR)
            return false;
        if (hangs && wfi_clock_seconds() > until)
            return false;
        if (hangs)
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
}

static void *watch_parent(void *user)
{
    const wfi_parent_watch *w = user;
    struct pollfd end = {.fd = w->pipe};
    while (poll(&end, 1, -1) < 0 || !(end.revents & (POLLERR | POLLHUP)))
        ;
    wfi_interrupt();
    nanosleep(&(struct timespec){.tv_sec = WFI_GRACE_SECONDS}, NULL);
    wfi_journal_empty(w->journal);
    _exit(WFI_EXIT_FAILED);
}

void wfi_parent_watch_start(wfi_parent_watch *w)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, watch_parent, w) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
