/* The steps of a search on a device whose clock is made up: a kernel takes what a formula of its
 * work-group says, while everything else is the driver's. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/families.h"
#include "core/volk.h"
#include "stencil/stencil_ids.h"
#include "harness.h"
#include "tune/search.h"

enum { MOST_PIPELINES = 256 };

/* What is bound when a time is read, how often it ran between the stamps, and what the clock
 * does. */
static struct {
    PFN_vkCreateComputePipelines create;
    PFN_vkCmdBindPipeline bind;
    PFN_vkCmdDispatch dispatch;
    PFN_vkCmdWriteTimestamp stamp;
    VkPipeline pipelines[MOST_PIPELINES];
    uint32_t sizes[MOST_PIPELINES][2], count;
    uint32_t bound[2], dispatches;
    double slow;             /* all times are multiplied by this */
    uint32_t slow_reads;     /* how many times are read until slow is 1 again; 0: never */
    uint32_t reads;          /* of times */
    uint32_t idle_x;         /* work-groups of this width do nothing, and are the fastest */
    uint32_t deciding, fall; /* rounds of a decision; the round in which slow becomes 2, 0: none */
    bool close;              /* 32 x 2 is half a percent faster than all others */
    double noise;            /* its times then vary by so much either way */
    uint32_t noisy_reads;
} fake;

static VKAPI_ATTR VkResult VKAPI_CALL create(VkDevice device, VkPipelineCache cache, uint32_t count,
                                             const VkComputePipelineCreateInfo *infos,
                                             const VkAllocationCallbacks *allocator,
                                             VkPipeline *pipelines)
{
    const VkSpecializationInfo *given = infos[0].stage.pSpecializationInfo;
    const VkResult result = fake.create(device, cache, count, infos, allocator, pipelines);
    const uint32_t at = fake.count++ % MOST_PIPELINES;
    fake.pipelines[at] = pipelines[0];
    for (uint32_t i = 0; given && i < given->mapEntryCount; i++)
        if (given->pMapEntries[i].constantID < 2)
            memcpy(&fake.sizes[at][given->pMapEntries[i].constantID],
                   (const char *)given->pData + given->pMapEntries[i].offset, sizeof(uint32_t));
    return result;
}

static VKAPI_ATTR void VKAPI_CALL bind(VkCommandBuffer commands, VkPipelineBindPoint point,
                                       VkPipeline pipeline)
{
    /* The latest object with this handle: earlier ones were destroyed. */
    for (uint32_t i = fake.count; i-- > 0 && fake.count - i <= MOST_PIPELINES;)
        if (fake.pipelines[i % MOST_PIPELINES] == pipeline) {
            memcpy(fake.bound, fake.sizes[i % MOST_PIPELINES], sizeof fake.bound);
            break;
        }
    fake.bind(commands, point, pipeline);
}

static VKAPI_ATTR void VKAPI_CALL stamp(VkCommandBuffer commands, VkPipelineStageFlagBits stage,
                                        VkQueryPool pool, uint32_t query)
{
    fake.dispatches = query ? fake.dispatches : 0;
    fake.stamp(commands, stage, pool, query);
}

static VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y,
                                           uint32_t z)
{
    fake.dispatches++;
    if (fake.bound[0] != fake.idle_x)
        fake.dispatch(commands, x, y, z);
}

/* 10 ms at 32 x 2, so that a sample is a single run; more with every factor of two away from it. */
static double time_of(const uint32_t size[2])
{
    if (size[0] == fake.idle_x)
        return 1e-3;
    if (fake.close)
        return size[0] == 32 && size[1] == 2 ? 0.995e-2 : 1e-2;
    return 1e-2 * (1 + 0.3 * fabs(log2(size[0]) - 5) + 0.2 * fabs(log2(size[1] ? size[1] : 1) - 1));
}

static double period_ns;

