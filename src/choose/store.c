#include "kernels/families.h"
#include "choose/store.h"

#include <errno.h>
#include <string.h>

#include "core/file.h"
#include "core/heap.h"
#include "core/platform_file.h"
#include "core/text.h"
#include "core/unpack.h"

#define UNLIKE_UNITS 4.0 /* times as many compute units: another class of device */

/* ------------------------------------------------------------------------------------- reading */

static char *file_path(const wf_device *device)
{
    const wf_caps *caps = &device->caps;
    char name[96];
    /* What was tuned with all of a device's limits does not suit it with less. */
    snprintf(name, sizeof name, "tuning-%04x-%04x%s.json", caps->vendor_id, caps->device_id,
             caps->limits == WF_LIMITS_MINIMUM ? "-minimum" : "");
    return device->cache_directory ? wfi_path_join(device->cache_directory, name) : NULL;
}

/* Reads the file into *data. False: it is there but is no use; `why` says why. */
static bool read_data(const char *path, wfi_tuning_data *data, char why[192])
{
    size_t bytes = 0;
    const char *cause = NULL;
    *data = (wfi_tuning_data){0};
    char *text = wfi_cache_read(path, WFI_TUNING_MOST_BYTES, &bytes, &cause);
    if (!text) {
        const bool absent = errno == ENOENT || errno == ENOTDIR;
        snprintf(why, 192, "%s", cause);
        return absent;
    }
    const bool ok = wfi_tuning_parse(text, bytes, NULL, NULL, data, why);
    wfi_free(text);
    return ok;
}

static bool same_limits(const wfi_device_facts *a, const wfi_device_facts *b)
{
    return a->vendor_id == b->vendor_id && a->device_type == b->device_type &&
           a->subgroup_min == b->subgroup_min && a->subgroup_max == b->subgroup_max &&
           a->max_shared_bytes == b->max_shared_bytes && a->max_invocations == b->max_invocations &&
           a->cooperative_matrix == b->cooperative_matrix;
}

/* How unlike two devices of one architecture are; < 1: not of one. */
static double unlikeness(const wfi_device_facts *a, const wfi_device_facts *b)
{
    if (!same_limits(a, b))
        return 0;
    if (!a->compute_units || !b->compute_units)
        return UNLIKE_UNITS;
    const double ratio = (double)a->compute_units / b->compute_units;
    const double distance = ratio < 1 ? 1 / ratio : ratio;
    return distance <= UNLIKE_UNITS ? distance : 0;
}

static bool is_this_device(void *user, const wfi_device_facts *facts)
{
    const wfi_device_facts *device = user;
    return same_limits(facts, device) && facts->device_id == device->device_id && !facts->modelled;
}

typedef struct relative {
    const wfi_device_facts *device;
    double best;
} relative;

static bool is_closer_relative(void *user, const wfi_device_facts *facts)
{
    relative *r = user;
    const bool itself = facts->device_id == r->device->device_id && !facts->modelled;
    const double distance = itself ? 0 : unlikeness(facts, r->device);
    if (distance < 1 || (r->best >= 1 && distance >= r->best))
        return false;
    r->best = distance;
    return true;
}

char *wfi_rows_text(const wfi_rows_file *file)
{
    char *text = wfi_calloc(file->bytes + 1, 1);
    if (text && !wfi_unpack(file->packed, file->packed_bytes, (uint8_t *)text, 0, file->bytes)) {
        wfi_free(text);
        return NULL;
    }
    return text;
}

/* Fills `out` from the shipped files that the filter accepts; the last accepted one counts. */
static void read_shipped(wf_device *device, wfi_facts_filter filter, void *user,
                         wfi_tuning_data *out)
{
    for (size_t i = 0; i < wfi_rows_file_count; i++) {
        const wfi_rows_file *file = &wfi_rows_files[i];
        wfi_tuning_data data;
        char why[192] = "no memory";
        char *text = wfi_rows_text(file);
        if (!text || !wfi_tuning_parse(text, file->bytes, filter, user, &data, why))
            wfi_log_write(&device->log, WF_LOG_WARNING, "shipped rows %s: %s", file->name, why);
        else if (data.entry_count) {
            wfi_tuning_data_free(out);
            *out = data;
        } else
            wfi_tuning_data_free(&data);
        wfi_free(text);
    }
}

