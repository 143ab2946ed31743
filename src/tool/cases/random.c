#include "tool/cases/random.h"

#include <math.h>
#include <string.h>

#include "core/element.h"
#include "kernels/check/crew.h"

#define PART ((size_t)1 << 18) /* elements that a thread fills at a time */
#define STEP UINT64_C(0x9e3779b97f4a7c15)

uint64_t wfi_random_bits(uint64_t *state)
{
    uint64_t z = (*state += STEP);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

typedef struct filling {
    char *data;
    const wfi_element *element;
    size_t count;
    uint64_t seed;
    unsigned char sign[2][8]; /* 1 and -1 in the type */
    bool signs;
} filling;

/* Every thread knows the state behind the elements in front of its own. */
static void fill_part(void *user, uint32_t part, wfi_watch *watch)
{
    const filling *f = user;
    const wfi_element *element = f->element;
    const size_t first = part * PART, to = f->count - first < PART ? f->count : first + PART;
    uint64_t state = f->seed + first * STEP;
    (void)watch;
    for (size_t i = first; i < to; i++) {
        char *at = f->data + i * element->size;
        const uint64_t bits = wfi_random_bits(&state);
        /* 24 bits make every f32 of the range exact: both types get the same numbers. */
        const double value = (double)(bits >> 40) * 0x1p-23 - 1.0;
        if (f->signs)
            memcpy(at, f->sign[bits & 1], element->size);
        else
            element->set(at, element->whole ? value * element->largest : value);
    }
}

static void fill(filling *f)
{
    wfi_watch watch = {0};
    wfi_crew crew;
    wfi_crew_open(&crew, &watch);
    wfi_crew_run(&crew, (uint32_t)((f->count + PART - 1) / PART), fill_part, f);
    wfi_crew_close(&crew);
}

void wfi_random_fill(void *data, wf_type type, size_t count, uint64_t seed)
{
    filling f = {.data = data, .element = wfi_element_of(type), .count = count, .seed = seed};
    fill(&f);
}

void wfi_random_signs(void *data, wf_type type, size_t count, uint64_t seed)
{
    filling f = {
        .data = data, .element = wfi_element_of(type), .count = count, .seed = seed, .signs = true};
    f.element->set(f.sign[0], -1);
    f.element->set(f.sign[1], 1);
    fill(&f);
}

uint64_t wfi_random_below(uint64_t *state, uint64_t n)
{
    return (wfi_random_bits(state) >> 11) % n;
}

bool wfi_random_chance(uint64_t *state, uint32_t percent)
{
    return wfi_random_below(state, 100) < percent;
}

/* Halves the range of logarithms by a random bit at a time: products and square roots are rounded
 * the same everywhere, exp and log are not. */
uint64_t wfi_random_log(uint64_t *state, uint64_t low, uint64_t high)
{
    double from = (double)low, to = (double)high + 1;
    uint64_t bits = wfi_random_bits(state);
    for (int i = 0; i < 48; i++, bits >>= 1) {
        const double middle = sqrt(from * to);
        if (bits & 1)
            from = middle;
        else
            to = middle;
    }
    const uint64_t drawn = (uint64_t)from;
    return drawn < low ? low : drawn > high ? high : drawn;
}
