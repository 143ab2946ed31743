/* A library with the stencil family alone: the family works, and the others are refused by name.
 * The program, which is stripped and has the library in it, is smaller than a bound. */
#include <stdio.h>
#include <string.h>
#include <wavefit/wavefit.h>

#define MOST_BYTES 550000L /* a tenth over what it is on x86-64: 499 thousand */

static char last_error[512];

static void keep_error(void *user, wf_log_level level, const char *text)
{
    (void)user;
    if (level == WF_LOG_ERROR)
        snprintf(last_error, sizeof last_error, "%s", text);
}

/* Each cell of the inner 14 x 14 becomes the sum of its four neighbours. */
static int sum_neighbours(wf_device *device)
{
    enum { SIDE = 16 };
    float in[SIDE * SIDE], out[SIDE * SIDE];
    const double coefficients[5] = {0, 1, 1, 1, 1};
    wf_stencil_params params = {.size = sizeof params};
    wf_bindings bindings = {.size = sizeof bindings};
    wf_plan *plan = NULL;
    wf_buffer *buffers[2] = {NULL, NULL};
    int wrong = 0;
    params.nx = params.ny = SIDE;
    params.coefficients = coefficients;
    for (int i = 0; i < SIDE * SIDE; i++)
        in[i] = (float)(i * i % 31);
    wf_result result = wf_stencil_plan(device, &params, &plan);
    for (int i = 0; i < 2 && result == WF_SUCCESS; i++) {
        result = wf_buffer_create(device, sizeof in, WF_MEMORY_DEVICE, &buffers[i]);
        bindings.items[i].buffer = buffers[i];
    }
    if (result == WF_SUCCESS)
        result = wf_buffer_write(buffers[0], 0, in, sizeof in);
    if (result == WF_SUCCESS)
        result = wf_plan_run(plan, &bindings);
    if (result == WF_SUCCESS)
        result = wf_buffer_read(buffers[1], 0, out, sizeof out);
    for (int y = 1; y + 1 < SIDE; y++)
        for (int x = 1; x + 1 < SIDE; x++) {
            const int i = y * SIDE + x;
            wrong += out[i] != in[i - 1] + in[i + 1] + in[i - SIDE] + in[i + SIDE];
        }
    wf_plan_destroy(&plan);
    wf_buffer_destroy(&buffers[0]);
    wf_buffer_destroy(&buffers[1]);
    return result == WF_SUCCESS ? wrong : -1;
}

/* 1 where the last call was refused by the family's name. */
static int refused(wf_result result, const char *family)
{
    const int ok = result == WF_ERROR_UNSUPPORTED && strstr(last_error, family) != NULL &&
                   strstr(last_error, "WAVEFIT_FAMILIES=stencil") != NULL;
    if (!ok)
        printf("%s: %s, '%s'\n", family, wf_result_string(result), last_error);
    last_error[0] = 0;
    return ok;
}

static int refuses_others(wf_device *device)
{
    wf_plan *plan = NULL;
    wf_himeno *himeno = NULL;
    wf_cg_result cg;
    wf_plan_info info = {.size = sizeof info};
    wf_tune_result tuned = {.size = sizeof tuned};
    const wf_matmul_params product = {.size = sizeof product, .m = 2, .n = 2, .k = 2};
    const wf_problem problem = {
        .size = sizeof problem, .family = WF_FAMILY_MATMUL, .extent = {2, 2, 2}};
    const wf_tune_params tune = {.size = sizeof tune, .matmul = &product};
    return refused(wf_matmul_plan(device, &product, &plan), "matmul") &&
           refused(wf_spmv_plan(device, NULL, &plan), "spmv") &&
           refused(wf_vector_plan(device, NULL, &plan), "vector") &&
           refused(wf_cg_solve(device, NULL, NULL, NULL, &cg), "spmv") &&
           refused(wf_himeno_create(device, NULL, &himeno), "himeno") &&
           refused(wf_kernel_compile(device, &problem, NULL, &info), "matmul") &&
           refused(wf_tune(device, &tune, &tuned), "matmul") &&
           wf_family_variant_count(WF_FAMILY_MATMUL) == 0 &&
           wf_family_variant_count(WF_FAMILY_STENCIL) > 1 &&
           strcmp(wf_family_name(WF_FAMILY_MATMUL), "matmul") == 0;
}

static long size_of(const char *path)
{
    FILE *f = fopen(path, "rb");
    const long size = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (f)
        fclose(f);
    return size;
}

int main(int argc, char **argv)
{
    wf_device_params params = {.size = sizeof params, .log = keep_error, .cache_directory = ""};
    wf_device *device = NULL;
    const long size = argc > 0 ? size_of(argv[0]) : -1;
    if (wf_device_create(&params, &device) != WF_SUCCESS) {
        printf("no device: %s\n", last_error);
        return 1;
    }
    const int wrong = sum_neighbours(device);
    const int refuses = refuses_others(device);
    wf_device_destroy(&device);
    if (wrong != 0 || !refuses || size <= 0 || size > MOST_BYTES) {
        printf("%d cells wrong, others %s, %ld bytes of %ld\n", wrong,
               refuses ? "refused" : "not refused", size, MOST_BYTES);
        return 1;
    }
    printf("ok: %ld bytes\n", size);
    return 0;
}
