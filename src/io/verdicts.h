/* What `wavefit verify` found: JSON, schema "wavefit-verify/1", documented in docs/verify.md. */
#ifndef WFI_IO_VERDICTS_H
#define WFI_IO_VERDICTS_H

#include "io/results.h"

#define WFI_VERDICT_KERNELS 8
#define WFI_MOST_FINDINGS 32
#define WFI_MOST_VERDICT_KINDS 16

/* One case of the search. It has no memory of its own, so that it may lie in memory that two
 * processes share. */
typedef struct wfi_verdict {
    uint64_t number;
    wfi_status status;       /* UNSUPPORTED: no variant takes the problem on this device */
    int kind;                /* of problem, which its cases are counted by */
    wf_family family;        /* whose kernels it runs */
    const char *family_name; /* of the kind */
    wf_type type;
    char problem[384], reason[320];
    bool has_plan;
    wf_plan_info plan;
    uint32_t kernel_count;
    struct {
        const char *name;
        uint64_t hash;
    } kernels[WFI_VERDICT_KERNELS];
    wf_check check;
    char places[WF_CHECK_MISMATCHES][64]; /* of check.mismatches, in words */
    char repeat[512];                     /* the command that runs the case again */
} wfi_verdict;

typedef struct wfi_verdicts {
    int argc;
    char **argv;
    const wf_caps *caps; /* NULL: the device was never opened */
    uint64_t seed;
    double seconds;
    int kind_count;
    const char *kinds[WFI_MOST_VERDICT_KINDS]; /* names */
    uint64_t cases[WFI_MOST_VERDICT_KINDS], elements;
    uint64_t unsupported, failed; /* cases */
    uint32_t count;               /* of findings, at most WFI_MOST_FINDINGS */
    const wfi_verdict *findings;
} wfi_verdicts;

/* Writes the file; "-" is standard output. */
bool wfi_verdicts_write(const char *path, const wfi_verdicts *verdicts, wfi_io_error *error);

#endif
