#include "tool/cli/options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "core/platform_file.h"
#include "io/atomic_file.h"
#include "tool/cli/progress.h"
#include "tool/cli/wrap.h"

static void print_line(const char *format, va_list args)
{
    wfi_progress_clear(false);
    fputs("wavefit: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

int wfi_usage_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line(format, args);
    va_end(args);
    return WFI_EXIT_USAGE;
}

int wfi_run_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line(format, args);
    va_end(args);
    return WFI_EXIT_FAILED;
}

bool wfi_json_on_stdout(const wfi_common *common)
{
    return common->json && strcmp(common->json, "-") == 0;
}

char **wfi_options_split(int *argc, char ***argv)
{
    char **split = malloc((2 * (size_t)*argc + 1) * sizeof *split);
    int count = 0;
    if (!split)
        return NULL;
    for (int i = 0; i < *argc; i++) {
        char *equals = strncmp((*argv)[i], "--", 2) == 0 ? strchr((*argv)[i], '=') : NULL;
        split[count++] = (*argv)[i];
        if (!equals)
            continue;
        *equals = '\0';
        split[count++] = equals + 1;
    }
    split[count] = NULL;
    *argc = count;
    return *argv = split;
}

void wfi_common_repeat(const wfi_common *common, char *command, size_t bytes)
{
    const size_t used = strlen(command);
    snprintf(command + used, bytes - used, "%s%s%s%s", common->device ? " --device '" : "",
             common->device ? common->device : "", common->device ? "'" : "",
             common->minimum_limits ? " --limits minimum" : "");
}

/* -------------------------------------------------------------------------------------- numbers */

/* Reads digits from *text on; false when there are none or they overflow. */
static bool take_digits(const char **text, uint64_t *value)
{
    uint64_t sum = 0;
    if (**text < '0' || **text > '9')
        return false;
    for (; **text >= '0' && **text <= '9'; (*text)++) {
        const uint64_t digit = (uint64_t)(**text - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *value = sum;
    return true;
}

bool wfi_parse_u64(const char *option, const char *text, uint64_t least, uint64_t most,
                   uint64_t *value)
{
    const char *at = text;
    if (take_digits(&at, value) && !*at && *value >= least && *value <= most)
        return true;
    wfi_usage_error("%s: '%s' is not a whole number from %llu to %llu", option, text,
                    (unsigned long long)least, (unsigned long long)most);
    return false;
}

static bool parse_duration(const char *option, const char *text, const char *unit, int most,
                           double *value)
{
    char *end = NULL;
    *value = strtod(text, &end);
    if (*text && strspn(text, "0123456789.eE+-") == strlen(text) && !*end && *value > 0 &&
        *value <= most)
        return true;
    wfi_usage_error("%s: '%s' is not a number of %s over 0, up to %d", option, text, unit, most);
    return false;
}

bool wfi_parse_seconds(const char *option, const char *text, double *value)
{
    return parse_duration(option, text, "seconds", 86400, value);
}

bool wfi_parse_minutes(const char *option, const char *text, int most, double *value)
{
    return parse_duration(option, text, "minutes", most, value);
}

bool wfi_parse_number(const char *option, const char *text, double *value)
{
    char *end = NULL;
    *value = strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(*value))
        return true;
    wfi_usage_error("%s: '%s' is not a finite number", option, text);
    return false;
}

bool wfi_takes_type(const char *what, wf_family family, wf_type type)
{
    char names[8 * WF_TYPE_COUNT] = "";
    wf_variant_info info = {0};
    if (wf_family_variant(family, 0, &info) == WF_SUCCESS && info.types >> type & 1)
        return true;
    for (uint32_t t = 0, left = info.types; left; t++) {
        if (!(left >> t & 1))
            continue;
        left &= left - 1;
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                 wf_type_name((wf_type)t),
                 left == 0           ? ""
                 : left & (left - 1) ? ", "
                                     : " or ");
    }
    wfi_usage_error("%s must be %s", what, names);
    return false;
}

