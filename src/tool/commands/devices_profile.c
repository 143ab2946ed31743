#include "tool/commands/devices_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "io/json.h"
#include "io/would_run.h"
#include "tool/cli/table.h"
#include "tool/cli/wrap.h"
#include "tool/profile/null_driver.h"

enum { MOST_RUNS = 48, MOST_LEFT_OUT = 128, MOST_VARIANTS = 32 };

typedef struct answer {
    wfi_profile profile;
    wf_caps caps;
    char untold[512];
    bool works[WF_FAMILY_COUNT][MOST_VARIANTS][WF_TYPE_COUNT];
    uint32_t run_count, left_out_count;
    wfi_would_run runs[MOST_RUNS];
    wfi_left_out left_out[MOST_LEFT_OUT];
} answer;

static void print_error(void *user, wf_log_level level, const char *text)
{
    (void)user;
    if (level == WF_LOG_ERROR)
        fprintf(stderr, "wavefit: %s\n", text);
}

/* ------------------------------------------------------------------------------------- problems */

/* Problems of each family, of sizes that its variants are made for; those from TOLD on are
 * asked for variants alone. */
static const wf_problem problems[] = {
    {.size = sizeof(wf_problem), .family = WF_FAMILY_MATMUL, .extent = {1024, 1024, 1024}},
    {.size = sizeof(wf_problem), .family = WF_FAMILY_MATMUL, .extent = {4096, 1, 4096}},
    {.size = sizeof(wf_problem),
     .family = WF_FAMILY_SPMV,
     .extent = {262144, 262144, 262144 * 27},
     .longest_row = 27,
     .row_deviation = 1},
    {.size = sizeof(wf_problem), .family = WF_FAMILY_HIMENO, .extent = {257, 129, 129}},
    {.size = sizeof(wf_problem), .family = WF_FAMILY_MATMUL, .extent = {64, 16, 64}},
};
enum { TOLD = 4 };

static void say_problem(const wf_problem *problem, char text[48])
{
    const uint64_t *e = problem->extent;
    if (problem->family == WF_FAMILY_STENCIL) {
        const wf_stencil_params *s = problem->stencil;
        snprintf(text, 48, s->nz ? "%ux%ux%u" : "%ux%u", s->nx, s->ny, s->nz);
    } else
        snprintf(text, 48, "%llux%llux%llu", (unsigned long long)e[0], (unsigned long long)e[1],
                 (unsigned long long)e[2]);
}

/* -------------------------------------------------------------------------------------- asking */

static void leave_out(answer *a, const char *family, const char *variant, wf_type type,
                      const char *reason)
{
    for (uint32_t i = 0; i < a->left_out_count; i++) {
        wfi_left_out *row = &a->left_out[i];
        if (strcmp(row->family, family) != 0 || strcmp(row->variant, variant) != 0)
            continue;
        if (row->types & 1u << type) /* the first problem's reason counts */
            return;
        if (strcmp(row->reason, reason) == 0) {
            row->types |= 1u << type;
            return;
        }
    }
    if (a->left_out_count == MOST_LEFT_OUT)
        return;
    wfi_left_out *row = &a->left_out[a->left_out_count++];
    *row = (wfi_left_out){.family = family, .variant = variant, .types = 1u << type};
    snprintf(row->reason, sizeof row->reason, "%s", reason);
}

/* "matmul cooperative: the device has no …" without what is known already. */
static const char *plain_reason(const char *reason, const char *family, const char *variant)
{
    char prefix[96];
    const int length = snprintf(prefix, sizeof prefix, "%s %s: ", family, variant);
    return strncmp(reason, prefix, (size_t)length) == 0 ? reason + length : reason;
}

/* Each variant by itself: notes which can do it or, with `why`, why those that can do none of the
 * family's problems cannot. */
static void ask_variants(answer *a, const wf_problem *problem, bool why)
{
    const char *family = wf_family_name(problem->family);
    for (uint32_t v = 0; v < wf_family_variant_count(problem->family) && v < MOST_VARIANTS; v++) {
        wf_variant_info variant;
        wf_plan_info plan = {.size = sizeof plan};
        char reason[256];
        bool *works = &a->works[problem->family][v][problem->type];
        if (wf_family_variant(problem->family, v, &variant) != WF_SUCCESS ||
            !(variant.types & 1u << problem->type) || *works)
            continue;
        const wf_tuning tuning = {
            .size = sizeof tuning, .variant = variant.name, .no_tuning = true};
        const wf_result result = wf_caps_choose(&a->caps, problem, &tuning, &plan, reason);
        if (result == WF_SUCCESS)
            *works = true;
        else if (why)
            leave_out(a, family, variant.name, problem->type,
                      plain_reason(reason, family, variant.name));
    }
}

