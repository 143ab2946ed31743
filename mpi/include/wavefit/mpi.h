/* wavefit on many devices: a rank of MPI has a device, and the ranks of a communicator share a
 * problem. The conventions of wavefit/wavefit.h hold, and these besides:
 *  - Functions marked "collective" are called by all ranks of the communicator, in the same order.
 *    Where one rank fails, none waits for it: each returns an error, the failed one's own log has
 *    its words, and the object can only be destroyed.
 *  - A collective parameter is the same on all ranks.
 *  - MPI is initialised by the caller, for calls of the thread that calls these functions
 *    (MPI_THREAD_FUNNELED). They communicate on a duplicate of the caller's communicator, whose
 *    error handler stays in force: by default MPI ends all ranks when a message fails.
 *  - A rank takes a processor while it waits, for messages and for its GPU (wf_device_poll).
 */
#ifndef WAVEFIT_MPI_H
#define WAVEFIT_MPI_H

#include <mpi.h>

#include "wavefit/wavefit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------- devices */

#define WF_MPI_SELECTOR 256

/* Writes a wf_device_params.selector for this rank: that of the environment variable WAVEFIT_DEVICE
 * where it is set, else the ranks of a host take the devices of the best kind there in turn
 * (discrete, integrated, virtual, CPU). Collective. Errors: those of wf_devices_list. */
WF_API wf_result wf_mpi_select(MPI_Comm comm, char selector[WF_MPI_SELECTOR]);

/* Where the time of an iteration, or of a pass of several, went. */
typedef enum wf_mpi_stage {
    WF_MPI_STAGE_HALO = 0,   /* until the device had what neighbours need */
    WF_MPI_STAGE_WAIT = 1,   /* from then on until the neighbours' had come */
    WF_MPI_STAGE_INSIDE = 2, /* from then on until the device was done */
    WF_MPI_STAGE_REDUCTION = 3,
    WF_MPI_STAGE_DEVICE =
        4 /* Himeno and stencils: the device at work, by its clock, up to when it was done */
} wf_mpi_stage;

/* A stage of one iteration, by MPI_Wtime() of this rank. */
typedef struct wf_mpi_span {
    uint32_t iteration; /* or pass, or product; counted from 1 on, alike on all ranks */
    wf_mpi_stage stage;
    double begin, end;
} wf_mpi_span;

/* The last `capacity` (> 0) spans: span n of all, counted from 0, is spans[n % capacity]. */
typedef struct wf_mpi_trace {
    uint32_t capacity;
    wf_mpi_span *spans;
    uint32_t iteration; /* the present one */
    uint64_t count;     /* of all spans so far */
} wf_mpi_trace;

/* Seconds that this rank spent. */
typedef struct wf_mpi_times {
    size_t size;
    /* The device at work. Himeno and stencils: updating planes and copying boundary ones, by its
     * clock. Sparse matrices: what was left of its work when the neighbours' elements had come. */
    double inside;
    /* Himeno and stencils: what passes took longer than that, submitting, waking up, and what of
     * the exchange was not hidden. Sparse matrices: until the device had gathered what neighbours
     * need. */
    double halo;
    /* From then on, or from when the boundary planes were there, until the neighbours' had come;
     * meanwhile the device works. */
    double wait;
    double reduction;    /* adding gosa, or dot products, up */
    wf_mpi_trace *trace; /* gets each of them; NULL: is not kept */
} wf_mpi_times;

/* -------------------------------------------------------------------------------------- himeno */

/* A Himeno grid that is cut along k into slabs, or along several axes into blocks, each rank's
 * device updating one. */
typedef struct wf_mpi_himeno wf_mpi_himeno;

#define WF_MPI_BLOCKS_AUTO UINT32_MAX

typedef struct wf_mpi_himeno_params {
    size_t size;
    uint32_t ni, nj, nk; /* collective; of the whole grid */
    float omega;         /* collective; 0: 0.8 */
    /* That of the first rank that has planes chooses for all. Where not every device can do what it
     * chose, all take the variant naive, unless a variant is asked for. */
    const wf_tuning *tuning;
    /* Collective: how much of the grid each rank gets, beside the others; 0 gives none. NULL: ranks
     * get the same. */
    const double *weights;
    wf_log_fn log; /* of what is not the device's to say; NULL: there is no log */
    void *log_user;
    /* Collective: how many blocks there are along i, j and k, one for each rank, counted with i
     * fastest; all 0: slabs along k; the first WF_MPI_BLOCKS_AUTO: blocks or slabs, whatever a
     * model of passes says is fastest. Weights are for slabs alone: with them AUTO takes slabs. */
    uint32_t blocks[3];
} wf_mpi_himeno_params;

