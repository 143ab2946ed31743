#include "io/results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <yyjson.h>

#include "core/arithmetic.h"
#include "core/text.h"
#include "io/json.h"
#include "io/results_device.h"
#include "io/results_parts.h"

const char *wfi_status_name(wfi_status status)
{
    static const char *const names[] = {"ok",      "failed", "unsupported",
                                        "skipped", "error",  "cancelled"};
    return names[status];
}

const char *wfi_stage_name(wfi_stage stage)
{
    static const char *const names[] = {"read",     "device", "analysis", "upload", "run",
                                        "download", "check",  "time",     "write"};
    return names[stage];
}

double wfi_stages_whole(const double seconds[WFI_STAGE_COUNT])
{
    return seconds[WFI_STAGE_ANALYSIS] + seconds[WFI_STAGE_UPLOAD] + seconds[WFI_STAGE_RUN] +
           seconds[WFI_STAGE_DOWNLOAD];
}

void wfi_result_case_init(wfi_result_case *c, const char *family)
{
    memset(c, 0, sizeof *c);
    c->family = family;
    c->rate = c->gbs = c->percent = (double)NAN;
    c->floor_us = c->occupancy = c->study.value = (double)NAN;
    c->study.gain = c->study.gain_low = c->study.gain_high = c->study.lanes_idle = (double)NAN;
}

void wfi_result_case_fact(wfi_result_case *c, const char *name, double number)
{
    if (c->fact_count < WFI_MAX_PROBLEM)
        c->facts[c->fact_count++] = (wfi_fact){name, NULL, number};
}

void wfi_result_case_extra(wfi_result_case *c, const char *name, double number)
{
    if (c->extra_count < WFI_MAX_PROBLEM)
        c->extras[c->extra_count++] = (wfi_fact){name, NULL, number};
}

/* ------------------------------------------------------------------------------------- pieces */

static void put_facts(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_fact *facts,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (facts[i].text)
            wfi_json_put_text(doc, object, facts[i].name, facts[i].text);
        else
            wfi_json_put_number(doc, object, facts[i].name, facts[i].number);
}

static void put_point(yyjson_mut_doc *doc, yyjson_mut_val *object, const wf_plan_info *plan)
{
    wfi_json_put_text(doc, object, "variant", plan->variant);
    yyjson_mut_val *constants = yyjson_mut_obj_add_obj(doc, object, "constants");
    for (uint32_t i = 0; i < plan->constant_count; i++)
        yyjson_mut_obj_add_uint(doc, constants, plan->constants[i].name, plan->constants[i].value);
}

static void put_plan(yyjson_mut_doc *doc, yyjson_mut_val *object, const wf_plan_info *plan)
{
    put_point(doc, object, plan);
    if (plan->dispatches == 0) /* what was asked for, but could not be made */
        return;
    wfi_json_put_text(doc, object, "chosen_by", plan->chosen_by);
    yyjson_mut_obj_add_uint(doc, object, "dispatches", plan->dispatches);
    wfi_json_put_number(doc, object, "flops", plan->flops);
    wfi_json_put_number(doc, object, "least_bytes", plan->least_bytes);
}

static void put_timing(yyjson_mut_doc *doc, yyjson_mut_val *object, const wf_timing *timing)
{
    wfi_json_put_text(doc, object, "clock", timing->gpu_clock ? "gpu" : "host");
    wfi_json_put_text(doc, object, "cache", timing->cold ? "cold" : "hot");
    yyjson_mut_val *time = yyjson_mut_obj_add_obj(doc, object, "time_us");
    wfi_json_put_number(doc, time, "median", timing->median_us);
    wfi_json_put_number(doc, time, "min", timing->min_us);
    wfi_json_put_number(doc, time, "q1", timing->q1_us);
    wfi_json_put_number(doc, time, "q3", timing->q3_us);
    wfi_json_put_number(doc, time, "spread", timing->spread);
    if (timing->count == 0) /* of a search, which keeps no samples */
        return;
    yyjson_mut_obj_add_uint(doc, time, "count", timing->count);
    yyjson_mut_obj_add_uint(doc, time, "batch", timing->batch);
    yyjson_mut_obj_add_val(doc, object, "samples_us",
                           yyjson_mut_arr_with_double(doc, timing->samples_us, timing->count));
}

