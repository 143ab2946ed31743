#define _GNU_SOURCE /* dl_iterate_phdr */
#include "faults/places.h"

#include <execinfo.h>
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>

#define MOST_PLACES 4096
#define MOST_FRAMES 96
#define MOST_CHAIN 40

static struct {
    uint64_t place;
    int what;
    unsigned count, length;
    uint32_t chain[MOST_CHAIN];
} places[MOST_PLACES];
static int place_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Where the program's own code is. */
static struct {
    uintptr_t base, first, end;
    bool wanted;
} program;

static int look(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    (void)user;
    program.base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X)) {
            program.first = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            program.end = program.first + info->dlpi_phdr[i].p_memsz;
        }
    return 1; /* the first object is the program */
}

/* The first backtrace loads a library. */
__attribute__((constructor)) static void begin(void)
{
    void *frame = NULL;
    dl_iterate_phdr(look, NULL);
    program.wanted = getenv("WAVEFIT_FAULTY_PLACES") != NULL;
    backtrace(&frame, 1);
}

int faulty_at_read(const char *text, faulty_at *at)
{
    int length = 0;
    if (sscanf(text, "%u@%" SCNx64 "%n", &at->k, &at->place, &length) == 2)
        return length;
    at->k = 0;
    return 0;
}

/* The chain of this call, and its hash (FNV-1a). */
static uint64_t chain_of(uint32_t chain[MOST_CHAIN], unsigned *length)
{
    void *frames[MOST_FRAMES];
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    const int count = backtrace(frames, MOST_FRAMES);
    for (int i = 0; i < count && *length < MOST_CHAIN; i++) {
        const uintptr_t address = (uintptr_t)frames[i];
        if (address < program.first || address >= program.end)
            continue;
        chain[*length] = (uint32_t)(address - program.base);
        hash = (hash ^ chain[(*length)++]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

bool faulty_place(int what, const faulty_at *at)
{
    uint32_t chain[MOST_CHAIN];
    unsigned length = 0, count = 0;
    if (!program.wanted && at->k == 0)
        return false;
    const uint64_t place = chain_of(chain, &length);
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < place_count && (places[i].place != place || places[i].what != what))
        i++;
    if (i == MOST_PLACES) {
        fputs("faulty driver: too many places\n", stderr);
        abort();
    }
    if (i == place_count) {
        places[i].place = place;
        places[i].what = what;
        places[i].length = length;
        for (unsigned n = 0; n < length; n++)
            places[i].chain[n] = chain[n];
        place_count++;
    }
    count = ++places[i].count;
    pthread_mutex_unlock(&lock);
    return count == at->k && place == at->place;
}

void faulty_places_write(FILE *file, const char *(*name)(int what))
{
    for (int i = 0; i < place_count && program.wanted; i++) {
        fprintf(file, "place %s %" PRIx64 " %u ", name(places[i].what), places[i].place,
                places[i].count);
        for (unsigned n = 0; n < places[i].length; n++)
            fprintf(file, "%s%" PRIx32, n ? "," : "", places[i].chain[n]);
        fputc('\n', file);
    }
}
