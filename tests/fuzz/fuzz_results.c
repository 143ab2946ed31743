/* Results files, and those of `wavefit tune --compare`, as the report reads them. A byte of 255,
 * which JSON has not, begins a second file, which the first one is compared with. */
#include <stdlib.h>
#include <string.h>

#include "io/results_read.h"
#include "target.h"

static void count_difference(void *user, const char *name, const char *verdict, double base_us,
                             double us)
{
    (void)base_us;
    (void)us;
    if (!name || !verdict)
        fuzz_wrong("a difference without a name");
    ++*(uint32_t *)user;
}

/* `same`: the base is the results file that is compared. */
static void compare(wfi_report *report, const char *base, bool same)
{
    wfi_comparison c = {0};
    wfi_io_error error = {0};
    uint32_t told = 0;
    if (!wfi_report_compare(report, base, count_difference, &told, &c, &error)) {
        fuzz_check_error(&error, base);
        if (same)
            fuzz_wrong("a file that was read once cannot be compared with itself");
    } else if (same && (c.slower || c.faster)) {
        fuzz_wrong("a file differs from itself");
    }
}

static bool holds(const uint8_t *data, size_t size, const char *word)
{
    const size_t length = strlen(word);
    for (size_t i = 0; i + length <= size; i++)
        if (memcmp(data + i, word, length) == 0)
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *split = memchr(data, 0xff, size);
    const size_t first = split ? (size_t)(split - data) : size;
    const char *path = fuzz_file("a.json", data, first), *base = path;
    wfi_io_error error = {0};
    size_t length = 0;
    wfi_report *report = wfi_report_create();
    if (!report)
        return 0;
    if (split)
        base = fuzz_file("base.json", split + 1, size - first - 1);
    if (wfi_report_add(report, path, &error)) {
        /* A comparison of ways of choosing, or of targets, is no base. */
        const bool results =
            !holds(data, size, "wavefit-comparison") && !holds(data, size, "wavefit-targets");
        compare(report, base, !split && results);
        char *json = wfi_report_json(report, &length);
        if (!json || memchr(json, '<', length))
            fuzz_wrong("no text, or one that could end the page's element");
        free(json);
    } else {
        fuzz_check_error(&error, path);
    }
    wfi_report_destroy(&report);
    return 0;
}
