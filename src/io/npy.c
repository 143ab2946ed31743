#include "io/npy.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/element.h"
#include "core/platform_file.h"
#include "io/atomic_file.h"
#include "io/memory.h"

#define MAGIC "\x93NUMPY"
#define MAX_HEADER 65536u

/* ------------------------------------------------------------------------------------- reading */

/* A place in the header's dictionary. */
typedef struct cursor {
    const char *path;
    const char *at;
    wfi_io_error *error;
} cursor;

static bool bad_header(const cursor *c, const char *what)
{
    return wfi_io_fail(c->error, WFI_IO_BAD_INPUT, "%s: malformed .npy header: %s at '%.40s'",
                       c->path, what, c->at);
}

static void skip_blanks(cursor *c)
{
    while (*c->at == ' ' || *c->at == '\n' || *c->at == '\t')
        c->at++;
}

static bool take(cursor *c, char expected)
{
    skip_blanks(c);
    if (*c->at != expected)
        return false;
    c->at++;
    return true;
}

/* A quoted string into text. */
static bool parse_string(cursor *c, char *text, size_t bytes)
{
    skip_blanks(c);
    const char quote = *c->at;
    if (quote != '\'' && quote != '"')
        return bad_header(c, "a quoted word is missing");
    const char *end = strchr(c->at + 1, quote);
    if (!end || (size_t)(end - c->at) > bytes)
        return bad_header(c, "a quoted word does not end");
    const size_t length = (size_t)(end - c->at - 1);
    memcpy(text, c->at + 1, length);
    text[length] = '\0';
    c->at = end + 1;
    return true;
}

/* NumPy's name of a type; NULL: NumPy has none. */
static const char *description(int type)
{
    return wfi_element_of((wf_type)type)->numpy;
}

static bool parse_descr(cursor *c, wfi_npy *npy)
{
    char descr[32];
    if (!parse_string(c, descr, sizeof descr))
        return false;
    for (int type = 0; type < WF_TYPE_COUNT; type++)
        if (description(type) && strcmp(descr, description(type)) == 0) {
            npy->type = (wf_type)type;
            return true;
        }
    return wfi_io_fail(c->error, WFI_IO_UNSUPPORTED,
                       "%s: elements of type '%s' are not supported (<f2, <f4 or <f8 are)", c->path,
                       descr);
}

static bool parse_order(cursor *c, wfi_npy *npy)
{
    skip_blanks(c);
    npy->fortran_order = strncmp(c->at, "True", 4) == 0;
    if (!npy->fortran_order && strncmp(c->at, "False", 5) != 0)
        return bad_header(c, "fortran_order is neither True nor False");
    c->at += npy->fortran_order ? 4 : 5;
    return true;
}

static bool parse_extent(cursor *c, uint64_t *extent)
{
    uint64_t value = 0;
    skip_blanks(c);
    if (*c->at < '0' || *c->at > '9')
        return bad_header(c, "the shape is not a list of sizes");
    for (; *c->at >= '0' && *c->at <= '9'; c->at++) {
        if (value > (UINT64_C(1) << 48))
            return bad_header(c, "the shape is too large");
        value = value * 10 + (uint64_t)(*c->at - '0');
    }
    *extent = value;
    return true;
}

static bool parse_shape(cursor *c, wfi_npy *npy)
{
    npy->shape[0] = npy->shape[1] = 1;
    if (!take(c, '('))
        return bad_header(c, "the shape does not begin with (");
    while (!take(c, ')')) {
        if (npy->dimensions == 2)
            return wfi_io_fail(c->error, WFI_IO_UNSUPPORTED,
                               "%s: arrays of more than two dimensions are not supported", c->path);
        if (!parse_extent(c, &npy->shape[npy->dimensions++]))
            return false;
        if (!take(c, ',')) {
            if (!take(c, ')') || npy->dimensions == 1)
                return bad_header(c, "the shape does not end");
            return true;
        }
    }
    return true;
}

enum { DESCR = 1, ORDER = 2, SHAPE = 4 };

/* 0: no key of the format. */
static unsigned key_of(const char *text)
{
    return strcmp(text, "descr") == 0           ? DESCR
           : strcmp(text, "fortran_order") == 0 ? ORDER
           : strcmp(text, "shape") == 0         ? SHAPE
                                                : 0;
}

