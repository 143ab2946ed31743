#include "counting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/families.h"

counting counted;

void begin_group(void)
{
    memset(counted.seen, 0, sizeof counted.seen);
}

void touch(uint64_t element)
{
    assert_true(element < COUNTED_MOST);
    counted.items++;
    counted.groups += !counted.seen[element];
    counted.seen[element] = true;
}

wfi_point point_of(const wf_caps *caps, const wfi_problem *problem, const char *variant,
                   const wf_constant *constants)
{
    const wfi_family *family = wfi_family_get(problem->family);
    wfi_point point = {.caps = caps,
                       .problem = problem,
                       .variant = family->variants[wfi_variant_find(family, variant)]};
    wfi_point_defaults(&point);
    for (; constants->name; constants++)
        wfi_point_put(&point, wfi_parameter_find(point.variant, constants->name), constants->value);
    return point;
}

wfi_traffic traffic_on(const wf_caps *caps, const wfi_problem *problem, const char *variant,
                       const wf_constant *constants)
{
    const wfi_point point = point_of(caps, problem, variant, constants);
    wfi_traffic out = {0};
    assert_non_null(point.variant->traffic);
    point.variant->traffic(&point, &out);
    memset(&counted, 0, sizeof counted);
    return out;
}

wfi_traffic traffic_of(const wfi_problem *problem, const char *variant,
                       const wf_constant *constants)
{
    static const wf_caps caps = {.size = sizeof caps, .subgroup_size = 32, .compute_units = 4};
    return traffic_on(&caps, problem, variant, constants);
}

int clamp_to(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}
