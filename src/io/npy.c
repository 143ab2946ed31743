#include "io/npy.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/element.h"
#include "core/platform_file.h"
#include "io/atomic_file.h"
#include "io/file_range.h"
#include "io/memory.h"
#include "io/npy_header.h"
#include "io/npz.h"

#define MAGIC "\x93NUMPY"
#define MAX_HEADER 65536u

/* ------------------------------------------------------------------------------------- reading */

/* What a .npy file consists of: a file, or an array of an archive, in memory. */
typedef struct content {
    const char *path; /* as errors begin */
    FILE *file;
    unsigned char *memory; /* NULL: the file's */
    uint64_t at, bytes;
    wfi_io_error *error;
} content;

static bool take(content *c, void *to, uint64_t bytes)
{
    const bool ok =
        c->bytes - c->at >= bytes && (c->memory || wfi_range_read(c->file, c->at, to, bytes));
    if (ok && c->memory && bytes)
        memcpy(to, c->memory + c->at, (size_t)bytes);
    c->at += ok ? bytes : 0;
    return ok;
}

/* The magic, the version and the header text (malloc'ed, NUL-terminated). */
static char *read_header(content *c)
{
    unsigned char start[12];
    if (!take(c, start, 10) || memcmp(start, MAGIC, 6) != 0) {
        wfi_io_set_error(c->error, WFI_IO_BAD_INPUT, "%s: not a .npy file", c->path);
        return NULL;
    }
    const unsigned version = start[6];
    uint32_t length = start[8] | (uint32_t)start[9] << 8;
    if (version < 1 || version > 3) {
        wfi_io_set_error(c->error, WFI_IO_UNSUPPORTED, "%s: .npy version %u is not supported",
                         c->path, version);
        return NULL;
    }
    if (version > 1) {
        if (!take(c, start + 10, 2))
            length = MAX_HEADER + 1;
        else
            length |= (uint32_t)start[10] << 16 | (uint32_t)start[11] << 24;
    }
    char *text = length <= MAX_HEADER ? malloc(length + 1) : NULL;
    if (!text || !take(c, text, length) || memchr(text, '\0', length)) {
        free(text);
        wfi_io_set_error(c->error, WFI_IO_BAD_INPUT, "%s: the .npy header is damaged or cut short",
                         c->path);
        return NULL;
    }
    text[length] = '\0';
    return text;
}

/* Elements of the shape; UINT64_MAX where their bytes do not fit 64 bits. */
static uint64_t count_elements(const wfi_npy *npy, uint64_t size)
{
    uint64_t count = 1;
    bool overflow = false;
    for (int i = 0; i < WFI_NPY_DIMENSIONS; i++) {
        overflow = overflow || (npy->shape[i] && count > UINT64_MAX / size / npy->shape[i]);
        count *= npy->shape[i];
        if (npy->shape[i] == 0)
            return 0;
    }
    return overflow ? UINT64_MAX : count;
}

uint64_t wfi_npy_count(const wfi_npy *npy)
{
    return count_elements(npy, 1);
}

void wfi_npy_shape_text(const wfi_npy *npy, char text[WFI_NPY_SHAPE_TEXT])
{
    size_t used = (size_t)snprintf(text, WFI_NPY_SHAPE_TEXT, npy->dimensions ? "" : "1");
    for (uint32_t i = 0; i < npy->dimensions; i++)
        used += (size_t)snprintf(text + used, WFI_NPY_SHAPE_TEXT - used, "%s%llu", i ? " x " : "",
                                 (unsigned long long)npy->shape[i]);
}

