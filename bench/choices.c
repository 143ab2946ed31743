/* What the model chooses of drawn products, and what the choices of two builds take:
 *
 *   bench_choices --list TYPE OPERATIONS SEED COUNT [SEED COUNT …] > choices.txt
 *   bench_choices --time SECONDS OWN.txt OTHER.txt > times.csv
 *
 * --list: of each drawn product of at most so many operations a line: type, m, n, k, batch, A^T and
 * B^T (0 or 1), '|', the variant and its constants. No row of tuning data is in use.
 * --time: for so many seconds, products whose choice in OWN is another than in OTHER, in a drawn
 * order that does not change: both points by this build, in turns. A line a point: the product,
 * `own` or `other`, the median of the samples in microseconds, the least of them (-1: it was
 * refused or failed), the point. Where kernels differ, too, each build runs with its own list
 * first. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choose/choose.h"
#include "core/device.h"
#include "core/platform.h"
#include "core/timing.h"
#include "kernels/matmul/matmul.h"
#include "product.h"
#include "tool/cases/cases.h"
#include "tool/cases/drawn.h"
#include "tool/cases/random.h"

enum { MOST_CHOICES = 8192, SAMPLES = 15, LEAST_SAMPLES = 5, MOST_RUNS = 50 };
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

static void print_choice(wf_device *device, const wfi_case_problem *p)
{
    const wf_tuning tuning = {.size = sizeof tuning, .no_tuning = true};
    const wf_matmul_params params = wfi_product_params(p);
    wfi_problem problem = {.family = WF_FAMILY_MATMUL, .type = p->type};
    wfi_choice found;
    if (wfi_matmul_problem_of(NULL, &params, &problem.matmul) != WF_SUCCESS ||
        wfi_choose_silently(device, &problem, &tuning, &found) != WF_SUCCESS)
        return;
    bench_product_print(p);
    printf("|%s", found.point.variant->name);
    for (uint32_t i = 0; i < found.point.variant->parameter_count; i++)
        printf(" %s=%u", found.point.variant->parameters[i].name,
               found.point.values[found.point.variant->parameters[i].id]);
    puts("");
}

static void list(wf_device *device, int argc, char **argv)
{
    static wfi_case_problem problems[WFI_MOST_DRAWN];
    const wf_type type = bench_product_type(argv[2]);
    const double most = strtod(argv[3], NULL);
    for (int i = 4; i + 1 < argc; i += 2) {
        const wfi_drawn_request request = {strtoull(argv[i], NULL, 10), WF_FAMILY_MATMUL, &type,
                                           (uint32_t)strtoul(argv[i + 1], NULL, 10)};
        const uint32_t count = wfi_drawn_suite(&request, problems);
        for (uint32_t j = 0; j < count; j++)
            if (bench_product_operations(&problems[j]) <= most)
                print_choice(device, &problems[j]);
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

/* The product as it is written in a list; false: it is not. */
static bool read_product(const char *text, wfi_case_problem *out)
{
    char type[8];
    unsigned long long m, n, k, batch;
    int transpose_a, transpose_b;
    if (sscanf(text, "%7[^,],%llu,%llu,%llu,%llu,%d,%d", type, &m, &n, &k, &batch, &transpose_a,
               &transpose_b) != 7)
        return false;
    *out = (wfi_case_problem){.family = WF_FAMILY_MATMUL,
                              .type = bench_product_type(type),
                              .a = m,
                              .b = n,
                              .c = k,
                              .batch = batch,
                              .transpose_a = transpose_a != 0,
                              .transpose_b = transpose_b != 0};
    return true;
}

static void make_plan(wf_device *device, const wfi_case_problem *product, const char *text,
                      timed *t)
{
    unsigned value;
    int at = 0, more = 0;
    *t = (timed){.plan = NULL};
    if (sscanf(text, "%31s%n", t->variant, &at) != 1)
        return;
    for (uint32_t i = 0; i < WF_MAX_PARAMETERS &&
                         sscanf(text + at, " %31[^=]=%u%n", t->names[i], &value, &more) == 2;
         i++) {
        t->constants[t->constant_count++] = (wf_constant){t->names[i], value};
        at += more;
    }
    if (bench_product_plan(device, product, t->variant, t->constants, t->constant_count,
                           &t->plan) != WF_SUCCESS)
        t->plan = NULL;
}

/* Seconds of one of so many executions; < 0: they failed, and the point is given up. */
static double run(timed *t, const wf_bindings *bindings, uint32_t count)
{
    double seconds = 0;
    bool gpu_clock;
    if (wf_plan_run_times(t->plan, bindings, count, &seconds, &gpu_clock) == WF_SUCCESS)
        return seconds / count;
    wf_plan_destroy(&t->plan);
    t->samples = 0;
    return -1;
}

static void warm_up(timed *both, const wf_bindings *bindings)
{
    const double end = wfi_host_seconds() + WARM_SECONDS;
    do
        for (int i = 0; i < 2; i++)
            if (both[i].plan) {
                const double runs = SAMPLE_SECONDS / fmax(run(&both[i], bindings, 4), 1e-9);
                both[i].runs = (uint32_t)fmin(fmax(runs, 1), MOST_RUNS);
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
    warm_up(both, bindings);
    const double end = wfi_host_seconds() + POINT_SECONDS;
    for (int round = 0; round < SAMPLES && (round < LEAST_SAMPLES || wfi_host_seconds() < end);
         round++)
        for (int i = 0; i < 2; i++) {
            timed *t = &both[(i + round) % 2];
            const double seconds = t->plan ? run(t, bindings, t->runs) : -1;
            if (seconds >= 0)
                t->us[t->samples++] = seconds * 1e6;
        }
}

static void print_timed(const char *product, const char *whose, const char *point, timed *t)
{
    qsort(t->us, t->samples, sizeof *t->us, compare);
    printf("%s,%s,%.3f,%.3f,%s\n", product, whose, t->samples ? t->us[t->samples / 2] : -1,
           t->samples ? t->us[0] : -1, point);
    fflush(stdout);
}

static void shuffle(choice *all, uint32_t count)
{
    uint64_t state = 1;
    for (uint32_t i = count; i > 1; i--) {
        const uint64_t other = wfi_random_below(&state, i);
        const choice last = all[i - 1];
        all[i - 1] = all[other];
        all[other] = last;
    }
}

static void time_lists(wf_device *device, wf_buffer *const buffers[3], char **argv)
{
    static choice own[MOST_CHOICES], other[MOST_CHOICES];
    const uint32_t count = read_list(argv[3], own), others = read_list(argv[4], other);
    const double end = wfi_host_seconds() + strtod(argv[2], NULL);
    wf_bindings bindings = {.size = sizeof bindings};
    for (int i = 0; i < 3; i++)
        bindings.items[i].buffer = buffers[i];
    shuffle(own, count);
    for (const choice *c = own; c < own + count && wfi_host_seconds() < end; c++) {
        const char *before = point_in(other, others, c->product);
        wfi_case_problem product;
        timed both[2];
        if (!before || strcmp(before, c->point) == 0 || !read_product(c->product, &product))
            continue;
        make_plan(device, &product, c->point, &both[0]);
        make_plan(device, &product, before, &both[1]);
        time_both(both, &bindings);
        print_timed(c->product, "own", c->point, &both[0]);
        print_timed(c->product, "other", before, &both[1]);
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
