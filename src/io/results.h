/* The results file: JSON, schema "wavefit-results/2", documented in bench/results.md. What is not
 * there is left out; a number is always finite. */
#ifndef WFI_IO_RESULTS_H
#define WFI_IO_RESULTS_H

#include "io/io_error.h"
#include "wavefit/wavefit.h"

#define WFI_RESULTS_SCHEMA "wavefit-results/2"
#define WFI_RESULTS_OLD_SCHEMA "wavefit-results/1" /* is read too (io/old_results.h) */
#define WFI_MAX_PROBLEM 8

typedef enum wfi_status {
    WFI_STATUS_OK = 0,      /* ran and was verified */
    WFI_STATUS_FAILED,      /* ran, and the check did not hold */
    WFI_STATUS_UNSUPPORTED, /* the device lacks something; reason */
    WFI_STATUS_SKIPPED,     /* not run, by choice; reason */
    WFI_STATUS_ERROR,       /* the run failed; reason */
    WFI_STATUS_CANCELLED    /* interrupted; reason */
} wfi_status;

const char *wfi_status_name(wfi_status status);

/* One number or word that names the problem, as {"m", 1000}. */
typedef struct wfi_fact {
    const char *name;
    const char *text; /* NULL: the number */
    double number;
} wfi_fact;

/* Where a case stands in a study of several (ladder, sweep). */
typedef struct wfi_result_study {
    const char *kind; /* NULL: the case stands alone; "ladder", "sweep" */
    uint32_t step;    /* from 1 */
    const char *summary, *source;
    const char *rung;            /* ladder: the step's name */
    const char *figure;          /* what its text measured */
    const char *compared_with;   /* the rung that it gains over; NULL: none */
    double gain;                 /* NaN: none */
    double gain_low, gain_high;  /* the least and the most by the quartiles of the two times */
    bool unsure;                 /* these overlap */
    bool other_clock;            /* one is of the device's clock, the other of the host's */
    bool smaller;                /* the text's constants do not fit the device */
    char lanes[112], parts[224]; /* ladder: lanes without work; times of the parts; "": not told */
    double lanes_idle;           /* fraction; NaN: not told */
    const char *over;            /* the parameter swept */
    double value;                /* its value; for "work-group" the work-items of one */
} wfi_result_study;

/* One piece of advice of `wavefit explain`. */
typedef struct wfi_result_advice {
    const char *rule;
    char text[420], command[240];
    double gain; /* at most so many times faster */
} wfi_result_advice;

/* Where the time of a single call goes, microseconds; 0: not measured. */
typedef struct wfi_result_timeline {
    double upload_us, submit_us, execute_us, download_us;
} wfi_result_timeline;

/* What a command is at. */
typedef enum wfi_stage {
    WFI_STAGE_READ,     /* files, and operands made or converted */
    WFI_STAGE_DEVICE,   /* the driver opened, and tried out where it was not yet */
    WFI_STAGE_ANALYSIS, /* choices, a matrix's conversion and its way to the device, pipelines */
    WFI_STAGE_UPLOAD,
    WFI_STAGE_RUN,
    WFI_STAGE_DOWNLOAD,
    WFI_STAGE_CHECK,
    WFI_STAGE_TIME, /* the same again and again */
    WFI_STAGE_WRITE,
    WFI_STAGE_COUNT
} wfi_stage;

const char *wfi_stage_name(wfi_stage stage);

/* Seconds from operands in host memory to the answer in host memory; 0: no stage was timed. */
double wfi_stages_whole(const double seconds[WFI_STAGE_COUNT]);

/* Bytes of one execution by `wavefit explain`; 0: not counted, NaN: not measured. */
typedef struct wfi_result_bytes {
    double requested, stored, shared_requested, groups; /* as in wf_plan_info */
    double waves; /* each byte once a wave of `wave_groups` work-groups */
    double wave_groups;
    double least; /* of memory; 0: nothing is known */
    /* What the measured ceilings move in the time that it took. */
    double memory_most, cache_most, shared_most;
} wfi_result_bytes;

/* The same problem on the machine's own cores, by plain C (`wavefit bench --host`). */
typedef struct wfi_result_host {
    bool asked, verified, openmp;
    uint32_t threads, samples; /* samples 0: not timed; reason */
    double median_us, spread;
    wf_check check;
    char reason[96];
} wfi_result_host;

/* One kernel of the plan that `wavefit explain` looked at. */
typedef struct wfi_result_kernel {
    wf_plan_kernel kernel;
    double us;        /* that its dispatches take in one execution, each by itself */
    double occupancy; /* NaN: not known */
    const char *occupancy_limit;
} wfi_result_kernel;

/* Whether a number of a driver says something of the kernel: hashes do not, nor does a count or a
 * size past 32 bits, which is memory that the driver never wrote. */
bool wfi_statistic_means(const wf_statistic *statistic);

/* One measured ceiling. */
typedef struct wfi_result_peak {
    const char *name, *unit;
    wfi_status status;
    char reason[160];
    wf_peak peak;
} wfi_result_peak;

