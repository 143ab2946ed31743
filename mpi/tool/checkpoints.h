/* When a run on many ranks keeps what it came to. */
#ifndef WFI_MPI_TOOL_CHECKPOINTS_H
#define WFI_MPI_TOOL_CHECKPOINTS_H

#include "checkpoint.h"
#include "ranks.h"

typedef struct wfi_checkpoints {
    const char *path;    /* NULL: nothing is kept */
    uint64_t iterations; /* between two; 0: seconds tell */
    double seconds;
    double last;    /* MPI_Wtime() of the last one, or of the start; rank 0's counts */
    uint32_t count; /* written by this run, */
    double taken;   /* in so many seconds, which the iterations' time has no part of */
} wfi_checkpoints;

/* Of --checkpoint and --every: "1000", "10min" or "30s"; NULL: ten minutes. */
int wfi_checkpoints_parse(const char *command, const char *path, const char *every,
                          wfi_checkpoints *out);

/* How many of `left` iterations to make before one may be due, by multiples of `unit` but for the
 * last ones; `pace`: seconds of one iteration, 0: not known. The same on all ranks. Collective. */
uint32_t wfi_checkpoints_next(const wfi_checkpoints *c, uint32_t done, uint32_t left, uint32_t unit,
                              double pace);
/* Whether one is due now that `done` iterations are made; the same on all ranks. Collective. */
bool wfi_checkpoints_due(const wfi_rank *rank, const wfi_checkpoints *c, uint32_t done,
                         uint32_t unit);

/* Rank 0 writes; one line of error and the exit code on all ranks. Collective. */
int wfi_checkpoints_write(const wfi_rank *rank, wfi_checkpoints *c, const wfi_checkpoint *what);
/* Adds to the results how many were written and what that took, or prints it; nothing where nothing
 * was to be kept. */
void wfi_checkpoints_add(const wfi_checkpoints *c, wfi_result_case *out);
void wfi_checkpoints_print(const wfi_checkpoints *c);
/* The variant and its constants, which bits depend on; taken, they are options of the rank, as if
 * they had been asked for. Names stay those of `info`, until the checkpoint is written. */
void wfi_checkpoints_add_point(const wf_plan_info *info, wfi_checkpoint *out);
bool wfi_checkpoints_take_point(const wfi_checkpoint *c, wfi_common *common);
/* Rank 0 reads a checkpoint of the family, and the others get its facts. Collective. */
int wfi_checkpoints_read(const wfi_rank *rank, const char *path, const char *family,
                         wfi_checkpoint *out);

#endif
