#include "checkpoints.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/cli/console.h"

#define DEFAULT_SECONDS 600
#define CONSTANT "constant." /* before a constant's name */

int wfi_checkpoints_parse(const char *command, const char *path, const char *every,
                          wfi_checkpoints *out)
{
    *out = (wfi_checkpoints){.path = path, .seconds = DEFAULT_SECONDS};
    if (!every)
        return WFI_EXIT_DONE;
    if (!path)
        return wfi_usage_error("%s: --every needs --checkpoint FILE", command);
    const size_t digits = strspn(every, "0123456789");
    const double number = digits && digits < 10 ? strtod(every, NULL) : 0;
    const char *unit = every + digits;
    out->seconds = strcmp(unit, "s") == 0 ? number : strcmp(unit, "min") == 0 ? number * 60 : 0;
    out->iterations = *unit ? 0 : (uint64_t)number;
    if (out->seconds > 0 || out->iterations > 0)
        return WFI_EXIT_DONE;
    return wfi_usage_error("--every '%s' is not a number of iterations (1000), of minutes (10min) "
                           "or of seconds (30s)",
                           every);
}

static uint64_t interval(const wfi_checkpoints *c, uint32_t unit)
{
    return (c->iterations + unit - 1) / unit * unit;
}

uint32_t wfi_checkpoints_next(const wfi_checkpoints *c, uint32_t done, uint32_t left, uint32_t unit,
                              double pace)
{
    double count = left;
    if (c->path && c->iterations)
        count = (double)(interval(c, unit) - done % interval(c, unit));
    else if (c->path)
        count = pace > 0 ? (c->last + c->seconds - MPI_Wtime()) / pace : unit;
    const double whole = fmax(ceil(count / unit), 1) * unit;
    return (uint32_t)wfi_rank_share((int)fmin(whole, left)); /* by rank 0's clock */
}

bool wfi_checkpoints_due(const wfi_rank *rank, const wfi_checkpoints *c, uint32_t done,
                         uint32_t unit)
{
    bool due = c->path && MPI_Wtime() >= c->last + c->seconds;
    if (c->path && c->iterations)
        due = done % interval(c, unit) < unit; /* a run may begin between two multiples */
    return wfi_rank_share(rank->prints && due) != 0;
}

int wfi_checkpoints_write(const wfi_rank *rank, wfi_checkpoints *c, const wfi_checkpoint *what)
{
    wfi_io_error error;
    int code = WFI_EXIT_DONE;
    if (rank->prints && !wfi_checkpoint_write(c->path, what, &error))
        code = wfi_run_error("%s", error.text);
    c->count += code == WFI_EXIT_DONE;
    c->last = MPI_Wtime();
    return wfi_rank_share(code);
}

void wfi_checkpoints_add(const wfi_checkpoints *c, wfi_result_case *out)
{
    if (!c->path)
        return;
    wfi_result_case_extra(out, "checkpoints", c->count);
    wfi_result_case_extra(out, "checkpoint_seconds", c->taken);
}

void wfi_checkpoints_print(const wfi_checkpoints *c)
{
    if (c->path)
        printf("kept      %u checkpoint%s in %.3f s, not counted in the time of iterations\n",
               c->count, c->count == 1 ? "" : "s", c->taken);
}

/* --------------------------------------------------------------------------------------- points */

void wfi_checkpoints_add_point(const wf_plan_info *info, wfi_checkpoint *out)
{
    static char names[WF_MAX_PARAMETERS][48];
    wfi_checkpoint_word(out, "variant", info->variant);
    for (uint32_t i = 0; i < info->constant_count; i++) {
        snprintf(names[i], sizeof names[i], CONSTANT "%s", info->constants[i].name);
        wfi_checkpoint_number(out, names[i], info->constants[i].value);
    }
}

bool wfi_checkpoints_take_point(const wfi_checkpoint *c, wfi_common *common)
{
    common->variant = wfi_checkpoint_find_word(c, "variant");
    for (uint32_t i = 0; i < c->fact_count; i++) {
        const wfi_fact *fact = &c->facts[i];
        if (strncmp(fact->name, CONSTANT, strlen(CONSTANT)) != 0)
            continue;
        if (common->constant_count == WF_MAX_PARAMETERS ||
            !(fact->number >= 0 && fact->number <= UINT32_MAX))
            return false;
        common->constants[common->constant_count++] =
            (wf_constant){fact->name + strlen(CONSTANT), (uint32_t)fact->number};
    }
    return common->variant != NULL;
}

/* -------------------------------------------------------------------------------------- reading */

typedef struct sent_fact {
    char name[40], text[120];
    double number;
    int is_text;
} sent_fact;

typedef struct sent {
    uint32_t count;
    sent_fact facts[WFI_CHECKPOINT_FACTS];
} sent;

static void pack(const wfi_checkpoint *c, sent *out)
{
    out->count = c->fact_count;
    for (uint32_t i = 0; i < c->fact_count; i++) {
        const wfi_fact *fact = &c->facts[i];
        out->facts[i] = (sent_fact){.number = fact->number, .is_text = fact->text != NULL};
        snprintf(out->facts[i].name, sizeof out->facts[i].name, "%s", fact->name);
        snprintf(out->facts[i].text, sizeof out->facts[i].text, "%s", fact->text ? fact->text : "");
    }
}

static void unpack(sent *from, wfi_checkpoint *out)
{
    *out = (wfi_checkpoint){.memory = {from}};
    for (uint32_t i = 0; i < from->count; i++)
        if (from->facts[i].is_text)
            wfi_checkpoint_word(out, from->facts[i].name, from->facts[i].text);
        else
            wfi_checkpoint_number(out, from->facts[i].name, from->facts[i].number);
}

static int read_here(const char *path, const char *family, wfi_checkpoint *out)
{
    wfi_io_error error;
    if (!wfi_checkpoint_read(path, out, &error))
        return wfi_run_error("%s", error.text);
    const char *of = wfi_checkpoint_find_word(out, "family");
    if (of && strcmp(of, family) == 0)
        return WFI_EXIT_DONE;
    return wfi_run_error("%s: the checkpoint is of %.40s, not of %s", path, of ? of : "another run",
                         family);
}

int wfi_checkpoints_read(const wfi_rank *rank, const char *path, const char *family,
                         wfi_checkpoint *out)
{
    int code = wfi_rank_share(rank->prints ? read_here(path, family, out) : WFI_EXIT_DONE);
    if (code != WFI_EXIT_DONE)
        return code;
    sent *facts = calloc(1, sizeof *facts);
    code = wfi_rank_worst(facts ? WFI_EXIT_DONE : WFI_EXIT_FAILED);
    if (!facts || code != WFI_EXIT_DONE) {
        free(facts);
        return rank->prints ? wfi_run_error("out of memory") : code;
    }
    if (rank->prints)
        pack(out, facts);
    MPI_Bcast(facts, (int)sizeof *facts, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank->prints)
        free(facts);
    else
        unpack(facts, out);
    return WFI_EXIT_DONE;
}