static void ask(answer *a, const wf_problem *problem)
{
    if (a->run_count == MOST_RUNS)
        return;
    wfi_would_run *run = &a->runs[a->run_count++];
    *run = (wfi_would_run){.family = wf_family_name(problem->family), .type = problem->type};
    run->plan.size = sizeof run->plan;
    say_problem(problem, run->problem);
    run->refused = wf_caps_choose(&a->caps, problem, NULL, &run->plan, run->reason) != WF_SUCCESS;
}

/* Whether one of the family's problems would run in the type. */
static bool runs(const answer *a, const char *family, wf_type type)
{
    for (uint32_t i = 0; i < a->run_count; i++)
        if (strcmp(a->runs[i].family, family) == 0 && a->runs[i].type == type &&
            !a->runs[i].refused)
            return true;
    return false;
}

typedef enum asked { RUNS, VARIANTS, REASONS } asked;

/* The problem in every type of its family. */
static void ask_types(answer *a, const wf_problem *problem, const wf_stencil_params *stencil,
                      asked what)
{
    wf_variant_info reference;
    if (wf_family_variant(problem->family, 0, &reference) != WF_SUCCESS)
        return;
    for (int type = 0; type < WF_TYPE_COUNT; type++) {
        wf_problem one = *problem;
        wf_stencil_params grid = {0};
        if (!(reference.types & 1u << type))
            continue;
        one.type = (wf_type)type;
        if (stencil) {
            grid = *stencil;
            grid.type = one.type;
            one.stencil = &grid;
        }
        if (what == RUNS)
            ask(a, &one);
        else if (runs(a, wf_family_name(one.family), one.type))
            ask_variants(a, &one, what == REASONS);
    }
}

static void ask_all(answer *a)
{
    static const double star[7] = {0.25, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125};
    const wf_stencil_params grids[] = {
        {.size = sizeof grids[0], .nx = 2048, .ny = 2048, .steps = 8, .coefficients = star},
        {.size = sizeof grids[0], .nx = 256, .ny = 256, .nz = 256, .coefficients = star}};
    for (int what = RUNS; what <= REASONS; what++) {
        for (size_t i = 0; i < WFI_COUNT(problems); i++)
            if (what != RUNS || i < TOLD)
                ask_types(a, &problems[i], NULL, (asked)what);
        for (size_t i = 0; i < WFI_COUNT(grids); i++) {
            const wf_problem problem = {.size = sizeof problem, .family = WF_FAMILY_STENCIL};
            ask_types(a, &problem, &grids[i], (asked)what);
        }
    }
}

/* -------------------------------------------------------------------------------------- output */

static void print_limits(const answer *a)
{
    const wf_caps *c = &a->caps;
    char shared[32], binding[32], allocation[32], subgroups[64];
    wfi_format_bytes(c->max_shared_bytes, shared, sizeof shared);
    wfi_format_bytes((double)c->max_storage_range, binding, sizeof binding);
    wfi_format_bytes((double)c->max_allocation, allocation, sizeof allocation);
    if (c->max_allocation >= UINT64_C(1) << 50)
        snprintf(allocation, sizeof allocation, "any size");
    snprintf(subgroups, sizeof subgroups,
             c->subgroup_min == c->subgroup_max ? "%u" : "%u (%u to %u%s)", c->subgroup_size,
             c->subgroup_min, c->subgroup_max,
             c->subgroup_size_control ? ", to be chosen" : ", as the driver likes");
    wfi_line(2, "%s: Vulkan %u.%u%s%s", c->name, VK_API_VERSION_MAJOR(c->api_version),
             VK_API_VERSION_MINOR(c->api_version), c->driver_name[0] ? ", " : "", c->driver_name);
    wfi_line(2,
             "  a work-group: %u work-items (%u x %u x %u), %s of shared memory, %u bytes of "
             "push constants; subgroups of %s",
             c->max_invocations, c->max_group_size[0], c->max_group_size[1], c->max_group_size[2],
             shared, c->max_push_bytes, subgroups);
    wfi_line(2,
             "  memory: %u storage buffers, bindings of up to %s at multiples of %llu bytes, "
             "allocations of %s%s; %s",
             c->max_storage_buffers, binding, (unsigned long long)c->storage_alignment,
             c->max_allocation >= UINT64_C(1) << 50 ? "" : "up to ", allocation,
             c->unified_memory ? "the host's and the device's are one"
                               : "copies go through staging");
    if (a->untold[0])
        wfi_line(2, "  the profile does not tell these, and what Vulkan guarantees counts: %s",
                 a->untold);
    wf_quirk quirk;
    for (uint32_t i = 0; wf_caps_quirk(c, i, &quirk); i++)
        wfi_line(2, "  known fault: %s; %s", quirk.what, quirk.instead);
}

