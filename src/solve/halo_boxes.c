#include "solve/halo_boxes.h"

#include <string.h>

#include "plan/dispatch_size.h"
#include "plan/fixed.h"
#include "wfi_shaders.h"

/* ---------------------------------------------------------------------------------------- boxes */

/* `beyond` 0: of the part's own cells, those next to the side; 1: as many behind them. */
static bool find_box(const wfi_part_axis axes[3], uint32_t width, int side, bool beyond,
                     wfi_halo_box *out)
{
    int32_t direction[3];
    wf_halo_direction((uint32_t)side, direction);
    for (int axis = 0; axis < 3; axis++) {
        const wfi_part_axis *a = &axes[axis];
        const int64_t begin = a->begin, end = a->end;
        out->first[axis] = begin;
        out->cells[axis] = a->end - a->begin;
        if (direction[axis] == 0)
            continue;
        const bool up = direction[axis] > 0;
        if (!a->there[up ? WFI_UPPER : WFI_LOWER])
            return false;
        out->first[axis] = up ? end - (beyond ? 0 : width) : begin - (beyond ? width : 0);
        out->cells[axis] = width;
    }
    return true;
}

bool wfi_halo_box_to(const wfi_part_axis axes[3], uint32_t width, int side, wfi_halo_box *out)
{
    return find_box(axes, width, side, false, out);
}

bool wfi_halo_box_from(const wfi_part_axis axes[3], uint32_t width, int side, wfi_halo_box *out)
{
    return find_box(axes, width, side, true, out);
}

uint64_t wfi_halo_box_cells(const wfi_halo_box *box)
{
    return (uint64_t)box->cells[0] * box->cells[1] * box->cells[2];
}

/* --------------------------------------------------------------------------------------- copies */

typedef struct box_push {
    uint32_t first, ni, nj, count, row, plane;
} box_push;

/* The step's box, its work-groups and the range of its halo are set when it is recorded. */
static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const uint64_t *bytes = params;
    const uint64_t element = wf_type_size(point->problem->type);
    const wfi_binding_spec specs[] = {{"grid", WFI_READS_WRITES, *bytes},
                                      {"halo", WFI_READS_WRITES, element}};
    wfi_step step = {.groups = {1, 1, 1}, .push_bytes = sizeof(box_push)};
    return wfi_fixed_build(plan, point, specs, 2, &step);
}

static const wfi_variant leave_row = {
    .name = "halo_leave",
    .modules = WFI_MODULES_halo_leave,
    .storage_buffers = 2,
    .push_bytes = sizeof(box_push),
    .group_size = wfi_fixed_group,
    .build = build,
};

static const wfi_variant arrive_row = {
    .name = "halo_arrive",
    .modules = WFI_MODULES_halo_arrive,
    .storage_buffers = 2,
    .push_bytes = sizeof(box_push),
    .group_size = wfi_fixed_group,
    .build = build,
};

wf_result wfi_halo_copier_open(wf_device *device, wf_type type, const wfi_halo_grid *grid,
                               wfi_halo_copier *c)
{
    const wfi_problem problem = {
        .family = WF_FAMILY_HIMENO, .type = type, .himeno = {.ni = 3, .nj = 3, .nk = 3}};
    *c = (wfi_halo_copier){.grid = *grid, .type = type};
    if (grid->bytes > device->caps.max_storage_range)
        return wfi_fail(&device->log, WF_ERROR_TOO_LARGE,
                        "a block of %llu bytes is over this device's binding limit of %llu bytes: "
                        "cut the grid into more blocks",
                        (unsigned long long)grid->bytes,
                        (unsigned long long)device->caps.max_storage_range);
    wf_result result =
        wfi_fixed_plan(device, &wfi_family_none, &problem, &leave_row, 0, &grid->bytes, &c->leave);
    return result == WF_SUCCESS ? wfi_fixed_plan(device, &wfi_family_none, &problem, &arrive_row, 0,
                                                 &grid->bytes, &c->arrive)
                                : result;
}

void wfi_halo_copier_close(wfi_halo_copier *c)
{
    wf_plan_destroy(&c->leave);
    wf_plan_destroy(&c->arrive);
}

wf_result wfi_halo_copy(const wfi_halo_copier *c, VkCommandBuffer command_buffer, wf_buffer *grid,
                        const wfi_halo_box *box, const wf_binding *halo, bool arrive)
{
    wf_plan *plan = arrive ? c->arrive : c->leave;
    wfi_step *step = wfi_plan_step(plan, 0);
    const uint64_t count = wfi_halo_box_cells(box);
    const int64_t *origin = c->grid.origin;
    const uint64_t first = (uint64_t)(box->first[2] - origin[2]) * c->grid.plane +
                           (uint64_t)(box->first[1] - origin[1]) * c->grid.row +
                           (uint64_t)(box->first[0] - origin[0]);
    const box_push push = {.first = (uint32_t)first,
                           .ni = box->cells[0],
                           .nj = box->cells[1],
                           .count = (uint32_t)count,
                           .row = (uint32_t)c->grid.row,
                           .plane = (uint32_t)c->grid.plane};
    const wf_bindings bindings = {.size = sizeof bindings, .items = {{.buffer = grid}, *halo}};
    memcpy(step->push, &push, sizeof push);
    step->slots[1].bytes = count * wf_type_size(c->type);
    wf_result result =
        wfi_dispatch_size(plan, (count + WFI_FIXED_GROUP - 1) / WFI_FIXED_GROUP, step->groups);
    return result == WF_SUCCESS ? wfi_plan_record(plan, command_buffer, &bindings) : result;
}
