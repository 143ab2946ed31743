/* Kernels of several candidates, compiled side by side while nothing is timed. */
#include <time.h>

#include "core/compile.h"
#include "tune/search.h"

#define LOOK_NANOSECONDS 500000

/* As the candidate's plan will ask for it: drivers may tell pipelines apart by their layouts too, which
 * those of kept sets differ in (Himeno's, and those that read texels). */
static wfi_pipeline_desc desc_of(const wfi_candidate *candidate)
{
    wfi_pipeline_desc desc;
    wfi_point_pipeline(&candidate->point, &desc);
    desc.kept_sets =
        candidate->point.problem->family == WF_FAMILY_STENCIL || desc.texel_buffers != 0;
    return desc;
}

static void wait_for(const wfi_compile *compile)
{
    while (wfi_compile_status(compile) == WF_NOT_READY)
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NANOSECONDS}, NULL);
}

/* What fails here fails again when its plan is opened, and is told of then. */
void wfi_search_compile(wfi_search *s, const wfi_candidate *candidates, uint32_t count)
{
    wfi_compile *compiles[WFI_COMPILED_AHEAD];
    uint32_t started = 0;
    if (!s->params->jobs || s->one_by_one || count < 2 || !s->device->cache.vk ||
        !wfi_search_report(s, "compiling", NULL))
        return;
    wfi_journal_note_several(&s->journal);
    for (uint32_t i = 0; i < count && i < WFI_COMPILED_AHEAD; i++) {
        const wfi_pipeline_desc desc = desc_of(&candidates[i]);
        if (wfi_compile_start(s->device, s->params->jobs, &desc, &compiles[started]) == WF_SUCCESS)
            started++;
    }
    for (uint32_t i = 0; i < started; i++) {
        wait_for(compiles[i]);
        wfi_compile_drop(&compiles[i]);
    }
    wfi_journal_note(&s->journal, NULL, NULL);
}
