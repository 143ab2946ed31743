#include "tool/report/picture.h"

#include <math.h>
#include <stdlib.h>

#include "io/png_image.h"

#define PI 3.14159265358979323846

static uint8_t byte_of(double value)
{
    return (uint8_t)lround(fmin(fmax(value, 0), 1) * 255);
}

/* D. A. Green, A colour scheme for the display of astronomical intensity images (2011): a
 * helix around the greys from black to white, here started at blue (0.5), 1.5 turns back, hue
 * 1, gamma 1. */
static void fill_palette(uint8_t palette[256][3])
{
    for (int i = 0; i < 256; i++) {
        const double grey = i / 255.0, angle = 2 * PI * (0.5 / 3 + 1 - 1.5 * grey),
                     amplitude = grey * (1 - grey) / 2, c = cos(angle), s = sin(angle);
        palette[i][0] = byte_of(grey + amplitude * (-0.14861 * c + 1.78277 * s));
        palette[i][1] = byte_of(grey + amplitude * (-0.29227 * c - 0.90649 * s));
        palette[i][2] = byte_of(grey + amplitude * 1.97294 * c);
    }
}

bool wfi_picture_write(const char *path, wf_type type, uint32_t width, uint32_t height,
                       const void *field, wfi_io_error *error)
{
    uint8_t palette[256][3];
    const size_t count = width * (size_t)height;
    uint8_t *indices = malloc(count);
    double least = INFINITY, most = -INFINITY;
    if (!indices)
        return wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    for (size_t i = 0; i < count; i++) {
        const double value = wf_element_get(type, field, i);
        least = fmin(least, value);
        most = fmax(most, value);
    }
    const double range = most > least ? most - least : 1;
    for (size_t i = 0; i < count; i++)
        indices[i] = byte_of((wf_element_get(type, field, i) - least) / range);
    fill_palette(palette);
    const bool ok =
        wfi_png_write(path, width, height, indices, (const uint8_t(*)[3])palette, error);
    free(indices);
    return ok;
}