static void put_check(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_result_case *c)
{
    const wf_check *check = &c->check;
    yyjson_mut_val *verified = yyjson_mut_obj_add_obj(doc, object, "verified");
    yyjson_mut_obj_add_bool(doc, verified, "holds", check->error_over_bound <= 1);
    wfi_json_put_number(doc, verified, "error_over_bound", check->error_over_bound);
    yyjson_mut_obj_add_uint(doc, verified, "checked", check->checked);
    yyjson_mut_obj_add_uint(doc, verified, "total", check->total);
    if (check->summed) {
        yyjson_mut_obj_add_uint(doc, verified, "summed", check->summed);
        wfi_json_put_number(doc, verified, "missed", check->missed);
    }
    if (check->ranged)
        yyjson_mut_obj_add_uint(doc, verified, "ranged", check->ranged);
    if (c->checked_how)
        yyjson_mut_obj_add_str(doc, verified, "also", c->checked_how);
}

bool wfi_statistic_means(const wf_statistic *statistic)
{
    const char *name = statistic->name;
    for (; *name; name++)
        if (wfi_begins_with(name, "hash"))
            return false;
    return statistic->value < 4294967296.0;
}

/* What is known of a kernel before it runs. */
static void put_kernel_info(yyjson_mut_doc *doc, yyjson_mut_val *out, const wf_kernel_info *kernel)
{
    yyjson_mut_obj_add_val(doc, out, "group_size",
                           yyjson_mut_arr_with_uint32(doc, kernel->group_size, 3));
    if (kernel->groups)
        yyjson_mut_obj_add_uint(doc, out, "groups", kernel->groups);
    yyjson_mut_obj_add_uint(doc, out, "shared_bytes", kernel->shared_bytes);
    yyjson_mut_obj_add_uint(doc, out, "subgroup_size", kernel->subgroup_size);
    if (kernel->registers)
        yyjson_mut_obj_add_uint(doc, out, "registers", kernel->registers);
}

static void put_statistics(yyjson_mut_doc *doc, yyjson_mut_val *out, const wf_kernel_info *kernel)
{
    if (kernel->statistic_count == 0)
        return;
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, out, "statistics");
    for (uint32_t i = 0; i < kernel->statistic_count; i++) {
        if (!wfi_statistic_means(&kernel->statistics[i]))
            continue;
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        wfi_json_put_text(doc, item, "name", kernel->statistics[i].name);
        wfi_json_put_number(doc, item, "value", kernel->statistics[i].value);
    }
}

static void put_kernel(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_result_case *c)
{
    const wf_kernel_info *kernel = &c->plan.kernel;
    if (kernel->group_size[0] == 0)
        return;
    yyjson_mut_val *out = yyjson_mut_obj_add_obj(doc, object, "kernel");
    put_kernel_info(doc, out, kernel);
    wfi_json_put_number(doc, out, "occupancy", c->occupancy);
    wfi_json_put_text(doc, out, "occupancy_limit", c->occupancy_limit);
    wfi_json_put_text(doc, out, "occupancy_source", c->occupancy_source);
    put_statistics(doc, out, kernel);
}

/* Of every kernel of the plan, where they were timed one by one. */
static void put_kernels(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_result_case *c)
{
    if (c->kernel_count == 0)
        return;
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, object, "kernels");
    for (uint32_t i = 0; i < c->kernel_count; i++) {
        const wfi_result_kernel *kernel = &c->kernels[i];
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        wfi_json_put_text(doc, item, "name", kernel->kernel.name);
        yyjson_mut_obj_add_bool(doc, item, "main", kernel->kernel.main);
        yyjson_mut_obj_add_uint(doc, item, "dispatches", kernel->kernel.dispatches);
        wfi_json_put_number(doc, item, "us", kernel->us);
        wfi_json_put_text(doc, item, "clock", c->kernels_gpu_clock ? "gpu" : "host");
        put_kernel_info(doc, item, &kernel->kernel.info);
        wfi_json_put_number(doc, item, "occupancy", kernel->occupancy);
        wfi_json_put_text(doc, item, "occupancy_limit", kernel->occupancy_limit);
        put_statistics(doc, item, &kernel->kernel.info);
    }
}

