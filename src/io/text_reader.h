/* Lines of a text file, plain or gzip-compressed (told apart by content). */
#ifndef WFI_IO_TEXT_READER_H
#define WFI_IO_TEXT_READER_H

#include <stddef.h>
#include <stdint.h>

#include "io/io_error.h"

typedef struct wfi_text_reader {
    const char *path; /* for messages; not owned */
    uint64_t line;    /* number of the line last read, from 1 */
    void *file;       /* gzFile; NULL: a range of a plain file */
    int fd;           /* of a range: from `at` to `last` */
    uint64_t at, last;
    char *buffer;
    size_t begin, end; /* what is buffered and not yet given out; a NUL byte is behind it */
    bool at_end;
} wfi_text_reader;

bool wfi_text_open(wfi_text_reader *reader, const char *path, wfi_io_error *error);
/* The bytes from `first` to `last` of a plain file; its descriptor stays the caller's. */
bool wfi_text_open_range(wfi_text_reader *reader, const char *path, int fd, uint64_t first,
                         uint64_t last, wfi_io_error *error);
/* Where the next line begins in a file that is not compressed; UINT64_MAX for one that is. */
uint64_t wfi_text_offset(const wfi_text_reader *reader);
void wfi_text_close(wfi_text_reader *reader);

/* The next line without its end (LF or CR LF), NUL-terminated, valid until the next call; *text is
 * NULL at the end of the file. Lines of 1 MiB and more and NUL bytes are bad input. */
bool wfi_text_line(wfi_text_reader *reader, char **text, wfi_io_error *error);

#endif
