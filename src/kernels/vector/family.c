/* The vector operations of a solver: rows of the family, and its plans. */
#include <string.h>

#include "core/arithmetic.h"
#include "kernels/vector/vector.h"
#include "core/params.h"
#include "kernels/families.h"
#include "plan/plan.h"
#include "profiles/vector.h"
#include "vector/vector_ids.h"
#include "wfi_shaders.h"

/* In vector.comp the scalar comes first and is of the element type. */
typedef struct vector_push {
    uint32_t count, base_x, base_y, numerator, denominator, result, partial;
} vector_push;

static double flops(const wfi_problem *problem)
{
    return 2.0 * (double)problem->vector.count;
}

static double least_bytes(const wfi_problem *problem)
{
    const double arrays = problem->vector.operation == WF_VECTOR_DOT ? 2 : 3;
    return arrays * (double)problem->vector.count * (double)wf_type_size(problem->type);
}

/* ------------------------------------------------------------------------------------- building */

/* Elements [first, first + count) of the vectors, which fit a binding. */
typedef struct slab {
    uint64_t first, count;
} slab;

typedef struct builder {
    wf_plan *plan;
    const wfi_point *point;
    const wf_vector_params *params;
    uint64_t real;
    uint32_t pipeline, sum_pipeline;
    uint32_t partials; /* so far */
    uint64_t most_partials;
} builder;

static bool uses_scalars(const wf_vector_params *p)
{
    return p->operation == WF_VECTOR_DOT || p->numerator || p->denominator;
}

static uint64_t scalar_count(const wf_vector_params *p)
{
    uint64_t count = p->operation == WF_VECTOR_DOT ? p->result + UINT64_C(1) : 0;
    if (p->numerator > count)
        count = p->numerator;
    return p->denominator > count ? p->denominator : count;
}

static wfi_slot slot_of(const builder *b, uint32_t binding, slab piece, uint32_t *base)
{
    return wfi_slot_at(b->point->caps, binding, piece.first, piece.count, b->real, base);
}

static wfi_slot whole(wfi_slot_kind kind, uint32_t index, uint64_t bytes)
{
    return (wfi_slot){kind, index, 0, bytes};
}

static void put_push(const builder *b, const vector_push *push, double alpha, wfi_step *step)
{
    const float single = (float)alpha;
    memcpy(step->push, b->real == 8 ? (const void *)&alpha : (const void *)&single, b->real);
    memcpy(step->push + b->real, push, sizeof *push);
    step->push_bytes = (uint32_t)(b->real + sizeof *push);
}

static uint32_t groups_for(const builder *b, uint64_t count)
{
    const uint64_t a_group = (uint64_t)b->point->values[WF_VECTOR_ID_LOCAL_X] *
                             (uint64_t)b->point->values[WF_VECTOR_ID_ITEMS];
    const uint64_t groups = (count + a_group - 1) / a_group;
    /* Partial sums fit one binding and work-groups one axis of a dispatch; the shader loops over
     * what remains. */
    return (uint32_t)(groups < 32768 ? groups : 32768);
}

/* Vulkan wants a buffer at bindings that an operation does not use, so they get y. */
static wf_result add_slab(builder *b, slab piece)
{
    const wf_vector_params *p = b->params;
    vector_push push = {(uint32_t)piece.count, 0, 0, p->numerator, p->denominator, 0, b->partials};
    wfi_step step = {.pipeline = b->pipeline, .slot_count = 4};
    step.groups[0] = groups_for(b, piece.count);
    step.groups[1] = step.groups[2] = 1;
    step.slots[0] = slot_of(b, WF_VECTOR_X, piece, &push.base_x);
    step.slots[1] = slot_of(b, WF_VECTOR_Y, piece, &push.base_y);
    step.slots[2] = step.slots[3] = step.slots[1];
    if (uses_scalars(p))
        step.slots[2] = whole(WFI_SLOT_BINDING, WF_VECTOR_SCALARS, scalar_count(p) * b->real);
    if (p->operation == WF_VECTOR_DOT)
        step.slots[3] = whole(WFI_SLOT_WORKSPACE, 0, b->most_partials * b->real);
    b->partials += step.groups[0];
    put_push(b, &push, p->alpha, &step);
    return wfi_plan_add_step(b->plan, &step);
}

