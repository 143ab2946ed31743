/* One search: its state, and the steps it is made of. */
#ifndef WFI_TUNE_SEARCH_H
#define WFI_TUNE_SEARCH_H

#include "choose/store.h"
#include "core/compile.h"
#include "plan/hooks.h"
#include "tune/learn.h"
#include "tune/trial.h"

#define WFI_ELITE WFI_TUNING_BEST

typedef struct wfi_candidate {
    wfi_point point;
    wfi_named_point named;
    uint64_t hash;
    bool verified;
    bool wide;      /* drawn from the whole space */
    bool spills;    /* left untimed for it */
    double seconds; /* median of one execution; 0: not measured */
    double spread;
    double expected; /* by the model, where points are ordered by it */
    /* Of its kernels, until its turn comes. */
    uint32_t compile_count;
    wfi_compile *compiles[WFI_MOST_LISTED];
} wfi_candidate;

/* A list in which no point stands twice. */
typedef struct wfi_pool {
    uint32_t count, room;
    uint32_t begun; /* of its items, the first: their kernels were begun */
    wfi_candidate *items;
} wfi_pool;

typedef struct wfi_search {
    wf_device *device;
    const wf_tune_params *params;
    wf_tuning within; /* what all points must have; variant NULL: any */
    wf_tune_result *result;
    wfi_trial trial;
    wfi_tuning_entry entry; /* what is learned */
    wfi_journal journal;
    wfi_candidate incumbent;        /* the choice before the search */
    wfi_candidate elite[WFI_ELITE]; /* all verified */
    uint32_t elite_count;
    wfi_candidate *leaders; /* the fastest looked at of each variant; seconds 0: none yet */
    wfi_learned *learned;
    uint32_t waited; /* how many of those for later have been tried */
    uint32_t drawn;  /* points of the whole space, tried since the last better one was found */
    bool refined; /* no neighbour of the elite is better: wide draws and points near it are left */
    uint32_t next_variant; /* whose best the next generation looks around first */
    uint64_t random;
    double begun, measure_until, decide_until, kept_at;
    double late;     /* what first runs took of late beyond the second: drivers compile there too */
    double ran_at;   /* when the device last ended a run; it idles since */
    uint32_t steady; /* warmings in a row at whose end runs took as long as at their beginning */
    double steady_idle; /* the longest that the device had idled before one of these */
    double settled_at;  /* when the elite's times were last taken anew, and how long that took */
    double settling;
    double fraction;           /* of an exhaustive search's points */
    uint32_t compiled_at_once; /* kernels compiled at once; 0: none were yet */
    double compile_seconds;    /* that a kernel took which compiled while others were timed */
    bool one_by_one;           /* a search did not outlive compiling several kernels at once */
    bool cancelled;
    bool known;          /* a current row of this very problem is kept */
    bool tries_suspects; /* it has nothing else left to try */
    bool
        acquitted; /* points that were passed over are not bad after all: the search begins again */
    bool warned;   /* that nothing can be kept */
    wf_result broken; /* a failure that ends the search: the device was lost */
} wfi_search;

/* progress.c */
bool wfi_search_goes_on(const wfi_search *s);
/* Tells the callback; false: it cancels. */
bool wfi_search_report(wfi_search *s, const char *stage, const wfi_named_point *trying);
void wfi_search_keep(wfi_search *s);

/* compile_ahead.c: compiles the kernels of candidates as the caller's jobs, so that opening their
 * plans finds them, and sees to it that none is being compiled for pool->items[at], which is
 * measured next. Those before it have been, and those from pool->begun on have not been looked at.
 * Where compiling disturbs no times the kernels of others may still compile, and the one that is
 * compiled first comes first. False: those from `at` on are late, a few whose kernels all still
 * compile; they had better be measured with the next generation. */
bool wfi_search_compile(wfi_search *s, wfi_pool *pool, uint32_t at);
/* Before a point is measured for longer: the kernels of those from `late` on may still compile. */
void wfi_search_compile_late(wfi_search *s, wfi_pool *pool, uint32_t late);
/* Once no more of them are measured: gives up what is not compiled, and waits for what is being
 * compiled. */
void wfi_search_compile_end(wfi_search *s, wfi_pool *pool);

/* sample.c: the time of one execution, from samples whose number doubles with each rung; a point
 * far behind the best is looked at once. */
wf_result wfi_search_sample(wfi_search *s, wfi_runner *runner, uint32_t rung,
                            wfi_candidate *candidate);
/* Times the best point anew where that is due, and scales the times of the elite by the change:
 * a clock that fell, or other work on the machine, must not make points timed from now on look
 * slower than those before. */
void wfi_search_settle(wfi_search *s);
/* A candidate stays in the race as long as it takes at most so many times the best one's time. */
double wfi_search_margin(const wfi_search *s);

/* measure.c: tries the candidate for a time that doubles with each rung, and verifies it where that
 * makes it one of the best. False: it is of no use. */
bool wfi_search_measure(wfi_search *s, wfi_candidate *candidate, uint32_t rung);
/* Measures all of them, then the better half longer, and so on; the best join the elite. Those that
 * are late stay in the pool. */
void wfi_search_halve(wfi_search *s, wfi_pool *pool);

/* decide.c: the interleaved re-run of the elite and the incumbent; fills s->result. */
wf_result wfi_search_decide(wfi_search *s);

/* decide.c: the work of wf_tune_compare. */
wf_result wfi_search_compare(wfi_search *s, const wf_tuning *tunings, uint32_t count,
                             wf_plan_info *infos, double *us, double *noise);

/* points.c */
void wfi_pool_free(wfi_pool *pool);
/* The legal point with what is held that differs from the model's in the fewest values, at most
 * four; false: there is none. */
bool wfi_points_first(const wfi_search *s, wfi_point *out);
/* Lists the points where the search begins, and those of which a few are tried a generation. */
void wfi_points_start(wfi_search *s, wfi_pool *pool, wfi_pool *later);
/* Adds up to `most` points not tried yet: some of `later`, points drawn from the whole space, then
 * points that differ from the elite in one value, then in two or three; once the search is refined,
 * none of the first, and more of the others. */
void wfi_points_around(wfi_search *s, uint32_t most, wfi_pool *later, wfi_pool *pool);
/* All legal points in random order, or `most` drawn from them; returns how many there are. */
uint64_t wfi_points_all(wfi_search *s, uint32_t most, wfi_pool *pool);

#endif
