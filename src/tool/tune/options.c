#include "tool/tune/options.h"

#include <stdio.h>
#include <string.h>

#include "tool/cases/drawn.h"

#define DEFAULT_SECONDS 60
#define DEFAULT_FIT_SECONDS 300

/* ---------------------------------------------------------------------------------- one problem */

static bool is_given(const wfi_given_problem *given, uint32_t option)
{
    return given->text[option] || given->flag[option];
}

/* How many of a family's options that name a problem were given; *text gets the last one's. */
static uint32_t count_names(const wfi_tune_arguments *args, int family, const char **text)
{
    const wfi_tool_family *of = wfi_tool_families[family];
    uint32_t count = 0;
    for (uint32_t i = 0; i < of->problem_option_count; i++)
        if (of->problem_options[i].names && args->given[family].text[i]) {
            *text = args->given[family].text[i];
            count++;
        }
    return count;
}

/* The family whose problem is named, and the text that names it; -1: none is. */
static int family_of_one(const wfi_tune_arguments *args, const char **text)
{
    for (int f = 0; f < WFI_TOOL_FAMILY_COUNT; f++)
        if (count_names(args, f, text))
            return f;
    return -1;
}

bool wfi_tune_names_one(const wfi_tune_arguments *args)
{
    const char *text;
    return family_of_one(args, &text) >= 0;
}

bool wfi_tune_is_drawn(const wfi_tune_arguments *args)
{
    return args->suite && strcmp(args->suite, "drawn") == 0;
}

