/* Executions that a wf_queue makes in the order in which they were given, each seeing what those
 * before it have written, and how waiting for them, ending them and refusing them goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness.h"
#include "plan/object.h"

#define COUNT 1000

static bool stop;

static bool cancelled(void *user)
{
    (void)user;
    return stop;
}

static int setup(void **state)
{
    wf_device_params params = test_device_params();
    wf_device *device = NULL;
    params.cancelled = cancelled;
    if (wf_device_create(&params, &device) != WF_SUCCESS)
        return -1;
    *state = device;
    return 0;
}

/* y = y + x on two arrays, and the same with the arrays exchanged. */
typedef struct pair {
    wf_buffer *buffers[2];
    wf_plan *plan;
    wf_queue *queue;
    wf_bindings forth, back;
} pair;

static void fill(wf_buffer *buffer, float value)
{
    float data[COUNT];
    for (int i = 0; i < COUNT; i++)
        data[i] = value;
    assert_int_equal(wf_buffer_write(buffer, 0, data, sizeof data), WF_SUCCESS);
}

static void all_are(wf_buffer *buffer, float value)
{
    float data[COUNT];
    assert_int_equal(wf_buffer_read(buffer, 0, data, sizeof data), WF_SUCCESS);
    for (int i = 0; i < COUNT; i++)
        if (data[i] < value || data[i] > value)
            fail_msg("element %d is %g, not %g", i, (double)data[i], (double)value);
}

static void open_pair(pair *p, wf_device *device)
{
    const wf_vector_params params = {
        .size = sizeof params, .operation = WF_VECTOR_AXPY, .count = COUNT};
    *p = (pair){.forth = {.size = sizeof p->forth}, .back = {.size = sizeof p->back}};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            wf_buffer_create(device, COUNT * sizeof(float), WF_MEMORY_DEVICE, &p->buffers[i]),
            WF_SUCCESS);
        fill(p->buffers[i], (float)i);
        p->forth.items[i].buffer = p->back.items[1 - i].buffer = p->buffers[i];
    }
    assert_int_equal(wf_vector_plan(device, &params, &p->plan), WF_SUCCESS);
    assert_int_equal(wf_queue_create(device, &p->queue), WF_SUCCESS);
}

static void close_pair(pair *p)
{
    wf_queue_destroy(&p->queue);
    assert_null(p->queue);
    wf_plan_destroy(&p->plan);
    wf_buffer_destroy(&p->buffers[0]);
    wf_buffer_destroy(&p->buffers[1]);
}

/* Each reads what the one before has written: Fibonacci's numbers, which floats hold exactly. */
static void each_sees_the_one_before(void **state)
{
    pair p;
    uint64_t number = 0, ended = 0;
    double a = 0, b = 1; /* of buffers 0 and 1 */
    open_pair(&p, *state);
    for (int i = 0; i < 30; i++) {
        const bool forth = i % 2 == 0;
        assert_int_equal(wf_queue_run(p.queue, p.plan, forth ? &p.forth : &p.back, &number),
                         WF_SUCCESS);
        assert_int_equal(number, i + 1);
        *(forth ? &b : &a) = a + b;
    }
    assert_int_equal(wf_queue_wait(p.queue, 0), WF_SUCCESS);
    assert_int_equal(wf_queue_ended(p.queue, &ended), WF_SUCCESS);
    assert_int_equal(ended, 30);
    all_are(p.buffers[0], (float)a);
    all_are(p.buffers[1], (float)b);
    close_pair(&p);
}

/* Far more executions than go in the submissions that may be under way. */
static void many_are_gathered(void **state)
{
    enum { MANY = 3000 };
    pair p;
    uint64_t number = 0, ended = 0, before = 0;
    open_pair(&p, *state);
    fill(p.buffers[0], 1);
    fill(p.buffers[1], 0);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(wf_queue_run(p.queue, p.plan, &p.forth, &number), WF_SUCCESS);
        assert_int_equal(wf_queue_ended(p.queue, &ended), WF_SUCCESS);
        assert_true(ended >= before && ended <= number);
        before = ended;
    }
    assert_int_equal(wf_queue_wait(p.queue, MANY / 2), WF_SUCCESS);
    assert_int_equal(wf_queue_ended(p.queue, &ended), WF_SUCCESS);
    assert_true(ended >= MANY / 2);
    assert_int_equal(wf_queue_submit(p.queue), WF_SUCCESS);
    while (ended < MANY)
        assert_int_equal(wf_queue_ended(p.queue, &ended), WF_SUCCESS);
    all_are(p.buffers[1], MANY);
    /* What is given before the queue ends is still made. */
    assert_int_equal(wf_queue_run(p.queue, p.plan, &p.forth, NULL), WF_SUCCESS);
    wf_queue_destroy(&p.queue);
    all_are(p.buffers[1], MANY + 1);
    close_pair(&p);
}