static wf_result add_sum(builder *b)
{
    const wf_vector_params *p = b->params;
    const vector_push push = {.count = b->partials, .result = p->result};
    wfi_step step = {
        .pipeline = b->sum_pipeline, .groups = {1, 1, 1}, .slot_count = 4, .barrier = true};
    step.slots[2] = whole(WFI_SLOT_BINDING, WF_VECTOR_SCALARS, scalar_count(p) * b->real);
    step.slots[3] = whole(WFI_SLOT_WORKSPACE, 0, b->most_partials * b->real);
    step.slots[0] = step.slots[1] = step.slots[3];
    put_push(b, &push, p->alpha, &step);
    return wfi_plan_add_step(b->plan, &step);
}

/* Elements of a slab: as many as a binding holds and as take no longer than a dispatch may, but at
 * least one work-group's. Measured times of the device are left out, since the order of a sum
 * depends on its slabs, and every run must give the same bits. */
static uint64_t slab_size(const builder *b)
{
    const wf_caps *caps = b->point->caps;
    const double longest = wfi_plan_device(b->plan)->dispatch_seconds;
    const double dispatches = longest > 0 ? wfi_plan_guessed_seconds(b->plan) / longest : 0;
    const uint64_t least =
        (uint64_t)b->point->values[WF_VECTOR_ID_LOCAL_X] * b->point->values[WF_VECTOR_ID_ITEMS];
    const uint64_t held = (caps->max_storage_range - caps->storage_alignment) / b->real;
    const uint64_t in_time =
        dispatches > 1 ? (uint64_t)((double)b->params->count / dispatches) + least : UINT64_MAX;
    const uint64_t most = held < in_time ? held : in_time;
    return most < UINT32_MAX / 2 ? most : UINT32_MAX / 2;
}

static wf_result add_pipeline(builder *b, uint32_t operation, uint32_t *index)
{
    wfi_pipeline_desc desc;
    wfi_point_pipeline(b->point, &desc);
    desc.push_bytes = (uint32_t)(b->real + sizeof(vector_push));
    wfi_pipeline_constant(&desc, WF_VECTOR_ID_OPERATION, operation);
    wfi_pipeline_constant(&desc, WF_VECTOR_ID_DEVICE_SCALAR,
                          b->params->numerator || b->params->denominator);
    return wfi_plan_add_pipeline(b->plan, &desc, index);
}

static wf_result add_bindings(builder *b)
{
    const wf_vector_params *p = b->params;
    const bool dot = p->operation == WF_VECTOR_DOT;
    const wfi_binding_spec x = {"x", WFI_READS, p->count * b->real},
                           y = {"y", dot ? WFI_READS : WFI_READS_WRITES, p->count * b->real},
                           scalars = {"scalars", dot ? WFI_WRITES : WFI_READS,
                                      scalar_count(p) * b->real};
    wf_result result = wfi_plan_add_binding(b->plan, &x);
    if (result == WF_SUCCESS)
        result = wfi_plan_add_binding(b->plan, &y);
    if (result == WF_SUCCESS && uses_scalars(p))
        result = wfi_plan_add_binding(b->plan, &scalars);
    return result;
}

/* The partial sums of all slabs; room for one where there are none. */
static uint64_t count_partials(const builder *b, uint64_t most)
{
    uint64_t count = 0;
    for (uint64_t first = 0; first < b->params->count; first += most) {
        const uint64_t left = b->params->count - first;
        count += groups_for(b, left < most ? left : most);
    }
    return count ? count : 1;
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    static const uint32_t operations[] = {WF_VECTOR_OP_AXPY, WF_VECTOR_OP_XPAY, WF_VECTOR_OP_DOT};
    const wf_vector_params *p = params;
    builder b = {.plan = plan, .point = point, .params = p, .real = wf_type_size(p->type)};
    const uint64_t most = slab_size(&b);
    wf_result result = add_bindings(&b);
    if (p->operation == WF_VECTOR_DOT) {
        b.most_partials = count_partials(&b, most);
        wfi_plan_set_workspace(plan, b.most_partials * b.real);
        if (result == WF_SUCCESS)
            result = add_pipeline(&b, WF_VECTOR_OP_SUM, &b.sum_pipeline);
    }
    if (result == WF_SUCCESS)
        result = add_pipeline(&b, operations[p->operation], &b.pipeline);
    for (uint64_t first = 0; result == WF_SUCCESS && first < p->count; first += most) {
        const uint64_t left = p->count - first;
        result = add_slab(&b, (slab){first, left < most ? left : most});
    }
    return result == WF_SUCCESS && p->operation == WF_VECTOR_DOT ? add_sum(&b) : result;
}

