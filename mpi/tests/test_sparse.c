/* Products and conjugate gradients on many ranks, beside the host's f64 product and one device's
 * solve. Every rank makes the whole matrix; weights of ranks are arguments (default: equal).
 * usage: mpirun -n RANKS test_mpi_sparse [WEIGHT…] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wavefit/mpi.h>

#define MOST_ITERATIONS 200

static int rank, ranks;

/* A rank that returned would leave the others waiting. */
#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "ERROR: rank %d of %d: %s:%d: %s: ", rank, ranks, __FILE__, __LINE__,  \
                    #condition);                                                                   \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

typedef struct test_system {
    const char *name;
    uint32_t rows, columns;
    uint32_t *offsets, *indices;
    double *values;
} test_system;

static uint64_t state = 1;

static double uniform(void) /* the same on all ranks */
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 40) / (1 << 24);
}

/* -------------------------------------------------------------------------------- matrices */

static void begin(test_system *s, const char *name, uint32_t rows, uint32_t columns, uint32_t most)
{
    *s = (test_system){.name = name, .rows = rows, .columns = columns};
    s->offsets = calloc(rows + (size_t)1, sizeof *s->offsets);
    s->indices = calloc((size_t)rows * most + 1, sizeof *s->indices);
    s->values = calloc((size_t)rows * most + 1, sizeof *s->values);
    CHECK(s->offsets && s->indices && s->values, "out of memory");
}

static void end(test_system *s)
{
    free(s->offsets);
    free(s->indices);
    free(s->values);
}

static void put(test_system *s, uint32_t row, uint32_t column, double value)
{
    const uint32_t at = s->offsets[row + 1]++;
    s->indices[at] = column;
    s->values[at] = value;
}

/* Five points of a grid, with uneven coefficients: symmetric and positive definite. */
static void make_grid(test_system *s, uint32_t nx, uint32_t ny)
{
    begin(s, "grid", nx * ny, nx * ny, 5);
    for (uint32_t row = 0; row < s->rows; row++) {
        const uint32_t i = row % nx, j = row / nx;
        s->offsets[row + 1] = s->offsets[row];
        if (j > 0)
            put(s, row, row - nx, -1);
        if (i > 0)
            put(s, row, row - 1, -1);
        put(s, row, row, 4.5 + row % 7);
        if (i + 1 < nx)
            put(s, row, row + 1, -1);
        if (j + 1 < ny)
            put(s, row, row + nx, -1);
    }
}

/* Random columns anywhere, and rows without entries. */
static void make_random(test_system *s, uint32_t rows, uint32_t columns)
{
    begin(s, "random", rows, columns, 12);
    for (uint32_t row = 0; row < rows; row++) {
        s->offsets[row + 1] = s->offsets[row];
        const uint32_t entries = row % 5 == 3 ? 0 : (uint32_t)(uniform() * 12);
        for (uint32_t i = 0; i < entries; i++)
            put(s, row, (uint32_t)(uniform() * columns), uniform() - 0.5);
    }
}

/* No rank needs another's elements. */
static void make_diagonal(test_system *s, uint32_t rows)
{
    begin(s, "diagonal", rows, rows, 1);
    for (uint32_t row = 0; row < rows; row++) {
        s->offsets[row + 1] = s->offsets[row];
        put(s, row, row, 1 + row % 3);
    }
}

/* ------------------------------------------------------------------------------------ ranks */

static double weights[64];

static uint32_t first_of(uint32_t count, int of)
{
    double all = 0, before = 0;
    for (int r = 0; r < ranks; r++)
        all += weights[r];
    for (int r = 0; r < of; r++)
        before += weights[r];
    return of == ranks ? count : (uint32_t)lround(count * before / all);
}

typedef struct share {
    wf_mpi_matrix_params params;
    uint32_t first;
    uint32_t *offsets;
    void *values;
} share;

static void log_line(void *user, wf_log_level level, const char *text)
{
    if (level == WF_LOG_ERROR && !*(bool *)user)
        fprintf(stderr, "rank %d: %s\n", rank, text);
}

