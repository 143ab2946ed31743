#include "io/matrix_market.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/memory.h"
#include "io/text_reader.h"

#define MAX_DIMENSION 2147483647u

typedef enum field { FIELD_REAL, FIELD_INTEGER, FIELD_PATTERN, FIELD_COMPLEX } field;
typedef enum symmetry { GENERAL, SYMMETRIC, SKEW_SYMMETRIC, HERMITIAN } symmetry;

typedef struct parser {
    wfi_text_reader text;
    wfi_io_error *error;
    bool coordinate;
    field field;
    symmetry symmetry;
    uint32_t rows, columns;
    uint64_t count; /* entries in the file, by its size line */
    wfi_triplets triplets;
} parser;

/* "path:line: " and the message. */
static bool bad_input(parser *p, const char *format, const char *value)
{
    char message[512];
    snprintf(message, sizeof message, format, value);
    return wfi_io_fail(p->error, WFI_IO_BAD_INPUT, "%s:%llu: %s", p->text.path,
                       (unsigned long long)p->text.line, message);
}

/* -------------------------------------------------------------------------------------- banner */

/* The index of `word` (any case) in names, or -1. */
static int find_word(const char *word, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcasecmp(word, names[i]) == 0)
            return i;
    return -1;
}

/* Cuts the next word off *at; NULL when there is none. */
static char *next_word(char **at)
{
    char *word = *at + strspn(*at, " \t");
    if (!*word)
        return NULL;
    *at = word + strcspn(word, " \t");
    if (**at)
        *(*at)++ = '\0';
    return word;
}

static bool parse_banner(parser *p, char *line)
{
    static const char *const banners[] = {"%%matrixmarket"}, *const objects[] = {"matrix"},
                             *const formats[] = {"coordinate", "array"},
                             *const fields[] = {"real", "integer", "pattern", "complex", "double"},
                             *const symmetries[] = {"general", "symmetric", "skew-symmetric",
                                                    "hermitian"};
    char *word[6];
    for (int i = 0; i < 6; i++)
        word[i] = next_word(&line);
    if (!word[0] || find_word(word[0], banners, 1) < 0)
        return bad_input(p, "the first line must begin with %%%%MatrixMarket (found '%.60s')",
                         word[0] ? word[0] : "");
    if (!word[4])
        return bad_input(p, "the banner must have five words%s", "");
    if (word[5])
        return bad_input(p, "text after the banner ('%.60s')", word[5]);
    if (find_word(word[1], objects, 1) < 0)
        return bad_input(p, "the object must be 'matrix' (found '%.60s')", word[1]);
    const int format = find_word(word[2], formats, 2), of = find_word(word[3], fields, 5),
              kind = find_word(word[4], symmetries, 4);
    if (format < 0)
        return bad_input(p, "the format must be coordinate or array (found '%.60s')", word[2]);
    if (of < 0)
        return bad_input(p, "the field must be real, integer or pattern (found '%.60s')", word[3]);
    if (kind < 0)
        return bad_input(
            p, "the symmetry must be general, symmetric or skew-symmetric (found '%.60s')",
            word[4]);
    if (of == FIELD_COMPLEX)
        return wfi_io_fail(p->error, WFI_IO_UNSUPPORTED,
                           "%s:%llu: complex matrices are not supported", p->text.path,
                           (unsigned long long)p->text.line);
    p->coordinate = format == 0;
    p->field = of == 4 ? FIELD_REAL : (field)of;
    p->symmetry = (symmetry)kind;
    if (p->field == FIELD_PATTERN && (!p->coordinate || kind > SYMMETRIC))
        return bad_input(p, "a pattern matrix must be coordinate, and general or symmetric%s", "");
    if (p->symmetry == HERMITIAN) /* of real values: the same as symmetric */
        p->symmetry = SYMMETRIC;
    return true;
}

/* ------------------------------------------------------------------------------------- numbers */

