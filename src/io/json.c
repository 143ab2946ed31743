#include "io/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/atomic_file.h"

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
    char *text = yyjson_mut_write_opts(doc, YYJSON_WRITE_PRETTY, NULL, &length, &cause);
    if (!text)
        return wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: %s", path,
                           cause.msg ? cause.msg : "out of memory");
    const bool ok =
        strcmp(path, "-") == 0 ? print(text, length, error) : save(path, text, length, error);
    free(text);
    return ok;
}
