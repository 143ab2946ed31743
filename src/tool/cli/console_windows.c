#define WIN32_LEAN_AND_MEAN
#include "tool/cli/console.h"

#include <windows.h>

#include <shellapi.h>

#include <fcntl.h>
#include <io.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/heap.h"
#include "core/platform.h"
#include "core/wide.h"
#include "io/unfinished.h"
#include "tool/cli/process.h"

#define TOGETHER_SECONDS 0.3 /* events that mean one */
#define LAST_SECONDS 4       /* of the five that Windows gives when a console closes */

/* ---------------------------------------------------------------------------------- interrupts */

static atomic_bool interrupted, taken, ignored;
static double first; /* when; of the handler's thread */

static void end_now(void)
{
    wfi_unfinished_remove_all();
    wfi_process_leave((int)STATUS_CONTROL_C_EXIT);
}

/* In a thread of its own. TRUE: the event is dealt with. */
static BOOL WINAPI handle_event(DWORD event)
{
    const bool closes = event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT;
    if (atomic_load(&ignored))
        return TRUE;
    if (!atomic_load(&taken))
        end_now();
    if (!atomic_exchange(&interrupted, true))
        first = wfi_host_seconds();
    else if (wfi_host_seconds() - first > TOGETHER_SECONDS)
        end_now();
    /* The process ends when this returns: until then its main thread writes what there is. */
    if (closes)
        wfi_sleep(LAST_SECONDS);
    return TRUE;
}

bool wfi_interrupted(void)
{
    atomic_store(&taken, true);
    return atomic_load(&interrupted);
}

bool wfi_interrupt_noted(void)
{
    return atomic_load(&interrupted);
}

void wfi_interrupt(void)
{
    atomic_store(&interrupted, true);
}

void wfi_interrupts_are_the_starters(void)
{
    atomic_store(&ignored, true);
}

/* ------------------------------------------------------------------------------------ terminal */

static UINT code_page;

/* The console is the user's, who goes on with it. */
static void restore_code_page(void)
{
    SetConsoleOutputCP(code_page);
}

/* Those of main are in a code page that lacks most letters. */
static void read_arguments(int *argc, char ***argv)
{
    int count = 0;
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &count);
    char **narrow = wide ? calloc((size_t)count + 1, sizeof *narrow) : NULL;
    int done = 0;
    while (narrow && done < count && (narrow[done] = wfi_narrow(wide[done])))
        done++;
    LocalFree(wide);
    if (!narrow || done < count) { /* no memory: the program keeps what it has */
        for (int i = 0; i < done; i++)
            wfi_free(narrow[i]);
        free(narrow);
        return;
    }
    *argc = count;
    *argv = narrow;
}

void wfi_console_start(int *argc, char ***argv)
{
    read_arguments(argc, argv);
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
    SetConsoleCtrlHandler(handle_event, TRUE);
    code_page = GetConsoleOutputCP();
    if (code_page && SetConsoleOutputCP(CP_UTF8))
        atexit(restore_code_page);
    /* Files and pipes get the same bytes as on other systems. */
    _setmode(_fileno(stdout), _O_BINARY);
    _setmode(_fileno(stderr), _O_BINARY);
}

/* A write to a pipe fails for no other reason. */
bool wfi_console_reader_is_gone(void)
{
    return GetFileType(GetStdHandle(STD_OUTPUT_HANDLE)) == FILE_TYPE_PIPE;
}

/* isatty says yes of NUL too; and consoles of before Windows 10 know no sequences. */
bool wfi_console_draws(void)
{
    const HANDLE console = GetStdHandle(STD_ERROR_HANDLE);
    DWORD mode;
    return GetConsoleMode(console, &mode) &&
           ((mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING) ||
            SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING));
}

int wfi_console_columns(void)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    return GetConsoleScreenBufferInfo(GetStdHandle(STD_ERROR_HANDLE), &info)
               ? info.srWindow.Right - info.srWindow.Left + 1
               : 0;
}
