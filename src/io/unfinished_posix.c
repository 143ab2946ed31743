#include "io/unfinished.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "core/arithmetic.h"
#include "core/platform_file.h"

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

/* The temporaries that a signal's handler removes. In place, so that it needs no allocation;
 * `there` is set last and cleared first. */
#define MOST_UNFINISHED 4
static struct {
    volatile sig_atomic_t there;
    char path[PATH_MAX];
} unfinished[MOST_UNFINISHED];

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
#define ENDING (WFI_COUNT(ending))

void wfi_unfinished_remove_all(void)
{
    const int before = errno;
    for (int i = 0; i < MOST_UNFINISHED; i++)
        if (unfinished[i].there)
            unlink(unfinished[i].path);
    errno = before;
}

static void remove_and_end(int number)
{
    wfi_unfinished_remove_all();
    signal(number, SIG_DFL);
    raise(number);
}

/* While there is a temporary, a signal that would end the program removes it first. Signals that
 * the program handles or ignores stay as they are. */
static void watch_signals(bool on)
{
    for (size_t i = 0; i < ENDING; i++) {
        struct sigaction now, ours = {.sa_handler = on ? remove_and_end : SIG_DFL};
        sigemptyset(&ours.sa_mask);
        if (sigaction(ending[i], NULL, &now) == 0 &&
            now.sa_handler == (on ? SIG_DFL : remove_and_end))
            sigaction(ending[i], &ours, NULL);
    }
}

static void note_unfinished(const char *path)
{
    for (int i = 0; i < MOST_UNFINISHED; i++)
        if (!unfinished[i].there && strlen(path) < sizeof unfinished[i].path) {
            strcpy(unfinished[i].path, path);
            unfinished[i].there = 1;
            return;
        }
}

void wfi_unfinished_forget(const char *path)
{
    bool any = false;
    for (int i = 0; i < MOST_UNFINISHED; i++) {
        if (unfinished[i].there && strcmp(unfinished[i].path, path) == 0)
            unfinished[i].there = 0;
        any = any || unfinished[i].there;
    }
    if (!any)
        watch_signals(false);
}

int wfi_unfinished_make(char *path)
{
    sigset_t all, before;
    sigfillset(&all);
    watch_signals(true);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int fd = wfi_file_make_temporary(path);
    if (fd >= 0)
        note_unfinished(path);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (fd < 0)
        wfi_unfinished_forget(path);
    return fd;
}

void wfi_unfinished_remove(const char *path)
{
    wfi_file_remove(path);
    wfi_unfinished_forget(path);
}
