#include "model/predict.h"

#include <math.h>
#include <string.h>

#include "core/arithmetic.h"
#include "profiles/unit_time.h"

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
    return WFI_START_US + (has_parts(plan) ? WFI_DISPATCH_US : 0);
}

bool wfi_predict(const wfi_data_sheet *sheet, const wf_plan_info *plan, wf_type type,
                 const wf_occupancy *occupancy, wfi_prediction *out)
{
    const double part = type == WF_TYPE_F64 ? sheet->f64_part : 1;
    if (part == 0 || (plan->variant && strcmp(plan->variant, "cooperative") == 0))
        return false;
    const double counted = occupancy ? occupancy->counted_units : 1;
    const wfi_units units = {.count = sheet->units / counted,
                             .lanes = sheet->lanes * counted,
                             .clock_mhz = sheet->clock_mhz,
                             .memory_us = 1 / (sheet->gbs * 1e3)};
    const double requested = plan->requested_bytes + plan->shared_requested_bytes,
                 multiply_adds = plan->flops / 2;
    const uint32_t *size = plan->kernel.group_size;
    const wfi_unit_work work = {.multiply_adds = multiply_adds / part,
                                .shared_bytes = plan->shared_requested_bytes,
                                .passes = plan->access.bank_passes,
                                .bytes = plan->requested_bytes +
                                         spilled_bytes(plan, multiply_adds + requested / 4),
                                .group_bytes = plan->group_bytes,
                                .least_bytes = plan->least_bytes,
                                .busy = plan->access.busy,
                                .groups = (double)plan->kernel.groups,
                                .items = (double)size[0] * size[1] * size[2],
                                .subgroup = plan->kernel.subgroup_size,
                                .held = occupancy ? occupancy->groups : 0};
    const wfi_unit_time time = wfi_time_of_units(&units, &work);
    *out = (wfi_prediction){.us = start_us(plan) + fmax(time.memory, time.units),
                            .memory_us = time.memory,
                            .arithmetic_us = time.arithmetic,
                            .access_us = time.access,
                            .set_by = time.memory >= time.units       ? "memory"
                                      : time.access > time.arithmetic ? "loads"
                                                                      : "arithmetic"};
    out->peak_part =
        multiply_adds / (sheet->units * sheet->lanes * sheet->clock_mhz * part) / out->us;
    return true;
}
