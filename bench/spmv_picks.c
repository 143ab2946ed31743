/* Whether the model picks well: for every matrix the time of what it picks and of every variant at
 * the model's values for it, in turn, round after round.
 *   bench_spmv_picks [--type f32|f64|f16] [--seconds S] [--rival VARIANT[,NAME=VALUE…]…] MATRIX...
 * A MATRIX is a Matrix Market file or KIND:SIZE as for wavefit spmv --generate; S is the time for
 * all rivals of a matrix (default 0.6). With --rival these are the rivals, at values that are not
 * the model's where they are given. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"
#include "wavefit/wavefit.h"

typedef struct rival {
    const char *text; /* NULL: what the model picks */
    char variant[32], names[WF_MAX_PARAMETERS][24];
    wf_constant constants[WF_MAX_PARAMETERS];
    uint32_t constant_count;
} rival;

static rival rivals[WF_TUNE_MOST_RIVALS] = {
    {.text = NULL},
    {.text = "row", .variant = "row"},
    {.text = "lanes", .variant = "lanes"},
    {.text = "add", .variant = "add"},
    {.text = "adaptive", .variant = "adaptive"},
    {.text = "sliced", .variant = "sliced"},
    {.text = "quads", .variant = "quads"},
    {.text = "blocked", .variant = "blocked"},
};
static int rival_count = 8;
static bool rivals_given;

static bool add_rival(const char *text)
{
    rival_count = rivals_given ? rival_count : 1;
    rivals_given = true;
    if (rival_count == WF_TUNE_MOST_RIVALS)
        return false;
    rival *r = &rivals[rival_count++];
    *r = (rival){.text = text};
    int used = 0;
    if (sscanf(text, "%31[a-z_0-9]%n", r->variant, &used) != 1)
        return false;
    for (text += used; *text; text += used) {
        wf_constant *c = &r->constants[r->constant_count];
        char *const name = r->names[r->constant_count];
        if (r->constant_count++ == WF_MAX_PARAMETERS ||
            sscanf(text, ",%23[a-z_0-9]=%u%n", name, &c->value, &used) != 2)
            return false;
        c->name = name;
    }
    return true;
}

static void print_log(void *user, wf_log_level level, const char *text)
{
    (void)user;
    if (level == WF_LOG_ERROR)
        fprintf(stderr, "%s\n", text);
}

static void print_line(const char *name, const wfi_csr *m, const wf_plan_info *infos,
                       const double *us)
{
    int best = 0;
    for (int i = 0; i < rival_count; i++)
        if (us[i] > 0 && (!(us[best] > 0) || us[i] < us[best]))
            best = i;
    printf("%s %u %u %s %.2f %s %.2f %.3f", name, m->rows, m->entries, infos[0].variant, us[0],
           best ? rivals[best].text : "picked", us[best], us[0] / us[best]);
    for (int i = 1; i < rival_count; i++)
        printf(" %s=%.2f", rivals[i].text, us[i]);
    putchar('\n');
    fflush(stdout);
}

static wf_result compare(wf_device *device, const char *text, wf_type type, double seconds)
{
    wfi_csr m = {0};
    wf_tuning tunings[WF_TUNE_MOST_RIVALS];
    wf_plan_info infos[WF_TUNE_MOST_RIVALS] = {{0}};
    double us[WF_TUNE_MOST_RIVALS] = {0};
    void *values = bench_matrix_read(text, type, &m);
    if (!values)
        return WF_ERROR_INVALID_ARGUMENT;
    const wf_spmv_params spmv = {.size = sizeof spmv,
                                 .rows = m.rows,
                                 .columns = m.columns,
                                 .row_offsets = m.row_offsets,
                                 .column_indices = m.column_indices,
                                 .values = values,
                                 .type = type};
    const wf_tune_params params = {.size = sizeof params, .spmv = &spmv, .budget_seconds = seconds};
    for (int i = 0; i < rival_count; i++) {
        tunings[i] = (wf_tuning){.size = sizeof(wf_tuning),
                                 .variant = rivals[i].text ? rivals[i].variant : NULL,
                                 .constants = rivals[i].constants,
                                 .constant_count = rivals[i].constant_count,
                                 .no_tuning = true};
        infos[i].size = sizeof infos[i];
    }
    const wf_result result =
        values ? wf_tune_compare(device, &params, tunings, rival_count, infos, us, NULL)
               : WF_ERROR_OUT_OF_HOST_MEMORY;
    const char *slash = strrchr(text, '/');
    if (result == WF_SUCCESS)
        print_line(slash ? slash + 1 : text, &m, infos, us);
    free(values);
    wfi_csr_free(&m);
    return result;
}

int main(int argc, char **argv)
{
    const wf_device_params device_params = {.size = sizeof device_params, .log = print_log};
    wf_device *device = NULL;
    wf_type type = WF_TYPE_F32;
    double seconds = 0.6;
    wf_result result = wf_device_create(&device_params, &device);
    printf("matrix rows entries picked us best us ratio\n");
    for (int i = 1; i < argc && result == WF_SUCCESS; i++) {
        if (strcmp(argv[i], "--type") == 0 && i + 1 < argc)
            type = strcmp(argv[++i], "f64") == 0 ? WF_TYPE_F64
                   : strcmp(argv[i], "f16") == 0 ? WF_TYPE_F16
                                                 : WF_TYPE_F32;
        else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
            seconds = atof(argv[++i]);
        else if (strcmp(argv[i], "--rival") == 0 && i + 1 < argc)
            result = add_rival(argv[++i]) ? WF_SUCCESS : WF_ERROR_INVALID_ARGUMENT;
        else
            result = compare(device, argv[i], type, seconds);
    }
    if (result != WF_SUCCESS)
        fprintf(stderr, "%s\n", wf_result_string(result));
    wf_device_destroy(&device);
    return result == WF_SUCCESS ? 0 : 1;
}
