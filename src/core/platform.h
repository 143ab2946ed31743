/* What operating systems do each in their own way: threads and locks, the clock, the machine,
 * libraries. platform_posix.c and platform_windows.c have it, and files are in platform_file.h; no
 * other source of the library asks which system it runs on. */
#ifndef WFI_CORE_PLATFORM_H
#define WFI_CORE_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
/* A slim lock, a condition variable and a handle, without windows.h in every source. */
typedef struct wfi_mutex {
    void *state;
} wfi_mutex;
typedef struct wfi_condition {
    void *state;
} wfi_condition;
typedef void *wfi_thread;
#define WFI_MUTEX_INIT                                                                             \
    {                                                                                              \
        0                                                                                          \
    }
#else
#include <pthread.h>
typedef pthread_mutex_t wfi_mutex;
typedef pthread_cond_t wfi_condition;
typedef pthread_t wfi_thread;
#define WFI_MUTEX_INIT PTHREAD_MUTEX_INITIALIZER
#endif

/* A variable of which each thread has its own. */
#if defined(_MSC_VER)
#define WFI_THREAD_LOCAL __declspec(thread)
#else
#define WFI_THREAD_LOCAL _Thread_local
#endif

/* A thread cannot lock a mutex twice. False: the system has no more of them. */
bool wfi_mutex_init(wfi_mutex *mutex);
void wfi_mutex_destroy(wfi_mutex *mutex);
void wfi_mutex_lock(wfi_mutex *mutex);
void wfi_mutex_unlock(wfi_mutex *mutex);

bool wfi_condition_init(wfi_condition *condition);
void wfi_condition_destroy(wfi_condition *condition);
/* Unlocks the mutex while it waits; may return early. */
void wfi_condition_wait(wfi_condition *condition, wfi_mutex *mutex);
void wfi_condition_signal(wfi_condition *condition);
void wfi_condition_broadcast(wfi_condition *condition);

/* Starts a thread that takes no signals: they are the application's. `thread` NULL: nobody waits
 * for its end. False: the system gives none. */
bool wfi_thread_start(wfi_thread *thread, void *(*run)(void *user), void *user);
void wfi_thread_join(wfi_thread thread);
/* Lets another thread have the processor. */
void wfi_thread_yield(void);

/* Seconds on a monotonic clock. */
double wfi_host_seconds(void);
void wfi_sleep(double seconds);

/* Processors that are there, at least one. */
uint32_t wfi_processors(void);
/* Bytes of memory that the machine has, or that this process may have by the system's limits;
 * infinite where neither is known. */
double wfi_memory_total(void);
/* Whether the system ends what a GPU works at for seconds although it drives no display. */
bool wfi_system_watches_gpus(void);

/* A library of the system; NULL: it cannot be loaded. */
void *wfi_library_open(const char *name);
void (*wfi_library_symbol(void *library, const char *name))(void);
void wfi_library_close(void *library);
/* Names of the Vulkan loader, the usual one first; NULL behind the last. */
extern const char *const wfi_vulkan_loaders[];

#endif
