#include "core/heap.h"
#include "kernels/families.h"
#include "choose/tuning_data.h"

#include <string.h>

wfi_device_facts wfi_device_facts_of(const wf_caps *caps)
{
    wfi_device_facts facts = {
        .vendor_id = caps->vendor_id,
        .device_id = caps->device_id,
        .device_type = caps->device_type,
        .subgroup_min = caps->subgroup_min,
        .subgroup_max = caps->subgroup_max,
        .max_shared_bytes = caps->max_shared_bytes,
        .max_invocations = caps->max_invocations,
        .compute_units = caps->compute_units,
        .cooperative_matrix = caps->cooperative_matrix,
    };
    memcpy(facts.name, caps->name, sizeof facts.name);
    return facts;
}

void wfi_tuning_entry_clear(wfi_tuning_entry *entry)
{
    wfi_free(entry->bad);
    wfi_free(entry->tried);
    *entry = (wfi_tuning_entry){0};
}

void wfi_tuning_data_free(wfi_tuning_data *data)
{
    for (uint32_t i = 0; i < data->entry_count; i++)
        wfi_tuning_entry_clear(&data->entries[i]);
    wfi_free(data->entries);
    *data = (wfi_tuning_data){0};
}

wfi_tuning_entry *wfi_tuning_find(const wfi_tuning_data *data, const wfi_key *key)
{
    for (uint32_t i = 0; i < data->entry_count; i++)
        if (wfi_key_equal(&data->entries[i].key, key))
            return &data->entries[i];
    return NULL;
}

wfi_tuning_entry *wfi_tuning_add(wfi_tuning_data *data, const wfi_key *key)
{
    wfi_tuning_entry *found = wfi_tuning_find(data, key);
    if (found || data->entry_count == WFI_TUNING_MOST_ENTRIES)
        return found;
    wfi_tuning_entry *entries =
        wfi_realloc(data->entries, (data->entry_count + (size_t)1) * sizeof *entries);
    if (!entries)
        return NULL;
    data->entries = entries;
    entries[data->entry_count] = (wfi_tuning_entry){.key = *key};
    return &entries[data->entry_count++];
}

void wfi_tuning_remove(wfi_tuning_data *data, uint32_t index)
{
    wfi_tuning_entry_clear(&data->entries[index]);
    data->entry_count--;
    memmove(&data->entries[index], &data->entries[index + 1],
            (data->entry_count - index) * sizeof *data->entries);
}

static bool copy_array(const void *from, size_t bytes, void **to)
{
    *to = NULL;
    if (bytes == 0)
        return true;
    *to = wfi_malloc(bytes);
    if (*to)
        memcpy(*to, from, bytes);
    return *to != NULL;
}

bool wfi_tuning_entry_copy(const wfi_tuning_entry *from, wfi_tuning_entry *to)
{
    void *bad = NULL, *tried = NULL;
    if (!copy_array(from->bad, from->bad_count * sizeof *from->bad, &bad) ||
        !copy_array(from->tried, from->tried_count * sizeof *from->tried, &tried)) {
        wfi_free(bad);
        return false;
    }
    wfi_tuning_entry_clear(to);
    *to = *from;
    to->bad = bad;
    to->tried = tried;
    return true;
}

bool wfi_entry_is_bad(const wfi_tuning_entry *entry, const wfi_named_point *point)
{
    for (uint32_t i = 0; i < entry->bad_count; i++)
        if (wfi_named_point_same(&entry->bad[i], point))
            return true;
    return false;
}

bool wfi_entry_add_bad(wfi_tuning_entry *entry, const wfi_named_point *point)
{
    if (wfi_entry_is_bad(entry, point))
        return true;
    if (entry->bad_count == WFI_TUNING_MOST_BAD)
        return false;
    wfi_named_point *bad = wfi_realloc(entry->bad, (entry->bad_count + (size_t)1) * sizeof *bad);
    if (!bad)
        return false;
    entry->bad = bad;
    bad[entry->bad_count++] = *point;
    return true;
}

static bool is_best(const wfi_tuning_entry *entry, const wfi_named_point *point)
{
    for (uint32_t i = 0; i < entry->best_count; i++)
        if (wfi_named_point_same(&entry->best[i], point))
            return true;
    return false;
}

