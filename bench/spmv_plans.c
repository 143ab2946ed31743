/* What sparse plans cost, stage by stage: on the host, on the device, and whole, from host arrays
 * and from device buffers; whether both make the same bytes of variant sliced; and the update of
 * its values.
 *   bench_spmv_plans [--type f32|f64] [--device SEL] KIND:SIZE|FILE.mtx...
 * Times are milliseconds: the first, with what is compiled then, and the median of those after it,
 * for which products raise the device's clocks before. A product's time is a median, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/timing.h"
#include "kernels/spmv/analysis/sliced_convert.h"
#include "kernels/spmv/analysis/values.h"
#include "kernels/spmv/variants.h"
#include "matrix.h"
#include "spmv/spmv_ids.h"

enum { REPEATS = 9, RUNS = 20, SAMPLES = 15 };
#define WARM_UP_SECONDS 0.3

typedef struct stage {
    const char *name;
    double first, later[REPEATS];
    int count; /* of the later ones */
} stage;

static void print_log(void *user, wf_log_level level, const char *text)
{
    (void)user;
    if (level != WF_LOG_INFO)
        fprintf(stderr, "%s\n", text);
}

static void note(stage *s, const char *name, int repeat, double start)
{
    const double ms = (wfi_host_seconds() - start) * 1e3;
    s->name = name;
    if (repeat == 0)
        s->first = ms;
    else if (s->count < REPEATS)
        s->later[s->count++] = ms;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return count ? values[count / 2] : 0;
}

static double median_of(stage *s)
{
    return s->count ? median(s->later, s->count) : s->first;
}

static void print_stages(stage *stages, int count)
{
    for (int i = 0; i < count; i++)
        printf("  %-28s %9.3f %9.3f\n", stages[i].name, stages[i].first, median_of(&stages[i]));
}

static wfi_sliced_params sliced_params(const wf_caps *caps, const wfi_problem *problem,
                                       const wf_spmv_params *p)
{
    wfi_point point = {.caps = caps, .problem = problem, .variant = &wfi_spmv_sliced};
    wfi_point_defaults(&point);
    wfi_spmv_sliced.fit(&point);
    return (wfi_sliced_params){.matrix = p,
                               .rows = p->rows,
                               .subgroup = caps->subgroup_size,
                               .loads = point.values[SPMV_ID_SLICE_LOADS],
                               .window = point.values[SPMV_ID_WINDOW],
                               .row_subgroups = point.values[SPMV_ID_ROW_SUBGROUPS]};
}

static bool same_words(wf_buffer *buffer, const uint32_t *words, uint64_t count)
{
    uint32_t *read = malloc((size_t)count * 4 + 4);
    const bool same = read && wf_buffer_read(buffer, 0, read, count * 4) == WF_SUCCESS &&
                      memcmp(read, words, (size_t)count * 4) == 0;
    free(read);
    return same;
}

/* Ways of converting; the last one's places are compared with the host's. */
enum { WAYS = 2, WAY_REPEATS = 4 };
static const char *const way_names[WAYS] = {"device: sliced, values", "device: sliced, places"};

typedef struct on_host {
    wfi_spmv_counts counts;
    wfi_sliced_params params;
    wfi_sliced sliced;
} on_host;

static bool same_places(const wfi_sliced_made *made, const wfi_sliced *host)
{
    return made->sizes.pattern_words == host->pattern_words &&
           made->sizes.place_count == host->place_count &&
           same_words(made->pattern, host->pattern, host->pattern_words) &&
           same_words(made->places, host->places, host->place_count);
}

/* Uploads, counts and converts once; notes the times. */
static wf_result convert(wf_device *device, const wf_spmv_params *p, const on_host *host, int way,
                         int repeat, stage *stages, bool *same)
{
    const bool places = way == WAYS - 1;
    wfi_device_csr csr;
    wfi_passes passes = {0};
    wfi_spmv_counts counts;
    wfi_sliced_made made = {.pattern = NULL};
    double start = wfi_host_seconds();
    wf_result result = wfi_device_csr_upload(device, p, &csr);
    if (result == WF_SUCCESS)
        result = wfi_device_csr_wait(&csr, WFI_CSR_VALUES);
    note(&stages[0], "upload", WAY_REPEATS * way + repeat, start);
    start = wfi_host_seconds();
    if (result == WF_SUCCESS)
        result = wfi_device_csr_count(&csr, &counts);
    note(&stages[1], "device: checks, statistics", WAY_REPEATS * way + repeat, start);
    start = wfi_host_seconds();
    if (result == WF_SUCCESS)
        result = wfi_passes_open(device, &passes);
    if (result == WF_SUCCESS)
        result = wfi_sliced_convert(&passes, &csr, &host->params, places, counts.longest, &made);
    note(&stages[2 + way], way_names[way], repeat, start);
    if (result == WF_SUCCESS && places)
        *same =
            memcmp(&counts, &host->counts, sizeof counts) == 0 && same_places(&made, &host->sliced);
    wfi_sliced_made_free(&made);
    wfi_passes_close(&passes);
    wfi_device_csr_close(&csr);
    return result;
}