/* Chooses, cuts and allocates. Before any rank allocates, those that share a device compare what
 * they need of it with what it has. Collective. Errors: those of wf_himeno_create. */
WF_API wf_result wf_mpi_himeno_create(MPI_Comm comm, wf_device *device,
                                      const wf_mpi_himeno_params *params, wf_mpi_himeno **out);
/* Sets the benchmark's own start values. Collective. */
WF_API wf_result wf_mpi_himeno_start(wf_mpi_himeno *himeno);
/* Runs `iterations` (> 0, collective). All ranks get the gosa of the last one, which has the same
 * bits as that of one device with the same variant and constants, and the seconds of the slowest
 * rank by its host's clock. *times (may be NULL) are this rank's own. Collective. Errors:
 * WF_ERROR_INVALID_ARGUMENT, WF_ERROR_CANCELLED. */
WF_API wf_result wf_mpi_himeno_run(wf_mpi_himeno *himeno, uint32_t iterations, float *gosa,
                                   double *seconds, wf_mpi_times *times);
/* Copies p to the memory of rank `root` (collective), ni*nj*nk floats there; p is not used
 * elsewhere. Collective. */
WF_API wf_result wf_mpi_himeno_read(wf_mpi_himeno *himeno, int root, float *p);
/* Sets p, behind wf_mpi_himeno_start, from the memory of rank `root`, so that iterations go on from
 * there, on as many ranks as there are. Collective. */
WF_API wf_result wf_mpi_himeno_write(wf_mpi_himeno *himeno, int root, const float *p);
/* Tells what was chosen, and which inner planes this rank has; its size must be set. Of `info`
 * wavefit fills variant, chosen_by and constants, and the rest on ranks that have planes. */
WF_API wf_result wf_mpi_himeno_describe(const wf_mpi_himeno *himeno, wf_plan_info *info,
                                        uint32_t *first_plane, uint32_t *planes);
/* How the grid is cut. */
typedef struct wf_mpi_part {
    size_t size;
    uint32_t blocks[3]; /* along i, j and k */
    /* This rank's inner cells along them, first[axis] on; 0: it has none. */
    uint32_t first[3], cells[3];
} wf_mpi_part;
WF_API wf_result wf_mpi_himeno_part(const wf_mpi_himeno *himeno, wf_mpi_part *part);
/* How many neighbours' halos this rank's device reads where these left them, in memory that both
 * share; messages bring those of the others. */
WF_API uint32_t wf_mpi_himeno_shared(const wf_mpi_himeno *himeno);
/* Collective. */
WF_API void wf_mpi_himeno_destroy(wf_mpi_himeno **himeno);

/* ------------------------------------------------------------------------------------- stencils */

/* The grid of a star or box stencil, which is cut along its slowest axis (z, in two dimensions y)
 * into slabs, or along several axes into blocks, each rank's device updating one. */
typedef struct wf_mpi_stencil wf_mpi_stencil;

typedef struct wf_mpi_stencil_params {
    size_t size;
    /* Collective but for its tuning: the whole grid; `steps` are those of a run, as far as is
     * known. The tuning of the first rank that has planes chooses for all. Where not every device
     * can do what it chose, all take the variant naive, unless a variant is asked for. */
    const wf_stencil_params *grid;
    const double *weights; /* as those of wf_mpi_himeno_params */
    wf_log_fn log;         /* of what is not the device's to say; NULL: there is no log */
    void *log_user;
    uint32_t blocks[3]; /* as those of wf_mpi_himeno_params, along x, y and z */
} wf_mpi_stencil_params;

/* What a rank has of a grid. */
typedef struct wf_mpi_stencil_info {
    size_t size;
    uint32_t first_plane, planes;
    uint64_t plane_bytes;
    uint32_t steps;   /* most that a pass makes between two exchanges */
    uint32_t shared;  /* as wf_mpi_himeno_shared */
    wf_mpi_part part; /* along x, y and z, of which a grid of two dimensions has one plane */
} wf_mpi_stencil_info;

/* Chooses, cuts and allocates. Before any rank allocates, those that share a device compare what
 * they need of it with what it has. Collective. Errors: those of wf_stencil_plan. */
