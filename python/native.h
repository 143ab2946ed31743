/* What wavefit._native has besides the public header: one call for what a product in a loop does,
 * since each call from Python and each member that it sets takes a tenth of a microsecond. */
#include <wavefit/wavefit.h>

/* Binds up to four buffers (NULL: as they are) and queues an execution. Returns its number, or 0
 * with *result set. */
static inline uint64_t python_queue_run(wf_queue *queue, wf_plan *plan, wf_bindings *bindings,
                                        const wf_buffer *first, uint64_t first_offset,
                                        const wf_buffer *second, uint64_t second_offset,
                                        const wf_buffer *third, uint64_t third_offset,
                                        const wf_buffer *fourth, uint64_t fourth_offset,
                                        wf_result *result)
{
    const wf_buffer *const buffers[4] = {first, second, third, fourth};
    const uint64_t offsets[4] = {first_offset, second_offset, third_offset, fourth_offset};
    uint64_t number = 0;
    for (int i = 0; i < 4; i++) {
        bindings->items[i].buffer = buffers[i];
        bindings->items[i].offset = offsets[i];
    }
    *result = wf_queue_run(queue, plan, bindings, &number);
    return *result == WF_SUCCESS ? number : 0;
}
