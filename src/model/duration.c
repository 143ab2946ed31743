#include "model/duration.h"

#include <stdio.h>

void wfi_format_time(double microseconds, char *text, size_t bytes)
{
    /* From 999.95 on four digits would round to the next unit's first. */
    if (microseconds < 999.95)
        snprintf(text, bytes, "%.4g us", microseconds);
    else if (microseconds < 999.95e3)
        snprintf(text, bytes, "%.4g ms", microseconds * 1e-3);
    else if (microseconds < 9999.5e6)
        snprintf(text, bytes, "%.4g s", microseconds * 1e-6);
    else
        snprintf(text, bytes, "%.0f s", microseconds * 1e-6);
}

void wfi_format_bytes(double value, char *text, size_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; value >= 1024 && unit < 4; unit++)
        value /= 1024;
    snprintf(text, bytes, "%.4g %s", value, units[unit]);
}