bool wfi_parse_type(const char *option, const char *text, wf_type *type)
{
    for (int t = 0; t < WF_TYPE_COUNT; t++)
        if (strcmp(text, wf_type_name((wf_type)t)) == 0) {
            *type = (wf_type)t;
            return true;
        }
    char list[8 * WF_TYPE_COUNT] = "";
    for (int t = 0; t < WF_TYPE_COUNT; t++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", t ? ", " : "",
                 wf_type_name((wf_type)t));
    wfi_usage_error("%s: '%s' is not a type (%s)", option, text, list);
    return false;
}

/* `count` positive integers with an x between them. */
static bool parse_sizes(const char *text, uint64_t most, int count, uint64_t *value)
{
    bool ok = true;
    for (int i = 0; i < count && ok; i++) {
        ok = take_digits(&text, &value[i]) && value[i] > 0 && value[i] <= most;
        ok = ok && *text == (i + 1 < count ? 'x' : '\0');
        text++;
    }
    return ok;
}

bool wfi_parse_triple(const char *option, const char *text, uint64_t most, uint64_t value[3])
{
    const bool ok = parse_sizes(text, most, 3, value);
    if (!ok)
        wfi_usage_error("%s: '%s' is not three sizes from 1 to %llu, like 100x200x300", option,
                        text, (unsigned long long)most);
    return ok;
}

bool wfi_parse_pair(const char *option, const char *text, uint64_t most, uint64_t value[2])
{
    const bool ok = parse_sizes(text, most, 2, value);
    if (!ok)
        wfi_usage_error("%s: '%s' is not two sizes from 1 to %llu, like 100x200", option, text,
                        (unsigned long long)most);
    return ok;
}

/* ------------------------------------------------------------------------------- common options */

static bool set_constant(wfi_common *common, const char *text)
{
    const char *equals = strchr(text, '=');
    const size_t length = equals ? (size_t)(equals - text) : 0;
    uint64_t value;
    if (length == 0 || length >= sizeof common->names[0]) {
        wfi_usage_error("--set: '%s' is not name=value", text);
        return false;
    }
    if (common->constant_count == WF_MAX_PARAMETERS) {
        wfi_usage_error("--set: more than %d constants", WF_MAX_PARAMETERS);
        return false;
    }
    char *name = common->names[common->constant_count];
    memcpy(name, text, length);
    name[length] = '\0';
    if (!wfi_parse_u64("--set", equals + 1, 0, UINT32_MAX, &value))
        return false;
    common->constants[common->constant_count++] = (wf_constant){name, (uint32_t)value};
    return true;
}

static bool set_limits(wfi_common *common, const char *text)
{
    if (strcmp(text, "minimum") != 0) {
        wfi_usage_error("--limits: '%s' is not known (minimum is)", text);
        return false;
    }
    common->minimum_limits = true;
    return true;
}

enum {
    DEVICE = 1 << 0,
    LIMITS = 1 << 1,
    POINT = 1 << 2, /* --variant and --set */
    JSON = 1 << 3,
    REPEAT = 1 << 4,
    SEED = 1 << 5,
    TUNING = 1 << 6,
    DISPATCH = 1 << 7
};

/* Common options that a command has no use for: they are refused, not ignored. */
static const struct {
    const char *command;
    unsigned options;
} without[] = {
    {"devices", DEVICE | POINT | REPEAT | SEED | TUNING | DISPATCH},
    {"himeno", REPEAT},
    {"laplace", SEED},
    {"occupancy", DEVICE | LIMITS | POINT | REPEAT | SEED | TUNING | DISPATCH},
    {"peaks", POINT | REPEAT | SEED | TUNING},
    {"report", DEVICE | LIMITS | POINT | JSON | REPEAT | SEED | TUNING | DISPATCH},
    {"tune", REPEAT | TUNING},
    {"verify", POINT | REPEAT | TUNING},
};

