/* Writes tuning data as JSON. */
#include <stdlib.h>

#include "choose/tuning_checksum.h"
#include "choose/tuning_data.h"

static void print_string(const char *text, FILE *out)
{
    putc('"', out);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            putc('\\', out);
        putc(c < ' ' || c >= 0x7f ? '?' : c, out);
    }
    putc('"', out);
}

static void print_point(const wfi_named_point *point, FILE *out)
{
    fputs("{\"variant\": ", out);
    print_string(point->variant, out);
    fputs(", \"values\": {", out);
    for (uint32_t i = 0; i < point->count; i++) {
        fputs(i ? ", " : "", out);
        print_string(point->values[i].name, out);
        fprintf(out, ": %u", point->values[i].value);
    }
    putc('}', out);
    if (point->time_ns)
        fprintf(out, ", \"time_ns\": %llu, \"spread_permille\": %u",
                (unsigned long long)point->time_ns, point->spread_permille);
    if (*point->reason) {
        fputs(", \"reason\": ", out);
        print_string(point->reason, out);
    }
    if (point->suspected)
        fputs(", \"suspected\": true", out);
    putc('}', out);
}

static void print_points(const char *name, const wfi_named_point *points, uint32_t count, FILE *out)
{
    fprintf(out, ",\n      \"%s\": [", name);
    for (uint32_t i = 0; i < count; i++) {
        fputs(i ? ",\n        " : "\n        ", out);
        print_point(&points[i], out);
    }
    putc(']', out);
}

static void print_entry(const wfi_tuning_entry *entry, bool rows_alone, FILE *out)
{
    fprintf(out, "\n    {\"family\": \"%s\", \"type\": \"%s\", \"problem\": ",
            wf_family_name(entry->key.family), wf_type_name(entry->key.type));
    print_string(entry->problem, out);
    fputs(",\n      \"classes\": {", out);
    for (uint32_t i = 0; i < entry->key.count; i++) {
        fputs(i ? ", " : "", out);
        print_string(entry->key.classes[i].name, out);
        fprintf(out, ": %d", entry->key.classes[i].value);
    }
    putc('}', out);
    if (entry->sources)
        fprintf(out, ",\n      \"sources\": \"%016llx\"", (unsigned long long)entry->sources);
    if (!rows_alone)
        fprintf(out,
                ",\n      \"driver_id\": %u, \"driver_version\": %u, \"shaders\": \"%016llx\", "
                "\"finished\": %s",
                entry->driver_id, entry->driver_version, (unsigned long long)entry->shaders,
                entry->finished ? "true" : "false");
    print_points("best", entry->best, rows_alone && entry->best_count > 1 ? 1 : entry->best_count,
                 out);
    if (!rows_alone && entry->bad_count)
        print_points("bad", entry->bad, entry->bad_count, out);
    if (!rows_alone && entry->tried_count) {
        fputs(",\n      \"tried\": \"", out);
        for (uint32_t i = 0; i < entry->tried_count; i++)
            fprintf(out, "%016llx", (unsigned long long)entry->tried[i]);
        putc('"', out);
    }
    putc('}', out);
}

void wfi_tuning_print(const wfi_tuning_data *data, bool rows_alone, FILE *out)
{
    const wfi_device_facts *d = &data->device;
    fprintf(out, "{\"schema\": \"%s\", \"wavefit\": \"%s\",\n  \"device\": {\"name\": ",
            WFI_TUNING_SCHEMA, wf_version());
    print_string(d->name, out);
    fprintf(out,
            ",\n    \"vendor_id\": %u, \"device_id\": %u, \"device_type\": %u, \"subgroup_min\": "
            "%u, \"subgroup_max\": %u,\n    \"max_shared_bytes\": %u, \"max_invocations\": %u, "
            "\"compute_units\": %u,\n    \"cooperative_matrix\": %s, \"modelled\": %s},\n",
            d->vendor_id, d->device_id, d->device_type, d->subgroup_min, d->subgroup_max,
            d->max_shared_bytes, d->max_invocations, d->compute_units,
            d->cooperative_matrix ? "true" : "false", d->modelled ? "true" : "false");
    fputs("  \"entries\": [", out);
    bool first = true;
    for (uint32_t i = 0; i < data->entry_count; i++) {
        const wfi_tuning_entry *entry = &data->entries[i];
        if (rows_alone && entry->best_count == 0)
            continue;
        fputs(first ? "" : ",", out);
        print_entry(entry, rows_alone, out);
        first = false;
    }
    fputs("]}\n", out);
}

char *wfi_tuning_text(const wfi_tuning_data *data, size_t *bytes)
{
    char *text = NULL;
    FILE *memory = open_memstream(&text, bytes);
    if (!memory)
        return NULL;
    wfi_tuning_print(data, false, memory);
    if (fclose(memory) == 0)
        return wfi_tuning_add_checksum(text, bytes);
    free(text);
    return NULL;
}
