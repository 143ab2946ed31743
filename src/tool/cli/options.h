/* The command line: common options, a subcommand's own, and positional arguments. */
#ifndef WFI_TOOL_CLI_OPTIONS_H
#define WFI_TOOL_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "wavefit/wavefit.h"

/* Exit codes of the tool. */
enum { WFI_EXIT_DONE = 0, WFI_EXIT_FAILED = 1, WFI_EXIT_USAGE = 2, WFI_EXIT_NO_DEVICE = 3 };

#define WFI_MAX_POSITIONAL 64

typedef struct wfi_common {
    const char *device; /* NULL: WAVEFIT_DEVICE, else the best */
    bool minimum_limits;
    const char *variant;
    wf_constant constants[WF_MAX_PARAMETERS];
    uint32_t constant_count;
    const char *json; /* NULL: none; "-": standard output */
    uint32_t repeat;  /* 0: until stable */
    uint64_t seed;
    double dispatch_seconds; /* as in wf_device_params; 0: not given */
    bool quiet, no_tuning, help;
    int positional_count;
    const char *positional[WFI_MAX_POSITIONAL];
    char names[WF_MAX_PARAMETERS][32]; /* what constants' names point to */
} wfi_common;

/* An option of one subcommand; exactly one of value and flag is set. */
typedef struct wfi_option {
    const char *name;     /* "--type" or "-o" */
    const char *argument; /* what follows it, for the help: "f32|f64"; NULL for a flag */
    const char **value;
    bool *flag;
    const char *help;
} wfi_option;

typedef struct wfi_command {
    const char *name;
    const char *usage;   /* what stands behind the name: "MATRIX.mtx[.gz]" */
    const char *summary; /* one line */
    int least_positional, most_positional;
    const wfi_option *options;
    int option_count;
} wfi_command;

/* Parses argv behind the subcommand's name. On wrong usage prints one line and returns
 * WFI_EXIT_USAGE; where what --json or -o names cannot be written, WFI_EXIT_FAILED, so that no long
 * run is for nothing; on --help prints the help, sets common->help and returns WFI_EXIT_DONE. */
int wfi_options_parse(const wfi_command *command, int argc, char **argv, wfi_common *common);

/* Makes "--name=value" the two arguments "--name" and "value", so that whoever reads or keeps the
 * command line knows one form of it. Without memory the line stays as it is. Returns what the
 * caller frees once nobody needs the line. */
char **wfi_options_split(int *argc, char ***argv);

/* Appends what names the device: " --device 'SEL'", so that a command that is printed runs where
 * this one did. */
void wfi_common_repeat(const wfi_common *common, char *command, size_t bytes);

/* Whether the results go to standard output, where then nothing else does. */
bool wfi_json_on_stdout(const wfi_common *common);

/* One line to stderr, "wavefit: …"; returns WFI_EXIT_USAGE or WFI_EXIT_FAILED. */
int wfi_usage_error(const char *format, ...);
int wfi_run_error(const char *format, ...);

/* Strict numbers: the whole text, in range; else one line that names the option, and false. */
bool wfi_parse_u64(const char *option, const char *text, uint64_t least, uint64_t most,
                   uint64_t *value);
bool wfi_parse_seconds(const char *option, const char *text, double *value);
bool wfi_parse_minutes(const char *option, const char *text, int most, double *value);
bool wfi_parse_number(const char *option, const char *text, double *value); /* finite */
/* Whether kernels of the family have the type. If not, prints one line, which begins with
 * `what`. */
bool wfi_takes_type(const char *what, wf_family family, wf_type type);

/* "f32", "f64", … */
bool wfi_parse_type(const char *option, const char *text, wf_type *type);
/* "AxBxC" of positive integers. */
bool wfi_parse_triple(const char *option, const char *text, uint64_t most, uint64_t value[3]);
/* "AxB". */
bool wfi_parse_pair(const char *option, const char *text, uint64_t most, uint64_t value[2]);

#endif