static void put_study(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_result_study *study)
{
    if (!study->kind)
        return;
    yyjson_mut_val *out = yyjson_mut_obj_add_obj(doc, object, "study");
    wfi_json_put_text(doc, out, "kind", study->kind);
    if (study->step)
        yyjson_mut_obj_add_uint(doc, out, "step", study->step);
    wfi_json_put_text(doc, out, "summary", study->summary);
    wfi_json_put_text(doc, out, "source", study->source);
    wfi_json_put_text(doc, out, "rung", study->rung);
    wfi_json_put_text(doc, out, "figure", study->figure);
    wfi_json_put_text(doc, out, "compared_with", study->compared_with);
    wfi_json_put_number(doc, out, "gain", study->gain);
    wfi_json_put_number(doc, out, "gain_low", study->gain_low);
    wfi_json_put_number(doc, out, "gain_high", study->gain_high);
    if (study->unsure)
        yyjson_mut_obj_add_bool(doc, out, "unsure", true);
    if (study->other_clock)
        yyjson_mut_obj_add_bool(doc, out, "other_clock", true);
    if (study->smaller)
        yyjson_mut_obj_add_bool(doc, out, "smaller", true);
    wfi_json_put_number(doc, out, "lanes_idle", study->lanes_idle);
    if (*study->lanes)
        wfi_json_put_text(doc, out, "lanes", study->lanes);
    if (*study->parts)
        wfi_json_put_text(doc, out, "parts", study->parts);
    wfi_json_put_text(doc, out, "over", study->over);
    wfi_json_put_number(doc, out, "value", study->value);
}

static void put_host(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_result_host *host)
{
    if (!host->asked)
        return;
    yyjson_mut_val *out = yyjson_mut_obj_add_obj(doc, object, "host");
    yyjson_mut_obj_add_uint(doc, out, "threads", host->threads);
    yyjson_mut_obj_add_bool(doc, out, "openmp", host->openmp);
    yyjson_mut_obj_add_bool(doc, out, "verified", host->verified);
    if (host->samples) {
        wfi_json_put_number(doc, out, "median_us", host->median_us);
        wfi_json_put_number(doc, out, "spread", host->spread);
        yyjson_mut_obj_add_uint(doc, out, "samples", host->samples);
    }
    if (*host->reason)
        wfi_json_put_text(doc, out, "reason", host->reason);
}

static void put_bytes(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_result_bytes *b)
{
    if (!(b->least > 0))
        return;
    yyjson_mut_val *out = yyjson_mut_obj_add_obj(doc, object, "bytes");
    wfi_json_put_number(doc, out, "requested", b->requested > 0 ? b->requested : (double)NAN);
    wfi_json_put_number(doc, out, "stored", b->requested > 0 ? b->stored : (double)NAN);
    wfi_json_put_number(doc, out, "shared_requested",
                        b->shared_requested > 0 ? b->shared_requested : (double)NAN);
    wfi_json_put_number(doc, out, "work_groups_least", b->groups > 0 ? b->groups : (double)NAN);
    wfi_json_put_number(doc, out, "waves_least", b->waves > 0 ? b->waves : (double)NAN);
    wfi_json_put_number(doc, out, "wave_groups", b->waves > 0 ? b->wave_groups : (double)NAN);
    wfi_json_put_number(doc, out, "memory_least", b->least);
    wfi_json_put_number(doc, out, "memory_most", b->memory_most);
    wfi_json_put_number(doc, out, "cache_most", b->cache_most);
    wfi_json_put_number(doc, out, "shared_most", b->shared_most);
}

static void put_explained(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_result_case *c)
{
    const wfi_result_timeline *t = &c->timeline;
    if (t->execute_us > 0) {
        yyjson_mut_val *timeline = yyjson_mut_obj_add_obj(doc, object, "timeline");
        wfi_json_put_number(doc, timeline, "upload_us", t->upload_us);
        wfi_json_put_number(doc, timeline, "submit_us", t->submit_us);
        wfi_json_put_number(doc, timeline, "execute_us", t->execute_us);
        wfi_json_put_number(doc, timeline, "download_us", t->download_us);
    } else if (c->advice_count == 0) {
        return;
    }
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, object, "advice");
    for (uint32_t i = 0; i < c->advice_count; i++) {
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        wfi_json_put_text(doc, item, "rule", c->advice[i].rule);
        wfi_json_put_text(doc, item, "text", c->advice[i].text);
        wfi_json_put_text(doc, item, "command", c->advice[i].command);
        wfi_json_put_number(doc, item, "gain", c->advice[i].gain);
    }
}