static bool expects_errors;

static void *convert(wf_type type, const double *values, size_t count)
{
    void *out = malloc(count * wf_type_size(type) + 1);
    CHECK(out, "out of memory");
    for (size_t i = 0; i < count; i++)
        wf_element_set(type, out, i, values[i]);
    return out;
}

static void take_share(const test_system *s, wf_type type, share *out)
{
    const uint32_t first = first_of(s->rows, rank), last = first_of(s->rows, rank + 1);
    const uint32_t at = s->offsets[first];
    *out = (share){.first = first};
    out->offsets = malloc((last - first + (size_t)1) * sizeof *out->offsets);
    CHECK(out->offsets, "out of memory");
    for (uint32_t row = first; row <= last; row++)
        out->offsets[row - first] = s->offsets[row] - at;
    out->values = convert(type, s->values + at, s->offsets[last] - at);
    out->params = (wf_mpi_matrix_params){.size = sizeof out->params,
                                         .rows = s->rows,
                                         .columns = s->columns,
                                         .own_rows = last - first,
                                         .own_columns = first_of(s->columns, rank + 1) -
                                                        first_of(s->columns, rank),
                                         .row_offsets = out->offsets,
                                         .column_indices = s->indices + at,
                                         .values = out->values,
                                         .type = type,
                                         .log = log_line,
                                         .log_user = &expects_errors};
}

static void free_share(share *part)
{
    free(part->offsets);
    free(part->values);
}

/* ---------------------------------------------------------------------------------- products */

static double roundoff(wf_type type)
{
    return type == WF_TYPE_F64 ? 0x1p-53 : 0x1p-24;
}

/* How many of this rank's elements are farther from the f64 product than rounding explains. */
static uint32_t wrong_elements(const test_system *s, wf_type type, uint32_t first, uint32_t count,
                               const double *x, const void *y)
{
    uint32_t wrong = 0;
    for (uint32_t row = first; row < first + count; row++) {
        long double sum = 0;
        double magnitudes = 0;
        for (uint32_t i = s->offsets[row]; i < s->offsets[row + 1]; i++) {
            sum += (long double)s->values[i] * x[s->indices[i]];
            magnitudes += fabs(s->values[i] * x[s->indices[i]]);
        }
        const double entries = s->offsets[row + 1] - s->offsets[row],
                     bound = (entries + 3) * 1.01 * roundoff(type) * magnitudes;
        wrong += !(fabs((double)(wf_element_get(type, y, row - first) - sum)) <= bound);
    }
    return wrong;
}

/* What is told of the cut and of the halo. */
static void check_lists(const wf_mpi_matrix *m, const test_system *s, const share *part)
{
    wf_mpi_matrix_info info = {.size = sizeof info};
    CHECK(wf_mpi_matrix_describe(m, &info, NULL) == WF_SUCCESS, "%s", s->name);
    CHECK(info.rows == part->params.own_rows && info.first_row == part->first, "%s", s->name);
    CHECK(strcmp(s->name, "diagonal") != 0 || info.received + info.sent + info.neighbours == 0,
          "halos of a diagonal matrix");
    uint64_t own[2] = {info.sent, info.received}, all[2];
    MPI_Allreduce(own, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all[0] == all[1], "%s: %llu sent, %llu received", s->name, (unsigned long long)all[0],
          (unsigned long long)all[1]);
}

/* All elements of y are right, and the comparison sees a planted fault: an x with another element
 * at the first entry's column. */
static void check_product(const test_system *s, const share *part, double *x, const void *y)
{
    const wf_type type = part->params.type;
    const uint32_t rows = part->params.own_rows, at = s->offsets[part->first],
                   wrong = wrong_elements(s, type, part->first, rows, x, y);
    CHECK(wrong == 0, "%s, %s: %u of %u elements are wrong", s->name, wf_type_name(type), wrong,
          rows);
    if (s->offsets[part->first + rows] > at) {
        x[s->indices[at]] += 1;
        CHECK(wrong_elements(s, type, part->first, rows, x, y) > 0,
              "%s: the comparison sees no fault", s->name);
    }
}

