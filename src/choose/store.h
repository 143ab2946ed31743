/* What wavefit keeps of one device: the user's tuning file, data given by the caller, and the rows
 * that ship with wavefit. */
#ifndef WFI_CHOOSE_STORE_H
#define WFI_CHOOSE_STORE_H

#include "core/device.h"
#include "choose/tuning_data.h"

struct wfi_tuning {
    bool searching;
    char *path;                 /* of the user's file; NULL: nowhere */
    bool damaged;               /* the file could not be read, so it is not written either */
    char damage[192];           /* why */
    wfi_tuning_data own;        /* the user's file, and what wf_tuning_load added */
    wfi_tuning_data shipped[2]; /* for this device; for one of its architecture */
    uint64_t shaders[WF_FAMILY_COUNT][WF_TYPE_COUNT]; /* hashes; 0: not worked out yet */
    bool has_rates;                                   /* of this driver */
    bool rates_kept;                                  /* in the user's file too */
    wfi_rates rates;                                  /* where points find them */
};

/* The device's data, read at the first call; NULL without memory. Called and used with
 * device->tuning_lock held. */
struct wfi_tuning *wfi_tuning_of(wf_device *device);

/* The device's measured rates; NULL: none of this driver are kept. Changes to them are made with
 * device->tuning_lock held and while no search goes on. */
const wfi_rates *wfi_tuning_rates(const struct wfi_tuning *tuning);

/* Hash of every module, name and parameter of the family for the type. */
uint64_t wfi_shaders_hash(struct wfi_tuning *tuning, wf_family family, wf_type type);

/* Hash of the family's GLSL without comments and white space, as rows that ship name it: another
 * compiler's modules would differ. */
uint64_t wfi_sources_hash(wf_family family);

/* Whether the entry, one that ships, was made with these shaders: others only begin a search. */
bool wfi_entry_is_of_these_sources(const wfi_tuning_entry *entry);

/* Whether the entry was measured with this driver and these shaders. */
bool wfi_entry_is_current(wf_device *device, const wfi_tuning_entry *entry);

/* Puts the entry into the device's data and, where there is one, the file (merged with what other
 * processes wrote meanwhile). False: not kept on disk; `error` says why. Takes the lock. */
bool wfi_tuning_keep(wf_device *device, const wfi_tuning_entry *entry, char error[512]);

/* The same of rates that were measured. */
bool wfi_tuning_keep_rates(wf_device *device, const wfi_kept_rates *rates, char error[512]);

/* Removes the entries of a family, or the file (WF_FAMILY_COUNT). Takes the lock. */
bool wfi_tuning_drop(wf_device *device, wf_family family, char error[512]);

/* One search, or calibration, goes on on a device object at a time: whether none did, where one
 * begins (`on`). The journal keeps other processes out. */
bool wfi_tuning_claim(wf_device *device, bool on);

/* The place of the points being tried, which outlives this process: opened by a search for its
 * time. */
typedef struct wfi_journal {
    int fd;         /* -1: nowhere */
    bool several;   /* the search before did not outlive compiling several kernels at once */
    bool compiling; /* this one compiles several now */
    char *path;
    struct wfi_journal *next; /* of this process */
} wfi_journal;

/* Finds the point of a search that did not come back (entry->bad, then merged by the caller) and
 * begins a journal, which stays where it is until it is closed. WF_ERROR_UNSUPPORTED when another
 * process searches on this device; a second search of this process goes on without a journal. */
wf_result wfi_journal_open(wf_device *device, wfi_journal *journal, wfi_tuning_data *left);
/* Notes the point before it is tried, beside whether several kernels are being compiled; NULL: none
 * is. */
void wfi_journal_note(wfi_journal *journal, const wfi_tuning_entry *entry,
                      const wfi_named_point *point);
/* Notes between two points that from now on any of several kernels may be to blame, or that they
 * are compiled. */
void wfi_journal_note_several(wfi_journal *journal, bool compiling);
void wfi_journal_close(wfi_journal *journal);
/* Leaves what is in it, as the end of the process does. */
void wfi_journal_release(wfi_journal *journal);

/* The rows that ship, generated from src/choose/devices/. */
typedef struct wfi_rows_file {
    const char *name;
    const uint8_t *packed; /* as core/unpack.h says */
    size_t packed_bytes, bytes;
} wfi_rows_file;
extern const wfi_rows_file wfi_rows_files[];
extern const size_t wfi_rows_file_count;
/* The file's text with a 0 behind it, to be freed; NULL without memory. */
char *wfi_rows_text(const wfi_rows_file *file);

#endif
