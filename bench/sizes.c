/* What a plan of varying sizes costs the device: plans of one fixed size and plans that may be
 * recorded with smaller ones (any; multiples of 8), timed in turns at the same size; and plans of
 * twice that size recorded with it. No validation layer should be on. On a device that only
 * compiles (RADV_FORCE_FAMILY), --compile prints what the driver says of the kernels. A number as
 * the argument: the first problem of the list to be timed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wavefit/wavefit.h"

enum { ROUNDS = 5, KINDS = 4 };
static const char *const kinds[KINDS] = {"fixed", "vary 8", "vary 1", "vary 8, of 2 x"};

typedef struct shape {
    const char *name;
    wf_family family;
    wf_type type;
    uint32_t size[3];
    uint32_t steps;
} shape;

static const shape shapes[] = {
    {"matmul 1024^3", WF_FAMILY_MATMUL, WF_TYPE_F32, {1024, 1024, 1024}, 0},
    {"matmul 2048^3", WF_FAMILY_MATMUL, WF_TYPE_F32, {2048, 2048, 2048}, 0},
    {"matmul 4096^3", WF_FAMILY_MATMUL, WF_TYPE_F32, {4096, 4096, 4096}, 0},
    {"matmul 2048^3", WF_FAMILY_MATMUL, WF_TYPE_F16, {2048, 2048, 2048}, 0},
    {"matmul 4096^3", WF_FAMILY_MATMUL, WF_TYPE_F16, {4096, 4096, 4096}, 0},
    {"matmul 1x4096x4096", WF_FAMILY_MATMUL, WF_TYPE_F32, {1, 4096, 4096}, 0},
    {"matmul 8x4096x4096", WF_FAMILY_MATMUL, WF_TYPE_F32, {8, 4096, 4096}, 0},
    {"stencil 512^3", WF_FAMILY_STENCIL, WF_TYPE_F32, {512, 512, 512}, 1},
    {"stencil 512^3, 6 steps", WF_FAMILY_STENCIL, WF_TYPE_F32, {512, 512, 512}, 6},
    {"stencil 4096^2", WF_FAMILY_STENCIL, WF_TYPE_F32, {4096, 4096, 0}, 1},
};

static uint32_t unit_of(int kind)
{
    return kind == 0 ? 0 : kind == 2 ? 1 : 8;
}

static wf_result make_product(wf_device *device, const shape *s, int kind, wf_plan **plan)
{
    const uint32_t unit = unit_of(kind), times = kind == 3 ? 2 : 1;
    const wf_matmul_params params = {.size = sizeof params,
                                     .m = s->size[0] > 8 ? s->size[0] * times : s->size[0],
                                     .n = s->size[1] * times,
                                     .k = s->size[2] * times,
                                     .type = s->type,
                                     .vary_m = s->size[0] > 1 ? unit : 0,
                                     .vary_n = unit,
                                     .vary_k = unit};
    return wf_matmul_plan(device, &params, plan);
}

static wf_stencil_params stencil_of(const shape *s, int kind)
{
    static const double taps[7] = {0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    const uint32_t unit = unit_of(kind), times = kind == 3 ? 2 : 1;
    return (wf_stencil_params){.size = sizeof(wf_stencil_params),
                               .nx = s->size[0] * times,
                               .ny = s->size[1] * (s->size[2] ? 1 : times),
                               .nz = s->size[2],
                               .coefficients = taps,
                               .steps = s->steps,
                               .type = s->type,
                               .vary_x = unit,
                               .vary_y = unit,
                               .vary_z = s->size[2] ? unit : 0};
}

static wf_result make_stencil(wf_device *device, const shape *s, int kind, wf_plan **plan)
{
    const wf_stencil_params params = stencil_of(s, kind);
    return wf_stencil_plan(device, &params, plan);
}

static wf_result make(wf_device *device, const shape *s, int kind, wf_plan **plan)
{
    return s->family == WF_FAMILY_MATMUL ? make_product(device, s, kind, plan)
                                         : make_stencil(device, s, kind, plan);
}

/* A buffer of small numbers of the type. */
static wf_result make_buffer(wf_device *device, wf_type type, uint64_t bytes, wf_buffer **out)
{
    wf_result result = wf_buffer_create(device, bytes, WF_MEMORY_DEVICE, out);
    const uint32_t pattern = type == WF_TYPE_F16 ? 0x2c662e66u : 0x3dcccccdu;
    return result == WF_SUCCESS ? wf_buffer_fill(*out, 0, wf_buffer_size(*out) / 4 * 4, pattern)
                                : result;
}

