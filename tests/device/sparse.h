/* Random sparse systems for device tests: a matrix in compressed sparse rows, X and Y, on host and
 * device. */
#ifndef WFI_TESTS_SPARSE_H
#define WFI_TESTS_SPARSE_H

#include "points.h"

typedef struct sparse_system {
    wf_device *device;
    wf_spmv_params params;
    uint32_t *row_offsets, *column_indices;
    void *values, *x, *before, *y;
    uint64_t x_elements, y_elements; /* strides included */
    double alpha;
    wf_buffer *device_x, *device_y;
} sparse_system;

/* How the matrix is made, beside its size and the lengths of its rows. */
typedef struct sparse_options {
    wf_type type;
    bool transpose, updatable;
    uint32_t vectors, x_stride, y_stride;
    double alpha, beta; /* alpha 0: 1 */
} sparse_options;

void test_sparse_make(sparse_system *s, wf_device *device, const sparse_options *options,
                      uint32_t rows, uint32_t columns, const uint32_t *lengths,
                      test_random *random);
void test_sparse_free(sparse_system *s);
/* New random values under the same pattern, on the host alone. */
void test_sparse_new_values(sparse_system *s, test_random *random);
/* y of a plan: poisoned where beta is 0, `before` elsewhere; then read back. */
void test_sparse_run(sparse_system *s, wf_plan *plan);
/* Plans with the tuning (NULL: the model's choice), multiplies; returns the dispatches. */
uint32_t test_sparse_multiply(sparse_system *s, const wf_tuning *tuning);
void test_sparse_right(const sparse_system *s, const char *what);
/* Every variant of the family for the system's type at its defaults or, with `around`, also at
 * every candidate around them and at random points: multiplies and checks. Returns the points. */
uint32_t test_sparse_each_point(sparse_system *s, uint32_t random_points, bool around,
                                test_random *random);

/* Solves a tridiagonal system of that many rows, 300 at most, by conjugate gradients. */
void test_solve_tridiagonal(wf_device *device, uint32_t rows);

#endif
