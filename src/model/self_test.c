/* Tests whether what a driver offers works: exchanges between work-items and cooperative matrices.
 * Each is tried once for a device and driver, in milliseconds, and the outcome is kept on disk. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/ahead.h"
#include "core/arithmetic.h"
#include "core/caps.h"
#include "core/file.h"
#include "core/heap.h"
#include "core/text.h"
#include "model/self_test.h"
#include "core/quirks.h"
#include "plan/fixed.h"
#include "model/peaks.h"
#include "wfi_shaders.h"

#define GROUPS 16
#define MAGIC 0x54535746u /* "FWST" */
#define FORMAT 2u
#define MOST_AHEAD 16u     /* kernels that threads compile */
#define SPEED_SECONDS 0.01 /* of samples for each of two rates */

/* The file, in this machine's byte order. */
typedef struct outcome {
    uint32_t magic, format;
    uint32_t vendor_id, device_id, driver_version, driver_id;
    uint8_t cache_uuid[16]; /* of the driver's build */
    uint64_t tests;         /* hash of the shaders and of the subgroups that they found */
    uint32_t tested, failed;
    uint64_t wrong_shapes; /* bit an index of caps.cooperative_shapes */
    uint64_t hash;         /* of all before it */
} outcome;

static uint64_t hash_of(const outcome *o)
{
    return wfi_hash(o, offsetof(outcome, hash));
}

/* The name has the subgroups too, since settings in the environment change those of some drivers,
 * whose build stays the same. */
static uint64_t tests_hash(const wf_caps *caps)
{
    const wfi_spirv all[] = {wfi_spv_selftest_shuffle,        wfi_spv_selftest_arithmetic,
                             wfi_spv_selftest_barrier,        wfi_spv_selftest_matrix_f16,
                             wfi_spv_selftest_matrix_f16_f32, wfi_spv_selftest_matrix_i8};
    const uint32_t subgroups[] = {caps->subgroup_size, caps->subgroup_min, caps->subgroup_max,
                                  caps->subgroup_operations};
    uint64_t hash = wfi_hash(subgroups, sizeof subgroups);
    for (size_t i = 0; i < WFI_COUNT(all); i++)
        if (all[i].packed)
            hash = hash * 31 + all[i].hash;
    return hash;
}

static outcome outcome_for(const wf_device *device)
{
    const wf_caps *caps = &device->offered;
    outcome o;
    memset(&o, 0, sizeof o);
    o.magic = MAGIC;
    o.format = FORMAT;
    o.vendor_id = caps->vendor_id;
    o.device_id = caps->device_id;
    o.driver_version = caps->driver_version;
    o.driver_id = caps->driver_id;
    memcpy(o.cache_uuid, caps->cache_uuid, sizeof o.cache_uuid);
    o.tests = tests_hash(caps);
    return o;
}

/* ----------------------------------------------------------------------------------- one kernel */

/* Reads binding 0, writes binding 1. */
typedef struct probe {
    uint32_t groups;
    uint64_t bytes[2];
} probe;

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const probe *p = params;
    const wfi_binding_spec specs[] = {{"from", WFI_READS, p->bytes[0]},
                                      {"to", WFI_WRITES, p->bytes[1]}};
    wfi_step step = {.groups = {p->groups, 1, 1}};
    return wfi_fixed_build(plan, point, specs, 2, &step);
}

