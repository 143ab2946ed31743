/* The entries of a Matrix Market file: numbers, lines, and pieces of the file read at once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

#include "core/platform.h"
#include "core/platform_file.h"
#include "io/matrix_market_parser.h"

#define USUAL_BYTES 128 /* from which a line is looked for in what is buffered */

/* "path:line: " and the message. */
bool wfi_mm_bad_input(wfi_mm_parser *p, const char *format, const char *value)
{
    char message[512];
    snprintf(message, sizeof message, format, value);
    return wfi_io_fail(p->error, WFI_IO_BAD_INPUT, "%s:%llu: %s", p->text.path,
                       (unsigned long long)p->text.line, message);
}

/* ------------------------------------------------------------------------------------- numbers */

char *wfi_mm_skip_blanks(char *at)
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
bool wfi_mm_parse_count(char **at, uint64_t *value)
{
    char *c = wfi_mm_skip_blanks(*at);
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

static bool parse_any_value(wfi_mm_parser *p, char **at, double *value)
{
    char *start = wfi_mm_skip_blanks(*at), *end = start;
    /* strtod takes hexadecimal, "inf" and "nan" too; the format has none of them. */
    const size_t plain = strspn(start, "+-.0123456789eEdD");
    if (!*start)
        return wfi_mm_bad_input(p, "a value is missing%s", "");
    if (!ends_word(start[plain]))
        return wfi_mm_bad_input(p, "'%.60s' is not a finite number", start);
    for (char *c = start; c < start + plain; c++)
        if (*c == 'd' || *c == 'D') /* Fortran's exponent */
            *c = 'e';
    *value = strtod(start, &end);
    if (end != start + plain || end == start)
        return wfi_mm_bad_input(p, "'%.60s' is not a number", start);
    if (!isfinite(*value))
        return wfi_mm_bad_input(p, "'%.60s' is too large for a 64-bit float", start);
    if (p->field == FIELD_INTEGER && strcspn(start, ".eE") < plain)
        return wfi_mm_bad_input(p, "'%.60s' is not an integer", start);
    *at = end;
    return true;
}

/* A number as JSON has them too, which most are: yyjson rounds it correctly, and is faster than
 * strtod. NULL for all others, right or wrong; else where it ends. */
static const char *plain_value(const wfi_mm_parser *p, const char *start, double *value)
{
    yyjson_val number;
    const char *const end = yyjson_read_number(start, &number, 0, NULL, NULL);
    if (!end || (yyjson_is_real(&number) && p->field == FIELD_INTEGER))
        return NULL;
    *value = yyjson_get_num(&number);
    if (*start == '-' && *value >= 0) /* as an integer it has lost its sign */
        *value = -0.0;
    return end;
}

static bool parse_plain_value(const wfi_mm_parser *p, char **at, double *value)
{
    const char *const end = plain_value(p, *at, value);
    if (!end || !ends_word(*end))
        return false;
    *at += end - *at;
    return true;
}

static bool parse_value(wfi_mm_parser *p, char **at, double *value)
{
    *at = wfi_mm_skip_blanks(*at);
    return parse_plain_value(p, at, value) || parse_any_value(p, at, value);
}

static bool end_of_line(wfi_mm_parser *p, char *at)
{
    at = wfi_mm_skip_blanks(at);
    return !*at || wfi_mm_bad_input(p, "text after the entry ('%.60s')", at);
}

/* The next line that is neither blank nor a comment; *line NULL at the end. */
bool wfi_mm_next_line(wfi_mm_parser *p, char **line)
{
    do {
        if (!wfi_text_line(&p->text, line, p->error))
            return false;
    } while (*line && (*wfi_mm_skip_blanks(*line) == '%' || !*wfi_mm_skip_blanks(*line)));
    return true;
}

/* ------------------------------------------------------------------------------------- entries */

static bool add(wfi_mm_parser *p, uint32_t row, uint32_t column, double value)
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

static bool parse_index(wfi_mm_parser *p, char **at, const char *what, uint32_t bound,
                        uint32_t *index)
{
    char *start = wfi_mm_skip_blanks(*at);
    char message[128];
    uint64_t value = 0;
    if (!*start) {
        snprintf(message, sizeof message, "a %s index is missing", what);
        return wfi_mm_bad_input(p, "%s", message);
    }
    if (!wfi_mm_parse_count(at, &value) || value < 1 || value > bound) {
        snprintf(message, sizeof message, "%s index '%.*s' is not between 1 and %u", what,
                 (int)(strcspn(start, " \t") < 40 ? strcspn(start, " \t") : 40), start, bound);
        return wfi_mm_bad_input(p, "%s", message);
    }
    *index = (uint32_t)value - 1;
    return true;
}

static bool parse_coordinate(wfi_mm_parser *p, char *line)
{
    uint32_t row = 0, column = 0;
    double value = 1;
    if (!parse_index(p, &line, "row", p->rows, &row) ||
        !parse_index(p, &line, "column", p->columns, &column) ||
        (p->field != FIELD_PATTERN && !parse_value(p, &line, &value)) || !end_of_line(p, line))
        return false;
    return add(p, row, column, value);
}

/* An index and the blank behind it; NULL where it is another thing. */
static const char *usual_index(const char *at, uint32_t bound, uint32_t *index)
{
    uint64_t value = 0;
    for (int i = 0; i < 10 && *at >= '0' && *at <= '9'; i++, at++)
        value = value * 10 + (uint64_t)(*at - '0');
    *index = (uint32_t)value - 1;
    return value < 1 || value > bound || *at != ' ' ? NULL : at + 1;
}

/* An entry as most files have them, "12 34 5.6" and the end of the line, read where it lies in the
 * buffer. False: the line is another, and nothing was read. */
static bool parse_usual(wfi_mm_parser *p, bool *ok)
{
    wfi_text_reader *const t = &p->text;
    uint32_t row, column;
    double value;
    if (t->end - t->begin < USUAL_BYTES || p->field == FIELD_PATTERN)
        return false;
    const char *at = usual_index(t->buffer + t->begin, p->rows, &row);
    at = at ? usual_index(at, p->columns, &column) : NULL;
    at = at ? plain_value(p, at, &value) : NULL;
    at = at && *at == '\r' ? at + 1 : at;
    if (!at || *at != '\n')
        return false;
    t->line++;
    t->begin = (size_t)(at + 1 - t->buffer);
    *ok = add(p, row, column, value);
    return true;
}

/* Where the next array value belongs; storage goes down the columns. */
typedef struct array_place {
    uint32_t row, column;
} array_place;

static array_place first_place(const wfi_mm_parser *p)
{
    return (array_place){p->symmetry == SKEW_SYMMETRIC ? 1 : 0, 0};
}

static void next_place(const wfi_mm_parser *p, array_place *place)
{
    if (++place->row < p->rows)
        return;
    place->column++;
    place->row = p->symmetry == GENERAL     ? 0
                 : p->symmetry == SYMMETRIC ? place->column
                                            : place->column + 1;
}

static bool parse_array_value(wfi_mm_parser *p, char *line, array_place *place)
{
    double value;
    if (!parse_value(p, &line, &value) || !end_of_line(p, line))
        return false;
    const array_place at = *place;
    next_place(p, place);
    return value == 0 || add(p, at.row, at.column, value);
}

bool wfi_mm_parse_entries(wfi_mm_parser *p)
{
    array_place place = first_place(p);
    char counts[96], *line;
    for (uint64_t n = 0; n < p->count; n++) {
        bool ok;
        if (p->coordinate && parse_usual(p, &ok)) {
            if (!ok)
                return false;
            continue;
        }
        if (!wfi_mm_next_line(p, &line))
            return false;
        if (!line) {
            snprintf(counts, sizeof counts, "%llu of %llu", (unsigned long long)n,
                     (unsigned long long)p->count);
            return wfi_mm_bad_input(p, "the file ends after %s entries", counts);
        }
        if (!(p->coordinate ? parse_coordinate(p, line) : parse_array_value(p, line, &place)))
            return false;
    }
    if (!wfi_mm_next_line(p, &line))
        return false;
    snprintf(counts, sizeof counts, "%llu", (unsigned long long)p->count);
    return !line || wfi_mm_bad_input(p, "there are more entries than the %s announced", counts);
}

/* ------------------------------------------------------------------------------ pieces at once */

typedef struct piece {
    wfi_mm_parser parser;
    wfi_io_error error;
    wfi_thread thread;
    bool started, ok;
    uint64_t count;   /* of lines with an entry */
    wfi_triplets *to; /* all entries, of which this piece's begin at `at` */
    size_t at;
} piece;

static bool parse_lines(piece *c)
{
    char *line;
    bool ok = true;
    for (;;) {
        if (!parse_usual(&c->parser, &ok)) {
            if (!wfi_mm_next_line(&c->parser, &line))
                return false;
            if (!line)
                return true;
            ok = parse_coordinate(&c->parser, line);
        }
        if (!ok)
            return false;
        c->count++;
    }
}

static void *parse_piece(void *memory)
{
    piece *c = memory;
    c->ok = parse_lines(c);
    return NULL;
}

/* Where the line behind the one at `offset` begins; `last` where there is none. */
static uint64_t next_line_at(int fd, uint64_t offset, uint64_t last)
{
    char text[4096];
    while (offset < last) {
        const int64_t got = wfi_file_read_at(fd, text, sizeof text, offset);
        const char *newline = got > 0 ? memchr(text, '\n', (size_t)got) : NULL;
        if (newline)
            return offset + (uint64_t)(newline - text) + 1;
        if (got <= 0)
            break;
        offset += (uint64_t)got;
    }
    return last;
}

/* Gives each piece its lines. */
static bool open_pieces(const wfi_mm_parser *p, int fd, uint64_t first, uint64_t last,
                        piece *pieces, unsigned count)
{
    uint64_t begin = first;
    for (unsigned i = 0; i < count; i++) {
        piece *c = &pieces[i];
        const uint64_t border = first + (last - first) / count * (i + 1);
        const uint64_t end = i + 1 < count && border > begin ? next_line_at(fd, border - 1, last)
                             : i + 1 < count                 ? begin
                                                             : last;
        c->parser = *p;
        c->parser.error = &c->error;
        c->parser.triplets = (wfi_triplets){.stopped = p->triplets.stopped};
        if (!wfi_text_open_range(&c->parser.text, p->text.path, fd, begin, end, &c->error))
            return false;
        begin = end;
    }
    return true;
}

/* Puts a piece's entries where they belong among all, by the thread that then gets the pages. */
static void *place_piece(void *memory)
{
    const piece *c = memory;
    wfi_triplets_put(c->to, c->at, &c->parser.triplets);
    return NULL;
}

/* The first piece is the caller's own work, as is one for which no thread can be had. */
static void run_pieces(piece *pieces, unsigned count, void *(*run)(void *memory))
{
    for (unsigned i = 1; i < count; i++)
        pieces[i].started = wfi_thread_start(&pieces[i].thread, run, &pieces[i]);
    for (unsigned i = 0; i < count; i++)
        if (!pieces[i].started)
            run(&pieces[i]);
    for (unsigned i = 1; i < count; i++)
        if (pieces[i].started)
            wfi_thread_join(pieces[i].thread);
}

/* All pieces' entries in the order of the file, where every line was right and they are as many as
 * the header says. */
static bool join_pieces(wfi_mm_parser *p, piece *pieces, unsigned count)
{
    uint64_t lines = 0;
    for (unsigned i = 0; i < count; i++) {
        lines += pieces[i].count;
        if (!pieces[i].ok)
            return false;
    }
    size_t entries = 0;
    for (unsigned i = 0; i < count; i++) {
        pieces[i].to = &p->triplets;
        pieces[i].at = entries;
        entries += pieces[i].parser.triplets.count;
    }
    if (lines != p->count || !wfi_triplets_make_room(&p->triplets, entries))
        return false;
    run_pieces(pieces, count, place_piece);
    p->triplets.count = entries;
    return true;
}

static bool parse_range(wfi_mm_parser *p, int fd, uint64_t first, uint64_t last, unsigned count)
{
    piece *pieces = calloc(count, sizeof *pieces);
    bool ok = pieces && open_pieces(p, fd, first, last, pieces, count);
    if (ok) {
        run_pieces(pieces, count, parse_piece);
        ok = join_pieces(p, pieces, count);
    }
    for (unsigned i = 0; pieces && i < count; i++) {
        wfi_text_close(&pieces[i].parser.text);
        wfi_triplets_free(&pieces[i].parser.triplets);
    }
    free(pieces);
    if (!ok)
        wfi_triplets_free(&p->triplets);
    return ok;
}

bool wfi_mm_parse_in_pieces(wfi_mm_parser *p, unsigned threads, uint64_t least_bytes)
{
    uint64_t last = 0;
    const char *const path = p->text.path;
    const uint64_t first = wfi_text_offset(&p->text);
    /* A pipe must not even be opened again. */
    const bool regular =
        p->coordinate && first != UINT64_MAX && wfi_file_kind_of(path) == WFI_FILE_REGULAR;
    const int fd = regular ? wfi_file_open_read(path, false) : -1;
    bool ok = fd >= 0 && wfi_file_kind_of_open(fd, &last) == WFI_FILE_REGULAR && last > first;
    if (ok) {
        const uint64_t most = (last - first) / least_bytes;
        const unsigned count = most < threads ? (unsigned)most : threads;
        ok = count > 1 && parse_range(p, fd, first, last, count);
    }
    if (fd >= 0)
        wfi_file_close(fd);
    return ok;
}