static wf_result make_buffers(wf_device *device, const shape *s, wf_plan *const *plans,
                              wf_bindings *bindings, wf_buffer **buffers)
{
    const uint64_t n = s->size[0] > 8 ? s->size[0] : s->size[1], size = wf_type_size(s->type);
    const uint64_t most =
        s->family == WF_FAMILY_MATMUL ? 4 * n * n * size : 2 * n * n * (s->size[2] ? n : 2) * size;
    uint64_t workspace = 0;
    wf_result result = WF_SUCCESS;
    for (int i = 0; i < KINDS; i++)
        if (plans[i] && wf_plan_workspace(plans[i]) > workspace)
            workspace = wf_plan_workspace(plans[i]);
    for (int i = 0; i < 3 && result == WF_SUCCESS; i++) {
        result = make_buffer(device, s->type, most, &buffers[i]);
        bindings->items[i].buffer = buffers[i];
    }
    if (result == WF_SUCCESS && workspace) {
        result = make_buffer(device, s->type, workspace, &buffers[3]);
        bindings->workspace.buffer = buffers[3];
    }
    return result;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Rounds in turns; each kind gets its median. */
static wf_result measure(const shape *s, wf_plan *const *plans, const wf_bindings *bindings,
                         double *us)
{
    static wf_timing timing;
    const wf_measure_params params = {.size = sizeof params, .budget_seconds = 0.1};
    double samples[KINDS][ROUNDS];
    wf_result result = WF_SUCCESS;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < KINDS && result == WF_SUCCESS; i++) {
            wf_bindings given = *bindings;
            for (int axis = 0; i == KINDS - 1 && axis < 3; axis++)
                given.extent[axis] = s->size[axis];
            result = wf_plan_measure(plans[i], &given, &params, &timing);
            samples[i][round] = timing.median_us;
        }
    for (int i = 0; i < KINDS; i++) {
        qsort(samples[i], ROUNDS, sizeof(double), compare);
        us[i] = samples[i][ROUNDS / 2];
    }
    return result;
}

static void print_kernel(const char *kind, const wf_plan_info *info)
{
    printf("    %-15s %-12s", kind, info->variant);
    for (uint32_t i = 0; i < info->kernel.statistic_count; i++)
        if (strcmp(info->kernel.statistics[i].name, "VGPRs") == 0 ||
            strcmp(info->kernel.statistics[i].name, "Instructions") == 0 ||
            strcmp(info->kernel.statistics[i].name, "Code size") == 0)
            printf("  %s %.0f", info->kernel.statistics[i].name, info->kernel.statistics[i].value);
    printf("\n");
}

/* Without memory, which a device that only compiles may not have. */
static wf_result describe(wf_device *device, const shape *s, int kind, wf_plan_info *info)
{
    const wf_stencil_params params = stencil_of(s, kind);
    const wf_problem problem = {
        .size = sizeof problem, .family = WF_FAMILY_STENCIL, .stencil = &params};
    wf_plan *plan = NULL;
    if (s->family == WF_FAMILY_STENCIL)
        return wf_kernel_compile(device, &problem, NULL, info);
    wf_result result = make_product(device, s, kind, &plan);
    if (result == WF_SUCCESS)
        result = wf_plan_describe(plan, info);
    wf_plan_destroy(&plan);
    return result;
}

static wf_result compile(wf_device *device, const shape *s)
{
    wf_result result = WF_SUCCESS;
    printf("%s %s\n", s->name, wf_type_name(s->type));
    for (int i = 0; i < KINDS && result == WF_SUCCESS; i++) {
        wf_plan_info info = {.size = sizeof info};
        result = describe(device, s, i, &info);
        if (result == WF_SUCCESS)
            print_kernel(kinds[i], &info);
        else if (result == WF_ERROR_OUT_OF_DEVICE_MEMORY)
            printf("    %-15s keeps copies of its operands, for which there is no memory\n",
                   kinds[i]);
        if (result == WF_ERROR_OUT_OF_DEVICE_MEMORY)
            result = WF_SUCCESS;
    }
    return result;
}

static wf_result run(wf_device *device, const shape *s)
{
    wf_plan *plans[KINDS] = {NULL};
    wf_buffer *buffers[4] = {NULL};
    wf_bindings bindings = {.size = sizeof bindings};
    double us[KINDS];
    wf_result result = WF_SUCCESS;
    printf("%s %s\n", s->name, wf_type_name(s->type));
    for (int i = 0; i < KINDS && result == WF_SUCCESS; i++)
        result = make(device, s, i, &plans[i]);
    if (result == WF_SUCCESS)
        result = make_buffers(device, s, plans, &bindings, buffers);
    if (result == WF_SUCCESS)
        result = measure(s, plans, &bindings, us);
    for (int i = 0; i < KINDS && result == WF_SUCCESS; i++) {
        wf_plan_info info = {.size = sizeof info};
        result = wf_plan_describe(plans[i], &info);
        printf("    %-15s %-12s %10.2f us  %.3f of fixed\n", kinds[i], info.variant, us[i],
               us[i] / us[0]);
    }
    for (int i = 0; i < KINDS; i++)
        wf_plan_destroy(&plans[i]);
    for (int i = 0; i < 4; i++)
        wf_buffer_destroy(&buffers[i]);
    return result;
}

static void print_log(void *user, wf_log_level level, const char *text)
{
    (void)user;
    if (level == WF_LOG_ERROR)
        fprintf(stderr, "%s\n", text);
}

int main(int argc, char **argv)
{
    const bool compile_only = argc > 1 && strcmp(argv[1], "--compile") == 0;
    const size_t first = argc > 1 && !compile_only ? (size_t)atoi(argv[1]) : 0;
    const wf_device_params params = {.size = sizeof params,
                                     .log = print_log,
                                     .capture_statistics = compile_only,
                                     .cache_directory = compile_only ? "" : NULL};
    wf_device *device = NULL;
    wf_result result = wf_device_create(&params, &device);
    if (result == WF_SUCCESS)
        printf("%s\n", wf_device_caps(device)->name);
    for (size_t i = first; i < sizeof shapes / sizeof *shapes && result == WF_SUCCESS; i++)
        result = compile_only ? compile(device, &shapes[i]) : run(device, &shapes[i]);
    if (result != WF_SUCCESS)
        fprintf(stderr, "%s\n", wf_result_string(result));
    wf_device_destroy(&device);
    return result != WF_SUCCESS;
}
