/* Points that a search times while the kernels of others compile: on a card whose own clock gives
 * the times, for which lavapipe is taken here, and nowhere else. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/pipeline_pool.h"
#include "core/volk.h"
#include "tuning.h"

#define MOST_POINTS 512
#define GENERATION 16       /* of a search of all points */
#define MOST_WAIT 60.0      /* seconds, after which a search that should go on does not */
#define SLOW_SECONDS 0.02   /* of a compiler that is slow to begin with */
#define IDLE_SECONDS 2      /* longer than a point takes */
#define BUDGET_SECONDS 4    /* of a search that does not come to its end */
#define DISPATCH_NS 1000000 /* by the clock of these tests; few are a sample */
#define HELD 2              /* the job whose compiler is held back */
#define HELD_LATER 8        /* likewise, behind the few points that a search begins with */

/* Where a process ends. */
typedef enum ending {
    NOWHERE,
    WHILE_OTHERS_COMPILE,
    WHERE_NONE_COMPILES,
    IN_A_COMPILER,
    /* Where a point is timed for longer, and the held job */
    WHILE_LATE_ONES_COMPILE, /* still compiles, */
    ONCE_LATE_ONES_COMPILED, /* or no longer does. */
} ending;

/* What a search is given, and what is seen of it. Jobs are counted as they are submitted. */
typedef struct watch {
    int held;       /* the job that does not compile before it is released; 0: none */
    int release_at; /* reports of points, by which it is; 0: a while after the search was ended */
    int stop_after; /* reports of points, by which it is told to end; 0: it is not */
    int release_after; /* likewise points that came */
    int stop_again;    /* likewise of points that came again behind the job held later */
    double slow;       /* seconds by which each job compiles later */
    ending ends;
    atomic_int submitted, running;  /* jobs */
    atomic_int compiling, compiled; /* of these, in the driver */
    atomic_int most_compiling;
    atomic_bool released, waits_too_long, ended;
    atomic_int reports;      /* of any kind */
    bool release_by_another; /* the held job, by the end of another */
    double submitted_at;     /* the last one */
    int most_ahead;          /* jobs that had compiled beyond the points that came */
    int opened;              /* kernels that were compiled where their plans were opened */
    atomic_int tried;        /* reports of points */
    int beside;              /* those of them while a job compiled, */
    int beside_later;        /* and all but the first */
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
} watch;

static watch *seen; /* in memory that a process shares with those that it starts */
static _Thread_local int own_job;

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void pause_for(double seconds)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(seconds * 1e9)}, NULL);
}

/* ----------------------------------------------------------------------------------- the device */

static struct {
    PFN_vkCreateComputePipelines create;
    PFN_vkCmdBindPipeline bind;
    PFN_vkCmdDispatch dispatch;
    PFN_vkGetQueryPoolResults query;
} real;

