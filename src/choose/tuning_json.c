/* Reads tuning data from JSON. */
#include <string.h>

#include "choose/json.h"
#include "choose/tuning_checksum.h"
#include "choose/tuning_data.h"
#include "core/arithmetic.h"
#include "core/heap.h"
#include "core/old_names.h"

static bool read_u32(wfi_json *j, uint32_t *value)
{
    int64_t number = 0;
    const bool ok = wfi_json_integer(j, 0, UINT32_MAX, &number);
    *value = (uint32_t)number;
    return ok;
}

static bool read_device(wfi_json *j, wfi_device_facts *facts)
{
    const struct {
        const char *name;
        uint32_t *value;
    } numbers[] = {{"vendor_id", &facts->vendor_id},
                   {"device_id", &facts->device_id},
                   {"device_type", &facts->device_type},
                   {"subgroup_min", &facts->subgroup_min},
                   {"subgroup_max", &facts->subgroup_max},
                   {"max_shared_bytes", &facts->max_shared_bytes},
                   {"max_invocations", &facts->max_invocations},
                   {"compute_units", &facts->compute_units}};
    char key[WFI_TUNING_NAME];
    for (bool first = wfi_json_enter(j, '{'); wfi_json_key(j, &first, key, sizeof key);) {
        uint32_t *number = NULL;
        for (size_t i = 0; i < WFI_COUNT(numbers); i++)
            if (strcmp(key, numbers[i].name) == 0)
                number = numbers[i].value;
        if (number)
            read_u32(j, number);
        else if (strcmp(key, "name") == 0)
            wfi_json_string(j, facts->name, sizeof facts->name);
        else if (strcmp(key, "cooperative_matrix") == 0)
            wfi_json_bool(j, &facts->cooperative_matrix);
        else if (strcmp(key, "modelled") == 0)
            wfi_json_bool(j, &facts->modelled);
        else
            wfi_json_skip(j);
    }
    return !j->failed;
}

static void read_values(wfi_json *j, wfi_named_point *point)
{
    char key[WFI_TUNING_NAME];
    for (bool first = wfi_json_enter(j, '{'); wfi_json_key(j, &first, key, sizeof key);) {
        if (point->count == WF_MAX_PARAMETERS) {
            wfi_json_fail(j, "more values than a variant can have");
            return;
        }
        wfi_named_value *value = &point->values[point->count++];
        memcpy(value->name, key, sizeof key);
        read_u32(j, &value->value);
    }
}

static bool read_point(wfi_json *j, wfi_named_point *point)
{
    char key[WFI_TUNING_NAME];
    int64_t number = 0;
    *point = (wfi_named_point){0};
    for (bool first = wfi_json_enter(j, '{'); wfi_json_key(j, &first, key, sizeof key);) {
        if (strcmp(key, "variant") == 0)
            wfi_json_string(j, point->variant, sizeof point->variant);
        else if (strcmp(key, "values") == 0)
            read_values(j, point);
        else if (strcmp(key, "time_ns") == 0) {
            wfi_json_integer(j, 0, INT64_MAX / 32, &number);
            point->time_ns = (uint64_t)number;
        } else if (strcmp(key, "spread_permille") == 0)
            read_u32(j, &point->spread_permille);
        else if (strcmp(key, "reason") == 0)
            wfi_json_string(j, point->reason, sizeof point->reason);
        else if (strcmp(key, "suspected") == 0)
            wfi_json_bool(j, &point->suspected);
        else if (strcmp(key, "compiling") == 0)
            wfi_json_bool(j, &point->compiling);
        else
            wfi_json_skip(j);
    }
    return !j->failed && (*point->variant || wfi_json_fail(j, "a point without a variant"));
}

static bool has_class(const wfi_key *key, const char *name)
{
    for (uint32_t i = 0; i < key->count; i++)
        if (strcmp(key->classes[i].name, name) == 0)
            return true;
    return false;
}

