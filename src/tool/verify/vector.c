/* Vector operations with scalars that stay on the device, and dot products. */
#include <math.h>
#include <string.h>

#include "tool/verify/verify.h"

#define SCALARS 4
#define LEAST_DIVISOR 0.25

typedef struct operation {
    wf_vector_params params;
    wf_plan **plan;
    uint64_t scalars; /* that the binding holds */
} operation;

/* The operands as the device got them. */
typedef struct operands {
    void *data[WF_VECTOR_BINDINGS];
    wfi_numbers numbers;
} operands;

static wf_result make_plan(wfi_verifier *v, void *user, const wf_tuning *tuning)
{
    operation *o = user;
    o->params.tuning = tuning;
    return wf_vector_plan(v->session->device, &o->params, o->plan);
}

static void draw_problem(wfi_verifier *v, operation *o)
{
    wf_vector_params *p = &o->params;
    v->verdict->type = wfi_draw_chance(v, 50) ? WF_TYPE_F32 : WF_TYPE_F64;
    *p = (wf_vector_params){.size = sizeof *p, .type = v->verdict->type};
    p->operation = (wf_vector_operation)wfi_draw_below(v, 3);
    p->count = wfi_draw_size(v, wfi_draw_chance(v, 20) ? 200000 : 3000);
    p->alpha = wfi_draw_factor(v, false, false);
    p->result = (uint32_t)wfi_draw_below(v, SCALARS);
    if (p->operation == WF_VECTOR_DOT) /* which takes no scalars */
        return;
    p->numerator = wfi_draw_chance(v, 50) ? 1 + (uint32_t)wfi_draw_below(v, SCALARS) : 0;
    p->denominator = wfi_draw_chance(v, 50) ? 1 + (uint32_t)wfi_draw_below(v, SCALARS) : 0;
}

static void say(wfi_verifier *v, const operation *o, wfi_numbers numbers)
{
    static const char *const names[] = {"y + a x", "x + a y", "a x y"};
    const wf_vector_params *p = &o->params;
    wfi_verify_say(v, "%s, %llu elements, a = %g", names[p->operation],
                   (unsigned long long)p->count, p->alpha < 0 || p->alpha > 0 ? p->alpha : 1.0);
    if (p->numerator)
        wfi_verify_say(v, " s%u", p->numerator - 1);
    if (p->denominator)
        wfi_verify_say(v, " / s%u", p->denominator - 1);
    if (p->operation == WF_VECTOR_DOT)
        wfi_verify_say(v, " into s%u", p->result);
    wfi_verify_say(v, ", of %s", wfi_numbers_name(numbers));
}

static bool make_operands(wfi_verifier *v, const operation *o, wfi_verify_execution *e, operands *d)
{
    const wf_vector_params *p = &o->params;
    const uint64_t size = wf_type_size(p->type);
    const bool dot = p->operation == WF_VECTOR_DOT;
    const wfi_verify_places y = {size, {1, 1, p->count}, {0, 0, 1}, 0};
    const wfi_verify_places sum = {size, {1, 1, 1}, {0, 0, 1}, p->result};
    const wfi_verify_places *places[] = {NULL, dot ? NULL : &y, dot ? &sum : NULL};
    for (uint32_t i = 0; i < WF_VECTOR_BINDINGS; i++) {
        const uint64_t count = i == WF_VECTOR_SCALARS ? SCALARS : p->count;
        if (!wfi_verify_bind(v, e, i, count * size, places[i], &d->data[i]))
            return false;
        for (uint64_t at = 0; at < count; at++)
            wf_element_set(p->type, d->data[i], at, wfi_draw_number(v, d->numbers));
    }
    for (uint32_t i = 0; i < SCALARS; i++) /* no divisor near 0 */
        wf_element_set(p->type, d->data[WF_VECTOR_SCALARS], i,
                       wfi_draw_uniform(v, LEAST_DIVISOR, 2) * (wfi_draw_chance(v, 50) ? -1 : 1));
    return true;
}

/* The factor, which the device finds in the type with alpha rounded to it, a product and a
 * division: Vulkan allows the last one 2.5 units in the last place. */
static long double factor_of(const operation *o, const operands *d)
{
    const wf_vector_params *p = &o->params;
    const void *scalars = d->data[WF_VECTOR_SCALARS];
    long double a = p->alpha < 0 || p->alpha > 0 ? p->alpha : 1.0;
    if (p->numerator)
        a *= wf_element_get(p->type, scalars, p->numerator - 1);
    if (p->denominator)
        a /= wf_element_get(p->type, scalars, p->denominator - 1);
    return a;
}