/* Runs the kernel on `from`, with `to` poisoned before. */
static wf_result run(wf_device *device, const wfi_variant *row, uint32_t value, const probe *p,
                     const void *from, void *to)
{
    const wfi_problem problem = {.type = WF_TYPE_F32};
    wf_buffer *buffers[2] = {NULL, NULL};
    wf_plan *plan = NULL;
    wf_result result = wf_buffer_create(device, p->bytes[0], WF_MEMORY_DEVICE, &buffers[0]);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, p->bytes[1], WF_MEMORY_DEVICE, &buffers[1]);
    if (result == WF_SUCCESS)
        result = wf_buffer_write(buffers[0], 0, from, p->bytes[0]);
    if (result == WF_SUCCESS)
        result = wf_buffer_fill(buffers[1], 0, wf_buffer_size(buffers[1]), UINT32_MAX);
    if (result == WF_SUCCESS)
        result = wfi_fixed_plan(device, &wfi_family_none, &problem, row, value, p, &plan);
    const wf_bindings bindings = {.size = sizeof bindings,
                                  .items = {{.buffer = buffers[0]}, {.buffer = buffers[1]}}};
    if (result == WF_SUCCESS)
        result = wf_plan_run(plan, &bindings);
    if (result == WF_SUCCESS)
        result = wf_buffer_read(buffers[1], 0, to, p->bytes[1]);
    wf_plan_destroy(&plan);
    wf_buffer_destroy(&buffers[0]);
    wf_buffer_destroy(&buffers[1]);
    return result;
}

/* ------------------------------------------------------------------------------------ exchanges */

/* Four subgroups, or as many as fit. */
static void exchange_group(const wfi_point *point, uint32_t size[3])
{
    const wf_caps *caps = point->caps;
    uint32_t most = caps->max_invocations < 256 ? caps->max_invocations : 256;
    if (most > caps->max_group_size[0])
        most = caps->max_group_size[0];
    size[0] = caps->subgroup_size * 4 <= most ? caps->subgroup_size * 4 : caps->subgroup_size;
    /* Without subgroups: as many work-items as every device has. */
    if (caps->subgroup_size == 1)
        size[0] = 128;
    size[1] = size[2] = 1;
}

static uint32_t pinned(const wfi_point *point)
{
    return point->caps->subgroup_min != point->caps->subgroup_max ? point->caps->subgroup_size : 0;
}

/* What the shader writes of each work-item. */
enum { VERDICT_RIGHT = 1, VERDICT_WRONG = 2 };

/* True with *right set. False where no work-item gave a verdict: a driver that compiles for a
 * device which is not there leaves the poison in the buffer, or whatever it reads memory as. */
static bool read_verdicts(const uint32_t *verdicts, uint32_t count, bool *right)
{
    uint32_t given = 0;
    *right = true;
    for (uint32_t i = 0; i < count; i++) {
        given += verdicts[i] == VERDICT_RIGHT || verdicts[i] == VERDICT_WRONG;
        *right = *right && verdicts[i] == VERDICT_RIGHT;
    }
    return given > 0;
}

typedef struct exchange {
    const wfi_spirv *module;
    VkSubgroupFeatureFlags operations; /* of subgroups; 0: through shared memory */
    uint32_t fault;
} exchange;

static const exchange exchanges[] = {
    {&wfi_spv_selftest_barrier, 0, WF_FAULT_SHARED_MEMORY},
    {&wfi_spv_selftest_shuffle, VK_SUBGROUP_FEATURE_SHUFFLE_BIT, WF_FAULT_SHUFFLE},
    {&wfi_spv_selftest_arithmetic, VK_SUBGROUP_FEATURE_ARITHMETIC_BIT,
     WF_FAULT_SUBGROUP_ARITHMETIC},
};

static bool is_offered(const wf_caps *caps, const exchange *e)
{
    const bool known = caps->subgroup_size >= 2 && caps->subgroup_size <= 128 &&
                       (caps->subgroup_min == caps->subgroup_max || caps->subgroup_size_control);
    return !e->operations || (known && (caps->subgroup_operations & e->operations));
}

static wfi_variant exchange_row(const wf_caps *caps, const exchange *e)
{
    const bool subgroups = e->operations != 0;
    return (wfi_variant){.name = e->module->name,
                         .modules = {[WF_TYPE_F32] = e->module},
                         .storage_buffers = 2,
                         .group_size = exchange_group,
                         .subgroup_size = subgroups ? pinned : NULL,
                         .needs = subgroups && caps->full_subgroups ? WFI_NEEDS_FULL_SUBGROUPS : 0,
                         .build = build};
}

