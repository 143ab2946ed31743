/* Conjugate gradients that are recorded into the command buffers of an application, in several
 * frames: the minus Laplacian of a small square, whose x and state lie between NaN. */
#ifndef WFI_TESTS_RECORDED_CG_H
#define WFI_TESTS_RECORDED_CG_H

#include "engine.h"
#include "harness.h"

enum { CG_SIDE = 17, CG_ROWS = CG_SIDE * CG_SIDE, CG_IN_FLIGHT = 3, CG_MOST = 120 };

/* Minus the Laplacian of a square, and more on the diagonal. */
typedef struct cg_system {
    uint32_t row_offsets[CG_ROWS + 1], columns[5 * CG_ROWS];
    double values[5 * CG_ROWS];
    float narrow[5 * CG_ROWS];
    wf_spmv_params params;
} cg_system;

typedef struct cg_frame {
    VkCommandBuffer commands;
    VkFence fence;
    wf_arena *arena;
    wf_buffer *b, *x, *state; /* x and the state lie between NaN */
    uint32_t iterations, flags;
    bool pending;
} cg_frame;

typedef struct cg_host {
    engine e;
    wf_device *device;
    cg_system *system;
    wf_cg *cg;
    test_random random;
    wf_type type;
    bool mixed;
    uint64_t align; /* bytes in front of x and the state */
    cg_frame frames[CG_IN_FLIGHT];
} cg_host;

/* An adopted device with a solve of CG_MOST iterations at most, uploaded; solve->matrix is set. */
void cg_host_open(cg_host *h, engine_features features, wf_type type, const wf_cg_params *solve);
void cg_host_close(cg_host *h);

wf_bindings cg_bindings(const cg_host *h, const cg_frame *f);
/* Elements of b and x: of the type, or pairs of floats. */
double cg_element(const cg_host *h, const wf_buffer *buffer, uint64_t i);
void cg_put_element(const cg_host *h, const wf_buffer *buffer, uint64_t i, double value);
void cg_draw_b(cg_host *h, const cg_frame *f);
wf_solve_state cg_state(const cg_host *h, const cg_frame *f);

/* Records and submits a solve of f->iterations and f->flags. */
void cg_submit(cg_host *h, cg_frame *f);
/* Waits for what is pending and checks it. */
void cg_await(cg_host *h, cg_frame *f, double tolerance);
/* Submits and waits. */
void cg_solve_once(cg_host *h, cg_frame *f, uint32_t iterations, uint32_t flags);
/* Checks what a frame left: the residual, computed on the host, and the state that describes it. */
void cg_expect(const cg_host *h, const cg_frame *f, double tolerance);

#endif
