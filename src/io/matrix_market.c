#include "io/matrix_market.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform.h"
#include "core/text.h"
#include "io/matrix_market_parser.h"
#include "io/memory.h"

#define MAX_DIMENSION 2147483647u
#define LEAST_PIECE_BYTES ((uint64_t)1 << 20) /* that is worth a thread */
#define MOST_THREADS 64u

/* -------------------------------------------------------------------------------------- banner */

/* The index of `word` (any case) in names, or -1. */
static int find_word(const char *word, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (wfi_same_word(word, names[i]))
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

static bool parse_banner(wfi_mm_parser *p, char *line)
{
    static const char *const banners[] = {"%%matrixmarket"}, *const objects[] = {"matrix"},
                             *const formats[] = {"coordinate", "array"},
                             *const fields[] = {"real",    "integer", "pattern",
                                                "complex", "double",  "unsigned-integer"},
                             *const symmetries[] = {"general", "symmetric", "skew-symmetric",
                                                    "hermitian"};
    char *word[6];
    for (int i = 0; i < 6; i++)
        word[i] = next_word(&line);
    if (!word[0] || find_word(word[0], banners, 1) < 0)
        return wfi_mm_bad_input(p,
                                "the first line must begin with %%%%MatrixMarket (found '%.60s')",
                                word[0] ? word[0] : "");
    if (!word[4])
        return wfi_mm_bad_input(p, "the banner must have five words%s", "");
    if (word[5])
        return wfi_mm_bad_input(p, "text after the banner ('%.60s')", word[5]);
    if (find_word(word[1], objects, 1) < 0)
        return wfi_mm_bad_input(p, "the object must be 'matrix' (found '%.60s')", word[1]);
    const int format = find_word(word[2], formats, 2), of = find_word(word[3], fields, 6),
              kind = find_word(word[4], symmetries, 4);
    if (format < 0)
        return wfi_mm_bad_input(p, "the format must be coordinate or array (found '%.60s')",
                                word[2]);
    if (of < 0)
        return wfi_mm_bad_input(p, "the field must be real, integer or pattern (found '%.60s')",
                                word[3]);
    if (kind < 0)
        return wfi_mm_bad_input(
            p, "the symmetry must be general, symmetric or skew-symmetric (found '%.60s')",
            word[4]);
    if (of == FIELD_COMPLEX)
        return wfi_io_fail(
            p->error, WFI_IO_UNSUPPORTED,
            "%s:%llu: complex matrices are not supported; write the real part by itself, "
            "as scipy.io.mmwrite(file, matrix.real) does",
            p->text.path, (unsigned long long)p->text.line);
    p->coordinate = format == 0;
    /* SciPy writes the last one, others the one before. */
    p->field = of == 5 ? FIELD_INTEGER : of == 4 ? FIELD_REAL : (wfi_mm_field)of;
    p->symmetry = (wfi_mm_symmetry)kind;
    if (p->field == FIELD_PATTERN && (!p->coordinate || kind > SYMMETRIC))
        return wfi_mm_bad_input(
            p, "a pattern matrix must be coordinate, and general or symmetric%s", "");
    if (p->symmetry == HERMITIAN) /* of real values: the same as symmetric */
        p->symmetry = SYMMETRIC;
    return true;
}

/* ---------------------------------------------------------------------------------------- sizes */

/* Values that array storage holds: all, one triangle, or one without the diagonal. */
static uint64_t array_count(const wfi_mm_parser *p)
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
static bool fits_in_memory(const wfi_mm_parser *p, const char *line)
{
    const double bytes = wfi_csr_fixed_bytes(p->rows, p->columns), most = wfi_physical_memory();
    return bytes <= most ||
           wfi_io_fail(p->error, WFI_IO_NO_MEMORY,
                       "%s:%llu: '%.60s': the rows and columns alone take %.3g GB, and there are "
                       "%.3g GB of memory",
                       p->text.path, (unsigned long long)p->text.line, line, bytes * 1e-9,
                       most * 1e-9);
}

static bool parse_sizes(wfi_mm_parser *p)
{
    char *line;
    uint64_t rows = 0, columns = 0;
    if (!wfi_mm_next_line(p, &line))
        return false;
    if (!line)
        return wfi_mm_bad_input(p, "the file ends before the size line%s", "");
    char *at = line;
    if (!wfi_mm_parse_count(&at, &rows) || !wfi_mm_parse_count(&at, &columns) ||
        (p->coordinate && !wfi_mm_parse_count(&at, &p->count)) || *wfi_mm_skip_blanks(at))
        return wfi_mm_bad_input(p,
                                p->coordinate
                                    ? "the size line must be: rows columns entries (found '%.60s')"
                                    : "the size line must be: rows columns (found '%.60s')",
                                line);
    if (rows > MAX_DIMENSION || columns > MAX_DIMENSION)
        return wfi_mm_bad_input(
            p, "more than 2147483647 rows or columns are not supported ('%.60s')", line);
    if (p->symmetry != GENERAL && rows != columns)
        return wfi_mm_bad_input(p, "a symmetric matrix must be square ('%.60s')", line);
    p->rows = (uint32_t)rows;
    p->columns = (uint32_t)columns;
    if (!p->coordinate)
        p->count = array_count(p);
    if (p->count > UINT32_MAX)
        return wfi_mm_bad_input(p, "more than 4294967295 entries are not supported ('%.60s')",
                                line);
    return fits_in_memory(p, line);
}

static bool parse_header(wfi_mm_parser *p)
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
    wfi_mm_parser p = {.error = error};
    if (!wfi_text_open(&p.text, path, error))
        return false;
    const bool ok = parse_header(&p);
    *out = (wfi_matrix_sizes){p.rows, p.columns, p.text.line};
    wfi_text_close(&p.text);
    return ok;
}

/* Processors that this process may use. */
static unsigned processors(void)
{
    const uint32_t count = wfi_processors();
    return count > MOST_THREADS ? MOST_THREADS : count;
}

static bool read_triplets(wfi_mm_parser *p, const char *path, unsigned threads,
                          uint64_t least_piece, bool *in_pieces)
{
    if (!wfi_text_open(&p->text, path, p->error))
        return false;
    bool ok = parse_header(p);
    *in_pieces = ok && threads > 1 && wfi_mm_parse_in_pieces(p, threads, least_piece);
    ok = ok && (*in_pieces || wfi_mm_parse_entries(p));
    wfi_text_close(&p->text);
    return ok;
}

bool wfi_matrix_market_read_with(const char *path, unsigned threads, uint64_t least_piece,
                                 wfi_csr *out, bool *in_pieces, wfi_io_error *error)
{
    wfi_mm_parser p = {.error = error};
    bool ok = read_triplets(&p, path, threads, least_piece, in_pieces);
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

bool wfi_matrix_market_read(const char *path, wfi_csr *out, wfi_io_error *error)
{
    bool in_pieces;
    return wfi_matrix_market_read_with(path, processors(), LEAST_PIECE_BYTES, out, &in_pieces,
                                       error);
}