/* A stage of one iteration, since the first rank began with it. */
typedef struct wfi_result_span {
    uint32_t stage; /* a wf_mpi_stage */
    double begin_us, end_us;
} wfi_result_span;

#define WFI_MAX_SPANS 16

/* What one rank of MPI had of the case, and where its time went in an iteration. */
typedef struct wfi_result_rank {
    char host[64], device[256], driver[256];
    const char *what; /* what `first` and `count` count: "planes" */
    uint64_t first, count;
    double inside_us, halo_us, wait_us, reduction_us;
    uint32_t span_count;
    wfi_result_span spans[WFI_MAX_SPANS]; /* of the iteration that the timeline shows */
} wfi_result_rank;

/* One case. Text members may be NULL; numbers not there are NaN (wfi_result_case_init). */
typedef struct wfi_result_case {
    const char *family;
    char name[96]; /* short, for tables: "1000x2000x3000" */
    uint32_t fact_count;
    wfi_fact facts[WFI_MAX_PROBLEM];
    const char *type;
    wfi_status status;
    char reason[512]; /* "" when there is none */
    bool has_plan;
    wf_plan_info plan;
    bool has_timing;
    wf_timing timing;
    double rate; /* in rate_unit */
    const char *rate_unit;
    double gbs;     /* effective bandwidth */
    double percent; /* of percent_of */
    const char *percent_of;
    bool has_check;
    wf_check check;
    const char *checked_how; /* what else was compared; NULL: nothing */
    double floor_us;         /* least time by the measured ceilings */
    const char *floor_by;    /* "memory" or "arithmetic" */
    double occupancy; /* fraction of the subgroups that a compute unit can keep; an estimate */
    const char *occupancy_limit, *occupancy_source;
    uint32_t history_count; /* cg: |r| / |b| of each iteration */
    const double *history;
    wfi_result_study study;
    wfi_result_timeline timeline;
    double stages[WFI_STAGE_COUNT]; /* seconds of this process; 0: none */
    wfi_result_bytes bytes;
    wfi_result_host host;
    uint32_t advice_count;
    const wfi_result_advice *advice;
    uint32_t kernel_count; /* explain: of the plan; plan.kernel is the one that takes the time */
    const wfi_result_kernel *kernels;
    bool kernels_gpu_clock;
    uint32_t extra_count; /* results special to a family: gosa, score, … */
    wfi_fact extras[WFI_MAX_PROBLEM];
    uint32_t rank_count; /* 0: it did not run under MPI */
    const wfi_result_rank *ranks;
    uint32_t blocks[3]; /* of a grid that ranks share, along i, j and k; 0: it is not cut */
    const struct wfi_sustained *sustained; /* NULL: not a sustained run */
    const struct wfi_result_tuned *tuned;  /* NULL: not a search */
} wfi_result_case;

void wfi_result_case_init(wfi_result_case *c, const char *family);
void wfi_result_case_fact(wfi_result_case *c, const char *name, double number);
void wfi_result_case_extra(wfi_result_case *c, const char *name, double number);

/* A stretch of a sustained run. */
typedef struct wfi_window {
    double start, seconds; /* since the run began, and how long */
    double rate;           /* NaN: a pause */
} wfi_window;

/* A sustained run; rates in the case's unit, NaN where there is too little to say. */
typedef struct wfi_sustained {
    double asked_seconds, work_seconds, pause_seconds; /* pause 0: without pauses */
    double first, best;                                /* of the first second, of any window */
    double settled;        /* median of the last quarter of the windows */
    double settled_spread; /* (most - least) / median there */
    double slower_at;      /* seconds from which on it ran below 95 % of its best */
    uint32_t count;
    const wfi_window *windows;
} wfi_sustained;

/* What a search came to; the case's plan and time are of what it found. */
typedef struct wfi_result_tuned {
    wf_plan_info before;          /* chosen without the search */
    double before_us;             /* NaN: not timed */
    uint32_t tried, bad, spilled; /* points timed, wrong or failing, and left untimed */
    uint64_t legal;               /* points there are; 0: not counted */
    bool finished;                /* no better point was in reach */
    bool kept, interrupted;
} wfi_result_tuned;

typedef struct wfi_results {
    int argc;
    char **argv;
    const wf_caps *caps;
    double copy_bandwidth; /* bytes/s; NaN: not measured */
    double fma_f32;        /* flops/s; NaN: not measured */
    uint32_t case_count;
    const wfi_result_case *cases;
    uint32_t peak_count; /* of `wavefit peaks` */
    const wfi_result_peak *peaks;
    uint64_t seed; /* of random inputs */
} wfi_results;

/* Writes the file; "-" is standard output. */
bool wfi_results_write(const char *path, const wfi_results *results, wfi_io_error *error);

/* The list of devices as JSON (schema "wavefit-devices/1"). */
bool wfi_devices_write(const char *path, const wf_caps *caps, uint32_t count, wfi_io_error *error);

/* Checks that a file is a results file of this schema and whole; *cases gets how many it has. */
bool wfi_results_validate(const char *path, uint32_t *cases, wfi_io_error *error);

#endif
