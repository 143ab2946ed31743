#include "tool/cli/matrix_file.h"

#include "core/platform_file.h"
#include "io/matrix_market.h"
#include "tool/cases/cases.h"
#include "tool/cli/stages.h"

#define SMALL_BYTES 67108864.0 /* of vectors: not worth a look at the device */

int wfi_matrix_file_fits(const wfi_common *common, const char *path, const wfi_matrix_use *use)
{
    wfi_matrix_sizes sizes;
    wfi_io_error error;
    wfi_session session;
    if (wfi_file_kind_of(path) != WFI_FILE_REGULAR) /* a pipe is read but once */
        return WFI_EXIT_DONE;
    if (!wfi_matrix_market_sizes(path, &sizes, &error))
        return wfi_run_error("%s", error.text);
    const double real = (double)wf_type_size(use->type) * use->vectors,
                 x = real * (use->transpose ? sizes.rows : sizes.columns),
                 y = real * (use->transpose ? sizes.columns : sizes.rows);
    if (x + y < SMALL_BYTES)
        return WFI_EXIT_DONE;
    int code = wfi_session_open(&session, common);
    if (code != WFI_EXIT_DONE)
        return code;
    const wf_caps *caps = session.caps;
    const double all = x + y + 4.0 * sizes.rows, available = wfi_session_available(&session);
    const double binding = (double)caps->max_storage_range, buffer = (double)caps->max_buffer;
    const char *what = x > binding ? "x" : y > buffer ? "y" : "vectors and row offsets";
    const double bytes = x > binding  ? x
                         : y > buffer ? y
                                      : all,
                 most = x > binding  ? binding
                        : y > buffer ? buffer
                                     : available;
    if (bytes > most)
        code = wfi_run_error("%s:%llu: %u rows and %u columns: %s of %.0f bytes would be over the "
                             "%.0f that this device takes",
                             path, (unsigned long long)sizes.line, sizes.rows, sizes.columns, what,
                             bytes, most);
    wfi_session_close(&session);
    return code;
}

int wfi_matrix_file_read(const wfi_common *common, const char *path, const wfi_matrix_use *use,
                         wfi_csr *out)
{
    wfi_io_error error;
    const int code = use ? wfi_matrix_file_fits(common, path, use) : WFI_EXIT_DONE;
    if (code != WFI_EXIT_DONE)
        return code;
    wfi_stage_begin(common->quiet, WFI_STAGE_READ, "reading the matrix");
    const bool read = wfi_matrix_market_read(path, out, &error);
    wfi_stage_end(common->quiet);
    return read ? WFI_EXIT_DONE : wfi_run_error("%s", error.text);
}
