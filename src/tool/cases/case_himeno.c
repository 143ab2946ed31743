#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/cases/case_parts.h"
#include "tool/cases/cases.h"
#include "core/platform.h"
#include "tool/cases/vectors.h"
#include "tool/cli/progress.h"

#define REHEARSAL 3 /* iterations, as the official program does */
#define MOST_REHEARSAL 33
#define PENTIUM_III 82.84   /* MFLOPS of the 600 MHz Pentium III that scores 1 */
#define CHECKED_CELLS 20000 /* where all cells would take too long */
#define SAMPLES 5
#define WARM_UP_SECONDS 0.5 /* of a GPU */
#define MOST_ITERATIONS 1000000000u
#define STRETCH_SECONDS 0.4 /* of the measured run, after which it is shown how far it is */
#define STRETCH_STEP 12     /* whole passes of 2, 3 and 4 iterations */
#define MOST_FOLLOWED 2e8   /* updates that the host makes to check a run from other start values */
#define LAST_ITERATIONS 3   /* that are checked where all would be more */

typedef struct work {
    wf_himeno *himeno;
    float *p;
    float *before; /* p before the iterations that are checked */
    double pace;   /* seconds an iteration, as far as known */
    /* of the measured run */
    uint32_t done;
    double begun; /* host clock */
    float gosa;
} work;

/* How many iterations of the rehearsal make the kernels run that the measurement has: two whole
 * passes, one in each direction, and an iteration that is left over. */
static uint32_t rehearsal_count(const wf_plan_info *plan)
{
    for (uint32_t i = 0; i < plan->constant_count; i++)
        if (strcmp(plan->constants[i].name, "steps") == 0 && plan->constants[i].value > 1)
            return 2 * plan->constants[i].value + 1;
    return REHEARSAL;
}

/* Compares p, which was read, and gosa with what they are after as many iterations from the
 * start. */
static wf_result compare(const wf_himeno_params *params, work *w, uint32_t iterations, float gosa,
                         uint64_t seed, wf_check *check)
{
    double gosa_error = 0;
    const wf_result result = wf_himeno_check(params, NULL, iterations, w->p, gosa, CHECKED_CELLS,
                                             seed, check, &gosa_error);
    if (result == WF_SUCCESS && (gosa_error > check->error_over_bound || isnan(gosa_error)))
        check->error_over_bound = gosa_error;
    return result;
}

/* A few iterations from the start values, compared with f64; the official program's gosa is that of
 * the third. */
static wf_result rehearse(const wf_himeno_params *params, work *w, uint64_t seed,
                          wfi_result_case *out)
{
    float gosa[MOST_REHEARSAL];
    double seconds = 0;
    bool gpu_clock;
    const uint32_t wanted = rehearsal_count(&out->plan);
    const uint32_t count = wanted <= MOST_REHEARSAL ? wanted : REHEARSAL;
    wf_result result = wf_himeno_start(w->himeno);
    if (result == WF_SUCCESS)
        result = wf_himeno_run_each(w->himeno, count, gosa, &seconds, &gpu_clock);
    if (result == WF_SUCCESS)
        result = wf_himeno_read(w->himeno, w->p);
    if (result == WF_SUCCESS)
        result = compare(params, w, count, gosa[count - 1], seed, &out->check);
    if (result != WF_SUCCESS)
        return result;
    w->pace = seconds / count;
    wfi_result_case_extra(out, "rehearsal_iterations", count);
    wfi_result_case_extra(out, "rehearsal_gosa", (double)gosa[REHEARSAL - 1]);
    wfi_result_case_extra(out, "rehearsal_mflops", out->plan.flops / w->pace * 1e-6);
    wfi_case_checked(out, "gosa or cell", out->check.worst);
    return WF_SUCCESS;
}

/* What the measured run left, after any number of iterations. */
static wf_result verify_measured(const wfi_session *session, const wf_himeno_params *params,
                                 work *w, wfi_result_case *out)
{
    wf_check check = {0};
    wfi_case_stage(session, out, WFI_STAGE_DOWNLOAD);
    wf_result result = wf_himeno_read(w->himeno, w->p);
    wfi_case_stage(session, out, WFI_STAGE_CHECK);
    if (result == WF_SUCCESS)
        result = compare(params, w, REHEARSAL + w->done, w->gosa, session->common->seed, &check);
    if (result != WF_SUCCESS)
        return result;
    out->checked_how = check.checked ? "all cells and gosa of the measured run against f64"
                                     : "the measured run: all cells' range, their sums with sine "
                                       "waves, and gosa";
    if (!(check.error_over_bound <= 1)) {
        out->check.error_over_bound = check.error_over_bound;
        out->check.worst = check.worst;
        wfi_case_checked(out, "gosa, sum or cell of the measured run", check.worst);
    }
    return WF_SUCCESS;
}