/* Other characters are printed as question marks, which could make two names one. */
static bool is_printed_as_it_is(const char *name)
{
    for (; *name; name++)
        if (*name < ' ' || *name > '~')
            return false;
    return true;
}

static void read_classes(wfi_json *j, wfi_key *key)
{
    char name[WFI_CLASS_NAME];
    int64_t value = 0;
    for (bool first = wfi_json_enter(j, '{'); wfi_json_key(j, &first, name, sizeof name);) {
        if (!is_printed_as_it_is(name)) {
            wfi_json_fail(j, "a class whose name has other characters than printable ASCII");
            return;
        }
        /* A key with a class of two values would not be equal to itself. */
        if (key->count == WFI_MAX_CLASSES || has_class(key, name)) {
            wfi_json_fail(j, "too many classes, or one of them twice");
            return;
        }
        wfi_class *class = &key->classes[key->count++];
        memcpy(class->name, name, sizeof name);
        wfi_json_integer(j, -1024, 1024, &value);
        class->value = (int32_t)value;
    }
}

/* Sixteen hexadecimal digits. */
static bool hex64(const char *digits, uint64_t *value)
{
    *value = 0;
    for (int i = 0; i < 16; i++) {
        const char c = digits[i];
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return false;
        *value = *value << 4 | (uint64_t)digit;
    }
    return true;
}

static void read_tried(wfi_json *j, wfi_tuning_entry *entry)
{
    const char *text = NULL;
    size_t bytes = 0;
    uint64_t hash;
    if (!wfi_json_raw_string(j, &text, &bytes))
        return;
    for (size_t at = 0; at < bytes; at += 16)
        if (bytes - at < 16 || !hex64(text + at, &hash) || !wfi_entry_add_tried(entry, hash)) {
            wfi_json_fail(j, "not a list of hashes");
            return;
        }
}

static void read_hash(wfi_json *j, uint64_t *hash)
{
    const char *text = NULL;
    size_t bytes = 0;
    if (wfi_json_raw_string(j, &text, &bytes) && (bytes != 16 || !hex64(text, hash)))
        wfi_json_fail(j, "not a hash of 16 digits");
}

static void read_best(wfi_json *j, wfi_tuning_entry *entry)
{
    for (bool first = wfi_json_enter(j, '['); wfi_json_item(j, &first);) {
        if (entry->best_count == WFI_TUNING_BEST) {
            wfi_json_fail(j, "too many best points");
            return;
        }
        if (read_point(j, &entry->best[entry->best_count]))
            entry->best_count++;
    }
}

static void read_bad(wfi_json *j, wfi_tuning_entry *entry)
{
    wfi_named_point point;
    for (bool first = wfi_json_enter(j, '['); wfi_json_item(j, &first);)
        if (read_point(j, &point) && !wfi_entry_add_bad(entry, &point))
            wfi_json_fail(j, "too many bad points");
}

/* Names that this wavefit does not know leave the value at COUNT: the entry is then passed over. */
static void read_family(wfi_json *j, bool old, wf_family *family)
{
    char text[WFI_TUNING_NAME] = "";
    wfi_json_string(j, text, sizeof text);
    const char *name = old ? wfi_old_family(text) : text;
    *family = WF_FAMILY_COUNT;
    for (int i = 0; i < WF_FAMILY_COUNT; i++)
        if (strcmp(name, wf_family_name((wf_family)i)) == 0)
            *family = (wf_family)i;
}

static void read_type(wfi_json *j, wf_type *type)
{
    char name[WFI_TUNING_NAME] = "";
    wfi_json_string(j, name, sizeof name);
    *type = WF_TYPE_COUNT;
    for (int i = 0; i < WF_TYPE_COUNT; i++)
        if (strcmp(name, wf_type_name((wf_type)i)) == 0)
            *type = (wf_type)i;
}

