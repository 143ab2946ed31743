#include "io/comparison.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform_file.h"
#include "io/json.h"
#include "io/old_results.h"
#include "wavefit/wavefit.h"

#define MOST_ITEMS 4096

const char *const wfi_compared_names[WFI_COMPARED_RIVALS] = {"model", "shipped",     "left out",
                                                             "tuned", "tuned again", "exhaustive"};

void wfi_comparison_free(wfi_comparison_file *file)
{
    free(file->items);
    file->items = NULL;
    file->count = 0;
}

const wfi_compared *wfi_comparison_find(const wfi_comparison_file *file, const char *family,
                                        const char *type, const char *problem)
{
    for (uint32_t i = 0; i < file->count; i++) {
        const wfi_compared *item = &file->items[i];
        if (strcmp(item->family, family) == 0 && strcmp(item->type, type) == 0 &&
            strcmp(item->problem, problem) == 0)
            return item;
    }
    return NULL;
}

bool wfi_comparison_add(wfi_comparison_file *file, const wfi_compared *item)
{
    const wfi_compared *there = wfi_comparison_find(file, item->family, item->type, item->problem);
    if (there) {
        file->items[there - file->items] = *item;
        return true;
    }
    wfi_compared *items = realloc(file->items, (file->count + (size_t)1) * sizeof *items);
    if (!items)
        return false;
    items[file->count++] = *item;
    file->items = items;
    return true;
}

/* ------------------------------------------------------------------------------------- reading */

/* Copies a text that fits; anything else leaves it empty, which no problem's name is. */
static void read_text(yyjson_val *object, const char *name, char *text, size_t bytes)
{
    const char *value = yyjson_get_str(yyjson_obj_get(object, name));
    snprintf(text, bytes, "%s", value ? value : "");
}

static double read_number(yyjson_val *object, const char *name)
{
    yyjson_val *value = yyjson_obj_get(object, name);
    return yyjson_is_num(value) && yyjson_get_num(value) > 0 ? yyjson_get_num(value) : 0;
}

static void read_item(yyjson_val *object, wfi_compared *item)
{
    yyjson_val *rivals = yyjson_obj_get(object, "rivals");
    memset(item, 0, sizeof *item);
    read_text(object, "family", item->family, sizeof item->family);
    read_text(object, "type", item->type, sizeof item->type);
    read_text(object, "problem", item->problem, sizeof item->problem);
    read_text(object, "error", item->error, sizeof item->error);
    item->budget_seconds = read_number(object, "budget_seconds");
    item->measured = yyjson_get_uint(yyjson_obj_get(object, "measured"));
    item->legal = yyjson_get_uint(yyjson_obj_get(object, "legal"));
    for (int i = 0; i < WFI_COMPARED_RIVALS; i++) {
        yyjson_val *rival = yyjson_obj_get(rivals, wfi_compared_names[i]);
        item->rivals[i].us = read_number(rival, "us");
        item->rivals[i].noise = read_number(rival, "noise_percent") / 100;
        read_text(rival, "chosen_by", item->rivals[i].by, sizeof item->rivals[i].by);
        read_text(rival, "point", item->rivals[i].point, sizeof item->rivals[i].point);
    }
}

static bool read_root(const char *path, yyjson_val *root, wfi_comparison_file *out,
                      wfi_io_error *error)
{
    const char *schema = yyjson_get_str(yyjson_obj_get(root, "schema"));
    yyjson_val *list = yyjson_obj_get(root, "comparisons"), *object;
    size_t index, count;
    if (!schema || strcmp(schema, WFI_COMPARISON_SCHEMA) != 0)
        return wfi_io_fail(error, WFI_IO_BAD_INPUT, "%s: not a file of schema %s", path,
                           WFI_COMPARISON_SCHEMA);
    if (!yyjson_is_arr(list) || yyjson_arr_size(list) > MOST_ITEMS)
        return wfi_io_fail(error, WFI_IO_BAD_INPUT, "%s: comparisons are missing or too many",
                           path);
    read_text(yyjson_obj_get(root, "device"), "name", out->device, sizeof out->device);
    read_text(yyjson_obj_get(root, "device"), "driver", out->driver, sizeof out->driver);
    yyjson_arr_foreach(list, index, count, object)
    {
        wfi_compared item;
        read_item(object, &item);
        if (!wfi_comparison_add(out, &item))
            return wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    }
    return true;
}

bool wfi_comparison_read(const char *path, wfi_comparison_file *out, wfi_io_error *error)
{
    memset(out, 0, sizeof *out);
    if (wfi_file_kind_of(path) == WFI_FILE_NONE && errno == ENOENT)
        return true;
    yyjson_doc *doc = wfi_results_document(path, error);
    if (!doc)
        return false;
    const bool ok = read_root(path, yyjson_doc_get_root(doc), out, error);
    yyjson_doc_free(doc);
    if (!ok)
        wfi_comparison_free(out);
    return ok;
}

/* ------------------------------------------------------------------------------------- writing */

static void put_item(yyjson_mut_doc *doc, yyjson_mut_val *list, const wfi_compared *item)
{
    yyjson_mut_val *object = yyjson_mut_arr_add_obj(doc, list);
    double best = 0;
    yyjson_mut_obj_add_str(doc, object, "family", item->family);
    yyjson_mut_obj_add_str(doc, object, "type", item->type);
    yyjson_mut_obj_add_str(doc, object, "problem", item->problem);
    yyjson_mut_obj_add_real(doc, object, "budget_seconds", item->budget_seconds);
    if (*item->error) {
        wfi_json_put_text(doc, object, "error", item->error);
        return;
    }
    yyjson_mut_obj_add_uint(doc, object, "measured", item->measured);
    yyjson_mut_obj_add_uint(doc, object, "legal", item->legal);
    for (int i = 0; i < WFI_COMPARED_RIVALS; i++)
        if (item->rivals[i].us > 0 && (best == 0 || item->rivals[i].us < best))
            best = item->rivals[i].us;
    yyjson_mut_val *rivals = yyjson_mut_obj_add_obj(doc, object, "rivals");
    for (int i = 0; i < WFI_COMPARED_RIVALS; i++) {
        const wfi_compared_rival *r = &item->rivals[i];
        if (!(r->us > 0))
            continue;
        yyjson_mut_val *rival = yyjson_mut_obj_add_obj(doc, rivals, wfi_compared_names[i]);
        yyjson_mut_obj_add_real(doc, rival, "us", r->us);
        yyjson_mut_obj_add_real(doc, rival, "loss_percent", (r->us / best - 1) * 100);
        yyjson_mut_obj_add_real(doc, rival, "noise_percent", r->noise * 100);
        yyjson_mut_obj_add_str(doc, rival, "chosen_by", r->by);
        yyjson_mut_obj_add_str(doc, rival, "point", r->point);
    }
}

bool wfi_comparison_write(const char *path, const wfi_comparison_file *file, wfi_io_error *error)
{
    yyjson_mut_doc *doc = wfi_json_create();
    if (!doc)
        return wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_str(doc, root, "schema", WFI_COMPARISON_SCHEMA);
    yyjson_mut_obj_add_str(doc, root, "wavefit", wf_version());
    yyjson_mut_val *device = yyjson_mut_obj_add_obj(doc, root, "device");
    wfi_json_put_text(doc, device, "name", file->device);
    wfi_json_put_text(doc, device, "driver", file->driver);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "comparisons");
    for (uint32_t i = 0; i < file->count; i++)
        put_item(doc, list, &file->items[i]);
    const bool ok = wfi_json_write(path, doc, error);
    wfi_json_free(doc);
    return ok;
}
