/* The journal of a search, which outlives this process: the point being tried, and whether several
 * kernels are being compiled. */
#include "choose/store.h"

#include <errno.h>
#include <string.h>

#include "core/file.h"
#include "core/heap.h"
#include "core/platform_file.h"

#define JOURNAL_BYTES 16384
#define MOST_NOTED 16 /* points in a journal, of at most 1 KB each */

/* The journals of this process. Two searches on devices of one kind would write one file: the
 * first search has it. */
static wfi_mutex journals_lock = WFI_MUTEX_INIT;
static wfi_journal *journals;

static bool is_open_here(const char *path)
{
    for (const wfi_journal *j = journals; j; j = j->next)
        if (strcmp(j->path, path) == 0)
            return true;
    return false;
}

/* Whether several kernels were being compiled: a journal says so that names no point, or whose
 * latest one says so. */
static bool was_compiling(const wfi_tuning_data *left)
{
    const wfi_tuning_entry *entry = left->entries;
    return left->entry_count == 0 ||
           (entry->bad_count > 0 && entry->bad[entry->bad_count - 1].compiling);
}

/* Locks the file and reads what is left in it. */
static wf_result open_journal(wf_device *device, char *path, wfi_journal *journal,
                              wfi_tuning_data *left)
{
    char text[JOURNAL_BYTES], unread[192];
    const char *why = NULL;
    journal->fd = wfi_make_directories(path) ? wfi_file_lock(path, false, &why) : -1;
    if (journal->fd < 0 && (errno == EAGAIN || errno == EACCES) && wfi_file_writable(path))
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "%s: another process is searching on this device", path);
    if (journal->fd < 0 && why && (errno == EPERM || errno == ELOOP))
        wfi_log_write(&device->log, WF_LOG_WARNING, "%s: %s; the point being tried is not noted",
                      path, why);
    const int64_t bytes =
        journal->fd >= 0 ? wfi_file_read_at(journal->fd, text, sizeof text, 0) : 0;
    if (bytes > 0 && wfi_tuning_parse(text, (size_t)bytes, NULL, NULL, left, unread))
        journal->several = was_compiling(left);
    return WF_SUCCESS;
}

wf_result wfi_journal_open(wf_device *device, wfi_journal *journal, wfi_tuning_data *left)
{
    *journal = (wfi_journal){.fd = -1};
    *left = (wfi_tuning_data){0};
    wfi_mutex_lock(&device->tuning_lock);
    const struct wfi_tuning *tuning = wfi_tuning_of(device);
    char *path =
        tuning && tuning->path ? wfi_malloc(strlen(tuning->path) + sizeof ".search") : NULL;
    if (path)
        sprintf(path, "%s.search", tuning->path);
    wfi_mutex_unlock(&device->tuning_lock);
    wfi_mutex_lock(&journals_lock);
    wf_result result = WF_SUCCESS;
    if (path && !is_open_here(path))
        result = open_journal(device, path, journal, left);
    if (journal->fd >= 0) {
        journal->path = path;
        journal->next = journals;
        journals = journal;
    } else {
        wfi_free(path);
    }
    wfi_mutex_unlock(&journals_lock);
    return result;
}

/* A file that cannot be cut begins with a byte that no entry begins with; where that fails too,
 * nothing is left to try. */
static void clear_journal(const wfi_journal *journal)
{
    const bool cleared = wfi_file_cut(journal->fd) || wfi_file_write_at(journal->fd, "", 1, 0) == 1;
    (void)cleared;
}

static void write_journal(wfi_journal *journal, const wfi_tuning_data *data)
{
    size_t bytes = 0;
    char *text = wfi_tuning_text(data, &bytes);
    if (text && bytes <= JOURNAL_BYTES && wfi_file_cut(journal->fd) &&
        wfi_file_write_at(journal->fd, text, bytes, 0) != (int64_t)bytes)
        clear_journal(journal);
    wfi_free(text);
}

void wfi_journal_note(wfi_journal *journal, const wfi_tuning_entry *entry,
                      const wfi_named_point *point)
{
    if (journal->fd < 0)
        return;
    if (!point) {
        if (journal->compiling)
            write_journal(journal, &(wfi_tuning_data){.entry_count = 0});
        else
            clear_journal(journal);
        return;
    }
    /* The points lost before it are noted too, since tuning data may not tell of them yet:
     * otherwise two such points would be tried alternately for ever. */
    wfi_named_point bad[MOST_NOTED];
    const uint32_t before = entry->bad_count < MOST_NOTED - 1 ? entry->bad_count : MOST_NOTED - 1;
    if (before)
        memcpy(bad, entry->bad + (entry->bad_count - before), before * sizeof *bad);
    bad[before] = *point;
    snprintf(bad[before].reason, sizeof bad[before].reason, "the process did not outlive it");
    bad[before].suspected = true;
    bad[before].compiling = journal->compiling;
    wfi_tuning_entry alone = *entry;
    alone.best_count = alone.tried_count = 0;
    alone.bad = bad;
    alone.bad_count = before + 1;
    write_journal(journal, &(wfi_tuning_data){.entry_count = 1, .entries = &alone});
}

void wfi_journal_note_several(wfi_journal *journal, bool compiling)
{
    if (journal->compiling == compiling)
        return;
    journal->compiling = compiling;
    wfi_journal_note(journal, NULL, NULL);
}

void wfi_journal_release(wfi_journal *journal)
{
    if (journal->fd < 0)
        return;
    wfi_mutex_lock(&journals_lock);
    wfi_file_unlock(journal->fd);
    wfi_journal **at = &journals;
    while (*at != journal)
        at = &(*at)->next;
    *at = journal->next;
    wfi_free(journal->path);
    *journal = (wfi_journal){.fd = -1};
    wfi_mutex_unlock(&journals_lock);
}

void wfi_journal_close(wfi_journal *journal)
{
    journal->compiling = false;
    wfi_journal_note(journal, NULL, NULL);
    wfi_journal_release(journal);
}
