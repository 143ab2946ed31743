/* Tuning data: what was found best, and found bad, for classes of problems on one device; and its
 * form as a JSON file, schema "wavefit-tuning/2" (bench/tuning.md). Files of schema 1 are read too:
 * they differ in names alone (core/old_names.h). */
#ifndef WFI_CHOOSE_TUNING_DATA_H
#define WFI_CHOOSE_TUNING_DATA_H

#include <stdio.h>

#include "choose/key.h"
#include "core/text.h"
#include "profiles/matmul_rates.h"

#define WFI_TUNING_SCHEMA "wavefit-tuning/2"
#define WFI_TUNING_OLD_SCHEMA "wavefit-tuning/1"
#define WFI_TUNING_NAME 32
#define WFI_TUNING_BEST 4
#define WFI_TUNING_MOST_BAD 512
#define WFI_TUNING_MOST_TRIED 8192
#define WFI_TUNING_MOST_ENTRIES 2048
#define WFI_TUNING_MOST_BYTES ((size_t)16 << 20)

typedef struct wfi_named_value {
    char name[WFI_TUNING_NAME];
    uint32_t value;
} wfi_named_value;

/* A point by names, which outlive a change of the table. */
typedef struct wfi_named_point {
    char variant[WFI_TUNING_NAME];
    uint32_t count;
    wfi_named_value values[WF_MAX_PARAMETERS];
    uint64_t time_ns;         /* median of one execution; 0: not measured */
    uint32_t spread_permille; /* (q3 - q1) / median */
    char reason[64];          /* of a bad point */
    /* Of a bad point: device or process were lost at it, and nothing has run since that would tell
     * whether the point is to blame or the device. */
    bool suspected;
    bool compiling; /* the process was lost while other kernels compiled: one may be to blame */
} wfi_named_point;

typedef struct wfi_tuning_entry {
    wfi_key key;
    char problem[64]; /* that was tuned, for people */
    uint32_t driver_id, driver_version;
    uint64_t sources; /* of rows that ship: hash of the family's GLSL; 0: not said */
    uint64_t shaders; /* hash of the family's modules; 0: not said */
    bool finished;    /* the search ran out of better points, not of time */
    uint32_t best_count, bad_count, tried_count;
    wfi_named_point best[WFI_TUNING_BEST]; /* fastest first */
    wfi_named_point *bad;
    uint64_t *tried; /* hashes of all points measured */
} wfi_tuning_entry;

/* What tells a device, and how like another it is. */
typedef struct wfi_device_facts {
    char name[256];
    uint32_t vendor_id, device_id, device_type;
    uint32_t subgroup_min, subgroup_max, max_shared_bytes, max_invocations;
    uint32_t compute_units; /* 0: not known */
    bool cooperative_matrix;
    bool modelled; /* rows made from compiler statistics, not measured */
} wfi_device_facts;

/* Of rates that are used. More means that the model is not of such a device, or that other work
 * disturbed the times: such points count less in the fit itself (rates_fit.c). */
#define WFI_MOST_RATES_ERROR_PERMILLE 200

/* What was measured of the device (wf_calibrate). */
typedef struct wfi_kept_rates {
    bool there;
    uint32_t driver_id, driver_version;
    uint32_t points;         /* that were timed */
    uint32_t error_permille; /* median of their relative errors */
    wfi_rates matmul;
} wfi_kept_rates;

typedef struct wfi_tuning_data {
    wfi_device_facts device;
    wfi_kept_rates rates;
    uint32_t entry_count;
    wfi_tuning_entry *entries;
} wfi_tuning_data;

wfi_device_facts wfi_device_facts_of(const wf_caps *caps);

/* Reads text of the schema. False: `error` says in one clause what is wrong, *out is empty. With
 * `filter`, only files whose device it accepts are read; others give true and no entries. */
typedef bool (*wfi_facts_filter)(void *user, const wfi_device_facts *facts);
bool wfi_tuning_parse(const char *text, size_t bytes, wfi_facts_filter filter, void *user,
                      wfi_tuning_data *out, char error[192]);
/* Writes text of the schema. `rows_alone`: as rows are checked in, without what a search keeps. */
void wfi_tuning_print(const wfi_tuning_data *data, bool rows_alone, wfi_text *out);
/* The whole text as files in the cache have it, with a line for its checksum, malloc'ed; NULL
 * without memory. */
char *wfi_tuning_text(const wfi_tuning_data *data, size_t *bytes);
void wfi_tuning_data_free(wfi_tuning_data *data);

/* NULL: none. */
wfi_tuning_entry *wfi_tuning_find(const wfi_tuning_data *data, const wfi_key *key);
/* The entry of the key, made when there is none; NULL without memory. */
wfi_tuning_entry *wfi_tuning_add(wfi_tuning_data *data, const wfi_key *key);
void wfi_tuning_remove(wfi_tuning_data *data, uint32_t index);
/* A deep copy; false without memory. The old content of *to is freed. */
bool wfi_tuning_entry_copy(const wfi_tuning_entry *from, wfi_tuning_entry *to);
void wfi_tuning_entry_clear(wfi_tuning_entry *entry);

bool wfi_entry_add_bad(wfi_tuning_entry *entry, const wfi_named_point *point);
bool wfi_entry_is_bad(const wfi_tuning_entry *entry, const wfi_named_point *point);
/* Whether the point must not be chosen: it is bad, unless it is one of several at which the
 * device was lost in a row, or was good before the device was lost at it. */
bool wfi_entry_is_blamed(const wfi_tuning_entry *entry, const wfi_named_point *point);
/* Settles the suspicions, now that a point runs: one that was lost alone is to blame; several in a
 * row, or one that was good before, tell of a device that loses anything, and are no longer bad.
 * Nor is one that was lost while other kernels compiled: alone, it shows whether it is to blame.
 * *acquitted: there were such. True: something changed. */
bool wfi_entry_judge(wfi_tuning_entry *entry, bool *acquitted);
bool wfi_entry_add_tried(wfi_tuning_entry *entry, uint64_t hash);
bool wfi_entry_is_tried(const wfi_tuning_entry *entry, uint64_t hash);

wfi_named_point wfi_point_named(const wfi_point *point);
/* Fills point->variant and values from the names; values not named keep the model's. False when the
 * family has no such variant. */
bool wfi_point_from_names(const wfi_named_point *named, wfi_point *point);
bool wfi_named_point_same(const wfi_named_point *a, const wfi_named_point *b);
uint64_t wfi_named_point_hash(const wfi_named_point *point);

#endif
