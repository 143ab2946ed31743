#include "choose/key.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DISTANCE 2 /* half octaves in one class */
#define KIND '='        /* names that begin so are kinds: they must agree */

static void add(wfi_key *key, const char *name, int32_t value)
{
    wfi_class *class = &key->classes[key->count++];
    snprintf(class->name, sizeof class->name, "%s", name);
    class->value = value;
}

static void add_size(wfi_key *key, const char *name, double size)
{
    add(key, name, size >= 1 ? (int32_t)lround(2 * log2(size)) : -1);
}

/* How uneven the rows are decides as much as how many there are. */
static void add_spmv(wfi_key *key, const wfi_spmv_problem *p)
{
    const double mean = p->mean_row > 0 ? p->mean_row : 1;
    add_size(key, "rows", (double)p->rows);
    add_size(key, "row_length", p->mean_row);
    add(key, "row_spread", (int32_t)lround(2 * log2(1 + 10 * p->row_deviation / mean)));
    add(key, "longest_row", (int32_t)lround(log2(1 + p->longest_row / mean)));
    add_size(key, "vectors", p->vectors ? p->vectors : 1);
    add(key, "=strided", p->strided);
    add(key, "block_fill", p->block ? (int32_t)lround(4 * p->block_fill) : 0);
}

static void add_matmul(wfi_key *key, const wfi_matmul_problem *p)
{
    add_size(key, "m", (double)p->m);
    add_size(key, "n", (double)p->n);
    add_size(key, "k", (double)p->k);
    add_size(key, "batch", (double)p->batch);
    add(key, "=transpose_a", p->transpose_a);
    add(key, "=transpose_b", p->transpose_b);
    add(key, "=fast", p->fast);
    add(key, "=output", (int32_t)p->output);
}

static void add_grid(wfi_key *key, const wfi_stencil_problem *p)
{
    add_size(key, "nx", (double)p->nx);
    add_size(key, "ny", (double)p->ny);
    add_size(key, "nz", p->dimensions == 3 ? (double)p->nz : 0);
    add_size(key, "steps", p->steps);
    add(key, "=shape", (int32_t)(p->shape * 4 + p->dimensions));
    add(key, "=radius", (int32_t)p->radius);
    add(key, "=border", (int32_t)p->border);
    add(key, "=aligned", p->row_stride % 4 == 0);
}

wfi_key wfi_key_of(const wfi_problem *problem)
{
    wfi_key key = {.family = problem->family, .type = problem->type};
    switch (problem->family) {
    case WF_FAMILY_MATMUL:
        add_matmul(&key, &problem->matmul);
        break;
    case WF_FAMILY_SPMV:
        add_spmv(&key, &problem->spmv);
        break;
    case WF_FAMILY_HIMENO:
        add_size(&key, "ni", (double)problem->himeno.ni);
        add_size(&key, "nj", (double)problem->himeno.nj);
        add_size(&key, "nk", (double)problem->himeno.nk);
        break;
    case WF_FAMILY_VECTOR:
        add_size(&key, "count", (double)problem->vector.count);
        add(&key, "=operation", (int32_t)problem->vector.operation);
        break;
    case WF_FAMILY_STENCIL:
        add_grid(&key, &problem->stencil);
        break;
    case WF_FAMILY_COUNT:
        break;
    }
    return key;
}

void wfi_problem_text(const wfi_problem *problem, char *text, size_t bytes)
{
    const wfi_matmul_problem *m = &problem->matmul;
    const wfi_spmv_problem *s = &problem->spmv;
    const wfi_himeno_problem *g = &problem->himeno;
    if (problem->family == WF_FAMILY_MATMUL)
        snprintf(text, bytes, "%llux%llux%llu", (unsigned long long)m->m, (unsigned long long)m->n,
                 (unsigned long long)m->k);
    else if (problem->family == WF_FAMILY_SPMV)
        snprintf(text, bytes, "%llux%llu, %llu entries", (unsigned long long)s->rows,
                 (unsigned long long)s->columns, (unsigned long long)s->entries);
    else if (problem->family == WF_FAMILY_VECTOR)
        snprintf(text, bytes, "%llu elements", (unsigned long long)problem->vector.count);
    else if (problem->family == WF_FAMILY_STENCIL)
        snprintf(text, bytes, "%llux%llux%llu", (unsigned long long)problem->stencil.nx,
                 (unsigned long long)problem->stencil.ny, (unsigned long long)problem->stencil.nz);
    else
        snprintf(text, bytes, "%llux%llux%llu", (unsigned long long)g->ni,
                 (unsigned long long)g->nj, (unsigned long long)g->nk);
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
