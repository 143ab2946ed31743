/* The ranks of a run of the tool: rank 0 prints and writes, the others stay silent but where they
 * alone know what failed. */
#ifndef WFI_MPI_TOOL_RANKS_H
#define WFI_MPI_TOOL_RANKS_H

#include "io/results.h"
#include "tool/cli/session.h"
#include "wavefit/mpi.h"

typedef struct wfi_rank {
    int rank, count;
    bool prints;
    char selector[WF_MPI_SELECTOR];
    wfi_common common; /* this rank's: quiet and without files where it does not print */
    wfi_session session;
    wfi_result_rank *all; /* of all ranks, where it prints */
} wfi_rank;

/* wfi_options_parse on all ranks; rank 0 alone says what is wrong. Where `done` is not set, the
 * command goes on. */
int wfi_rank_parse(wfi_rank *rank, const wfi_command *command, int argc, char **argv, bool *done);
/* Opens each rank's device. All get the worst exit code. */
int wfi_rank_open(wfi_rank *rank);
void wfi_rank_close(wfi_rank *rank);

/* The log of libwavefit_mpi; user is the session. */
void wfi_rank_log(void *user, wf_log_level level, const char *text);
/* Has the lowest rank that has words for a failure print them, and returns the exit code. */
int wfi_rank_failed(wfi_rank *rank, wf_result result);
/* The exit code of a step that rank 0 makes for all; the worst one of a step of all. */
int wfi_rank_share(int code);
int wfi_rank_worst(int code);
/* How long the rank's device works before it is timed: GPUs that were idle run at a fraction of
 * their clock. */
double wfi_rank_warm_seconds(const wfi_rank *rank);
/* Whether ranks, which all ask alike, go on with that after `seconds` of it. Rank 0 says. */
bool wfi_rank_warms(const wfi_rank *rank, double seconds);
/* Of all ranks together. Collective. */
uint32_t wfi_rank_sum(uint32_t own);
/* The result that all ranks go on with: WF_SUCCESS only where each has it. */
wf_result wfi_rank_agree(wf_result result);

/* Collects what ranks had; microseconds are of an iteration. */
void wfi_rank_collect(wfi_rank *rank, const char *what, uint64_t first, uint64_t count,
                      const wf_mpi_times *times, double iterations, wfi_result_case *out);
/* The table of ranks. */
void wfi_rank_print(const wfi_result_case *c);

/* A vector to write; path NULL: none. */
typedef struct wfi_rank_output {
    const char *path;
    wf_type type;
    uint64_t count;
    const void *vector;
} wfi_rank_output;

/* Writes the vector and the results, where the rank prints, and returns the exit code. */
int wfi_rank_write(wfi_rank *rank, const wfi_rank_output *output, const wfi_result_case *c,
                   int argc, char **argv);

/* One weight a rank, separated by commas; NULL (text NULL): equal ones. */
int wfi_rank_weights(const wfi_rank *rank, const char *text, double **out);

#endif