static bool parse_value(cursor *c, unsigned key, wfi_npy *npy)
{
    return key == DESCR   ? parse_descr(c, npy)
           : key == ORDER ? parse_order(c, npy)
                          : parse_shape(c, npy);
}

static bool parse_dictionary(cursor *c, wfi_npy *npy)
{
    unsigned seen = 0;
    char key[32];
    if (!take(c, '{'))
        return bad_header(c, "no dictionary");
    while (!take(c, '}')) {
        if (!parse_string(c, key, sizeof key))
            return false;
        if (!take(c, ':'))
            return bad_header(c, "a colon is missing");
        const unsigned bit = key_of(key);
        if (!bit || (seen & bit))
            return bad_header(c, "an unknown or repeated key");
        seen |= bit;
        if (!parse_value(c, bit, npy))
            return false;
        take(c, ',');
    }
    return seen == (DESCR | ORDER | SHAPE) ||
           bad_header(c, "descr, fortran_order or shape is missing");
}

/* Reads the magic, the version and the header text (malloc'ed, NUL-terminated). */
static char *read_header(FILE *file, const char *path, wfi_io_error *error)
{
    unsigned char start[12];
    if (fread(start, 1, 10, file) != 10 || memcmp(start, MAGIC, 6) != 0) {
        wfi_io_set_error(error, WFI_IO_BAD_INPUT, "%s: not a .npy file", path);
        return NULL;
    }
    const unsigned version = start[6];
    uint32_t length = start[8] | (uint32_t)start[9] << 8;
    if (version < 1 || version > 3) {
        wfi_io_set_error(error, WFI_IO_UNSUPPORTED, "%s: .npy version %u is not supported", path,
                         version);
        return NULL;
    }
    if (version > 1) {
        if (fread(start + 10, 1, 2, file) != 2)
            length = MAX_HEADER + 1;
        else
            length |= (uint32_t)start[10] << 16 | (uint32_t)start[11] << 24;
    }
    char *text = length <= MAX_HEADER ? malloc(length + 1) : NULL;
    if (!text || fread(text, 1, length, file) != length || memchr(text, '\0', length)) {
        free(text);
        wfi_io_set_error(error, WFI_IO_BAD_INPUT, "%s: the .npy header is damaged or cut short",
                         path);
        return NULL;
    }
    text[length] = '\0';
    return text;
}

/* The bytes of the file from where it stands to its end; -1 when it cannot be told. */
static int64_t bytes_left(FILE *file)
{
    const int64_t here = wfi_file_tell(file);
    if (here < 0 || !wfi_file_seek(file, 0, SEEK_END))
        return -1;
    const int64_t end = wfi_file_tell(file);
    return end < here || !wfi_file_seek(file, here, SEEK_SET) ? -1 : end - here;
}

static bool read_data(FILE *file, const char *path, wfi_npy *npy, wfi_io_error *error)
{
    const uint64_t size = wf_type_size(npy->type), rows = npy->shape[0], columns = npy->shape[1];
    const int64_t left = bytes_left(file);
    if (left < 0)
        return wfi_io_fail(error, WFI_IO_SYSTEM, "%s: its size cannot be told", path);
    const bool overflow = columns && rows > UINT64_MAX / size / columns;
    if (overflow || rows * columns * size != (uint64_t)left)
        return wfi_io_fail(error, WFI_IO_BAD_INPUT,
                           "%s: %llu x %llu elements of %llu bytes do not match the %llu bytes of "
                           "data in the file",
                           path, (unsigned long long)rows, (unsigned long long)columns,
                           (unsigned long long)size, (unsigned long long)left);
    /* A sparse file is larger than what it takes on the disk. */
    const int64_t at = wfi_file_tell(file);
    if (left > 0 && (double)left <= wfi_physical_memory() && at >= 0 && (uint64_t)at % size == 0 &&
        wfi_map(&npy->mapping, path, file, (size_t)at + (size_t)left)) {
        npy->data = (char *)npy->mapping.memory + at;
        return true;
    }
    npy->data = (double)left <= wfi_physical_memory() ? malloc(left ? (size_t)left : 1) : NULL;
    if (!npy->data)
        return wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: %llu x %llu elements: out of memory", path,
                           (unsigned long long)rows, (unsigned long long)columns);
    if (fread(npy->data, 1, (size_t)left, file) != (size_t)left)
        return wfi_io_fail(error, WFI_IO_SYSTEM, "%s: %s", path,
                           ferror(file) ? strerror(errno) : "the file is cut short");
    return true;
}