/* Runs for a while, since a GPU that was idle raises its clocks over some tenths of a second,
 * and then to where the rehearsal had come: the measured run goes on from there, as the
 * official one. */
static wf_result warm_up(wfi_session *session, work *w, const wfi_result_case *out)
{
    double count = floor(fmin(1 + WARM_UP_SECONDS / (w->pace + 1e-9), 1e6)), total = 0;
    wf_result result = WF_SUCCESS;
    const double wanted =
        session->caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU ? 0 : WARM_UP_SECONDS;
    wfi_case_stage(session, out, WFI_STAGE_TIME);
    while (total < wanted && result == WF_SUCCESS) {
        double seconds = 0;
        result = wf_himeno_run(w->himeno, (uint32_t)count, NULL, &seconds, NULL);
        total += seconds;
        w->pace = seconds / count;
        count = fmin(count * 2, 1e6);
    }
    wfi_case_stage(session, out, WFI_STAGE_UPLOAD);
    if (result == WF_SUCCESS)
        result = wf_himeno_start(w->himeno);
    wfi_case_stage(session, out, WFI_STAGE_RUN);
    return result == WF_SUCCESS ? wf_himeno_run(w->himeno, REHEARSAL, NULL, NULL, NULL) : result;
}

static void show(const wfi_session *session, const wfi_himeno_request *r, const wfi_result_case *c,
                 const work *w)
{
    const double elapsed = wfi_host_seconds() - w->begun;
    char text[160];
    if (r->iterations)
        snprintf(text, sizeof text, "%s: iteration %u of %u", c->name, w->done, r->iterations);
    else
        snprintf(text, sizeof text, "%s: iteration %u, %.0f of %g s", c->name, w->done, elapsed,
                 r->seconds);
    wfi_progress_phase(
        session->common->quiet,
        r->iterations ? (double)w->done / r->iterations : fmin(elapsed / r->seconds, 1), text);
}

/* Iterations that take about STRETCH_SECONDS. */
static uint32_t stretch_of(const work *w)
{
    const double fit = STRETCH_SECONDS / (w->pace + 1e-9) / STRETCH_STEP;
    return fit < 1 ? STRETCH_STEP : (uint32_t)fmin(fit, 1e6) * STRETCH_STEP;
}

/* How many iterations are next in a sample where their number is given; 0: it is over. */
static uint32_t next_counted(const wfi_himeno_request *r, const work *w, uint32_t sample)
{
    const uint32_t end = (uint32_t)((uint64_t)r->iterations * (sample + 1) / SAMPLES);
    const uint32_t stretch = stretch_of(w), left = end - w->done;
    return left < stretch ? left : stretch;
}

/* The same where the time is given: it is looked up before each stretch, since the pace changes
 * with all else that the machine does. */
static uint32_t next_timed(const wfi_himeno_request *r, const work *w, uint32_t sample)
{
    const double end = w->begun + r->seconds * (sample + 1) / SAMPLES;
    const double room = (end - wfi_host_seconds()) / (w->pace + 1e-9);
    const uint32_t stretch = stretch_of(w), left = MOST_ITERATIONS - w->done;
    uint32_t count = room < stretch ? (uint32_t)fmax(room, 1) : stretch;
    if (room < 0.5 && w->done > 0)
        count = 0;
    return count < left ? count : left;
}

/* One sample: iterations in stretches. Where one is cut short, those before it count. *total gets
 * the seconds added. */
static wf_result run_phase(wfi_session *session, const wfi_himeno_request *r, work *w,
                           uint32_t sample, wfi_result_case *out, double *total)
{
    const uint32_t begin = w->done;
    double sum = 0;
    wf_result result = WF_SUCCESS;
    for (;;) {
        const uint32_t count =
            r->iterations ? next_counted(r, w, sample) : next_timed(r, w, sample);
        const double start = wfi_host_seconds();
        double seconds = 0;
        if (count == 0)
            break;
        show(session, r, out, w);
        result = wf_himeno_run(w->himeno, count, &w->gosa, &seconds, &out->timing.gpu_clock);
        if (result != WF_SUCCESS)
            break;
        w->done += count;
        w->pace = (wfi_host_seconds() - start) / count;
        sum += seconds;
    }
    if (w->done > begin) {
        out->timing.samples_us[out->timing.count++] = sum / (w->done - begin) * 1e6;
        out->timing.batch = w->done - begin;
    }
    *total += sum;
    return result;
}