/* Three products of this rank's part of x. */
static void multiply(wf_mpi_matrix *m, const test_system *s, const void *own, void *y_own)
{
    wf_mpi_vector *x = NULL, *y = NULL;
    wf_mpi_times times = {.size = sizeof times};
    double seconds = 0;
    CHECK(wf_mpi_vector_create(m, WF_MPI_OF_COLUMNS, &x) == WF_SUCCESS, "x");
    CHECK(wf_mpi_vector_create(m, WF_MPI_OF_ROWS, &y) == WF_SUCCESS, "y");
    CHECK(wf_mpi_vector_write(x, own) == WF_SUCCESS, "writing x");
    CHECK(wf_mpi_spmv_run(m, x, y, 3, &seconds, &times) == WF_SUCCESS, "%s", s->name);
    CHECK(seconds > 0 && times.halo >= 0 && times.wait >= 0, "%g s", seconds);
    CHECK(wf_mpi_vector_read(y, y_own) == WF_SUCCESS, "reading y");
    wf_mpi_vector_destroy(&x);
    wf_mpi_vector_destroy(&y);
}

static void test_product(wf_device *device, const test_system *s, wf_type type)
{
    share part;
    wf_mpi_matrix *m = NULL;
    double *whole = malloc(s->columns * sizeof *whole + 1);
    CHECK(whole, "out of memory");
    for (uint32_t i = 0; i < s->columns; i++)
        whole[i] = (float)(uniform() - 0.5);
    take_share(s, type, &part);
    CHECK(wf_mpi_matrix_create(MPI_COMM_WORLD, device, &part.params, &m) == WF_SUCCESS, "%s",
          s->name);
    check_lists(m, s, &part);
    void *given = convert(type, whole + first_of(s->columns, rank), part.params.own_columns),
         *found = calloc(part.params.own_rows + (size_t)1, wf_type_size(type));
    CHECK(found, "out of memory");
    multiply(m, s, given, found);
    check_product(s, &part, whole, found);
    wf_mpi_matrix_destroy(&m);
    free(given);
    free(found);
    free(whole);
    free_share(&part);
}

/* -------------------------------------------------------------------------------------- solves */

/* Where two histories differ by more than some roundings an iteration; MOST_ITERATIONS: nowhere. */
static uint32_t differ_at(const double *a, const double *b, uint32_t count, wf_type type)
{
    for (uint32_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= 64.0 * (i + 1) * roundoff(type)))
            return i;
    return MOST_ITERATIONS;
}

/* Rank 0's device by itself. */
static void solve_alone(wf_device *device, const test_system *s, wf_type type, wf_precondition m,
                        const void *b, double tolerance, double *history, uint32_t *iterations)
{
    void *values = convert(type, s->values, s->offsets[s->rows]),
         *x = calloc(s->rows, wf_type_size(type));
    const wf_spmv_params matrix = {.size = sizeof matrix,
                                   .rows = s->rows,
                                   .columns = s->columns,
                                   .row_offsets = s->offsets,
                                   .column_indices = s->indices,
                                   .values = values,
                                   .type = type};
    const wf_cg_params params = {.size = sizeof params,
                                 .matrix = &matrix,
                                 .precondition = m,
                                 .tolerance = tolerance,
                                 .max_iterations = MOST_ITERATIONS,
                                 .history = history};
    wf_cg_result result = {0};
    CHECK(x && wf_cg_solve(device, &params, b, x, &result) == WF_SUCCESS, "one device");
    CHECK(result.status == WF_CG_CONVERGED, "one device: status %d", (int)result.status);
    *iterations = result.iterations;
    free(values);
    free(x);
}

/* Products of this variant leave their dot product (wf_cg_product_plan); others leave it to the
 * solve. Whether all ranks' devices have it. */
static const wf_tuning fused = {.size = sizeof fused, .variant = "sliced"};

