/* One run of the tool: the open device, what the user forced, and the cases measured. */
#ifndef WFI_TOOL_CLI_SESSION_H
#define WFI_TOOL_CLI_SESSION_H

#include "io/results.h"
#include "tool/cli/options.h"

#define WFI_MAX_KERNELS 32 /* of a plan that are looked at one by one */

typedef struct wfi_session {
    const wfi_common *common;
    const char *target; /* of --target: the device is its compiler alone; NULL: it is there */
    wf_device *device;
    const wf_caps *caps;
    wf_tuning tuning;
    wf_cancel cancel;      /* of checks: Ctrl-C */
    char error[1024];      /* the library's last error line */
    double copy_bandwidth; /* NaN until asked for */
    double fma_f32;
    double narrow_rate;         /* of a study's 16- or 8-bit products; 0 until asked for */
    wfi_result_kernel *kernels; /* room for WFI_MAX_KERNELS: time each of a plan; NULL: do not */
    uint32_t peak_count;        /* written with the results */
    const wfi_result_peak *peaks;
} wfi_session;

/* Opens the device that the options name; on failure prints one line and returns the exit code. */
int wfi_session_open(wfi_session *session, const wfi_common *common);
/* The same, and the driver is asked what it makes of each kernel. */
int wfi_session_open_captured(wfi_session *session, const wfi_common *common);
/* The same of a target, whose driver is selected already; NULL: of a device that is there. */
int wfi_session_open_target(wfi_session *session, const wfi_common *common, const char *target);
void wfi_session_close(wfi_session *session);

/* Prints the library's last error line and returns the exit code for `result`. */
int wfi_session_error(wfi_session *session, wf_result result);
/* The same for what a case says of itself: WFI_EXIT_DONE when it is ok. Prints its reason. */
int wfi_case_exit(const wfi_result_case *c, wf_result result);
/* The same for the `things` ("cases", "steps") that a command has run: failed checks and errors
 * fail the run, and so does an interruption; what is unsupported or skipped does not. */
int wfi_cases_exit(const char *command, const char *things, const wfi_result_case *cases,
                   uint32_t count);
/* The same where they are counted already. */
int wfi_counts_exit(const char *command, const char *things, uint32_t failed, uint32_t cancelled,
                    uint32_t count);

/* Fills a case's status and reason from a result that is not WF_SUCCESS. */
void wfi_case_fail(wfi_session *session, wfi_result_case *c, wf_result result);
void wfi_case_fail_text(wfi_result_case *c, wfi_status status, const char *format, ...);

/* Measured once a session; NaN (and the case goes on without) where measuring fails. */
double wfi_session_copy_bandwidth(wfi_session *session);
double wfi_session_fma_rate(wfi_session *session, wf_type type);
/* The ceiling of that name, in its unit, for a working set of `bytes` where it has one (0: past any
 * cache); NaN where it is unsupported or interrupted. */
double wfi_session_ceiling(wfi_session *session, const char *name, uint64_t bytes);

/* How long a case is timed that has so many seconds: a fiftieth where rates may be rough. */
double wfi_session_seconds(double seconds);

/* Bytes of device memory that can be had now. */
double wfi_session_available(const wfi_session *session);
/* Whether device_bytes on the device and host_bytes beside them fit; if not, the case says so. */
bool wfi_session_fits(wfi_session *session, wfi_result_case *c, double device_bytes,
                      double host_bytes);

/* Writes --json, if given. */
int wfi_session_write(wfi_session *session, int argc, char **argv, const wfi_result_case *cases,
                      uint32_t count);
/* Whether it has, to the end, since this process began. */
bool wfi_session_has_written(void);

/* The line that names the device and its limits. */
void wfi_device_print(const wfi_session *session);
/* The line that names the variant, its constants and who chose them. */
void wfi_plan_print(const wf_plan_info *plan);

/* Begins the stage of a case: "matmul 64x64x64: checking" (tool/cli/stages.h). */
void wfi_case_stage(const wfi_session *session, const wfi_result_case *c, wfi_stage stage);

/* The lines that a single run prints: device, problem, variant, time, rate, check. */
void wfi_case_print(const wfi_session *session, const wfi_result_case *c);

#endif
