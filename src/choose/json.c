#include "choose/json.h"

#include <stdio.h>
#include <string.h>

#define MOST_DEPTH 16

void wfi_json_begin(wfi_json *json, const char *text, size_t bytes)
{
    *json = (wfi_json){.start = text, .at = text, .end = text + bytes};
}

bool wfi_json_fail(wfi_json *json, const char *what)
{
    unsigned line = 1;
    if (json->failed)
        return false;
    for (const char *at = json->start; at < json->at; at++)
        line += *at == '\n';
    json->failed = true;
    snprintf(json->error, sizeof json->error, "line %u: %s", line, what);
    return false;
}

static void skip_space(wfi_json *json)
{
    while (json->at < json->end && strchr(" \t\r\n", *json->at) && *json->at)
        json->at++;
}

/* The next character that is no white space; 0 at the end. */
static char peek(wfi_json *json)
{
    skip_space(json);
    return json->at < json->end ? *json->at : '\0';
}

bool wfi_json_enter(wfi_json *json, char bracket)
{
    if (json->failed)
        return false;
    if (peek(json) != bracket)
        return wfi_json_fail(json,
                             bracket == '{' ? "an object was expected" : "a list was expected");
    if (++json->depth > MOST_DEPTH)
        return wfi_json_fail(json, "nested too deeply");
    json->at++;
    return true;
}

/* Moves to the next member or item of what ends with `bracket`. */
static bool next(wfi_json *json, bool *first, char bracket)
{
    if (json->failed)
        return false;
    const char c = peek(json);
    if (c == bracket) {
        json->at++;
        json->depth--;
        return false;
    }
    if (!*first) {
        if (c != ',')
            return wfi_json_fail(json, "a comma or a closing bracket was expected");
        json->at++;
    }
    *first = false;
    return true;
}

bool wfi_json_key(wfi_json *json, bool *first, char *key, size_t room)
{
    if (!next(json, first, '}') || !wfi_json_string(json, key, room))
        return false;
    if (peek(json) != ':')
        return wfi_json_fail(json, "a colon was expected");
    json->at++;
    return true;
}

bool wfi_json_item(wfi_json *json, bool *first)
{
    return next(json, first, ']');
}

bool wfi_json_raw_string(wfi_json *json, const char **text, size_t *bytes)
{
    if (json->failed)
        return false;
    if (peek(json) != '"')
        return wfi_json_fail(json, "a string was expected");
    *text = ++json->at;
    while (json->at < json->end && *json->at != '"' && *json->at != '\\' &&
           (unsigned char)*json->at >= ' ')
        json->at++;
    if (json->at == json->end || *json->at != '"')
        return wfi_json_fail(json, "a string does not end, or has an escape");
    *bytes = (size_t)(json->at++ - *text);
    return true;
}

/* One character behind a backslash; -1: not an escape of JSON. Beyond ASCII only '?' is kept. */
static int unescape(wfi_json *json)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/?????";
    if (json->at == json->end)
        return -1;
    const char c = *json->at++;
    const char *found = c ? strchr(from, c) : NULL;
    if (found)
        return to[found - from];
    if (c != 'u' || json->end - json->at < 4)
        return -1;
    for (int i = 0; i < 4; i++, json->at++)
        if (!*json->at || !strchr("0123456789abcdefABCDEF", *json->at))
            return -1;
    return '?';
}

bool wfi_json_string(wfi_json *json, char *text, size_t room)
{
    size_t used = 0;
    if (json->failed)
        return false;
    if (peek(json) != '"')
        return wfi_json_fail(json, "a string was expected");
    json->at++;
    while (json->at < json->end && *json->at != '"') {
        int c = (unsigned char)*json->at++;
        if (c < ' ')
            return wfi_json_fail(json, "a control character in a string");
        if (c == '\\' && (c = unescape(json)) < 0)
            return wfi_json_fail(json, "not an escape");
        if (used + 1 == room)
            return wfi_json_fail(json, "a string is too long");
        text[used++] = (char)c;
    }
    if (json->at == json->end)
        return wfi_json_fail(json, "a string does not end");
    json->at++;
    text[used] = '\0';
    return true;
}

bool wfi_json_integer(wfi_json *json, int64_t least, int64_t most, int64_t *value)
{
    uint64_t sum = 0;
    if (json->failed)
        return false;
    const bool negative = peek(json) == '-';
    if (negative)
        json->at++;
    if (json->at == json->end || *json->at < '0' || *json->at > '9')
        return wfi_json_fail(json, "a whole number was expected");
    for (; json->at < json->end && *json->at >= '0' && *json->at <= '9'; json->at++) {
        sum = sum * 10 + (uint64_t)(*json->at - '0');
        if (sum > INT64_MAX / 16)
            return wfi_json_fail(json, "a number is too large");
    }
    if (json->at < json->end && strchr(".eE", *json->at) && *json->at)
        return wfi_json_fail(json, "a whole number was expected");
    *value = negative ? -(int64_t)sum : (int64_t)sum;
    return (*value >= least && *value <= most) || wfi_json_fail(json, "a number is out of range");
}

static bool word(wfi_json *json, const char *text)
{
    const size_t length = strlen(text);
    if ((size_t)(json->end - json->at) < length || strncmp(json->at, text, length) != 0)
        return false;
    json->at += length;
    return true;
}

bool wfi_json_bool(wfi_json *json, bool *value)
{
    if (json->failed)
        return false;
    skip_space(json);
    if (word(json, "true"))
        return *value = true;
    if (!word(json, "false"))
        return wfi_json_fail(json, "true or false was expected");
    *value = false;
    return true;
}

static bool skip_string(wfi_json *json)
{
    json->at++;
    while (json->at < json->end && *json->at != '"')
        json->at += *json->at == '\\' && json->end - json->at > 1 ? 2 : 1;
    if (json->at == json->end)
        return wfi_json_fail(json, "a string does not end");
    json->at++;
    return true;
}

/* Brackets are matched by count alone: what is passed over is not used. */
bool wfi_json_skip(wfi_json *json)
{
    uint32_t open = 0;
    do {
        const char c = json->failed ? '\0' : peek(json);
        if (c == '\0')
            return wfi_json_fail(json, "the file ends too early");
        if (c == '"') {
            if (!skip_string(json))
                return false;
            continue;
        }
        if (c == '{' || c == '[')
            open++;
        else if ((c == '}' || c == ']' || c == ',' || c == ':') && open == 0)
            return wfi_json_fail(json, "a value was expected");
        else if (c == '}' || c == ']')
            open--;
        json->at++;
        /* The rest of a number or word. */
        while (!strchr("{}[]:,", c) && json->at < json->end &&
               !(strchr("{}[]:,\" \t\r\n", *json->at)))
            json->at++;
    } while (open > 0);
    return true;
}

bool wfi_json_end(wfi_json *json)
{
    if (json->failed)
        return false;
    skip_space(json);
    return json->at == json->end || wfi_json_fail(json, "something follows the end");
}
