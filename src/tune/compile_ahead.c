/* Kernels of several candidates, compiled side by side while nothing is timed. */
#include "core/compile.h"
#include "core/timing.h"
#include "kernels/families.h"
#include "tune/search.h"

#define FIRST_COMPILED 2
#define MOST_COMPILED 16
#define MOST_FRACTION 0.1 /* of the budget, for what is compiled at once */
#define LOOK_SECONDS 500e-6

/* Describes the pipeline as the candidate's plan will ask for it. Drivers may keep pipelines of
 * other layouts as other pipelines, and plans that bind descriptor sets or read texels have other
 * layouts. */
static wfi_pipeline_desc desc_of(const wfi_candidate *candidate)
{
    wfi_pipeline_desc desc;
    wfi_point_pipeline(&candidate->point, &desc);
    desc.bound_sets = wfi_family_get(candidate->point.problem->family)->hooks->binds_sets ||
                      desc.texel_buffers != 0;
    return desc;
}

static void wait_for(const wfi_compile *compile)
{
    while (wfi_compile_status(compile) == WF_NOT_READY)
        wfi_sleep(LOOK_SECONDS);
}

static void compile(wfi_search *s, const wfi_candidate *candidates, uint32_t count)
{
    wfi_compile *compiles[MOST_COMPILED];
    uint32_t started = 0;
    for (uint32_t i = 0; i < count; i++) {
        const wfi_pipeline_desc desc = desc_of(&candidates[i]);
        if (wfi_compile_start(s->device, s->params->jobs, &desc, &compiles[started]) == WF_SUCCESS)
            started++;
    }
    for (uint32_t i = 0; i < started; i++) {
        wait_for(compiles[i]);
        wfi_compile_drop(&compiles[i]);
    }
}

/* What fails to compile here fails again, with a message, when its plan is opened. The number
 * that is compiled at once follows from the time it took: a short search must not end before it has
 * timed what it compiled. */
uint32_t wfi_search_compile(wfi_search *s, const wfi_candidate *candidates, uint32_t count)
{
    const double begun = wfi_host_seconds();
    if (s->compiled_at_once == 0)
        s->compiled_at_once = FIRST_COMPILED;
    count = count < s->compiled_at_once ? count : s->compiled_at_once;
    if (!s->params->jobs || s->one_by_one || count < 2 || !s->device->cache.vk ||
        !wfi_search_report(s, "compiling", NULL))
        return 1;
    wfi_journal_note_several(&s->journal);
    compile(s, candidates, count);
    wfi_journal_note(&s->journal, NULL, NULL);
    const double fraction = (wfi_host_seconds() - begun) / (s->decide_until - s->begun);
    if (fraction > MOST_FRACTION)
        s->compiled_at_once /= 2;
    else if (fraction < MOST_FRACTION / 2 && s->compiled_at_once < MOST_COMPILED)
        s->compiled_at_once *= 2;
    return count;
}