/* The elements as they are stored: mapped where they stand at multiples of their size. */
static bool read_data(content *c, uint64_t size, wfi_npy *npy)
{
    char shape[WFI_NPY_SHAPE_TEXT];
    const uint64_t left = c->bytes - c->at, count = count_elements(npy, size);
    wfi_npy_shape_text(npy, shape);
    if (count == UINT64_MAX || count * size != left)
        return wfi_io_fail(c->error, WFI_IO_BAD_INPUT,
                           "%s: %s elements of %llu bytes do not match the %llu bytes of data in "
                           "the file",
                           c->path, shape, (unsigned long long)size, (unsigned long long)left);
    /* A sparse file is larger than what it takes on the disk. */
    if (!c->memory && left > 0 && (double)left <= wfi_physical_memory() && c->at % size == 0 &&
        wfi_map(&npy->mapping, c->path, c->file, (size_t)c->bytes)) {
        npy->data = (char *)npy->mapping.memory + c->at;
        return true;
    }
    npy->data = (double)left <= wfi_physical_memory() ? malloc(left ? (size_t)left : 1) : NULL;
    if (!npy->data)
        return wfi_io_fail(c->error, WFI_IO_NO_MEMORY, "%s: %s elements: out of memory", c->path,
                           shape);
    return take(c, npy->data, left) ||
           wfi_io_fail(c->error, WFI_IO_SYSTEM, "%s: %s", c->path,
                       ferror(c->file) ? strerror(errno) : "the file is cut short");
}

/* Elements of `size` bytes, the most significant of which came first. */
static void swap_bytes(unsigned char *data, uint64_t count, size_t size)
{
    for (uint64_t i = 0; i < count; i++, data += size)
        for (size_t low = 0, high = size - 1; low < high; low++, high--) {
            const unsigned char byte = data[low];
            data[low] = data[high];
            data[high] = byte;
        }
}

/* Integers as elements of npy->type, with memory of their own. */
static bool widen(const content *c, const wfi_npy_stored *stored, wfi_npy *npy)
{
    const uint64_t count = wfi_npy_count(npy);
    const double bytes = (double)count * (double)wf_type_size(npy->type);
    void *data = bytes <= wfi_physical_memory()
                     ? malloc(count ? (size_t)(count * wf_type_size(npy->type)) : 1)
                     : NULL;
    if (!data)
        return wfi_io_fail(c->error, WFI_IO_NO_MEMORY, "%s: out of memory", c->path);
    for (uint64_t i = 0; i < count; i++)
        wf_element_set(npy->type, data, i, stored->get((const char *)npy->data + i * stored->size));
    wfi_npy_free(npy);
    npy->data = data;
    return true;
}

static bool read_array(content *c, wfi_npy *npy)
{
    wfi_npy_header header;
    char *text = read_header(c);
    const bool parsed = text && wfi_npy_parse_header(c->path, text, &header, c->error);
    free(text);
    if (!parsed)
        return false;
    npy->type = header.stored->type;
    npy->dimensions = header.dimensions;
    memcpy(npy->shape, header.shape, sizeof npy->shape);
    npy->fortran_order = header.fortran_order;
    if (!read_data(c, header.stored->size, npy))
        return false;
    if (header.swapped)
        swap_bytes(npy->data, wfi_npy_count(npy), header.stored->size);
    return !header.stored->get || widen(c, header.stored, npy);
}

/* Opens the file, and unpacks the array of an archive. */
static bool open_content(content *c)
{
    char magic[4] = "";
    const char *split = wfi_npz_split(c->path);
    const size_t length = split ? (size_t)(split - c->path) : strlen(c->path);
    char *path = malloc(length + 1);
    if (!path)
        return wfi_io_fail(c->error, WFI_IO_NO_MEMORY, "%s: out of memory", c->path);
    memcpy(path, c->path, length);
    path[length] = '\0';
    c->file = wfi_file_open(path, "rb");
    free(path);
    if (!c->file)
        return wfi_io_fail(c->error, WFI_IO_SYSTEM, "%s: %s", c->path, strerror(errno));
    const int64_t bytes = wfi_range_bytes(c->file);
    if (bytes < 0)
        return wfi_io_fail(c->error, WFI_IO_SYSTEM, "%s: its size cannot be told", c->path);
    c->bytes = (uint64_t)bytes;
    if (wfi_range_read(c->file, 0, magic, 4) && memcmp(magic, "PK", 2) == 0) {
        size_t unpacked = 0;
        c->memory = wfi_npz_read(c->file, c->path, split ? split + 1 : NULL, &unpacked, c->error);
        c->bytes = unpacked;
        return c->memory != NULL;
    }
    return !split || wfi_io_fail(c->error, WFI_IO_BAD_INPUT, "%s: not a .npz archive", c->path);
}

