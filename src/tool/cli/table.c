#include "tool/cli/table.h"

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

void wfi_table_headings(wfi_table *table, const char *const *headings, int count)
{
    wfi_table_row(table);
    for (int column = 0; column < count; column++)
        wfi_table_set(table, 0, column, "%s", headings[column]);
}

static int row_columns(const wfi_table *table, int row)
{
    int columns = table->columns;
    while (columns > 0 && !*table->cells[row][columns - 1])
        columns--;
    return columns;
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
        const int columns = row_columns(table, row);
        for (int column = 0; column < columns; column++) {
            const char *cell = table->cells[row][column], *gap = column ? "  " : "";
            if (table->right & 1u << column)
                printf("%s%*s", gap, width[column], cell);
            else /* nothing trails the last */
                printf("%s%-*s", gap, column + 1 < columns ? width[column] : 0, cell);
        }
        putchar('\n');
    }
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
    static const char *const units[][3] = {
        {"MFLOPS", "GFLOPS", "TFLOPS"}, {"MOPS", "GOPS", "TOPS"}, {"MB/s", "GB/s", "TB/s"}};
    if (strcmp(unit, "us") == 0) {
        wfi_format_time(value, text, bytes);
        return;
    }
    for (size_t family = 0; family < sizeof units / sizeof *units; family++)
        for (int i = 0; i < 3; i++) {
            if (strcmp(unit, units[family][i]) != 0)
                continue;
            for (; i < 2 && value >= 9999.5; i++)
                value /= 1e3;
            for (; i > 0 && value > 0 && value < 1; i--)
                value *= 1e3;
            unit = units[family][i];
            i = 2;
        }
    snprintf(text, bytes, "%.4g %s", value, unit);
}

void wfi_format_plan(const wf_plan_info *plan, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "%s", plan->variant ? plan->variant : "");
    for (uint32_t i = 0; i < plan->constant_count && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, " %s=%u", plan->constants[i].name,
                                 plan->constants[i].value);
}

void wfi_format_percent(double percent, char *text, size_t bytes)
{
    snprintf(text, bytes, percent >= 0.1 || percent <= 0 ? "%.1f %%" : "%.2g %%", percent);
}
