/* Works through the public functions of each family, as a caller would. */
#include "core/element.h"
#include "core/random.h"
#include "tune/trial.h"

#include <string.h>

#include "core/command.h"
#include "core/heap.h"
#include "core/params.h"
#include "kernels/families.h"
#include "plan/hooks.h"
#include "solve/himeno.h"

#define CHECK_CELLS 4000   /* of Himeno's grid */
#define CHECK_ITERATIONS 9 /* two passes of 4, the longest, and one more */

static const wfi_family_hooks *hooks_of(const wfi_trial *trial)
{
    return wfi_family_get(trial->searched->family)->hooks;
}

/* --------------------------------------------------------------------------------------- inputs */

/* Random elements between -1 and 1; of integers, any. */
static void fill_random(void *data, wf_type type, uint64_t bytes, uint64_t seed)
{
    if (wfi_element_of(type)->whole)
        for (uint64_t i = 0; i < bytes; i++)
            ((uint8_t *)data)[i] = (uint8_t)wfi_random_bits(&seed);
    else
        for (uint64_t i = 0; i < bytes / wf_type_size(type); i++)
            wf_element_set(type, data, i, (double)(wfi_random_bits(&seed) >> 11) * 0x1p-52 - 1.0);
}

wf_tuning wfi_point_tuning(const wfi_point *point, wf_constant *constants)
{
    const uint32_t count = point->variant->parameter_count;
    for (uint32_t i = 0; i < count; i++)
        constants[i] = (wf_constant){point->variant->parameters[i].name, wfi_point_get(point, i)};
    return (wf_tuning){.size = sizeof(wf_tuning),
                       .variant = point->variant->name,
                       .constants = constants,
                       .constant_count = count,
                       .no_tuning = true};
}

/* -------------------------------------------------------------------------------------- runners */

static wf_result open_plan(const wfi_trial *trial, const wf_tuning *tuning, wfi_runner *runner)
{
    wf_result result = trial->searched->plan(trial->device, trial->own, tuning, &runner->plan);
    const uint64_t workspace = result == WF_SUCCESS ? wf_plan_workspace(runner->plan) : 0;
    if (workspace)
        result = wf_buffer_create(trial->device, workspace, WF_MEMORY_DEVICE, &runner->workspace);
    runner->unit = 1;
    return result == WF_SUCCESS ? wf_plan_describe(runner->plan, &runner->info) : result;
}

static wf_result open_himeno(const wfi_trial *trial, const wf_tuning *tuning, wfi_runner *runner)
{
    wf_himeno_params params = *(const wf_himeno_params *)trial->own;
    uint32_t slabs;
    params.tuning = tuning;
    wf_result result = wf_himeno_create(trial->device, &params, &runner->himeno);
    if (result == WF_SUCCESS)
        result = wf_himeno_start(runner->himeno);
    if (result != WF_SUCCESS)
        return result;
    runner->unit = runner->himeno->passes[0].steps;
    return wf_himeno_describe(runner->himeno, &runner->info, &slabs);
}

wf_result wfi_runner_open(const wfi_trial *trial, const wf_tuning *tuning, wfi_runner *out)
{
    *out = (wfi_runner){.trial = trial, .info = {.size = sizeof out->info}};
    const wf_result result =
        trial->searched->plan ? open_plan(trial, tuning, out) : open_himeno(trial, tuning, out);
    if (result != WF_SUCCESS)
        wfi_runner_close(out);
    return result;
}

void wfi_runner_close(wfi_runner *runner)
{
    wf_plan_destroy(&runner->plan);
    wf_buffer_destroy(&runner->workspace);
    wf_himeno_destroy(&runner->himeno);
}

static wf_bindings bindings_of(const wfi_runner *runner)
{
    wf_bindings bindings = {.size = sizeof bindings, .workspace = {.buffer = runner->workspace}};
    for (uint32_t i = 0; i < runner->trial->binding_count; i++)
        bindings.items[i].buffer = runner->trial->buffers[i];
    return bindings;
}

/* ------------------------------------------------------------------------------------ verifying */

