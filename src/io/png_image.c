#include "io/png_image.h"

#ifdef WFI_HAVE_PNG

#include <errno.h>
#include <string.h>

#include <png.h>

#include "io/atomic_file.h"

bool wfi_png_available(void)
{
    return true;
}

bool wfi_png_write(const char *path, uint32_t width, uint32_t height, const uint8_t *indices,
                   const uint8_t palette[256][3], wfi_io_error *error)
{
    wfi_atomic_file out;
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = width,
                       .height = height,
                       .format = PNG_FORMAT_RGB_COLORMAP,
                       .colormap_entries = 256};
    if (!wfi_atomic_open(&out, path, error))
        return false;
    if (!png_image_write_to_stdio(&image, out.file, 0, indices, (png_int_32)width, palette)) {
        wfi_io_set_error(error, WFI_IO_SYSTEM, "%s: cannot be written: %s", path,
                         ferror(out.file) && errno ? strerror(errno) : image.message);
        wfi_atomic_abandon(&out);
        return false;
    }
    return wfi_atomic_commit(&out, error);
}

#else

bool wfi_png_available(void)
{
    return false;
}

bool wfi_png_write(const char *path, uint32_t width, uint32_t height, const uint8_t *indices,
                   const uint8_t palette[256][3], wfi_io_error *error)
{
    (void)width;
    (void)height;
    (void)indices;
    (void)palette;
    return wfi_io_fail(error, WFI_IO_UNSUPPORTED, "%s: wavefit was built without libpng", path);
}

#endif
