/* Shares of a grid: given, or by measured speed. */
#ifndef WFI_MPI_TOOL_BALANCE_H
#define WFI_MPI_TOOL_BALANCE_H

#include "ranks.h"

/* What a trial makes, once to warm up and once to be measured; whole passes for 1 to 4 iterations
 * a pass. */
#define WFI_BALANCE_ITERATIONS 12

typedef struct wfi_shares {
    const char *text; /* --weights */
    bool balance;
    double *weights; /* one a rank; NULL: equal shares */
} wfi_shares;

#define WFI_SHARES_OPTIONS(shares, things)                                                         \
    {"--weights", "W,W,…", &(shares)->text, NULL,                                                  \
     "how many of the " things " each rank gets, beside the others; 0: none (default: the same)"}, \
    {                                                                                              \
        "--balance", NULL, NULL, &(shares)->balance,                                               \
            "measure the devices first and give each rank as much as it is fast"                   \
    }

/* Reads the weights, or makes room for those that are measured. The exit code is that of all
 * ranks, whose arguments are the same. */
int wfi_shares_parse(const wfi_rank *rank, const char *command, wfi_shares *shares);
/* blocks: what --blocks says; NULL: slabs. */
int wfi_shares_check_blocks(const char *command, const wfi_shares *shares, const char *blocks);
/* Sets the weights by what each rank's device made a second; 0: it had nothing to do.
 * Collective. */
void wfi_shares_weigh(const wfi_rank *rank, double speed, wfi_shares *shares);
/* A line of the table's kind, where they were measured. */
void wfi_shares_print(const wfi_rank *rank, const wfi_shares *shares);
void wfi_shares_free(wfi_shares *shares);

#endif
