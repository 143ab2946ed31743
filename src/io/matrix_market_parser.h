/* What the parts of the reader of Matrix Market files share. */
#ifndef WFI_IO_MATRIX_MARKET_PARSER_H
#define WFI_IO_MATRIX_MARKET_PARSER_H

#include "io/csr.h"
#include "io/text_reader.h"

typedef enum wfi_mm_field { FIELD_REAL, FIELD_INTEGER, FIELD_PATTERN, FIELD_COMPLEX } wfi_mm_field;
typedef enum wfi_mm_symmetry { GENERAL, SYMMETRIC, SKEW_SYMMETRIC, HERMITIAN } wfi_mm_symmetry;

typedef struct wfi_mm_parser {
    wfi_text_reader text;
    wfi_io_error *error;
    bool coordinate;
    wfi_mm_field field;
    wfi_mm_symmetry symmetry;
    uint32_t rows, columns;
    uint64_t count; /* entries in the file, by its size line */
    wfi_triplets triplets;
} wfi_mm_parser;

/* "path:line: " and the message, whose format takes the value; false. */
bool wfi_mm_bad_input(wfi_mm_parser *p, const char *format, const char *value);
/* The next line that is neither blank nor a comment; *line NULL at the end. */
bool wfi_mm_next_line(wfi_mm_parser *p, char **line);
char *wfi_mm_skip_blanks(char *at);
/* A non-negative integer; false when there is none or it is over 2^63. */
bool wfi_mm_parse_count(char **at, uint64_t *value);

/* matrix_market_entries.c: all entries behind the header, one line after another. */
bool wfi_mm_parse_entries(wfi_mm_parser *p);
/* The same of a coordinate matrix in at most `threads` pieces of at least `least_bytes`, each by a
 * thread. False where that cannot be or where anything is wrong with a line: then the other reader
 * is to begin anew, and finds what it is. */
bool wfi_mm_parse_in_pieces(wfi_mm_parser *p, unsigned threads, uint64_t least_bytes);

#endif