/* What is suspected now and would be to blame if the next point ran; NULL: nothing. */
static const wfi_named_point *suspect_of(const wfi_tuning_entry *entry)
{
    const wfi_named_point *suspect = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < entry->bad_count; i++)
        if (entry->bad[i].suspected) {
            suspect = &entry->bad[i];
            count++;
        }
    return count == 1 && !is_best(entry, suspect) ? suspect : NULL;
}

bool wfi_entry_is_blamed(const wfi_tuning_entry *entry, const wfi_named_point *point)
{
    for (uint32_t i = 0; i < entry->bad_count; i++)
        if (wfi_named_point_same(&entry->bad[i], point))
            return !entry->bad[i].suspected || suspect_of(entry);
    return false;
}

static void forget_tried(wfi_tuning_entry *entry, uint64_t hash)
{
    for (uint32_t i = 0; i < entry->tried_count; i++)
        if (entry->tried[i] == hash)
            entry->tried[i] = entry->tried[--entry->tried_count];
}

bool wfi_entry_judge(wfi_tuning_entry *entry, bool *acquitted)
{
    const wfi_named_point *suspect = suspect_of(entry);
    const bool guilty = suspect && !suspect->compiling;
    uint32_t left = 0;
    bool changed = false;
    *acquitted = false;
    for (uint32_t i = 0; i < entry->bad_count; i++) {
        const bool suspected = entry->bad[i].suspected;
        changed = changed || suspected;
        *acquitted = *acquitted || (suspected && !guilty);
        if (suspected && !guilty) { /* it may be tried again */
            forget_tried(entry, wfi_named_point_hash(&entry->bad[i]));
            continue;
        }
        entry->bad[left] = entry->bad[i];
        entry->bad[left++].suspected = false;
    }
    entry->bad_count = left;
    return changed;
}

bool wfi_entry_is_tried(const wfi_tuning_entry *entry, uint64_t hash)
{
    for (uint32_t i = 0; i < entry->tried_count; i++)
        if (entry->tried[i] == hash)
            return true;
    return false;
}

bool wfi_entry_add_tried(wfi_tuning_entry *entry, uint64_t hash)
{
    if (wfi_entry_is_tried(entry, hash))
        return true;
    if (entry->tried_count == WFI_TUNING_MOST_TRIED)
        return false;
    uint64_t *tried = wfi_realloc(entry->tried, (entry->tried_count + (size_t)1) * sizeof *tried);
    if (!tried)
        return false;
    entry->tried = tried;
    tried[entry->tried_count++] = hash;
    return true;
}

wfi_named_point wfi_point_named(const wfi_point *point)
{
    wfi_named_point named = {.count = point->variant->parameter_count};
    snprintf(named.variant, sizeof named.variant, "%s", point->variant->name);
    for (uint32_t i = 0; i < named.count; i++) {
        snprintf(named.values[i].name, sizeof named.values[i].name, "%s",
                 point->variant->parameters[i].name);
        named.values[i].value = wfi_point_get(point, i);
    }
    return named;
}

bool wfi_point_from_names(const wfi_named_point *named, wfi_point *point)
{
    const wfi_family *family = wfi_family_get(point->problem->family);
    const uint32_t index = wfi_variant_find(family, named->variant);
    if (index == UINT32_MAX)
        return false;
    point->variant = family->variants[index];
    wfi_point_defaults(point);
    if (point->variant->fit(point) < 0)
        wfi_point_defaults(point);
    for (uint32_t i = 0; i < named->count; i++) {
        const uint32_t at = wfi_parameter_find(point->variant, named->values[i].name);
        if (at != UINT32_MAX)
            wfi_point_put(point, at, named->values[i].value);
    }
    return true;
}

static bool has_value(const wfi_named_point *point, const wfi_named_value *value)
{
    for (uint32_t i = 0; i < point->count; i++)
        if (strcmp(point->values[i].name, value->name) == 0)
            return point->values[i].value == value->value;
    return false;
}

bool wfi_named_point_same(const wfi_named_point *a, const wfi_named_point *b)
{
    if (strcmp(a->variant, b->variant) != 0 || a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!has_value(b, &a->values[i]))
            return false;
    return true;
}

uint64_t wfi_named_point_hash(const wfi_named_point *point)
{
    char text[WFI_TUNING_NAME + WF_MAX_PARAMETERS * (WFI_TUNING_NAME + 12)];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", point->variant);
    for (uint32_t i = 0; i < point->count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %s=%u", point->values[i].name,
                                 point->values[i].value);
    return wfi_hash(text, used);
}
