/* What a device keeps, as callers see it. */
#include <string.h>

#include "core/heap.h"
#include "core/params.h"
#include "choose/store.h"
#include "profiles/matmul.h"

static void fill_row(const wfi_tuning_entry *entry, uint32_t level, bool current,
                     wf_tuning_row *row)
{
    const wfi_named_point *best = &entry->best[0];
    *row = (wf_tuning_row){
        .size = sizeof *row,
        .family = entry->key.family,
        .type = entry->key.type,
        .tried = entry->tried_count,
        .bad = entry->bad_count,
        .finished = entry->finished,
        .current = current,
        .level = level,
    };
    memcpy(row->problem, entry->problem, sizeof row->problem);
    if (entry->best_count == 0)
        return;
    memcpy(row->variant, best->variant, sizeof row->variant);
    row->constant_count = best->count;
    for (uint32_t i = 0; i < best->count; i++) {
        memcpy(row->constant_names[i], best->values[i].name, sizeof row->constant_names[i]);
        row->constant_values[i] = best->values[i].value;
    }
    row->time_us = (double)best->time_ns * 1e-3;
    row->spread = best->spread_permille * 1e-3;
}

static wf_result get_row(wf_device *device, uint32_t index, wf_tuning_row *row)
{
    wf_result result = WF_ERROR_INVALID_ARGUMENT;
    wf_tuning_row local;
    if (!device || !row)
        return result;
    wfi_mutex_lock(&device->tuning_lock);
    const struct wfi_tuning *tuning = wfi_tuning_of(device);
    if (tuning && index < tuning->own.entry_count) {
        const wfi_tuning_entry *entry = &tuning->own.entries[index];
        fill_row(entry, WF_TUNING_MEASURED, wfi_entry_is_current(device, entry), &local);
        if (wfi_params_write(row, &local, sizeof local))
            result = WF_SUCCESS;
    }
    wfi_mutex_unlock(&device->tuning_lock);
    return result;
}

wf_result wf_tuning_row_get(wf_device *device, uint32_t index, wf_tuning_row *row)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, get_row(device, index, row));
}

static wf_result get_shipped(wf_device *device, uint32_t index, wf_tuning_row *row)
{
    static const uint32_t levels[] = {WF_TUNING_DEVICE_ROWS, WF_TUNING_ARCHITECTURE_ROWS};
    wf_result result = WF_ERROR_INVALID_ARGUMENT;
    wf_tuning_row local;
    if (!device || !row)
        return result;
    wfi_mutex_lock(&device->tuning_lock);
    const struct wfi_tuning *tuning = wfi_tuning_of(device);
    for (int i = 0; tuning && i < 2; i++) {
        const wfi_tuning_data *data = &tuning->shipped[i];
        if (index < data->entry_count) {
            const wfi_tuning_entry *entry = &data->entries[index];
            fill_row(entry, levels[i], wfi_entry_is_of_these_sources(entry), &local);
            if (wfi_params_write(row, &local, sizeof local))
                result = WF_SUCCESS;
            break;
        }
        index -= data->entry_count;
    }
    wfi_mutex_unlock(&device->tuning_lock);
    return result;
}

wf_result wf_tuning_shipped_get(wf_device *device, uint32_t index, wf_tuning_row *row)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, get_shipped(device, index, row));
}

static wf_result get_rate(wf_device *device, uint32_t index, wf_rate *out)
{
    wf_result result = WF_ERROR_INVALID_ARGUMENT;
    const wfi_rates *guess = device ? wfi_matmul_profile_of(&device->caps)->rates : NULL;
    if (!guess || !out || index >= WFI_RATES)
        return result;
    wfi_mutex_lock(&device->tuning_lock);
    const wfi_rates *measured = wfi_tuning_rates(wfi_tuning_of(device));
    const wfi_rate_info *info = &wfi_rate_infos[index];
    const wf_rate local = {.size = sizeof local,
                           .name = info->name,
                           .unit = info->unit,
                           .meaning = info->meaning,
                           .value = (measured ? measured : guess)->of[index],
                           .measured = measured != NULL};
    if (wfi_params_write(out, &local, sizeof local))
        result = WF_SUCCESS;
    wfi_mutex_unlock(&device->tuning_lock);
    return result;
}

wf_result wf_rate_get(wf_device *device, uint32_t index, wf_rate *out)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, get_rate(device, index, out));
}

static wf_result get_calibration(wf_device *device, wf_calibration *out)
{
    wf_calibration local = {.size = sizeof local};
    if (!device || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    wfi_mutex_lock(&device->tuning_lock);
    const struct wfi_tuning *tuning = wfi_tuning_of(device);
    if (wfi_tuning_rates(tuning)) {
        const wfi_kept_rates *kept = &tuning->own.rates;
        local.measured = true;
        local.kept = tuning->rates_kept;
        local.points = kept->points;
        local.error = kept->error_permille * 1e-3;
    }
    wfi_mutex_unlock(&device->tuning_lock);
    return wfi_params_write(out, &local, sizeof local) ? WF_SUCCESS : WF_ERROR_INVALID_ARGUMENT;
}

wf_result wf_calibration_get(wf_device *device, wf_calibration *out)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, get_calibration(device, out));
}

/* The entries that may be shown to others: a shallow list of the current ones. */
static bool print_current(wf_device *device, const struct wfi_tuning *tuning, wfi_text *text)
{
    wfi_tuning_data current = {.device = tuning->own.device};
    current.entries = wfi_malloc((tuning->own.entry_count + (size_t)1) * sizeof *current.entries);
    if (!current.entries)
        return false;
    for (uint32_t i = 0; i < tuning->own.entry_count; i++)
        if (wfi_entry_is_current(device, &tuning->own.entries[i])) {
            wfi_tuning_entry *entry = &current.entries[current.entry_count++];
            *entry = tuning->own.entries[i];
            entry->sources = wfi_sources_hash(entry->key.family);
        }
    wfi_tuning_print(&current, true, text);
    wfi_free(current.entries);
    return !text->failed;
}

static wf_result export_current(wf_device *device, char *text, size_t *bytes)
{
    wfi_text printed = {0};
    if (!device || !bytes)
        return WF_ERROR_INVALID_ARGUMENT;
    wfi_mutex_lock(&device->tuning_lock);
    const struct wfi_tuning *tuning = wfi_tuning_of(device);
    const bool ok = tuning && print_current(device, tuning, &printed);
    wfi_mutex_unlock(&device->tuning_lock);
    if (ok && text && printed.used < *bytes)
        memcpy(text, printed.data, printed.used + 1);
    *bytes = printed.used;
    wfi_free(printed.data);
    return ok ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY;
}

wf_result wf_tuning_export(wf_device *device, char *text, size_t *bytes)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, export_current(device, text, bytes));
}

static wf_result forget(wf_device *device, wf_family family)
{
    char error[512];
    if (!device || (unsigned)family > WF_FAMILY_COUNT)
        return WF_ERROR_INVALID_ARGUMENT;
    if (wfi_tuning_drop(device, family, error))
        return WF_SUCCESS;
    return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED, "%s", error);
}

wf_result wf_tuning_forget(wf_device *device, wf_family family)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, forget(device, family));
}