/* True with *right set; false when it could not be run at all. */
static bool test_exchange(wf_device *device, const exchange *e, bool *right)
{
    const wfi_variant row = exchange_row(&device->caps, e);
    const wfi_point point = {.caps = &device->caps, .variant = &row};
    uint32_t size[3], from[GROUPS * 256] = {0}, to[GROUPS * 256] = {0};
    exchange_group(&point, size);
    const uint32_t count = size[0] * GROUPS;
    const probe p = {GROUPS, {count * sizeof *from, count * sizeof *to}};
    uint64_t state = 1;
    for (uint32_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        from[i] = (uint32_t)(state >> 33);
    }
    return run(device, &row, 0, &p, from, to) == WF_SUCCESS && read_verdicts(to, count, right);
}

static void test_exchanges(wf_device *device, outcome *o)
{
    for (size_t i = 0; i < WFI_COUNT(exchanges); i++) {
        const exchange *e = &exchanges[i];
        bool right = false;
        if (!is_offered(&device->caps, e) || !test_exchange(device, e, &right))
            continue;
        o->tested |= e->fault;
        o->failed |= right ? 0 : e->fault;
    }
}

/* ------------------------------------------------------------------------- cooperative matrices */

typedef struct matrix_kind {
    uint32_t element, sum; /* VkComponentTypeKHR */
    wf_type type, sum_type;
    uint32_t sum_bytes;
    const wfi_spirv *module;
} matrix_kind;

static const matrix_kind kinds[] = {
    {VK_COMPONENT_TYPE_FLOAT16_KHR, VK_COMPONENT_TYPE_FLOAT16_KHR, WF_TYPE_F16, WF_TYPE_F16, 2,
     &wfi_spv_selftest_matrix_f16},
    {VK_COMPONENT_TYPE_FLOAT16_KHR, VK_COMPONENT_TYPE_FLOAT32_KHR, WF_TYPE_F16, WF_TYPE_F32, 4,
     &wfi_spv_selftest_matrix_f16_f32},
    {VK_COMPONENT_TYPE_SINT8_KHR, VK_COMPONENT_TYPE_SINT32_KHR, WF_TYPE_I8, WF_TYPE_I8, 4,
     &wfi_spv_selftest_matrix_i8},
};

static const matrix_kind *kind_of(const wf_caps *caps, const wf_cooperative_shape *s)
{
    const bool f16 = caps->f16_arithmetic && caps->f16_storage,
               i8 = caps->int8_arithmetic && caps->int8_storage;
    for (size_t i = 0; i < WFI_COUNT(kinds); i++)
        if (wfi_shape_multiplies(s, kinds[i].element, kinds[i].sum) && kinds[i].module->packed &&
            (kinds[i].type == WF_TYPE_F16 ? f16 : i8))
            return &kinds[i];
    return NULL;
}

static void matrix_group(const wfi_point *point, uint32_t size[3])
{
    size[0] = point->caps->subgroup_size;
    size[1] = size[2] = 1;
}

static double sum_at(const matrix_kind *kind, const void *to, uint64_t index)
{
    int32_t whole;
    if (kind->type != WF_TYPE_I8)
        return wf_element_get(kind->sum_type, to, index);
    memcpy(&whole, (const char *)to + index * sizeof whole, sizeof whole);
    return whole;
}

/* Small whole numbers: the product is exact in every type. */
static bool product_is_right(const matrix_kind *kind, const wf_cooperative_shape *s,
                             const void *from, const void *to)
{
    const uint32_t at_b = s->m * s->k;
    for (uint32_t i = 0; i < s->m; i++)
        for (uint32_t j = 0; j < s->n; j++) {
            double sum = wf_element_get(kind->type, from, at_b);
            for (uint32_t k = 0; k < s->k; k++)
                sum += wf_element_get(kind->type, from, i * s->k + k) *
                       wf_element_get(kind->type, from, at_b + k * s->n + j);
            if (sum != sum_at(kind, to, i * s->n + j))
                return false;
        }
    return true;
}

