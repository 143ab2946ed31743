/* What the models of sparse products know of kinds of devices. */
#ifndef WFI_PROFILES_SPMV_H
#define WFI_PROFILES_SPMV_H

#include "profiles/profile.h"

/* What a variant takes where instructions are what costs, in loads of a work-item's loop. */
typedef struct wfi_spmv_cost {
    double row;    /* of a row besides its entries */
    double entry;  /* of an entry */
    double spread; /* of the wait of rows for longer neighbours, by the rows' deviation */
    double empty;  /* that an empty row saves of `row` */
    /* In f32, of an entry of the longest row, which one processor multiplies while the others go
     * on; 0: several share it, or this was not measured. */
    double alone;
} wfi_spmv_cost;

typedef struct wfi_spmv_costs {
    wfi_spmv_cost row, lanes, shared, add, quads;
    wfi_spmv_cost row_many; /* for each right-hand side; 0: not weighed */
    wfi_spmv_cost shuffled; /* of sliced, which adds up by shuffles; of equal where slot is 0 */
    /* Of equal in f32 and f64: a slot of a row, padding or not, and an entry of a row that several
     * work-groups share. */
    double slot[2], shared_entry[2];
    double sliced_row[2]; /* likewise, of rows that share the slots of a lane */
} wfi_spmv_costs;

typedef struct wfi_spmv_profile {
    /* NULL: memory is what costs, and models count loads; else these are the times of variants,
     * and those that are made to hide latency are not weighed. */
    const wfi_spmv_costs *costs;
    double scatter_most;    /* the most transactions more that lanes apart in memory cost a load */
    double blocked_scatter; /* transactions a load of variant blocked */
    double adaptive_entry;  /* loads an entry of variant adaptive takes */
    double merge_step;      /* loads a row or entry of variant merge takes */
    bool shares_rows;       /* subgroups of a work-group gain by sharing a long row */
    /* Compilers spill the slices of `sliced`, and of `equal` and `stream` where a work-item has
     * more than so many words of a load under way. */
    bool few_registers;
    uint32_t most_load_words;
    uint32_t slice_loads; /* loads of a slice; 0: as the matrix fills the device */
    /* First-level cache that a compute unit has for gathers beside some shared memory, where rows
     * were seen to share it; 0: not known. */
    uint64_t gather_cache;
    /* Entries of a matrix up to which variant equal is faster than sliced: about those that are
     * under way at once. */
    uint64_t equal_entries_f32, equal_entries_f64;
    /* Kernels that count segments need memory barriers beside the atomic operation; else that
     * operation acquires and releases itself. */
    bool fences;
    /* Entries from which shaders are faster than the host at analysing and converting a matrix of
     * the host's, with bringing it to the device and compiling them; 0: never, nor for one in
     * device memory. And those from which they are faster once they are compiled. */
    uint64_t device_entries, compiled_entries;
    /* Iterations of a solver's first submission, where expected times are too rough to tell how
     * many fit; 0: as many as the expected time allows. */
    uint32_t first_batch;
} wfi_spmv_profile;

/* The row for the device; never NULL. */
const wfi_spmv_profile *wfi_spmv_profile_of(const wf_caps *caps);

#endif