static const struct {
    const char *name, *argument, *help;
    unsigned kind;
} common_options[] = {
    {"--device", "SEL", "index, part of a name, or UUID (also WAVEFIT_DEVICE)", DEVICE},
    {"--limits", "minimum", "use no more than Vulkan 1.1 guarantees", LIMITS},
    {"--variant", "NAME", "force the algorithm", POINT},
    {"--set", "NAME=VALUE", "force a constant of the algorithm (repeatable)", POINT},
    {"--json", "FILE", "write results as JSON (-: standard output)", JSON},
    {"--repeat", "N", "timed samples (default: until stable)", REPEAT},
    {"--seed", "N", "seed of random inputs (default 1)", SEED},
    {"--dispatch", "SECONDS", "the longest that a dispatch may take; a longer one goes in pieces",
     DISPATCH},
    {"--no-tuning", NULL, "ignore tuning data, use the model alone", TUNING},
    {"--quiet", NULL, "show no progress; results are printed all the same", 0},
    {"--help", NULL, NULL, 0},
    {"-h", NULL, NULL, 0},
};
enum { COMMON_OPTIONS = WFI_COUNT(common_options) };

static bool is_offered(const wfi_command *command, int option)
{
    for (size_t i = 0; i < WFI_COUNT(without); i++)
        if (strcmp(command->name, without[i].command) == 0)
            return !(without[i].options & common_options[option].kind);
    return true;
}

/* The index of a common option, or -1. */
static int find_common(const char *name)
{
    for (int i = 0; i < COMMON_OPTIONS; i++)
        if (strcmp(name, common_options[i].name) == 0)
            return i;
    return -1;
}

static bool set_common(wfi_common *common, const char *name, const char *value)
{
    uint64_t number = 0;
    if (strcmp(name, "--device") == 0)
        common->device = value;
    else if (strcmp(name, "--limits") == 0)
        return set_limits(common, value);
    else if (strcmp(name, "--variant") == 0)
        common->variant = value;
    else if (strcmp(name, "--set") == 0)
        return set_constant(common, value);
    else if (strcmp(name, "--json") == 0)
        common->json = value;
    else if (strcmp(name, "--seed") == 0)
        return wfi_parse_u64(name, value, 0, UINT64_MAX, &common->seed);
    else if (strcmp(name, "--dispatch") == 0)
        return wfi_parse_seconds(name, value, &common->dispatch_seconds);
    else if (strcmp(name, "--repeat") == 0) {
        if (!wfi_parse_u64(name, value, 1, WF_MAX_SAMPLES, &number))
            return false;
        common->repeat = (uint32_t)number;
    } else if (strcmp(name, "--quiet") == 0)
        common->quiet = true;
    else if (strcmp(name, "--no-tuning") == 0)
        common->no_tuning = true;
    else
        common->help = true;
    return true;
}

#define OPTION_COLUMNS 24
#define HELP_COLUMN (OPTION_COLUMNS + 3)

static void print_option(const char *name, const char *argument, const char *help)
{
    const int used = wfi_columns(name) + (argument ? 1 + wfi_columns(argument) : 0);
    printf("  %s%s%s", name, argument ? " " : "", argument ? argument : "");
    if (used > OPTION_COLUMNS) /* what it means goes below */
        printf("\n%*s", HELP_COLUMN, "");
    else
        printf("%*s", OPTION_COLUMNS + 1 - used, "");
    wfi_wrap(HELP_COLUMN, HELP_COLUMN, help);
}

static void print_help(const wfi_command *command)
{
    wfi_line(8, "wavefit %s %s", command->name, command->usage);
    wfi_line(0, "%s", command->summary);
    putchar('\n');
    for (int i = 0; i < command->option_count; i++)
        print_option(command->options[i].name, command->options[i].argument,
                     command->options[i].help);
    for (int i = 0; i < COMMON_OPTIONS; i++)
        if (common_options[i].help && is_offered(command, i))
            print_option(common_options[i].name, common_options[i].argument,
                         common_options[i].help);
}

