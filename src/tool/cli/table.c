#include "tool/cli/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/cli/wrap.h"

/* Over a megabyte, which the program's file would have of each table that is not all zero. */
struct wfi_table_text {
    char cells[WFI_MAX_ROWS][WFI_MAX_COLUMNS][WFI_CELL_BYTES];
    char notes[WFI_MAX_ROWS][WFI_NOTE_BYTES];
    int note_columns[WFI_MAX_ROWS];
};

int wfi_table_row(wfi_table *table)
{
    static struct wfi_table_text reserve; /* where memory is short, the tables of a run share it */
    if (!table->text)
        table->text = calloc(1, sizeof *table->text);
    if (!table->text)
        table->text = &reserve;
    if (table->rows < WFI_MAX_ROWS)
        table->rows++;
    for (int column = 0; column < table->columns; column++)
        table->text->cells[table->rows - 1][column][0] = '\0';
    table->text->notes[table->rows - 1][0] = '\0';
    return table->rows - 1;
}

void wfi_table_set(wfi_table *table, int row, int column, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(table->text->cells[row][column], WFI_CELL_BYTES, format, args);
    va_end(args);
}

void wfi_table_note(wfi_table *table, int row, int column, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(table->text->notes[row], WFI_NOTE_BYTES, format, args);
    va_end(args);
    table->text->note_columns[row] = column;
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
    while (columns > 0 && !*table->text->cells[row][columns - 1])
        columns--;
    return columns;
}

/* Columns of text before a column of the table. */
static int begin_of(const int *width, int column)
{
    int begin = 0;
    for (int before = 0; before < column; before++)
        begin += width[before] + 2;
    return begin;
}

/* Prints the cell, and where it is the last of the row ends the line. */
static void print_cell(const wfi_table *table, const int *width, int row, int column, bool last)
{
    const char *cell = table->text->cells[row][column];
    const int pad = width[column] - wfi_columns(cell);
    const bool right = table->right & 1u << column;
    printf("%s%*s", column ? "  " : "", right ? pad : 0, "");
    if (last) /* nothing trails it */
        wfi_wrap(begin_of(width, column) + (right ? pad : 0), begin_of(width, column), cell);
    else
        printf("%s%*s", cell, right ? 0 : pad, "");
}

static void print_row(const wfi_table *table, const int *width, int row)
{
    const int columns = row_columns(table, row), at = table->text->note_columns[row];
    const bool noted = *table->text->notes[row], beside = noted && at >= columns;
    const int begin = begin_of(width, at);
    for (int column = 0; column < columns; column++)
        print_cell(table, width, row, column, column + 1 == columns && !beside);
    if (!noted)
        return;
    printf("%*s", beside ? begin - begin_of(width, columns) + (columns ? 2 : 0) : begin, "");
    wfi_wrap(begin, begin, table->text->notes[row]);
}

void wfi_table_print(const wfi_table *table)
{
    int width[WFI_MAX_COLUMNS] = {0};
    for (int row = 0; row < table->rows; row++)
        for (int column = 0; column < table->columns; column++) {
            const int length = wfi_columns(table->text->cells[row][column]);
            if (length > width[column])
                width[column] = length;
        }
    for (int row = 0; row < table->rows; row++)
        print_row(table, width, row);
}

void wfi_format_rate(double value, const char *unit, char *text, size_t bytes)
{
    static const char *const units[][3] = {
        {"MFLOPS", "GFLOPS", "TFLOPS"}, {"MOPS", "GOPS", "TOPS"}, {"MB/s", "GB/s", "TB/s"}};
    if (strcmp(unit, "us") == 0) {
        wfi_format_time(value, text, bytes);
        return;
    }
    for (size_t family = 0; family < WFI_COUNT(units); family++)
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

void wfi_format_constants(const wf_plan_info *plan, char *text, size_t bytes)
{
    size_t used = 0;
    if (bytes > 0)
        *text = '\0';
    for (uint32_t i = 0; i < plan->constant_count && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s=%u", i ? " " : "",
                                 plan->constants[i].name, plan->constants[i].value);
}

void wfi_format_plan(const wf_plan_info *plan, char *text, size_t bytes)
{
    const size_t used = (size_t)snprintf(text, bytes, "%s%s", plan->variant ? plan->variant : "",
                                         plan->constant_count ? " " : "");
    if (used < bytes)
        wfi_format_constants(plan, text + used, bytes - used);
}

void wfi_format_percent(double percent, char *text, size_t bytes)
{
    snprintf(text, bytes, percent >= 0.1 || percent <= 0 ? "%.1f %%" : "%.2g %%", percent);
}
