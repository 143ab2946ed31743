/* A product for device tests, C = activation(alpha op(A) op(B) + beta C + bias), whose operands are
 * drawn and which is checked against f64. Whatever a product must not read is poisoned; what it
 * must not write is compared. */
#ifndef WFI_TESTS_MATMUL_CASE_H
#define WFI_TESTS_MATMUL_CASE_H

#include "harness.h"
#include "kernels/matmul/matmul.h"

/* Parameters, and host and device copies of the operands. */
typedef struct matmul_case {
    wf_device *device;
    wf_matmul_params params;
    double alpha;
    uint64_t bytes[WF_MATMUL_BINDINGS];
    void *host[WF_MATMUL_BINDINGS]; /* C: before */
    void *result;                   /* C: after */
    uint64_t offset; /* of every operand in its buffer, which is as much longer behind */
    wf_buffer *buffers[WF_MATMUL_BINDINGS];
} matmul_case;

/* Of params, and the offset: buffers with random elements. */
void matmul_case_make(matmul_case *p, wf_device *device, test_random *random);
void matmul_case_free(matmul_case *p);
/* Writes the host's copy of an operand to the device. */
void matmul_case_write(matmul_case *p, int binding);
/* Puts `value` where op(A) or op(B) of the batch's first product has row and column. */
void matmul_case_plant(matmul_case *p, int binding, uint64_t row, uint64_t column, double value);

/* Executes a plan of the params on C as it was before, and checks all of C. */
void matmul_case_execute(matmul_case *p, wf_plan *plan, const char *what);
/* Plans it, too; returns the number of dispatches. */
uint32_t matmul_case_run(matmul_case *p, const char *what);

/* The problem as the planner sees it, as far as the legality of points goes. */
wfi_problem matmul_case_problem(const wf_matmul_params *q);
/* Where it does not matter which variant runs: NULL, the model's choice; under an emulator, which
 * takes a minute to compile that, one with small tiles. */
const wf_tuning *matmul_any_variant(void);

#endif