static VKAPI_ATTR VkResult VKAPI_CALL results(VkDevice device, VkQueryPool pool, uint32_t first,
                                              uint32_t count, size_t bytes, void *data,
                                              VkDeviceSize stride, VkQueryResultFlags flags)
{
    (void)device;
    (void)pool;
    (void)first;
    (void)stride;
    (void)flags;
    assert_true(count == 2 && bytes == 2 * sizeof(uint64_t));
    static const double noises[] = {0, 1, -1, 0.5, -0.5};
    double seconds = time_of(fake.bound) * fake.slow * fake.dispatches;
    if (fake.bound[0] == 32 && fake.bound[1] == 2 && fake.noise > 0)
        seconds *= 1 + fake.noise * noises[fake.noisy_reads++ % 5];
    fake.reads++;
    const uint64_t ticks[2] = {0, (uint64_t)(seconds * 1e9 / period_ns + 0.5)};
    memcpy(data, ticks, sizeof ticks);
    if (fake.slow_reads && --fake.slow_reads == 0)
        fake.slow = 1;
    return VK_SUCCESS;
}

static wf_device *open_device(void)
{
    wf_device_params params = test_device_params();
    wf_device *device = NULL;
    params.cache_directory = "";
    assert_int_equal(wf_device_create(&params, &device), WF_SUCCESS);
    memset(&fake, 0, sizeof fake);
    fake.slow = 1;
    fake.create = device->fn.vkCreateComputePipelines;
    fake.bind = device->fn.vkCmdBindPipeline;
    fake.dispatch = device->fn.vkCmdDispatch;
    fake.stamp = device->fn.vkCmdWriteTimestamp;
    device->fn.vkCreateComputePipelines = create;
    device->fn.vkCmdWriteTimestamp = stamp;
    device->fn.vkCmdBindPipeline = bind;
    device->fn.vkCmdDispatch = dispatch;
    device->fn.vkGetQueryPoolResults = results;
    period_ns = device->caps.timestamp_period_ns;
    return device;
}

static const wf_matmul_params product = {.size = sizeof product, .m = 40, .n = 30, .k = 20};
static const wf_tuning naive = {.size = sizeof naive, .variant = "naive"};

static bool note_round(void *user, const wf_tune_progress *progress)
{
    (void)user;
    if (strcmp(progress->stage, "deciding") == 0 && ++fake.deciding == fake.fall)
        fake.slow = 2;
    return true;
}

static wf_tune_params params_of(double seconds)
{
    return (wf_tune_params){.size = sizeof(wf_tune_params),
                            .matmul = &product,
                            .budget_seconds = seconds,
                            .seed = test_seed(),
                            .discard = true,
                            .progress = note_round,
                            .within = &naive};
}

/* A kernel that does nothing would be the fastest, and is found out. The best of the others
 * wins, in a search and where all points are measured. */
static void what_is_wrong_never_wins(void **state)
{
    (void)state;
    for (int exhaustive = 0; exhaustive < 2; exhaustive++) {
        wf_device *device = open_device();
        fake.idle_x = 16;
        wf_tune_params params = params_of(exhaustive ? 60 : 2);
        params.exhaustive = exhaustive;
        wf_tune_result result = {.size = sizeof result};
        assert_int_equal(wf_tune(device, &params, &result), WF_SUCCESS);
        assert_string_equal(result.best.constants[0].name, "local_x");
        assert_int_not_equal(result.best.constants[0].value, 16);
        assert_true(result.wrong > 0);
        if (exhaustive || result.finished) {
            assert_int_equal(result.best.constants[0].value, 32);
            assert_int_equal(result.best.constants[1].value, 2);
            assert_true(fabs(result.best_us - 1e4) < 100);
        }
        wf_device_destroy(&device);
    }
}

/* ------------------------------------------------------------------------------------ the clock */

typedef struct opened {
    wf_device *device;
    wf_tune_params params;
    wf_tune_result result;
    wfi_search search;
} opened;

