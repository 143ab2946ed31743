/* The time of a kernel by quantities of a GPU's compute units that are published, and by what its
 * work-groups do. One formula, for the judgement of what compilers made (model/predict.h) and for
 * the choice where no rates were measured (kernels/matmul/published_time.h). */
#ifndef WFI_PROFILES_UNIT_TIME_H
#define WFI_PROFILES_UNIT_TIME_H

/* Of an execution, and of another dispatch that waits for the one before: measured on an H100
 * (bench/notes/matmul.md#shapes) and taken for every GPU. */
#define WFI_START_US 2.64
#define WFI_DISPATCH_US 3.27

/* What a GPU has. */
typedef struct wfi_units {
    double count;     /* compute units that hold whole work-groups */
    double lanes;     /* f32 multiply-adds of a unit in a clock */
    double clock_mhz; /* so many a microsecond */
    double memory_us; /* microseconds of a byte of memory */
} wfi_units;

/* What all work-groups of a kernel do together. */
typedef struct wfi_unit_work {
    double multiply_adds; /* in f32; others count as much longer as the unit takes for them */
    double shared_bytes;  /* that work-items read and write in shared memory */
    double passes;        /* wf_access.bank_passes */
    double bytes;         /* in memory, each load and store of a work-item, spilled registers too */
    double group_bytes;   /* in memory, each byte once a work-group */
    double least_bytes;   /* in memory, each byte once */
    double busy;          /* part of the lanes that have a place in the problem */
    double groups;        /* work-groups; 0: not counted */
    double items;         /* work-items of one; 0: not known */
    double subgroup;      /* lanes that run together, whole or not; 0: not known */
    double held;          /* work-groups that a unit holds; 0: not known */
} wfi_unit_work;

/* Microseconds, each as if it were alone. */
typedef struct wfi_unit_time {
    double memory;
    double arithmetic, access; /* access: of bytes through the units; with what they wait for */
    double units;              /* both: of a unit's work-groups one does little beside the other */
} wfi_unit_time;

wfi_unit_time wfi_time_of_units(const wfi_units *units, const wfi_unit_work *work);

#endif