/* Outputs become NaN, or where the algorithm reads them first what they were. */
static wf_result reset_outputs(const wfi_trial *trial)
{
    wf_result result = WF_SUCCESS;
    for (uint32_t i = 0; i < trial->binding_count && result == WF_SUCCESS; i++)
        if (trial->buffers[i] && (trial->specs[i].access & WFI_WRITES))
            result =
                wf_buffer_fill(trial->buffers[i], 0, wf_buffer_size(trial->buffers[i]), UINT32_MAX);
    return result;
}

static wf_result check_outputs(const wfi_trial *trial, wf_check *check)
{
    return hooks_of(trial)->check(trial->own, trial->host, trial->params.seed, check);
}

static wf_result verify_plan(wfi_runner *runner, wf_check *check)
{
    const wfi_trial *trial = runner->trial;
    const wf_bindings bindings = bindings_of(runner);
    wf_result result = reset_outputs(trial);
    if (result == WF_SUCCESS)
        result = wf_plan_run(runner->plan, &bindings);
    for (uint32_t i = 0; i < trial->binding_count && result == WF_SUCCESS; i++)
        if (trial->buffers[i] && (trial->specs[i].access & WFI_WRITES))
            result = wf_buffer_read(trial->buffers[i], 0, trial->host[i], trial->specs[i].bytes);
    if (result == WF_SUCCESS)
        result = wfi_device_goes_on(trial->device);
    return result == WF_SUCCESS ? check_outputs(trial, check) : result;
}

static wf_result verify_himeno(wfi_runner *runner, wf_check *check)
{
    const wfi_trial *trial = runner->trial;
    double seconds, gosa_error = 0;
    float gosa = 0;
    bool gpu_clock;
    wf_result result = runner->begun ? wf_himeno_start(runner->himeno) : WF_SUCCESS;
    runner->begun = true;
    if (result == WF_SUCCESS)
        result = wf_himeno_run(runner->himeno, CHECK_ITERATIONS, &gosa, &seconds, &gpu_clock);
    if (result == WF_SUCCESS)
        result = wf_himeno_read(runner->himeno, trial->p);
    if (result == WF_SUCCESS)
        result = wfi_device_goes_on(trial->device);
    if (result == WF_SUCCESS)
        result = wf_himeno_check(trial->own, NULL, CHECK_ITERATIONS, trial->p, gosa, CHECK_CELLS,
                                 trial->params.seed, check, &gosa_error);
    if (result == WF_SUCCESS && !(gosa_error <= check->error_over_bound))
        check->error_over_bound = gosa_error;
    return result;
}

wf_result wfi_runner_verify(wfi_runner *runner, bool *right)
{
    wf_check check = {0};
    wf_result result = wfi_device_goes_on(runner->trial->device);
    if (result == WF_SUCCESS)
        result = runner->himeno ? verify_himeno(runner, &check) : verify_plan(runner, &check);
    *right = result == WF_SUCCESS && check.error_over_bound <= 1;
    return result;
}

/* --------------------------------------------------------------------------------------- timing */

typedef struct repeated {
    wfi_runner *runner;
    uint32_t count;
    wf_bindings bindings;
} repeated;

static wf_result record_repeated(void *user, VkCommandBuffer command_buffer)
{
    const repeated *r = user;
    wf_result result = WF_SUCCESS;
    for (uint32_t i = 0; i < r->count && result == WF_SUCCESS; i++) {
        if (i > 0)
            wfi_barrier_compute(r->runner->trial->device, command_buffer);
        result = wfi_plan_record(r->runner->plan, command_buffer, &r->bindings);
    }
    return result;
}

wf_result wfi_runner_time(wfi_runner *runner, uint32_t count, double *seconds)
{
    bool gpu_clock;
    const uint32_t executions = count * runner->unit;
    wf_result result = wfi_device_goes_on(runner->trial->device);
    *seconds = 0;
    if (result != WF_SUCCESS)
        return result;
    runner->begun = true;
    if (runner->himeno) {
        float gosa;
        result = wf_himeno_run(runner->himeno, executions, &gosa, seconds, &gpu_clock);
    } else {
        repeated r = {runner, executions, bindings_of(runner)};
        result =
            wfi_run_timed(runner->trial->device, NULL, record_repeated, &r, seconds, &gpu_clock);
    }
    *seconds /= executions;
    return result;
}

