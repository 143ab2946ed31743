#include "tool/cases/matrix_name.h"

#include <stdio.h>
#include <string.h>

#include "core/platform_file.h"
#include "tool/cases/generate.h"
#include "tool/cli/path.h"
#include "tool/cli/stages.h"

int wfi_matrix_name_one(const char *command, const wfi_matrix_name *name, const char **text)
{
    char message[256];
    *text = name->positional ? name->positional : name->matrix ? name->matrix : name->generate;
    if ((name->positional != NULL) + (name->matrix != NULL) + (name->generate != NULL) > 1)
        return wfi_usage_error("%s: give one of MATRIX.mtx, --matrix and --generate", command);
    if (name->generate && !wfi_generate_check(name->generate, message))
        return wfi_usage_error("--generate: %s", message);
    return WFI_EXIT_DONE;
}

bool wfi_matrix_is_file(const char *text)
{
    return wfi_path_separator(text) || (strchr(text, '.') && !strchr(text, ':')) ||
           (!wfi_generate_is_kind(text) && wfi_file_kind_of(text) != WFI_FILE_NONE);
}

void wfi_matrix_label(const char *text, char *label, size_t bytes)
{
    snprintf(label, bytes, "%.80s%s", wfi_matrix_is_file(text) ? wfi_path_name(text) : text,
             !wfi_matrix_is_file(text) && wfi_generate_is_stand_in(text) ? " (stand-in)" : "");
}

int wfi_matrix_get(const wfi_common *common, const char *text, const wfi_matrix_use *use,
                   wfi_csr *out)
{
    char message[256];
    if (wfi_matrix_is_file(text))
        return wfi_matrix_file_read(common, text, use, out);
    wfi_stage_begin(common->quiet, WFI_STAGE_READ, "making the matrix");
    const bool made = wfi_generate(text, common->seed, out, message);
    wfi_stage_end(common->quiet);
    if (made)
        return WFI_EXIT_DONE;
    if (wfi_generate_check(text, message))
        return wfi_run_error("%s", message);
    return strchr(text, ':') ? wfi_usage_error("%s", message)
                             : wfi_usage_error("there is no file '%.40s', and %s", text, message);
}