static wfi_variant matrix_row(const wf_caps *caps, const matrix_kind *kind)
{
    return (wfi_variant){.name = "cooperative matrix",
                         .modules = {[WF_TYPE_F32] = kind->module},
                         .storage_buffers = 2,
                         .group_size = matrix_group,
                         .subgroup_size = caps->subgroup_size_control ? pinned : NULL,
                         .constants = wfi_matrix_constants,
                         .build = build};
}

/* True with *right set; false when it could not be run. */
static bool test_shape(wf_device *device, uint32_t index, const matrix_kind *kind, bool *right)
{
    const wf_cooperative_shape *s = &device->caps.cooperative_shapes[index];
    const wfi_variant row = matrix_row(&device->caps, kind);
    const uint64_t elements = (uint64_t)s->k * (s->m + s->n);
    const probe p = {
        1, {elements * wf_type_size(kind->type), (uint64_t)s->m * s->n * kind->sum_bytes}};
    void *from = wfi_calloc(1, (size_t)p.bytes[0]), *to = wfi_calloc(1, (size_t)p.bytes[1]);
    uint64_t state = index + 1;
    for (uint64_t i = 0; from && i < elements; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        wf_element_set(kind->type, from, i, (double)(state >> 60) - 8);
    }
    const bool ran = from && to && run(device, &row, index, &p, from, to) == WF_SUCCESS;
    *right = ran && product_is_right(kind, s, from, to);
    wfi_free(from);
    wfi_free(to);
    return ran;
}

/* Emulated matrices are slower than the multiply-adds that they replace. Clocks may be low for both
 * rates: their ratio counts. */
static bool are_faster(wf_device *device)
{
    const wf_peak_params params = {
        .size = sizeof params, .budget_seconds = SPEED_SECONDS, .warm = true};
    wf_peak plain = {0}, matrix = {0};
    if (wfi_peak_fma_f32(device, &params, &plain) != WF_SUCCESS ||
        wfi_peak_matrix_f16_f32(device, &params, &matrix) != WF_SUCCESS)
        return true; /* not told */
    return matrix.value > plain.value;
}

static void test_matrices(wf_device *device, outcome *o)
{
    const wf_caps *caps = &device->caps;
    uint32_t tested = 0, wrong = 0;
    for (uint32_t i = 0; caps->cooperative_matrix && i < caps->cooperative_shape_count; i++) {
        const matrix_kind *kind = kind_of(caps, &caps->cooperative_shapes[i]);
        bool right = false;
        if (!kind || !test_shape(device, i, kind, &right))
            continue;
        tested++;
        wrong += !right;
        o->wrong_shapes |= right ? 0 : UINT64_C(1) << i;
    }
    if (tested == 0)
        return;
    o->tested |= WF_FAULT_COOPERATIVE_MATRIX;
    if (wrong == tested || !are_faster(device))
        o->failed |= WF_FAULT_COOPERATIVE_MATRIX;
}

/* -------------------------------------------------------------------------------- compile ahead */

static void describe(const wf_caps *caps, const wfi_variant *row, uint32_t value,
                     wfi_pipeline_desc *desc)
{
    const wfi_problem problem = {.type = WF_TYPE_F32};
    const wfi_point point = {.caps = caps, .problem = &problem, .variant = row, .values = {value}};
    wfi_point_pipeline(&point, desc);
}

/* Begins to compile the kernels of exchanges and of matrices. A driver takes longer for them than
 * everything else here does. */
static wfi_ahead *begin_ahead(wf_device *device)
{
    const wf_caps *caps = &device->caps;
    wfi_pipeline_desc descs[MOST_AHEAD];
    uint32_t count = 0;
    for (size_t i = 0; i < WFI_COUNT(exchanges); i++) {
        const wfi_variant row = exchange_row(caps, &exchanges[i]);
        if (is_offered(caps, &exchanges[i]))
            describe(caps, &row, 0, &descs[count++]);
    }
    const uint32_t shapes = caps->cooperative_matrix ? caps->cooperative_shape_count : 0;
    for (uint32_t i = 0; i < shapes && count < MOST_AHEAD; i++) {
        const matrix_kind *kind = kind_of(caps, &caps->cooperative_shapes[i]);
        if (!kind)
            continue;
        const wfi_variant row = matrix_row(caps, kind);
        describe(caps, &row, i, &descs[count++]);
    }
    return wfi_ahead_begin(device, descs, count);
}

