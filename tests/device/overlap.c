#include "overlap.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/pipeline_pool.h"

#define MOST_WAIT 60.0      /* seconds, after which a search that should go on does not */
#define DISPATCH_NS 1000000 /* by the clock of these tests; few are a sample */

overlap_watch *seen;
static _Thread_local int own_job;

double overlap_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void overlap_pause(double seconds)
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
    const double until = overlap_seconds() + MOST_WAIT;
    atomic_store(&seen->holds, true);
    while (!atomic_load(&seen->released) && !atomic_load(&seen->waits_too_long)) {
        overlap_pause(1e-3);
        if (overlap_seconds() > until)
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
        overlap_pause(seen->slow);
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
VKAPI_ATTR VkResult VKAPI_CALL overlap_stand_still(VkDevice device, VkQueryPool pool,
                                                   uint32_t first, uint32_t count, size_t bytes,
                                                   void *data, VkDeviceSize stride,
                                                   VkQueryResultFlags flags)
{
    (void)device, (void)pool, (void)first, (void)count, (void)stride, (void)flags;
    memset(data, 0, bytes);
    return VK_SUCCESS;
}

/* One that does so once points come again. */
VKAPI_ATTR VkResult VKAPI_CALL overlap_stand_still_later(VkDevice device, VkQueryPool pool,
                                                         uint32_t first, uint32_t count,
                                                         size_t bytes, void *data,
                                                         VkDeviceSize stride,
                                                         VkQueryResultFlags flags)
{
    return (seen->again > 0 ? overlap_stand_still : go_steadily)(device, pool, first, count, bytes,
                                                                 data, stride, flags);
}

wf_device *overlap_device(uint32_t type)
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

void overlap_close(wf_device *device)
{
    while (atomic_load(&seen->running)) /* a job is done a little before its thread */
        overlap_pause(1e-3);
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

void *overlap_run_job(void *memory)
{
    const job j = *(job *)memory;
    free(memory);
    own_job = j.number;
    j.run(j.job);
    own_job = 0;
    atomic_fetch_sub(&seen->running, 1);
    return NULL;
}

void *overlap_make_job(void (*run)(void *job), void *what)
{
    job *j = malloc(sizeof *j);
    assert_non_null(j);
    *j = (job){run, what, atomic_fetch_add(&seen->submitted, 1) + 1};
    atomic_fetch_add(&seen->running, 1);
    seen->submitted_at = overlap_seconds();
    return j;
}

static void submit_thread(void *user, void (*run)(void *job), void *what)
{
    pthread_t thread;
    (void)user;
    assert_int_equal(pthread_create(&thread, NULL, overlap_run_job, overlap_make_job(run, what)),
                     0);
    pthread_detach(thread);
}

/* ----------------------------------------------------------------------------------- the search */

bool overlap_is_new(const char *point)
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
    if (!overlap_is_new(progress->trying)) {
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
            overlap_pause(1e-3);
    }
}

/* No point is reported beside a compiler that ends the process, or before the held job compiles
 * where points are to be reported beside it: a search may have opened one earlier, and one that
 * ends then drops a job that waits. */
static bool is_too_early(void)
{
    return (seen->ends == IN_A_COMPILER && atomic_load(&seen->running)) ||
           (seen->reports_beside_held && !atomic_load(&seen->holds));
}

static void wait_for_jobs(void)
{
    const double until = overlap_seconds() + MOST_WAIT;
    while (is_too_early() && overlap_seconds() < until)
        overlap_pause(1e-3);
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
    wait_for_jobs();
    note_point(progress);
    release_held();
    const bool ends =
        seen->tried == seen->stop_after || (seen->stop_again && seen->again == seen->stop_again);
    atomic_store(&seen->ended, ends);
    return !ends;
}

static const wf_matmul_params product = {.size = sizeof product, .m = 33, .n = 20, .k = 17};
const wf_tuning overlap_naive = {.size = sizeof overlap_naive, .variant = "naive"};

wf_tune_params overlap_search(const wf_jobs *jobs)
{
    return (wf_tune_params){.size = sizeof(wf_tune_params),
                            .matmul = &product,
                            .budget_seconds = 600,
                            .seed = test_seed(),
                            .progress = note_progress,
                            .jobs = jobs};
}

void overlap_assert_text(const char *text, const char *variant, const wf_constant *constants,
                         uint32_t count)
{
    char own[256];
    size_t used = (size_t)snprintf(own, sizeof own, "%s", variant);
    for (uint32_t i = 0; i < count && used < sizeof own; i++)
        used += (size_t)snprintf(own + used, sizeof own - used, " %s=%u", constants[i].name,
                                 constants[i].value);
    assert_string_equal(own, text);
}

const wf_jobs overlap_threads = {.size = sizeof overlap_threads, .submit = submit_thread};

wf_tune_params overlap_search_in_generations(void)
{
    wf_tune_params params = overlap_search(&overlap_threads);
    params.within = &overlap_naive;
    return params;
}

int overlap_setup(void **state)
{
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return seen == MAP_FAILED ? -1 : test_tuning_setup(state);
}

int overlap_teardown(void **state)
{
    munmap(seen, sizeof *seen);
    return test_tuning_teardown(state);
}