/* What is prepared waits for its submission, whatever is waited for, and may be forgotten. */
static void prepared_executions_wait(void **state)
{
    pair p;
    uint64_t first = 0, number = 0, ended = 0;
    open_pair(&p, *state);
    fill(p.buffers[0], 1);
    fill(p.buffers[1], 0);
    assert_int_equal(wf_queue_run(p.queue, p.plan, &p.forth, &first), WF_SUCCESS);
    assert_int_equal(wf_queue_prepare(p.queue), WF_SUCCESS);
    assert_int_equal(wf_queue_run(p.queue, p.plan, &p.forth, &number), WF_SUCCESS);
    assert_int_equal(number, first + 1);
    assert_int_equal(wf_queue_wait(p.queue, first), WF_SUCCESS);
    assert_int_equal(wf_queue_ended(p.queue, &ended), WF_SUCCESS);
    assert_int_equal(ended, first);
    fill(p.buffers[0], 10); /* it is read when the execution is submitted */
    assert_int_equal(wf_queue_submit(p.queue), WF_SUCCESS);
    assert_int_equal(wf_queue_wait(p.queue, 0), WF_SUCCESS);
    all_are(p.buffers[1], 11);
    assert_int_equal(wf_queue_prepare(p.queue), WF_SUCCESS);
    assert_int_equal(wf_queue_run(p.queue, p.plan, &p.forth, NULL), WF_SUCCESS);
    assert_int_equal(wf_queue_drop(p.queue), WF_SUCCESS);
    assert_int_equal(wf_queue_run(p.queue, p.plan, &p.forth, &number), WF_SUCCESS);
    assert_int_equal(number, first + 2);
    assert_int_equal(wf_queue_wait(p.queue, number), WF_SUCCESS);
    all_are(p.buffers[1], 21);
    /* A wait for one of them submits it; the end of the queue does not. */
    assert_int_equal(wf_queue_prepare(p.queue), WF_SUCCESS);
    assert_int_equal(wf_queue_run(p.queue, p.plan, &p.forth, &number), WF_SUCCESS);
    assert_int_equal(wf_queue_wait(p.queue, number), WF_SUCCESS);
    all_are(p.buffers[1], 31);
    assert_int_equal(wf_queue_prepare(p.queue), WF_SUCCESS);
    assert_int_equal(wf_queue_run(p.queue, p.plan, &p.forth, NULL), WF_SUCCESS);
    wf_queue_destroy(&p.queue);
    all_are(p.buffers[1], 31);
    close_pair(&p);
}

/* What is marked is waited for by itself, and its results are there then, though more is behind it
 * in the submission. Slots are used several times. */
static void marks_end_before_their_submission(void **state)
{
    pair p;
    uint64_t number = 0, ended = 0;
    wf_buffer *result = NULL;
    open_pair(&p, *state);
    assert_int_equal(wf_buffer_create(*state, COUNT * sizeof(float), WF_MEMORY_READBACK, &result),
                     WF_SUCCESS);
    wf_bindings to_host = p.forth;
    to_host.items[WF_VECTOR_Y].buffer = result;
    const float *sums = wf_buffer_mapped(result);
    fill(p.buffers[0], 1);
    fill(p.buffers[1], 0);
    fill(result, 0);
    for (int i = 1; i <= 20; i++) {
        assert_int_equal(wf_queue_prepare(p.queue), WF_SUCCESS);
        assert_int_equal(wf_queue_run(p.queue, p.plan, &to_host, &number), WF_SUCCESS);
        assert_int_equal(wf_queue_mark(p.queue), WF_SUCCESS);
        for (int k = 0; k < 30; k++)
            assert_int_equal(wf_queue_run(p.queue, p.plan, &p.forth, NULL), WF_SUCCESS);
        assert_int_equal(wf_queue_mark(p.queue), WF_NOT_READY); /* a second one */
        assert_int_equal(wf_queue_submit(p.queue), WF_SUCCESS);
        assert_int_equal(wf_queue_wait(p.queue, number), WF_SUCCESS);
        assert_true(sums[0] >= (float)i && sums[COUNT - 1] >= (float)i);
        assert_int_equal(wf_queue_ended(p.queue, &ended), WF_SUCCESS);
        assert_in_range(ended, number, number + 30);
        while (i % 2 && ended < number + 30)
            assert_int_equal(wf_queue_ended(p.queue, &ended), WF_SUCCESS);
    }
    assert_int_equal(wf_queue_wait(p.queue, 0), WF_SUCCESS);
    all_are(p.buffers[1], 600);
    all_are(result, 20);
    wf_buffer_destroy(&result);
    close_pair(&p);
}

