#include "core/workers.h"

#include <signal.h>
#include <unistd.h>

uint32_t wfi_copy_threads(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN), wanted = processors * 3 / 4;
    if (processors < 2)
        return 1;
    return wanted < 2 ? 2 : wanted > WFI_MOST_WORKERS ? WFI_MOST_WORKERS + 1 : (uint32_t)wanted;
}

bool wfi_workers_open(wfi_workers *workers, uint32_t most)
{
    *workers = (wfi_workers){.most = most < WFI_MOST_WORKERS ? most : WFI_MOST_WORKERS};
    if (pthread_mutex_init(&workers->lock, NULL) != 0)
        return false;
    if (pthread_cond_init(&workers->wake, NULL) == 0) {
        if (pthread_cond_init(&workers->done, NULL) == 0)
            return true;
        pthread_cond_destroy(&workers->wake);
    }
    pthread_mutex_destroy(&workers->lock);
    return false;
}

static void *run(void *user)
{
    wfi_workers *workers = user;
    pthread_mutex_lock(&workers->lock);
    while (!workers->ends) {
        if (workers->wanted == 0) {
            pthread_cond_wait(&workers->wake, &workers->lock);
            continue;
        }
        workers->wanted--;
        workers->busy++;
        void (*work)(void *) = workers->work;
        void *with = workers->user;
        pthread_mutex_unlock(&workers->lock);
        work(with);
        pthread_mutex_lock(&workers->lock);
        if (--workers->busy == 0)
            pthread_cond_signal(&workers->done);
    }
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

bool wfi_thread_start(pthread_t *thread, void *(*work)(void *user), void *user)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(thread, NULL, work, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void start(wfi_workers *workers)
{
    if (wfi_thread_start(&workers->threads[workers->count], run, workers))
        workers->count++;
    else
        workers->most = workers->count;
}

void wfi_workers_begin(wfi_workers *workers, uint32_t count, void (*work)(void *user), void *user)
{
    pthread_mutex_lock(&workers->lock);
    while (workers->count < count && workers->count < workers->most)
        start(workers);
    workers->work = work;
    workers->user = user;
    workers->wanted = count < workers->count ? count : workers->count;
    pthread_cond_broadcast(&workers->wake);
    pthread_mutex_unlock(&workers->lock);
}

void wfi_workers_end(wfi_workers *workers)
{
    pthread_mutex_lock(&workers->lock);
    workers->wanted = 0;
    while (workers->busy > 0)
        pthread_cond_wait(&workers->done, &workers->lock);
    pthread_mutex_unlock(&workers->lock);
}

void wfi_workers_close(wfi_workers *workers)
{
    pthread_mutex_lock(&workers->lock);
    workers->ends = true;
    pthread_cond_broadcast(&workers->wake);
    pthread_mutex_unlock(&workers->lock);
    for (uint32_t i = 0; i < workers->count; i++)
        pthread_join(workers->threads[i], NULL);
    pthread_cond_destroy(&workers->done);
    pthread_cond_destroy(&workers->wake);
    pthread_mutex_destroy(&workers->lock);
}