static void end(struct wfi_tuning *tuning)
{
    wfi_tuning_data_free(&tuning->own);
    wfi_tuning_data_free(&tuning->shipped[0]);
    wfi_tuning_data_free(&tuning->shipped[1]);
    wfi_free(tuning->path);
    wfi_free(tuning);
}

/* Those that were measured with this driver, and predict what they were measured by. */
static bool are_of_use(const wf_device *device, const wfi_kept_rates *kept)
{
    return kept->there && kept->driver_id == device->caps.driver_id &&
           kept->driver_version == device->caps.driver_version &&
           kept->error_permille <= WFI_MOST_RATES_ERROR_PERMILLE;
}

static void take_rates(const wf_device *device, struct wfi_tuning *tuning)
{
    const wfi_kept_rates *kept = &tuning->own.rates;
    tuning->has_rates = are_of_use(device, kept);
    if (tuning->has_rates)
        tuning->rates = kept->matmul;
}

const wfi_rates *wfi_tuning_rates(const struct wfi_tuning *tuning)
{
    return tuning && tuning->has_rates ? &tuning->rates : NULL;
}

struct wfi_tuning *wfi_tuning_of(wf_device *device)
{
    if (device->tuning)
        return device->tuning;
    struct wfi_tuning *tuning = wfi_calloc(1, sizeof *tuning);
    if (!tuning)
        return NULL;
    wfi_device_facts facts = wfi_device_facts_of(&device->caps);
    tuning->path = file_path(device);
    if (tuning->path && !read_data(tuning->path, &tuning->own, tuning->damage)) {
        tuning->damaged = true;
        wfi_log_write(&device->log, WF_LOG_WARNING,
                      "%s: %s; tuning data are not used (wf_tuning_forget, or wavefit tune "
                      "--forget, removes the file)",
                      tuning->path, tuning->damage);
    }
    tuning->own.device = facts;
    take_rates(device, tuning);
    tuning->rates_kept = tuning->has_rates;
    read_shipped(device, is_this_device, &facts, &tuning->shipped[0]);
    relative r = {&facts, 0};
    read_shipped(device, is_closer_relative, &r, &tuning->shipped[1]);
    device->tuning = tuning;
    device->tuning_end = end;
    return tuning;
}

static uint64_t variant_hash(const wfi_variant *variant, const wfi_spirv *module)
{
    uint64_t hash = wfi_hash(variant->name, strlen(variant->name));
    hash = hash * 31 + module->hash;
    for (uint32_t i = 0; i < variant->parameter_count; i++)
        hash =
            hash * 31 + wfi_hash(variant->parameters[i].name, strlen(variant->parameters[i].name));
    return hash;
}

uint64_t wfi_shaders_hash(struct wfi_tuning *tuning, wf_family family, wf_type type)
{
    const wfi_family *f = wfi_family_get(family);
    uint64_t sum = tuning->shaders[family][type];
    if (sum || !f)
        return sum;
    /* A sum: the order of the rows does not matter. */
    for (uint32_t i = 0; i < f->variant_count; i++) {
        const wfi_spirv *module = f->variants[i]->modules[type],
                        *second = f->variants[i]->second[type];
        if (module && module->packed)
            sum += variant_hash(f->variants[i], module);
        if (second && second->packed)
            sum += second->hash;
    }
    return tuning->shaders[family][type] = sum;
}

uint64_t wfi_sources_hash(wf_family family)
{
    const wfi_family *f = wfi_family_get(family);
    return f ? f->hooks->sources : 0;
}

bool wfi_entry_is_of_these_sources(const wfi_tuning_entry *entry)
{
    return entry->sources == 0 || entry->sources == wfi_sources_hash(entry->key.family);
}

bool wfi_entry_is_current(wf_device *device, const wfi_tuning_entry *entry)
{
    return entry->driver_id == device->caps.driver_id &&
           entry->driver_version == device->caps.driver_version &&
           entry->shaders == wfi_shaders_hash(device->tuning, entry->key.family, entry->key.type);
}

/* ------------------------------------------------------------------------------------- writing */

