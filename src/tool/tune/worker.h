/* Searches run in a child process: a driver that crashes or hangs takes only that with it. */
#ifndef WFI_TOOL_TUNE_WORKER_H
#define WFI_TOOL_TUNE_WORKER_H

#include "tool/cli/session.h"
#include "tool/tune/suite.h"

/* What is asked of the device beforehand. */
typedef struct wfi_tune_device {
    bool cpu;
    char name[256], driver[256];
    wf_caps caps;
    char journal[1024]; /* where a search notes the point it tries; "": nowhere */
    bool guesses;       /* the model has rates of such devices, but none were measured here */
} wfi_tune_device;

/* What a comparison times beside each other. */
enum {
    WFI_RIVAL_MODEL,
    WFI_RIVAL_SHIPPED,  /* a row of the device or its architecture, else the model */
    WFI_RIVAL_LEFT_OUT, /* without the device's own rows */
    WFI_RIVAL_TUNED,
    WFI_RIVAL_TUNED_AGAIN,
    WFI_RIVAL_EXHAUSTIVE,
    WFI_TUNE_RIVALS
};

/* A choice with names of its own, which may go from process to process. */
typedef struct wfi_tuned_point {
    char variant[32]; /* "": none */
    char by[24];      /* who chose */
    uint32_t count;
    char names[WF_MAX_PARAMETERS][32];
    uint32_t values[WF_MAX_PARAMETERS];
    double us; /* 0: not measured */
} wfi_tuned_point;

/* "variant a=1 b=2" */
void wfi_tuned_point_text(const wfi_tuned_point *point, char *text, size_t bytes);

wfi_tuned_point wfi_tuned_point_of(const wf_plan_info *plan, double us);

/* What happened to one problem. */
typedef struct wfi_tune_outcome {
    wf_result result; /* WF_ERROR_CANCELLED also of what an interrupted run did not begin */
    bool done;        /* a search came to its end; else `error` says why not */
    char error[512];
    wfi_tuned_point before, best; /* best: also of a search that was cut short */
    double spread;
    uint32_t measured, wrong, spilling, drawn;
    uint64_t legal;
    uint64_t rows, columns, entries; /* of a matrix */
    bool searched;                   /* else it is what an earlier search kept */
    bool finished, kept;
    double rival_us[WFI_TUNE_RIVALS]; /* of a comparison */
    double rival_noise[WFI_TUNE_RIVALS];
    char rival_by[WFI_TUNE_RIVALS][24], rival_point[WFI_TUNE_RIVALS][224];
} wfi_tune_outcome;

typedef struct wfi_tune_work {
    const wfi_common *common;
    const wfi_tune_device *device;
    double budget_seconds;   /* of all problems together; exhaustive: of each */
    bool ends;               /* no problem begins when that time is up */
    double patience_seconds; /* a driver that says nothing for so long hangs */
    /* Of a comparison's exhaustive search; 0: thrice the budget, negative: there is none. */
    double all_seconds;
    bool exhaustive, again, discard;
    bool unless_kept; /* problems that have a row are left as they are */
    bool calibrates;  /* the model's rates are measured first */
    bool compare;     /* budget_seconds is of each search; nothing is kept */
    bool weigh;       /* nothing is searched: `before` is the choice without what was tuned here,
                       * `best` the one with it */
    uint32_t count;
    const wfi_case_problem *problems;
    wfi_tune_outcome *outcomes; /* filled */
} wfi_tune_work;

/* Runs all searches, starting anew behind a point that took the child with it; shows progress. On
 * Ctrl-C the child is told to end, and is ended if it does not: what was learned is kept.
 * Returns the tool's exit code and has printed one line when that is not WFI_EXIT_DONE. */
int wfi_tune_run(const wfi_tune_work *work);

/* Opens the device in a child, which tells. Returns the tool's exit code. */
int wfi_tune_probe(const wfi_common *common, wfi_tune_device *out);

#endif
