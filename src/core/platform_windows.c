#define WIN32_LEAN_AND_MEAN
#include "core/platform.h"

#include <windows.h>

#include <errno.h>
#include <math.h>
#include <process.h>

#include "core/heap.h"
#include "core/wide.h"

_Static_assert(sizeof(wfi_mutex) == sizeof(SRWLOCK), "the lock has another size");
_Static_assert(sizeof(wfi_condition) == sizeof(CONDITION_VARIABLE), "the condition has, too");

/* Windows alone looks inside. */
static SRWLOCK *lock_of(wfi_mutex *mutex)
{
    void *state = mutex;
    return state;
}

static CONDITION_VARIABLE *condition_of(wfi_condition *condition)
{
    void *state = condition;
    return state;
}

bool wfi_mutex_init(wfi_mutex *mutex)
{
    InitializeSRWLock(lock_of(mutex));
    return true;
}

void wfi_mutex_destroy(wfi_mutex *mutex)
{
    (void)mutex; /* it holds nothing */
}

void wfi_mutex_lock(wfi_mutex *mutex)
{
    AcquireSRWLockExclusive(lock_of(mutex));
}

void wfi_mutex_unlock(wfi_mutex *mutex)
{
    ReleaseSRWLockExclusive(lock_of(mutex));
}

bool wfi_condition_init(wfi_condition *condition)
{
    InitializeConditionVariable(condition_of(condition));
    return true;
}

void wfi_condition_destroy(wfi_condition *condition)
{
    (void)condition;
}

void wfi_condition_wait(wfi_condition *condition, wfi_mutex *mutex)
{
    SleepConditionVariableSRW(condition_of(condition), lock_of(mutex), INFINITE, 0);
}

void wfi_condition_signal(wfi_condition *condition)
{
    WakeConditionVariable(condition_of(condition));
}

void wfi_condition_broadcast(wfi_condition *condition)
{
    WakeAllConditionVariable(condition_of(condition));
}

typedef struct start {
    void *(*run)(void *user);
    void *user;
} start;

static unsigned __stdcall run_started(void *memory)
{
    const start s = *(start *)memory;
    wfi_free(memory);
    s.run(s.user);
    return 0;
}

bool wfi_thread_start(wfi_thread *thread, void *(*run)(void *user), void *user)
{
    start *s = wfi_malloc(sizeof *s);
    if (!s)
        return false;
    *s = (start){run, user};
    const HANDLE started = (HANDLE)_beginthreadex(NULL, 0, run_started, s, 0, NULL);
    if (!started) {
        wfi_free(s);
        return false;
    }
    if (thread)
        *thread = started;
    else
        CloseHandle(started);
    return true;
}

void wfi_thread_join(wfi_thread thread)
{
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
}

void wfi_thread_yield(void)
{
    SwitchToThread();
}

double wfi_host_seconds(void)
{
    LARGE_INTEGER ticks, each_second;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&each_second);
    return (double)ticks.QuadPart / (double)each_second.QuadPart;
}

/* Sleep's own steps are up to 16 ms long; less than one is passed by yielding. */
void wfi_sleep(double seconds)
{
    const double until = wfi_host_seconds() + seconds;
    if (seconds >= 1e-3)
        Sleep((DWORD)(seconds * 1e3));
    else
        do
            SwitchToThread();
        while (wfi_host_seconds() < until);
}

/* Of all groups: a group has at most 64. */
uint32_t wfi_processors(void)
{
    const DWORD count = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return count > 0 ? count : 1;
}

double wfi_memory_total(void)
{
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) ? (double)status.ullTotalPhys : (double)INFINITY;
}

/* Timeout detection and recovery, after two seconds unless the user changed that. */
bool wfi_system_watches_gpus(void)
{
    return true;
}

/* Not from the folder where the program happens to run. */
void *wfi_library_open(const char *name)
{
    return LoadLibraryExA(name, NULL, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
}

void (*wfi_library_symbol(void *library, const char *name))(void)
{
    return (void (*)(void))GetProcAddress(library, name);
}

void wfi_library_close(void *library)
{
    FreeLibrary(library);
}

const char *const wfi_vulkan_loaders[] = {"vulkan-1.dll", NULL};

wchar_t *wfi_wide(const char *text)
{
    const int units = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    wchar_t *wide = units > 0 ? wfi_malloc((size_t)units * sizeof *wide) : NULL;
    if (wide)
        MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, wide, units);
    else
        errno = units > 0 ? ENOMEM : EILSEQ;
    return wide;
}

char *wfi_narrow(const wchar_t *text)
{
    const int bytes = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *narrow = bytes > 0 ? wfi_malloc((size_t)bytes) : NULL;
    if (narrow)
        WideCharToMultiByte(CP_UTF8, 0, text, -1, narrow, bytes, NULL, NULL);
    return narrow;
}