/* -------------------------------------------------------------------------------------- outcome */

static void apply(wf_device *device, const outcome *o)
{
    const wfi_self_test test = {o->tested, o->failed};
    wf_caps *caps = &device->caps;
    wfi_quirks_apply(&device->offered,
                     wfi_quirks_resolve(wfi_quirks_known(&device->offered), &test), caps);
    uint32_t left = 0;
    for (uint32_t i = 0; i < caps->cooperative_shape_count; i++)
        if (!(o->wrong_shapes >> i & 1))
            caps->cooperative_shapes[left++] = caps->cooperative_shapes[i];
    caps->cooperative_shape_count = left;
}

static char *outcome_path(const wf_device *device)
{
    const wf_caps *caps = &device->offered;
    char name[80];
    snprintf(name, sizeof name, "selftest-%04x-%04x-%016llx%s.bin", caps->vendor_id,
             caps->device_id,
             (unsigned long long)wfi_hash(caps->cache_uuid, sizeof caps->cache_uuid),
             caps->limits == WF_LIMITS_MINIMUM ? "-minimum" : "");
    return device->cache_directory ? wfi_path_join(device->cache_directory, name) : NULL;
}

static bool recall(const wfi_log *log, const char *path, outcome *o)
{
    const char *why = NULL;
    size_t bytes = 0;
    outcome there;
    void *data = wfi_cache_read(path, sizeof there, &bytes, &why);
    if (!data && errno != ENOENT && errno != ENOTDIR && errno != EFBIG)
        wfi_log_write(log, WF_LOG_WARNING, "%s: %s; the self-test's outcome is not used", path,
                      why);
    if (!data || bytes != sizeof there) {
        wfi_free(data);
        return false;
    }
    memcpy(&there, data, sizeof there);
    wfi_free(data);
    /* All but the findings must be as they would be written today. */
    outcome expected = *o;
    expected.tested = there.tested;
    expected.failed = there.failed & there.tested;
    expected.wrong_shapes = there.wrong_shapes;
    expected.hash = hash_of(&expected);
    if (memcmp(&expected, &there, sizeof there) != 0)
        return false;
    *o = there;
    return true;
}

bool wfi_self_test_recall(wf_device *device)
{
    outcome o = outcome_for(device);
    char *path = outcome_path(device);
    const bool known = path && recall(&device->log, path, &o);
    wfi_free(path);
    if (known)
        apply(device, &o);
    return known;
}

void wfi_self_test_run(wf_device *device)
{
    const wfi_log log = device->log;
    outcome o = outcome_for(device);
    char *path = outcome_path(device);
    /* A device without memory of its own only compiles. What the table of faults leaves out is
     * tried too, and a kernel that does not run is no error. */
    if (device->offered.device_local_bytes > 0) {
        device->log = (wfi_log){0};
        device->caps = device->offered;
        wfi_ahead *ahead = begin_ahead(device);
        test_exchanges(device, &o);
        /* Exchanges through shared memory are tried everywhere: where they gave no verdict, nothing
         * runs, and a product that is not there would be taken for a wrong one. */
        if (o.tested)
            test_matrices(device, &o);
        wfi_ahead_end(ahead);
        device->log = log;
        apply(device, &o);
    }
    o.hash = hash_of(&o);
    const wfi_piece piece = {&o, sizeof o};
    if (path && o.tested && !(wfi_make_directories(path) && wfi_file_write(path, &piece, 1)))
        wfi_log_write(&log, WF_LOG_INFO, "%s: the self-test's outcome was not kept", path);
    wfi_free(path);
}