/* Without events what is marked is submitted, but for what was prepared. */
static void marks_without_events(void **state)
{
    wf_device *device = *state;
    pair p;
    uint64_t number = 0, ended = 0;
    const bool has_events = device->has_events;
    device->has_events = false;
    open_pair(&p, device);
    device->has_events = has_events;
    fill(p.buffers[0], 1);
    fill(p.buffers[1], 0);
    assert_int_equal(wf_queue_prepare(p.queue), WF_SUCCESS);
    assert_int_equal(wf_queue_run(p.queue, p.plan, &p.forth, NULL), WF_SUCCESS);
    assert_int_equal(wf_queue_mark(p.queue), WF_NOT_READY);
    assert_int_equal(wf_queue_drop(p.queue), WF_SUCCESS);
    assert_int_equal(wf_queue_hold(p.queue), WF_SUCCESS);
    assert_int_equal(wf_queue_run(p.queue, p.plan, &p.forth, &number), WF_SUCCESS);
    assert_int_equal(wf_queue_mark(p.queue), WF_SUCCESS);
    for (int i = 0; i < 10000 && ended < number; i++) { /* it needs no further submission */
        assert_int_equal(wf_queue_ended(p.queue, &ended), WF_SUCCESS);
        wfi_sleep(1e-3);
    }
    assert_int_equal(ended, number);
    all_are(p.buffers[1], 1);
    close_pair(&p);
}

/* More than a submission takes is refused, and what was prepared is still made. */
static void too_many_are_not_prepared(void **state)
{
    pair p;
    int taken = 0;
    open_pair(&p, *state);
    fill(p.buffers[0], 1);
    fill(p.buffers[1], 0);
    assert_int_equal(wf_queue_prepare(p.queue), WF_SUCCESS);
    wf_result result;
    while ((result = wf_queue_run(p.queue, p.plan, &p.forth, NULL)) == WF_SUCCESS && taken < 1000)
        taken++;
    assert_int_equal(result, WF_NOT_READY);
    assert_int_equal(wf_queue_wait(p.queue, 0), WF_SUCCESS);
    all_are(p.buffers[1], (float)taken);
    close_pair(&p);
}

/* Executions beside each other, of which the next one needs both. */
static void the_next_sees_those_beside(void **state)
{
    pair p, other;
    open_pair(&p, *state);
    open_pair(&other, *state);
    const wf_bindings across = {.size = sizeof across,
                                .items = {{.buffer = other.buffers[1]}, {.buffer = p.buffers[1]}}};
    float mine = 1, theirs = 1; /* of p.buffers[1] and of other.buffers[1] */
    fill(p.buffers[0], 1);
    fill(other.buffers[0], 2);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(wf_queue_run(p.queue, p.plan, &p.forth, NULL), WF_SUCCESS);
        assert_int_equal(wf_queue_beside(p.queue), WF_SUCCESS);
        assert_int_equal(wf_queue_run(p.queue, p.plan, &other.forth, NULL), WF_SUCCESS);
        assert_int_equal(wf_queue_run(p.queue, p.plan, &across, NULL), WF_SUCCESS);
        theirs += 2;
        mine += 1 + theirs;
    }
    assert_int_equal(wf_queue_wait(p.queue, 0), WF_SUCCESS);
    all_are(p.buffers[1], mine);
    close_pair(&other);
    close_pair(&p);
}

/* What an execution of one queue leaves, one of the other reads once the host has waited, by a mark
 * with more behind it, too. WAVEFIT_SIDE_QUEUES=1 has the second queue go to the first. */
