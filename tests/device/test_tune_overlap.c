/* Points that a search times while the kernels of others compile: on a card whose own clock gives
 * the times, for which lavapipe is taken here, and nowhere else. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "overlap.h"

#define IDLE_SECONDS 2   /* longer than a point takes */
#define BUDGET_SECONDS 4 /* of a search that does not come to its end */

static void submit_now(void *user, void (*run)(void *job), void *what)
{
    (void)user;
    overlap_run_job(overlap_make_job(run, what));
}

/* One thread for all jobs, which runs them in their order. */
static struct {
    pthread_mutex_t lock;
    void *jobs[MOST_POINTS];
    int count;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void submit_queued(void *user, void (*run)(void *job), void *what)
{
    (void)user;
    void *j = overlap_make_job(run, what);
    pthread_mutex_lock(&queue.lock);
    queue.jobs[queue.count++] = j;
    pthread_mutex_unlock(&queue.lock);
}

static void *run_queued(void *ends)
{
    for (int next = 0; !atomic_load((atomic_bool *)ends);) {
        pthread_mutex_lock(&queue.lock);
        void *j = next < queue.count ? queue.jobs[next] : NULL;
        pthread_mutex_unlock(&queue.lock);
        if (j) {
            overlap_run_job(j);
            next++;
        } else {
            overlap_pause(1e-3);
        }
    }
    return NULL;
}

/* Measures all points that a variant has, each once before any of its generation again. */
static void search_all(wf_device *device, const wf_jobs *jobs)
{
    wf_tune_params params = overlap_search(jobs);
    wf_tune_result result = {.size = sizeof result};
    params.exhaustive = true;
    params.within = &overlap_naive;
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
    seen->reports_beside_held = true;
    wf_device *device = overlap_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    search_all(device, &overlap_threads);
    assert_false(atomic_load(&seen->waits_too_long));
    assert_true(seen->beside >= 3);
    assert_in_range(atomic_load(&seen->most_compiling), 2, most_at_once());
    assert_in_range(seen->opened, 0, 1); /* the problem's plan, which points have to wait for */
    overlap_close(device);
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
    wf_device *device = overlap_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    wf_tune_params params = overlap_search(&overlap_threads);
    params.matmul = &row;
    params.within = &matvec;
    params.exhaustive = true;
    wf_tune_result result = {.size = sizeof result};
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
    assert_true(result.measured > GENERATION / 2);
    assert_true(atomic_load(&seen->compiled) > (int)result.measured); /* reductions, too */
    assert_in_range(seen->opened, 0, 1);
    overlap_close(device);
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
    wf_device *device = overlap_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    wf_tune_params params = overlap_search(&overlap_threads);
    params.discard = true;
    wf_tune_result result = {.size = sizeof result};
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
    assert_false(atomic_load(&seen->waits_too_long));
    overlap_assert_text(seen->first, result.before.variant, result.before.constants,
                        result.before.constant_count);
    overlap_close(device);
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
        wf_device *device = overlap_device(kinds[i].type);
        if (!kinds[i].stamps)
            device->caps.timestamp_valid_bits = 0;
        if (kinds[i].still)
            device->fn.vkGetQueryPoolResults = overlap_stand_still;
        wf_tune_params params = overlap_search(&overlap_threads);
        params.discard = true;
        wf_tune_result result = {.size = sizeof result};
        assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
        assert_true(result.measured > 0);
        assert_true(atomic_load(&seen->compiled) >= 2 && seen->told > 0);
        /* What the clock is worth is known once a point was timed. */
        assert_int_equal(kinds[i].still ? seen->beside_later : seen->beside, 0);
        overlap_close(device);
    }
}

static void *release_later(void *unused)
{
    (void)unused;
    while (!atomic_load(&seen->ended))
        overlap_pause(1e-3);
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
    seen->reports_beside_held = true;
    wf_device *device = overlap_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    assert_int_equal(pthread_create(&worker, NULL, run_queued, &ends), 0);
    assert_int_equal(pthread_create(&later, NULL, release_later, NULL), 0);
    wf_tune_params params = overlap_search(&queued);
    params.exhaustive = true;
    params.within = &overlap_naive;
    wf_tune_result result = {.size = sizeof result};
    const wf_result code = wf_tune(device, &params, &result);
    const bool released = atomic_load(&seen->released);
    pthread_join(later, NULL); /* a test that fails leaves no thread to the next */
    assert_int_equal(code, WF_ERROR_CANCELLED);
    assert_true(released);
    assert_int_equal(result.measured, 0);
    assert_true(atomic_load(&seen->submitted) > HELD);
    assert_int_equal(atomic_load(&seen->compiled), HELD);
    overlap_close(device); /* once the jobs have run */
    assert_int_equal(atomic_load(&seen->compiled), HELD);
    atomic_store(&ends, true);
    pthread_join(worker, NULL);
}

