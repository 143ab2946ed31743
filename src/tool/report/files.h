/* The parts of the report's page, embedded at build time from src/tool/report/ and Chart.js. */
#ifndef WFI_TOOL_REPORT_FILES_H
#define WFI_TOOL_REPORT_FILES_H

#include <stddef.h>

typedef struct wfi_report_file {
    const unsigned char *bytes;
    size_t size;
} wfi_report_file;

extern const wfi_report_file wfi_report_style, wfi_report_body, wfi_report_chart,
    wfi_report_chart_notice;
/* The page's script, in the order in which its parts stand. */
extern const wfi_report_file wfi_report_data, wfi_report_parts, wfi_report_sections,
    wfi_report_studies, wfi_report_ratios, wfi_report_scaling, wfi_report_tuning, wfi_report_start;

#endif
