/* What the host's check of a matrix product consists of: operands read as they lie, the reference
 * of single elements and rows, and sums that cover every element. It has its own reading of the
 * parameters, so that a kernel and its check cannot be wrong in the same way. */
#ifndef WFI_KERNELS_MATMUL_CHECK_H
#define WFI_KERNELS_MATMUL_CHECK_H

#include "core/element.h"
#include "kernels/check/crew.h"

/* A matrix of each product of the batch: element (i, j) of product z lies at z product + i row + j
 * column. */
typedef struct wfi_operand {
    const void *data; /* NULL: not used */
    wf_type type;
    bool whole32; /* elements are int32_t, whatever the type */
    uint64_t row, column, product;
} wfi_operand;

#define WFI_MATMUL_CHECK_PARTS 16 /* at most */

typedef struct wfi_matmul_reference {
    wf_type type;
    const wfi_element *element; /* the type's row */
    uint64_t m, n, k, batch;    /* k 0: nothing is multiplied */
    double alpha, beta;         /* beta 0: C before is not read */
    bool fast, narrow;          /* narrow: C is rounded to the type */
    wf_activation activation;
    wfi_operand a, b, before, bias, c;
    wfi_operand linear;                  /* C of a run without the activation */
    double grain;                        /* of wfi_matmul_grain */
    double *row;                         /* k elements of a row of A */
    double *line;                        /* max(k, n): a line of an operand */
    double *value, *magnitude, *largest; /* n, of a row of C */
    long double *wide;                   /* n, where the type is F64 */
    wfi_watch *watch;
} wfi_matmul_reference;

/* Elements first, first + step, ... as f64. */
void wfi_operand_read(const wfi_operand *operand, uint64_t first, uint64_t step, uint64_t count,
                      double *out);

/* The power of two that all sums are multiples of, where they are so small that none rounds, as
 * those of small whole numbers are; else 0. */
double wfi_matmul_grain(const wfi_matmul_reference *w);

/* reference.c: the reference with lines of its own, for one of several threads, which sets the
 * watch. False: no memory; it is to be closed all the same. */
bool wfi_matmul_open_part(const wfi_matmul_reference *w, wfi_matmul_reference *part);
void wfi_matmul_close_part(wfi_matmul_reference *part);
/* Into how many parts a check of so many operations goes: the same on every machine. `bytes`: what
 * a part keeps beside its lines. */
uint32_t wfi_matmul_check_parts(const wfi_matmul_reference *w, double operations, double bytes);

/* reference.c: compares elements `from` to `to` - 1 of a row of C with the reference. False:
 * cancelled. */
bool wfi_matmul_check_row(const wfi_matmul_reference *w, uint64_t z, uint64_t row, uint64_t from,
                          uint64_t to, wf_check *check);
/* The same of one element, by its number in the batch. */
bool wfi_matmul_check_one(const wfi_matmul_reference *w, uint64_t index, wf_check *check);

/* The error bound of a sum of C whose terms' magnitudes add up to `magnitude`, before the
 * activation. */
double wfi_matmul_sum_bound(const wfi_matmul_reference *w, double magnitude, double largest);
/* What C holds after the activation where the sum is `value`, at most `bound` off. */
typedef struct wfi_expected {
    long double value;
    double bound;
} wfi_expected;
wfi_expected wfi_matmul_activated(const wfi_matmul_reference *w, wfi_expected sum);

/* sums.c: covers every element: Freivalds' test (1979) finds the rows of C that differ most from
 * what the operands' sums say, and these are compared whole; of a product with an activation,
 * `linear` is what is summed, and each element of C is compared with its activation. Where that is
 * not there, each element's range is looked at alone. WF_ERROR_CANCELLED,
 * WF_ERROR_OUT_OF_HOST_MEMORY. */
wf_result wfi_matmul_check_sums(const wfi_matmul_reference *w, wfi_crew *crew, uint64_t seed,
                                wf_check *check);

#endif
