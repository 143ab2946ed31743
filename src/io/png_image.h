/* PNG images of up to 256 colours, by libpng. */
#ifndef WFI_IO_PNG_IMAGE_H
#define WFI_IO_PNG_IMAGE_H

#include <stdint.h>

#include "io/io_error.h"

/* False: wavefit was built without libpng. */
bool wfi_png_available(void);

/* indices: height rows of width entries of the palette (red, green, blue). The file appears whole
 * or not at all. */
bool wfi_png_write(const char *path, uint32_t width, uint32_t height, const uint8_t *indices,
                   const uint8_t palette[256][3], wfi_io_error *error);

#endif
