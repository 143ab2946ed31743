#include "tool/tune/options.h"

#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/cases/families.h"
#include "tool/cases/generate.h"
#include "tool/cases/himeno_size.h"
#include "tool/cases/matrix_name.h"
#include "tool/cases/stencil_options.h"

#define MOST_EXTENT 2147483648u
#define DEFAULT_SECONDS 60

/* ---------------------------------------------------------------------------------- one problem */

/* The text that names the one problem, NULL where none is. */
static const char *name_of_one(const wfi_tune_arguments *args)
{
    return args->shape    ? args->shape
           : args->size   ? args->size
           : args->grid   ? args->grid
           : args->matrix ? args->matrix
                          : args->generate;
}

bool wfi_tune_names_one(const wfi_tune_arguments *args)
{
    return name_of_one(args) != NULL;
}

static int parse_grid(const wfi_tune_arguments *args, wfi_case_problem *problem)
{
    const wfi_stencil_arguments stencil = {.grid = args->grid,
                                           .shape = args->box ? "box" : NULL,
                                           .radius = args->radius,
                                           .border = args->border,
                                           .steps = args->steps,
                                           .type = args->type};
    wfi_stencil_request r;
    const int code = wfi_stencil_parse(&stencil, &r);
    if (code != WFI_EXIT_DONE)
        return code;
    problem->family = WF_FAMILY_STENCIL;
    problem->shape = r.shape;
    problem->border = r.border;
    problem->radius = r.radius;
    problem->steps = r.steps;
    problem->a = r.nx;
    problem->b = r.ny;
    problem->c = r.nz;
    return WFI_EXIT_DONE;
}

static bool parse_sizes(const wfi_tune_arguments *args, wfi_case_problem *problem)
{
    uint64_t sizes[3];
    if (args->shape ? !wfi_parse_triple("--shape", args->shape, MOST_EXTENT, sizes)
                    : !wfi_parse_himeno_size("--size", args->size, sizes))
        return false;
    problem->family = args->shape ? WF_FAMILY_MATMUL : WF_FAMILY_HIMENO;
    problem->a = sizes[0];
    problem->b = sizes[1];
    problem->c = sizes[2];
    if (args->math && strcmp(args->math, "exact") != 0 && strcmp(args->math, "fast") != 0) {
        wfi_usage_error("--math: '%s' is not exact or fast", args->math);
        return false;
    }
    problem->math = args->math && strcmp(args->math, "fast") == 0 ? WF_MATH_FAST : WF_MATH_EXACT;
    return true;
}

static int parse_matrix(const wfi_tune_arguments *args, wfi_case_problem *problem)
{
    char message[256];
    problem->family = WF_FAMILY_SPMV;
    problem->path = args->matrix ? args->matrix : args->generate;
    problem->kind = wfi_matrix_is_file(problem->path) ? WFI_MATRIX_FILE : WFI_MATRIX_GENERATED;
    if ((args->generate || problem->kind == WFI_MATRIX_GENERATED) &&
        !wfi_generate_check(problem->path, message))
        return wfi_usage_error("%s: %s", args->generate ? "--generate" : "--matrix", message);
    return WFI_EXIT_DONE;
}

int wfi_tune_parse_one(const wfi_tune_arguments *args, wfi_case_problem *problem)
{
    int code = WFI_EXIT_DONE;
    memset(problem, 0, sizeof *problem);
    if (args->type && !wfi_parse_type("--type", args->type, &problem->type))
        return WFI_EXIT_USAGE;
    if (args->matrix || args->generate)
        code = parse_matrix(args, problem);
    else if (args->grid)
        code = parse_grid(args, problem);
    else if (!parse_sizes(args, problem))
        code = WFI_EXIT_USAGE;
    if (code != WFI_EXIT_DONE)
        return code;
    if (args->size && problem->type != WF_TYPE_F32)
        return wfi_usage_error("tune: --type: Himeno is f32");
    snprintf(problem->name, sizeof problem->name, "%s%s", name_of_one(args),
             problem->math == WF_MATH_FAST ? " fast" : "");
    if (problem->family == WF_FAMILY_SPMV)
        wfi_matrix_label(name_of_one(args), problem->name, sizeof problem->name);
    if (args->family != WF_FAMILY_COUNT && args->family != problem->family)
        return wfi_usage_error("tune: the problem given is not of family %s",
                               wf_family_name(args->family));
    return WFI_EXIT_DONE;
}

/* ----------------------------------------------------------------------------------- everything */

static int parse_family(const wfi_common *common, wf_family *family)
{
    *family = WF_FAMILY_COUNT;
    return common->positional_count ? wfi_parse_family("tune", common->positional[0], family)
                                    : WFI_EXIT_DONE;
}

/* What would be ignored is refused. */
static int check_problem(const wfi_tune_arguments *a)
{
    const int problems = (a->shape != NULL) + (a->size != NULL) + (a->grid != NULL) +
                         (a->matrix != NULL) + (a->generate != NULL);
    if (problems > 1)
        return wfi_usage_error(
            "tune: --shape, --size, --grid, --matrix and --generate exclude each other");
    if (problems && (a->suite || a->only))
        return wfi_usage_error("tune: %s picks among the suite's problems, and %s names one",
                               a->suite ? "--suite" : "--only", name_of_one(a));
    if (!a->grid && (a->steps || a->radius || a->border || a->box))
        return wfi_usage_error("tune: --steps, --radius, --border and --box are for --grid");
    if (a->math && !a->shape)
        return wfi_usage_error("tune: --math is for --shape");
    if (a->suite && strcmp(a->suite, "quick") != 0 && strcmp(a->suite, "full") != 0)
        return wfi_usage_error("--suite: '%s' is not a suite (quick, full)", a->suite);
    return WFI_EXIT_DONE;
}