/* Parameters that there are no more say nothing: kernels have the value that all rows had. */
static void drop_removed(const char *family, wfi_named_point *point)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < point->count; i++)
        if (!wfi_removed_parameter(family, point->values[i].name))
            point->values[kept++] = point->values[i];
    point->count = kept;
}

static void rename_point(const char *family, wfi_named_point *point)
{
    char name[WFI_TUNING_NAME];
    memcpy(name, point->variant, sizeof name);
    snprintf(point->variant, sizeof point->variant, "%s", wfi_old_variant(family, name));
    for (uint32_t i = 0; i < point->count; i++) {
        wfi_named_value *value = &point->values[i];
        memcpy(name, value->name, sizeof name);
        snprintf(value->name, sizeof value->name, "%s", wfi_old_parameter(family, name));
    }
}

static void each_point(wfi_tuning_entry *entry, void (*change)(const char *, wfi_named_point *))
{
    const char *family = wf_family_name(entry->key.family);
    for (uint32_t i = 0; i < entry->best_count; i++)
        change(family, &entry->best[i]);
    for (uint32_t i = 0; i < entry->bad_count; i++)
        change(family, &entry->bad[i]);
}

/* Gives an entry of schema 1 the present names. Hashes of the points that were tried are of the old
 * names, so that they are dropped. */
static void rename_entry(wfi_tuning_entry *entry)
{
    each_point(entry, rename_point);
    wfi_free(entry->tried);
    entry->tried = NULL;
    entry->tried_count = 0;
}

static bool read_entry(wfi_json *j, bool old, wfi_tuning_entry *entry)
{
    char key[WFI_TUNING_NAME];
    entry->key.family = WF_FAMILY_COUNT;
    entry->key.type = WF_TYPE_COUNT;
    for (bool first = wfi_json_enter(j, '{'); wfi_json_key(j, &first, key, sizeof key);) {
        if (strcmp(key, "family") == 0)
            read_family(j, old, &entry->key.family);
        else if (strcmp(key, "type") == 0)
            read_type(j, &entry->key.type);
        else if (strcmp(key, "problem") == 0)
            wfi_json_string(j, entry->problem, sizeof entry->problem);
        else if (strcmp(key, "classes") == 0)
            read_classes(j, &entry->key);
        else if (strcmp(key, "driver_id") == 0)
            read_u32(j, &entry->driver_id);
        else if (strcmp(key, "driver_version") == 0)
            read_u32(j, &entry->driver_version);
        else if (strcmp(key, "shaders") == 0)
            read_hash(j, &entry->shaders);
        else if (strcmp(key, "sources") == 0)
            read_hash(j, &entry->sources);
        else if (strcmp(key, "finished") == 0)
            wfi_json_bool(j, &entry->finished);
        else if (strcmp(key, "best") == 0)
            read_best(j, entry);
        else if (strcmp(key, "bad") == 0)
            read_bad(j, entry);
        else if (strcmp(key, "tried") == 0)
            read_tried(j, entry);
        else
            wfi_json_skip(j);
    }
    if (old)
        rename_entry(entry);
    each_point(entry, drop_removed);
    return !j->failed;
}

static void read_entries(wfi_json *j, bool old, wfi_tuning_data *data)
{
    for (bool first = wfi_json_enter(j, '['); wfi_json_item(j, &first);) {
        wfi_tuning_entry entry = {0};
        wfi_tuning_entry *to = NULL;
        if (read_entry(j, old, &entry) && entry.key.family != WF_FAMILY_COUNT &&
            entry.key.type != WF_TYPE_COUNT) {
            to = wfi_tuning_add(data, &entry.key);
            if (!to || !wfi_tuning_entry_copy(&entry, to))
                wfi_json_fail(j, "too many entries");
        }
        wfi_tuning_entry_clear(&entry);
    }
}