static void hold(void)
{
    const double until = seconds_now() + MOST_WAIT;
    while (!atomic_load(&seen->released) && !atomic_load(&seen->waits_too_long)) {
        pause_for(1e-3);
        if (seconds_now() > until)
            atomic_store(&seen->waits_too_long, true);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL create(VkDevice device, VkPipelineCache cache, uint32_t count,
                                             const VkComputePipelineCreateInfo *infos,
                                             const VkAllocationCallbacks *allocator,
                                             VkPipeline *pipelines)
{
    if (own_job == 0) { /* of a plan that the search opens */
        seen->opened++;
        return real.create(device, cache, count, infos, allocator, pipelines);
    }
    const int compiling = atomic_fetch_add(&seen->compiling, 1) + 1;
    if (compiling > atomic_load(&seen->most_compiling))
        atomic_store(&seen->most_compiling, compiling);
    if (seen->slow > 0)
        pause_for(seen->slow);
    if (seen->ends == IN_A_COMPILER)
        _exit(7);
    if (own_job == seen->held)
        hold();
    const VkResult result = real.create(device, cache, count, infos, allocator, pipelines);
    if (own_job == seen->held)
        atomic_store(&seen->held_kernel, pipelines[0]);
    atomic_fetch_add(&seen->compiled, 1);
    atomic_fetch_sub(&seen->compiling, 1);
    if (seen->release_by_another)
        atomic_store(&seen->released, true);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL bind(VkCommandBuffer commands, VkPipelineBindPoint point,
                                       VkPipeline pipeline)
{
    if (seen->held_ran_at == 0 && pipeline == atomic_load(&seen->held_kernel))
        seen->held_ran_at = seen->count;
    real.bind(commands, point, pipeline);
}

static VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y,
                                           uint32_t z)
{
    if (seen->ends == WHILE_OTHERS_COMPILE && seen->tried == 2 && atomic_load(&seen->compiling))
        _exit(7);
    if (seen->ends == WHERE_NONE_COMPILES && seen->tried > seen->count)
        _exit(7);
    if (seen->ends == WHILE_LATE_ONES_COMPILE && seen->again == 1)
        _exit(7);
    if (seen->ends == ONCE_LATE_ONES_COMPILED && seen->again == 2)
        _exit(7);
    seen->dispatches++;
    real.dispatch(commands, x, y, z);
}

/* A clock by which all dispatches take the same time, whatever else the processors do: what is
 * near the best comes again, which is all points then. */
static VKAPI_ATTR VkResult VKAPI_CALL go_steadily(VkDevice device, VkQueryPool pool, uint32_t first,
                                                  uint32_t count, size_t bytes, void *data,
                                                  VkDeviceSize stride, VkQueryResultFlags flags)
{
    const VkResult result = real.query(device, pool, first, count, bytes, data, stride, flags);
    uint64_t *ticks = data;
    ticks[1] = ticks[0] + seen->dispatches * DISPATCH_NS;
    seen->dispatches = 0;
    return result;
}

/* One that stands still. */
static VKAPI_ATTR VkResult VKAPI_CALL stand_still(VkDevice device, VkQueryPool pool, uint32_t first,
                                                  uint32_t count, size_t bytes, void *data,
                                                  VkDeviceSize stride, VkQueryResultFlags flags)
{
    (void)device, (void)pool, (void)first, (void)count, (void)stride, (void)flags;
    memset(data, 0, bytes);
    return VK_SUCCESS;
}

/* One that does so once points come again. */
static VKAPI_ATTR VkResult VKAPI_CALL stand_still_later(VkDevice device, VkQueryPool pool,
                                                        uint32_t first, uint32_t count,
                                                        size_t bytes, void *data,
                                                        VkDeviceSize stride,
                                                        VkQueryResultFlags flags)
{
    return (seen->again > 0 ? stand_still : go_steadily)(device, pool, first, count, bytes, data,
                                                         stride, flags);
}

static wf_device *open_device(uint32_t type)
{
    wf_device *device = test_tuning_device();
    real.create = device->fn.vkCreateComputePipelines;
    real.bind = device->fn.vkCmdBindPipeline;
    real.dispatch = device->fn.vkCmdDispatch;
    real.query = device->fn.vkGetQueryPoolResults;
    device->fn.vkCreateComputePipelines = create;
    device->fn.vkCmdBindPipeline = bind;
    device->fn.vkCmdDispatch = dispatch;
    device->fn.vkGetQueryPoolResults = go_steadily;
    device->caps.device_type = type;
    return device;
}

/* Nothing of a search may be left. */
static void close_device(wf_device *device)
{
    while (atomic_load(&seen->running)) /* a job is done a little before its thread */
        pause_for(1e-3);
    wfi_pool_clear(device);
    assert_null(device->pipelines);
    assert_null(device->objects);
    wf_device_destroy(&device);
}

/* ------------------------------------------------------------------------------------- the jobs */

typedef struct job {
    void (*run)(void *job);
    void *job;
    int number;
} job;

static void *run_job(void *memory)
{
    const job j = *(job *)memory;
    free(memory);
    own_job = j.number;
    j.run(j.job);
    own_job = 0;
    atomic_fetch_sub(&seen->running, 1);
    return NULL;
}

static job *make_job(void (*run)(void *job), void *what)
{
    job *j = malloc(sizeof *j);
    assert_non_null(j);
    *j = (job){run, what, atomic_fetch_add(&seen->submitted, 1) + 1};
    atomic_fetch_add(&seen->running, 1);
    seen->submitted_at = seconds_now();
    return j;
}

static void submit_thread(void *user, void (*run)(void *job), void *what)
{
    pthread_t thread;
    (void)user;
    assert_int_equal(pthread_create(&thread, NULL, run_job, make_job(run, what)), 0);
    pthread_detach(thread);
}

static void submit_now(void *user, void (*run)(void *job), void *what)
{
    (void)user;
    run_job(make_job(run, what));
}

/* One thread for all jobs, which runs them in their order. */
static struct {
    pthread_mutex_t lock;
    job *jobs[MOST_POINTS];
    int count;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void submit_queued(void *user, void (*run)(void *job), void *what)
{
    (void)user;
    job *j = make_job(run, what);
    pthread_mutex_lock(&queue.lock);
    queue.jobs[queue.count++] = j;
    pthread_mutex_unlock(&queue.lock);
}

static void *run_queued(void *ends)
{
    for (int next = 0; !atomic_load((atomic_bool *)ends);) {
        pthread_mutex_lock(&queue.lock);
        job *j = next < queue.count ? queue.jobs[next] : NULL;
        pthread_mutex_unlock(&queue.lock);
        if (j) {
            run_job(j);
            next++;
        } else {
            pause_for(1e-3);
        }
    }
    return NULL;
}

/* ----------------------------------------------------------------------------------- the search */

static bool is_new(const char *point)
{
    for (int i = 0; i < seen->count; i++)
        if (strcmp(seen->points[i], point) == 0)
            return false;
    return true;
}

/* A point comes again once all others of its generation have come. */
static void note_point(const wf_tune_progress *progress)
{
    const int compiling = atomic_load(&seen->compiling);
    const int ahead = atomic_load(&seen->compiled) - seen->tried;
    seen->most_ahead = ahead > seen->most_ahead ? ahead : seen->most_ahead;
    seen->beside += compiling > 0;
    seen->beside_later += compiling > 0 && seen->tried > 0;
    seen->tried++;
    snprintf(seen->tried == 1 ? seen->first : seen->last, sizeof seen->last, "%s",
             progress->trying);
    if (!is_new(progress->trying)) {
        seen->early += seen->count % GENERATION != 0 && seen->count != (int)progress->measured;
        seen->again += atomic_load(&seen->submitted) >= HELD_LATER;
        seen->beside_again += seen->again > 1 && compiling > 0;
    } else if (seen->count < MOST_POINTS)
        memcpy(seen->points[seen->count++], progress->trying, sizeof seen->points[0]);
}

static void release_held(void)
{
    if ((seen->release_at && seen->tried == seen->release_at) ||
        (seen->release_after && seen->count == seen->release_after))
        atomic_store(&seen->released, true);
    if (seen->ends == ONCE_LATE_ONES_COMPILED && seen->again == 1) {
        atomic_store(&seen->released, true);
        while (atomic_load(&seen->running))
            pause_for(1e-3);
    }
}

/* A search is told to end when all points have been measured, if not before. */
static bool note_progress(void *user, const wf_tune_progress *progress)
{
    (void)user;
    atomic_fetch_add(&seen->reports, 1);
    seen->told += strcmp(progress->stage, "compiling") == 0;
    if (strcmp(progress->stage, "deciding") == 0)
        seen->decides_beside = atomic_load(&seen->compiling) > 0;
    if (strcmp(progress->stage, "measuring") != 0)
        return strcmp(progress->stage, "deciding") != 0;
    note_point(progress);
    release_held();
    const bool ends =
        seen->tried == seen->stop_after || (seen->stop_again && seen->again == seen->stop_again);
    atomic_store(&seen->ended, ends);
    return !ends;
}

static const wf_matmul_params product = {.size = sizeof product, .m = 33, .n = 20, .k = 17};
static const wf_tuning naive = {.size = sizeof naive, .variant = "naive"};

static wf_tune_params search_of(const wf_jobs *jobs)
{
    return (wf_tune_params){.size = sizeof(wf_tune_params),
                            .matmul = &product,
                            .budget_seconds = 600,
                            .seed = test_seed(),
                            .progress = note_progress,
                            .jobs = jobs};
}

/* A point as reports tell it. */
static void assert_text(const char *text, const char *variant, const wf_constant *constants,
                        uint32_t count)
{
    char own[256];
    size_t used = (size_t)snprintf(own, sizeof own, "%s", variant);
    for (uint32_t i = 0; i < count && used < sizeof own; i++)
        used += (size_t)snprintf(own + used, sizeof own - used, " %s=%u", constants[i].name,
                                 constants[i].value);
    assert_string_equal(own, text);
}

static const wf_jobs threads = {.size = sizeof threads, .submit = submit_thread};

/* Measures all points that a variant has, each once before any of its generation again. */
static void search_all(wf_device *device, const wf_jobs *jobs)
{
    wf_tune_params params = search_of(jobs);
    wf_tune_result result = {.size = sizeof result};
    params.exhaustive = true;
    params.within = &naive;
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
    assert_true(result.legal > GENERATION && result.legal < MOST_POINTS);
    assert_int_equal(result.measured, result.legal);
    assert_int_equal(seen->count, result.legal);
    assert_int_equal(seen->early, 0);
    assert_int_equal(result.wrong, 0);
    assert_true(result.finished && result.best_us > 0);
}

/* As many at once as there are processors besides one, from 2 to 16. */
static int most_at_once(void)
{
    const int others = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
    return others < 2 ? 2 : others > 16 ? 16 : others;
}

/* One kernel does not come out of the compiler before three points have been measured. */
static void points_are_timed_while_others_compile(void **state)
{
    (void)state;
    memset(seen, 0, sizeof *seen);
    seen->held = HELD;
    seen->release_at = 3;
    wf_device *device = open_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    search_all(device, &threads);
    assert_false(atomic_load(&seen->waits_too_long));
    assert_true(seen->beside >= 3);
    assert_in_range(atomic_load(&seen->most_compiling), 2, most_at_once());
    assert_in_range(seen->opened, 0, 1); /* the problem's plan, which points have to wait for */
    close_device(device);
}

/* Where plans ask for several kernels, all of them are compiled ahead: of points that share a
 * reduction the opening of the problem's plan is the only one that compiles. */
static void all_kernels_of_a_plan_compile_ahead(void **state)
{
    (void)state;
    static const wf_matmul_params row = {.size = sizeof row, .m = 1, .n = 40, .k = 600};
    static const wf_constant split[] = {{"split_k", 2}, {"chunks", 1}, {"loads", 1}};
    static const wf_tuning matvec = {.size = sizeof matvec,
                                     .variant = "matvec",
                                     .constants = split,
                                     .constant_count = sizeof split / sizeof *split};
    memset(seen, 0, sizeof *seen);
    seen->stop_after = GENERATION;
    wf_device *device = open_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    wf_tune_params params = search_of(&threads);
    params.matmul = &row;
    params.within = &matvec;
    params.exhaustive = true;
    wf_tune_result result = {.size = sizeof result};
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
    assert_true(result.measured > GENERATION / 2);
    assert_true(atomic_load(&seen->compiled) > (int)result.measured); /* reductions, too */
    assert_in_range(seen->opened, 0, 1);
    close_device(device);
}

/* What would have been chosen without the search is timed first, though others are compiled
 * before. */
static void the_choice_before_comes_first(void **state)
{
    (void)state;
    memset(seen, 0, sizeof *seen);
    seen->held = 1;
    seen->release_by_another = true;
    seen->stop_after = 4;
    wf_device *device = open_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    wf_tune_params params = search_of(&threads);
    params.discard = true;
    wf_tune_result result = {.size = sizeof result};
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
    assert_false(atomic_load(&seen->waits_too_long));
    assert_text(seen->first, result.before.variant, result.before.constants,
                result.before.constant_count);
    close_device(device);
}

/* Elsewhere all kernels that were begun are compiled before a point is timed. */
static void nothing_compiles_where_it_would_disturb(void **state)
{
    (void)state;
    static const struct {
        uint32_t type;
        bool stamps, still;
    } kinds[] = {{VK_PHYSICAL_DEVICE_TYPE_CPU, true, false},
                 {VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU, true, false},
                 {VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, false, false},
                 {VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, true, true}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        memset(seen, 0, sizeof *seen);
        seen->slow = SLOW_SECONDS;
        seen->stop_after = 8;
        wf_device *device = open_device(kinds[i].type);
        if (!kinds[i].stamps)
            device->caps.timestamp_valid_bits = 0;
        if (kinds[i].still)
            device->fn.vkGetQueryPoolResults = stand_still;
        wf_tune_params params = search_of(&threads);
        params.discard = true;
        wf_tune_result result = {.size = sizeof result};
        assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
        assert_true(result.measured > 0);
        assert_true(atomic_load(&seen->compiled) >= 2 && seen->told > 0);
        /* What the clock is worth is known once a point was timed. */
        assert_int_equal(kinds[i].still ? seen->beside_later : seen->beside, 0);
        close_device(device);
    }
}

static void *release_later(void *unused)
{
    (void)unused;
    while (!atomic_load(&seen->ended))
        pause_for(1e-3);
    sleep(1);
    atomic_store(&seen->released, true);
    return NULL;
}

/* A search that is told to end waits for the kernel that is being compiled, and those behind it
 * never are. */
static void a_cancelled_search_drops_what_waits(void **state)
{
    (void)state;
    static const wf_jobs queued = {.size = sizeof queued, .submit = submit_queued};
    static atomic_bool ends;
    pthread_t worker, later;
    memset(seen, 0, sizeof *seen);
    seen->held = HELD;
    seen->stop_after = 1;
    wf_device *device = open_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    assert_int_equal(pthread_create(&worker, NULL, run_queued, &ends), 0);
    assert_int_equal(pthread_create(&later, NULL, release_later, NULL), 0);
    wf_tune_params params = search_of(&queued);
    params.exhaustive = true;
    params.within = &naive;
    wf_tune_result result = {.size = sizeof result};
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
    assert_true(atomic_load(&seen->released));
    assert_int_equal(result.measured, 0);
    assert_true(atomic_load(&seen->submitted) > HELD);
    assert_int_equal(atomic_load(&seen->compiled), HELD);
    close_device(device); /* once the jobs have run */
    assert_int_equal(atomic_load(&seen->compiled), HELD);
    atomic_store(&ends, true);
    pthread_join(worker, NULL);
    pthread_join(later, NULL);
}

/* A search of one variant, but not of all of its points at once. */
static wf_tune_params search_in_generations(void)
{
    wf_tune_params params = search_of(&threads);
    params.within = &naive;
    return params;
}

/* One kernel does not come out of the compiler before there were as many points as in several
 * generations. */
static void late_kernels_come_with_a_later_generation(void **state)
{
    (void)state;
    memset(seen, 0, sizeof *seen);
    seen->held = HELD_LATER;
    seen->release_after = 2 * GENERATION + HELD_LATER;
    wf_device *device = open_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    const wf_tune_params params = search_in_generations();
    wf_tune_result result = {.size = sizeof result};
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
    assert_false(atomic_load(&seen->waits_too_long));
    assert_true(seen->held_ran_at > seen->release_after);
    assert_int_equal(result.measured, seen->count);
    assert_int_equal(result.wrong, 0);
    assert_true(result.finished && !seen->decides_beside);
    close_device(device);
}

/* Releases the held job when a search has had nothing to tell for so long that it must wait. */
static void *release_once_idle(void *unused)
{
    (void)unused;
    for (int before = -1; atomic_load(&seen->reports) != before || before == 0;) {
        before = atomic_load(&seen->reports);
        sleep(IDLE_SECONDS);
    }
    atomic_store(&seen->released, true);
    return NULL;
}

/* A device whose job that is held later waits to be released. */
static wf_device *open_holding(void)
{
    memset(seen, 0, sizeof *seen);
    seen->held = HELD_LATER;
    return open_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
}

/* Searches while another thread releases the job, which it has done by the end of the search. */
static void search_beside(wf_device *device, const wf_tune_params *params,
                          void *(*release)(void *unused), wf_tune_result *result)
{
    pthread_t releasing;
    *result = (wf_tune_result){.size = sizeof *result};
    assert_int_equal(pthread_create(&releasing, NULL, release, NULL), 0);
    const wf_result code = wf_tune(device, params, result);
    const bool released = atomic_load(&seen->released);
    pthread_join(releasing, NULL); /* a test that fails leaves no thread to the next */
    assert_true(released);
    assert_int_equal(code, WF_ERROR_CANCELLED);
}

/* A search that has nothing else to measure waits for such a kernel, and measures its point. */
static void late_kernels_are_waited_for_at_last(void **state)
{
    (void)state;
    wf_device *device = open_holding();
    const wf_tune_params params = search_in_generations();
    wf_tune_result result;
    search_beside(device, &params, release_once_idle, &result);
    assert_false(atomic_load(&seen->waits_too_long));
    assert_true(seen->again > 0 && seen->held_ran_at > 0);
    assert_int_equal(result.measured, seen->count);
    assert_true(result.finished);
    close_device(device);
}

/* So does each generation of a search of all points, which come in no other. */
static void late_kernels_of_all_points_are_waited_for(void **state)
{
    (void)state;
    pthread_t releasing;
    wf_device *device = open_holding();
    assert_int_equal(pthread_create(&releasing, NULL, release_once_idle, NULL), 0);
    search_all(device, &threads);
    pthread_join(releasing, NULL);
    assert_false(atomic_load(&seen->waits_too_long));
    close_device(device);
}

/* Releases it once a search is past its time for measuring. */
static void *release_past_budget(void *unused)
{
    (void)unused;
    sleep(BUDGET_SECONDS);
    atomic_store(&seen->released, true);
    return NULL;
}

/* One whose time is over waits, too, before the best points run in turn. */
static void no_kernel_compiles_while_the_best_run_in_turn(void **state)
{
    (void)state;
    wf_device *device = open_holding();
    wf_tune_params params = search_in_generations();
    params.budget_seconds = BUDGET_SECONDS;
    wf_tune_result result;
    search_beside(device, &params, release_past_budget, &result);
    assert_true(atomic_load(&seen->submitted) >= HELD_LATER);
    assert_false(seen->decides_beside);
    assert_false(result.finished);
    close_device(device);
}

/* So does one that is told to end while points are timed for longer. */
static void a_cancelled_search_waits_for_late_kernels(void **state)
{
    (void)state;
    wf_device *device = open_holding();
    seen->stop_again = 1;
    const wf_tune_params params = search_in_generations();
    wf_tune_result result;
    search_beside(device, &params, release_later, &result);
    assert_false(atomic_load(&seen->waits_too_long));
    assert_int_equal(seen->again, 1);
    assert_int_equal(seen->held_ran_at, 0);
    close_device(device);
}

/* Nor does one compile any more where the clock turns out to be the host's meanwhile. */
static void late_kernels_are_waited_for_where_they_disturb(void **state)
{
    (void)state;
    wf_device *device = open_holding();
    seen->stop_again = 3;
    device->fn.vkGetQueryPoolResults = stand_still_later;
    const wf_tune_params params = search_in_generations();
    wf_tune_result result;
    search_beside(device, &params, release_once_idle, &result);
    assert_int_equal(seen->beside_again, 0);
    close_device(device);
}

/* Jobs that submit runs by itself are timed one by one. */
static void jobs_may_run_in_the_call(void **state)
{
    (void)state;
    static const wf_jobs now = {.size = sizeof now, .submit = submit_now};
    memset(seen, 0, sizeof *seen);
    seen->slow = SLOW_SECONDS;
    wf_device *device = open_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    search_all(device, &now);
    assert_true(atomic_load(&seen->submitted) > 2);
    assert_in_range(seen->most_ahead, 0, 1);
    close_device(device);
}

/* No kernel is begun that would come out of the compiler when no point is timed any more: the last
 * 15 % of the time are for the decision. */
static void no_kernel_is_begun_too_late(void **state)
{
    (void)state;
    const double budget = 4, slow = 0.4;
    memset(seen, 0, sizeof *seen);
    seen->slow = slow;
    wf_device *device = open_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    wf_tune_params params = search_of(&threads);
    params.budget_seconds = budget;
    params.exhaustive = true;
    params.within = &naive;
    wf_tune_result result = {.size = sizeof result};
    const double begun = seconds_now();
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
    assert_true(result.best_us > 0);
    assert_true(seen->submitted_at - begun < 0.85 * budget - 0.75 * slow);
    close_device(device);
}

/* ---------------------------------------------------------------------- processes that are lost */

static void lose_process(ending ends)
{
    memset(seen, 0, sizeof *seen);
    seen->ends = ends;
    const bool late = ends == WHILE_LATE_ONES_COMPILE || ends == ONCE_LATE_ONES_COMPILED;
    seen->held = late ? HELD_LATER : ends == WHILE_OTHERS_COMPILE ? HELD : 0;
    seen->slow = ends == IN_A_COMPILER ? SLOW_SECONDS : 0;
    const pid_t child = fork();
    if (child == 0) {
        wf_device *device = open_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
        const wf_tune_params params = late ? search_in_generations() : search_of(&threads);
        wf_tune_result result = {.size = sizeof result};
        wf_tune(device, &params, &result);
        _exit(1);
    }
    int status = 1;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* What the journal says: several, and the point that was being measured (NULL: none). */
static void assert_journal(bool several, const char *point)
{
    wfi_journal journal;
    wfi_tuning_data left;
    wf_device *device = test_tuning_device();
    assert_int_equal(wfi_journal_open(device, &journal, &left), WF_SUCCESS);
    assert_int_equal(journal.several, several);
    assert_int_equal(left.entry_count, point ? 1 : 0);
    if (point) {
        const wfi_tuning_entry *entry = &left.entries[0];
        assert_int_equal(entry->bad_count, 1);
        const wfi_named_point *bad = &entry->bad[0];
        wf_constant constants[WF_MAX_PARAMETERS];
        for (uint32_t i = 0; i < bad->count; i++)
            constants[i] = (wf_constant){bad->values[i].name, bad->values[i].value};
        assert_text(point, bad->variant, constants, bad->count);
        assert_true(entry->bad[0].suspected);
    }
    wfi_tuning_data_free(&left);
    wfi_journal_release(&journal);
    wf_device_destroy(&device);
}

/* A process that is lost while a point is measured and others compile may be lost by either. The
 * next search compiles one by one and leaves the point out, until another has run; then the point
 * has another chance, in which nothing else is to blame. */
static void a_lost_process_blames_point_and_compilers(void **state)
{
    (void)state;
    char lost[256];
    lose_process(WHILE_OTHERS_COMPILE);
    memcpy(lost, seen->last, sizeof lost);
    assert_journal(true, lost);
    memset(seen, 0, sizeof *seen);
    seen->stop_after = 20;
    wf_device *device = open_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    const wf_tune_params params = search_of(&threads);
    wf_tune_result result = {.size = sizeof result};
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
    assert_int_equal(atomic_load(&seen->submitted) + seen->told, 0);
    assert_string_not_equal(seen->first, lost);
    assert_false(is_new(lost));
    assert_int_equal(test_only_entry(device)->bad_count, 0);
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_COUNT), WF_SUCCESS);
    close_device(device);
}

/* Where nothing else compiles the point alone is to blame, and where none is measured no point. */
static void a_lost_process_blames_no_more(void **state)
{
    (void)state;
    lose_process(WHERE_NONE_COMPILES);
    assert_journal(false, seen->last);
    lose_process(IN_A_COMPILER);
    assert_journal(true, NULL);
}

/* By a search that ends. */
static void empty_journal(void)
{
    memset(seen, 0, sizeof *seen);
    seen->stop_after = 1;
    wf_device *device = open_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    const wf_tune_params params = search_in_generations();
    wf_tune_result result = {.size = sizeof result};
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
    close_device(device);
}

/* What compiles while points are timed for longer may be to blame as well, as long as it does. */
static void a_lost_process_blames_late_compilers(void **state)
{
    (void)state;
    lose_process(WHILE_LATE_ONES_COMPILE);
    assert_journal(true, seen->last);
    empty_journal();
    lose_process(ONCE_LATE_ONES_COMPILED);
    assert_journal(false, seen->last);
    empty_journal();
}

static int setup(void **state)
{
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return seen == MAP_FAILED ? -1 : test_tuning_setup(state);
}

static int teardown(void **state)
{
    munmap(seen, sizeof *seen);
    return test_tuning_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_timed_while_others_compile),
        cmocka_unit_test(all_kernels_of_a_plan_compile_ahead),
        cmocka_unit_test(the_choice_before_comes_first),
        cmocka_unit_test(nothing_compiles_where_it_would_disturb),
        cmocka_unit_test(a_cancelled_search_drops_what_waits),
        cmocka_unit_test(late_kernels_come_with_a_later_generation),
        cmocka_unit_test(late_kernels_are_waited_for_at_last),
        cmocka_unit_test(late_kernels_of_all_points_are_waited_for),
        cmocka_unit_test(no_kernel_compiles_while_the_best_run_in_turn),
        cmocka_unit_test(a_cancelled_search_waits_for_late_kernels),
        cmocka_unit_test(late_kernels_are_waited_for_where_they_disturb),
        cmocka_unit_test(jobs_may_run_in_the_call),
        cmocka_unit_test(no_kernel_is_begun_too_late),
        cmocka_unit_test(a_lost_process_blames_point_and_compilers),
        cmocka_unit_test(a_lost_process_blames_late_compilers),
        cmocka_unit_test(a_lost_process_blames_no_more),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
