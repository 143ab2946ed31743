/* A plain CSR product with OpenMP, to hold beside wavefit spmv on a CPU:
 *   cc -O3 -march=native -fopenmp -o spmv_openmp bench/peers/spmv_openmp.c
 *   ./spmv_openmp 64        27-point Poisson matrix of 64^3 cells, f32; prints the median of 31
 * Compare with `wavefit spmv --generate poisson27:64` just before and after. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <omp.h>

typedef struct csr {
    uint32_t rows, entries;
    uint32_t *offsets, *columns;
    float *values;
} csr;

static csr poisson27(int n)
{
    csr m = {.rows = (uint32_t)(n * n * n)};
    m.offsets = calloc(m.rows + 1u, sizeof *m.offsets);
    m.columns = malloc(m.rows * 27u * sizeof *m.columns);
    m.values = malloc(m.rows * 27u * sizeof *m.values);
    if (!m.offsets || !m.columns || !m.values)
        exit(1);
    for (uint32_t row = 0; row < m.rows; row++) {
        const int x = (int)row % n, y = (int)row / n % n, z = (int)row / (n * n);
        for (int i = 0; i < 27; i++) {
            const int a = x + i % 3 - 1, b = y + i / 3 % 3 - 1, c = z + i / 9 - 1;
            if (a < 0 || b < 0 || c < 0 || a >= n || b >= n || c >= n)
                continue;
            m.columns[m.entries] = (uint32_t)((c * n + b) * n + a);
            m.values[m.entries++] = i == 13 ? 26.0f : -1.0f;
        }
        m.offsets[row + 1] = m.entries;
    }
    return m;
}

static void multiply(const csr *m, const float *x, float *y)
{
#pragma omp parallel for schedule(static)
    for (uint32_t row = 0; row < m->rows; row++) {
        float sum = 0;
        for (uint32_t i = m->offsets[row]; i < m->offsets[row + 1]; i++)
            sum += m->values[i] * x[m->columns[i]];
        y[row] = sum;
    }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    enum { SAMPLES = 31 };
    const int n = argc > 1 ? atoi(argv[1]) : 64;
    double samples[SAMPLES];
    if (n < 1 || n > 400)
        return 2;
    const csr m = poisson27(n);
    float *x = malloc(m.rows * sizeof *x), *y = malloc(m.rows * sizeof *y);
    if (!x || !y)
        return 1;
    for (uint32_t i = 0; i < m.rows; i++)
        x[i] = (float)(i % 17) - 8;
    multiply(&m, x, y);
    for (int i = 0; i < SAMPLES; i++) {
        const double start = omp_get_wtime();
        multiply(&m, x, y);
        samples[i] = omp_get_wtime() - start;
    }
    qsort(samples, SAMPLES, sizeof *samples, compare);
    printf("%u rows, %u entries: %.1f us, %.2f GFLOPS, y[0] %g\n", m.rows, m.entries,
           samples[SAMPLES / 2] * 1e6, 2e-9 * m.entries / samples[SAMPLES / 2], (double)y[0]);
    return 0;
}
