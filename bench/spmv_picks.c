/* Whether the model picks well: for every matrix the time of what it picks and of every variant at
 * the model's values for it, in turn, round after round.
 *   bench_spmv_picks [--type f32|f64|f16] [--seconds S] MATRIX...
 * A MATRIX is a Matrix Market file or KIND:SIZE as for wavefit spmv --generate; S is the time for
 * all rivals of a matrix (default 0.6). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"
#include "wavefit/wavefit.h"

static const char *const variants[] = {NULL,       "row",    "lanes", "add",
                                       "adaptive", "sliced", "quads", "blocked"};
enum { RIVALS = sizeof variants / sizeof *variants };

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
    for (int i = 0; i < RIVALS; i++)
        if (us[i] > 0 && (!(us[best] > 0) || us[i] < us[best]))
            best = i;
    printf("%s %u %u %s %.1f %s %.1f %.3f", name, m->rows, m->entries, infos[0].variant, us[0],
           infos[best].variant, us[best], us[0] / us[best]);
    for (int i = 1; i < RIVALS; i++)
        printf(" %s=%.1f", variants[i], us[i]);
    putchar('\n');
    fflush(stdout);
}

static wf_result compare(wf_device *device, const char *text, wf_type type, double seconds)
{
    wfi_csr m = {0};
    wf_tuning tunings[RIVALS];
    wf_plan_info infos[RIVALS] = {{0}};
    double us[RIVALS] = {0};
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
    for (int i = 0; i < RIVALS; i++) {
        tunings[i] =
            (wf_tuning){.size = sizeof(wf_tuning), .variant = variants[i], .no_tuning = true};
        infos[i].size = sizeof infos[i];
    }
    const wf_result result =
        values ? wf_tune_compare(device, &params, tunings, RIVALS, infos, us, NULL)
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
        else
            result = compare(device, argv[i], type, seconds);
    }
    if (result != WF_SUCCESS)
        fprintf(stderr, "%s\n", wf_result_string(result));
    wf_device_destroy(&device);
    return result == WF_SUCCESS ? 0 : 1;
}
