/* The time of a kernel on a GPU that is not here: by what its compiler says of it and by what is
 * published of the GPU. It tells orders, and says how far (bench/notes/other-devices.md#judge). */
#ifndef WFI_MODEL_PREDICT_H
#define WFI_MODEL_PREDICT_H

#include "wavefit/wavefit.h"

/* What is published of one product of a kind of GPUs. */
typedef struct wfi_data_sheet {
    const char *target;  /* "intel:dg2", as `--target` takes it; "nvidia:h100": for checks alone */
    const char *product; /* "Arc A770" */
    double units;        /* compute units */
    double lanes;        /* f32 multiply-adds of a unit in a clock */
    double clock_mhz;    /* at boost */
    double gbs;          /* of memory; 1e9 bytes a second */
    double f64_part;     /* multiply-adds in f64, as a part of those in f32; 0: it has none */
    const char *source;
} wfi_data_sheet;

/* The sheet of a target; NULL: there is none. */
const wfi_data_sheet *wfi_data_sheet_of(const char *target);

/* Parts of a time, each in microseconds as if it were alone; the time is that of the longest. */
typedef struct wfi_prediction {
    double us;
    double memory_us;     /* the least bytes, or those of work-groups through caches */
    double arithmetic_us; /* the algorithm's multiply-adds */
    double access_us;     /* loads and stores of work-items, spills among them */
    const char *set_by;   /* "memory", "arithmetic", "loads" */
    double peak_part;     /* of the time, that is arithmetic at the peak rate */
} wfi_prediction;

/* Instructions of the kernel as its compiler counts them; 0: not told. */
uint32_t wfi_instruction_count(const wf_kernel_info *kernel);

/* Occupancy: NULL where it is not known. False: the sheet does not tell enough, since it
 * has no rate of the type or of matrix units, which the variant uses. */
bool wfi_predict(const wfi_data_sheet *sheet, const wf_plan_info *plan, wf_type type,
                 const wf_occupancy *occupancy, wfi_prediction *out);

#endif
