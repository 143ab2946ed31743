/* Real Matrix Market files, where a collection is at hand: WAVEFIT_MATRICES, or ../shared/matrices
 * beside the checkout. Its README.md lists each file's rows, columns and entries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "files.h"
#include "io/matrix_market.h"

static const char *folder(void)
{
    const char *named = getenv("WAVEFIT_MATRICES");
    return named ? named : WAVEFIT_SOURCE_DIR "/../shared/matrices";
}

/* A line of the table: | name | rows | columns | entries | full, or format and field | … */
typedef struct row {
    char name[128], fifth[64];
    unsigned long rows, columns, stored;
} row;

static bool parse_row(const char *line, row *r)
{
    return sscanf(line, "| %127[^ |] | %lu | %lu | %lu | %63[^|]", r->name, &r->rows, &r->columns,
                  &r->stored, r->fifth) == 5;
}

/* The path of a file of the collection, unpacked if need be. */
static const char *unpacked(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", folder(), name);
    const size_t length = strlen(path);
    if (length < 3 || strcmp(path + length - 3, ".xz") != 0)
        return path;
    char command[1400];
    const char *out = test_path("unpacked.mtx");
    snprintf(command, sizeof command, "xz -dc '%s' > '%s'", path, out);
    assert_int_equal(system(command), 0);
    return out;
}

static bool is_complex(const char *path)
{
    char banner[256] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(banner, sizeof banner, file));
    fclose(file);
    return strstr(banner, "complex") != NULL;
}

static void check_row(const row *r)
{
    wfi_csr csr;
    wfi_io_error error = {0};
    const char *path = unpacked(r->name);
    const bool ok = wfi_matrix_market_read(path, &csr, &error);
    if (is_complex(path)) {
        assert_false(ok);
        assert_int_equal(error.kind, WFI_IO_UNSUPPORTED);
        return;
    }
    if (!ok)
        fail_msg("%s: %s", r->name, error.text);
    assert_int_equal(csr.rows, r->rows);
    assert_int_equal(csr.columns, r->columns);
    /* The table of whole matrices gives the expanded count. */
    char *end;
    const unsigned long full = strtoul(r->fifth, &end, 10);
    if (end != r->fifth)
        assert_int_equal(csr.entries, full);
    wfi_csr_free(&csr);
}

static void every_listed_file_reads(void **state)
{
    (void)state;
    char path[600], line[2048];
    unsigned read = 0;
    row r;
    snprintf(path, sizeof path, "%s/README.md", folder());
    FILE *table = fopen(path, "r");
    if (!table) {
        print_message("%s is not there\n", path);
        skip();
    }
    while (fgets(line, sizeof line, table))
        if (parse_row(line, &r)) {
            check_row(&r);
            read++;
        }
    fclose(table);
    print_message("%u files\n", read);
    assert_true(read > 100);
}

/* What is no fault of the text: readers may take it, and this one does. */
static const char *const legal[] = {
    "fmm_overflow_value_gt_int32",
    "fmm_overflow_value_gt_int64",
    "lagraph_mangled14",
    "lagraph_mangled_bool",
    "lagraph_mangled_int16",
    "lagraph_mangled_int32",
    "lagraph_mangled_int8",
    "lagraph_mangled_skew",
    "lagraph_mangled_uint16",
    "lagraph_mangled_uint32",
    "lagraph_mangled_uint8",
    "fmm_permissive_lines_indented",
    "fmm_permissive_banner_leading_spaces_eye3",
    /* called a pattern by its name alone: its banner says integer */
    "spqr_Ragusa16_pattern_with_values",
};

static bool is_legal(const char *name)
{
    for (size_t i = 0; i < sizeof legal / sizeof *legal; i++)
        if (strncmp(name, legal[i], strlen(legal[i])) == 0 && name[strlen(legal[i])] == '.')
            return true;
    return false;
}

static void every_malformed_file_is_refused(void **state)
{
    (void)state;
    char command[700], name[256], path[900];
    unsigned refused = 0, taken = 0;
    snprintf(path, sizeof path, "%s/malformed", folder());
    struct stat there;
    if (stat(path, &there) != 0)
        skip();
    snprintf(command, sizeof command, "ls '%s/malformed'", folder());
    FILE *list = popen(command, "r");
    assert_non_null(list);
    while (fgets(name, sizeof name, list)) {
        wfi_csr csr;
        wfi_io_error error = {0};
        name[strcspn(name, "\n")] = '\0';
        snprintf(path, sizeof path, "%s/malformed/%s", folder(), name);
        if (wfi_matrix_market_read(path, &csr, &error)) {
            wfi_csr_free(&csr);
            if (!is_legal(name))
                fail_msg("%s was accepted", name);
            taken++;
            continue;
        }
        if (is_legal(name))
            fail_msg("%s was refused: %s", name, error.text);
        assert_true(error.text[0] != '\0' && !strchr(error.text, '\n'));
        refused++;
    }
    pclose(list);
    print_message("%u refused, %u legal\n", refused, taken);
    assert_true(refused > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_listed_file_reads),
        cmocka_unit_test(every_malformed_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, test_files_remove);
}
