#include "allocations.h"

#include <stddef.h>

static bool counting;
static unsigned allocations, fails_in; /* 0: none fails */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

/* Whether this one is to fail. */
static bool count(void)
{
    allocations += counting;
    return fails_in > 0 && --fails_in == 0;
}

void *__wrap_malloc(size_t bytes)
{
    return count() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t items, size_t bytes)
{
    return count() ? NULL : __real_calloc(items, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return count() ? NULL : __real_realloc(old, bytes);
}

void test_count_allocations(bool on)
{
    counting = on;
}

unsigned test_allocations(void)
{
    return allocations;
}

void test_fail_allocation(unsigned n)
{
    fails_in = n;
}
