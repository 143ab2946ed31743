#include "core/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/platform.h"

#define TEXT_BYTES 1024

static WFI_THREAD_LOCAL wfi_held *holder;

static void hold(wf_log_level level, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    if (holder->used + 1 + bytes > sizeof holder->lines)
        return;
    char *line = holder->lines + holder->used;
    line[0] = (char)level;
    memcpy(line + 1, text, bytes);
    holder->used += (uint32_t)(1 + bytes);
}

void wfi_log_hold(wfi_held *held)
{
    holder = held;
}

void wfi_log_say(const wfi_log *log, wfi_held *held)
{
    for (uint32_t at = 0; at < held->used;) {
        const char *text = held->lines + at + 1;
        wfi_log_write(log, (wf_log_level)held->lines[at], "%s", text);
        at += (uint32_t)strlen(text) + 2;
    }
    held->used = 0;
}

void wfi_log_write(const wfi_log *log, wf_log_level level, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list args;
    if (!log || !log->fn)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (holder) {
        hold(level, text);
        return;
    }
    log->fn(log->user, level, text);
}

const char *wfi_vk_result_name(VkResult vk)
{
    switch (vk) {
#define NAME(code)                                                                                 \
    case code:                                                                                     \
        return #code;
        NAME(VK_SUCCESS)
        NAME(VK_NOT_READY)
        NAME(VK_TIMEOUT)
        NAME(VK_INCOMPLETE)
        NAME(VK_ERROR_OUT_OF_HOST_MEMORY)
        NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY)
        NAME(VK_ERROR_INITIALIZATION_FAILED)
        NAME(VK_ERROR_DEVICE_LOST)
        NAME(VK_ERROR_MEMORY_MAP_FAILED)
        NAME(VK_ERROR_LAYER_NOT_PRESENT)
        NAME(VK_ERROR_EXTENSION_NOT_PRESENT)
        NAME(VK_ERROR_FEATURE_NOT_PRESENT)
        NAME(VK_ERROR_INCOMPATIBLE_DRIVER)
        NAME(VK_ERROR_TOO_MANY_OBJECTS)
        NAME(VK_ERROR_FRAGMENTED_POOL)
        NAME(VK_ERROR_OUT_OF_POOL_MEMORY)
        NAME(VK_ERROR_UNKNOWN)
#undef NAME
    default:
        return "an unlisted VkResult";
    }
}

wf_result wfi_check_vk(const wfi_log *log, VkResult vk, const char *what)
{
    if (vk >= VK_SUCCESS)
        return WF_SUCCESS;
    wf_result result = WF_ERROR_DRIVER;
    if (vk == VK_ERROR_OUT_OF_HOST_MEMORY)
        result = WF_ERROR_OUT_OF_HOST_MEMORY;
    else if (vk == VK_ERROR_OUT_OF_DEVICE_MEMORY)
        result = WF_ERROR_OUT_OF_DEVICE_MEMORY;
    else if (vk == VK_ERROR_DEVICE_LOST)
        result = WF_ERROR_DEVICE_LOST;
    return wfi_fail(log, result, "%s: %s (%d)", what, wfi_vk_result_name(vk), (int)vk);
}

VkResult wfi_made(VkResult vk, void *handle, size_t bytes)
{
    if (vk < VK_SUCCESS)
        memset(handle, 0, bytes);
    return vk;
}