static char *skip_blanks(char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

static bool ends_word(char c)
{
    return c == '\0' || c == ' ' || c == '\t';
}

/* A non-negative integer; false when there is none or it is over 2^63. */
static bool parse_count(char **at, uint64_t *value)
{
    char *c = skip_blanks(*at);
    uint64_t sum = 0;
    if (*c == '+')
        c++;
    if (*c < '0' || *c > '9')
        return false;
    for (; *c >= '0' && *c <= '9'; c++) {
        if (sum > (UINT64_C(1) << 63) / 10 - 1)
            return false;
        sum = sum * 10 + (uint64_t)(*c - '0');
    }
    if (!ends_word(*c))
        return false;
    *at = c;
    *value = sum;
    return true;
}

static bool parse_value(parser *p, char **at, double *value)
{
    char *start = skip_blanks(*at), *end = start;
    /* strtod takes hexadecimal, "inf" and "nan" too; the format has none of them. */
    const size_t plain = strspn(start, "+-.0123456789eEdD");
    if (!*start)
        return bad_input(p, "a value is missing%s", "");
    if (!ends_word(start[plain]))
        return bad_input(p, "'%.60s' is not a finite number", start);
    for (char *c = start; c < start + plain; c++)
        if (*c == 'd' || *c == 'D') /* Fortran's exponent */
            *c = 'e';
    *value = strtod(start, &end);
    if (end != start + plain || end == start)
        return bad_input(p, "'%.60s' is not a number", start);
    if (!isfinite(*value))
        return bad_input(p, "'%.60s' is too large for a 64-bit float", start);
    if (p->field == FIELD_INTEGER && strcspn(start, ".eE") < plain)
        return bad_input(p, "'%.60s' is not an integer", start);
    *at = end;
    return true;
}

static bool end_of_line(parser *p, char *at)
{
    at = skip_blanks(at);
    return !*at || bad_input(p, "text after the entry ('%.60s')", at);
}

/* The next line that is neither blank nor a comment; *line NULL at the end. */
static bool next_line(parser *p, char **line)
{
    do {
        if (!wfi_text_line(&p->text, line, p->error))
            return false;
    } while (*line && (*skip_blanks(*line) == '%' || !*skip_blanks(*line)));
    return true;
}

/* ---------------------------------------------------------------------------------------- sizes */

/* Values that array storage holds: all, one triangle, or one without the diagonal. */
static uint64_t array_count(const parser *p)
{
    const uint64_t n = p->rows;
    if (p->symmetry == SYMMETRIC)
        return n * (n + 1) / 2;
    if (p->symmetry == SKEW_SYMMETRIC)
        return n == 0 ? 0 : n * (n - 1) / 2;
    return n * p->columns;
}

/* Rows and columns take memory whether they have entries or not: a line of a few bytes may ask for
 * more than there is. */
static bool fits_in_memory(const parser *p, const char *line)
{
    const double bytes = wfi_csr_fixed_bytes(p->rows, p->columns), most = wfi_physical_memory();
    return bytes <= most ||
           wfi_io_fail(p->error, WFI_IO_NO_MEMORY,
                       "%s:%llu: '%.60s': the rows and columns alone take %.3g GB, and there are "
                       "%.3g GB of memory",
                       p->text.path, (unsigned long long)p->text.line, line, bytes * 1e-9,
                       most * 1e-9);
}

static bool parse_sizes(parser *p)
{
    char *line;
    uint64_t rows = 0, columns = 0;
    if (!next_line(p, &line))
        return false;
    if (!line)
        return bad_input(p, "the file ends before the size line%s", "");
    char *at = line;
    if (!parse_count(&at, &rows) || !parse_count(&at, &columns) ||
        (p->coordinate && !parse_count(&at, &p->count)) || *skip_blanks(at))
        return bad_input(p,
                         p->coordinate
                             ? "the size line must be: rows columns entries (found '%.60s')"
                             : "the size line must be: rows columns (found '%.60s')",
                         line);
    if (rows > MAX_DIMENSION || columns > MAX_DIMENSION)
        return bad_input(p, "more than 2147483647 rows or columns are not supported ('%.60s')",
                         line);
    if (p->symmetry != GENERAL && rows != columns)
        return bad_input(p, "a symmetric matrix must be square ('%.60s')", line);
    p->rows = (uint32_t)rows;
    p->columns = (uint32_t)columns;
    if (!p->coordinate)
        p->count = array_count(p);
    if (p->count > UINT32_MAX)
        return bad_input(p, "more than 4294967295 entries are not supported ('%.60s')", line);
    return fits_in_memory(p, line);
}

/* ------------------------------------------------------------------------------------- entries */

static bool add(parser *p, uint32_t row, uint32_t column, double value)
{
    bool ok = wfi_triplets_add(&p->triplets, row, column, value);
    if (ok && p->symmetry != GENERAL && row != column)
        ok = wfi_triplets_add(&p->triplets, column, row,
                              p->symmetry == SKEW_SYMMETRIC ? -value : value);
    if (ok)
        return true;
    const bool full = p->triplets.count == UINT32_MAX;
    return wfi_io_fail(p->error, full ? WFI_IO_BAD_INPUT : WFI_IO_NO_MEMORY, "%s: %s", p->text.path,
                       full ? "more than 4294967295 entries are not supported" : "out of memory");
}

static bool parse_index(parser *p, char **at, const char *what, uint32_t bound, uint32_t *index)
{
    char *start = skip_blanks(*at);
    char message[128];
    uint64_t value = 0;
    if (!*start) {
        snprintf(message, sizeof message, "a %s index is missing", what);
        return bad_input(p, "%s", message);
    }
    if (!parse_count(at, &value) || value < 1 || value > bound) {
        snprintf(message, sizeof message, "%s index '%.*s' is not between 1 and %u", what,
                 (int)(strcspn(start, " \t") < 40 ? strcspn(start, " \t") : 40), start, bound);
        return bad_input(p, "%s", message);
    }
    *index = (uint32_t)value - 1;
    return true;
}

static bool parse_coordinate(parser *p, char *line)
{
    uint32_t row = 0, column = 0;
    double value = 1;
    if (!parse_index(p, &line, "row", p->rows, &row) ||
        !parse_index(p, &line, "column", p->columns, &column) ||
        (p->field != FIELD_PATTERN && !parse_value(p, &line, &value)) || !end_of_line(p, line))
        return false;
    return add(p, row, column, value);
}

/* Where the next array value belongs; storage goes down the columns. */
typedef struct array_place {
    uint32_t row, column;
} array_place;

static array_place first_place(const parser *p)
{
    return (array_place){p->symmetry == SKEW_SYMMETRIC ? 1 : 0, 0};
}

static void next_place(const parser *p, array_place *place)
{
    if (++place->row < p->rows)
        return;
    place->column++;
    place->row = p->symmetry == GENERAL     ? 0
                 : p->symmetry == SYMMETRIC ? place->column
                                            : place->column + 1;
}

static bool parse_array_value(parser *p, char *line, array_place *place)
{
    double value;
    if (!parse_value(p, &line, &value) || !end_of_line(p, line))
        return false;
    const array_place at = *place;
    next_place(p, place);
    return value == 0 || add(p, at.row, at.column, value);
}

static bool parse_entries(parser *p)
{
    array_place place = first_place(p);
    char counts[96], *line;
    for (uint64_t n = 0; n < p->count; n++) {
        if (!next_line(p, &line))
            return false;
        if (!line) {
            snprintf(counts, sizeof counts, "%llu of %llu", (unsigned long long)n,
                     (unsigned long long)p->count);
            return bad_input(p, "the file ends after %s entries", counts);
        }
        if (!(p->coordinate ? parse_coordinate(p, line) : parse_array_value(p, line, &place)))
            return false;
    }
    if (!next_line(p, &line))
        return false;
    snprintf(counts, sizeof counts, "%llu", (unsigned long long)p->count);
    return !line || bad_input(p, "there are more entries than the %s announced", counts);
}

static bool parse_header(parser *p)
{
    char *line;
    if (!wfi_text_line(&p->text, &line, p->error))
        return false;
    if (!line)
        return wfi_io_fail(p->error, WFI_IO_BAD_INPUT, "%s: the file is empty", p->text.path);
    return parse_banner(p, line) && parse_sizes(p);
}

bool wfi_matrix_market_sizes(const char *path, wfi_matrix_sizes *out, wfi_io_error *error)
{
    parser p = {.error = error};
    if (!wfi_text_open(&p.text, path, error))
        return false;
    const bool ok = parse_header(&p);
    *out = (wfi_matrix_sizes){p.rows, p.columns, p.text.line};
    wfi_text_close(&p.text);
    return ok;
}

bool wfi_matrix_market_read(const char *path, wfi_csr *out, wfi_io_error *error)
{
    parser p = {.error = error};
    if (!wfi_text_open(&p.text, path, error))
        return false;
    bool ok = parse_header(&p) && parse_entries(&p);
    wfi_text_close(&p.text);
    if (ok && !wfi_csr_from_triplets(&p.triplets, p.rows, p.columns, out))
        ok = wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory for %u rows and %u columns",
                         path, p.rows, p.columns);
    wfi_triplets_free(&p.triplets);
    for (uint32_t i = 0; ok && i < out->entries; i++)
        if (!isfinite(out->values[i])) {
            wfi_csr_free(out);
            return wfi_io_fail(error, WFI_IO_BAD_INPUT,
                               "%s: duplicate entries add up beyond a 64-bit float", path);
        }
    return ok;
}