/* The measured run, on from the rehearsal, in a few samples that give the spread. What is cut short
 * has the figures of what it came to. */
static wf_result measure(wfi_session *session, const wfi_himeno_request *r, work *w,
                         wfi_result_case *out)
{
    double total = 0;
    wf_result result = warm_up(session, w, out);
    w->begun = wfi_host_seconds();
    for (uint32_t sample = 0; sample < SAMPLES && result == WF_SUCCESS; sample++)
        result = run_phase(session, r, w, sample, out, &total);
    wfi_case_stage(session, out, WFI_STAGE_TIME); /* of the ceiling */
    if (w->done == 0 || (result != WF_SUCCESS && result != WF_ERROR_CANCELLED))
        return result;
    wfi_case_summarise(&out->timing);
    out->has_timing = true;
    out->rate = out->plan.flops * w->done / total * 1e-6;
    out->rate_unit = "MFLOPS";
    wfi_case_bandwidth(session, out, out->plan.least_bytes * w->done / total * 1e-9);
    wfi_result_case_extra(out, "iterations", w->done);
    wfi_result_case_extra(out, "gosa", (double)w->gosa);
    wfi_result_case_extra(out, "seconds", total);
    wfi_result_case_extra(out, "score", out->rate / PENTIUM_III);
    return result;
}

/* Compares p after `iterations` from the arrays, all cells of it. */
static wf_result compare_own(const wf_himeno_params *params, const wf_himeno_arrays *start,
                             uint32_t iterations, work *w, uint64_t seed, wfi_result_case *out)
{
    double gosa_error = 0;
    const wf_result result = wf_himeno_check(params, start, iterations, w->p, w->gosa, 0, seed,
                                             &out->check, &gosa_error);
    if (result == WF_SUCCESS && !(gosa_error <= out->check.error_over_bound))
        out->check.error_over_bound = gosa_error;
    if (result == WF_SUCCESS)
        wfi_case_checked(out, "gosa or cell", out->check.worst);
    return result;
}

/* Iterations from the caller's arrays. Where following all of them on the host would take long, the
 * last ones are, from the p that the device had before them. */
static wf_result run_own(wfi_session *session, const wf_himeno_params *params,
                         const wfi_himeno_request *r, work *w, double *seconds,
                         wfi_result_case *out)
{
    const size_t cells = (size_t)r->ni * r->nj * r->nk;
    const bool all =
        (double)cells * r->iterations <= MOST_FOLLOWED || r->iterations <= LAST_ITERATIONS;
    const uint32_t checked = all ? r->iterations : LAST_ITERATIONS;
    wf_himeno_arrays start = *r->start;
    double rest = 0;
    wf_result result = wf_himeno_write(w->himeno, r->start);
    wfi_case_stage(session, out, WFI_STAGE_RUN);
    if (result == WF_SUCCESS && !all) {
        w->before = malloc(cells * sizeof *w->before);
        result = w->before ? wf_himeno_run(w->himeno, r->iterations - checked, NULL, &rest, NULL)
                           : WF_ERROR_OUT_OF_HOST_MEMORY;
        if (result == WF_SUCCESS)
            result = wf_himeno_read(w->himeno, w->before);
        start.p = w->before;
        out->checked_how = "the last 3 iterations against f64, from what those before left";
    }
    if (result == WF_SUCCESS)
        result = wf_himeno_run(w->himeno, checked, &w->gosa, seconds, &out->timing.gpu_clock);
    *seconds += rest;
    wfi_case_stage(session, out, WFI_STAGE_DOWNLOAD);
    if (result == WF_SUCCESS)
        result = wf_himeno_read(w->himeno, w->p);
    wfi_case_stage(session, out, WFI_STAGE_CHECK);
    return result == WF_SUCCESS
               ? compare_own(params, &start, checked, w, session->common->seed, out)
               : result;
}

/* The iterations that were asked for, once. */
static wf_result run_once(wfi_session *session, const wf_himeno_params *params,
                          const wfi_himeno_request *r, work *w, wfi_result_case *out)
{
    double seconds = 0;
    wf_result result = WF_SUCCESS;
    wfi_case_stage(session, out, WFI_STAGE_UPLOAD);
    if (r->start) {
        result = run_own(session, params, r, w, &seconds, out);
    } else {
        result = wf_himeno_start(w->himeno);
        wfi_case_stage(session, out, WFI_STAGE_RUN);
        if (result == WF_SUCCESS)
            result = wf_himeno_run(w->himeno, r->iterations, &w->gosa, &seconds, NULL);
        wfi_case_stage(session, out, WFI_STAGE_DOWNLOAD);
        if (result == WF_SUCCESS)
            result = wf_himeno_read(w->himeno, w->p);
        wfi_case_stage(session, out, WFI_STAGE_CHECK);
        if (result == WF_SUCCESS)
            result = compare(params, w, r->iterations, w->gosa, session->common->seed, &out->check);
        if (result == WF_SUCCESS)
            wfi_case_checked(out, "gosa, sum or cell", out->check.worst);
    }
    if (result != WF_SUCCESS)
        return result;
    wfi_result_case_extra(out, "iterations", r->iterations);
    wfi_result_case_extra(out, "gosa", (double)w->gosa);
    wfi_result_case_extra(out, "seconds", seconds);
    if (r->p && out->status == WFI_STATUS_OK)
        memcpy(r->p, w->p, (size_t)r->ni * r->nj * r->nk * sizeof *r->p);
    return WF_SUCCESS;
}

