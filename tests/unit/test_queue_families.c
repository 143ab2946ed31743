/* Which of a device's queue families wavefit uses, by families as drivers tell them. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "core/caps.h"

enum {
    GRAPHICS = VK_QUEUE_GRAPHICS_BIT,
    COMPUTE = VK_QUEUE_COMPUTE_BIT,
    COPIES = VK_QUEUE_TRANSFER_BIT
};

static void chosen(uint32_t wanted, uint32_t count, const uint32_t (*flags_and_bits)[2])
{
    VkQueueFamilyProperties families[4];
    memset(families, 0, sizeof families);
    for (uint32_t i = 0; i < count; i++)
        families[i] = (VkQueueFamilyProperties){.queueFlags = flags_and_bits[i][0],
                                                .queueCount = 1,
                                                .timestampValidBits = flags_and_bits[i][1]};
    assert_int_equal(wfi_best_queue_family(families, count), wanted);
}

static void compute_alone_is_preferred(void **state)
{
    (void)state;
    const uint32_t nvidia[][2] = {
        {GRAPHICS | COMPUTE | COPIES, 64}, {COPIES, 64}, {COMPUTE | COPIES, 64}};
    const uint32_t one[][2] = {{GRAPHICS | COMPUTE | COPIES, 36}};
    const uint32_t compute_first[][2] = {{COMPUTE, 64}, {GRAPHICS | COMPUTE, 64}};
    const uint32_t two_alike[][2] = {{GRAPHICS, 64}, {COMPUTE, 64}, {COMPUTE | COPIES, 64}};
    chosen(2, 3, nvidia);
    chosen(0, 1, one);
    chosen(0, 2, compute_first);
    chosen(1, 3, two_alike);
}

static void timestamps_come_first(void **state)
{
    (void)state;
    const uint32_t without[][2] = {{GRAPHICS | COMPUTE, 64}, {COMPUTE, 0}};
    const uint32_t late[][2] = {{COMPUTE, 0}, {GRAPHICS | COMPUTE, 0}, {GRAPHICS | COMPUTE, 32}};
    chosen(0, 2, without);
    chosen(2, 3, late);
}

static void there_may_be_none(void **state)
{
    (void)state;
    const uint32_t copies[][2] = {{COPIES, 64}, {GRAPHICS, 64}};
    chosen(UINT32_MAX, 2, copies);
    chosen(UINT32_MAX, 0, copies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(compute_alone_is_preferred),
                                       cmocka_unit_test(timestamps_come_first),
                                       cmocka_unit_test(there_may_be_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
