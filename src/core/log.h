/* Where messages go: the caller's log callback, one line a call. */
#ifndef WFI_CORE_LOG_H
#define WFI_CORE_LOG_H

#include "wavefit/wavefit.h"

typedef struct wfi_log {
    wf_log_fn fn;
    void *user;
} wfi_log;

#if defined(__GNUC__)
#define WFI_PRINTF(format_at, args_at) __attribute__((format(printf, format_at, args_at)))
#else
#define WFI_PRINTF(format_at, args_at)
#endif

void wfi_log_write(const wfi_log *log, wf_log_level level, const char *format, ...)
    WFI_PRINTF(3, 4);

/* Messages of a thread of wavefit's own, until the thread that waits for it says them: logs are
 * called on threads that call wavefit. What there is no room for is left out. */
#define WFI_HELD_BYTES 2048
typedef struct wfi_held {
    uint32_t used;
    char lines[WFI_HELD_BYTES]; /* of each the level, the text and a zero */
} wfi_held;

/* From here on the messages of the calling thread are held; NULL: they are not any more. */
void wfi_log_hold(wfi_held *held);
/* Says what was held, by a thread that joined the one that held it. */
void wfi_log_say(const wfi_log *log, wfi_held *held);

/* Logs an error and gives `result`, so that a failure is one statement. A macro, so that an
 * analyser of one file sees which result it is. */
#define wfi_fail(log, result, ...) (wfi_log_write((log), WF_LOG_ERROR, __VA_ARGS__), (result))

#define wfi_no_memory(log) wfi_fail((log), WF_ERROR_OUT_OF_HOST_MEMORY, "out of host memory")

/* The result code for a VkResult; logs "<what>: VK_ERROR_…" unless it is a success. */
wf_result wfi_check_vk(const wfi_log *log, VkResult vk, const char *what);

/* In the error of a pipeline that a compiler gave up on (WF_ERROR_DRIVER). */
#define WFI_REFUSED "the driver refuses the kernel"

/* The result of a call that makes *handle. What a call that fails leaves there is undefined, and
 * null from here on, so that it can be given to a function that destroys. */
#define WFI_MADE(vk, handle)                                                                       \
    wfi_made((vk), (handle), (size_t)((char *)((handle) + 1) - (char *)(handle)))
VkResult wfi_made(VkResult vk, void *handle, size_t bytes);

/* The name of a VkResult, "VK_ERROR_…". */
const char *wfi_vk_result_name(VkResult vk);

#endif
