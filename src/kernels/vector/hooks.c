/* What the family of vector operations tells those who know no family by name. */
#include "plan/hooks.h"

#include <stdio.h>

#include "kernels/families.h"
#include "wfi_sources.h"

static void classes(const wfi_problem *problem, wfi_key *key)
{
    wfi_key_add_size(key, "count", (double)problem->vector.count);
    wfi_key_add(key, "=operation", (int32_t)problem->vector.operation);
}

static void text(const wfi_problem *problem, char *out, size_t bytes)
{
    snprintf(out, bytes, "%llu elements", (unsigned long long)problem->vector.count);
}

const struct wfi_family_hooks wfi_vector_hooks = {
    .sources = WFI_SOURCES_VECTOR,
    .classes = classes,
    .text = text,
};
