#include "model/predict.h"

#include <math.h>
#include <string.h>

#include "core/arithmetic.h"

/* Loads, stores and shared memory move a byte a clock for each lane that multiplies: 128 on
 * NVIDIA's multiprocessors, 64 on GCN's compute units and on Mali's cores. */
#define LANE_BYTES 1.0
/* Bytes that work-groups load again come from caches, which are no slower than so many times the
 * memory: the least of what is published of GPUs with large ones. */
#define CACHE_GAIN 2.0
/* Of the subgroups that a unit can hold, what it takes to hide latency where each has independent
 * work: V. Volkov, Better Performance at Lower Occupancy, 2010. */
#define ENOUGH 0.125
/* Of an execution, and of another dispatch that waits for the one before: measured on an H100
 * (bench/notes/matmul.md#shapes) and taken for every GPU. */
#define START_US 2.64
#define DISPATCH_US 3.27

static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a | 0x20) != (*b | 0x20))
            return false;
    return *a == *b;
}

uint32_t wfi_instruction_count(const wf_kernel_info *kernel)
{
    /* RADV; ANV, NVK, Turnip and V3DV, in letters of either case. */
    static const char *const names[] = {"Instructions", "Instruction Count"};
    for (size_t n = 0; n < WFI_COUNT(names); n++)
        for (uint32_t i = 0; i < kernel->statistic_count; i++)
            if (same_name(kernel->statistics[i].name, names[n]) && kernel->statistics[i].value > 0)
                return (uint32_t)kernel->statistics[i].value;
    return 0;
}

/* Bytes that work-items load and store on account of spilled registers: each spilled one is stored
 * and loaded once in a run of the kernel's instructions, of which the algorithm's multiply-adds and
 * loads are the least that run. */
static double spilled_bytes(const wf_plan_info *plan, double lane_steps)
{
    const uint32_t instructions = wfi_instruction_count(&plan->kernel);
    if (!plan->kernel.spilled || !instructions)
        return 0;
    return lane_steps * 2 * 4 * plan->kernel.spilled / instructions;
}

/* Of the subgroups that a unit can hold, those that work-groups make: as many as are resident at
 * most, or as there are for a unit. 1: not known. */
static double held(const wf_occupancy *occupancy, double unit_groups)
{
    if (!occupancy || occupancy->groups == 0 || !(occupancy->fraction > 0))
        return 1;
    const double resident = occupancy->groups;
    return occupancy->fraction * (unit_groups > 0 ? fmin(unit_groups, resident) / resident : 1);
}

/* Whether sums are made in several parts, which another dispatch adds. */
static bool has_parts(const wf_plan_info *plan)
{
    for (uint32_t i = 0; i < plan->constant_count; i++) {
        const wf_constant *c = &plan->constants[i];
        if ((strcmp(c->name, "split_k") == 0 && c->value > 1) ||
            (strcmp(c->name, "stream_k") == 0 && c->value > 0 && plan->tile_order.rows == 0))
            return true;
    }
    return false;
}

/* That dispatch waits for the first. */
static double start_us(const wf_plan_info *plan)
{
    return START_US + (has_parts(plan) ? DISPATCH_US : 0);
}

bool wfi_predict(const wfi_data_sheet *sheet, const wf_plan_info *plan, wf_type type,
                 const wf_occupancy *occupancy, wfi_prediction *out)
{
    const double part = type == WF_TYPE_F64 ? sheet->f64_part : 1;
    if (part == 0 || (plan->variant && strcmp(plan->variant, "cooperative") == 0))
        return false;
    const double lanes = sheet->units * sheet->lanes * sheet->clock_mhz; /* a microsecond */
    const double units = sheet->units / (occupancy ? occupancy->counted_units : 1);
    /* Each unit takes the next work-group when one ends, and all take equally long. */
    const double groups = (double)plan->kernel.groups, unit_groups = ceil(groups / units),
                 filled = groups > 0 ? groups / (unit_groups * units) : 1;
    const double useful = plan->access.busy > 0 ? plan->access.busy : 1;
    const double rate = lanes * useful * filled;
    const double requested = plan->requested_bytes + plan->shared_requested_bytes;
    const double multiply_adds = plan->flops / 2;
    const double busy = fmin(held(occupancy, unit_groups) / ENOUGH, 1);
    *out = (wfi_prediction){
        .memory_us = fmax(plan->least_bytes, plan->group_bytes / CACHE_GAIN) / (sheet->gbs * 1e3),
        .arithmetic_us = multiply_adds / (rate * part),
        .access_us =
            (requested + spilled_bytes(plan, multiply_adds + requested / 4)) / (rate * LANE_BYTES),
        .set_by = "memory"};
    double us = out->memory_us;
    if (out->access_us > us) {
        us = out->access_us;
        out->set_by = "loads";
    }
    if (out->arithmetic_us > us) {
        us = out->arithmetic_us;
        out->set_by = "arithmetic";
    }
    out->us = us / busy + start_us(plan);
    out->peak_part = multiply_adds / (lanes * part) / out->us;
    return true;
}
