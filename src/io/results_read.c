#include "io/results_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

#include "io/comparison.h"
#include "io/json.h"
#include "io/old_results.h"
#include "io/results_parts.h"
#include "io/targets.h"

#define LEAST_NOISE 0.03 /* two runs of one build differ by so much on a quiet machine */
#define WHOLE_SPREAD 0.1 /* of the time of a whole run, of which there is one sample */

/* ---------------------------------------------------------------------------------- validating */

static const char *schema_of(yyjson_val *root)
{
    return yyjson_get_str(yyjson_obj_get(root, "schema"));
}

/* Whether it is a file of `wavefit tune --compare`, whose page needs its device and its list. */
static bool is_comparison(yyjson_val *root)
{
    const char *schema = schema_of(root);
    return schema && strcmp(schema, WFI_COMPARISON_SCHEMA) == 0 &&
           yyjson_is_obj(yyjson_obj_get(root, "device")) &&
           yyjson_is_arr(yyjson_obj_get(root, "comparisons"));
}

/* Whether it is a file of `wavefit compare`. */
static bool is_of_targets(yyjson_val *root)
{
    const char *schema = schema_of(root);
    return schema && strcmp(schema, WFI_TARGETS_SCHEMA) == 0 &&
           yyjson_is_arr(yyjson_obj_get(root, "targets"));
}

static bool validate_root(const char *path, yyjson_val *root, uint32_t *cases, wfi_io_error *error)
{
    const char *schema = schema_of(root);
    yyjson_val *list = yyjson_obj_get(root, "cases"), *item;
    size_t index, count;
    if (!schema || strncmp(schema, "wavefit-results/", 16) != 0)
        return wfi_io_fail(error, WFI_IO_BAD_INPUT, "%s: not a wavefit results file", path);
    if (strcmp(schema, WFI_RESULTS_SCHEMA) != 0)
        return wfi_io_fail(error, WFI_IO_UNSUPPORTED,
                           "%s: schema %s is not known to this wavefit (it knows %s and %s)", path,
                           schema, WFI_RESULTS_OLD_SCHEMA, WFI_RESULTS_SCHEMA);
    if (!yyjson_is_obj(yyjson_obj_get(root, "device")) || !yyjson_is_arr(list))
        return wfi_io_fail(error, WFI_IO_BAD_INPUT, "%s: device or cases are missing", path);
    yyjson_arr_foreach(list, index, count, item)
    {
        if (!yyjson_is_str(yyjson_obj_get(item, "family")) ||
            !yyjson_is_str(yyjson_obj_get(item, "status")))
            return wfi_io_fail(error, WFI_IO_BAD_INPUT, "%s: case %u has no family or no status",
                               path, (unsigned)index);
    }
    *cases = (uint32_t)yyjson_arr_size(list);
    return true;
}

/* A document of results, or NULL and the error. */
yyjson_doc *wfi_results_valid_document(const char *path, uint32_t *cases, wfi_io_error *error)
{
    yyjson_doc *doc = wfi_results_document(path, error);
    if (!doc || validate_root(path, yyjson_doc_get_root(doc), cases, error))
        return doc;
    yyjson_doc_free(doc);
    return NULL;
}

bool wfi_results_validate(const char *path, uint32_t *cases, wfi_io_error *error)
{
    yyjson_doc *doc = wfi_results_valid_document(path, cases, error);
    yyjson_doc_free(doc);
    return doc != NULL;
}

/* ------------------------------------------------------------------------------------- merging */

struct wfi_report {
    yyjson_mut_doc *doc; /* {"files": [{"path", "results"}], "compare": {"path"}} */
    yyjson_mut_val *files;
};

wfi_report *wfi_report_create(void)
{
    wfi_report *report = calloc(1, sizeof *report);
    if (report)
        report->doc = wfi_json_create();
    yyjson_mut_val *root = report && report->doc ? yyjson_mut_obj(report->doc) : NULL;
    if (!root) {
        wfi_report_destroy(&report);
        return NULL;
    }
    yyjson_mut_doc_set_root(report->doc, root);
    report->files = yyjson_mut_obj_add_arr(report->doc, root, "files");
    if (!report->files)
        wfi_report_destroy(&report);
    return report;
}

void wfi_report_destroy(wfi_report **handle)
{
    wfi_report *report = handle ? *handle : NULL;
    if (!report)
        return;
    wfi_json_free(report->doc);
    free(report);
    *handle = NULL;
}

