/* A driver that says it offers less, as a phone's might: its answers are lowered on their way
 * through vkGetInstanceProcAddr. Otherwise it is the real driver. */
#ifndef WFI_TESTS_PRETEND_H
#define WFI_TESTS_PRETEND_H

#include "core/volk.h"

#include <stdbool.h>
#include <stdint.h>

/* What the driver is made to answer; 0: as it is. */
typedef struct test_pretence {
    uint64_t budget, usage;
    uint32_t subgroup_size;
    bool subgroups_vary; /* 4 to 128, and cannot be pinned */
    bool vulkan_1_1;
    bool no_timestamps, no_f64, no_f16_arithmetic, no_f16_storage;
    bool wrong_shuffles; /* shuffle is compiled as shuffle xor */
    /* Out: stages compiled for whatever subgroup size the driver takes, and copies recorded. */
    uint32_t varying_stages, copies;
} test_pretence;

extern test_pretence pretend;

/* Loads the Vulkan loader; false: there is none. */
bool test_pretend_open(void);
void test_pretend_close(void);
PFN_vkVoidFunction VKAPI_CALL test_pretend_proc(VkInstance instance, const char *function);

#endif