static bool write_data(const char *path, const wfi_tuning_data *data)
{
    size_t bytes = 0;
    char *text = wfi_tuning_text(data, &bytes);
    const wfi_piece piece = {text, bytes};
    const bool ok = text && wfi_file_write(path, &piece, 1);
    const int cause = errno;
    wfi_free(text);
    errno = cause;
    return ok;
}

static bool set_entry(wfi_tuning_data *data, const wfi_tuning_entry *entry)
{
    wfi_tuning_entry *to = wfi_tuning_add(data, &entry->key);
    return to && wfi_tuning_entry_copy(entry, to);
}

/* A change to the data: an entry or rates put in, or entries of a family taken out. */
typedef struct change {
    const wfi_tuning_entry *put;
    const wfi_kept_rates *rates; /* both NULL: take out */
    wf_family family;            /* to take out; COUNT: the whole file */
} change;

static bool takes_all(const change *c)
{
    return !c->put && !c->rates && c->family == WF_FAMILY_COUNT;
}

static void take_out(wfi_tuning_data *data, wf_family family)
{
    for (uint32_t i = data->entry_count; i-- > 0;)
        if (family == WF_FAMILY_COUNT || data->entries[i].key.family == family)
            wfi_tuning_remove(data, i);
}

static bool apply(wfi_tuning_data *data, const change *c)
{
    if (c->put)
        return set_entry(data, c->put);
    if (c->rates)
        data->rates = *c->rates;
    else
        take_out(data, c->family);
    if (takes_all(c))
        data->rates = (wfi_kept_rates){0};
    return true;
}

/* Reads the file again, since other processes may have written it, and makes the change. */
static bool change_file(struct wfi_tuning *tuning, const change *c, char error[512])
{
    wfi_tuning_data data;
    char why[192];
    /* A rename would replace it all the same. */
    if (wfi_file_write_protected(tuning->path)) {
        snprintf(error, 512, "%s: it is write-protected; it is left as it is", tuning->path);
        return false;
    }
    if (takes_all(c)) {
        if (wfi_file_remove(tuning->path) || errno == ENOENT)
            return true;
        snprintf(error, 512, "%s: cannot be removed: %s", tuning->path, strerror(errno));
        return false;
    }
    if (!read_data(tuning->path, &data, why)) {
        snprintf(error, 512, "%s: %s; it is left as it is", tuning->path, why);
        return false;
    }
    data.device = tuning->own.device;
    const bool ok = apply(&data, c) && write_data(tuning->path, &data);
    if (!ok)
        snprintf(error, 512, "%s: cannot be written: %s", tuning->path, strerror(errno));
    wfi_tuning_data_free(&data);
    return ok;
}

/* One thread of this process changes the file at a time, and one process: locks on files do not
 * keep the threads of one process apart on all systems. */
static bool change_locked(struct wfi_tuning *tuning, const change *c, char error[512])
{
    static wfi_mutex writing = WFI_MUTEX_INIT;
    const char *why = NULL;
    const size_t length = strlen(tuning->path) + sizeof ".lock";
    char *lock = wfi_malloc(length);
    if (!lock)
        return false;
    snprintf(lock, length, "%s.lock", tuning->path);
    wfi_mutex_lock(&writing);
    int fd = wfi_make_directories(tuning->path) ? wfi_file_lock(lock, true, &why) : -1;
    if (fd < 0 && why)
        snprintf(error, 512, "%s: cannot be locked: %s", lock, why);
    else if (fd < 0)
        snprintf(error, 512, "%s: cannot be written: %s", tuning->path, strerror(errno));
    const bool ok = fd >= 0 && change_file(tuning, c, error);
    if (fd >= 0)
        wfi_file_unlock(fd);
    wfi_mutex_unlock(&writing);
    wfi_free(lock);
    return ok;
}

/* Changes the device's data, and the file where there is one. */
static bool change_all(wf_device *device, const change *c, char error[512])
{
    bool ok = false;
    const bool whole = takes_all(c);
    snprintf(error, 512, "out of host memory");
    wfi_mutex_lock(&device->tuning_lock);
    struct wfi_tuning *tuning = wfi_tuning_of(device);
    if (tuning && apply(&tuning->own, c)) {
        if (c->rates || whole)
            take_rates(device, tuning);
        if (!tuning->path)
            snprintf(error, 512, "there is no folder to keep tuning data in");
        else if (tuning->damaged && !whole)
            snprintf(error, 512, "%s: %s; it is left as it is", tuning->path, tuning->damage);
        else
            ok = change_locked(tuning, c, error);
        if (ok && whole)
            tuning->damaged = false;
        if (c->rates || whole)
            tuning->rates_kept = ok && c->rates;
    }
    wfi_mutex_unlock(&device->tuning_lock);
    return ok;
}

