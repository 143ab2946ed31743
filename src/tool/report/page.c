#include "tool/report/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/atomic_file.h"
#include "tool/cli/options.h"
#include "tool/report/files.h"

static void put(wfi_atomic_file *out, const char *text)
{
    wfi_atomic_write(out, text, strlen(text));
}

static void put_file(wfi_atomic_file *out, const wfi_report_file *file)
{
    wfi_atomic_write(out, file->bytes, file->size);
}

/* One script of one scope, so that no part of it is seen by Chart.js or by the console. */
static void put_script(wfi_atomic_file *out)
{
    enum { PARTS = 8 };
    const wfi_report_file *const parts[PARTS] = {
        &wfi_report_data,   &wfi_report_parts,   &wfi_report_sections, &wfi_report_studies,
        &wfi_report_ratios, &wfi_report_scaling, &wfi_report_tuning,   &wfi_report_start};
    put(out, "<script>\n\"use strict\";\n(() => {\n");
    for (int i = 0; i < PARTS; i++)
        put_file(out, parts[i]);
    put(out, "})();\n</script>\n");
}

/* The policy lets the page load nothing from anywhere, whatever the data say. */
static void put_page(wfi_atomic_file *out, const char *json, size_t length)
{
    put(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
             "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri "
             "'none'; "
             "form-action 'none'\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<title>wavefit report</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n");
    put_file(out, &wfi_report_style);
    put(out, "</style>\n</head>\n<body>\n");
    put_file(out, &wfi_report_body);
    put(out, "<script>\n/*\n");
    put_file(out, &wfi_report_chart_notice);
    put(out, "*/\n");
    put_file(out, &wfi_report_chart);
    put(out, "\n</script>\n<script type=\"application/json\" id=\"data\">");
    wfi_atomic_write(out, json, length);
    put(out, "</script>\n");
    put_script(out);
    put(out, "</body>\n</html>\n");
}

bool wfi_report_write(const wfi_report *report, const char *path, wfi_io_error *error)
{
    wfi_atomic_file out;
    size_t length = 0;
    char *json = wfi_report_json(report, &length);
    if (!json)
        return wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    bool ok = wfi_atomic_open(&out, path, error);
    if (ok) {
        put_page(&out, json, length);
        ok = wfi_atomic_commit(&out, error);
    }
    free(json);
    return ok;
}

static bool write_beside(const char *json, char *path, size_t bytes, wfi_io_error *error)
{
    const size_t length = strlen(json);
    const bool named = length > 5 && strcmp(json + length - 5, ".json") == 0;
    const int stem = (int)(named ? length - 5 : length);
    *path = '\0';
    if (strcmp(json, "-") == 0 || strncmp(json, "/dev/", 5) == 0)
        return true;
    if (snprintf(path, bytes, "%.*s.html", stem, json) >= (int)bytes)
        return wfi_io_fail(error, WFI_IO_SYSTEM, "%s: the name is too long", json);
    wfi_report *report = wfi_report_create();
    const bool ok =
        report ? wfi_report_add(report, json, error) && wfi_report_write(report, path, error)
               : wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    wfi_report_destroy(&report);
    return ok;
}

int wfi_report_beside(const char *json)
{
    char path[4096];
    wfi_io_error error;
    if (!write_beside(json, path, sizeof path, &error))
        return wfi_run_error("%s", error.text);
    if (*path)
        printf("\n%s: to look at\n", path);
    return WFI_EXIT_DONE;
}
