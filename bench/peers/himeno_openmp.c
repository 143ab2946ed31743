/* The Himeno relaxation on the CPU, the peer that `wavefit himeno` is compared with on CPU devices:
 * the loop of the benchmark's C program (arrays of rows, copy-back after each sweep), with OpenMP.
 *
 *   cc -O3 -fopenmp himeno_openmp.c -o himeno_openmp && ./himeno_openmp IxJxK SECONDS
 *
 * i is contiguous and the start ramp runs along k, as in wavefit. Prints gosa after 3 iterations,
 * then iterations, seconds and MFLOPS (34 a cell) of a run of about SECONDS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <omp.h>

enum { A0, A1, A2, A3, B0, B1, B2, C0, C1, C2, WRK1, BND, COEFFICIENTS };

typedef struct problem {
    long ni, nj, nk;
    float *p, *next, *c[COEFFICIENTS];
} problem;

static float *filled(size_t count, float value)
{
    float *array = malloc(count * sizeof *array);
    if (!array) {
        fprintf(stderr, "himeno_openmp: out of memory\n");
        exit(1);
    }
#pragma omp parallel for
    for (size_t i = 0; i < count; i++)
        array[i] = value;
    return array;
}

static void start(problem *h)
{
    const size_t cells = (size_t)h->ni * (size_t)h->nj * (size_t)h->nk;
    const size_t plane = (size_t)h->ni * (size_t)h->nj;
    static const float values[COEFFICIENTS] = {1, 1, 1, 1.0f / 6.0f, 0, 0, 0, 1, 1, 1, 0, 1};
    for (int m = 0; m < COEFFICIENTS; m++)
        h->c[m] = filled(cells, values[m]);
    h->p = filled(cells, 0);
    h->next = filled(cells, 0);
    for (long k = 0; k < h->nk; k++)
        for (size_t i = 0; i < plane; i++)
            h->p[(size_t)k * plane + i] = (float)(k * k) / (float)((h->nk - 1) * (h->nk - 1));
}

/* One row; returns its part of gosa. */
static float sweep_row(const problem *h, size_t row)
{
    const long j = h->ni, k = h->ni * h->nj;
    const float *const *c = (const float *const *)h->c;
    float gosa = 0;
    for (size_t x = row + 1; x < row + (size_t)h->ni - 1; x++) {
        const float *p = h->p + x;
        const float s0 = c[A0][x] * p[1] + c[A1][x] * p[j] + c[A2][x] * p[k] +
                         c[B0][x] * (p[1 + j] - p[1 - j] - p[-1 + j] + p[-1 - j]) +
                         c[B1][x] * (p[j + k] - p[j - k] - p[-j + k] + p[-j - k]) +
                         c[B2][x] * (p[k + 1] - p[k - 1] - p[-k + 1] + p[-k - 1]) +
                         c[C0][x] * p[-1] + c[C1][x] * p[-j] + c[C2][x] * p[-k] + c[WRK1][x];
        const float ss = (s0 * c[A3][x] - p[0]) * c[BND][x];
        gosa += ss * ss;
        h->next[x] = p[0] + 0.8f * ss;
    }
    return gosa;
}

static float iterate(problem *h, long iterations)
{
    float gosa = 0;
    for (long n = 0; n < iterations; n++) {
        gosa = 0;
#pragma omp parallel for collapse(2) reduction(+ : gosa)
        for (long k = 1; k < h->nk - 1; k++)
            for (long j = 1; j < h->nj - 1; j++)
                gosa += sweep_row(h, (size_t)(k * h->nj + j) * (size_t)h->ni);
#pragma omp parallel for collapse(2)
        for (long k = 1; k < h->nk - 1; k++)
            for (long j = 1; j < h->nj - 1; j++) {
                const size_t row = (size_t)(k * h->nj + j) * (size_t)h->ni;
                memcpy(h->p + row + 1, h->next + row + 1, (size_t)(h->ni - 2) * sizeof(float));
            }
    }
    return gosa;
}

int main(int argc, char **argv)
{
    problem h = {0};
    if (argc != 3 || sscanf(argv[1], "%ldx%ldx%ld", &h.ni, &h.nj, &h.nk) != 3 || h.ni < 3 ||
        h.nj < 3 || h.nk < 3 || !(atof(argv[2]) > 0)) {
        fprintf(stderr, "usage: himeno_openmp IxJxK SECONDS\n");
        return 2;
    }
    start(&h);
    double begin = omp_get_wtime();
    printf("threads %d, gosa after 3 iterations %.7E\n", omp_get_max_threads(),
           (double)iterate(&h, 3));
    const double rehearsal = (omp_get_wtime() - begin) / 3;
    const long iterations = 1 + (long)(atof(argv[2]) / rehearsal);
    begin = omp_get_wtime();
    const float gosa = iterate(&h, iterations);
    const double seconds = omp_get_wtime() - begin;
    printf("iterations %ld, gosa %.7E, seconds %.3f, ms an iteration %.3f, MFLOPS %.1f\n",
           iterations, (double)gosa, seconds, seconds / (double)iterations * 1e3,
           34.0 * (double)((h.ni - 2) * (h.nj - 2) * (h.nk - 2)) * (double)iterations / seconds *
               1e-6);
    return 0;
}