/* ---------------------------------------------------------------------------------- rows, model */

static const uint32_t local_sizes[] = {64, 128, 256, 512, 1024};
static const uint32_t item_counts[] = {1, 2, 4, 8, 16, 64};

static const wfi_parameter parameters[] = {
    {"local_x", WF_VECTOR_ID_LOCAL_X, 128, WFI_COUNT(local_sizes), local_sizes,
     "work-items a work-group"},
    {"items", WF_VECTOR_ID_ITEMS, 4, WFI_COUNT(item_counts), item_counts, "elements a work-item"},
};

static bool local_is_power(const wfi_point *point)
{
    const uint32_t n = point->values[WF_VECTOR_ID_LOCAL_X];
    return n != 0 && (n & (n - 1)) == 0;
}

static bool items_positive(const wfi_point *point)
{
    return point->values[WF_VECTOR_ID_ITEMS] > 0;
}

static const wfi_constraint constraints[] = {
    {"local_x must be a power of two, since sums halve it", local_is_power},
    {"items must be positive, since a work-item must do something", items_positive},
};

static void group_size(const wfi_point *point, uint32_t size[3])
{
    size[0] = point->values[WF_VECTOR_ID_LOCAL_X];
    size[1] = size[2] = 1;
}

static uint64_t shared_bytes(const wfi_point *point)
{
    return point->values[WF_VECTOR_ID_LOCAL_X] * (uint64_t)wf_type_size(point->problem->type);
}

#define LARGE (UINT64_C(1) << 22)

/* Memory bandwidth decides, which large work-groups reach at any size. */
static double fit(wfi_point *point, double reduction)
{
    const wf_caps *caps = point->caps;
    uint32_t size = 256;
    while (size > caps->max_invocations || size > caps->max_group_size[0])
        size /= 2;
    const wfi_vector_profile *profile = wfi_vector_profile_of(caps);
    point->values[WF_VECTOR_ID_LOCAL_X] = size;
    point->values[WF_VECTOR_ID_ITEMS] =
        point->problem->vector.count > LARGE ? profile->items_large : profile->items;
    return (double)point->problem->vector.count + reduction * size;
}

static double tree_fit(wfi_point *point)
{
    return fit(point, 2);
}

static double subgroup_fit(wfi_point *point)
{
    return fit(point, 1);
}

static const wfi_variant *const variants[] = {
    &(const wfi_variant){
        .name = "tree",
        .summary = "sums by halving in shared memory",
        .source = "",
        .modules = WFI_MODULES_vector_tree,
        .parameter_count = 2,
        .parameters = parameters,
        .constraint_count = 2,
        .constraints = constraints,
        .storage_buffers = 4,
        .push_bytes = sizeof(double) + sizeof(vector_push),
        .shared_bytes = shared_bytes,
        .group_size = group_size,
        .fit = tree_fit,
        .build = build,
    },
    &(const wfi_variant){
        .name = "subgroup",
        .summary = "sums by subgroup addition first",
        .source = "",
        .modules = WFI_MODULES_vector_subgroup,
        .parameter_count = 2,
        .parameters = parameters,
        .constraint_count = 2,
        .constraints = constraints,
        .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT,
        .storage_buffers = 4,
        .push_bytes = sizeof(double) + sizeof(vector_push),
        .shared_bytes = shared_bytes,
        .group_size = group_size,
        .fit = subgroup_fit,
        .build = build,
    },
};

const wfi_family wfi_family_vector = {
    .name = "vector",
    .summary = "the vector operations of a solver",
    .work = "operation",
    .variant_count = WFI_COUNT(variants),
    .variants = variants,
    .flops = flops,
    .hooks = &wfi_vector_hooks,
    .least_bytes = least_bytes,
};

wf_result wfi_vector_check(const wf_device *device, const wf_vector_params *p)
{
    if ((unsigned)p->operation > WF_VECTOR_DOT)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_vector_plan: unknown operation");
    if ((unsigned)p->type >= WF_TYPE_COUNT)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT, "wf_vector_plan: unknown type");
    if (p->operation == WF_VECTOR_DOT && (p->numerator || p->denominator))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_vector_plan: a dot product takes no scalars");
    if (p->count > UINT64_C(1) << 40 ||
        scalar_count(p) * wf_type_size(p->type) > device->caps.max_storage_range)
        return wfi_fail(&device->log, WF_ERROR_TOO_LARGE, "wf_vector_plan: %llu elements",
                        (unsigned long long)p->count);
    return WF_SUCCESS;
}