static void a_second_queue_sees_what_was_waited_for(void **state)
{
    wf_device *device = *state;
    wf_queue *second = NULL, *queues[2];
    pair p, other;
    double a = 0, b = 1; /* of buffers 0 and 1 */
    const wf_result made = wf_queue_create_beside(device, &second);
    if (!device->kernels_beside) {
        assert_int_equal(made, WF_ERROR_UNSUPPORTED);
        assert_null(second);
        return;
    }
    assert_int_equal(made, WF_SUCCESS);
    open_pair(&p, device);
    open_pair(&other, device);
    queues[0] = p.queue;
    queues[1] = second;
    for (int i = 0; i < 30; i++) {
        const bool forth = i % 2 == 0;
        wf_queue *const q = queues[i / 3 % 2];
        uint64_t number = 0;
        assert_int_equal(wf_queue_hold(q), WF_SUCCESS);
        assert_int_equal(wf_queue_run(q, p.plan, forth ? &p.forth : &p.back, &number), WF_SUCCESS);
        assert_int_equal(wf_queue_mark(q), WF_SUCCESS);
        assert_int_equal(wf_queue_run(q, other.plan, &other.forth, NULL), WF_SUCCESS);
        assert_int_equal(wf_queue_wait(q, number), WF_SUCCESS);
        *(forth ? &b : &a) = a + b;
    }
    wf_queue_destroy(&second);
    assert_int_equal(wf_queue_wait(p.queue, 0), WF_SUCCESS);
    all_are(p.buffers[0], (float)a);
    all_are(p.buffers[1], (float)b);
    close_pair(&other);
    close_pair(&p);
}

/* An execution of several submissions is made by wf_plan_run, in its place. */
static void long_executions_keep_their_place(void **state)
{
    enum { SIDE = 64, STEPS = 20, TIMES = 3 };
    static float cells[SIDE * SIDE], single[SIDE * SIDE];
    const double taps[5] = {0.2, 0.2, 0.2, 0.2, 0.2};
    const wf_tuning plain = {.size = sizeof plain, .variant = "naive"};
    const wf_stencil_params params = {.size = sizeof params,
                                      .nx = SIDE,
                                      .ny = SIDE,
                                      .coefficients = taps,
                                      .steps = STEPS,
                                      .tuning = &plain,
                                      .border = WF_BORDER_PERIODIC};
    wf_buffer *buffers[2], *workspace = NULL;
    wf_plan *plan = NULL;
    wf_queue *queue = NULL;
    wf_bindings bindings[2] = {{.size = sizeof *bindings}, {.size = sizeof *bindings}};
    test_expect_errors(true);
    const wf_result planned = wf_stencil_plan(*state, &params, &plan);
    test_expect_errors(false);
    if (planned == WF_ERROR_UNKNOWN_VARIANT)
        fail_msg("%s", test_last_error());
    assert_int_equal(planned, WF_SUCCESS);
    plan->submit_seconds = 1e-9; /* each step goes in a submission of its own */
    for (int i = 0; i < SIDE * SIDE; i++)
        cells[i] = (float)(i % 7);
    const uint64_t bytes = wf_plan_workspace(plan);
    if (bytes)
        assert_int_equal(wf_buffer_create(*state, bytes, WF_MEMORY_DEVICE, &workspace), WF_SUCCESS);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(wf_buffer_create(*state, sizeof cells, WF_MEMORY_DEVICE, &buffers[i]),
                         WF_SUCCESS);
        bindings[0].items[i].buffer = bindings[1].items[1 - i].buffer = buffers[i];
        bindings[i].workspace.buffer = workspace;
    }
    bindings[0].items[1].buffer = bindings[1].items[0].buffer = buffers[1];
    assert_int_equal(wf_buffer_write(buffers[0], 0, cells, sizeof cells), WF_SUCCESS);
    for (int i = 0; i < TIMES; i++)
        assert_int_equal(wf_plan_run(plan, &bindings[i % 2]), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(buffers[TIMES % 2], 0, single, sizeof single), WF_SUCCESS);
    assert_int_equal(wf_buffer_write(buffers[0], 0, cells, sizeof cells), WF_SUCCESS);
    assert_int_equal(wf_queue_create(*state, &queue), WF_SUCCESS);
    for (int i = 0; i < TIMES; i++)
        assert_int_equal(wf_queue_run(queue, plan, &bindings[i % 2], NULL), WF_SUCCESS);
    assert_int_equal(wf_queue_wait(queue, 0), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(buffers[TIMES % 2], 0, cells, sizeof cells), WF_SUCCESS);
    assert_memory_equal(cells, single, sizeof cells);
    wf_queue_destroy(&queue);
    wf_plan_destroy(&plan);
    wf_buffer_destroy(&workspace);
    wf_buffer_destroy(&buffers[0]);
    wf_buffer_destroy(&buffers[1]);
}