static wfi_candidate candidate_of(opened *o, uint32_t local_x, uint32_t local_y)
{
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    wfi_candidate c = {.point = {.caps = &o->device->caps, .problem = &o->search.trial.problem}};
    c.point.variant = family->variants[wfi_variant_find(family, "naive")];
    wfi_point_defaults(&c.point);
    wfi_point_set(&c.point, STENCIL_ID_LOCAL_X, local_x);
    wfi_point_set(&c.point, STENCIL_ID_LOCAL_Y, local_y);
    assert_true(wfi_point_legal(&c.point, NULL));
    c.named = wfi_point_named(&c.point);
    c.hash = wfi_named_point_hash(&c.named);
    c.verified = true;
    c.seconds = time_of((uint32_t[]){local_x, local_y});
    return c;
}

/* A search that knows two points, on a GPU or a CPU. */
static opened *open_search(bool gpu)
{
    opened *o = calloc(1, sizeof *o);
    assert_non_null(o);
    o->device = open_device();
    o->device->caps.device_type =
        gpu ? VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU : VK_PHYSICAL_DEVICE_TYPE_CPU;
    o->params = params_of(1);
    o->search = (wfi_search){.device = o->device,
                             .params = &o->params,
                             .result = &o->result,
                             .journal = {.fd = -1},
                             .measure_until = 1,
                             .decide_until = 1};
    assert_int_equal(wfi_trial_open(o->device, &o->params, &o->search.trial), WF_SUCCESS);
    o->search.learned = wfi_learned_open(wfi_family_get(WF_FAMILY_MATMUL));
    assert_non_null(o->search.learned);
    o->search.elite[0] = candidate_of(o, 32, 2);
    o->search.elite[1] = candidate_of(o, 32, 1);
    o->search.elite_count = 2;
    return o;
}

static void close_search(opened *o)
{
    wfi_trial_close(&o->search.trial);
    wfi_learned_free(o->search.learned);
    wf_device_destroy(&o->device);
    free(o);
}

static void assert_times(const opened *o, double best_ms, double second_ms)
{
    const double ms[] = {o->search.elite[0].seconds * 1e3, o->search.elite[1].seconds * 1e3};
    if (fabs(ms[0] / best_ms - 1) > 0.01 || fabs(ms[1] / second_ms - 1) > 0.01)
        fail_msg("%g and %g ms in place of %g and %g", ms[0], ms[1], best_ms, second_ms);
}

/* What was measured before the clock changed is compared by what it would take now. */
static void times_follow_the_clock(void **state)
{
    (void)state;
    opened *o = open_search(false);
    wfi_search_settle(&o->search);
    assert_times(o, 10, 12);
    fake.slow = 2;
    wfi_search_settle(&o->search); /* not due, since the last was a moment ago */
    assert_times(o, 10, 12);
    o->search.settled_at = 0;
    wfi_search_settle(&o->search);
    assert_times(o, 20, 24);
    fake.slow = 1;
    o->search.settled_at = 0;
    wfi_search_settle(&o->search);
    assert_times(o, 10, 12);
    fake.slow = 1.01; /* noise */
    o->search.settled_at = 0;
    wfi_search_settle(&o->search);
    assert_true(o->search.elite[0].seconds * 1e3 < 10.001);
    close_search(o);
}

/* Work lets a GPU's clock rise again. */
static void a_clock_may_recover(void **state)
{
    (void)state;
    opened *o = open_search(true);
    fake.slow = 3;
    fake.slow_reads = 8;
    wfi_search_settle(&o->search);
    assert_times(o, 10, 12);
    fake.slow = 3;
    o->search.settled_at = 0;
    wfi_search_settle(&o->search);
    assert_times(o, 30, 36);
    close_search(o);
}

/* A clock that fell while the device idled for long is looked at before the next point, as is one
 * that is said to hold. */