bool wfi_report_add(wfi_report *report, const char *path, wfi_io_error *error)
{
    uint32_t cases;
    const char *slash = strrchr(path, '/');
    yyjson_doc *doc = wfi_results_document(path, error);
    yyjson_val *root = yyjson_doc_get_root(doc);
    if (!doc || (!is_comparison(root) && !is_of_targets(root) &&
                 !validate_root(path, root, &cases, error))) {
        yyjson_doc_free(doc);
        return false;
    }
    yyjson_mut_val *file = yyjson_mut_arr_add_obj(report->doc, report->files);
    yyjson_mut_val *results = yyjson_val_mut_copy(report->doc, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
    return (file && results &&
            yyjson_mut_obj_add_strcpy(report->doc, file, "path", slash ? slash + 1 : path) &&
            yyjson_mut_obj_add_val(report->doc, file, "results", results)) ||
           wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
}

/* ------------------------------------------------------------------------------------ comparing */

/* What makes a case the same in two files. */
static void key_of(yyjson_val *item, char *key, size_t bytes)
{
    static const char *const names[] = {"family", "name", "type"};
    yyjson_val *study = yyjson_obj_get(item, "study");
    const char *kind = yyjson_get_str(yyjson_obj_get(study, "kind"));
    size_t used = 0;
    for (int i = 0; i < 3 && used < bytes; i++) {
        const char *text = yyjson_get_str(yyjson_obj_get(item, names[i]));
        used += (size_t)snprintf(key + used, bytes - used, "%s%s", i ? " " : "", text ? text : "");
    }
    if (!kind || used >= bytes)
        return;
    const char *over = yyjson_get_str(yyjson_obj_get(study, "over"));
    const char *variant = yyjson_get_str(yyjson_obj_get(item, "variant"));
    snprintf(key + used, bytes - used, " %s %s %s %.0f", kind, variant ? variant : "",
             over ? over : "", yyjson_get_num(yyjson_obj_get(study, "step")));
}

static double number(yyjson_val *object, const char *name)
{
    yyjson_val *value = yyjson_obj_get(object, name);
    return yyjson_is_num(value) ? yyjson_get_num(value) : (double)NAN;
}

wfi_read_time wfi_read_time_of(yyjson_val *item)
{
    const char *status = yyjson_get_str(yyjson_obj_get(item, "status"));
    yyjson_val *time = yyjson_obj_get(item, "time_us");
    return (wfi_read_time){status && strcmp(status, "ok") == 0, number(time, "median"),
                           number(time, "q1"), number(time, "q3"), number(time, "spread")};
}

/* From operands to the answer in host memory. */
static wfi_read_time whole_of(yyjson_val *item)
{
    const double us = number(item, "whole_us");
    return (wfi_read_time){wfi_read_time_of(item).ok, us, us, us, WHOLE_SPREAD};
}

/* The cases of a file, in the order of their keys' hashes. */
typedef struct place {
    uint64_t hash;
    size_t index; /* in the file */
    yyjson_val *item;
} place;

typedef struct case_index {
    size_t count;
    place *places;
    size_t *ordinals; /* by place in the file: how many equal cases are before it */
} case_index;

static uint64_t hash_of(const char *key)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (; *key; key++)
        hash = (hash ^ (unsigned char)*key) * UINT64_C(1099511628211);
    return hash;
}

static int compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool index_cases(yyjson_val *cases, case_index *out)
{
    char key[512];
    yyjson_val *item;
    size_t index, count;
    out->count = yyjson_arr_size(cases);
    out->places = calloc(out->count + 1, sizeof *out->places);
    out->ordinals = calloc(out->count + 1, sizeof *out->ordinals);
    if (!out->places || !out->ordinals)
        return false;
    yyjson_arr_foreach(cases, index, count, item)
    {
        key_of(item, key, sizeof key);
        out->places[index] = (place){hash_of(key), index, item};
    }
    qsort(out->places, out->count, sizeof *out->places, compare_places);
    for (size_t i = 1; i < out->count; i++)
        if (out->places[i].hash == out->places[i - 1].hash)
            out->ordinals[out->places[i].index] = out->ordinals[out->places[i - 1].index] + 1;
    return true;
}

static void free_index(case_index *cases)
{
    free(cases->places);
    free(cases->ordinals);
}

/* Where a file has the case several times, the one with as many before it; the first where it has
 * fewer. */
