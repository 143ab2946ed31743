/* What the model chooses of drawn products, and what the choices of two builds take:
 *
 *   bench_choices --list TYPE OPERATIONS SEED COUNT [SEED COUNT …] > choices.txt
 *   bench_choices --time SECONDS OWN.txt OTHER.txt > times.csv
 *
 * --list: of each drawn product of at most so many operations a line: type, m, n, k, batch, A^T and
 * B^T (0 or 1), '|', the variant and its constants. No row of tuning data is in use.
 * --time: for so many seconds, products whose choice in OWN is another than in OTHER, in an order
 * that does not change: both points by this build, in turns. A line a point: the product, `own` or
 * `other`, the median of the samples in microseconds, the least of them (-1: it was refused), the
 * point. Kernels that differ between builds want a run of each build, with its own list first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choose/choose.h"
#include "core/device.h"
#include "core/platform.h"
#include "core/timing.h"
#include "kernels/matmul/matmul.h"
#include "tool/cases/drawn.h"

enum { MOST_CHOICES = 8192, SAMPLES = 15, LEAST_SAMPLES = 5 };
#define MOST_BYTES (UINT64_C(1) << 31) /* of an operand */
#define WARM_SECONDS 0.15              /* the clock falls while pipelines are made */
#define SAMPLE_SECONDS 0.002
#define POINT_SECONDS 0.3 /* of all samples of a product */

typedef struct choice {
    char product[96], point[416];
} choice;

typedef struct timed {
    wf_constant constants[WF_MAX_PARAMETERS];
    char names[WF_MAX_PARAMETERS][32];
    char variant[32];
    uint32_t constant_count, samples, runs;
    wf_plan *plan;
    double us[SAMPLES];
} timed;

/* --------------------------------------------------------------------------------------- a list */

static wf_type type_named(const char *name)
{
    wf_type type = WF_TYPE_F32;
    while (strcmp(wf_type_name(type), name) != 0 && type + 1 < WF_TYPE_COUNT)
        type++;
    return type;
}

static void print_choice(wf_device *device, const wfi_case_problem *p)
{
    const wf_tuning tuning = {.size = sizeof tuning, .no_tuning = true};
    const wf_matmul_params params = {.size = sizeof params,
                                     .m = p->a,
                                     .n = p->b,
                                     .k = p->c,
                                     .type = p->type,
                                     .batch = p->batch,
                                     .transpose_a = p->transpose_a,
                                     .transpose_b = p->transpose_b};
    wfi_problem problem = {.family = WF_FAMILY_MATMUL, .type = p->type};
    wfi_choice found;
    if (wfi_matmul_problem_of(NULL, &params, &problem.matmul) != WF_SUCCESS ||
        wfi_choose_silently(device, &problem, &tuning, &found) != WF_SUCCESS)
        return;
    printf("%s,%llu,%llu,%llu,%llu,%d,%d|%s", wf_type_name(p->type), (unsigned long long)p->a,
           (unsigned long long)p->b, (unsigned long long)p->c,
           (unsigned long long)(p->batch ? p->batch : 1), p->transpose_a, p->transpose_b,
           found.point.variant->name);
    for (uint32_t i = 0; i < found.point.variant->parameter_count; i++)
        printf(" %s=%u", found.point.variant->parameters[i].name,
               found.point.values[found.point.variant->parameters[i].id]);
    puts("");
}

static double operations(const wfi_case_problem *p)
{
    return 2.0 * (double)p->a * (double)p->b * (double)p->c * (double)(p->batch ? p->batch : 1);
}

static void list(wf_device *device, int argc, char **argv)
{
    static wfi_case_problem problems[WFI_MOST_DRAWN];
    const wf_type type = type_named(argv[2]);
    const double most = strtod(argv[3], NULL);
    for (int i = 4; i + 1 < argc; i += 2) {
        const wfi_drawn_request request = {strtoull(argv[i], NULL, 10), WF_FAMILY_MATMUL, &type,
                                           (uint32_t)strtoul(argv[i + 1], NULL, 10)};
        const uint32_t count = wfi_drawn_suite(&request, problems);
        for (uint32_t j = 0; j < count; j++) {
            const wfi_case_problem *p = &problems[j];
            if (operations(p) <= most)
                print_choice(device, p);
        }
    }
}

/* ------------------------------------------------------------------------------------ two lists */

static uint32_t read_list(const char *path, choice *out)
{
    char line[sizeof(choice)];
    uint32_t count = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(2);
    }
    while (count < MOST_CHOICES && fgets(line, sizeof line, file)) {
        choice *c = &out[count];
        count += sscanf(line, "%95[^|]|%415[^\n]", c->product, c->point) == 2;
    }
    fclose(file);
    return count;
}

static const char *point_in(const choice *all, uint32_t count, const char *product)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(all[i].product, product) == 0)
            return all[i].point;
    return NULL;
}

