#include "tool/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int wfi_table_row(wfi_table *table)
{
    if (table->rows < WFI_MAX_ROWS)
        table->rows++;
    for (int column = 0; column < table->columns; column++)
        table->cells[table->rows - 1][column][0] = '\0';
    return table->rows - 1;
}

void wfi_table_set(wfi_table *table, int row, int column, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(table->cells[row][column], WFI_CELL_BYTES, format, args);
    va_end(args);
}

void wfi_table_print(const wfi_table *table)
{
    int width[WFI_MAX_COLUMNS] = {0};
    for (int row = 0; row < table->rows; row++)
        for (int column = 0; column < table->columns; column++) {
            const int length = (int)strlen(table->cells[row][column]);
            if (length > width[column])
                width[column] = length;
        }
    for (int row = 0; row < table->rows; row++) {
        for (int column = 0; column < table->columns; column++) {
            const char *cell = table->cells[row][column];
            if (column == table->columns - 1 && !(table->right & 1u << column))
                printf("%s", cell); /* nothing trails the last */
            else
                printf("%*s%s", table->right & 1u << column ? width[column] : -width[column], cell,
                       column + 1 < table->columns ? "  " : "");
        }
        putchar('\n');
    }
}

void wfi_format_time(double microseconds, char *text, size_t bytes)
{
    if (microseconds < 1e3)
        snprintf(text, bytes, "%.4g us", microseconds);
    else if (microseconds < 1e6)
        snprintf(text, bytes, "%.4g ms", microseconds * 1e-3);
    else
        snprintf(text, bytes, "%.4g s", microseconds * 1e-6);
}

void wfi_format_bytes(double value, char *text, size_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; value >= 1024 && unit < 4; unit++)
        value /= 1024;
    snprintf(text, bytes, "%.4g %s", value, units[unit]);
}

void wfi_format_rate(double value, const char *unit, char *text, size_t bytes)
{
    static const char *const units[] = {"MFLOPS", "GFLOPS", "TFLOPS"};
    if (strcmp(unit, "GOPS") == 0 && value >= 9999.5) {
        value /= 1e3;
        unit = "TOPS";
    }
    for (int i = 0; i < 2; i++)
        if (strcmp(unit, units[i]) == 0 && value >= 9999.5) {
            value /= 1e3;
            unit = units[i + 1];
        }
    snprintf(text, bytes, "%.4g %s", value, unit);
}
