#include "io/again_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

#include "io/results_parts.h"

static void copy_text(yyjson_val *object, const char *key, char *out, size_t bytes)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, key));
    snprintf(out, bytes, "%s", text ? text : "");
}

static bool read_command(const char *path, yyjson_val *root, wfi_again_file *out,
                         wfi_io_error *error)
{
    yyjson_val *list = yyjson_obj_get(root, "argv"), *item;
    size_t index, count;
    if (yyjson_arr_size(list) < 2 || yyjson_arr_size(list) > WFI_AGAIN_MOST_ARGUMENTS)
        return wfi_io_fail(error, WFI_IO_BAD_INPUT, "%s: it does not tell its command line", path);
    yyjson_arr_foreach(list, index, count, item)
    {
        const char *text = yyjson_get_str(item);
        out->argv[out->argc] = text ? malloc(strlen(text) + 1) : NULL;
        if (!out->argv[out->argc])
            return wfi_io_fail(error, text ? WFI_IO_NO_MEMORY : WFI_IO_BAD_INPUT,
                               text ? "%s: out of memory" : "%s: argv is no list of texts", path);
        memcpy(out->argv[out->argc++], text, strlen(text) + 1);
    }
    return true;
}

static void read_device(yyjson_val *device, wfi_again_file *out)
{
    yyjson_val *driver = yyjson_obj_get(device, "driver");
    char name[256], info[256];
    copy_text(device, "name", out->device, sizeof out->device);
    copy_text(device, "uuid", out->uuid, sizeof out->uuid);
    copy_text(yyjson_obj_get(device, "limits"), "profile", out->limits, sizeof out->limits);
    copy_text(driver, "name", name, sizeof name);
    copy_text(driver, "info", info, sizeof info);
    snprintf(out->driver, sizeof out->driver, "%s %s (%.0f)", name, info,
             yyjson_get_num(yyjson_obj_get(driver, "version")));
}

static void read_case(yyjson_val *item, wfi_again_case *out)
{
    yyjson_obj_iter constants = yyjson_obj_iter_with(yyjson_obj_get(item, "constants"));
    yyjson_val *key;
    copy_text(item, "family", out->family, sizeof out->family);
    copy_text(item, "name", out->name, sizeof out->name);
    copy_text(item, "type", out->type, sizeof out->type);
    copy_text(item, "status", out->status, sizeof out->status);
    copy_text(item, "variant", out->variant, sizeof out->variant);
    out->stands_alone = yyjson_obj_get(item, "study") == NULL;
    out->ranks = yyjson_arr_size(yyjson_obj_get(item, "ranks"));
    out->time = wfi_read_time_of(item);
    while (out->constant_count < WF_MAX_PARAMETERS && (key = yyjson_obj_iter_next(&constants))) {
        snprintf(out->names[out->constant_count], sizeof out->names[0], "%s", yyjson_get_str(key));
        out->values[out->constant_count++] =
            (uint32_t)yyjson_get_uint(yyjson_obj_iter_get_val(key));
    }
}

static bool read_all(const char *path, yyjson_val *root, wfi_again_file *out, wfi_io_error *error)
{
    yyjson_val *list = yyjson_obj_get(root, "cases"), *item;
    size_t index, count;
    if (!read_command(path, root, out, error))
        return false;
    read_device(yyjson_obj_get(root, "device"), out);
    copy_text(root, "wavefit", out->wavefit, sizeof out->wavefit);
    if (yyjson_arr_size(list) > WFI_AGAIN_MOST_CASES)
        return wfi_io_fail(error, WFI_IO_UNSUPPORTED, "%s: it has more than %d cases", path,
                           WFI_AGAIN_MOST_CASES);
    out->cases = calloc(yyjson_arr_size(list) + 1, sizeof *out->cases);
    if (!out->cases)
        return wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    yyjson_arr_foreach(list, index, count, item) read_case(item, &out->cases[out->count++]);
    return true;
}

bool wfi_again_read(const char *path, wfi_again_file *out, wfi_io_error *error)
{
    uint32_t cases;
    *out = (wfi_again_file){0};
    yyjson_doc *doc = wfi_results_valid_document(path, &cases, error);
    if (!doc)
        return false;
    const bool ok = read_all(path, yyjson_doc_get_root(doc), out, error);
    yyjson_doc_free(doc);
    if (!ok)
        wfi_again_free(out);
    return ok;
}

void wfi_again_free(wfi_again_file *file)
{
    for (int i = 0; i < file->argc; i++)
        free(file->argv[i]);
    free(file->cases);
    *file = (wfi_again_file){0};
}