static void print_runs(const answer *a)
{
    static const char *const heading[] = {"family",     "type",   "problem",  "variant",
                                          "work-group", "shared", "constants"};
    static wfi_table table = {.columns = 7};
    wfi_table_headings(&table, heading, 7);
    for (uint32_t i = 0; i < a->run_count; i++) {
        const wfi_would_run *run = &a->runs[i];
        const uint32_t *size = run->plan.kernel.group_size;
        char text[WFI_CELL_BYTES];
        const int row = wfi_table_row(&table);
        wfi_table_set(&table, row, 0, "%s", run->family);
        wfi_table_set(&table, row, 1, "%s", wf_type_name(run->type));
        wfi_table_set(&table, row, 2, "%s", run->problem);
        if (run->refused) {
            wfi_table_note(&table, row, 3, "refused: %s",
                           plain_reason(run->reason, run->family, wf_type_name(run->type)));
            continue;
        }
        wfi_table_set(&table, row, 3, "%s", run->plan.variant);
        wfi_table_set(&table, row, 4, "%ux%ux%u", size[0], size[1], size[2]);
        wfi_format_bytes((double)run->plan.kernel.shared_bytes, text, sizeof text);
        wfi_table_set(&table, row, 5, "%s", text);
        wfi_format_constants(&run->plan, text, sizeof text);
        wfi_table_set(&table, row, 6, "%s", text);
    }
    putchar('\n');
    wfi_table_print(&table);
}

static void print_left_out(const answer *a)
{
    static const char *const heading[] = {"left out", "variant", "types", "why"};
    static wfi_table table = {.columns = 4};
    wfi_table_headings(&table, heading, 4);
    for (uint32_t i = 0; i < a->left_out_count; i++) {
        const wfi_left_out *left = &a->left_out[i];
        char types[64] = "";
        const int row = wfi_table_row(&table);
        for (int type = 0; type < WF_TYPE_COUNT; type++)
            if (left->types & 1u << type)
                snprintf(types + strlen(types), sizeof types - strlen(types), "%s%s",
                         types[0] ? " " : "", wf_type_name((wf_type)type));
        wfi_table_set(&table, row, 0, "%s", left->family);
        wfi_table_set(&table, row, 1, "%s", left->variant);
        wfi_table_set(&table, row, 2, "%s", types);
        wfi_table_set(&table, row, 3, "%s", left->reason);
    }
    if (a->left_out_count) {
        putchar('\n');
        wfi_table_print(&table);
    }
}

/* ----------------------------------------------------------------------------------------- all */

static int open_profile(const char *file, wf_limits limits, answer *a)
{
    wfi_io_error error;
    char why[192];
    yyjson_doc *doc = wfi_json_read(file, &error);
    if (!doc)
        return wfi_run_error("%s", error.text);
    if (!wfi_profile_open(doc, &a->profile, why))
        return wfi_run_error("%s: no profile of a device: %s", file, why);
    if (wfi_profile_caps(&a->profile, limits, print_error, &a->caps) != WF_SUCCESS)
        return wfi_run_error("%s: wavefit does not run on this device", file);
    wfi_profile_untold(&a->profile, a->untold, sizeof a->untold);
    return WFI_EXIT_DONE;
}

static int tell(const answer *a, const char *file, const char *json)
{
    wfi_io_error error;
    const wfi_profile_result result = {.file = file,
                                       .untold = a->untold,
                                       .caps = &a->caps,
                                       .run_count = a->run_count,
                                       .left_out_count = a->left_out_count,
                                       .runs = a->runs,
                                       .left_out = a->left_out};
    if (json)
        return wfi_profile_write(json, &result, &error) ? WFI_EXIT_DONE
                                                        : wfi_run_error("%s", error.text);
    print_limits(a);
    print_runs(a);
    print_left_out(a);
    return WFI_EXIT_DONE;
}

int wfi_devices_profile(const char *file, const wfi_common *common)
{
    answer *a = calloc(1, sizeof *a);
    if (!a)
        return wfi_run_error("out of memory");
    int code = open_profile(file, common->minimum_limits ? WF_LIMITS_MINIMUM : WF_LIMITS_DEVICE, a);
    if (code == WFI_EXIT_DONE) {
        ask_all(a);
        code = tell(a, file, common->json);
    }
    wfi_profile_close(&a->profile);
    free(a);
    return code;
}