static bool has_fused(wf_device *device, const test_system *s)
{
    void *values = convert(WF_TYPE_F32, s->values, s->offsets[s->rows]);
    const wf_spmv_params matrix = {.size = sizeof matrix,
                                   .rows = s->rows,
                                   .columns = s->columns,
                                   .row_offsets = s->offsets,
                                   .column_indices = s->indices,
                                   .values = values,
                                   .tuning = &fused};
    wf_plan *plan = NULL;
    uint32_t partials = 0;
    expects_errors = true;
    int mine = wf_cg_product_plan(device, &matrix, &partials, &plan) == WF_SUCCESS && partials > 0,
        least = 0;
    expects_errors = false;
    wf_plan_destroy(&plan);
    free(values);
    MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return least;
}

static void test_solve(wf_device *device, const test_system *s, wf_type type, wf_precondition m,
                       bool pipelined, const wf_tuning *tuning)
{
    const double tolerance = type == WF_TYPE_F64 ? 1e-9 : 1e-4;
    double one[MOST_ITERATIONS] = {0}, many[MOST_ITERATIONS] = {0};
    uint32_t iterations = 0;
    share part;
    double *random = malloc(s->rows * sizeof *random);
    CHECK(random, "out of memory");
    for (uint32_t i = 0; i < s->rows; i++)
        random[i] = (float)(uniform() - 0.5);
    void *b = convert(type, random, s->rows);
    if (rank == 0)
        solve_alone(device, s, type, m, b, tolerance, one, &iterations);
    MPI_Bcast(one, MOST_ITERATIONS, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(&iterations, 1, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    take_share(s, type, &part);
    part.params.tuning = tuning;
    const wf_mpi_cg_params params = {.size = sizeof params,
                                     .matrix = &part.params,
                                     .precondition = m,
                                     .tolerance = tolerance,
                                     .max_iterations = MOST_ITERATIONS,
                                     .pipelined = pipelined,
                                     .history = many};
    wf_mpi_cg_result result = {0};
    void *x = calloc(part.params.own_rows + (size_t)1, wf_type_size(type));
    const char *own_b = (const char *)b + part.first * wf_type_size(type);
    CHECK(x && wf_mpi_cg_solve(MPI_COMM_WORLD, device, &params, own_b, x, &result) == WF_SUCCESS,
          "%s", s->name);
    CHECK(result.status == WF_CG_CONVERGED, "%s: status %d, residual %g, true %g", s->name,
          (int)result.status, result.residual, result.true_residual);
    /* The last residual may be this side of the tolerance or that. */
    CHECK(result.iterations + 1 >= iterations && result.iterations <= iterations + 1,
          "%u iterations, and %u of one device", result.iterations, iterations);
    const uint32_t common = result.iterations < iterations ? result.iterations : iterations,
                   at = differ_at(one, many, common, type);
    CHECK(at == MOST_ITERATIONS, "%s, %s: residual %u is %.17g, and %.17g of one device", s->name,
          wf_type_name(type), at, many[at], one[at]);
    /* A planted fault: a history that has forgotten an iteration. */
    CHECK(differ_at(one, many + 1, common - 1, type) != MOST_ITERATIONS,
          "the comparison sees no fault");
    free(random);
    free(b);
    free(x);
    free_share(&part);
}

/* The last rank stops the solve, for all, when it is asked for the fourth time. */
static bool stop_at_fourth(void *user, uint32_t iterations, double residual)
{
    uint32_t *asked = user;
    CHECK(iterations == *asked || iterations + 1 == *asked, "iteration %u", iterations);
    CHECK(residual >= 0, "residual %g", residual);
    return ++*asked < 4 || rank < ranks - 1;
}

static void test_cancel(wf_device *device, const test_system *s, bool pipelined)
{
    share part;
    uint32_t asked = 0;
    wf_mpi_cg_result result;
    take_share(s, WF_TYPE_F32, &part);
    const uint32_t own = part.params.own_rows;
    float *b = malloc((own + (size_t)1) * sizeof *b), *x = malloc((own + (size_t)1) * sizeof *x);
    CHECK(b && x, "out of memory");
    for (uint32_t i = 0; i < own; i++)
        b[i] = (float)(1 + (part.first + i) % 3);
    const wf_mpi_cg_params params = {.size = sizeof params,
                                     .matrix = &part.params,
                                     .pipelined = pipelined,
                                     .progress = stop_at_fourth,
                                     .user = &asked};
    expects_errors = true;
    CHECK(wf_mpi_cg_solve(MPI_COMM_WORLD, device, &params, b, x, &result) == WF_ERROR_CANCELLED,
          "a solve that is stopped");
    CHECK(asked == 4, "asked %u times", asked);
    expects_errors = false;
    free(b);
    free(x);
    free_share(&part);
}

/* ------------------------------------------------------------------------------------- refusals */

/* The error is every rank's, and none is left waiting. */
static void refuse(wf_device *device, const wf_mpi_matrix_params *params, wf_result expected,
                   const char *what)
{
    wf_mpi_matrix *m = NULL;
    CHECK(wf_mpi_matrix_create(MPI_COMM_WORLD, device, params, &m) == expected, "%s", what);
}

/* Of matrices of a row a rank: `diagonal` is 1, but for the last rank's. */
static wf_mpi_matrix_params diagonal_of(const uint32_t *column, const float *diagonal)
{
    static const uint32_t offsets[2] = {0, 1};
    return (wf_mpi_matrix_params){.size = sizeof(wf_mpi_matrix_params),
                                  .rows = (uint32_t)ranks,
                                  .columns = (uint32_t)ranks,
                                  .own_rows = 1,
                                  .own_columns = 1,
                                  .row_offsets = offsets,
                                  .column_indices = column,
                                  .values = diagonal,
                                  .log = log_line,
                                  .log_user = &expects_errors};
}

static void test_refusals(wf_device *device, const test_system *s)
{
    share part;
    const uint32_t far = (uint32_t)(rank == ranks - 1 ? ranks : rank);
    const float value = 1;
    expects_errors = true;
    take_share(s, WF_TYPE_F32, &part);
    wf_mpi_matrix_params params = part.params;
    params.rows++;
    refuse(device, &params, WF_ERROR_INVALID_ARGUMENT, "a row that nobody has");
    params = part.params;
    params.type = WF_TYPE_F16;
    refuse(device, &params, WF_ERROR_UNSUPPORTED, "f16");
    /* One rank's arrays alone are wrong. */
    params = diagonal_of(&far, &value);
    refuse(device, &params, WF_ERROR_INVALID_ARGUMENT, "a column that is not there");
    expects_errors = false;
    free_share(&part);
}

static wf_result solve_diagonal(wf_device *device, const wf_mpi_matrix_params *matrix,
                                wf_precondition m, float b, float *x, wf_mpi_cg_result *out)
{
    const wf_mpi_cg_params params = {.size = sizeof params, .matrix = matrix, .precondition = m};
    return wf_mpi_cg_solve(MPI_COMM_WORLD, device, &params, &b, x, out);
}

/* The last rank's diagonal is negative, or b is 0, which has x = 0. */
static void test_ends(wf_device *device)
{
    wf_mpi_cg_result result;
    const uint32_t own = (uint32_t)rank;
    float value = rank == ranks - 1 ? -1.0F : 1.0F, x = 7;
    const wf_mpi_matrix_params params = diagonal_of(&own, &value);
    expects_errors = true;
    CHECK(solve_diagonal(device, &params, WF_PRECONDITION_JACOBI, 1, &x, &result) ==
              WF_ERROR_INVALID_ARGUMENT,
          "a negative diagonal");
    CHECK(solve_diagonal(device, &params, WF_PRECONDITION_NONE, 1, &x, &result) == WF_SUCCESS,
          "an indefinite matrix");
    CHECK(ranks > 1 || result.status == WF_CG_INDEFINITE, "status %d", (int)result.status);
    CHECK(ranks != 2 || result.status == WF_CG_BREAKDOWN, "status %d", (int)result.status);
    x = 7;
    value = 1;
    CHECK(solve_diagonal(device, &params, WF_PRECONDITION_NONE, 0, &x, &result) == WF_SUCCESS, "0");
    CHECK(result.status == WF_CG_CONVERGED && result.iterations == 0 && !(x > 0 || x < 0), "%g",
          (double)x);
    expects_errors = false;
}

/* Halos that a second queue packs and takes beside the inside, as those of large systems are; here
 * it is the first one, in as many submissions. */
static void test_aside(const wf_device_params *params, const test_system *s, wf_type type)
{
    wf_device *device = NULL;
    setenv("WAVEFIT_SIDE_QUEUES", "1", 1);
    setenv("WAVEFIT_MPI_PIECES", "1", 1);
    CHECK(wf_device_create(params, &device) == WF_SUCCESS, "device %s", params->selector);
    test_solve(device, s, type, WF_PRECONDITION_NONE, false, &fused);
    test_solve(device, s, type, WF_PRECONDITION_JACOBI, false, &fused);
    test_solve(device, s, type, WF_PRECONDITION_NONE, false, NULL);
    test_cancel(device, s, false);
    wf_device_destroy(&device);
    unsetenv("WAVEFIT_MPI_PIECES");
    unsetenv("WAVEFIT_SIDE_QUEUES");
}

int main(int argc, char **argv)
{
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F64};
    char selector[WF_MPI_SELECTOR];
    wf_device *device = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(ranks < 64 && (argc == 1 || argc == ranks + 1), "one weight a rank");
    for (int r = 0; r < ranks; r++)
        weights[r] = argc > 1 ? strtod(argv[1 + r], NULL) : 1;
    CHECK(wf_mpi_select(MPI_COMM_WORLD, selector) == WF_SUCCESS, "no device");
    const wf_device_params params = {
        .size = sizeof params, .selector = selector, .log = log_line, .log_user = &expects_errors};
    CHECK(wf_device_create(&params, &device) == WF_SUCCESS, "device %s", selector);

    test_system systems[3];
    make_grid(&systems[0], 21, 13);
    make_random(&systems[1], 143, 97);
    make_diagonal(&systems[2], 37);
    /* Where one driver has no f64, all go without. */
    int types_count = wf_device_caps(device)->f64 ? 2 : 1, least = 0;
    MPI_Allreduce(&types_count, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    const bool fuses = has_fused(device, &systems[0]);
    for (int t = 0; t < least; t++) {
        for (int i = 0; i < 3; i++)
            test_product(device, &systems[i], types[t]);
        test_solve(device, &systems[0], types[t], WF_PRECONDITION_NONE, false, NULL);
        test_solve(device, &systems[0], types[t], WF_PRECONDITION_JACOBI, false, NULL);
        if (fuses) {
            test_solve(device, &systems[0], types[t], WF_PRECONDITION_NONE, false, &fused);
            /* Updates in pieces, as of large systems. */
            setenv("WAVEFIT_MPI_PIECES", "1", 1);
            test_solve(device, &systems[0], types[t], WF_PRECONDITION_NONE, false, &fused);
            test_solve(device, &systems[0], types[t], WF_PRECONDITION_JACOBI, false, &fused);
            unsetenv("WAVEFIT_MPI_PIECES");
            test_aside(&params, &systems[0], types[t]);
        }
        test_solve(device, &systems[0], types[t], WF_PRECONDITION_NONE, true, NULL);
        test_solve(device, &systems[0], types[t], WF_PRECONDITION_JACOBI, true, NULL);
    }
    test_cancel(device, &systems[0], false);
    test_cancel(device, &systems[0], true);
    test_refusals(device, &systems[0]);
    test_ends(device);
    for (int i = 0; i < 3; i++)
        end(&systems[i]);
    wf_device_destroy(&device);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks: products and solves of %d types are right%s\n", ranks, least,
               fuses ? ", fused ones too" : "");
    MPI_Finalize();
    return 0;
}
