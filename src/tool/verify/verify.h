/* The differential search of `wavefit verify`: problems, variants and constants are drawn at
 * random, run on the device and compared, every element, with the f64 reference on the host. A case
 * depends on the seed, its number and the device alone, so that it can be run again by itself. */
#ifndef WFI_TOOL_VERIFY_VERIFY_H
#define WFI_TOOL_VERIFY_VERIFY_H

#include "io/verdicts.h"
#include "tool/cli/session.h"

/* What is drawn: kernels of the families, and the solvers that are made of them. */
#define WFI_VERIFY_KINDS(X) X(himeno) X(spmv) X(matmul) X(stencil) X(vector) X(cg) X(laplace)

#define WFI_COUNT_KIND(name) +1
enum { WFI_VERIFY_KIND_COUNT = 0 WFI_VERIFY_KINDS(WFI_COUNT_KIND) };
#undef WFI_COUNT_KIND

typedef struct wfi_verify_request {
    uint64_t seed;
    int kind; /* the only one that is drawn; -1: all are */
} wfi_verify_request;

const char *wfi_verify_kind_name(int kind);
/* The family whose variants the kind runs; whether it is a solver made of them. */
wf_family wfi_verify_kind_family(int kind);
bool wfi_verify_kind_is_solver(int kind);
/* -1: there is no such kind. */
int wfi_verify_kind_of(const char *name);

/* Called before a case asks the driver for what could end the process, with the verdict so far. */
typedef struct wfi_verify_listener {
    void (*at)(void *user);
    void *user;
} wfi_verify_listener;

/* What a case is made with. */
typedef struct wfi_verifier {
    wfi_session *session;
    const wfi_verify_listener *listener; /* NULL: nobody listens */
    uint64_t state;                      /* of the random numbers */
    double work;                         /* operations that a case may take */
    wfi_verdict *verdict;
} wfi_verifier;

/* Runs a case and fills *verdict, but for `repeat`. Returns what the library did. */
wf_result wfi_verify_case(wfi_session *session, const wfi_verify_request *request, uint64_t number,
                          const wfi_verify_listener *listener, wfi_verdict *verdict);

/* ---------------------------------------------------------------------------------- draw.c */

uint64_t wfi_draw_below(wfi_verifier *v, uint64_t n);
bool wfi_draw_chance(wfi_verifier *v, uint32_t percent);
double wfi_draw_uniform(wfi_verifier *v, double low, double high);
/* A size up to `most`: small ones, any, and those at and beside powers of two. */
uint64_t wfi_draw_size(wfi_verifier *v, uint64_t most);
/* A factor: mostly 1 (or, `zero`, mostly 0), else a small number of either sign; `whole`: a whole
 * one. */
double wfi_draw_factor(wfi_verifier *v, bool zero, bool whole);

/* What operands consist of. */
typedef enum wfi_numbers {
    WFI_NUMBERS_UNIFORM, /* between -1 and 1 */
    WFI_NUMBERS_SIGNS,   /* 1 and -1 */
    WFI_NUMBERS_WHOLE,   /* -3 … 3 */
    WFI_NUMBERS_SPREAD   /* of magnitudes from 2^-6 to 2^6 */
} wfi_numbers;

wfi_numbers wfi_draw_numbers(wfi_verifier *v);
const char *wfi_numbers_name(wfi_numbers numbers);
/* An extent of an execution, where the plan's is `most`: between `least` and that, and half of the
 * time `most` itself. */
uint64_t wfi_draw_extent(wfi_verifier *v, uint64_t least, uint64_t most);
double wfi_draw_number(wfi_verifier *v, wfi_numbers numbers);
/* Adds to the verdict's problem. */
void wfi_verify_say(wfi_verifier *v, const char *format, ...);
/* Tells the listener where the case is. */
void wfi_verify_at(const wfi_verifier *v);

/* --------------------------------------------------------------------------------- point.c */

/* Makes a plan of the problem with the tuning. */
typedef wf_result (*wfi_verify_plan_fn)(wfi_verifier *v, void *problem, const wf_tuning *tuning);

/* Draws variants and constants until the plan can be made. Where it never can, the verdict is
 * UNSUPPORTED. */
wf_result wfi_verify_point(wfi_verifier *v, wfi_verify_plan_fn plan, void *problem);

/* ------------------------------------------------------------------------------- execute.c */

/* Which elements of a binding are the result: count[0] x count[1] x count[2] of them, stride apart;
 * nothing else may change. */
typedef struct wfi_verify_places {
    uint64_t size; /* bytes of an element; 0: the binding is only read */
    uint64_t count[3], stride[3];
    uint64_t first; /* where they begin */
} wfi_verify_places;

/* The data of a binding, between bytes that nobody may touch. */
typedef struct wfi_verify_binding {
    uint64_t offset, bytes, whole; /* of the buffer: the binding's offset and bytes, and all */
    unsigned char *before, *after; /* the host's copies of the whole buffer */
    wf_buffer *buffer;
    wfi_verify_places places;
} wfi_verify_binding;

typedef struct wfi_verify_execution {
    wf_plan *plan;
    wf_buffer *workspace;
    uint32_t count;
    wfi_verify_binding items[WF_MAX_BINDINGS];
    bool repeats;                    /* every execution gives the same bits */
    uint64_t extent[WF_MAX_EXTENTS]; /* of plans whose sizes vary */
} wfi_verify_execution;

/* A binding of so many bytes, which are -1 at first, NaN as floats: *data, in items[i].before, is
 * where the caller writes operands. False: out of memory. */
bool wfi_verify_bind(wfi_verifier *v, wfi_verify_execution *e, uint32_t index, uint64_t bytes,
                     const wfi_verify_places *places, void **data);
/* Runs the plan, sometimes twice; results are then in items[i].after + items[i].offset. The verdict
 * fails where anything but the results changed, or the second execution gave other bits. */
wf_result wfi_verify_execute(wfi_verifier *v, wfi_verify_execution *e);
void wfi_verify_close(wfi_verify_execution *e);

/* Fills the verdict from a check. */
void wfi_verify_checked(wfi_verifier *v, const char *what);
void wfi_verify_place(wfi_verifier *v, uint64_t mismatch, const char *format, ...);

/* -------------------------------------------------------------------------------- solver.c */

/* The first failure of a case is its verdict. */
void wfi_verify_fail(wfi_verifier *v, const char *format, ...) WFI_IO_PRINTF(2, 3);
/* The verdict on an answer that is said to have converged: its residual must be within the bound,
 * and what the solver tells of it. */
void wfi_verify_residual(wfi_verifier *v, uint64_t elements, double residual, double bound,
                         double told);
/* The verdict names a kernel of the solver's: its product or stencil. */
void wfi_verify_solver_plan(wfi_verifier *v, const wf_plan_info *plan);
/* A solver's progress: false after an interrupt. */
bool wfi_verify_goes_on(void *user, uint32_t iterations, double residual);

/* ----------------------------------------------------------------------------------- kinds */

#define WFI_DECLARE_KIND(name) wf_result wfi_verify_##name(wfi_verifier *v);
WFI_VERIFY_KINDS(WFI_DECLARE_KIND)
#undef WFI_DECLARE_KIND

#endif