static void a_long_idle_is_looked_into(void **state)
{
    (void)state;
    for (int gpu = 0; gpu < 2; gpu++) {
        opened *o = open_search(gpu);
        o->search.settled_at = wfi_host_seconds() + 1000; /* no look is due for any other reason */
        o->search.ran_at = wfi_host_seconds() + 10;       /* that no busy machine makes it long */
        wfi_search_settle(&o->search);
        assert_int_equal(fake.reads, 0);
        fake.slow = 3;
        fake.slow_reads = 8;
        o->search.steady = 100;
        o->search.steady_idle = 10;
        o->search.ran_at = wfi_host_seconds() - 2;
        wfi_search_settle(&o->search);
        assert_int_equal(fake.reads > 8, gpu);
        assert_times(o, 10, 12);
        assert_int_equal(o->search.steady == 0, gpu);
        assert_true(o->search.steady_idle == (gpu ? 0 : 10));
        /* Also where the last look took long, since the clock had fallen, but not where runs take
         * longer than the device idled. */
        o->search.settled_at = wfi_host_seconds() + 1000;
        o->search.settling = 100;
        o->search.ran_at = wfi_host_seconds() - 2;
        fake.reads = 0;
        wfi_search_settle(&o->search);
        assert_int_equal(fake.reads > 0, gpu);
        o->search.settled_at = wfi_host_seconds() + 1000;
        o->search.elite[0].seconds = 100;
        o->search.ran_at = wfi_host_seconds() - 2;
        fake.reads = 0;
        wfi_search_settle(&o->search);
        assert_int_equal(fake.reads, 0);
        close_search(o);
    }
}

/* What was measured, once and with a right result, is learned of. */
static void measured_points_are_learned_of(void **state)
{
    (void)state;
    opened *o = open_search(false);
    wfi_search *s = &o->search;
    const uint32_t variant =
        wfi_variant_find(wfi_family_get(WF_FAMILY_MATMUL), s->elite[0].point.variant->name);
    wfi_candidate c = candidate_of(o, 64, 1), again = c;
    assert_int_equal(wfi_learned_count(s->learned, variant), 0);
    s->measure_until = s->decide_until = wfi_host_seconds() + 60;
    assert_true(wfi_search_measure(s, &c, 0));
    assert_int_equal(wfi_learned_count(s->learned, variant), 1);
    assert_true(wfi_search_measure(s, &again, 1));
    assert_int_equal(wfi_learned_count(s->learned, variant), 1);
    fake.idle_x = 16; /* its result is wrong */
    wfi_candidate wrong = candidate_of(o, 16, 1);
    wrong.verified = false;
    assert_false(wfi_search_measure(s, &wrong, 0));
    assert_int_equal(o->result.wrong, 1);
    assert_int_equal(wfi_learned_count(s->learned, variant), 1);
    wfi_tuning_entry_clear(&s->entry);
    close_search(o);
}

/* How often the best point runs while it is sampled, on a GPU that idled before for as long as its
 * last run is said to be past; its first times are `slow` times as long. */
static uint32_t runs_of_sample(opened *o, double idle, double slow)
{
    const wf_tuning tuning = {.size = sizeof tuning,
                              .variant = "naive",
                              .constants = (wf_constant[]){{"local_x", 32}, {"local_y", 2}},
                              .constant_count = 2};
    wfi_candidate c = o->search.elite[0];
    wfi_runner runner;
    assert_int_equal(wfi_runner_open(&o->search.trial, &tuning, &runner), WF_SUCCESS);
    o->search.ran_at = wfi_host_seconds() - idle;
    fake.slow = slow;
    fake.slow_reads = slow > 1 ? 2 : 0; /* the first run, and the first that warms */
    fake.reads = 0;
    assert_int_equal(wfi_search_sample(&o->search, &runner, 0, &c), WF_SUCCESS);
    assert_true(fabs(c.seconds * 1e3 - 10) < 0.01);
    wfi_runner_close(&runner);
    return fake.reads;
}

/* The first run, the one that its number of units is taken from, and three samples. */
enum { RUNS_OF_SAMPLE = 5 };

/* Samples until a clock was seen to hold eight times while the device idled for so long, each time
 * with warming. A busy machine may leave time for a single run, which tells nothing. */
