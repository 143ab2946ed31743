/* naive, the reference, and the ladder's steps that differ from it by what the solver or a second
 * dispatch does. */
#include "kernels/himeno/rows.h"

static const uint32_t ones[] = {1}, regions[] = {1, 10, 100, 1000};

static const wfi_parameter parameters[] = {WFI_HIMENO_LOCAL_X(32),   WFI_HIMENO_LOCAL_Y(4),
                                           WFI_HIMENO_LOCAL_Z(1),    WFI_HIMENO_PAD(1),
                                           WFI_HIMENO_INTERLEAVE(0), WFI_HIMENO_REVERSE};
/* They have no `reverse`: between two passes the solver copies p, so that caches hold other
 * planes. */
static const wfi_parameter solver_parameters[] = {WFI_HIMENO_LOCAL_X(32), WFI_HIMENO_LOCAL_Y(4),
                                                  WFI_HIMENO_LOCAL_Z(1), WFI_HIMENO_PAD(1),
                                                  WFI_HIMENO_INTERLEAVE(0)};
static const wfi_parameter region_parameters[] = {
    WFI_HIMENO_LOCAL_X(32),
    WFI_HIMENO_LOCAL_Y(4),
    WFI_HIMENO_LOCAL_Z(1),
    WFI_HIMENO_PAD(1),
    WFI_HIMENO_INTERLEAVE(0),
    WFI_HIMENO_PARAMETER("region", HIMENO_ID_REGION, 100, regions,
                         "iterations between moves of the data to the device and back")};
static const wfi_parameter submits_parameters[] = {
    WFI_HIMENO_LOCAL_X(32),
    WFI_HIMENO_LOCAL_Y(4),
    WFI_HIMENO_LOCAL_Z(1),
    WFI_HIMENO_PAD(1),
    WFI_HIMENO_INTERLEAVE(0),
    WFI_HIMENO_REVERSE,
    WFI_HIMENO_PARAMETER("submit", HIMENO_ID_SUBMIT, 1, ones, "iterations in one submission")};

static bool submit_fits(const wfi_point *point)
{
    return wfi_point_value(point, HIMENO_ID_SUBMIT, 1) > 0;
}

static bool region_fits(const wfi_point *point)
{
    return wfi_point_value(point, HIMENO_ID_REGION, 1) > 0;
}

static const wfi_constraint constraints[] = {WFI_HIMENO_FITS};
static const wfi_constraint region_constraints[] = {
    WFI_HIMENO_FITS, {"region must be at least 1, since it is of whole iterations", region_fits}};
static const wfi_constraint submits_constraints[] = {
    WFI_HIMENO_FITS,
    {"submit must be at least 1, since a submission runs whole iterations", submit_fits}};

/* Slow but on tiny grids, where the gap between dispatches is most of the time: there it is the
 * choice of a device without subgroup reductions. */
static double fit(wfi_point *point)
{
    const wfi_himeno_profile *profile = wfi_himeno_profile_of(point->caps);
    const bool tiny = wfi_himeno_is_tiny(point);
    if (tiny && profile->dispatch_gaps) {
        wfi_point_set(point, HIMENO_ID_PAD, profile->pad);
        wfi_point_set(point, HIMENO_ID_INTERLEAVE, profile->interleave_tiny);
    }
    return wfi_himeno_least_bytes(point->problem) *
           (tiny ? profile->times.naive_tiny : profile->times.naive);
}

/* The second pass reads the same again and writes no p. */
static void gosa_pass_traffic(const wfi_point *point, wfi_traffic *out)
{
    const double stored = sizeof(float) * wfi_himeno_inner_cells(point->problem);
    wfi_himeno_memory_traffic(point, out);
    out->requested = 2 * out->requested - stored;
    out->groups = 2 * out->groups - stored;
}

static wf_result build_gosa_pass(wf_plan *plan, const wfi_point *point, const void *params)
{
    static const uint32_t passes[] = {1, 2}; /* as in himeno_naive.comp: p, then gosa */
    return wfi_himeno_build_passes(plan, point, params, passes, WFI_COUNT(passes));
}

const wfi_variant wfi_himeno_naive = {
    WFI_HIMENO_ROW(naive, parameters, constraints),
    .name = "naive",
    .summary = "one work-item a cell, which reads everything from memory",
    .source = WFI_HIMENO_SOFTECH "4 and 5",
    .shared_bytes = wfi_himeno_shared_sums,
    .fit = fit,
    .traffic = wfi_himeno_memory_traffic,
    .build = wfi_himeno_build,
};

/* A step that runs naive's kernel and differs in what the solver does around it. */
#define STEP(parameters_, constraints_)                                                            \
    WFI_HIMENO_ROW(naive, parameters_, constraints_),                                              \
        .shared_bytes = wfi_himeno_shared_sums, .fit = wfi_himeno_fit_step,                        \
        .traffic = wfi_himeno_memory_traffic, .build = wfi_himeno_build

const wfi_variant wfi_himeno_moved = {
    STEP(solver_parameters, constraints),
    .name = "moved",
    .summary = "as naive, but all arrays move between host and device in every iteration",
    .source = WFI_HIMENO_SOFTECH "1",
    .traits = WFI_HIMENO_MOVED,
};

const wfi_variant wfi_himeno_region_part = {
    STEP(region_parameters, region_constraints),
    .name = "region_part",
    .summary = "as naive, but data move once in many iterations, of p the inner cells alone",
    .source = WFI_HIMENO_SOFTECH "2",
    .traits = WFI_HIMENO_MOVED | WFI_HIMENO_MOVES_PART,
};

const wfi_variant wfi_himeno_region = {
    STEP(region_parameters, region_constraints),
    .name = "region",
    .summary = "as naive, but whole arrays move once in many iterations",
    .source = WFI_HIMENO_SOFTECH "3",
    .traits = WFI_HIMENO_MOVED,
};

const wfi_variant wfi_himeno_submits = {
    STEP(submits_parameters, submits_constraints),
    .name = "submits",
    .summary = "as naive, but each iteration is a submission that the host waits for",
    .source = "",
};

const wfi_variant wfi_himeno_copy_back = {
    STEP(solver_parameters, constraints),
    .name = "copy_back",
    .summary = "as naive, but the new p is copied over the old one, not exchanged with it",
    .source = "RIKEN, the Himeno benchmark's C program",
    .traits = WFI_HIMENO_COPIES_BACK,
};

const wfi_variant wfi_himeno_gosa_pass = {
    WFI_HIMENO_ROW(naive, parameters, constraints),
    .name = "gosa_pass",
    .summary = "as naive, but a second dispatch reads everything again and sums gosa",
    .source = "",
    .shared_bytes = wfi_himeno_shared_sums,
    .fit = wfi_himeno_fit_step,
    .traffic = gosa_pass_traffic,
    .build = build_gosa_pass,
};
