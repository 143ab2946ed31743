/* The dictionary that .npy files begin with. */
#include "io/npy_header.h"

#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"

/* An element as f64, or 8-byte integers rounded to it. */
#define GET(name, type)                                                                            \
    static double get_##name(const void *at)                                                       \
    {                                                                                              \
        type value;                                                                                \
        memcpy(&value, at, sizeof value);                                                          \
        return (double)value;                                                                      \
    }
GET(u1, uint8_t)
GET(i2, int16_t)
GET(u2, uint16_t)
GET(i4, int32_t)
GET(u4, uint32_t)
GET(i8, int64_t)
GET(u8, uint64_t)

static const wfi_npy_stored stored[] = {
    {"f2", 2, WF_TYPE_F16, NULL},   {"f4", 4, WF_TYPE_F32, NULL},   {"f8", 8, WF_TYPE_F64, NULL},
    {"i1", 1, WF_TYPE_I8, NULL},    {"b1", 1, WF_TYPE_I8, NULL},    {"u1", 1, WF_TYPE_F32, get_u1},
    {"i2", 2, WF_TYPE_F32, get_i2}, {"u2", 2, WF_TYPE_F32, get_u2}, {"i4", 4, WF_TYPE_F64, get_i4},
    {"u4", 4, WF_TYPE_F64, get_u4}, {"i8", 8, WF_TYPE_F64, get_i8}, {"u8", 8, WF_TYPE_F64, get_u8}};

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

/* What NumPy calls elements of other kinds. */
static const char *kind_of(char letter)
{
    static const struct {
        char letter;
        const char *text;
    } kinds[] = {{'c', "complex numbers"},
                 {'f', "floats of that size"},
                 {'U', "text"},
                 {'S', "bytes of text"},
                 {'a', "bytes of text"},
                 {'O', "Python objects"},
                 {'M', "dates"},
                 {'m', "spans of time"},
                 {'V', "raw bytes, as which bfloat16 is written too"}};
    for (size_t i = 0; i < WFI_COUNT(kinds); i++)
        if (kinds[i].letter == letter)
            return kinds[i].text;
    return "of a kind that NumPy's documentation does not list";
}

/* A list of fields in place of a name. */
static bool refuse_fields(cursor *c)
{
    const char *end = strchr(c->at, ']');
    const size_t length = end ? (size_t)(end - c->at) + 1 : strlen(c->at);
    return wfi_io_fail(c->error, WFI_IO_UNSUPPORTED,
                       "%s: a structured array, with fields %.*s; save the field that is wanted by "
                       "itself, as in numpy.save(file, array['name'])",
                       c->path, (int)(length < 200 ? length : 200), c->at);
}

static bool parse_descr(cursor *c, wfi_npy_header *header)
{
    char descr[32];
    skip_blanks(c);
    if (*c->at == '[')
        return refuse_fields(c);
    if (!parse_string(c, descr, sizeof descr))
        return false;
    const bool order = *descr && strchr("<>|=", *descr);
    const char *const name = order ? descr + 1 : descr;
    for (size_t i = 0; i < WFI_COUNT(stored); i++)
        if (strcmp(name, stored[i].name) == 0) {
            header->stored = &stored[i];
            header->swapped = *descr == '>';
            return true;
        }
    return wfi_io_fail(c->error, WFI_IO_UNSUPPORTED,
                       "%s: elements of type '%s' (%s) are not supported; floats of 2, 4 and 8 "
                       "bytes, integers and bool are (numpy's astype makes them)",
                       c->path, descr, kind_of(*name));
}

static bool parse_order(cursor *c, wfi_npy_header *header)
{
    skip_blanks(c);
    header->fortran_order = strncmp(c->at, "True", 4) == 0;
    if (!header->fortran_order && strncmp(c->at, "False", 5) != 0)
        return bad_header(c, "fortran_order is neither True nor False");
    c->at += header->fortran_order ? 4 : 5;
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

static bool parse_shape(cursor *c, wfi_npy_header *header)
{
    for (int i = 0; i < WFI_NPY_DIMENSIONS; i++)
        header->shape[i] = 1;
    if (!take(c, '('))
        return bad_header(c, "the shape does not begin with (");
    while (!take(c, ')')) {
        if (header->dimensions == WFI_NPY_DIMENSIONS)
            return wfi_io_fail(c->error, WFI_IO_UNSUPPORTED,
                               "%s: arrays of more than %d dimensions are not supported", c->path,
                               WFI_NPY_DIMENSIONS);
        if (!parse_extent(c, &header->shape[header->dimensions++]))
            return false;
        if (!take(c, ',')) {
            if (!take(c, ')') || header->dimensions == 1)
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

static bool parse_value(cursor *c, unsigned key, wfi_npy_header *header)
{
    return key == DESCR   ? parse_descr(c, header)
           : key == ORDER ? parse_order(c, header)
                          : parse_shape(c, header);
}

static bool parse_dictionary(cursor *c, wfi_npy_header *header)
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
        if (!parse_value(c, bit, header))
            return false;
        take(c, ',');
    }
    return seen == (DESCR | ORDER | SHAPE) ||
           bad_header(c, "descr, fortran_order or shape is missing");
}

bool wfi_npy_parse_header(const char *path, const char *text, wfi_npy_header *out,
                          wfi_io_error *error)
{
    cursor c = {path, text, error};
    *out = (wfi_npy_header){0};
    return parse_dictionary(&c, out);
}
