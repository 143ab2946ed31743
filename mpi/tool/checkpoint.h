/* Checkpoint files of long runs: named numbers and words as JSON, and arrays behind them, all with
 * checksums. They appear whole or not at all, in place of the one before. */
#ifndef WFI_MPI_TOOL_CHECKPOINT_H
#define WFI_MPI_TOOL_CHECKPOINT_H

#include "io/results.h"

#define WFI_CHECKPOINT_FACTS 48
#define WFI_CHECKPOINT_ARRAYS 6

typedef struct wfi_checkpoint_array {
    const char *name;
    wf_type type; /* F32, F64 or F16 */
    uint64_t count;
    const void *data;
} wfi_checkpoint_array;

typedef struct wfi_checkpoint {
    uint32_t fact_count;
    wfi_fact facts[WFI_CHECKPOINT_FACTS];
    uint32_t array_count;
    wfi_checkpoint_array arrays[WFI_CHECKPOINT_ARRAYS];
    /* Of one that was read: where names and words are, and each array. */
    void *document, *memory[WFI_CHECKPOINT_ARRAYS];
} wfi_checkpoint;

/* They keep the pointers; what is over the maximum is left out. */
void wfi_checkpoint_number(wfi_checkpoint *c, const char *name, double number);
void wfi_checkpoint_word(wfi_checkpoint *c, const char *name, const char *text);
void wfi_checkpoint_array_add(wfi_checkpoint *c, const char *name, wf_type type, uint64_t count,
                              const void *data);

/* An array's type by its name; WF_TYPE_COUNT: there is none. */
wf_type wfi_checkpoint_type(const char *name);

/* CRC-32 of the bytes. */
unsigned long wfi_checkpoint_sum(const void *data, uint64_t bytes);

bool wfi_checkpoint_write(const char *path, const wfi_checkpoint *c, wfi_io_error *error);

/* Refuses files of other formats, and files whose sizes or checksums do not hold. */
bool wfi_checkpoint_read(const char *path, wfi_checkpoint *out, wfi_io_error *error);
void wfi_checkpoint_free(wfi_checkpoint *c);

/* NaN, NULL and NULL: there is none. */
double wfi_checkpoint_find(const wfi_checkpoint *c, const char *name);
const char *wfi_checkpoint_find_word(const wfi_checkpoint *c, const char *name);
const wfi_checkpoint_array *wfi_checkpoint_find_array(const wfi_checkpoint *c, const char *name);

#endif
