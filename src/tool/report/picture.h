/* Fields as pictures. */
#ifndef WFI_TOOL_REPORT_PICTURE_H
#define WFI_TOOL_REPORT_PICTURE_H

#include "io/io_error.h"
#include "wavefit/wavefit.h"

/* Writes height rows of width elements as a PNG, the smallest value black, the largest white,
 * between them a colour map of steadily growing brightness. */
bool wfi_picture_write(const char *path, wf_type type, uint32_t width, uint32_t height,
                       const void *field, wfi_io_error *error);

#endif
