#include "kernels/check/crew.h"

static bool is_stopped(void *user)
{
    return atomic_load((const atomic_bool *)user);
}

void wfi_crew_open(wfi_crew *crew, wfi_watch *watch)
{
    const uint32_t processors = wfi_processors();
    crew->others = processors > WFI_MOST_WORKERS ? WFI_MOST_WORKERS : processors - 1;
    crew->watch = watch;
    crew->heard = (wf_cancel){sizeof crew->heard, is_stopped, &crew->stopped};
    atomic_init(&crew->stopped, watch->stopped);
    if (crew->others && !wfi_workers_open(&crew->workers, crew->others))
        crew->others = 0;
}

void wfi_crew_close(wfi_crew *crew)
{
    if (crew->others)
        wfi_workers_close(&crew->workers);
}

static void take_parts(wfi_crew *crew, wfi_watch *watch)
{
    uint32_t part;
    while (!watch->stopped && (part = atomic_fetch_add(&crew->next, 1)) < crew->parts)
        crew->work(crew->user, part, watch);
}

static void help(void *user)
{
    wfi_crew *crew = user;
    wfi_watch watch = {.cancel = &crew->heard};
    take_parts(crew, &watch);
}

bool wfi_crew_run(wfi_crew *crew, uint32_t parts,
                  void (*work)(void *user, uint32_t part, wfi_watch *watch), void *user)
{
    const uint32_t others = parts == 0 ? 0 : parts - 1 < crew->others ? parts - 1 : crew->others;
    crew->parts = parts;
    crew->work = work;
    crew->user = user;
    atomic_init(&crew->next, 0);
    if (others)
        wfi_workers_begin(&crew->workers, others, help, crew);
    take_parts(crew, crew->watch);
    atomic_store(&crew->stopped, crew->watch->stopped);
    if (others)
        wfi_workers_end(&crew->workers);
    return !crew->watch->stopped;
}