static yyjson_val *find_case(const case_index *cases, const char *key, size_t ordinal)
{
    char other[512];
    const uint64_t hash = hash_of(key);
    size_t low = 0, high = cases->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (cases->places[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    if (ordinal < cases->count - low && cases->places[low + ordinal].hash == hash)
        low += ordinal;
    for (; low < cases->count && cases->places[low].hash == hash; low++) {
        key_of(cases->places[low].item, other, sizeof other);
        if (strcmp(key, other) == 0)
            return cases->places[low].item;
    }
    return NULL;
}

const char *wfi_compare_times(const wfi_read_time *base, const wfi_read_time *now, double *noise)
{
    if (!base->ok)
        return NULL;
    if (!now->ok)
        return "broken";
    if (!(base->median > 0) || !(now->median > 0))
        return NULL;
    *noise = base->spread + now->spread;
    if (!(*noise > LEAST_NOISE))
        *noise = LEAST_NOISE;
    const double ratio = now->median / base->median;
    if (ratio > 1 + *noise && !(now->q1 <= base->q3))
        return "slower";
    if (1 / ratio > 1 + *noise && !(now->q3 >= base->q1))
        return "faster";
    return "same";
}

static void count_verdict(const char *verdict, wfi_comparison *out)
{
    out->compared++;
    out->slower += strcmp(verdict, "slower") == 0;
    out->faster += strcmp(verdict, "faster") == 0;
    out->broken += strcmp(verdict, "broken") == 0;
}

/* Compares two times, and notes and tells what it comes to; NULL: nothing is to be said. */
static const char *compare_times(wfi_report *report, yyjson_mut_val *copy, const char *note_name,
                                 const char *key, const wfi_read_time *base,
                                 const wfi_read_time *now, wfi_difference_fn tell, void *user)
{
    double noise = (double)NAN;
    const char *verdict = wfi_compare_times(base, now, &noise);
    if (!verdict)
        return NULL;
    yyjson_mut_val *note = yyjson_mut_obj_add_obj(report->doc, copy, note_name);
    yyjson_mut_obj_add_str(report->doc, note, "verdict", verdict);
    if (isfinite(base->median))
        yyjson_mut_obj_add_real(report->doc, note, "base_us", base->median);
    if (now->ok && isfinite(noise)) {
        yyjson_mut_obj_add_real(report->doc, note, "ratio", now->median / base->median);
        yyjson_mut_obj_add_real(report->doc, note, "noise", noise);
    }
    if (strcmp(verdict, "same") != 0)
        tell(user, key, verdict, base->median, now->ok ? now->median : (double)NAN);
    return verdict;
}

/* What ran in the base: perhaps another library. */
static void note_variant(wfi_report *report, yyjson_mut_val *note, yyjson_val *base)
{
    const char *variant = yyjson_get_str(yyjson_obj_get(base, "variant"));
    if (variant)
        yyjson_mut_obj_add_strcpy(report->doc, note, "base_variant", variant);
}

static void add_ratio(yyjson_val *item, const wfi_read_time *base, const wfi_read_time *now,
                      wfi_comparison *out)
{
    const char *family = yyjson_get_str(yyjson_obj_get(item, "family"));
    const char *type = yyjson_get_str(yyjson_obj_get(item, "type"));
    const char *kind = yyjson_get_str(yyjson_obj_get(yyjson_obj_get(item, "study"), "kind"));
    if (base->ok && now->ok && family && !kind)
        wfi_ratios_add(&out->ratios, family, type ? type : "", base->median / now->median);
}

/* Of MPI; a process by itself is one. */
static size_t ranks_of(yyjson_val *item)
{
    const size_t ranks = yyjson_arr_size(yyjson_obj_get(item, "ranks"));
    return ranks ? ranks : 1;
}

/* Compares one file's case and notes it in its copy. Where both were timed, the whole is told and
 * counts for nothing: it has one sample. */
static void compare_case(wfi_report *report, const case_index *base_cases, yyjson_val *item,
                         size_t ordinal, yyjson_mut_val *copy, wfi_difference_fn tell, void *user,
                         wfi_comparison *out)
{
    char key[512], whole_key[528];
    key_of(item, key, sizeof key);
    yyjson_val *other = find_case(base_cases, key, ordinal);
    if (!other)
        return;
    const wfi_read_time base = wfi_read_time_of(other), now = wfi_read_time_of(item);
    const wfi_read_time base_whole = whole_of(other), now_whole = whole_of(item);
    const bool whole = base_whole.median > 0 && now_whole.median > 0;
    const char *verdict = compare_times(report, copy, "compare", key, &base, &now, tell, user);
    if (verdict)
        note_variant(report, yyjson_mut_obj_get(copy, "compare"), other);
    snprintf(whole_key, sizeof whole_key, "%s, whole", key);
    const char *of_whole = whole ? compare_times(report, copy, "compare_whole", whole_key,
                                                 &base_whole, &now_whole, tell, user)
                                 : NULL;
    if (verdict || of_whole) {
        count_verdict(verdict ? verdict : of_whole, out);
        out->other_ranks += ranks_of(item) != ranks_of(other);
    }
    add_ratio(item, &base, &now, out);
}

static bool same_device(yyjson_val *a, yyjson_val *b)
{
    const char *x = yyjson_get_str(yyjson_obj_get(yyjson_obj_get(a, "device"), "name"));
    const char *y = yyjson_get_str(yyjson_obj_get(yyjson_obj_get(b, "device"), "name"));
    return x && y && strcmp(x, y) == 0;
}

static uint32_t count_missing(yyjson_val *base_cases, const case_index *cases)
{
    char key[512];
    yyjson_val *item;
    size_t index, count;
    uint32_t missing = 0;
    yyjson_arr_foreach(base_cases, index, count, item)
    {
        key_of(item, key, sizeof key);
        missing += find_case(cases, key, 0) == NULL;
    }
    return missing;
}

/* The cases of one file as a read-only document, beside their copies in the report. */
static void compare_file(wfi_report *report, const case_index *base_cases, yyjson_val *cases,
                         const case_index *index, yyjson_mut_val *copies, wfi_difference_fn tell,
                         void *user, wfi_comparison *out)
{
    yyjson_mut_arr_iter at;
    yyjson_mut_arr_iter_init(copies, &at);
    size_t i, n;
    yyjson_val *item;
    yyjson_arr_foreach(cases, i, n, item)
    {
        compare_case(report, base_cases, item, index->ordinals[i], yyjson_mut_arr_iter_next(&at),
                     tell, user, out);
    }
}

static bool compare_all(wfi_report *report, yyjson_val *base, wfi_difference_fn tell, void *user,
                        wfi_comparison *out)
{
    yyjson_val *base_list = yyjson_obj_get(base, "cases");
    case_index base_cases = {0};
    size_t index, count;
    yyjson_mut_val *file;
    bool ok = index_cases(base_list, &base_cases);
    out->same_device = true;
    yyjson_mut_arr_foreach(report->files, index, count, file)
    {
        yyjson_mut_val *copy = yyjson_mut_obj_get(file, "results");
        yyjson_doc *doc = ok ? yyjson_mut_val_imut_copy(copy, NULL) : NULL;
        case_index cases = {0};
        yyjson_val *root = yyjson_doc_get_root(doc), *list = yyjson_obj_get(root, "cases");
        ok = ok && doc && index_cases(list, &cases);
        if (ok)
            compare_file(report, &base_cases, list, &cases, yyjson_mut_obj_get(copy, "cases"), tell,
                         user, out);
        out->same_device = out->same_device && same_device(base, root);
        if (ok && count == 1)
            out->missing = count_missing(base_list, &cases);
        free_index(&cases);
        yyjson_doc_free(doc);
    }
    free_index(&base_cases);
    return ok && !wfi_json_incomplete(report->doc);
}

bool wfi_report_compare(wfi_report *report, const char *base, wfi_difference_fn tell, void *user,
                        wfi_comparison *out, wfi_io_error *error)
{
    uint32_t cases;
    const char *slash = strrchr(base, '/');
    yyjson_doc *doc = wfi_results_valid_document(base, &cases, error);
    *out = (wfi_comparison){0};
    if (!doc)
        return false;
    yyjson_mut_val *note =
        yyjson_mut_obj_add_obj(report->doc, yyjson_mut_doc_get_root(report->doc), "compare");
    const bool ok =
        yyjson_mut_obj_add_strcpy(report->doc, note, "path", slash ? slash + 1 : base) &&
        compare_all(report, yyjson_doc_get_root(doc), tell, user, out);
    wfi_ratios_put(report->doc, note, &out->ratios);
    yyjson_doc_free(doc);
    return (ok && !wfi_json_incomplete(report->doc)) ||
           wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", base);
}

/* ------------------------------------------------------------------------------------ embedding */

/* In JSON '<' stands in strings alone, where \u003c says the same and cannot end the element. */
char *wfi_report_json(const wfi_report *report, size_t *length)
{
    size_t bytes = 0, extra = 0, n = 0;
    char *plain = wfi_json_incomplete(report->doc)
                      ? NULL
                      : yyjson_mut_write(report->doc, YYJSON_WRITE_ESCAPE_UNICODE, &bytes);
    if (!plain)
        return NULL;
    for (size_t i = 0; i < bytes; i++)
        extra += plain[i] == '<' ? 5 : 0;
    char *text = malloc(bytes + extra + 1);
    for (size_t i = 0; text && i < bytes; i++)
        if (plain[i] == '<') {
            memcpy(text + n, "\\u003c", 6);
            n += 6;
        } else {
            text[n++] = plain[i];
        }
    free(plain);
    if (text)
        text[n] = '\0';
    *length = n;
    return text;
}
