/* Writes tuning data as JSON. */

#include "choose/tuning_checksum.h"
#include "choose/tuning_data.h"
#include "core/heap.h"

static void print_string(const char *text, wfi_text *out)
{
    wfi_text_add_char(out, '"');
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            wfi_text_add_char(out, '\\');
        wfi_text_add_char(out, c < ' ' || c >= 0x7f ? '?' : (char)c);
    }
    wfi_text_add_char(out, '"');
}

static void print_point(const wfi_named_point *point, wfi_text *out)
{
    wfi_text_add(out, "{\"variant\": ");
    print_string(point->variant, out);
    wfi_text_add(out, ", \"values\": {");
    for (uint32_t i = 0; i < point->count; i++) {
        wfi_text_add(out, i ? ", " : "");
        print_string(point->values[i].name, out);
        wfi_text_print(out, ": %u", point->values[i].value);
    }
    wfi_text_add_char(out, '}');
    if (point->time_ns)
        wfi_text_print(out, ", \"time_ns\": %llu, \"spread_permille\": %u",
                       (unsigned long long)point->time_ns, point->spread_permille);
    if (*point->reason) {
        wfi_text_add(out, ", \"reason\": ");
        print_string(point->reason, out);
    }
    if (point->suspected)
        wfi_text_add(out, ", \"suspected\": true");
    if (point->compiling)
        wfi_text_add(out, ", \"compiling\": true");
    wfi_text_add_char(out, '}');
}

static void print_points(const char *name, const wfi_named_point *points, uint32_t count,
                         wfi_text *out)
{
    wfi_text_print(out, ",\n      \"%s\": [", name);
    for (uint32_t i = 0; i < count; i++) {
        wfi_text_add(out, i ? ",\n        " : "\n        ");
        print_point(&points[i], out);
    }
    wfi_text_add_char(out, ']');
}

static void print_entry(const wfi_tuning_entry *entry, bool rows_alone, wfi_text *out)
{
    wfi_text_print(out, "\n    {\"family\": \"%s\", \"type\": \"%s\", \"problem\": ",
                   wf_family_name(entry->key.family), wf_type_name(entry->key.type));
    print_string(entry->problem, out);
    wfi_text_add(out, ",\n      \"classes\": {");
    for (uint32_t i = 0; i < entry->key.count; i++) {
        wfi_text_add(out, i ? ", " : "");
        print_string(entry->key.classes[i].name, out);
        wfi_text_print(out, ": %d", entry->key.classes[i].value);
    }
    wfi_text_add_char(out, '}');
    if (entry->sources)
        wfi_text_print(out, ",\n      \"sources\": \"%016llx\"",
                       (unsigned long long)entry->sources);
    if (!rows_alone)
        wfi_text_print(
            out,
            ",\n      \"driver_id\": %u, \"driver_version\": %u, \"shaders\": \"%016llx\", "
            "\"finished\": %s",
            entry->driver_id, entry->driver_version, (unsigned long long)entry->shaders,
            entry->finished ? "true" : "false");
    print_points("best", entry->best, rows_alone && entry->best_count > 1 ? 1 : entry->best_count,
                 out);
    if (!rows_alone && entry->bad_count)
        print_points("bad", entry->bad, entry->bad_count, out);
    if (!rows_alone && entry->tried_count) {
        wfi_text_add(out, ",\n      \"tried\": \"");
        for (uint32_t i = 0; i < entry->tried_count; i++)
            wfi_text_print(out, "%016llx", (unsigned long long)entry->tried[i]);
        wfi_text_add_char(out, '"');
    }
    wfi_text_add_char(out, '}');
}

/* As whole numbers of trillionths: no locale matters to those. */
static void print_rates(const wfi_kept_rates *rates, wfi_text *out)
{
    if (!rates->there)
        return;
    wfi_text_print(out,
                   "  \"rates\": {\"driver_id\": %u, \"driver_version\": %u, \"points\": %u, "
                   "\"error_permille\": %u,\n    \"matmul\": {",
                   rates->driver_id, rates->driver_version, rates->points, rates->error_permille);
    for (int i = 0; i < WFI_RATES; i++)
        wfi_text_print(out, "%s\"%s\": %lld",
                       i == 0  ? ""
                       : i % 4 ? ", "
                               : ",\n      ",
                       wfi_rate_infos[i].name, (long long)(rates->matmul.of[i] * 1e12 + 0.5));
    wfi_text_add(out, "}},\n");
}

void wfi_tuning_print(const wfi_tuning_data *data, bool rows_alone, wfi_text *out)
{
    const wfi_device_facts *d = &data->device;
    wfi_text_print(out, "{\"schema\": \"%s\", \"wavefit\": \"%s\",\n  \"device\": {\"name\": ",
                   WFI_TUNING_SCHEMA, wf_version());
    print_string(d->name, out);
    wfi_text_print(
        out,
        ",\n    \"vendor_id\": %u, \"device_id\": %u, \"device_type\": %u, \"subgroup_min\": "
        "%u, \"subgroup_max\": %u,\n    \"max_shared_bytes\": %u, \"max_invocations\": %u, "
        "\"compute_units\": %u,\n    \"cooperative_matrix\": %s, \"modelled\": %s},\n",
        d->vendor_id, d->device_id, d->device_type, d->subgroup_min, d->subgroup_max,
        d->max_shared_bytes, d->max_invocations, d->compute_units,
        d->cooperative_matrix ? "true" : "false", d->modelled ? "true" : "false");
    if (!rows_alone)
        print_rates(&data->rates, out);
    wfi_text_add(out, "  \"entries\": [");
    bool first = true;
    for (uint32_t i = 0; i < data->entry_count; i++) {
        const wfi_tuning_entry *entry = &data->entries[i];
        if (rows_alone && entry->best_count == 0)
            continue;
        wfi_text_add(out, first ? "" : ",");
        print_entry(entry, rows_alone, out);
        first = false;
    }
    wfi_text_add(out, "]}\n");
}

char *wfi_tuning_text(const wfi_tuning_data *data, size_t *bytes)
{
    wfi_text text = {0};
    wfi_tuning_print(data, false, &text);
    *bytes = text.used;
    if (!text.failed)
        return wfi_tuning_add_checksum(text.data, bytes);
    wfi_free(text.data);
    return NULL;
}
