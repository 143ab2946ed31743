/* Processes that are lost while a search times points and compiles others: what the journal blames,
 * and what the next search makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "overlap.h"

static void lose_process(overlap_ending ends)
{
    memset(seen, 0, sizeof *seen);
    seen->ends = ends;
    const bool late = ends == WHILE_LATE_ONES_COMPILE || ends == ONCE_LATE_ONES_COMPILED;
    seen->held = late ? HELD_LATER : ends == WHILE_OTHERS_COMPILE ? HELD : 0;
    seen->slow = ends == IN_A_COMPILER ? SLOW_SECONDS : 0;
    const pid_t child = fork();
    if (child == 0) {
        wf_device *device = overlap_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
        const wf_tune_params params =
            late ? overlap_search_in_generations() : overlap_search(&overlap_threads);
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
        overlap_assert_text(point, bad->variant, constants, bad->count);
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
    wf_device *device = overlap_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    const wf_tune_params params = overlap_search(&overlap_threads);
    wf_tune_result result = {.size = sizeof result};
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
    assert_int_equal(atomic_load(&seen->submitted) + seen->told, 0);
    assert_string_not_equal(seen->first, lost);
    assert_false(overlap_is_new(lost));
    assert_int_equal(test_only_entry(device)->bad_count, 0);
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_COUNT), WF_SUCCESS);
    overlap_close(device);
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
    wf_device *device = overlap_device(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    const wf_tune_params params = overlap_search_in_generations();
    wf_tune_result result = {.size = sizeof result};
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
    overlap_close(device);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_process_blames_point_and_compilers),
        cmocka_unit_test(a_lost_process_blames_late_compilers),
        cmocka_unit_test(a_lost_process_blames_no_more),
    };
    return cmocka_run_group_tests(tests, overlap_setup, overlap_teardown);
}