bool wfi_tuning_keep(wf_device *device, const wfi_tuning_entry *entry, char error[512])
{
    const change c = {.put = entry};
    return change_all(device, &c, error);
}

bool wfi_tuning_claim(wf_device *device, bool on)
{
    wfi_mutex_lock(&device->tuning_lock);
    struct wfi_tuning *tuning = wfi_tuning_of(device);
    const bool free_before = tuning && !tuning->searching;
    if (tuning && (free_before || !on))
        tuning->searching = on;
    wfi_mutex_unlock(&device->tuning_lock);
    return free_before;
}

bool wfi_tuning_keep_rates(wf_device *device, const wfi_kept_rates *rates, char error[512])
{
    const change c = {.rates = rates};
    return change_all(device, &c, error);
}

bool wfi_tuning_drop(wf_device *device, wf_family family, char error[512])
{
    const change c = {.family = family};
    return change_all(device, &c, error);
}

/* -------------------------------------------------------------------------------------- loading */

static wf_result load_text(wf_device *device, const void *data, size_t bytes)
{
    wfi_tuning_data given;
    char why[192];
    if (!device || !data)
        return WF_ERROR_INVALID_ARGUMENT;
    if (bytes > WFI_TUNING_MOST_BYTES || !wfi_tuning_parse(data, bytes, NULL, NULL, &given, why))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT, "tuning data: %s",
                        bytes > WFI_TUNING_MOST_BYTES ? "over 16 MiB" : why);
    wf_result result = WF_SUCCESS;
    wfi_mutex_lock(&device->tuning_lock);
    struct wfi_tuning *tuning = wfi_tuning_of(device);
    const wfi_device_facts facts = wfi_device_facts_of(&device->caps);
    if (!tuning)
        result = WF_ERROR_OUT_OF_HOST_MEMORY;
    else if (!same_limits(&given.device, &facts) || given.device.device_id != facts.device_id)
        result = wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                          "tuning data: they are of %s, not of %s", given.device.name, facts.name);
    /* A search that goes on reads the present ones. */
    if (result == WF_SUCCESS && are_of_use(device, &given.rates) && !tuning->searching) {
        tuning->own.rates = given.rates;
        take_rates(device, tuning);
        tuning->rates_kept = false;
    }
    for (uint32_t i = 0; i < given.entry_count && result == WF_SUCCESS; i++)
        if (!set_entry(&tuning->own, &given.entries[i]))
            result = WF_ERROR_OUT_OF_HOST_MEMORY;
    wfi_mutex_unlock(&device->tuning_lock);
    wfi_tuning_data_free(&given);
    return result;
}

wf_result wf_tuning_load(wf_device *device, const void *data, size_t bytes)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, load_text(device, data, bytes));
}

static wf_result load_file(wf_device *device, const char *path)
{
    size_t bytes = 0;
    if (!device || !path)
        return WF_ERROR_INVALID_ARGUMENT;
    void *text = wfi_file_read(path, WFI_TUNING_MOST_BYTES, &bytes);
    if (!text)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT, "%s: %s", path, strerror(errno));
    const wf_result result = wf_tuning_load(device, text, bytes);
    wfi_free(text);
    return result;
}

wf_result wf_tuning_load_file(wf_device *device, const char *path)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, load_file(device, path));
}

const char *wf_tuning_path(wf_device *device)
{
    if (!device)
        return NULL;
    const wfi_heap outer = wfi_heap_enter_device(device);
    wfi_mutex_lock(&device->tuning_lock);
    const struct wfi_tuning *tuning = wfi_tuning_of(device);
    wfi_mutex_unlock(&device->tuning_lock);
    wfi_heap_leave(outer, WF_SUCCESS);
    return tuning ? tuning->path : NULL;
}
