/* A strict reader of JSON, as much as tuning files need. Files may come from anywhere: every length
 * and depth is bounded, and the first fault ends the reading. Numbers are whole, so that no locale
 * matters. */
#ifndef WFI_CHOOSE_JSON_H
#define WFI_CHOOSE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct wfi_json {
    const char *start, *at, *end;
    uint32_t depth;
    bool failed;
    char error[160]; /* "line 3: …" once failed */
} wfi_json;

void wfi_json_begin(wfi_json *json, const char *text, size_t bytes);

/* Records the first fault, with its line. Gives false. */
bool wfi_json_fail(wfi_json *json, const char *what);

/* for (bool more = wfi_json_enter(j, '{'); wfi_json_key(j, &more, key, n);) reads the members of an
 * object; likewise '[' and wfi_json_item its items. */
bool wfi_json_enter(wfi_json *json, char bracket);
bool wfi_json_key(wfi_json *json, bool *first, char *key, size_t room);
bool wfi_json_item(wfi_json *json, bool *first);

/* A string that fits `room` bytes with its 0; control characters become '?'. */
bool wfi_json_string(wfi_json *json, char *text, size_t room);
/* The string in place, without its quotes; no escapes allowed. */
bool wfi_json_raw_string(wfi_json *json, const char **text, size_t *bytes);
bool wfi_json_integer(wfi_json *json, int64_t least, int64_t most, int64_t *value);
bool wfi_json_bool(wfi_json *json, bool *value);
/* Passes over any one value. */
bool wfi_json_skip(wfi_json *json);
/* Nothing but white space is left. */
bool wfi_json_end(wfi_json *json);

#endif
