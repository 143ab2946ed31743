/* How the readers and writers of files fail: a kind, and one line that names file, line and
 * value. */
#ifndef WFI_IO_IO_ERROR_H
#define WFI_IO_IO_ERROR_H

#include <stdbool.h>

typedef enum wfi_io_kind {
    WFI_IO_OK = 0,
    WFI_IO_BAD_INPUT,   /* the content breaks the format */
    WFI_IO_UNSUPPORTED, /* allowed by the format, but wavefit does not do it */
    WFI_IO_SYSTEM,      /* opening, reading, writing: strerror is in the text */
    WFI_IO_NO_MEMORY
} wfi_io_kind;

typedef struct wfi_io_error {
    wfi_io_kind kind;
    char text[1024];
} wfi_io_error;

#if defined(__GNUC__)
#define WFI_IO_PRINTF(format_at, args_at) __attribute__((format(printf, format_at, args_at)))
#else
#define WFI_IO_PRINTF(format_at, args_at)
#endif

/* Fills *error. Control characters in what the format brings along (file content) are replaced: the
 * text stays one line. */
void wfi_io_set_error(wfi_io_error *error, wfi_io_kind kind, const char *format, ...)
    WFI_IO_PRINTF(3, 4);

/* The same, and gives false, so that a failure is one statement. A macro, so that an analyser of
 * one file sees that it is false. */
#define wfi_io_fail(error, kind, ...) (wfi_io_set_error((error), (kind), __VA_ARGS__), false)

#endif
