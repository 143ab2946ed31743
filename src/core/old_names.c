#include "core/old_names.h"

#include <string.h>
#include "core/arithmetic.h"

typedef struct renamed {
    const char *family; /* its present name; "": the row is of a family itself */
    const char *before, *now;
} renamed;

static const renamed families[] = {
    {"", "stencil", "himeno"},
    {"", "grid", "stencil"},
};

static const renamed variants[] = {
    {"matmul", "teams", "subgroup_k"},
    {"matmul", "split", "f16x2"},
};

static const renamed parameters[] = {
    {"matmul", "strip", "swizzle"},       {"matmul", "snake", "serpentine"},
    {"matmul", "ahead", "double_buffer"}, {"matmul", "wide", "vec4"},
    {"matmul", "splits", "split_k"},      {"matmul", "sharing", "stream_k"},
    {"matmul", "teams", "slices_k"},      {"matmul", "apart", "per_subgroup"},
    {"matmul", "halves", "tile_buffers"}, {"matmul", "rest", "tail"},
    {"matmul", "turns", "reverse"},       {"spmv", "turns", "loads"},
    {"spmv", "long_turns", "long_loads"}, {"spmv", "team", "row_subgroups"},
};

static const struct {
    const char *family, *name;
} removed[] = {
    {"matmul", "unroll"},       /* of vector; 8, 4 where tile_k is no multiple of it */
    {"matmul", "tile_buffers"}, /* of subgroup_k; 1 */
};

static const char *present(const renamed *rows, size_t count, const char *family, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].family, family) == 0 && strcmp(rows[i].before, name) == 0)
            return rows[i].now;
    return name;
}

const char *wfi_old_family(const char *name)
{
    return present(families, WFI_COUNT(families), "", name);
}

const char *wfi_old_variant(const char *family, const char *name)
{
    return present(variants, WFI_COUNT(variants), family, name);
}

const char *wfi_old_parameter(const char *family, const char *name)
{
    return present(parameters, WFI_COUNT(parameters), family, name);
}

bool wfi_removed_parameter(const char *family, const char *name)
{
    for (size_t i = 0; i < WFI_COUNT(removed); i++)
        if (strcmp(removed[i].family, family) == 0 && strcmp(removed[i].name, name) == 0)
            return true;
    return false;
}
