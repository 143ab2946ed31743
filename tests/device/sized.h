/* Plans whose sizes vary, for tests: a product and a grid that are made for their largest sizes and
 * run with sizes drawn at random. Inputs are whole numbers so small that every sum is exact in any
 * order, so that results equal a reference in f64; whatever lies around them is NaN before and
 * after. */
#ifndef WFI_TESTS_SIZED_H
#define WFI_TESTS_SIZED_H

#include "harness.h"

/* --------------------------------------------------------------------------------------- arrays */

/* A buffer that the host sees, all NaN. */
typedef struct sized_array {
    wf_buffer *buffer;
    wf_type type;
    uint64_t elements;
} sized_array;

/* A whole number from -2 to 2. */
double sized_number(test_random *random);
/* A size up to `most`, a multiple of the unit that is at least `least`. */
uint64_t sized_draw(test_random *random, uint64_t most, uint32_t unit, uint32_t least);

sized_array sized_array_make(wf_device *device, wf_type type, uint64_t elements);
void sized_poison(const sized_array *a);
double sized_get(const sized_array *a, uint64_t at);
void sized_set(const sized_array *a, uint64_t at, double value);
bool sized_is_poison(const sized_array *a, uint64_t at);

/* ------------------------------------------------------------------------------------- products */

typedef struct sized_product {
    wf_matmul_params params;
    wf_plan *plan;
    sized_array arrays[WF_MATMUL_BINDINGS];
    uint64_t extent[4];
    double *before; /* C, where beta is not 0 */
} sized_product;

void sized_product_open(sized_product *p, wf_device *device, const wf_matmul_params *params);
void sized_product_close(sized_product *p);
/* Draws sizes and inputs, and gives what an execution with them binds. */
wf_bindings sized_product_draw(sized_product *p, test_random *random);
void sized_product_expect(const sized_product *p);
/* Makes a plan and runs it with as many draws. */
void sized_product_run(wf_device *device, const wf_matmul_params *params, int executions,
                       test_random *random);

/* ---------------------------------------------------------------------------------------- grids */

enum { SIZED_TAPS = 125 };

typedef struct sized_grid {
    wf_stencil_params params;
    double taps[SIZED_TAPS];
    wf_plan *plan;
    sized_array in, out;
    wf_buffer *workspace;
    uint64_t extent[4];
    double *cells[2]; /* of the reference */
} sized_grid;

/* As the functions of products. */
void sized_grid_open(sized_grid *g, wf_device *device, const wf_stencil_params *params,
                     test_random *random);
void sized_grid_close(sized_grid *g);
wf_bindings sized_grid_draw(sized_grid *g, test_random *random);
void sized_grid_expect(sized_grid *g);
void sized_grid_run(wf_device *device, const wf_stencil_params *params, int executions,
                    test_random *random);

#endif