/* For `explain`: the relaxation, and the sum of gosa. Failing to is no failure of the case. */
static void time_kernels(wfi_session *session, work *w, wfi_result_case *out)
{
    wf_plan_kernel kernels[WF_HIMENO_KERNELS] = {{.size = sizeof kernels[0]},
                                                 {.size = sizeof kernels[1]}};
    double us[WF_HIMENO_KERNELS];
    if (wf_himeno_time_kernels(w->himeno, kernels, us, &out->kernels_gpu_clock) != WF_SUCCESS)
        return;
    wf_occupancy occupancy = {.fraction = (double)NAN};
    wf_kernel_occupancy(session->caps, &kernels[0].info, &occupancy);
    for (uint32_t i = 0; i < WF_HIMENO_KERNELS; i++)
        session->kernels[i] =
            (wfi_result_kernel){.kernel = kernels[i], .us = us[i], .occupancy = (double)NAN};
    session->kernels[0].occupancy = occupancy.fraction;
    session->kernels[0].occupancy_limit = occupancy.limited_by;
    out->kernels = session->kernels;
    out->kernel_count = WF_HIMENO_KERNELS;
}

static wf_result run(wfi_session *session, const wf_himeno_params *params,
                     const wfi_himeno_request *r, work *w, wfi_result_case *out)
{
    uint32_t slabs = 0;
    w->p = wfi_answer_memory((size_t)r->ni * r->nj * r->nk * sizeof(float));
    if (!w->p)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    wfi_case_stage(session, out, WFI_STAGE_ANALYSIS);
    wf_result result = wf_himeno_create(session->device, params, &w->himeno);
    if (result == WF_SUCCESS)
        result = wf_himeno_describe(w->himeno, &out->plan, &slabs);
    if (result != WF_SUCCESS)
        return result;
    out->has_plan = true;
    wfi_result_case_extra(out, "slabs", slabs);
    if (r->once)
        return run_once(session, params, r, w, out);
    wfi_case_stage(session, out, WFI_STAGE_CHECK); /* of the rehearsal */
    result = rehearse(params, w, session->common->seed, out);
    if (result == WF_SUCCESS && out->status == WFI_STATUS_OK)
        result = measure(session, r, w, out);
    if (result == WF_SUCCESS && out->status == WFI_STATUS_OK)
        result = verify_measured(session, params, w, out);
    if (result == WF_SUCCESS && out->status == WFI_STATUS_OK && session->kernels)
        time_kernels(session, w, out);
    return result;
}

wf_result wfi_case_himeno(wfi_session *session, const wfi_himeno_request *request,
                          wfi_result_case *out)
{
    const wfi_himeno_request *r = request;
    const wf_himeno_params params = {.size = sizeof params,
                                     .ni = r->ni,
                                     .nj = r->nj,
                                     .nk = r->nk,
                                     .tuning = &session->tuning,
                                     .cancel = &session->cancel};
    work w = {0};
    wfi_result_case_init(out, "himeno");
    snprintf(out->name, sizeof out->name, "%s", r->name);
    wfi_result_case_fact(out, "ni", r->ni);
    wfi_result_case_fact(out, "nj", r->nj);
    wfi_result_case_fact(out, "nk", r->nk);
    out->type = wf_type_name(WF_TYPE_F32);
    out->plan.size = sizeof out->plan;
    /* The host keeps p, and checking some cells of it needs as much again at most twice. */
    const double host = 3.0 * r->ni * r->nj * r->nk * sizeof(double);
    if (!wfi_session_fits(session, out, (double)wf_himeno_memory(&params), host))
        return WF_ERROR_TOO_LARGE;
    wf_result result = run(session, &params, r, &w, out);
    if (result != WF_SUCCESS)
        wfi_case_fail(session, out, result);
    wf_himeno_destroy(&w.himeno);
    free(w.p);
    free(w.before);
    return result;
}