bool wfi_npy_read(const char *path, wfi_npy *out, wfi_io_error *error)
{
    wfi_npy npy = {0};
    FILE *file = wfi_file_open(path, "rb");
    if (!file)
        return wfi_io_fail(error, WFI_IO_SYSTEM, "%s: %s", path, strerror(errno));
    char *header = read_header(file, path, error);
    cursor c = {path, header, error};
    bool ok = header && parse_dictionary(&c, &npy) && read_data(file, path, &npy, error);
    fclose(file);
    free(header);
    if (ok)
        *out = npy;
    else
        wfi_npy_free(&npy);
    return ok;
}

void wfi_npy_free(wfi_npy *npy)
{
    if (!npy->mapping.memory)
        free(npy->data);
    wfi_unmap(&npy->mapping);
    npy->data = NULL;
}

/* ---------------------------------------------------------------------------------- converting */

void *wfi_npy_convert(const wfi_npy *npy, wf_type type, uint64_t *overflowed)
{
    const uint64_t rows = npy->shape[0], columns = npy->shape[1], count = rows * columns;
    const double bytes = (double)count * (double)(wf_type_size(npy->type) + wf_type_size(type));
    void *data = bytes <= wfi_physical_memory()
                     ? malloc(count ? (size_t)(count * wf_type_size(type)) : 1)
                     : NULL;
    uint64_t lost = 0;
    for (uint64_t i = 0; data && i < count; i++) {
        const uint64_t from = npy->fortran_order ? i % columns * rows + i / columns : i;
        const double value = wf_element_get(npy->type, npy->data, from);
        wf_element_set(type, data, i, value);
        lost += isfinite(value) && !isfinite(wf_element_get(type, data, i));
    }
    if (overflowed)
        *overflowed = lost;
    return data;
}

bool wfi_npy_become(wfi_npy *npy, wf_type type, uint64_t *overflowed)
{
    if (npy->type == type && !npy->fortran_order) {
        *overflowed = 0;
        return true;
    }
    void *data = wfi_npy_convert(npy, type, overflowed);
    wfi_npy_free(npy);
    npy->data = data;
    npy->type = type;
    npy->fortran_order = false;
    return data != NULL;
}

/* ------------------------------------------------------------------------------------- writing */

/* Magic, version, length and dictionary, padded so that the data begin at a multiple of 64. */
static size_t format_header(char *out, size_t bytes, wf_type type, uint32_t dimensions,
                            const uint64_t shape[2])
{
    char text[160];
    int length =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%llu,",
                 description(type), (unsigned long long)shape[0]);
    if (dimensions == 2)
        length += snprintf(text + length, sizeof text - (size_t)length, " %llu",
                           (unsigned long long)shape[1]);
    length += snprintf(text + length, sizeof text - (size_t)length, "), }");
    const size_t total = (10 + (size_t)length + 1 + 63) / 64 * 64;
    if (total > bytes)
        return 0;
    memset(out, ' ', total);
    memcpy(out, MAGIC, sizeof MAGIC - 1);
    out[6] = 1; /* version 1.0 */
    out[7] = 0;
    out[8] = (char)((total - 10) & 0xff);
    out[9] = (char)((total - 10) >> 8);
    memcpy(out + 10, text, (size_t)length);
    out[total - 1] = '\n';
    return total;
}

bool wfi_npy_write(const char *path, wf_type type, uint32_t dimensions, const uint64_t shape[2],
                   const void *data, wfi_io_error *error)
{
    char header[256];
    wfi_atomic_file out;
    const uint64_t count = dimensions == 2 ? shape[0] * shape[1] : shape[0];
    if ((unsigned)type >= WF_TYPE_COUNT || !description(type))
        return wfi_io_fail(error, WFI_IO_UNSUPPORTED, "%s: NumPy has no elements of type %s", path,
                           wf_type_name(type));
    const size_t header_bytes = format_header(header, sizeof header, type, dimensions, shape);
    if (!wfi_atomic_open(&out, path, error))
        return false;
    wfi_atomic_write(&out, header, header_bytes);
    wfi_atomic_write(&out, data, (size_t)count * wf_type_size(type));
    return wfi_atomic_commit(&out, error);
}