static wf_result by_stages(wf_device *device, const wf_spmv_params *p)
{
    stage stages[2] = {{0}}, on_device[2 + WAYS] = {{0}};
    wf_spmv_analysis analysis;
    on_host host;
    bool same = false;
    double start = wfi_host_seconds();
    wfi_spmv_count(p, &host.counts);
    note(&stages[0], "host: statistics", 0, start);
    const wfi_problem problem = wfi_spmv_describe(p, &host.counts, &analysis);
    host.params = sliced_params(wf_device_caps(device), &problem, p);
    start = wfi_host_seconds();
    wf_result result = wfi_sliced_make(&host.params, &host.sliced);
    note(&stages[1], "host: sliced", 0, start);
    for (int i = 0; i < WAY_REPEATS * WAYS && result == WF_SUCCESS; i++)
        result = convert(device, p, &host, i / WAY_REPEATS, i % WAY_REPEATS, on_device, &same);
    print_stages(stages, 2);
    print_stages(on_device, 2 + WAYS);
    printf("  sliced: %s\n", result != WF_SUCCESS ? wf_result_string(result)
                             : same               ? "same bytes as the host's"
                                                  : "DIFFERS from the host's");
    wfi_sliced_free(&host.sliced);
    return result == WF_NOT_READY ? WF_SUCCESS : result;
}

/* A product's time in microseconds, the median at full clocks, and its y. */
static wf_result multiply(wf_device *device, wf_plan *plan, const wf_spmv_params *p, double *us,
                          void *result_y)
{
    const uint64_t size = wf_type_size(p->type);
    wf_buffer *x = NULL, *y = NULL;
    double seconds = 0;
    bool gpu_clock;
    void *host_x = malloc(p->columns * size);
    for (uint32_t i = 0; host_x && i < p->columns; i++)
        wf_element_set(p->type, host_x, i, 1 + i % 97);
    wf_result result = wf_buffer_create(device, p->columns * size, WF_MEMORY_DEVICE, &x);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, p->rows * size, WF_MEMORY_DEVICE, &y);
    if (result == WF_SUCCESS)
        result = wf_buffer_write(x, 0, host_x, p->columns * size);
    const wf_bindings bindings = {.size = sizeof bindings, .items = {{.buffer = x}, {.buffer = y}}};
    double samples[SAMPLES];
    int count = 0;
    const double start = wfi_host_seconds();
    while (count < SAMPLES && result == WF_SUCCESS) {
        result = wf_plan_run_times(plan, &bindings, RUNS, &seconds, &gpu_clock);
        if (wfi_host_seconds() - start > WARM_UP_SECONDS)
            samples[count++] = seconds / RUNS * 1e6;
    }
    *us = median(samples, count);
    if (result == WF_SUCCESS)
        result = wf_buffer_read(y, 0, result_y, p->rows * size);
    wf_buffer_destroy(&x);
    wf_buffer_destroy(&y);
    free(host_x);
    return result;
}

/* Plans whole, from host arrays and from device buffers, whose products must have the same bits. */
static wf_result whole(wf_device *device, const wf_spmv_params *p)
{
    static const char *const names[] = {"plan from host", "plan from device buffers"};
    stage stages[2] = {{0}};
    wfi_device_csr csr = {0};
    const size_t bytes = p->rows * wf_type_size(p->type);
    void *y[2] = {malloc(bytes), malloc(bytes)};
    double us[2] = {0, 0};
    char variant[32] = "";
    wf_result result = wfi_device_csr_upload(device, p, &csr);
    if (result == WF_SUCCESS)
        result = wfi_device_csr_wait(&csr, WFI_CSR_VALUES);
    const wf_spmv_buffers buffers = {
        sizeof buffers, {.buffer = csr.own[0]}, {.buffer = csr.own[1]}, {.buffer = csr.own[2]}};
    wf_spmv_params lent = *p;
    lent.row_offsets = lent.column_indices = NULL;
    lent.values = NULL;
    lent.buffers = &buffers;
    for (int i = 0; i < 2 * (1 + REPEATS) && result == WF_SUCCESS; i++) {
        const int from = i / (1 + REPEATS), repeat = i % (1 + REPEATS);
        wf_plan *plan = NULL;
        wf_plan_info info = {.size = sizeof info};
        const double start = wfi_host_seconds();
        result = wf_spmv_plan(device, from ? &lent : p, &plan);
        note(&stages[from], names[from], repeat, start);
        if (result == WF_SUCCESS && repeat == 0) { /* which raises the clocks for those after it */
            result = multiply(device, plan, p, &us[from], y[from]);
            wf_plan_describe(plan, &info);
            snprintf(variant, sizeof variant, "%s", info.variant);
        }
        wf_plan_destroy(&plan);
    }
    print_stages(stages, 2);
    printf("  product %s %.2f us: a plan is %.0f products from host, %.0f from device; y %s\n",
           variant, us[1], median_of(&stages[0]) * 1e3 / us[1], median_of(&stages[1]) * 1e3 / us[1],
           result == WF_SUCCESS && memcmp(y[0], y[1], bytes) == 0 ? "is the same" : "DIFFERS");
    wfi_device_csr_close(&csr);
    free(y[0]);
    free(y[1]);
    return result;
}

