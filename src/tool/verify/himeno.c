/* Himeno's relaxation from the benchmark's own start values and from arrays at random. */
#include <stdio.h>
#include <stdlib.h>

#include "tool/verify/verify.h"

#define ARRAYS 13 /* p, a0 … a3, b0 … b2, c0 … c2, bnd, wrk1 */

typedef struct relaxation {
    wf_himeno_params params;
    wf_himeno_arrays start;
    bool own;
    uint32_t iterations;
    float *arrays, *p;
    wf_himeno *himeno;
} relaxation;

static wf_result make(wfi_verifier *v, void *user, const wf_tuning *tuning)
{
    relaxation *r = user;
    r->params.tuning = tuning;
    return wf_himeno_create(v->session->device, &r->params, &r->himeno);
}

static void draw_problem(wfi_verifier *v, relaxation *r)
{
    wf_himeno_params *p = &r->params;
    v->verdict->type = WF_TYPE_F32;
    *p = (wf_himeno_params){.size = sizeof *p};
    p->ni = 2 + (uint32_t)wfi_draw_size(v, 140);
    p->nj = 2 + (uint32_t)wfi_draw_size(v, 60);
    p->nk = 2 + (uint32_t)wfi_draw_size(v, 60);
    while ((double)p->ni * p->nj * p->nk * 19 > v->work) {
        p->ni = (p->ni + 3) / 2;
        p->nj = (p->nj + 3) / 2;
        p->nk = (p->nk + 3) / 2;
    }
    r->own = wfi_draw_chance(v, 40);
    r->iterations = 1 + (uint32_t)wfi_draw_below(v, 10);
    if (wfi_draw_chance(v, 30))
        p->omega = (float)wfi_draw_uniform(v, 0.05, 1.5);
    wfi_verify_say(v, "%ux%ux%u, %u iterations, omega %g, %s", p->ni, p->nj, p->nk, r->iterations,
                   p->omega > 0 ? (double)p->omega : 0.8,
                   r->own ? "the benchmark's start values" : "arrays at random");
}

static bool make_arrays(wfi_verifier *v, relaxation *r)
{
    const size_t cells = (size_t)r->params.ni * r->params.nj * r->params.nk;
    r->p = malloc(cells * sizeof *r->p);
    r->arrays = malloc(ARRAYS * cells * sizeof *r->arrays);
    if (!r->p || !r->arrays)
        return false;
    for (size_t i = 0; i < ARRAYS * cells; i++) {
        const size_t array = i / cells;
        const double value = array == 4    ? wfi_draw_uniform(v, 0, 0.2)
                             : array == 11 ? (wfi_draw_chance(v, 90) ? 1 : 0)
                                           : wfi_draw_uniform(v, -1, 1);
        r->arrays[i] = (float)value;
    }
    r->start.p = r->arrays;
    for (size_t i = 0; i < 4; i++)
        r->start.a[i] = r->arrays + (1 + i) * cells;
    for (size_t i = 0; i < 3; i++) {
        r->start.b[i] = r->arrays + (5 + i) * cells;
        r->start.c[i] = r->arrays + (8 + i) * cells;
    }
    r->start.bnd = r->arrays + 11 * cells;
    r->start.wrk1 = r->arrays + 12 * cells;
    return true;
}

static void note_plan(wfi_verifier *v, const relaxation *r)
{
    wfi_verdict *out = v->verdict;
    uint32_t slabs;
    out->plan.size = sizeof out->plan;
    out->has_plan = wf_himeno_describe(r->himeno, &out->plan, &slabs) == WF_SUCCESS;
    out->kernels[0].name = out->plan.variant;
    out->kernels[0].hash = out->plan.kernel.spirv_hash;
    out->kernel_count = out->has_plan;
}

static wf_result run(wfi_verifier *v, relaxation *r)
{
    const wf_himeno_params *p = &r->params;
    wf_check *out = &v->verdict->check;
    double gosa_error = 0;
    float gosa = 0;
    wf_result result = r->own ? wf_himeno_start(r->himeno) : wf_himeno_write(r->himeno, &r->start);
    if (result == WF_SUCCESS)
        result = wf_himeno_run(r->himeno, r->iterations, &gosa, NULL, NULL);
    if (result == WF_SUCCESS)
        result = wf_himeno_read(r->himeno, r->p);
    if (result == WF_SUCCESS)
        result = wf_himeno_check(p, r->own ? NULL : &r->start, r->iterations, r->p, gosa, 0, 1, out,
                                 &gosa_error);
    if (result != WF_SUCCESS)
        return result;
    for (uint64_t i = 0; i < out->wrong && i < WF_CHECK_MISMATCHES; i++) {
        const uint64_t at = out->mismatches[i].index;
        wfi_verify_place(v, i, "i %llu, j %llu, k %llu", (unsigned long long)(at % p->ni),
                         (unsigned long long)(at / p->ni % p->nj),
                         (unsigned long long)(at / p->ni / p->nj));
    }
    wfi_verify_checked(v, "cells of p");
    if (v->verdict->status == WFI_STATUS_OK && !(gosa_error <= 1)) {
        v->verdict->status = WFI_STATUS_FAILED;
        out->error_over_bound = gosa_error;
        snprintf(v->verdict->reason, sizeof v->verdict->reason,
                 "gosa, %.9g, is wrong by %.3g times its error bound", (double)gosa, gosa_error);
    }
    return WF_SUCCESS;
}

wf_result wfi_verify_himeno(wfi_verifier *v)
{
    relaxation r = {0};
    draw_problem(v, &r);
    wf_result result = wfi_verify_point(v, make, &r);
    if (result == WF_SUCCESS && !make_arrays(v, &r))
        result = WF_ERROR_OUT_OF_HOST_MEMORY;
    if (result == WF_SUCCESS) {
        note_plan(v, &r);
        result = run(v, &r);
    }
    wf_himeno_destroy(&r.himeno);
    free(r.arrays);
    free(r.p);
    return result;
}