static void see_that_it_holds(opened *o, double idle)
{
    enum { LEARNT = 8, MOST = 100 };
    for (int i = 0; i < MOST && (o->search.steady < LEARNT || o->search.steady_idle < idle); i++)
        assert_true(runs_of_sample(o, idle, 1) > RUNS_OF_SAMPLE);
    assert_true(o->search.steady >= LEARNT);
}

/* A clock that holds while the device idles needs no work to rise again; one that falls does. */
static void a_clock_that_holds_is_not_warmed(void **state)
{
    (void)state;
    opened *o = open_search(true);
    o->search.measure_until = o->search.decide_until = 1000; /* for all samples of a look */
    see_that_it_holds(o, 0.1);
    assert_int_equal(runs_of_sample(o, 0.05, 1), RUNS_OF_SAMPLE);
    see_that_it_holds(o, 10); /* it never idled for so long */
    assert_int_equal(runs_of_sample(o, 9, 1), RUNS_OF_SAMPLE);
    assert_true(runs_of_sample(o, 20, 1.1) > RUNS_OF_SAMPLE);
    assert_int_equal(o->search.steady, 0);
    see_that_it_holds(o, 0.1);
    assert_true(wfi_host_seconds() - o->search.ran_at < 0.1);
    assert_int_equal(runs_of_sample(o, 0.05, 1), RUNS_OF_SAMPLE);
    assert_true(runs_of_sample(o, 5, 1) > RUNS_OF_SAMPLE);
    assert_int_equal(runs_of_sample(o, 0.05, 1), RUNS_OF_SAMPLE);
    o->search.settled_at = 0;
    o->search.ran_at = wfi_host_seconds();
    fake.slow = 2;
    wfi_search_settle(&o->search);
    fake.slow = 1;
    o->search.elite[0].seconds = 1e-2;
    assert_true(runs_of_sample(o, 0.05, 1) > RUNS_OF_SAMPLE);
    close_search(o);
    o = open_search(false); /* a processor has no such clock */
    assert_true(runs_of_sample(o, 0.1, 1) <= RUNS_OF_SAMPLE);
    close_search(o);
}

/* A decision in whose midst the clock fell is made once more. */
static void a_decision_outlasts_a_fall(void **state)
{
    (void)state;
    opened *o = open_search(true);
    fake.fall = 5;
    assert_int_equal(wfi_search_decide(&o->search), WF_SUCCESS);
    assert_true(fake.deciding > 10);
    assert_true(fabs(o->result.best_us - 2e4) < 100);
    assert_int_equal(o->result.best.constants[0].value, 32);
    assert_int_equal(o->result.best.constants[1].value, 2);
    close_search(o);
    o = open_search(true);
    assert_int_equal(wfi_search_decide(&o->search), WF_SUCCESS);
    assert_true(fake.deciding < 10);
    close_search(o);
}

/* What was chosen before keeps its place against what is faster by less than the noise. */
static void a_winner_wins_by_more_than_the_noise(void **state)
{
    (void)state;
    for (int noisy = 0; noisy < 2; noisy++) {
        opened *o = open_search(false);
        fake.close = true;
        fake.noise = noisy ? 0.1 : 0;
        o->search.incumbent = o->search.elite[1];
        assert_int_equal(wfi_search_decide(&o->search), WF_SUCCESS);
        assert_true(fake.deciding >= 7);
        assert_int_equal(o->result.best.constants[1].value, noisy ? 1 : 2);
        assert_int_equal(o->search.elite[0].hash == o->search.incumbent.hash, noisy);
        assert_true(o->result.before_us > 0);
        close_search(o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_never_wins),
        cmocka_unit_test(times_follow_the_clock),
        cmocka_unit_test(a_clock_may_recover),
        cmocka_unit_test(a_long_idle_is_looked_into),
        cmocka_unit_test(measured_points_are_learned_of),
        cmocka_unit_test(a_clock_that_holds_is_not_warmed),
        cmocka_unit_test(a_decision_outlasts_a_fall),
        cmocka_unit_test(a_winner_wins_by_more_than_the_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
