#define WIN32_LEAN_AND_MEAN
#include "tool/cli/process.h"

#include <windows.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/heap.h"
#include "core/platform.h"
#include "core/wide.h"

#define KILL_SECONDS 60       /* how long a killed one may take to go, on a busy machine */
#define LOOK_SECONDS 5e-3     /* anonymous pipes can be looked into and not waited for */
#define PIPE_BYTES (1u << 20) /* that are written before the reader reads */
#define CRASH 0xC0000000u     /* codes from here on are exceptions */
#define MOST_PATH 32768

/* ----------------------------------------------------------------------------------- processes */

static HANDLE handle_of(intptr_t end)
{
    return (HANDLE)end;
}

/* A pipe of which the started program gets one end. */
static bool make_pipe(HANDLE *from, HANDLE *to, HANDLE *given)
{
    return CreatePipe(from, to, NULL, PIPE_BYTES) &&
           SetHandleInformation(*given, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
}

static void close_handle(HANDLE handle)
{
    if (handle)
        CloseHandle(handle);
}

static bool create_process(const char *role, HANDLE from, HANDLE to, HANDLE *process)
{
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION created;
    wchar_t *path = malloc(MOST_PATH * sizeof *path);
    char line[96];
    snprintf(line, sizeof line, "wavefit %s %llu %llu", role, (unsigned long long)(uintptr_t)from,
             (unsigned long long)(uintptr_t)to);
    wchar_t *arguments = wfi_wide(line);
    const DWORD units = path ? GetModuleFileNameW(NULL, path, MOST_PATH) : 0;
    fflush(NULL);
    const bool ok =
        arguments && units > 0 && units < MOST_PATH &&
        CreateProcessW(path, arguments, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &created);
    free(path);
    wfi_free(arguments);
    if (!ok)
        return false;
    CloseHandle(created.hThread);
    *process = created.hProcess;
    return true;
}

bool wfi_process_start(const char *role, wfi_process *out)
{
    HANDLE from = NULL, to = NULL, its_from = NULL, its_to = NULL, process = NULL;
    const bool ok = make_pipe(&its_from, &to, &its_from) && make_pipe(&from, &its_to, &its_to) &&
                    create_process(role, its_from, its_to, &process);
    close_handle(its_from);
    close_handle(its_to);
    if (!ok) {
        close_handle(from);
        close_handle(to);
        errno = EAGAIN;
        return false;
    }
    *out = (wfi_process){(intptr_t)process, (intptr_t)to, (intptr_t)from};
    return true;
}

bool wfi_process_is(int argc, char **argv, const char *role, wfi_starter *starter)
{
    if (argc != 4 || strcmp(argv[1], role) != 0)
        return false;
    starter->from = (intptr_t)strtoull(argv[2], NULL, 10);
    starter->to = (intptr_t)strtoull(argv[3], NULL, 10);
    SetHandleInformation(handle_of(starter->from), HANDLE_FLAG_INHERIT, 0);
    SetHandleInformation(handle_of(starter->to), HANDLE_FLAG_INHERIT, 0);
    return true;
}

bool wfi_process_reap(wfi_process *process, bool hangs, wfi_process_end *end)
{
    const HANDLE handle = handle_of(process->id);
    DWORD code = 0;
    if (hangs)
        TerminateProcess(handle, 1);
    const bool ended =
        WaitForSingleObject(handle, hangs ? KILL_SECONDS * 1000 : INFINITE) == WAIT_OBJECT_0;
    GetExitCodeProcess(handle, &code);
    CloseHandle(handle);
    wfi_pipe_close(&process->to); /* not before: it would take that for this process's end */
    wfi_pipe_close(&process->from);
    end->told = ended && code == (DWORD)STATUS_CONTROL_C_EXIT;
    if (ended && code >= CRASH)
        snprintf(end->how, sizeof end->how, "exception 0x%08lx", (unsigned long)code);
    else
        snprintf(end->how, sizeof end->how, "the driver ends its process");
    return ended;
}

/* ExitProcess would call drivers once more. */
void wfi_process_leave(int code)
{
    TerminateProcess(GetCurrentProcess(), (UINT)code);
}

void wfi_process_crash_silently(void)
{
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
    if (!freopen("NUL", "w", stderr))
        wfi_process_leave(1);
}

/* No driver of a device that is not there is one of Windows. */
bool wfi_process_begin_again(char **argv, wfi_process_end *end)
{
    (void)argv;
    (void)end;
    return false;
}

void wfi_process_become(const char *name, char **argv)
{
    (void)name;
    (void)argv;
}

void wfi_environment_set(const char *name, const char *value)
{
    wchar_t *wide_name = wfi_wide(name), *wide = value ? wfi_wide(value) : NULL;
    /* "" removes. The C library tells the system. */
    if (wide_name && (wide || !value))
        _wputenv_s(wide_name, wide ? wide : L"");
    wfi_free(wide_name);
    wfi_free(wide);
}

/* --------------------------------------------------------------------------------------- pipes */

bool wfi_pipe_write(intptr_t to, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0) {
        DWORD written = 0;
        const DWORD part = bytes < PIPE_BYTES ? (DWORD)bytes : PIPE_BYTES;
        if (!WriteFile(handle_of(to), at, part, &written, NULL))
            return false;
        at += written;
        bytes -= written;
    }
    return true;
}

int64_t wfi_pipe_read(intptr_t from, void *data, size_t most, double seconds)
{
    const double until = wfi_host_seconds() + seconds;
    DWORD there = 0, got = 0;
    while (seconds >= 0) {
        if (!PeekNamedPipe(handle_of(from), NULL, 0, NULL, &there, NULL))
            return -1;
        if (there > 0)
            break;
        if (wfi_host_seconds() >= until)
            return 0;
        wfi_sleep(LOOK_SECONDS);
    }
    const DWORD part = most < PIPE_BYTES ? (DWORD)most : PIPE_BYTES;
    return ReadFile(handle_of(from), data, part, &got, NULL) ? (int64_t)got : -1;
}

void wfi_pipe_close(intptr_t *end)
{
    if (*end >= 0)
        CloseHandle(handle_of(*end));
    *end = -1;
}
