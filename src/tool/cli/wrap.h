/* Lines on standard output that are at most WFI_LINE_COLUMNS columns wide. */
#ifndef WFI_TOOL_CLI_WRAP_H
#define WFI_TOOL_CLI_WRAP_H

#define WFI_LINE_COLUMNS 100
#define WFI_LABEL_COLUMNS 10 /* of "variant   " and the other labels of a run's output */

/* Columns that UTF-8 text takes up. */
int wfi_columns(const char *text);

/* Ends a line on which `used` columns are taken with the text. Where the text is too long it is
 * broken at spaces, and goes on in lines that are indented by `indent` columns. */
void wfi_wrap(int used, int indent, const char *text);

/* Prints a line, wrapped in the same way; the format has no newline. */
void wfi_line(int indent, const char *format, ...);

#endif
