/* What drivers and layers say besides the VkResults of their calls (VK_EXT_debug_utils). Where the
 * instance is wavefit's own and there is a log, a messenger hears it: a driver's reason for a
 * failure is kept for the error that wavefit makes of it, and a layer's errors go to the log. */
#ifndef WFI_CORE_WORDS_H
#define WFI_CORE_WORDS_H

#include "core/log.h"
#include "core/volk.h"

#define WFI_WORDS_BYTES 512

typedef struct wfi_words {
    char text[WFI_WORDS_BYTES]; /* one line; "" if nothing was said */
} wfi_words;

/* From here on what a driver says to the calling thread is kept in `words`, the last of it; NULL:
 * it is not any more. */
void wfi_words_keep(wfi_words *words);

/* A messenger that gives layers' errors to `log`, which must outlive it.
 * VK_NULL_HANDLE where there can be none, which is no failure. */
VkDebugUtilsMessengerEXT wfi_words_listen(VkInstance instance, PFN_vkGetInstanceProcAddr get_proc,
                                          const VkAllocationCallbacks *allocator,
                                          const wfi_log *log);
void wfi_words_leave(VkInstance instance, PFN_vkGetInstanceProcAddr get_proc,
                     const VkAllocationCallbacks *allocator, VkDebugUtilsMessengerEXT messenger);

#endif
