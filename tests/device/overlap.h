/* What tests share of searches that time points while other kernels compile: a device whose
 * compilers are held back and whose clock counts dispatches, jobs that are counted, and what is
 * seen of a search. */
#ifndef WFI_TESTS_OVERLAP_H
#define WFI_TESTS_OVERLAP_H

#include <stdatomic.h>

#include "core/volk.h"
#include "tuning.h"

#define MOST_POINTS 512
#define GENERATION 16     /* of a search of all points */
#define SLOW_SECONDS 0.02 /* of a compiler that is slow to begin with */
#define HELD 2            /* the job whose compiler is held back */
#define HELD_LATER 8      /* likewise, behind the few points that a search begins with */

/* Where a process ends. */
typedef enum overlap_ending {
    NOWHERE,
    WHILE_OTHERS_COMPILE,
    WHERE_NONE_COMPILES,
    IN_A_COMPILER,
    /* Where a point is timed for longer, and the held job */
    WHILE_LATE_ONES_COMPILE, /* still compiles, */
    ONCE_LATE_ONES_COMPILED, /* or no longer does. */
} overlap_ending;

/* What a search is given, and what is seen of it. Jobs are counted as they are submitted. */
typedef struct overlap_watch {
    int held;       /* the job that does not compile before it is released; 0: none */
    int release_at; /* reports of points, by which it is; 0: a while after the search was ended */
    int stop_after; /* reports of points, by which it is told to end; 0: it is not */
    int release_after;        /* likewise points that came */
    int stop_again;           /* likewise of points that came again behind the job held later */
    bool reports_beside_held; /* no point is reported before the held job compiles */
    double slow;              /* seconds by which each job compiles later */
    overlap_ending ends;
    atomic_int submitted, running;  /* jobs */
    atomic_int compiling, compiled; /* of these, in the driver */
    atomic_int most_compiling;
    atomic_bool holds, released, waits_too_long, ended; /* holds: the held job compiles */
    atomic_int reports;                                 /* of any kind */
    bool release_by_another;                            /* the held job, by the end of another */
    double submitted_at;                                /* the last one */
    int most_ahead;   /* jobs that had compiled beyond the points that came */
    int opened;       /* kernels that were compiled where their plans were opened */
    atomic_int tried; /* reports of points */
    int beside;       /* those of them while a job compiled, */
    int beside_later; /* and all but the first */
    int early;        /* points that came again before others of their generation came at all */
    int again;        /* points that came again since the job was submitted that is held later */
    int beside_again; /* those of them, but for the first, while a job compiled */
    _Atomic(VkPipeline) held_kernel; /* of the held job; NULL: it is not compiled */
    int held_ran_at;                 /* points that had come when it ran first; 0: it did not */
    bool decides_beside;             /* a job compiled when the search came to decide */
    uint64_t dispatches;             /* since the clock was read */
    int told;                        /* reports of compiling */
    int count;                       /* points that came */
    char points[MOST_POINTS][256];
    char first[256], last[256];
} overlap_watch;

extern overlap_watch *seen; /* in memory that a process shares with those that it starts */

/* cmocka group fixtures: the folder, and what is seen. */
int overlap_setup(void **state);
int overlap_teardown(void **state);

double overlap_seconds(void);
void overlap_pause(double seconds);

/* A device of this type, by a clock of which all dispatches take the same time. */
wf_device *overlap_device(uint32_t type);
/* Nothing of a search may be left. */
void overlap_close(wf_device *device);

/* A clock that stands still; one that does so once points come again. */
VKAPI_ATTR VkResult VKAPI_CALL overlap_stand_still(VkDevice device, VkQueryPool pool,
                                                   uint32_t first, uint32_t count, size_t bytes,
                                                   void *data, VkDeviceSize stride,
                                                   VkQueryResultFlags flags);
VKAPI_ATTR VkResult VKAPI_CALL overlap_stand_still_later(VkDevice device, VkQueryPool pool,
                                                         uint32_t first, uint32_t count,
                                                         size_t bytes, void *data,
                                                         VkDeviceSize stride,
                                                         VkQueryResultFlags flags);

/* Counts a job that is submitted; runs one, and frees it. */
void *overlap_make_job(void (*run)(void *job), void *what);
void *overlap_run_job(void *job);
extern const wf_jobs overlap_threads; /* a thread for each */

/* A search of a small product; one of a single variant that does not time all points at once. */
wf_tune_params overlap_search(const wf_jobs *jobs);
wf_tune_params overlap_search_in_generations(void);
extern const wf_tuning overlap_naive;

/* Whether no report has told of the point. */
bool overlap_is_new(const char *point);
/* A point as reports tell it. */
void overlap_assert_text(const char *text, const char *variant, const wf_constant *constants,
                         uint32_t count);

#endif