static int check_work(const wfi_tune_arguments *a, const wfi_common *common)
{
    const int works = a->show + a->export + a->forget;
    const char *work = a->show ? "--show" : a->export ? "--export" : "--forget";
    if (works > 1)
        return wfi_usage_error("tune: --show, --export and --forget exclude each other");
    if (works && common->json)
        return wfi_usage_error("tune: --json is for searches (--export prints rows)");
    if (works && (common->variant || common->constant_count))
        return wfi_usage_error("tune: --variant and --set are for searches");
    if (works && (wfi_tune_names_one(a) || a->suite || a->only))
        return wfi_usage_error("tune: %s is of all problems, or those of a family", work);
    return WFI_EXIT_DONE;
}

/* Times as texts. */
typedef struct times {
    const char *budget, *patience;
} times;

static int read_options(int argc, char **argv, wfi_tune_arguments *a, times *t, wfi_common *common)
{
    const wfi_option options[] = {
        {"--budget", "SECONDS", &t->budget, NULL, "time for all problems together (default 60)"},
        {"--suite", "quick|full", &a->suite, NULL, "which problems (default quick)"},
        {"--only", "TEXT", &a->only, NULL, "those of the suite with TEXT in their names"},
        {"--shape", "MxNxK", &a->shape, NULL, "matmul: this product alone"},
        {"--math", "exact|fast", &a->math, NULL, "of --shape, as of `wavefit matmul`"},
        {"--size", "XS…XL|IxJxK", &a->size, NULL, "himeno: this grid alone"},
        {"--grid", "NXxNY[xNZ]", &a->grid, NULL, "stencil: a star or box on this grid alone"},
        {"--steps", "N", &a->steps, NULL, "of --grid: steps a run (default 1)"},
        {"--radius", "R", &a->radius, NULL, "of --grid: 1 to 4 (default 1)"},
        {"--border", "dirichlet|neumann|periodic", &a->border, NULL,
         "of --grid (default dirichlet)"},
        {"--box", NULL, NULL, &a->box, "of --grid: a box in place of a star"},
        {"--matrix", "FILE|KIND:SIZE", &a->matrix, NULL, "spmv: this matrix alone"},
        {"--generate", "KIND:SIZE", &a->generate, NULL, "spmv: one that `wavefit spmv` can make"},
        {"--type", "f32|f64|…", &a->type, NULL,
         "element type of the problem given (default f32), or of the suite's"},
        {"--patience", "SECONDS", &t->patience, NULL,
         "a driver that is silent for so long hangs (default 60)"},
        {"--again", NULL, NULL, &a->again, "measure what earlier runs have measured too"},
        {"--exhaustive", NULL, NULL, &a->exhaustive,
         "time every legal point; each problem has the whole budget"},
        {"--compare", NULL, NULL, &a->compare,
         "for each problem, time what the model, the rows that ship, two searches of the budget "
         "and "
         "an exhaustive one choose; what FILE of --json has already is not measured again"},
        {"--show", NULL, NULL, &a->show, "print what is kept of this device"},
        {"--export", NULL, NULL, &a->export, "print it as rows that can ship with wavefit"},
        {"--forget", NULL, NULL, &a->forget, "remove what is kept (of the family)"},
    };
    const wfi_command command = {
        "tune",
        "[himeno|spmv|matmul|stencil] [MATRIX.mtx] [OPTIONS]",
        "Searches for the fastest variants and constants on this device and keeps them.",
        0,
        2,
        options,
        WFI_COUNT(options)};
    return wfi_options_parse(&command, argc - 2, argv + 2, common);
}

int wfi_tune_options(int argc, char **argv, wfi_tune_arguments *args, wfi_common *common)
{
    times t = {0};
    *args = (wfi_tune_arguments){.seconds = DEFAULT_SECONDS,
                                 .patience_seconds = DEFAULT_SECONDS,
                                 .argc = argc,
                                 .argv = argv};
    int code = read_options(argc, argv, args, &t, common);
    if (code != WFI_EXIT_DONE || common->help)
        return code;
    if ((t.budget && !wfi_parse_seconds("--budget", t.budget, &args->seconds)) ||
        (t.patience && !wfi_parse_seconds("--patience", t.patience, &args->patience_seconds)))
        return WFI_EXIT_USAGE;
    code = parse_family(common, &args->family);
    if (code == WFI_EXIT_DONE && common->positional_count > 1) {
        if (args->family != WF_FAMILY_SPMV || args->matrix)
            return wfi_usage_error("tune: unexpected argument '%s' (see wavefit tune --help)",
                                   common->positional[1]);
        args->matrix = common->positional[1];
    }
    if (code == WFI_EXIT_DONE)
        code = check_problem(args);
    return code == WFI_EXIT_DONE ? check_work(args, common) : code;
}
