#include "choose/key.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/families.h"

#define MOST_DISTANCE 2 /* half octaves in one class */
#define KIND '='        /* the first character of a kind's name: kinds must agree */

wfi_key wfi_key_of(const wfi_problem *problem)
{
    wfi_key key = {.family = problem->family, .type = problem->type};
    wfi_family_get(problem->family)->hooks->classes(problem, &key);
    return key;
}

void wfi_problem_text(const wfi_problem *problem, char *text, size_t bytes)
{
    wfi_family_get(problem->family)->hooks->text(problem, text, bytes);
}

static const wfi_class *find(const wfi_key *key, const char *name)
{
    for (uint32_t i = 0; i < key->count; i++)
        if (strcmp(key->classes[i].name, name) == 0)
            return &key->classes[i];
    return NULL;
}

int wfi_key_distance(const wfi_key *a, const wfi_key *b)
{
    int sum = 0;
    if (a->family != b->family || a->type != b->type || a->count != b->count)
        return -1;
    for (uint32_t i = 0; i < a->count; i++) {
        const wfi_class *other = find(b, a->classes[i].name);
        if (!other)
            return -1;
        const int64_t distance = llabs((int64_t)a->classes[i].value - other->value);
        if (distance > MOST_DISTANCE || (distance > 0 && a->classes[i].name[0] == KIND))
            return -1;
        sum += (int)distance;
    }
    return sum <= WFI_KEY_FARTHEST ? sum : -1;
}

bool wfi_key_equal(const wfi_key *a, const wfi_key *b)
{
    return wfi_key_distance(a, b) == 0;
}
