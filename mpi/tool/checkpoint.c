#include "checkpoint.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "io/atomic_file.h"
#include "io/json.h"

/* A line of fixed length: the JSON's bytes and its checksum. */
#define NAME "wavefit-checkpoint/1 "
#define HEAD NAME "%010llu %08lx\n"
#define HEAD_BYTES 41
#define PIECE_BYTES (1u << 24)

/* -------------------------------------------------------------------------------------- filling */

void wfi_checkpoint_number(wfi_checkpoint *c, const char *name, double number)
{
    if (c->fact_count < WFI_CHECKPOINT_FACTS)
        c->facts[c->fact_count++] = (wfi_fact){name, NULL, number};
}

void wfi_checkpoint_word(wfi_checkpoint *c, const char *name, const char *text)
{
    if (c->fact_count < WFI_CHECKPOINT_FACTS)
        c->facts[c->fact_count++] = (wfi_fact){name, text, 0};
}

void wfi_checkpoint_array_add(wfi_checkpoint *c, const char *name, wf_type type, uint64_t count,
                              const void *data)
{
    if (c->array_count < WFI_CHECKPOINT_ARRAYS)
        c->arrays[c->array_count++] = (wfi_checkpoint_array){name, type, count, data};
}

static const wfi_fact *find(const wfi_checkpoint *c, const char *name)
{
    for (uint32_t i = 0; i < c->fact_count; i++)
        if (strcmp(c->facts[i].name, name) == 0)
            return &c->facts[i];
    return NULL;
}

double wfi_checkpoint_find(const wfi_checkpoint *c, const char *name)
{
    const wfi_fact *fact = find(c, name);
    return fact && !fact->text ? fact->number : NAN;
}

const char *wfi_checkpoint_find_word(const wfi_checkpoint *c, const char *name)
{
    const wfi_fact *fact = find(c, name);
    return fact ? fact->text : NULL;
}

const wfi_checkpoint_array *wfi_checkpoint_find_array(const wfi_checkpoint *c, const char *name)
{
    for (uint32_t i = 0; i < c->array_count; i++)
        if (strcmp(c->arrays[i].name, name) == 0)
            return &c->arrays[i];
    return NULL;
}

/* -------------------------------------------------------------------------------------- writing */

unsigned long wfi_checkpoint_sum(const void *data, uint64_t bytes)
{
    uLong crc = crc32(0, NULL, 0);
    for (uint64_t at = 0; at < bytes; at += PIECE_BYTES)
        crc = crc32(crc, (const unsigned char *)data + at,
                    (uInt)(bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES));
    return crc;
}

static uint64_t bytes_of(const wfi_checkpoint_array *array)
{
    return array->count * wf_type_size(array->type);
}

static char *heading(const wfi_checkpoint *c, size_t *bytes)
{
    yyjson_mut_doc *doc = wfi_json_create();
    if (!doc)
        return NULL;
    yyjson_mut_val *root = yyjson_mut_obj(doc), *facts = yyjson_mut_obj_add_obj(doc, root, "facts");
    yyjson_mut_doc_set_root(doc, root);
    for (uint32_t i = 0; i < c->fact_count; i++)
        if (c->facts[i].text)
            wfi_json_put_text(doc, facts, c->facts[i].name, c->facts[i].text);
        else
            wfi_json_put_number(doc, facts, c->facts[i].name, c->facts[i].number);
    yyjson_mut_val *arrays = yyjson_mut_obj_add_arr(doc, root, "arrays");
    for (uint32_t i = 0; i < c->array_count; i++) {
        const wfi_checkpoint_array *array = &c->arrays[i];
        yyjson_mut_val *out = yyjson_mut_arr_add_obj(doc, arrays);
        wfi_json_put_text(doc, out, "name", array->name);
        wfi_json_put_text(doc, out, "type", wf_type_name(array->type));
        yyjson_mut_obj_add_uint(doc, out, "count", array->count);
        yyjson_mut_obj_add_uint(doc, out, "crc32",
                                wfi_checkpoint_sum(array->data, bytes_of(array)));
    }
    char *text =
        wfi_json_incomplete(doc) ? NULL : yyjson_mut_write(doc, YYJSON_WRITE_NOFLAG, bytes);
    wfi_json_free(doc);
    return text;
}

bool wfi_checkpoint_write(const char *path, const wfi_checkpoint *c, wfi_io_error *error)
{
    wfi_atomic_file out;
    size_t bytes = 0;
    char head[HEAD_BYTES + 1];
    char *text = heading(c, &bytes);
    if (!text)
        return wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    snprintf(head, sizeof head, HEAD, (unsigned long long)bytes, wfi_checkpoint_sum(text, bytes));
    bool ok = wfi_atomic_open(&out, path, error);
    if (ok) {
        wfi_atomic_write(&out, head, HEAD_BYTES);
        wfi_atomic_write(&out, text, bytes);
        for (uint32_t i = 0; i < c->array_count; i++)
            wfi_atomic_write(&out, c->arrays[i].data, bytes_of(&c->arrays[i]));
        ok = wfi_atomic_commit(&out, error);
    }
    free(text);
    return ok;
}

