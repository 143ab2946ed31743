/* wavefit on many devices: a rank of MPI has a device, and the ranks of a communicator share a
 * problem. The conventions of wavefit/wavefit.h hold, and these besides:
 *  - Functions marked "collective" are called by all ranks of the communicator, in the same order.
 *    Where one rank fails, none waits for it: each returns an error, the failed one's own log has
 *    its words, and the object can only be destroyed.
 *  - A collective parameter is the same on all ranks.
 *  - MPI is initialised by the caller, for calls of the thread that calls these functions
 *    (MPI_THREAD_FUNNELED). They communicate on a duplicate of the caller's communicator, whose
 *    error handler stays in force: by default MPI ends all ranks when a message fails.
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

/* -------------------------------------------------------------------------------------- himeno */

/* A Himeno grid that is cut along k, each rank's device updating some consecutive planes. */
typedef struct wf_mpi_himeno wf_mpi_himeno;

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
} wf_mpi_himeno_params;

/* Seconds that this rank spent. */
typedef struct wf_mpi_times {
    size_t size;
    double inside;    /* the device relaxing planes and copying boundary ones; by its clock */
    double halo;      /* submitting that, and waking up behind it */
    double wait;      /* until the neighbours' planes had come */
    double reduction; /* adding gosa up */
} wf_mpi_times;

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
/* Tells what was chosen, and which inner planes this rank has; its size must be set. Of `info`
 * wavefit fills variant, chosen_by and constants, and the rest on ranks that have planes. */
WF_API wf_result wf_mpi_himeno_describe(const wf_mpi_himeno *himeno, wf_plan_info *info,
                                        uint32_t *first_plane, uint32_t *planes);
/* Collective. */
WF_API void wf_mpi_himeno_destroy(wf_mpi_himeno **himeno);

#ifdef __cplusplus
}
#endif

#endif
