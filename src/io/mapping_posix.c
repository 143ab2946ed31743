#define _DEFAULT_SOURCE /* MAP_NORESERVE: pages that nobody writes to need no room */
#include "io/mapping.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/platform.h"
#include "io/unfinished.h"

#define SLOTS 16

/* What the signal's handler knows: where files are, and what it says of each. */
static struct {
    uintptr_t begin, end; /* 0: free */
    char message[512];
} slots[SLOTS];
static wfi_mutex lock = WFI_MUTEX_INIT;

/* A page that is no more in the file; calls nothing but what handlers may. */
static void bus_error(int number, siginfo_t *info, void *context)
{
    const uintptr_t at = (uintptr_t)info->si_addr;
    (void)context;
    for (int i = 0; i < SLOTS; i++)
        if (at >= slots[i].begin && at < slots[i].end) {
            const ssize_t written =
                write(STDERR_FILENO, slots[i].message, strlen(slots[i].message));
            (void)written;
            wfi_unfinished_remove_all();
            _exit(1);
        }
    signal(number, SIG_DFL);
    raise(number);
}

/* With each file, since others may have taken the signal since. */
static void watch(void)
{
    struct sigaction action = {.sa_sigaction = bus_error, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

static int take_slot(const char *path, uintptr_t begin, size_t bytes)
{
    int slot = 0;
    wfi_mutex_lock(&lock);
    watch();
    while (slot < SLOTS && slots[slot].end)
        slot++;
    if (slot < SLOTS) {
        snprintf(slots[slot].message, sizeof slots[slot].message,
                 "wavefit: %.400s: the file became shorter while it was read\n", path);
        slots[slot].begin = begin;
        slots[slot].end = begin + bytes;
    }
    wfi_mutex_unlock(&lock);
    return slot;
}

bool wfi_map(wfi_mapping *mapping, const char *path, FILE *file, size_t bytes)
{
    *mapping = (wfi_mapping){0};
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fileno(file), 0);
    if (memory == MAP_FAILED)
        return false;
    const int slot = take_slot(path, (uintptr_t)memory, bytes);
    if (slot == SLOTS) {
        munmap(memory, bytes);
        return false;
    }
    *mapping = (wfi_mapping){memory, bytes, slot};
    return true;
}

void wfi_unmap(wfi_mapping *mapping)
{
    if (!mapping->memory)
        return;
    wfi_mutex_lock(&lock);
    slots[mapping->slot].begin = slots[mapping->slot].end = 0;
    wfi_mutex_unlock(&lock);
    munmap(mapping->memory, mapping->bytes);
    *mapping = (wfi_mapping){0};
}