typedef struct update {
    wf_plan *plan;
    wf_arena *arena;
    wf_binding values;
} update;

static wf_result record_updates(void *user, VkCommandBuffer command_buffer)
{
    const update *u = user;
    wf_result result = WF_SUCCESS;
    for (int i = 0; i < RUNS && result == WF_SUCCESS; i++)
        result = wf_spmv_record_update(u->plan, command_buffer, u->arena, &u->values);
    return result;
}

/* wf_spmv_record_update from a device buffer: the device's time, and what it moves of values alone,
 * each read and written once. */
static wf_result update_values(wf_device *device, const wf_spmv_params *p)
{
    const uint64_t bytes = p->row_offsets[p->rows] * (uint64_t)wf_type_size(p->type);
    wf_spmv_params updatable = *p;
    wf_buffer *values = NULL;
    update u = {.plan = NULL};
    double least = 1e9, seconds;
    bool gpu_clock;
    updatable.updatable = true;
    wf_result result = wf_spmv_plan(device, &updatable, &u.plan);
    if (result == WF_SUCCESS)
        result = wf_arena_create(device, &u.arena);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, bytes, WF_MEMORY_DEVICE, &values);
    if (result == WF_SUCCESS)
        result = wf_buffer_write(values, 0, p->values, bytes);
    u.values = (wf_binding){.buffer = values};
    for (int i = 0; i < RUNS && result == WF_SUCCESS; i++) {
        result = wfi_run_timed(device, NULL, record_updates, &u, &seconds, &gpu_clock);
        wf_arena_reset(u.arena);
        least = seconds / RUNS < least ? seconds / RUNS : least;
    }
    if (result == WF_SUCCESS)
        printf("  update from the device %.1f us, %.0f GB/s of values read and written\n",
               least * 1e6, 2 * (double)bytes / least * 1e-9);
    wf_plan_destroy(&u.plan);
    wf_arena_destroy(&u.arena);
    wf_buffer_destroy(&values);
    return result;
}

static wf_result one(wf_device *device, const char *text, wf_type type)
{
    wfi_csr m = {0};
    void *values = bench_matrix_read(text, type, &m);
    if (!values)
        return WF_ERROR_INVALID_ARGUMENT;
    const wf_spmv_params p = {.size = sizeof p,
                              .rows = m.rows,
                              .columns = m.columns,
                              .row_offsets = m.row_offsets,
                              .column_indices = m.column_indices,
                              .values = values,
                              .vectors = 1,
                              .x_stride = 1,
                              .y_stride = 1,
                              .type = type};
    printf("%s %s: %u rows, %u entries\n", text, wf_type_name(type), m.rows, m.entries);
    wf_result result = whole(device, &p);
    if (result == WF_SUCCESS)
        result = by_stages(device, &p);
    if (result == WF_SUCCESS)
        result = update_values(device, &p);
    fflush(stdout);
    free(values);
    wfi_csr_free(&m);
    return result;
}

int main(int argc, char **argv)
{
    wf_device *device = NULL;
    wf_device_params params = {.size = sizeof params, .log = print_log};
    wf_type type = WF_TYPE_F32;
    int at = 1;
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2)
        if (strcmp(argv[at], "--type") == 0)
            type = strcmp(argv[at + 1], "f64") == 0 ? WF_TYPE_F64 : WF_TYPE_F32;
        else
            params.selector = argv[at + 1];
    wf_result result = wf_device_create(&params, &device);
    for (; at < argc && result == WF_SUCCESS; at++)
        result = one(device, argv[at], type);
    if (result != WF_SUCCESS)
        fprintf(stderr, "%s\n", wf_result_string(result));
    wf_device_destroy(&device);
    return result != WF_SUCCESS;
}