static void put_stages(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_result_case *c)
{
    const double whole = wfi_stages_whole(c->stages);
    if (!(whole > 0))
        return;
    wfi_json_put_number(doc, object, "whole_us", whole * 1e6);
    yyjson_mut_val *stages = yyjson_mut_obj_add_obj(doc, object, "stages_us");
    for (int i = 0; i < WFI_STAGE_COUNT; i++)
        if (c->stages[i] > 0)
            wfi_json_put_number(doc, stages, wfi_stage_name((wfi_stage)i), c->stages[i] * 1e6);
}

static void put_floor(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_result_case *c)
{
    if (!isfinite(c->floor_us))
        return;
    yyjson_mut_val *out = yyjson_mut_obj_add_obj(doc, object, "floor");
    wfi_json_put_number(doc, out, "us", c->floor_us);
    wfi_json_put_text(doc, out, "by", c->floor_by);
    if (c->has_timing)
        wfi_json_put_number(doc, out, "percent", c->floor_us / c->timing.median_us * 100);
}

static void put_sustained(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_sustained *s)
{
    yyjson_mut_val *sustained = yyjson_mut_obj_add_obj(doc, object, "sustained");
    wfi_json_put_number(doc, sustained, "asked_seconds", s->asked_seconds);
    if (s->pause_seconds > 0) {
        wfi_json_put_number(doc, sustained, "work_seconds", s->work_seconds);
        wfi_json_put_number(doc, sustained, "pause_seconds", s->pause_seconds);
    }
    wfi_json_put_number(doc, sustained, "first_second", s->first);
    wfi_json_put_number(doc, sustained, "best", s->best);
    wfi_json_put_number(doc, sustained, "settled", s->settled);
    wfi_json_put_number(doc, sustained, "settled_spread", s->settled_spread);
    wfi_json_put_number(doc, sustained, "slower_at_seconds", s->slower_at);
    yyjson_mut_val *curve = yyjson_mut_obj_add_arr(doc, sustained, "curve");
    yyjson_mut_val *pauses = yyjson_mut_obj_add_arr(doc, sustained, "pauses");
    for (uint32_t i = 0; i < s->count; i++) {
        const double row[] = {s->windows[i].start, s->windows[i].seconds, s->windows[i].rate};
        const bool pause = isnan(s->windows[i].rate);
        yyjson_mut_arr_append(pause ? pauses : curve,
                              yyjson_mut_arr_with_double(doc, row, pause ? 2 : 3));
    }
}

static void put_tuned(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_result_case *c)
{
    const wfi_result_tuned *t = c->tuned;
    yyjson_mut_val *tuned = yyjson_mut_obj_add_obj(doc, object, "tuned");
    yyjson_mut_val *before = yyjson_mut_obj_add_obj(doc, tuned, "before");
    put_point(doc, before, &t->before);
    wfi_json_put_text(doc, before, "chosen_by", t->before.chosen_by);
    wfi_json_put_number(doc, before, "us", t->before_us);
    if (c->has_timing)
        wfi_json_put_number(doc, tuned, "faster", t->before_us / c->timing.median_us);
    yyjson_mut_obj_add_uint(doc, tuned, "tried", t->tried);
    yyjson_mut_obj_add_uint(doc, tuned, "bad", t->bad);
    yyjson_mut_obj_add_uint(doc, tuned, "spilled", t->spilled);
    if (t->legal)
        yyjson_mut_obj_add_uint(doc, tuned, "legal", t->legal);
    yyjson_mut_obj_add_bool(doc, tuned, "finished", t->finished);
    yyjson_mut_obj_add_bool(doc, tuned, "kept", t->kept);
    yyjson_mut_obj_add_bool(doc, tuned, "interrupted", t->interrupted);
}