/* -------------------------------------------------------------------------------------- reading */

static bool take_facts(yyjson_val *facts, wfi_checkpoint *out)
{
    size_t i, most;
    yyjson_val *key, *value;
    yyjson_obj_foreach(facts, i, most, key, value)
    {
        if (yyjson_is_str(value))
            wfi_checkpoint_word(out, yyjson_get_str(key), yyjson_get_str(value));
        else if (yyjson_is_num(value))
            wfi_checkpoint_number(out, yyjson_get_str(key), yyjson_get_num(value));
        else
            return false;
    }
    return most > 0 && most <= WFI_CHECKPOINT_FACTS;
}

wf_type wfi_checkpoint_type(const char *name)
{
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F64, WF_TYPE_F16};
    for (size_t i = 0; name && i < sizeof types / sizeof *types; i++)
        if (strcmp(name, wf_type_name(types[i])) == 0)
            return types[i];
    return WF_TYPE_COUNT;
}

static bool take_array(yyjson_val *object, uint64_t left, wfi_checkpoint *out, FILE *file)
{
    const char *name = yyjson_get_str(yyjson_obj_get(object, "name"));
    const uint64_t count = yyjson_get_uint(yyjson_obj_get(object, "count")),
                   crc = yyjson_get_uint(yyjson_obj_get(object, "crc32"));
    const wf_type real = wfi_checkpoint_type(yyjson_get_str(yyjson_obj_get(object, "type")));
    if (!name || real == WF_TYPE_COUNT || count > left / wf_type_size(real))
        return false;
    const size_t bytes = (size_t)count * wf_type_size(real);
    void *data = malloc(bytes + 1);
    out->memory[out->array_count] = data;
    if (!data || fread(data, 1, bytes, file) != bytes || wfi_checkpoint_sum(data, bytes) != crc)
        return false;
    wfi_checkpoint_array_add(out, name, real, count, data);
    return true;
}

/* Bytes from here to the end; the file stays where it is. */
static uint64_t left_of(FILE *file)
{
    const long here = ftell(file);
    if (here < 0 || fseek(file, 0, SEEK_END) != 0)
        return 0;
    const long end = ftell(file);
    return fseek(file, here, SEEK_SET) == 0 && end > here ? (uint64_t)(end - here) : 0;
}

static yyjson_doc *read_heading(FILE *file)
{
    char head[HEAD_BYTES + 1] = "", again[HEAD_BYTES + 1];
    if (fread(head, 1, HEAD_BYTES, file) != HEAD_BYTES)
        return NULL;
    const unsigned long long bytes = strtoull(head + sizeof NAME - 1, NULL, 10);
    const unsigned long crc = strtoul(head + HEAD_BYTES - 9, NULL, 16);
    snprintf(again, sizeof again, HEAD, bytes, crc);
    if (strcmp(head, again) != 0 || bytes > WFI_JSON_MOST_BYTES || bytes > left_of(file))
        return NULL;
    char *text = malloc((size_t)bytes + 1);
    yyjson_doc *doc = NULL;
    if (text && fread(text, 1, (size_t)bytes, file) == bytes &&
        wfi_checkpoint_sum(text, bytes) == crc)
        doc = yyjson_read(text, (size_t)bytes, YYJSON_READ_NOFLAG);
    free(text);
    return doc;
}

bool wfi_checkpoint_read(const char *path, wfi_checkpoint *out, wfi_io_error *error)
{
    size_t i, most;
    yyjson_val *object;
    *out = (wfi_checkpoint){0};
    FILE *file = fopen(path, "rb");
    if (!file)
        return wfi_io_fail(error, WFI_IO_SYSTEM, "%s: %s", path, strerror(errno));
    yyjson_doc *doc = read_heading(file);
    yyjson_val *root = yyjson_doc_get_root(doc), *arrays = yyjson_obj_get(root, "arrays");
    out->document = doc;
    bool ok = doc && yyjson_arr_size(arrays) <= WFI_CHECKPOINT_ARRAYS &&
              take_facts(yyjson_obj_get(root, "facts"), out);
    yyjson_arr_foreach(arrays, i, most, object) ok =
        ok && take_array(object, left_of(file), out, file);
    ok = ok && left_of(file) == 0;
    fclose(file);
    if (ok)
        return true;
    wfi_checkpoint_free(out);
    return wfi_io_fail(error, WFI_IO_BAD_INPUT,
                       "%s: it is no checkpoint of this wavefit, or it is damaged", path);
}

void wfi_checkpoint_free(wfi_checkpoint *c)
{
    for (int i = 0; i < WFI_CHECKPOINT_ARRAYS; i++)
        free(c->memory[i]);
    yyjson_doc_free(c->document);
    *c = (wfi_checkpoint){0};
}
