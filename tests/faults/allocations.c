/* Allocations of wavefit's own that fail, in a program linked with --wrap for malloc, calloc and
 * realloc: the N-th one as WAVEFIT_FAIL_ALLOCATION=N asks, or the K-th at a place (places.h) as
 * "K@PLACE" does, and with "+" each from there on. Their number, and with WAVEFIT_FAULTY_PLACES
 * their places, are appended to the file WAVEFIT_FAULTY_COUNT when the program ends. */
#include "faults/allocations.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "faults/places.h"

static atomic_uint asked, failed;
static atomic_int allocated;
static unsigned fails_at;
static faulty_at fails_at_place;
static atomic_bool was_there;
static bool from_there_on, counting = true;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void __real_free(void *memory);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void __wrap_free(void *memory);

static bool fails(void)
{
    const unsigned n = counting ? atomic_fetch_add(&asked, 1) + 1 : 0;
    const bool is_there = n > 0 && faulty_place(0, &fails_at_place);
    const bool later =
        n > 0 && from_there_on && ((fails_at > 0 && n > fails_at) || atomic_load(&was_there));
    const bool does = (n > 0 && n == fails_at) || is_there || later;
    if (is_there)
        atomic_store(&was_there, true);
    if (does)
        atomic_fetch_add(&failed, 1);
    return does;
}

static void *counted(void *made)
{
    if (made)
        atomic_fetch_add(&allocated, 1);
    return made;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : counted(__real_malloc(bytes));
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : counted(__real_calloc(count, bytes));
}

void *__wrap_realloc(void *old, size_t bytes)
{
    if (fails())
        return NULL;
    return old ? __real_realloc(old, bytes) : counted(__real_realloc(old, bytes));
}

void __wrap_free(void *memory)
{
    if (memory)
        atomic_fetch_sub(&allocated, 1);
    __real_free(memory);
}

int faulty_allocated(void)
{
    return atomic_load(&allocated);
}

unsigned faulty_allocations(bool on, unsigned n)
{
    const unsigned before = atomic_exchange(&asked, 0);
    counting = on;
    fails_at = n;
    return before;
}

__attribute__((constructor)) static void read_environment(void)
{
    char plus = '\0';
    const char *text = getenv("WAVEFIT_FAIL_ALLOCATION");
    const int place = text ? faulty_at_read(text, &fails_at_place) : 0;
    if (place > 0)
        plus = text[place];
    else if (text && sscanf(text, "%u%c", &fails_at, &plus) < 1)
        abort();
    from_there_on = plus == '+';
}

static const char *name(int what)
{
    (void)what;
    return "allocation";
}

__attribute__((destructor)) static void write_count(void)
{
    const char *path = getenv("WAVEFIT_FAULTY_COUNT");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "allocations %u\nfailed %u\n", atomic_load(&asked), atomic_load(&failed));
    faulty_places_write(file, name);
    fclose(file);
}