static void put_spans(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_result_rank *r)
{
    static const char *const stages[] = {"halo", "wait", "inside", "reduction", "device"};
    if (r->span_count == 0)
        return;
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, object, "spans");
    for (uint32_t i = 0; i < r->span_count; i++) {
        yyjson_mut_val *span = yyjson_mut_arr_add_obj(doc, list);
        wfi_json_put_text(doc, span, "stage",
                          r->spans[i].stage < WFI_COUNT(stages) ? stages[r->spans[i].stage] : "?");
        wfi_json_put_number(doc, span, "begin_us", r->spans[i].begin_us);
        wfi_json_put_number(doc, span, "end_us", r->spans[i].end_us);
    }
}

static void put_ranks(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_result_case *c)
{
    if (c->rank_count == 0)
        return;
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, object, "ranks");
    for (uint32_t i = 0; i < c->rank_count; i++) {
        const wfi_result_rank *r = &c->ranks[i];
        yyjson_mut_val *out = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_uint(doc, out, "rank", i);
        wfi_json_put_text(doc, out, "host", r->host);
        wfi_json_put_text(doc, out, "device", r->device);
        wfi_json_put_text(doc, out, "driver", r->driver);
        wfi_json_put_text(doc, out, "what", r->what);
        yyjson_mut_obj_add_uint(doc, out, "first", r->first);
        yyjson_mut_obj_add_uint(doc, out, "count", r->count);
        wfi_json_put_number(doc, out, "inside_us", r->inside_us);
        wfi_json_put_number(doc, out, "halo_us", r->halo_us);
        wfi_json_put_number(doc, out, "wait_us", r->wait_us);
        wfi_json_put_number(doc, out, "reduction_us", r->reduction_us);
        put_spans(doc, out, r);
    }
}

static void put_blocks(yyjson_mut_doc *doc, yyjson_mut_val *object, const uint32_t blocks[3])
{
    if (blocks[0] == 0)
        return;
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, object, "blocks");
    for (int axis = 0; axis < 3; axis++)
        yyjson_mut_arr_add_uint(doc, list, blocks[axis]);
}

static yyjson_mut_val *case_of(yyjson_mut_doc *doc, const wfi_result_case *c)
{
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    wfi_json_put_text(doc, object, "family", c->family);
    wfi_json_put_text(doc, object, "name", c->name);
    put_facts(doc, yyjson_mut_obj_add_obj(doc, object, "problem"), c->facts, c->fact_count);
    wfi_json_put_text(doc, object, "type", c->type);
    wfi_json_put_text(doc, object, "status", wfi_status_name(c->status));
    wfi_json_put_text(doc, object, "reason", c->reason);
    if (c->has_plan || c->plan.variant)
        put_plan(doc, object, &c->plan);
    if (c->has_timing)
        put_timing(doc, object, &c->timing);
    if (isfinite(c->rate)) {
        yyjson_mut_val *rate = yyjson_mut_obj_add_obj(doc, object, "rate");
        wfi_json_put_number(doc, rate, "value", c->rate);
        wfi_json_put_text(doc, rate, "unit", c->rate_unit);
    }
    wfi_json_put_number(doc, object, "bandwidth_gbs", c->gbs);
    if (isfinite(c->percent)) {
        yyjson_mut_val *percent = yyjson_mut_obj_add_obj(doc, object, "percent");
        wfi_json_put_number(doc, percent, "value", c->percent);
        wfi_json_put_text(doc, percent, "of", c->percent_of);
    }
    if (c->has_check)
        put_check(doc, object, c);
    put_kernel(doc, object, c);
    put_kernels(doc, object, c);
    put_floor(doc, object, c);
    put_study(doc, object, &c->study);
    put_bytes(doc, object, &c->bytes);
    put_host(doc, object, &c->host);
    put_explained(doc, object, c);
    put_stages(doc, object, c);
    if (c->history_count)
        yyjson_mut_obj_add_val(doc, object, "history",
                               yyjson_mut_arr_with_double(doc, c->history, c->history_count));
    put_facts(doc, object, c->extras, c->extra_count);
    put_blocks(doc, object, c->blocks);
    put_ranks(doc, object, c);
    if (c->sustained)
        put_sustained(doc, object, c->sustained);
    if (c->tuned)
        put_tuned(doc, object, c);
    return object;
}

