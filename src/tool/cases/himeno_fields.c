#include "tool/cases/himeno_fields.h"

#include <stdio.h>
#include <stdlib.h>

#include "tool/cases/himeno_size.h"
#include "tool/cases/vectors.h"
#include "tool/cli/options.h"

/* How many arrays each file has: a has 4 and one dimension more than p. */
static const uint32_t counts[WFI_HIMENO_FILES] = {1, 4, 3, 3, 1, 1};

bool wfi_himeno_fields_given(const wfi_himeno_fields *fields)
{
    bool given = false;
    for (int i = 0; i < WFI_HIMENO_FILES; i++)
        given = given || fields->paths[i];
    return given;
}

static int read_file(wfi_himeno_fields *f, int index, uint64_t extent[3])
{
    const char *path = f->paths[index];
    wfi_npy *npy = &f->files[index];
    char shape[WFI_NPY_SHAPE_TEXT], first[16] = "";
    const uint32_t in_front = counts[index] > 1;
    wfi_io_error error;
    if (!wfi_npy_read(path, npy, &error))
        return wfi_run_error("%s", error.text);
    const uint64_t *n = npy->shape + in_front;
    wfi_npy_shape_text(npy, shape);
    const bool fits =
        npy->dimensions == 3 + in_front && (!in_front || npy->shape[0] == counts[index]);
    if (fits && extent[0] == 0)
        for (int axis = 0; axis < 3; axis++)
            extent[axis] = n[2 - axis];
    if (fits && n[2] == extent[0] && n[1] == extent[1] && n[0] == extent[2])
        return wfi_npy_elements(path, npy, WF_TYPE_F32);
    if (in_front)
        snprintf(first, sizeof first, "%u x ", counts[index]);
    if (extent[0] == 0)
        return wfi_run_error("%s: %sNK x NJ x NI values are needed, not %s", path, first, shape);
    return wfi_run_error("%s: %s%llu x %llu x %llu values are needed, not %s", path, first,
                         (unsigned long long)extent[2], (unsigned long long)extent[1],
                         (unsigned long long)extent[0], shape);
}

/* The benchmark's own start values. */
static float start_value(int index, uint64_t array, uint64_t k, uint64_t nk)
{
    const float at = (float)k, last = (float)(nk - 1);
    if (index == WFI_HIMENO_P)
        return (at * at) / (last * last);
    if (index == WFI_HIMENO_A && array == 3)
        return 1.0f / 6.0f;
    return index == WFI_HIMENO_B || index == WFI_HIMENO_WRK1 ? 0.0f : 1.0f;
}

static bool make(wfi_himeno_fields *f, int index, const uint64_t extent[3])
{
    const uint64_t plane = extent[0] * extent[1], cells = plane * extent[2];
    float *to = f->made[index] = malloc((size_t)(counts[index] * cells) * sizeof *to);
    for (uint64_t i = 0; to && i < counts[index] * cells; i++)
        to[i] = start_value(index, i / cells, i % cells / plane, extent[2]);
    return to != NULL;
}

static const float *array_of(const wfi_himeno_fields *f, int index, uint64_t array, uint64_t cells)
{
    const float *data = f->paths[index] ? f->files[index].data : f->made[index];
    return data + array * cells;
}

int wfi_himeno_fields_read(wfi_himeno_fields *f, uint64_t extent[3])
{
    int code = WFI_EXIT_DONE;
    for (int i = 0; i < WFI_HIMENO_FILES && code == WFI_EXIT_DONE; i++)
        if (f->paths[i])
            code = read_file(f, i, extent);
    for (int axis = 0; axis < 3 && code == WFI_EXIT_DONE; axis++)
        if (extent[axis] < 3 || extent[axis] > WFI_HIMENO_MOST_EXTENT)
            code = wfi_run_error("himeno: %llu x %llu x %llu cells: each axis needs 3 to %u",
                                 (unsigned long long)extent[2], (unsigned long long)extent[1],
                                 (unsigned long long)extent[0], WFI_HIMENO_MOST_EXTENT);
    for (int i = 0; i < WFI_HIMENO_FILES && code == WFI_EXIT_DONE; i++)
        if (!f->paths[i] && !make(f, i, extent))
            code = wfi_run_error("himeno: out of memory");
    if (code != WFI_EXIT_DONE)
        return code;
    const uint64_t cells = extent[0] * extent[1] * extent[2];
    f->arrays = (wf_himeno_arrays){.p = array_of(f, WFI_HIMENO_P, 0, cells),
                                   .bnd = array_of(f, WFI_HIMENO_BND, 0, cells),
                                   .wrk1 = array_of(f, WFI_HIMENO_WRK1, 0, cells)};
    for (uint64_t m = 0; m < 4; m++)
        f->arrays.a[m] = array_of(f, WFI_HIMENO_A, m, cells);
    for (uint64_t m = 0; m < 3; m++) {
        f->arrays.b[m] = array_of(f, WFI_HIMENO_B, m, cells);
        f->arrays.c[m] = array_of(f, WFI_HIMENO_C, m, cells);
    }
    return WFI_EXIT_DONE;
}

void wfi_himeno_fields_free(wfi_himeno_fields *f)
{
    for (int i = 0; i < WFI_HIMENO_FILES; i++) {
        wfi_npy_free(&f->files[i]);
        free(f->made[i]);
    }
}
