/* A plain CSR product with OpenMP, to hold beside wavefit spmv on a CPU:
 *   cc -O3 -march=native -fopenmp -o spmv_openmp bench/peers/spmv_openmp.c
 *   ./spmv_openmp [--type f64] MATRIX...
 * A MATRIX is a number N, the 27-point Poisson matrix of N^3 cells, or a file that wavefit has
 * written (wavefit spmv MATRIX -o m.mtx). Prints the median of at least 31 products a matrix, 0.2 s
 * of them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <omp.h>

typedef struct csr {
    uint32_t rows, width, entries;
    uint32_t *offsets, *columns;
    float *floats;
    double *doubles;
} csr;

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (!memory)
        exit(1);
    return memory;
}

static csr make(uint32_t rows, uint32_t width, size_t entries)
{
    csr m = {.rows = rows, .width = width};
    m.offsets = allocate(rows + (size_t)1, sizeof *m.offsets);
    m.columns = allocate(entries, sizeof *m.columns);
    m.floats = allocate(entries, sizeof *m.floats);
    m.doubles = allocate(entries, sizeof *m.doubles);
    return m;
}

static void put(csr *m, uint32_t column, double value)
{
    m->columns[m->entries] = column;
    m->floats[m->entries] = (float)value;
    m->doubles[m->entries++] = value;
}

static csr poisson27(int n)
{
    csr m = make((uint32_t)(n * n * n), (uint32_t)(n * n * n), (size_t)(n * n * n) * 27);
    for (uint32_t row = 0; row < m.rows; row++) {
        const int x = (int)row % n, y = (int)row / n % n, z = (int)row / (n * n);
        for (int i = 0; i < 27; i++) {
            const int a = x + i % 3 - 1, b = y + i / 3 % 3 - 1, c = z + i / 9 - 1;
            if (a >= 0 && b >= 0 && c >= 0 && a < n && b < n && c < n)
                put(&m, (uint32_t)((c * n + b) * n + a), i == 13 ? 26.0 : -1.0);
        }
        m.offsets[row + 1] = m.entries;
    }
    return m;
}

/* Coordinate form, real and general, in the order of rows. */
static csr read_file(const char *path)
{
    char line[256];
    unsigned rows = 0, columns = 0, entries = 0, row, column;
    double value;
    FILE *file = fopen(path, "r");
    do {
        if (!file || !fgets(line, sizeof line, file))
            exit(fprintf(stderr, "%s cannot be read\n", path) > 0);
    } while (line[0] == '%');
    if (sscanf(line, "%u %u %u", &rows, &columns, &entries) != 3)
        exit(fprintf(stderr, "%s is not in coordinate form\n", path) > 0);
    csr m = make(rows, columns, entries);
    while (m.entries < entries && fscanf(file, "%u %u %lf", &row, &column, &value) == 3) {
        put(&m, column - 1, value);
        m.offsets[row] = m.entries;
    }
    fclose(file);
    for (row = 1; row <= rows; row++) /* empty rows */
        if (m.offsets[row] < m.offsets[row - 1])
            m.offsets[row] = m.offsets[row - 1];
    return m;
}

#define MULTIPLY(name, real, values)                                                               \
    static void name(const csr *m, const real *x, real *y)                                         \
    {                                                                                              \
        _Pragma("omp parallel for schedule(static)") for (uint32_t row = 0; row < m->rows; row++)  \
        {                                                                                          \
            real sum = 0;                                                                          \
            for (uint32_t i = m->offsets[row]; i < m->offsets[row + 1]; i++)                       \
                sum += m->values[i] * x[m->columns[i]];                                            \
            y[row] = sum;                                                                          \
        }                                                                                          \
    }
MULTIPLY(multiply_f32, float, floats)
MULTIPLY(multiply_f64, double, doubles)

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *name, const csr *m, int f64)
{
    enum { LEAST = 31, MOST = 100000 };
    double *samples = allocate(MOST, sizeof *samples);
    double *x = allocate(m->width, sizeof *x), *y = allocate(m->rows, sizeof *y);
    for (uint32_t i = 0; i < m->width && f64; i++)
        x[i] = (double)(i % 17) - 8;
    for (uint32_t i = 0; i < m->width && !f64; i++)
        ((float *)x)[i] = (float)(i % 17) - 8;
    int count = 0;
    for (double all = 0; count < MOST && (count < LEAST || all < 0.2); count++) {
        const double start = omp_get_wtime();
        if (f64)
            multiply_f64(m, x, y);
        else
            multiply_f32(m, (const float *)x, (float *)y);
        samples[count] = omp_get_wtime() - start;
        all += samples[count];
    }
    qsort(samples, (size_t)count, sizeof *samples, compare);
    printf("%s %u rows %u entries %.1f us %.2f GFLOPS y[0] %g\n", name, m->rows, m->entries,
           samples[count / 2] * 1e6, 2e-9 * m->entries / samples[count / 2],
           f64 ? y[0] : (double)((float *)y)[0]);
    fflush(stdout);
    free(samples);
    free(x);
    free(y);
}

int main(int argc, char **argv)
{
    int f64 = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--type") == 0 && i + 1 < argc) {
            f64 = strcmp(argv[++i], "f64") == 0;
            continue;
        }
        const int n = strstr(argv[i], ".mtx") ? 0 : atoi(argv[i]);
        if (n < 0 || n > 400)
            return 2;
        csr m = n ? poisson27(n) : read_file(argv[i]);
        measure(argv[i], &m, f64);
        free(m.offsets);
        free(m.columns);
        free(m.floats);
        free(m.doubles);
    }
    return 0;
}