/* --------------------------------------------------------------------------------------- trials */

static wf_result make_buffer(wfi_trial *trial, uint32_t index)
{
    const wfi_binding_spec *spec = &trial->specs[index];
    if (spec->bytes == 0)
        return WF_SUCCESS;
    trial->host[index] = wfi_malloc((size_t)spec->bytes);
    if (!trial->host[index])
        return wfi_no_memory(&trial->device->log);
    wf_result result =
        wf_buffer_create(trial->device, spec->bytes, WF_MEMORY_DEVICE, &trial->buffers[index]);
    if (result != WF_SUCCESS || !(spec->access & WFI_READS))
        return result;
    fill_random(trial->host[index], hooks_of(trial)->element(trial->problem.type, index),
                spec->bytes, trial->params.seed + 1 + index);
    return wf_buffer_write(trial->buffers[index], 0, trial->host[index], spec->bytes);
}

/* The reference variant, simple and legal everywhere, tells what the problem looks like. */
static wf_result describe(wfi_trial *trial)
{
    const wf_tuning reference = {.size = sizeof reference,
                                 .variant =
                                     wfi_family_get(trial->searched->family)->variants[0]->name,
                                 .no_tuning = true};
    wfi_runner runner;
    wf_result result = wfi_runner_open(trial, &reference, &runner);
    if (result != WF_SUCCESS)
        return result;
    if (runner.himeno) {
        trial->problem = runner.himeno->problem;
    } else if (runner.info.dispatches == 0) {
        result = wfi_fail(&trial->device->log, WF_ERROR_INVALID_ARGUMENT,
                          "wf_tune: the problem is empty");
    } else {
        const wfi_binding_spec *specs = wfi_plan_bindings(runner.plan, &trial->binding_count);
        memcpy(trial->specs, specs, trial->binding_count * sizeof *specs);
        trial->problem = *wfi_plan_problem(runner.plan);
    }
    wfi_runner_close(&runner);
    return result;
}

/* Copies the problem, whose structure may be of an older header. Scaling takes no time to speak of,
 * and without it outputs are written alone. */
static wf_result read_problem(wfi_trial *out)
{
    const wfi_log *log = &out->device->log;
    out->own = wfi_calloc(1, out->searched->bytes);
    if (!out->own)
        return wfi_no_memory(log);
    const wf_result result =
        wfi_params_read(log, "wf_tune", wfi_searched_given(out->searched, &out->params), out->own,
                        out->searched->bytes);
    if (result == WF_SUCCESS && hooks_of(out)->simplify)
        hooks_of(out)->simplify(out->own);
    return result;
}

wf_result wfi_trial_open(wf_device *device, const wf_tune_params *params, wfi_trial *out)
{
    /* The caller has seen to it that there is one problem. */
    *out = (wfi_trial){.device = device, .params = *params, .searched = wfi_searched_of(params)};
    wf_result result = read_problem(out);
    if (result == WF_SUCCESS)
        result = describe(out);
    for (uint32_t i = 0; i < out->binding_count && result == WF_SUCCESS; i++) {
        result = wfi_device_goes_on(device);
        if (result == WF_SUCCESS)
            result = make_buffer(out, i);
    }
    if (result == WF_SUCCESS && !out->searched->plan) {
        const wf_himeno_params *h = out->own;
        out->p = wfi_malloc((size_t)h->ni * h->nj * h->nk * sizeof(float));
        if (!out->p)
            result = wfi_no_memory(&device->log);
    }
    if (result != WF_SUCCESS)
        wfi_trial_close(out);
    return result;
}

void wfi_trial_close(wfi_trial *trial)
{
    for (uint32_t i = 0; i < trial->binding_count; i++) {
        wf_buffer_destroy(&trial->buffers[i]);
        wfi_free(trial->host[i]);
        trial->host[i] = NULL;
    }
    wfi_free(trial->own);
    trial->own = NULL;
    wfi_free(trial->p);
    trial->p = NULL;
}
