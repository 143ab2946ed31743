/* Processes of this program that it starts itself, since a driver that crashes or hangs takes only
 * such a one with it. Each has a pipe to its starter and one from it. */
#ifndef WFI_TOOL_CLI_PROCESS_H
#define WFI_TOOL_CLI_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"

/* How long a process that is told to end may take to do so by itself. */
#define WFI_GRACE_SECONDS 1

typedef struct wfi_process {
    intptr_t id;
    intptr_t to, from; /* ends of pipes */
} wfi_process;

/* The other ends, in the process that was started. */
typedef struct wfi_starter {
    intptr_t from, to;
} wfi_starter;

/* How a process ended. */
typedef struct wfi_process_end {
    bool told;    /* by a signal that asks a program to end */
    char how[64]; /* for people: "Segmentation fault" */
} wfi_process_end;

/* Starts this program with the role, which begins with "--", in place of a command. Ctrl-C at the
 * terminal is no matter of it. False: errno. */
bool wfi_process_start(const char *role, wfi_process *out);
/* Whether this process was started for the role. */
bool wfi_process_is(int argc, char **argv, const char *role, wfi_starter *starter);
/* Waits for its end; one that hangs is killed, and one that cannot be killed is left: false. Closes
 * the pipes. */
bool wfi_process_reap(wfi_process *process, bool hangs, wfi_process_end *end);
/* Ends this process at once, whatever its drivers do. */
void wfi_process_leave(int code);
/* Sees to it that this process ends soon after its starter closed the pipe, as its end does too,
 * however it came: nobody reads what is found. A driver that does not come back is left then, and
 * the journal emptied (""; none). The path stays where it is until the process ends. */
void wfi_process_watch_starter(const wfi_starter *starter, const char *journal);
/* A crash of this process shows and writes nothing. */
void wfi_process_crash_silently(void);
/* This program once more, with the environment of now, in place of this process: signals go to it,
 * and its exit code is this one's. Returns where it crashed, true and how, and where it did not
 * start, false. */
bool wfi_process_begin_again(char **argv, wfi_process_end *end);
/* The program of that name beside this one in place of this process; returns where that failed. */
void wfi_process_become(const char *name, char **argv);
/* Of this process and those that it starts; NULL: the variable is gone. */
void wfi_environment_set(const char *name, const char *value);

/* False: the reader is gone. */
bool wfi_pipe_write(intptr_t to, const void *data, size_t bytes);
/* The number of bytes that came, 0: none in so many seconds (< 0: waits for ever), -1: no more will
 * come. */
int64_t wfi_pipe_read(intptr_t from, void *data, size_t most, double seconds);
/* All bytes; false: they do not come. */
bool wfi_pipe_read_all(intptr_t from, void *data, size_t bytes);

/* Pointers mean nothing in another process: the texts that they lead to, or NULL, go behind what
 * has them, one after the other. */
void wfi_texts_put(wfi_text *texts, const char *text);
const char *wfi_texts_take(const char **at);
/* False: the reader is gone, or a text found no memory. */
bool wfi_pipe_write_texts(intptr_t to, const wfi_text *texts);
/* To take from; malloc'ed. NULL: they do not come, or there is no memory. */
char *wfi_pipe_read_texts(intptr_t from);

void wfi_pipe_close(intptr_t *end);

#endif
