#include "core/workers.h"

uint32_t wfi_copy_threads(void)
{
    const uint32_t processors = wfi_processors(), wanted = processors * 3 / 4;
    if (processors < 2)
        return 1;
    return wanted < 2 ? 2 : wanted > WFI_MOST_WORKERS ? WFI_MOST_WORKERS + 1 : wanted;
}

bool wfi_workers_open(wfi_workers *workers, uint32_t most)
{
    *workers = (wfi_workers){.most = most < WFI_MOST_WORKERS ? most : WFI_MOST_WORKERS};
    if (!wfi_mutex_init(&workers->lock))
        return false;
    if (wfi_condition_init(&workers->wake)) {
        if (wfi_condition_init(&workers->done))
            return true;
        wfi_condition_destroy(&workers->wake);
    }
    wfi_mutex_destroy(&workers->lock);
    return false;
}

static void *run(void *user)
{
    wfi_workers *workers = user;
    wfi_mutex_lock(&workers->lock);
    while (!workers->ends) {
        if (workers->wanted == 0) {
            wfi_condition_wait(&workers->wake, &workers->lock);
            continue;
        }
        workers->wanted--;
        workers->busy++;
        void (*work)(void *) = workers->work;
        void *with = workers->user;
        wfi_mutex_unlock(&workers->lock);
        work(with);
        wfi_mutex_lock(&workers->lock);
        if (--workers->busy == 0)
            wfi_condition_signal(&workers->done);
    }
    wfi_mutex_unlock(&workers->lock);
    return NULL;
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
    wfi_mutex_lock(&workers->lock);
    while (workers->count < count && workers->count < workers->most)
        start(workers);
    workers->work = work;
    workers->user = user;
    workers->wanted = count < workers->count ? count : workers->count;
    wfi_condition_broadcast(&workers->wake);
    wfi_mutex_unlock(&workers->lock);
}

void wfi_workers_end(wfi_workers *workers)
{
    wfi_mutex_lock(&workers->lock);
    workers->wanted = 0;
    while (workers->busy > 0)
        wfi_condition_wait(&workers->done, &workers->lock);
    wfi_mutex_unlock(&workers->lock);
}

void wfi_workers_close(wfi_workers *workers)
{
    wfi_mutex_lock(&workers->lock);
    workers->ends = true;
    wfi_condition_broadcast(&workers->wake);
    wfi_mutex_unlock(&workers->lock);
    for (uint32_t i = 0; i < workers->count; i++)
        wfi_thread_join(workers->threads[i]);
    wfi_condition_destroy(&workers->done);
    wfi_condition_destroy(&workers->wake);
    wfi_mutex_destroy(&workers->lock);
}