static void make_plan(wf_device *device, const char *product, const char *text, timed *t)
{
    char type[8];
    unsigned long long m, n, k;
    unsigned batch, transpose_a, transpose_b, value;
    int at = 0, more = 0;
    *t = (timed){.plan = NULL};
    if (sscanf(product, "%7[^,],%llu,%llu,%llu,%u,%u,%u", type, &m, &n, &k, &batch, &transpose_a,
               &transpose_b) != 7 ||
        sscanf(text, "%31s%n", t->variant, &at) != 1)
        return;
    for (uint32_t i = 0; i < WF_MAX_PARAMETERS &&
                         sscanf(text + at, " %31[^=]=%u%n", t->names[i], &value, &more) == 2;
         i++) {
        t->constants[t->constant_count++] = (wf_constant){t->names[i], value};
        at += more;
    }
    const wf_tuning tuning = {.size = sizeof tuning,
                              .variant = t->variant,
                              .no_tuning = true,
                              .constants = t->constants,
                              .constant_count = t->constant_count};
    const wf_matmul_params params = {.size = sizeof params,
                                     .m = m,
                                     .n = n,
                                     .k = k,
                                     .type = type_named(type),
                                     .batch = batch,
                                     .transpose_a = transpose_a,
                                     .transpose_b = transpose_b,
                                     .tuning = &tuning};
    if (wf_matmul_plan(device, &params, &t->plan) != WF_SUCCESS)
        t->plan = NULL;
}

static double run(const timed *t, const wf_bindings *bindings, uint32_t count)
{
    double seconds = 0;
    bool gpu_clock;
    return wf_plan_run_times(t->plan, bindings, count, &seconds, &gpu_clock) == WF_SUCCESS
               ? seconds / count
               : 0;
}

static void warm_up(timed *both, const wf_bindings *bindings)
{
    const double end = wfi_host_seconds() + WARM_SECONDS;
    do
        for (int i = 0; i < 2; i++)
            if (both[i].plan) {
                const double runs = SAMPLE_SECONDS / (run(&both[i], bindings, 4) + 1e-9);
                both[i].runs = runs < 1 ? 1 : runs > 50 ? 50 : (uint32_t)runs;
            }
    while (wfi_host_seconds() < end);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Samples of both in turns, of which each comes first as often, so that a clock that changes meets
 * both. */
static void time_both(timed *both, const wf_bindings *bindings)
{
    const double end = wfi_host_seconds() + POINT_SECONDS;
    warm_up(both, bindings);
    for (int round = 0; round < SAMPLES && (round < LEAST_SAMPLES || wfi_host_seconds() < end);
         round++)
        for (int i = 0; i < 2; i++) {
            timed *t = &both[(i + round) % 2];
            if (t->plan)
                t->us[t->samples++] = run(t, bindings, t->runs) * 1e6;
        }
}

static void print_timed(const char *product, const char *whose, const char *point, timed *t)
{
    qsort(t->us, t->samples, sizeof *t->us, compare);
    printf("%s,%s,%.3f,%.3f,%s\n", product, whose, t->samples ? t->us[t->samples / 2] : -1,
           t->samples ? t->us[0] : -1, point);
    fflush(stdout);
}

static uint32_t common_factor(uint32_t a, uint32_t b)
{
    return b == 0 ? a : common_factor(b, a % b);
}

/* A step by which all of so many are come to, far apart. */
static uint32_t step_through(uint32_t count)
{
    uint32_t step = count / 3 + 1;
    while (common_factor(step, count) > 1)
        step++;
    return step;
}

static void time_lists(wf_device *device, wf_buffer *const buffers[3], char **argv)
{
    static choice own[MOST_CHOICES], other[MOST_CHOICES];
    const uint32_t count = read_list(argv[3], own), others = read_list(argv[4], other);
    const double end = wfi_host_seconds() + strtod(argv[2], NULL);
    wf_bindings bindings = {.size = sizeof bindings};
    for (int i = 0; i < 3; i++)
        bindings.items[i].buffer = buffers[i];
    const uint32_t step = step_through(count);
    uint32_t at = 0;
    for (uint32_t i = 0; i < count && wfi_host_seconds() < end; i++, at = (at + step) % count) {
        const char *before = point_in(other, others, own[at].product);
        timed both[2];
        if (!before || strcmp(before, own[at].point) == 0)
            continue;
        make_plan(device, own[at].product, own[at].point, &both[0]);
        make_plan(device, own[at].product, before, &both[1]);
        time_both(both, &bindings);
        print_timed(own[at].product, "own", own[at].point, &both[0]);
        print_timed(own[at].product, "other", before, &both[1]);
        for (int j = 0; j < 2; j++)
            wf_plan_destroy(&both[j].plan);
    }
}

int main(int argc, char **argv)
{
    const bool lists = argc > 5 && strcmp(argv[1], "--list") == 0,
               times = argc == 5 && strcmp(argv[1], "--time") == 0;
    wf_device *device = NULL;
    wf_buffer *buffers[3] = {NULL, NULL, NULL};
    if (!lists && !times) {
        fprintf(stderr, "usage: bench_choices --list TYPE OPERATIONS SEED COUNT…\n"
                        "       bench_choices --time SECONDS OWN.txt OTHER.txt\n");
        return 2;
    }
    wf_result result = wf_device_create(NULL, &device);
    for (int i = 0; times && i < 3 && result == WF_SUCCESS; i++) {
        const uint64_t most = wf_device_caps(device)->max_storage_range,
                       bytes = most < MOST_BYTES ? most / 4 * 4 : MOST_BYTES;
        result = wf_buffer_create(device, bytes, WF_MEMORY_DEVICE, &buffers[i]);
        if (result == WF_SUCCESS)
            result = wf_buffer_fill(buffers[i], 0, bytes, 0x3c003c00);
    }
    if (result != WF_SUCCESS)
        fprintf(stderr, "%s\n", wf_result_string(result));
    else if (lists)
        list(device, argc, argv);
    else
        time_lists(device, buffers, argv);
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&buffers[i]);
    wf_device_destroy(&device);
    return result != WF_SUCCESS;
}