WF_API wf_result wf_mpi_stencil_create(MPI_Comm comm, wf_device *device,
                                       const wf_mpi_stencil_params *params, wf_mpi_stencil **out);
/* Sets this rank's planes, laid out as in wf_stencil_params, of a block its cells packed, and
 * exchanges boundary ones. Collective. */
WF_API wf_result wf_mpi_stencil_write(wf_mpi_stencil *stencil, const void *own);
/* Applies the stencil `steps` (> 0, collective) times. The grid has the bits that one device gives
 * it with the same variant. *seconds (may be NULL) are those of the slowest rank by its host's
 * clock, *times (may be NULL) this rank's own. Collective. Errors: WF_ERROR_INVALID_ARGUMENT,
 * WF_ERROR_CANCELLED. */
WF_API wf_result wf_mpi_stencil_run(wf_mpi_stencil *stencil, uint32_t steps, double *seconds,
                                    wf_mpi_times *times);
/* Copies this rank's planes, or cells. Blocks. Not collective. */
WF_API wf_result wf_mpi_stencil_read(wf_mpi_stencil *stencil, void *own);
/* Of `plan` (may be NULL; its size must be set) wavefit fills variant, chosen_by and constants. */
WF_API wf_result wf_mpi_stencil_describe(const wf_mpi_stencil *stencil, wf_mpi_stencil_info *info,
                                         wf_plan_info *plan);
/* Collective. */
WF_API void wf_mpi_stencil_destroy(wf_mpi_stencil **stencil);

/* ------------------------------------------------------------------------------------- laplace */

/* What a solve of Laplace's equation has come to: scalars, and this rank's rows of u. */
typedef struct wf_mpi_laplace_state {
    size_t size;
    uint32_t iterations; /* whole checks */
    double unit, norm;   /* |u| and |b| at the start */
    double mark;         /* the last square of |r| on the devices that was progress, */
    uint32_t mark_check; /* and its check */
    const void *u;
} wf_mpi_laplace_state;
typedef bool (*wf_mpi_laplace_keep_fn)(void *user, const wf_mpi_laplace_state *state);

/* A grid that is cut along y, each rank's device updating some consecutive rows. */
typedef struct wf_mpi_laplace wf_mpi_laplace;

typedef struct wf_mpi_laplace_params {
    size_t size;
    /* Collective but for its tuning, history and user: the whole grid. progress is called in each
     * check but a solve's first, on all ranks, with the outcome of the one before; where one rank's
     * returns false, all stop. stages must be NULL. With Jacobi the tuning of the first rank that
     * has rows chooses for all, as that of wf_mpi_stencil_params. */
    const wf_laplace_params *grid;
    const double *weights; /* as those of wf_mpi_himeno_params */
    wf_mpi_trace *trace;   /* NULL: not kept */
    wf_log_fn log;         /* of what is not the device's to say; NULL: there is no log */
    void *log_user;
    /* Collective: as those of wf_mpi_cg_params; iterations are rounded up to whole checks. */
    wf_mpi_laplace_keep_fn keep;
    uint32_t keep_every;
    double keep_seconds;
    void *keep_user;
} wf_mpi_laplace_params;

/* What a rank has of a grid. */
typedef struct wf_mpi_laplace_info {
    size_t size;
    uint32_t first_row, rows;
    uint32_t iterations;  /* most that a pass makes between two exchanges */
    uint32_t check_every; /* iterations */
    double omega;         /* of SOR */
    uint32_t shared;      /* as wf_mpi_himeno_shared */
} wf_mpi_laplace_info;

typedef struct wf_mpi_laplace_result {
    wf_laplace_status status;
    uint32_t iterations, checks;
    double residual; /* |r| / |b| at the last check */
    /* |r| / |b| of the u returned, computed by the hosts in long double; see wf_laplace_result for
     * when it makes a converged solve WF_LAPLACE_INACCURATE. */
    double true_residual;
    double seconds;      /* of the iterations, by the slowest rank's clock */
    wf_mpi_times times;  /* this rank's own, of all iterations */
    double keep_seconds; /* of what was given to `keep`; `seconds` has no part of them */
} wf_mpi_laplace_result;

/* Chooses, cuts and allocates. Before any rank allocates, those that share a device compare what
 * they need of it with what it has. Collective. Errors: those of wf_laplace_solve. */
WF_API wf_result wf_mpi_laplace_create(MPI_Comm comm, wf_device *device,
                                       const wf_mpi_laplace_params *params, wf_mpi_laplace **out);