int wfi_tune_parse_one(const wfi_tune_arguments *args, wfi_case_problem *problem)
{
    const char *text;
    const int f = family_of_one(args, &text);
    const wfi_tool_family *family = wfi_tool_families[f];
    wfi_given_problem given = args->given[f];
    *problem = (wfi_case_problem){.family = family->family};
    given.type = args->type;
    if (args->type && !wfi_parse_type("--type", args->type, &problem->type))
        return WFI_EXIT_USAGE;
    const int code = family->parse_problem(&given, problem);
    if (code != WFI_EXIT_DONE)
        return code;
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

/* Adds those of the family's options that name a problem, or the others: "--radius, --box". */
static void list_options(const wfi_tool_family *family, bool naming, char *text, size_t bytes)
{
    for (uint32_t i = 0; i < family->problem_option_count; i++) {
        const size_t used = strlen(text);
        if (family->problem_options[i].names == naming)
            snprintf(text + used, bytes - used, "%s%s", used ? ", " : "",
                     family->problem_options[i].name);
    }
}

/* Puts "and" in place of the last comma; false: there is one thing alone. */
static bool join_last(char *text, size_t bytes)
{
    char *comma = strrchr(text, ',');
    char last[32];
    if (!comma)
        return false;
    snprintf(last, sizeof last, "%s", comma + 2);
    snprintf(comma, bytes - (size_t)(comma - text), " and %s", last);
    return true;
}

/* What goes with a problem that is not named would be ignored. */
static int check_companions(const wfi_tune_arguments *a, int f)
{
    const wfi_tool_family *family = wfi_tool_families[f];
    char others[128] = "", naming[64] = "";
    const char *text;
    bool given = false;
    for (uint32_t i = 0; i < family->problem_option_count; i++)
        given |= is_given(&a->given[f], i);
    if (!given || count_names(a, f, &text))
        return WFI_EXIT_DONE;
    list_options(family, false, others, sizeof others);
    list_options(family, true, naming, sizeof naming);
    const bool several = join_last(others, sizeof others);
    return wfi_usage_error("tune: %s %s for %s", others, several ? "are" : "is", naming);
}

/* What would be ignored is refused. */
static int check_problem(const wfi_tune_arguments *a)
{
    char names[128] = "";
    const char *text = NULL;
    uint32_t problems = 0;
    int code = WFI_EXIT_DONE;
    for (int f = 0; f < WFI_TOOL_FAMILY_COUNT; f++) {
        problems += count_names(a, f, &text);
        list_options(wfi_tool_families[f], true, names, sizeof names);
    }
    if (problems > 1) {
        join_last(names, sizeof names);
        return wfi_usage_error("tune: %s exclude each other", names);
    }
    if (problems && (a->suite || a->only))
        return wfi_usage_error("tune: %s picks among the suite's problems, and %s names one",
                               a->suite ? "--suite" : "--only", text);
    for (int f = 0; f < WFI_TOOL_FAMILY_COUNT && code == WFI_EXIT_DONE; f++)
        code = check_companions(a, f);
    if (code == WFI_EXIT_DONE && a->suite && strcmp(a->suite, "quick") != 0 &&
        strcmp(a->suite, "full") != 0 && !wfi_tune_is_drawn(a))
        code = wfi_usage_error("--suite: '%s' is not a suite (quick, full, drawn)", a->suite);
    if (code == WFI_EXIT_DONE && a->count && !wfi_tune_is_drawn(a) && !a->fits)
        code = wfi_usage_error("tune: --count goes with --suite drawn or --drawn");
    return code;
}

/* Times as texts. */
typedef struct times {
    const char *budget, *patience, *seconds;
} times;

static int check_fit(const wfi_tune_arguments *a, const times *t, const wfi_common *common)
{
    if (!a->fits)
        return t->seconds ? wfi_usage_error("tune: --seconds goes with --drawn") : WFI_EXIT_DONE;
    if (t->budget)
        return wfi_usage_error("tune: --drawn has --seconds in place of --budget");
    if (wfi_tune_names_one(a) || a->suite || a->only)
        return wfi_usage_error("tune: --drawn is of problems drawn at random, of all families or "
                               "of one");
    if (a->compare || a->exhaustive || a->again)
        return wfi_usage_error("tune: --drawn goes with none of --compare, --exhaustive, --again");
    if (common->variant || common->constant_count)
        return wfi_usage_error("tune: --drawn searches among all variants and values");
    return WFI_EXIT_DONE;
}

static int check_work(const wfi_tune_arguments *a, const wfi_common *common)
{
    const int works = a->show + a->export + a->forget + a->calibrate + a->fits;
    const char *work = a->show        ? "--show"
                       : a->export    ? "--export"
                       : a->calibrate ? "--calibrate"
                                      : "--forget";
    if (works > 1)
        return wfi_usage_error(
            "tune: --show, --export, --calibrate, --forget and --drawn exclude each other");
    if (a->fits)
        return WFI_EXIT_DONE;
    if (works && common->json)
        return wfi_usage_error("tune: --json is for searches (--export prints rows)");
    if (works && (common->variant || common->constant_count))
        return wfi_usage_error("tune: --variant and --set are for searches");
    if (works && (wfi_tune_names_one(a) || a->suite || a->only))
        return wfi_usage_error("tune: %s is of all problems, or those of a family", work);
    return WFI_EXIT_DONE;
}

#define OWN_OPTIONS 16
#define FIRST_OPTIONS 4 /* that the help lists before those of the families */
#define MOST_OPTIONS (OWN_OPTIONS + WFI_TOOL_FAMILY_COUNT * WFI_MOST_PROBLEM_OPTIONS)

/* Adds the options that name a problem of each family; returns how many there are then. */
static int add_problem_options(wfi_tune_arguments *a, wfi_option *options, int count)
{
    for (int f = 0; f < WFI_TOOL_FAMILY_COUNT; f++)
        for (uint32_t i = 0; i < wfi_tool_families[f]->problem_option_count; i++) {
            const wfi_problem_option *o = &wfi_tool_families[f]->problem_options[i];
            wfi_given_problem *given = &a->given[f];
            options[count++] =
                (wfi_option){o->name, o->argument, o->argument ? &given->text[i] : NULL,
                             o->argument ? NULL : &given->flag[i], o->help};
        }
    return count;
}

static int read_options(int argc, char **argv, wfi_tune_arguments *a, times *t, wfi_common *common)
{
    const wfi_option own[OWN_OPTIONS] = {
        {"--budget", "SECONDS", &t->budget, NULL, "time for all problems together (default 60)"},
        {"--suite", "quick|full|drawn", &a->suite, NULL,
         "which problems (default quick); drawn: at random by --seed"},
        {"--count", "N", &a->count, NULL,
         "of --suite drawn and --drawn: so many problems (default 24, --drawn: one for each 3 s)"},
        {"--only", "TEXT", &a->only, NULL, "those of the suite with TEXT in their names"},
        {"--type", "f32|f64|…", &a->type, NULL,
         "element type of the problem given (default f32), or of the suite's"},
        {"--patience", "SECONDS", &t->patience, NULL,
         "a driver that is silent for so long hangs (default 60)"},
        {"--again", NULL, NULL, &a->again, "measure what earlier runs have measured too"},
        {"--exhaustive", NULL, NULL, &a->exhaustive,
         "time every legal point; each problem has the whole budget"},
        {"--compare", NULL, NULL, &a->compare,
         "for each problem, time what the model, the rows that ship, two searches of the budget "
         "and an exhaustive one choose; what FILE of --json has already is not measured again"},
        {"--drawn", NULL, NULL, &a->fits,
         "fit the device as a whole: search for problems drawn by --seed that have no row yet, "
         "then "
         "measure what all that is kept gains on others, which were not searched"},
        {"--seconds", "T", &t->seconds, NULL, "of --drawn: the time for all of it (default 300)"},
        {"--calibrate", NULL, NULL, &a->calibrate,
         "measure the rates that the model chooses by, in 2 s or --budget"},
        {"--no-calibrate", NULL, NULL, &a->no_calibrate,
         "do not measure them before a search, where none are kept"},
        {"--show", NULL, NULL, &a->show, "print what is kept of this device"},
        {"--export", NULL, NULL, &a->export, "print it as rows that can ship with wavefit"},
        {"--forget", NULL, NULL, &a->forget, "remove what is kept (of the family)"},
    };
    wfi_option options[MOST_OPTIONS];
    char families[96], usage[160];
    memcpy(options, own, FIRST_OPTIONS * sizeof *own);
    const int first = add_problem_options(a, options, FIRST_OPTIONS);
    memcpy(&options[first], &own[FIRST_OPTIONS], sizeof own - FIRST_OPTIONS * sizeof *own);
    wfi_family_names("|", families, sizeof families);
    snprintf(usage, sizeof usage, "[%s] [MATRIX.mtx] [OPTIONS]", families);
    const wfi_command command = {
        "tune",
        usage,
        "Searches for the fastest variants and constants on this device and keeps them.",
        0,
        2,
        options,
        first + OWN_OPTIONS - FIRST_OPTIONS};
    return wfi_options_parse(&command, argc - 2, argv + 2, common);
}

/* The text behind the family, which the family's positional option takes. */
static int take_text(wfi_tune_arguments *args, const char *text)
{
    for (int f = 0; f < WFI_TOOL_FAMILY_COUNT; f++) {
        const wfi_tool_family *family = wfi_tool_families[f];
        for (uint32_t i = 0; family->family == args->family && i < family->problem_option_count;
             i++)
            if (family->problem_options[i].positional && !args->given[f].text[i]) {
                args->given[f].text[i] = text;
                return WFI_EXIT_DONE;
            }
    }
    return wfi_usage_error("tune: unexpected argument '%s' (see wavefit tune --help)", text);
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
    if (args->fits)
        args->seconds = DEFAULT_FIT_SECONDS;
    if ((t.budget && !wfi_parse_seconds("--budget", t.budget, &args->seconds)) ||
        (t.seconds && !wfi_parse_seconds("--seconds", t.seconds, &args->seconds)) ||
        (t.patience && !wfi_parse_seconds("--patience", t.patience, &args->patience_seconds)))
        return WFI_EXIT_USAGE;
    code = wfi_drawn_parse_count(args->count, &args->drawn);
    if (code == WFI_EXIT_DONE)
        code = parse_family(common, &args->family);
    if (code == WFI_EXIT_DONE && common->positional_count > 1)
        code = take_text(args, common->positional[1]);
    args->calibrate_seconds = t.budget ? args->seconds : 0;
    if (code == WFI_EXIT_DONE)
        code = check_problem(args);
    if (code == WFI_EXIT_DONE)
        code = check_fit(args, &t, common);
    return code == WFI_EXIT_DONE ? check_work(args, common) : code;
}