/* A refused execution leaves those around it as they are. */
static void refusals(void **state)
{
    pair p;
    uint64_t number = 0;
    open_pair(&p, *state);
    wf_bindings missing = p.forth;
    missing.items[1].buffer = NULL;
    assert_int_equal(wf_queue_run(p.queue, p.plan, &p.forth, &number), WF_SUCCESS);
    test_expect_errors(true);
    assert_int_equal(wf_queue_run(p.queue, p.plan, &missing, &number), WF_ERROR_BINDING);
    test_expect_errors(false);
    assert_int_equal(wf_queue_run(p.queue, p.plan, &p.back, &number), WF_SUCCESS);
    assert_int_equal(number, 2);
    assert_int_equal(wf_queue_wait(p.queue, number), WF_SUCCESS);
    all_are(p.buffers[1], 1);
    all_are(p.buffers[0], 1);
    close_pair(&p);
}

/* Products that take long enough for a wait to ask meanwhile. The wait ends, the work does not. */
static void a_wait_is_cancelled(void **state)
{
    enum { N = 256 };
    const wf_matmul_params params = {.size = sizeof params, .m = N, .n = N, .k = N};
    wf_bindings bindings = {.size = sizeof bindings};
    wf_buffer *buffers[3];
    wf_plan *plan = NULL;
    wf_queue *queue = NULL;
    uint64_t number = 0;
    float corner = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(wf_buffer_create(*state, N * N * 4, WF_MEMORY_DEVICE, &buffers[i]),
                         WF_SUCCESS);
        assert_int_equal(wf_buffer_fill(buffers[i], 0, N * N * 4, 0x3f800000), WF_SUCCESS);
        bindings.items[i].buffer = buffers[i];
    }
    assert_int_equal(wf_matmul_plan(*state, &params, &plan), WF_SUCCESS);
    assert_int_equal(wf_queue_create(*state, &queue), WF_SUCCESS);
    for (int i = 0; i < 20; i++)
        assert_int_equal(wf_queue_run(queue, plan, &bindings, &number), WF_SUCCESS);
    stop = true;
    test_expect_errors(true);
    const wf_result result = wf_queue_wait(queue, 0);
    test_expect_errors(false);
    stop = false;
    if (result != WF_ERROR_CANCELLED) /* a device that ended 20 products within 20 ms */
        assert_int_equal(result, WF_SUCCESS);
    assert_int_equal(wf_queue_wait(queue, 0), WF_SUCCESS);
    assert_int_equal(wf_buffer_read(buffers[2], 0, &corner, sizeof corner), WF_SUCCESS);
    assert_int_equal((int)corner, N);
    wf_queue_destroy(&queue);
    wf_plan_destroy(&plan);
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&buffers[i]);
}

/* The device may end before the queue. */
static void the_device_ends_first(void **state)
{
    (void)state;
    const wf_device_params params = test_device_params();
    wf_device *device = NULL;
    pair p;
    uint64_t number;
    assert_int_equal(wf_device_create(&params, &device), WF_SUCCESS);
    open_pair(&p, device);
    assert_int_equal(wf_queue_run(p.queue, p.plan, &p.forth, NULL), WF_SUCCESS);
    test_expect_errors(true);
    wf_device_destroy(&device);
    assert_int_equal(wf_queue_run(p.queue, p.plan, &p.forth, NULL), WF_ERROR_DEVICE_CLOSED);
    assert_int_equal(wf_queue_wait(p.queue, 0), WF_ERROR_DEVICE_CLOSED);
    assert_int_equal(wf_queue_ended(p.queue, &number), WF_ERROR_DEVICE_CLOSED);
    test_expect_errors(false);
    close_pair(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sees_the_one_before),
        cmocka_unit_test(many_are_gathered),
        cmocka_unit_test(prepared_executions_wait),
        cmocka_unit_test(marks_end_before_their_submission),
        cmocka_unit_test(marks_without_events),
        cmocka_unit_test(too_many_are_not_prepared),
        cmocka_unit_test(the_next_sees_those_beside),
        cmocka_unit_test(a_second_queue_sees_what_was_waited_for),
        cmocka_unit_test(long_executions_keep_their_place),
        cmocka_unit_test(refusals),
        cmocka_unit_test(a_wait_is_cancelled),
        cmocka_unit_test(the_device_ends_first),
    };
    return cmocka_run_group_tests(tests, setup, test_device_teardown);
}
