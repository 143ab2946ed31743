/* Himeno's benchmark on the devices of all ranks, by libwavefit_mpi.
 *   mpicc example.c -lwavefit_mpi -lwavefit && mpirun -n 4 ./a.out */
#include <stdio.h>

#include <wavefit/mpi.h>

static void print_line(void *user, wf_log_level level, const char *text)
{
    if (level == WF_LOG_ERROR)
        fprintf(stderr, "rank %d: %s\n", *(const int *)user, text);
}

int main(int argc, char **argv)
{
    const uint32_t ni = 128, nj = 64, nk = 64, iterations = 100;
    int rank = 0;
    char selector[WF_MPI_SELECTOR];
    wf_device *device = NULL;
    wf_mpi_himeno *himeno = NULL;
    float gosa = 0;
    double seconds = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    wf_result result = wf_mpi_select(MPI_COMM_WORLD, selector);
    const wf_device_params device_params = {
        .size = sizeof device_params, .selector = selector, .log = print_line, .log_user = &rank};
    if (result == WF_SUCCESS)
        result = wf_device_create(&device_params, &device);
    /* What follows is collective: a rank without a device must not be missing there. */
    if (result != WF_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);

    const wf_mpi_himeno_params params = {
        .size = sizeof params, .ni = ni, .nj = nj, .nk = nk, .log = print_line, .log_user = &rank};
    result = wf_mpi_himeno_create(MPI_COMM_WORLD, device, &params, &himeno);
    if (result == WF_SUCCESS)
        result = wf_mpi_himeno_start(himeno);
    if (result == WF_SUCCESS)
        result = wf_mpi_himeno_run(himeno, iterations, &gosa, &seconds, NULL);
    if (result == WF_SUCCESS && rank == 0)
        printf("gosa %.7E after %u iterations, %.1f MFLOPS\n", (double)gosa, iterations,
               WF_HIMENO_FLOPS * (ni - 2.0) * (nj - 2.0) * (nk - 2.0) * iterations / seconds / 1e6);
    wf_mpi_himeno_destroy(&himeno);
    wf_device_destroy(&device);
    MPI_Finalize();
    return result == WF_SUCCESS ? 0 : 1;
}