/* ------------------------------------------------------------------------------------- writing */

static void put_heading(yyjson_mut_doc *doc, yyjson_mut_val *root, const char *schema)
{
    char date[32];
    const time_t now = time(NULL);
    const struct tm *utc = gmtime(&now);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_str(doc, root, "schema", schema);
    yyjson_mut_obj_add_str(doc, root, "wavefit", wf_version());
    if (utc && strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", utc))
        yyjson_mut_obj_add_strcpy(doc, root, "date", date);
}

static void put_peaks(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_result_peak *peaks,
                      uint32_t count)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, object, "measured");
    for (uint32_t i = 0; i < count; i++) {
        const wfi_result_peak *p = &peaks[i];
        yyjson_mut_val *out = yyjson_mut_arr_add_obj(doc, list);
        wfi_json_put_text(doc, out, "name", p->name);
        wfi_json_put_text(doc, out, "unit", p->unit);
        wfi_json_put_text(doc, out, "status", wfi_status_name(p->status));
        wfi_json_put_text(doc, out, "reason", p->reason);
        if (p->status != WFI_STATUS_OK)
            continue;
        wfi_json_put_number(doc, out, "value", p->peak.value);
        if (p->peak.bytes)
            yyjson_mut_obj_add_uint(doc, out, "bytes", p->peak.bytes);
        wfi_json_put_number(doc, out, "spread", p->peak.spread);
        yyjson_mut_obj_add_uint(doc, out, "count", p->peak.count);
        wfi_json_put_text(doc, out, "clock", p->peak.gpu_clock ? "gpu" : "host");
        wfi_json_put_text(doc, out, "how", p->peak.how);
    }
}

bool wfi_results_write(const char *path, const wfi_results *results, wfi_io_error *error)
{
    yyjson_mut_doc *doc = wfi_json_create();
    if (!doc)
        return wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    put_heading(doc, root, WFI_RESULTS_SCHEMA);
    yyjson_mut_val *argv = yyjson_mut_obj_add_arr(doc, root, "argv");
    for (int i = 0; i < results->argc; i++)
        yyjson_mut_arr_add_strcpy(doc, argv, results->argv[i]);
    yyjson_mut_obj_add_uint(doc, root, "seed", results->seed);
    yyjson_mut_obj_add_val(doc, root, "device", wfi_device_json(doc, results->caps));
    yyjson_mut_val *peaks = yyjson_mut_obj_add_obj(doc, root, "peaks");
    wfi_json_put_number(doc, peaks, "copy_gbs", results->copy_bandwidth * 1e-9);
    wfi_json_put_number(doc, peaks, "fma_f32_gflops", results->fma_f32 * 1e-9);
    if (results->peak_count)
        put_peaks(doc, peaks, results->peaks, results->peak_count);
    yyjson_mut_val *cases = yyjson_mut_obj_add_arr(doc, root, "cases");
    for (uint32_t i = 0; i < results->case_count; i++)
        yyjson_mut_arr_append(cases, case_of(doc, &results->cases[i]));
    const bool ok = wfi_json_write(path, doc, error);
    wfi_json_free(doc);
    return ok;
}

bool wfi_devices_write(const char *path, const wf_caps *caps, uint32_t count, wfi_io_error *error)
{
    yyjson_mut_doc *doc = wfi_json_create();
    if (!doc)
        return wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    put_heading(doc, root, "wavefit-devices/1");
    yyjson_mut_val *devices = yyjson_mut_obj_add_arr(doc, root, "devices");
    for (uint32_t i = 0; i < count; i++)
        yyjson_mut_arr_append(devices, wfi_device_json(doc, &caps[i]));
    const bool ok = wfi_json_write(path, doc, error);
    wfi_json_free(doc);
    return ok;
}

/* ----------------------------------------------------------------------- for other schemas */

void wfi_results_heading(yyjson_mut_doc *doc, yyjson_mut_val *root, const char *schema)
{
    put_heading(doc, root, schema);
}

void wfi_results_point(yyjson_mut_doc *doc, yyjson_mut_val *object, const wf_plan_info *plan)
{
    put_point(doc, object, plan);
}