/* Of `plan` (may be NULL; its size must be set) wavefit fills variant, chosen_by and constants. */
WF_API wf_result wf_mpi_laplace_describe(const wf_mpi_laplace *laplace, wf_mpi_laplace_info *info,
                                         wf_plan_info *plan);
/* Solves for u, of which each rank has its own rows, as wf_laplace_solve does: the iterations are
 * those of one device, and so are the bits of u after as many of them with the same variant.
 * Residuals are those of one device but for rounding. `from` (collective; NULL: there is none): it
 * goes on from what a solve of the same grid came to, on as many ranks as there are; iterations
 * count what was before. Of *result all ranks get the same, but for times. Collective. Errors:
 * WF_ERROR_CANCELLED (u is as far as the solve came), those of wf_laplace_solve. */
WF_API wf_result wf_mpi_laplace_solve(wf_mpi_laplace *laplace, const wf_mpi_laplace_state *from,
                                      void *u, wf_mpi_laplace_result *result);
/* Collective. */
WF_API void wf_mpi_laplace_destroy(wf_mpi_laplace **laplace);

/* ----------------------------------------------------------------------------- sparse matrices */

/* A sparse matrix whose rows are cut into blocks of consecutive ones, one for each rank. While the
 * elements of x that other ranks need are on their way, the device multiplies the rows that need
 * none. */
typedef struct wf_mpi_matrix wf_mpi_matrix;

typedef struct wf_mpi_matrix_params {
    size_t size;
    uint32_t rows, columns; /* collective; of the whole matrix */
    /* This rank's rows, and elements of x, are those behind the ranks' before it. They may be 0.
     * Over all ranks they add up to rows and columns. */
    uint32_t own_rows, own_columns;
    /* As those of wf_spmv_params, of this rank's rows; columns are counted in the whole matrix.
     * They are read during the call only. */
    const uint32_t *row_offsets; /* own_rows + 1 */
    const uint32_t *column_indices;
    const void *values;
    wf_type type;            /* collective; F32 or F64 */
    const wf_tuning *tuning; /* of the rows that need no other rank's elements */
    wf_log_fn log;           /* of what is not the device's to say; NULL: there is no log */
    void *log_user;
} wf_mpi_matrix_params;

/* What a rank has of a matrix. */
typedef struct wf_mpi_matrix_info {
    size_t size;
    uint32_t first_row, rows;
    uint32_t boundary_rows; /* those of them that need elements of other ranks */
    uint32_t received;      /* such elements */
    uint32_t sent;          /* elements that other ranks need, each counted for each of them */
    uint32_t neighbours;    /* ranks that it exchanges elements with */
    uint32_t shared;        /* those whose elements its device reads where they were packed */
} wf_mpi_matrix_info;

/* Works out which elements go where, converts and uploads. Before any rank allocates device memory,
 * those that share a device compare what they need of it with what it has. Collective. Errors:
 * those of wf_spmv_plan, WF_ERROR_INVALID_ARGUMENT (sizes that do not add up). */
WF_API wf_result wf_mpi_matrix_create(MPI_Comm comm, wf_device *device,
                                      const wf_mpi_matrix_params *params, wf_mpi_matrix **out);
/* `plan` (may be NULL) tells what was chosen for the rows that need no other rank's elements; where
 * there are none, for the others. The sizes of both must be set. */
WF_API wf_result wf_mpi_matrix_describe(const wf_mpi_matrix *matrix, wf_mpi_matrix_info *info,
                                        wf_plan_info *plan);
/* Its vectors are destroyed before. Collective. */
WF_API void wf_mpi_matrix_destroy(wf_mpi_matrix **matrix);

/* A vector of which each rank has its own elements: of x, as many as it has columns, or of y, as
 * many as it has rows. */
typedef struct wf_mpi_vector wf_mpi_vector;
typedef enum wf_mpi_side { WF_MPI_OF_COLUMNS = 0, WF_MPI_OF_ROWS = 1 } wf_mpi_side;

/* Elements are 0. Not collective, nor are the next two. */
WF_API wf_result wf_mpi_vector_create(wf_mpi_matrix *matrix, wf_mpi_side side, wf_mpi_vector **out);
/* These copy this rank's elements, of the matrix's type. They block. */
WF_API wf_result wf_mpi_vector_write(wf_mpi_vector *vector, const void *own);
WF_API wf_result wf_mpi_vector_read(const wf_mpi_vector *vector, void *own);
WF_API void wf_mpi_vector_destroy(wf_mpi_vector **vector);