/* One kernel does not come out of the compiler before there were as many points as in several
 * generations. */
static void late_kernels_come_with_a_later_generation(void **state)
{
    (void)state;
    memset(seen, 0, sizeof *seen);
    seen->held = HELD_LATER;
    seen->release_after = 2 * GENERATION + HELD_LATER;
    wf_device *device = overlap_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    const wf_tune_params params = overlap_search_in_generations();
    wf_tune_result result = {.size = sizeof result};
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
    assert_false(atomic_load(&seen->waits_too_long));
    assert_true(seen->held_ran_at > seen->release_after);
    assert_int_equal(result.measured, seen->count);
    assert_int_equal(result.wrong, 0);
    assert_true(result.finished && !seen->decides_beside);
    overlap_close(device);
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
    return overlap_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
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
    const wf_tune_params params = overlap_search_in_generations();
    wf_tune_result result;
    search_beside(device, &params, release_once_idle, &result);
    assert_false(atomic_load(&seen->waits_too_long));
    assert_true(seen->again > 0 && seen->held_ran_at > 0);
    assert_int_equal(result.measured, seen->count);
    assert_true(result.finished);
    overlap_close(device);
}

/* So does each generation of a search of all points, which come in no other. */
static void late_kernels_of_all_points_are_waited_for(void **state)
{
    (void)state;
    pthread_t releasing;
    wf_device *device = open_holding();
    assert_int_equal(pthread_create(&releasing, NULL, release_once_idle, NULL), 0);
    search_all(device, &overlap_threads);
    pthread_join(releasing, NULL);
    assert_false(atomic_load(&seen->waits_too_long));
    overlap_close(device);
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
    wf_tune_params params = overlap_search_in_generations();
    params.budget_seconds = BUDGET_SECONDS;
    wf_tune_result result;
    search_beside(device, &params, release_past_budget, &result);
    assert_true(atomic_load(&seen->submitted) >= HELD_LATER);
    assert_false(seen->decides_beside);
    assert_false(result.finished);
    overlap_close(device);
}

/* So does one that is told to end while points are timed for longer. */
static void a_cancelled_search_waits_for_late_kernels(void **state)
{
    (void)state;
    wf_device *device = open_holding();
    seen->stop_again = 1;
    const wf_tune_params params = overlap_search_in_generations();
    wf_tune_result result;
    search_beside(device, &params, release_later, &result);
    assert_false(atomic_load(&seen->waits_too_long));
    assert_int_equal(seen->again, 1);
    assert_int_equal(seen->held_ran_at, 0);
    overlap_close(device);
}

/* Nor does one compile any more where the clock turns out to be the host's meanwhile. */
static void late_kernels_are_waited_for_where_they_disturb(void **state)
{
    (void)state;
    wf_device *device = open_holding();
    seen->stop_again = 3;
    device->fn.vkGetQueryPoolResults = overlap_stand_still_later;
    const wf_tune_params params = overlap_search_in_generations();
    wf_tune_result result;
    search_beside(device, &params, release_once_idle, &result);
    assert_int_equal(seen->beside_again, 0);
    overlap_close(device);
}

/* Jobs that submit runs by itself are timed one by one. */
static void jobs_may_run_in_the_call(void **state)
{
    (void)state;
    static const wf_jobs now = {.size = sizeof now, .submit = submit_now};
    memset(seen, 0, sizeof *seen);
    seen->slow = SLOW_SECONDS;
    wf_device *device = overlap_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    search_all(device, &now);
    assert_true(atomic_load(&seen->submitted) > 2);
    assert_in_range(seen->most_ahead, 0, 1);
    overlap_close(device);
}

/* No kernel is begun that would come out of the compiler when no point is timed any more: the last
 * 15 % of the time are for the decision. */
static void no_kernel_is_begun_too_late(void **state)
{
    (void)state;
    const double budget = 4, slow = 0.4;
    memset(seen, 0, sizeof *seen);
    seen->slow = slow;
    wf_device *device = overlap_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    wf_tune_params params = overlap_search(&overlap_threads);
    params.budget_seconds = budget;
    params.exhaustive = true;
    params.within = &overlap_naive;
    wf_tune_result result = {.size = sizeof result};
    const double begun = overlap_seconds();
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
    assert_true(result.best_us > 0);
    assert_true(seen->submitted_at - begun < 0.85 * budget - 0.75 * slow);
    overlap_close(device);
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
    };
    return cmocka_run_group_tests(tests, overlap_setup, overlap_teardown);
}
