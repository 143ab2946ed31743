/* Tables of text on standard output. */
#ifndef WFI_TOOL_CLI_TABLE_H
#define WFI_TOOL_CLI_TABLE_H

#include <stddef.h>

#include "model/duration.h" /* wfi_format_time, wfi_format_bytes */
#include "wavefit/wavefit.h"

#define WFI_MAX_COLUMNS 12
#define WFI_MAX_ROWS 320
#define WFI_CELL_BYTES 256
#define WFI_NOTE_BYTES 512

typedef struct wfi_table {
    int columns, rows;           /* the first row is the heading */
    unsigned right;              /* bit a column: aligned to the right */
    struct wfi_table_text *text; /* NULL until the first row, which makes it for the whole run */
} wfi_table;

/* Sets the first `count` cells of the first row, which it begins. */
void wfi_table_headings(wfi_table *table, const char *const *headings, int count);
/* Begins a row; cells are then set with wfi_table_set. Returns its index. */
int wfi_table_row(wfi_table *table);
void wfi_table_set(wfi_table *table, int row, int column, const char *format, ...);
/* A text that begins where the column does and widens no column: it stands in the row where the
 * cells from there on are empty, else in lines of its own below. */
void wfi_table_note(wfi_table *table, int row, int column, const char *format, ...);
/* Prints the table; last cells and notes are wrapped (tool/cli/wrap.h). */
void wfi_table_print(const wfi_table *table);

/* Four significant digits of a rate in MFLOPS, GFLOPS, TFLOPS, GOPS or GB/s, or of a time in us;
 * large and small ones move to another unit: "395 GFLOPS". Other units stay. */
void wfi_format_rate(double value, const char *unit, char *text, size_t bytes);
/* A variant and its constants: "tiled tile_m=16 tile_k=8"; "" where there is none. */
void wfi_format_plan(const wf_plan_info *plan, char *text, size_t bytes);
/* Its constants alone: "tile_m=16 tile_k=8"; "" where there are none. */
void wfi_format_constants(const wf_plan_info *plan, char *text, size_t bytes);
/* "12.3 %", small ones with two digits that count: "0.0042 %". */
void wfi_format_percent(double percent, char *text, size_t bytes);

#endif
