#include "io/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform_file.h"
#include "io/atomic_file.h"

/* -------------------------------------------------------------------------------------- reading */

/* The whole file, malloc'ed; NULL and the error. */
static char *read_all(FILE *file, const char *path, size_t *bytes, wfi_io_error *error)
{
    size_t room = 65536, used = 0;
    char *text = malloc(room);
    while (text) {
        used += fread(text + used, 1, room - used, file);
        if (used < room || used > WFI_JSON_MOST_BYTES)
            break;
        char *larger = realloc(text, room * 2);
        if (!larger)
            free(text);
        text = larger;
        room *= 2;
    }
    if (!text)
        wfi_io_set_error(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    else if (ferror(file))
        wfi_io_set_error(error, WFI_IO_SYSTEM, "%s: %s", path, strerror(errno));
    else if (used > WFI_JSON_MOST_BYTES)
        wfi_io_set_error(error, WFI_IO_BAD_INPUT, "%s: the file is over %u MiB", path,
                         (unsigned)(WFI_JSON_MOST_BYTES >> 20));
    else if (used == 0)
        wfi_io_set_error(error, WFI_IO_BAD_INPUT, "%s: the file is empty", path);
    else {
        *bytes = used;
        return text;
    }
    free(text);
    return NULL;
}

yyjson_doc *wfi_json_read(const char *path, wfi_io_error *error)
{
    yyjson_read_err cause = {0};
    size_t bytes = 0;
    FILE *file = wfi_file_open(path, "rb");
    if (!file) {
        wfi_io_set_error(error, WFI_IO_SYSTEM, "%s: %s", path, strerror(errno));
        return NULL;
    }
    char *text = read_all(file, path, &bytes, error);
    fclose(file);
    if (!text)
        return NULL;
    yyjson_doc *doc = yyjson_read_opts(text, bytes, YYJSON_READ_NOFLAG, NULL, &cause);
    free(text);
    if (!doc && cause.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        wfi_io_set_error(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    else if (!doc)
        wfi_io_set_error(error, WFI_IO_BAD_INPUT, "%s: %s at byte %llu", path, cause.msg,
                         (unsigned long long)cause.pos);
    return doc;
}

/* -------------------------------------------------------------------------------------- writing */

/* yyjson's memory, which notes in its context that there was none. */
static void *take(void *incomplete, size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory)
        *(bool *)incomplete = true;
    return memory;
}

static void *take_more(void *incomplete, void *memory, size_t before, size_t bytes)
{
    (void)before;
    void *more = realloc(memory, bytes);
    if (!more)
        *(bool *)incomplete = true;
    return more;
}

static void give_back(void *incomplete, void *memory)
{
    (void)incomplete;
    free(memory);
}

yyjson_mut_doc *wfi_json_create(void)
{
    bool *incomplete = calloc(1, sizeof *incomplete);
    const yyjson_alc memory = {take, take_more, give_back, incomplete};
    yyjson_mut_doc *doc = incomplete ? yyjson_mut_doc_new(&memory) : NULL;
    if (!doc)
        free(incomplete);
    return doc;
}

void wfi_json_free(yyjson_mut_doc *doc)
{
    void *incomplete = doc ? doc->alc.ctx : NULL;
    yyjson_mut_doc_free(doc);
    free(incomplete);
}

bool wfi_json_incomplete(const yyjson_mut_doc *doc)
{
    return *(const bool *)doc->alc.ctx;
}

void wfi_json_put_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                       const char *text)
{
    char clean[1024];
    size_t n = 0;
    if (!text || !*text)
        return;
    for (; *text && n + 1 < sizeof clean; text++)
        clean[n++] = (unsigned char)*text < 0x80 ? *text : '?';
    clean[n] = '\0';
    yyjson_mut_obj_add_strcpy(doc, object, key, clean);
}

void wfi_json_put_number(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, double value)
{
    if (!isfinite(value))
        return;
    if (value == floor(value) && fabs(value) < 9007199254740992.0)
        yyjson_mut_obj_add_sint(doc, object, key, (int64_t)value);
    else
        yyjson_mut_obj_add_real(doc, object, key, value);
}

static bool print(const char *text, size_t length, wfi_io_error *error)
{
    const bool ok = fwrite(text, 1, length, stdout) == length && fputc('\n', stdout) == '\n' &&
                    fflush(stdout) == 0;
    return ok || errno == EPIPE || /* who reads it had enough */
           wfi_io_fail(error, WFI_IO_SYSTEM, "standard output cannot be written");
}

static bool save(const char *path, const char *text, size_t length, wfi_io_error *error)
{
    wfi_atomic_file out;
    if (!wfi_atomic_open(&out, path, error))
        return false;
    wfi_atomic_write(&out, text, length);
    wfi_atomic_write(&out, "\n", 1);
    return wfi_atomic_commit(&out, error);
}

bool wfi_json_write(const char *path, yyjson_mut_doc *doc, wfi_io_error *error)
{
    yyjson_write_err cause = {0};
    size_t length = 0;
    if (wfi_json_incomplete(doc))
        return wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    char *text = yyjson_mut_write_opts(doc, YYJSON_WRITE_PRETTY, NULL, &length, &cause);
    if (!text)
        return wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: %s", path,
                           cause.msg ? cause.msg : "out of memory");
    const bool ok =
        strcmp(path, "-") == 0 ? print(text, length, error) : save(path, text, length, error);
    free(text);
    return ok;
}
