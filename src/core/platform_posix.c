#include "core/platform.h"

#include <dlfcn.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

bool wfi_mutex_init(wfi_mutex *mutex)
{
    return pthread_mutex_init(mutex, NULL) == 0;
}

void wfi_mutex_destroy(wfi_mutex *mutex)
{
    pthread_mutex_destroy(mutex);
}

void wfi_mutex_lock(wfi_mutex *mutex)
{
    pthread_mutex_lock(mutex);
}

void wfi_mutex_unlock(wfi_mutex *mutex)
{
    pthread_mutex_unlock(mutex);
}

bool wfi_condition_init(wfi_condition *condition)
{
    return pthread_cond_init(condition, NULL) == 0;
}

void wfi_condition_destroy(wfi_condition *condition)
{
    pthread_cond_destroy(condition);
}

void wfi_condition_wait(wfi_condition *condition, wfi_mutex *mutex)
{
    pthread_cond_wait(condition, mutex);
}

void wfi_condition_signal(wfi_condition *condition)
{
    pthread_cond_signal(condition);
}

void wfi_condition_broadcast(wfi_condition *condition)
{
    pthread_cond_broadcast(condition);
}

bool wfi_thread_start(wfi_thread *thread, void *(*run)(void *user), void *user)
{
    sigset_t all, before;
    pthread_t started;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool ok = pthread_create(&started, NULL, run, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok && thread)
        *thread = started;
    else if (ok)
        pthread_detach(started);
    return ok;
}

void wfi_thread_join(wfi_thread thread)
{
    pthread_join(thread, NULL);
}

void wfi_thread_yield(void)
{
    sched_yield();
}

double wfi_host_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void wfi_sleep(double seconds)
{
    const time_t whole = (time_t)seconds;
    nanosleep(
        &(struct timespec){.tv_sec = whole, .tv_nsec = (long)((seconds - (double)whole) * 1e9)},
        NULL);
}

uint32_t wfi_processors(void)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 1;
}

double wfi_memory_total(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
    struct rlimit space;
    double bytes = pages > 0 && size > 0 ? (double)pages * (double)size : (double)INFINITY;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        bytes = fmin(bytes, (double)space.rlim_cur);
    return bytes;
}

bool wfi_system_watches_gpus(void)
{
    return false;
}

void *wfi_library_open(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

void (*wfi_library_symbol(void *library, const char *name))(void)
{
    void (*function)(void) = NULL;
    void *symbol = dlsym(library, name);
    /* ISO C has no cast from object to function pointer; POSIX has the representation equal. */
    memcpy(&function, &symbol, sizeof symbol);
    return function;
}

void wfi_library_close(void *library)
{
    dlclose(library);
}

const char *const wfi_vulkan_loaders[] = {
#if defined(__APPLE__)
    "libvulkan.1.dylib", "libvulkan.dylib", "libMoltenVK.dylib",
#elif defined(__ANDROID__)
    "libvulkan.so", /* Android's libraries have no versions */
#else
    "libvulkan.so.1", "libvulkan.so",
#endif
    NULL};