static const wfi_option *find_option(const wfi_command *command, const char *name)
{
    for (int i = 0; i < command->option_count; i++)
        if (strcmp(command->options[i].name, name) == 0)
            return &command->options[i];
    return NULL;
}

/* Handles argv[*at], an option, and its value. */
static bool take_option(const wfi_command *command, int argc, char **argv, int *at,
                        wfi_common *common)
{
    const char *name = argv[*at];
    const wfi_option *own = find_option(command, name);
    const int common_index = own ? -1 : find_common(name);
    if (!own && common_index < 0) {
        wfi_usage_error("%s: unknown option '%s' (see wavefit %s --help)", command->name, name,
                        command->name);
        return false;
    }
    if (!own && !is_offered(command, common_index)) {
        wfi_usage_error("%s: %s does not go with it (see wavefit %s --help)", command->name, name,
                        command->name);
        return false;
    }
    const bool takes = (own ? own->argument : common_options[common_index].argument) != NULL;
    if (takes && *at + 1 >= argc) {
        wfi_usage_error("%s: option %s needs a value", command->name, name);
        return false;
    }
    const char *value = takes ? argv[++*at] : "";
    if (!own)
        return set_common(common, name, value);
    if (own->argument)
        *own->value = value;
    else
        *own->flag = true;
    return true;
}

static bool is_writable(const char *path)
{
    wfi_io_error error;
    if (wfi_atomic_check(path, &error))
        return true;
    wfi_run_error("%s", error.text);
    return false;
}

/* Whether what --json and -o name can be written. */
static bool outputs_writable(const wfi_command *command, const wfi_common *common)
{
    const wfi_option *output = find_option(command, "-o");
    if (common->json && !wfi_json_on_stdout(common) && !is_writable(common->json))
        return false;
    return !output || !*output->value || is_writable(*output->value);
}

/* What else names the file of --json, whose results would take its place; NULL: nothing does. */
static const char *same_as_json(const wfi_command *command, const wfi_common *common)
{
    const wfi_option *output = find_option(command, "-o");
    const wfi_file_kind kind = wfi_file_kind_of(common->json);
    if (kind == WFI_FILE_NONE) /* yet */
        return output && *output->value && strcmp(*output->value, common->json) == 0 ? "-o" : NULL;
    for (int i = 0; i < command->option_count && kind == WFI_FILE_REGULAR; i++) {
        const wfi_option *option = &command->options[i];
        if (option->argument && *option->value && wfi_file_same(*option->value, common->json))
            return option->name;
    }
    for (int i = 0; i < common->positional_count && kind == WFI_FILE_REGULAR; i++)
        if (wfi_file_same(common->positional[i], common->json))
            return common->positional[i];
    return NULL;
}

int wfi_options_parse(const wfi_command *command, int argc, char **argv, wfi_common *common)
{
    const char *same = NULL;
    *common = (wfi_common){.seed = 1};
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1] != '\0') {
            if (!take_option(command, argc, argv, &i, common))
                return WFI_EXIT_USAGE;
        } else if (common->positional_count == WFI_MAX_POSITIONAL ||
                   common->positional_count == command->most_positional) {
            return wfi_usage_error("%s: unexpected argument '%s' (see wavefit %s --help)",
                                   command->name, argv[i], command->name);
        } else {
            common->positional[common->positional_count++] = argv[i];
        }
    }
    if (common->help)
        print_help(command);
    else if (common->positional_count < command->least_positional)
        return wfi_usage_error("%s: usage: wavefit %s %s", command->name, command->name,
                               command->usage);
    else if (common->json && (same = same_as_json(command, common)))
        return wfi_usage_error("%s: --json %s would overwrite the file of %s", command->name,
                               common->json, same);
    else if (!outputs_writable(command, common))
        return WFI_EXIT_FAILED;
    return WFI_EXIT_DONE;
}