#define FACTOR_ROUNDINGS 8 /* units: alpha 1, the product 1, the division 5, to be sure 1 */

static void compare(wfi_verifier *v, double got, long double expected, long double bound,
                    uint64_t index)
{
    wf_check *out = &v->verdict->check;
    const double error = fabs(got - (double)expected);
    const double over = bound > 0 ? error / (double)bound : error > 0 ? (double)INFINITY : 0;
    out->checked++;
    out->total++;
    if (!(over <= out->error_over_bound))
        out->error_over_bound = isnan(over) ? (double)INFINITY : over;
    if (over <= 1)
        return;
    if (out->wrong < WF_CHECK_MISMATCHES) {
        out->mismatches[out->wrong] = (wf_mismatch){index, got, (double)expected, (double)bound};
        wfi_verify_place(v, out->wrong, "element %llu", (unsigned long long)index);
    }
    out->wrong++;
}

static void check_dot(wfi_verifier *v, const operation *o, const operands *d, const void *scalars)
{
    const wf_vector_params *p = &o->params;
    const long double u = p->type == WF_TYPE_F64 ? 0x1p-53L : 0x1p-24L, a = factor_of(o, d);
    const long double least = p->type == WF_TYPE_F64 ? 0x1p-1022L : 0x1p-126L;
    long double sum = 0, sizes = 0;
    for (uint64_t i = 0; i < p->count; i++) {
        const long double product = (long double)wf_element_get(p->type, d->data[WF_VECTOR_X], i) *
                                    wf_element_get(p->type, d->data[WF_VECTOR_Y], i);
        sum += product;
        sizes += fabsl(product);
    }
    /* Whole numbers add up without rounding: the order of the sum does not matter. */
    const bool exact = d->numbers == WFI_NUMBERS_WHOLE || d->numbers == WFI_NUMBERS_SIGNS;
    const long double steps = exact ? FACTOR_ROUNDINGS : (long double)p->count + FACTOR_ROUNDINGS;
    const long double gamma = steps * u / (1 - steps * u);
    const long double bound = gamma * fabsl(a) * (exact ? fabsl(sum) : sizes) +
                              (exact ? 0 : (long double)p->count * least);
    compare(v, wf_element_get(p->type, scalars, p->result), a * sum, bound, p->result);
}

static void check_update(wfi_verifier *v, const operation *o, const operands *d, const void *y)
{
    const wf_vector_params *p = &o->params;
    const long double u = p->type == WF_TYPE_F64 ? 0x1p-53L : 0x1p-24L, a = factor_of(o, d);
    const long double least = p->type == WF_TYPE_F64 ? 0x1p-1022L : 0x1p-126L;
    const void *scaled = d->data[p->operation == WF_VECTOR_AXPY ? WF_VECTOR_X : WF_VECTOR_Y];
    const void *added = d->data[p->operation == WF_VECTOR_AXPY ? WF_VECTOR_Y : WF_VECTOR_X];
    for (uint64_t i = 0; i < p->count; i++) {
        const long double product = a * wf_element_get(p->type, scaled, i);
        const long double other = wf_element_get(p->type, added, i);
        compare(v, wf_element_get(p->type, y, i), product + other,
                (FACTOR_ROUNDINGS + 2) * u * fabsl(product) + 2 * u * fabsl(other) + 2 * least, i);
    }
}

wf_result wfi_verify_vector(wfi_verifier *v)
{
    operation o = {0};
    operands d = {{NULL}, WFI_NUMBERS_UNIFORM};
    wfi_verify_execution e = {.repeats = true};
    o.plan = &e.plan;
    draw_problem(v, &o);
    d.numbers = wfi_draw_numbers(v);
    say(v, &o, d.numbers);
    wf_result result = wfi_verify_point(v, make_plan, &o);
    if (result == WF_SUCCESS && !make_operands(v, &o, &e, &d))
        result = WF_ERROR_OUT_OF_HOST_MEMORY;
    if (result == WF_SUCCESS)
        result = wfi_verify_execute(v, &e);
    if (result == WF_SUCCESS) {
        const bool dot = o.params.operation == WF_VECTOR_DOT;
        const wfi_verify_binding *to = &e.items[dot ? WF_VECTOR_SCALARS : WF_VECTOR_Y];
        (dot ? check_dot : check_update)(v, &o, &d, to->after + to->offset);
        wfi_verify_checked(v, dot ? "dot products" : "elements of y");
    }
    wfi_verify_close(&e);
    return result;
}