/* Makes y = A x, `count` (> 0, collective) times. *seconds (may be NULL) are those of the slowest
 * rank by its host's clock, *times (may be NULL) this rank's own. Collective. Errors:
 * WF_ERROR_INVALID_ARGUMENT, WF_ERROR_CANCELLED. */
WF_API wf_result wf_mpi_spmv_run(wf_mpi_matrix *matrix, wf_mpi_vector *x, wf_mpi_vector *y,
                                 uint32_t count, double *seconds, wf_mpi_times *times);

/* ------------------------------------------------------------------------- conjugate gradients */

/* What a solve has come to, of b scaled to length one: scalars, and this rank's rows (own_rows
 * elements of the matrix's type) of its vectors. */
typedef struct wf_mpi_cg_state {
    size_t size;
    uint32_t iterations; /* an even number */
    double ru, alpha;
    const void *x, *r, *p, *s;
} wf_mpi_cg_state;
typedef bool (*wf_mpi_cg_keep_fn)(void *user, const wf_mpi_cg_state *state);

/* As wf_cg_solve: the same iteration, with one reduction (MPI_Iallreduce) in each. */
typedef struct wf_mpi_cg_params {
    size_t size;
    const wf_mpi_matrix_params *matrix; /* square; own_columns is own_rows */
    wf_precondition precondition;       /* collective; NONE or JACOBI */
    double tolerance;                   /* collective; of |r| / |b|; 0: 1e-6 in f32, 1e-10 in f64 */
    uint32_t max_iterations;            /* collective; 0: 1000 */
    /* Collective: the form of Ghysels and Vanroose 2014, in which the reduction goes on while the
     * next product is made. It takes three vectors more (five with a preconditioner), and rounding
     * keeps it from residuals as small as the other form's. */
    bool pipelined;
    double *history;     /* max_iterations elements: |r| / |b| of each iteration; NULL: not kept */
    wf_mpi_trace *trace; /* NULL: not kept */
    /* As that of wf_cg_params, in each iteration. Where one rank's returns false, all stop with
     * WF_ERROR_CANCELLED. */
    wf_cg_fn progress;
    void *user;
    /* Collective: gets on all ranks at once what the solve has come to, every keep_every iterations
     * (an odd number is made even) or, where that is 0, once keep_seconds have passed by rank 0's
     * clock. Where it returns false, all stop with WF_ERROR_CANCELLED. NULL: there is none. Not of
     * the pipelined form. */
    wf_mpi_cg_keep_fn keep;
    uint32_t keep_every;
    double keep_seconds;
    /* Collective: goes on from there, with the same matrix, preconditioner and b, on as many ranks
     * as there are. max_iterations, history and iterations count what was before. NULL: x = 0. Not
     * of the pipelined form. */
    const wf_mpi_cg_state *from;
    /* The devices work so long before the first iteration, so that `seconds` is that of devices at
     * their full clock; 0: they begin at once. */
    double warm_seconds;
} wf_mpi_cg_params;

typedef struct wf_mpi_cg_result {
    wf_cg_status status;
    uint32_t iterations;
    double residual; /* |r| / |b| as the iteration carries it along */
    /* |b - A x| / |b| by the hosts from the x returned, each its rows, in f64; see wf_cg_result for
     * when it makes a converged solve WF_CG_INACCURATE. */
    double true_residual;
    double seconds;     /* of the iterations, by the slowest rank's clock */
    wf_mpi_times times; /* this rank's own, of all iterations */
    wf_mpi_matrix_info part;
    wf_plan_info product;
    double keep_seconds; /* as that of wf_mpi_laplace_result */
} wf_mpi_cg_result;

/* Solves A x = b. b and x have own_rows elements; every rank's host needs memory for the whole x
 * besides. Of *result all ranks get the same, but for times, part and product. Collective. Errors:
 * those of wf_mpi_matrix_create, WF_ERROR_INVALID_ARGUMENT (the matrix is not square, an entry of
 * the diagonal is not positive, b is not finite), WF_ERROR_UNSUPPORTED (the preconditioner). */
WF_API wf_result wf_mpi_cg_solve(MPI_Comm comm, wf_device *device, const wf_mpi_cg_params *params,
                                 const void *b, void *x, wf_mpi_cg_result *result);

#ifdef __cplusplus
}
#endif

#endif