/* Rates stand as whole numbers of trillionths. */
static void read_matmul_rates(wfi_json *j, wfi_kept_rates *rates)
{
    char key[WFI_TUNING_NAME];
    uint32_t found = 0;
    for (bool first = wfi_json_enter(j, '{'); wfi_json_key(j, &first, key, sizeof key);) {
        int64_t value = -1;
        for (int i = 0; i < WFI_RATES; i++)
            if (strcmp(key, wfi_rate_infos[i].name) == 0 &&
                wfi_json_integer(j, 0, INT64_MAX / 32, &value)) {
                rates->matmul.of[i] = (double)value * 1e-12;
                found |= 1u << i;
            }
        if (value < 0 && !wfi_json_skip(j))
            return;
    }
    /* Those of a wavefit with other rates are no use to this one. */
    rates->there = found == (1u << WFI_RATES) - 1 && rates->matmul.of[WFI_RATE_MULTIPLY_ADD] > 0;
}

static void read_rates(wfi_json *j, wfi_kept_rates *rates)
{
    char key[WFI_TUNING_NAME];
    *rates = (wfi_kept_rates){0};
    for (bool first = wfi_json_enter(j, '{'); wfi_json_key(j, &first, key, sizeof key);) {
        if (strcmp(key, "driver_id") == 0)
            read_u32(j, &rates->driver_id);
        else if (strcmp(key, "driver_version") == 0)
            read_u32(j, &rates->driver_version);
        else if (strcmp(key, "points") == 0)
            read_u32(j, &rates->points);
        else if (strcmp(key, "error_permille") == 0)
            read_u32(j, &rates->error_permille);
        else if (strcmp(key, "matmul") == 0)
            read_matmul_rates(j, rates);
        else
            wfi_json_skip(j);
    }
}

/* The schema comes first, so that a newer file is told from a damaged one. */
static bool read_schema(wfi_json *j, bool *old)
{
    char schema[WFI_TUNING_NAME] = "";
    if (!wfi_json_string(j, schema, sizeof schema))
        return false;
    if (strncmp(schema, WFI_TUNING_SCHEMA, sizeof WFI_TUNING_SCHEMA - 2) != 0)
        return wfi_json_fail(j, "not a wavefit tuning file");
    *old = strcmp(schema, WFI_TUNING_OLD_SCHEMA) == 0;
    return *old || strcmp(schema, WFI_TUNING_SCHEMA) == 0 ||
           wfi_json_fail(j, "a schema of another wavefit; this one knows " WFI_TUNING_OLD_SCHEMA
                            " and " WFI_TUNING_SCHEMA);
}

bool wfi_tuning_parse(const char *text, size_t bytes, wfi_facts_filter filter, void *user,
                      wfi_tuning_data *out, char error[192])
{
    wfi_json j;
    char key[WFI_TUNING_NAME];
    bool known = false, wanted = true, old = false;
    *out = (wfi_tuning_data){0};
    if (!wfi_tuning_checksum_holds(text, bytes)) {
        snprintf(error, 192, "its checksum is not that of its content: it is damaged");
        return false;
    }
    wfi_json_begin(&j, text, bytes);
    for (bool first = wfi_json_enter(&j, '{'); wfi_json_key(&j, &first, key, sizeof key);) {
        if (strcmp(key, "schema") == 0)
            known = read_schema(&j, &old);
        else if (!known)
            wfi_json_fail(&j, "not a wavefit tuning file (no schema first)");
        else if (strcmp(key, "device") == 0) {
            wanted = read_device(&j, &out->device) && (!filter || filter(user, &out->device));
            if (!wanted && !j.failed)
                return true;
        } else if (strcmp(key, "rates") == 0)
            read_rates(&j, &out->rates);
        else if (strcmp(key, "entries") == 0)
            read_entries(&j, old, out);
        else
            wfi_json_skip(&j);
    }
    if (!known)
        wfi_json_fail(&j, "not a wavefit tuning file");
    wfi_json_end(&j);
    if (!j.failed)
        return true;
    wfi_tuning_data_free(out);
    snprintf(error, 192, "%s", j.error);
    return false;
}
