/* How far a search is: whether it goes on, what its caller is told, and what is kept meanwhile. */
#include "core/timing.h"
#include "tune/search.h"

/* The first point, which is the choice before the search, is tried however little time there is. */
bool wfi_search_goes_on(const wfi_search *s)
{
    const bool begun = s->result->measured + s->result->wrong + s->result->spilling > 0;
    return !s->cancelled && s->broken == WF_SUCCESS &&
           (!begun || wfi_host_seconds() < s->measure_until);
}

static void point_text(const wfi_named_point *point, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "%s", point->variant);
    for (uint32_t i = 0; i < point->count && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, " %s=%u", point->values[i].name,
                                 point->values[i].value);
}

bool wfi_search_report(wfi_search *s, const char *stage, const wfi_named_point *trying)
{
    wf_tune_progress progress = {.stage = stage, .measured = s->result->measured};
    const double end = s->decide_until, now = wfi_host_seconds();
    if (!s->params->progress || s->cancelled)
        return !s->cancelled;
    progress.fraction = end > s->begun ? (now - s->begun) / (end - s->begun) : 1;
    if (s->params->exhaustive && s->fraction > progress.fraction)
        progress.fraction = s->fraction;
    if (progress.fraction > 1)
        progress.fraction = 1;
    if (trying)
        point_text(trying, progress.trying, sizeof progress.trying);
    if (s->elite_count) {
        progress.best_us = s->elite[0].seconds * 1e6;
        point_text(&s->elite[0].named, progress.best, sizeof progress.best);
    }
    s->cancelled = !s->params->progress(s->params->user, &progress);
    return !s->cancelled;
}

void wfi_search_keep(wfi_search *s)
{
    char error[512];
    s->kept_at = wfi_host_seconds();
    if (s->params->discard)
        return;
    /* As long as no point has run, what was known before stays. */
    if (s->elite_count)
        s->entry.best_count = s->elite_count;
    for (uint32_t i = 0; i < s->elite_count; i++) {
        s->entry.best[i] = s->elite[i].named;
        s->entry.best[i].time_ns = (uint64_t)(s->elite[i].seconds * 1e9 + 0.5);
        s->entry.best[i].spread_permille = (uint32_t)(s->elite[i].spread * 1e3 + 0.5);
    }
    s->result->kept = wfi_tuning_keep(s->device, &s->entry, error);
    if (!s->result->kept && !s->warned)
        wfi_log_write(&s->device->log, WF_LOG_WARNING, "what is found is not kept: %s", error);
    s->warned = s->warned || !s->result->kept;
}
