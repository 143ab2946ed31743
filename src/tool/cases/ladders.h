/* Ladders as the texts tell them: for each subject its rungs in the texts' order, with the texts'
 * constants and figures, each with the rung that its text compares it with. */
#ifndef WFI_TOOL_CASES_LADDERS_H
#define WFI_TOOL_CASES_LADDERS_H

#include "tool/cases/study.h"

#define WFI_RUNG_CONSTANTS 6
#define WFI_MAX_RUNGS 40 /* of a ladder, with the variants behind the texts' steps */

typedef struct wfi_rung {
    const char *name;
    const char *variant; /* NULL: wavefit's choice */
    const char *text;    /* the text and its step; NULL: no text tells it */
    const char *summary; /* NULL: the variant's own */
    const char *over;    /* the rung that it is compared with; NULL: none */
    const char *figure;  /* what the text measured; NULL: it does not say */
    /* The text's, and what comes in their place where those do not fit the device; a NULL name
     * ends them. */
    wf_constant constants[WFI_RUNG_CONSTANTS], smaller[WFI_RUNG_CONSTANTS];
    uint64_t extent[3]; /* the text's own problem, in place of a larger one; 0: the ladder's */
    uint32_t form;      /* how a ladder's own run takes it */
} wfi_rung;

typedef struct wfi_ladder {
    const char *subject; /* as typed: a family, cg or laplace */
    wf_family family;    /* whose options name the problem */
    uint32_t count;
    const wfi_rung *rungs;
    bool others; /* the family's other variants follow, with wavefit's choice of constants */
    /* Measures one rung with `constants`; NULL: wfi_study_run. */
    wf_result (*run)(wfi_session *session, const wfi_study *study, const wfi_rung *rung,
                     const wf_constant *constants, uint32_t count, wfi_result_case *out);
    const char *default_grid; /* where it is not the family's */
    bool plane;               /* a grid of two dimensions alone */
} wfi_ladder;

extern const wfi_ladder wfi_himeno_ladder, wfi_spmv_ladder, wfi_matmul_ladder, wfi_stencil_ladder,
    wfi_cg_ladder, wfi_laplace_ladder;

/* The ladder of that subject; an exit code, after a message where there is none. */
int wfi_parse_ladder(const char *subject, const wfi_ladder **ladder);
/* Its rungs and, where they follow, those of the family's other variants; returns how many. */
uint32_t wfi_ladder_rungs(const wfi_ladder *ladder, wfi_rung rungs[WFI_MAX_RUNGS]);
/* What another device's compiler makes of the rung's kernel: nothing runs, and the case is
 * skipped. */
void wfi_rung_compile(wfi_session *session, const wfi_ladder *ladder, const wfi_study *study,
                      const wfi_rung *rung, wfi_result_case *out);
/* Runs a rung: with the text's constants, or, where these do not fit, with the smaller ones; those
 * of the command line go over both. Fills in all of out->study but the gain. */
void wfi_rung_run(wfi_session *session, const wfi_ladder *ladder, const wfi_study *study,
                  const wfi_rung *rung, wfi_result_case *out);

#endif
