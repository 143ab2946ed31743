/* LZ77: at each place the match that saves most among the latest ones that begin alike. */
#include <stdlib.h>
#include <string.h>

#include "core/unpack.h"
#include "pack.h"

#define HASH_BITS 16
#define MOST_TRIES 1024

typedef struct matcher {
    const uint8_t *at;
    size_t end;
    uint32_t heads[1 << HASH_BITS]; /* 1 + the last place of a hash; 0: none */
    uint32_t *before;               /* the place before, likewise */
} matcher;

static uint32_t key_of(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value * 2654435761u >> (32 - HASH_BITS);
}

static void enter(matcher *m, size_t place)
{
    if (place + WFI_UNPACK_LEAST > m->end)
        return;
    uint32_t *head = &m->heads[key_of(m->at + place)];
    m->before[place] = *head;
    *head = (uint32_t)place + 1;
}

static uint32_t number_bytes(size_t number)
{
    uint32_t count = 1;
    for (; number > 0x7f; number >>= 7)
        count++;
    return count;
}

/* The match at `place` that saves most: its length, 0 where none saves anything. */
static size_t longest(const matcher *m, size_t place, size_t *distance)
{
    size_t best = 0;
    long most = 0;
    if (place + WFI_UNPACK_LEAST > m->end)
        return 0;
    uint32_t next = m->heads[key_of(m->at + place)];
    for (int tries = 0; next && tries < MOST_TRIES; tries++, next = m->before[next - 1]) {
        const size_t from = next - 1;
        size_t length = 0;
        while (place + length < m->end && m->at[from + length] == m->at[place + length])
            length++;
        const long saved = (long)length - 1 - (long)number_bytes(place - from);
        if (length >= WFI_UNPACK_LEAST && saved > most) {
            most = saved;
            best = length;
            *distance = place - from;
        }
    }
    return best;
}

static void put_turn(bytes *to, const uint8_t *run, size_t run_bytes, size_t distance,
                     size_t length)
{
    const size_t more = length ? length - WFI_UNPACK_LEAST : 0;
    put(to, (uint32_t)((run_bytes < 15 ? run_bytes : 15) << 4 | (more < 15 ? more : 15)));
    if (run_bytes >= 15)
        put_number(to, (uint32_t)(run_bytes - 15));
    for (size_t i = 0; i < run_bytes; i++)
        put(to, run[i]);
    if (!length)
        return;
    put_number(to, (uint32_t)distance);
    if (more >= 15)
        put_number(to, (uint32_t)(more - 15));
}

/* A match waits where the next place has one that is longer by more than the byte between. */
bytes compress(const uint8_t *all, size_t begin, size_t end)
{
    matcher *m = or_stop(calloc(1, sizeof *m));
    bytes to = {0};
    size_t run = begin, place = begin;
    m->at = all;
    m->end = end;
    m->before = or_stop(calloc(end + 1, sizeof *m->before));
    for (size_t i = 0; i < begin; i++)
        enter(m, i);
    while (place < end) {
        size_t distance = 0, next_distance = 0;
        const size_t length = longest(m, place, &distance);
        enter(m, place);
        if (!length || longest(m, place + 1, &next_distance) > length + 1) {
            place++;
            continue;
        }
        put_turn(&to, all + run, place - run, distance, length);
        for (size_t i = 1; i < length; i++)
            enter(m, place + i);
        run = place += length;
    }
    if (run < end)
        put_turn(&to, all + run, end - run, 0, 0);
    free(m->before);
    free(m);
    return to;
}
