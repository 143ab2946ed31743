/* What tests of adopted devices work with: a product of odd sizes on the application's device, and
 * a list that keeps the jobs of plans until the test runs them. */
#ifndef WFI_TESTS_PRODUCT_H
#define WFI_TESTS_PRODUCT_H

#include "engine.h"

enum { PRODUCT_M = 37, PRODUCT_N = 41, PRODUCT_K = 29 };

typedef struct product {
    wf_matmul_params params;
    wf_plan *plan;
    wf_buffer *buffers[3];
    wf_arena *arena;
    wf_bindings bindings;
    float a[PRODUCT_M * PRODUCT_K], b[PRODUCT_K * PRODUCT_N];
} product;

/* Plan, arena, buffers and random inputs; jobs may be NULL. */
void product_open(product *p, wf_device *device, const wf_jobs *jobs);
/* Fills C with NaN. */
void product_poison(product *p);
/* Fails the test where C is not within the bound of the f64 product. */
void product_check(product *p);
void product_close(product *p);

typedef struct job_list {
    uint32_t count;
    void (*run[16])(void *);
    void *job[16];
} job_list;

/* wf_jobs.submit; user: the job_list. */
void job_list_keep(void *user, void (*run)(void *), void *job);
/* Runs and forgets the jobs; user: the job_list. For pthread_create too. */
void *job_list_run(void *user);

#endif