bool wfi_npy_read(const char *path, wfi_npy *out, wfi_io_error *error)
{
    wfi_npy npy = {0};
    content c = {.path = path, .error = error};
    const bool ok = open_content(&c) && read_array(&c, &npy);
    if (c.file)
        fclose(c.file);
    free(c.memory);
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

/* Where the element is in Fortran's order that is the i-th in C's. */
static uint64_t fortran_index(const wfi_npy *npy, uint64_t i)
{
    uint64_t index = 0;
    for (int d = (int)npy->dimensions - 1; d >= 0; d--) {
        uint64_t step = 1;
        for (int before = 0; before < d; before++)
            step *= npy->shape[before];
        index += i % npy->shape[d] * step;
        i /= npy->shape[d];
    }
    return index;
}

void *wfi_npy_convert(const wfi_npy *npy, wf_type type, uint64_t *lost)
{
    const uint64_t count = wfi_npy_count(npy);
    const bool whole = wfi_element_of(type)->whole;
    const double bytes = (double)count * (double)(wf_type_size(npy->type) + wf_type_size(type));
    void *data = bytes <= wfi_physical_memory()
                     ? malloc(count ? (size_t)(count * wf_type_size(type)) : 1)
                     : NULL;
    uint64_t changed = 0;
    for (uint64_t i = 0; data && i < count; i++) {
        const uint64_t from = npy->fortran_order ? fortran_index(npy, i) : i;
        const double value = wf_element_get(npy->type, npy->data, from);
        wf_element_set(type, data, i, value);
        const double held = wf_element_get(type, data, i);
        changed += whole ? !(held <= value && held >= value) : isfinite(value) && !isfinite(held);
    }
    if (lost)
        *lost = changed;
    return data;
}

bool wfi_npy_become(wfi_npy *npy, wf_type type, uint64_t *lost)
{
    if (npy->type == type && !npy->fortran_order) {
        *lost = 0;
        return true;
    }
    void *data = wfi_npy_convert(npy, type, lost);
    wfi_npy_free(npy);
    npy->data = data;
    npy->type = type;
    npy->fortran_order = false;
    return data != NULL;
}

/* ------------------------------------------------------------------------------------- writing */

/* Magic, version, length and dictionary, padded so that the data begin at a multiple of 64. */
static size_t format_header(char *out, size_t bytes, wf_type type, uint32_t dimensions,
                            const uint64_t *shape)
{
    char text[160];
    int length = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                          wfi_element_of(type)->numpy);
    for (uint32_t i = 0; i < dimensions; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, i ? ", %llu" : "%llu",
                           (unsigned long long)shape[i]);
    if (dimensions == 1)
        text[length++] = ',';
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

bool wfi_npy_write(const char *path, wf_type type, uint32_t dimensions, const uint64_t *shape,
                   const void *data, wfi_io_error *error)
{
    char header[256];
    wfi_atomic_file out;
    uint64_t count = 1;
    for (uint32_t i = 0; i < dimensions; i++)
        count *= shape[i];
    if ((unsigned)type >= WF_TYPE_COUNT || !wfi_element_of(type)->numpy)
        return wfi_io_fail(error, WFI_IO_UNSUPPORTED, "%s: NumPy has no elements of type %s", path,
                           wf_type_name(type));
    const size_t header_bytes = format_header(header, sizeof header, type, dimensions, shape);
    if (!wfi_atomic_open(&out, path, error))
        return false;
    wfi_atomic_write(&out, header, header_bytes);
    if (count)
        wfi_atomic_write(&out, data, (size_t)count * wf_type_size(type));
    return wfi_atomic_commit(&out, error);
}
