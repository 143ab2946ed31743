/* Whether a grid is cut into slabs or blocks: by a model of a pass on the rank that has most. */
#include "blocks.h"

#include <math.h>

/* What the model takes for granted of any device: a card of its own memory exchanges halos with
 * the host at LINK_RATE and reads and writes its memory CARD_MEMORY times as fast, other devices
 * SHARED_MEMORY times, since both are the host's memory there. A box of cells is gathered and
 * spread by shaders and is updated before the others by work-groups that it does not fill, which
 * PACKED of the rate of whole planes stands for. MESSAGE is word from a neighbour, with the
 * dispatches for its box. */
#define LINK_RATE 25e9 /* bytes a second */
#define CARD_MEMORY 40
#define SHARED_MEMORY 2
#define PACKED 0.6
#define MESSAGE 5e-6 /* seconds */
/* What a block holds beside cells and halos, at most: borders, and rows that kernels align. */
#define BORDERS 2
#define PADDING 64 /* cells of a row */

wfi_blocks_costs wfi_blocks_costs_of(const wf_device *device, wf_type type)
{
    const wf_caps *caps = wf_device_caps(device);
    const double allocation = fmin((double)caps->max_allocation, (double)caps->max_buffer);
    return (wfi_blocks_costs){.element_bytes = (double)wf_type_size(type),
                              .most_bytes = fmin((double)caps->max_storage_range, allocation),
                              .card = caps->device_type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU};
}

typedef struct part {
    double cells[3]; /* of the largest block */
    int neighbours[3];
} part;

static part largest(const wfi_blocks_costs *costs, const wfi_blocks_axis axes[3],
                    const int count[3])
{
    part p;
    for (int axis = 0; axis < 3; axis++) {
        const wfi_blocks_axis *a = &axes[axis];
        const uint32_t units = (a->cells + a->unit - 1) / a->unit, parts = (uint32_t)count[axis];
        const uint64_t cells = ((uint64_t)units + parts - 1) / parts * a->unit;
        p.cells[axis] = (double)(cells < a->cells ? cells : a->cells);
        p.neighbours[axis] =
            count[axis] > 2 || (costs->around && count[axis] > 1) ? 2 : count[axis] - 1;
    }
    return p;
}

/* Whether every rank has as much as a halo along each axis that is cut, and a binding and an
 * allocation hold a block. */
static bool is_possible(const wfi_blocks_costs *costs, const wfi_blocks_axis axes[3],
                        const int count[3])
{
    const part p = largest(costs, axes, count);
    double held = costs->element_bytes;
    for (int axis = 0; axis < 3; axis++) {
        const wfi_blocks_axis *a = &axes[axis];
        const uint64_t most = (uint64_t)p.cells[axis] * (uint32_t)(count[axis] - 1);
        if (count[axis] > 1 && most + a->least + 1 > a->cells)
            return false;
        held *= p.cells[axis] + (double)p.neighbours[axis] * a->least + BORDERS +
                (axis == 0 ? PADDING : 0);
    }
    return held <= costs->most_bytes;
}

/* Seconds of a pass. */
static double seconds(const wfi_blocks_costs *costs, const wfi_blocks_axis axes[3],
                      const int count[3])
{
    const part p = largest(costs, axes, count);
    const bool slabs = count[0] == 1 && count[1] == 1;
    double cells = 1, held = 1, boxes = 1;
    for (int axis = 0; axis < 3; axis++) {
        cells *= p.cells[axis];
        held *= p.cells[axis] + (double)p.neighbours[axis] * axes[axis].least;
        boxes *= p.neighbours[axis] + 1;
    }
    const double memory = LINK_RATE * (costs->card ? CARD_MEMORY : SHARED_MEMORY),
                 halo = 2 * (held - cells) * costs->element_bytes; /* there and back */
    return cells * costs->cell_bytes / memory + halo / (LINK_RATE * (slabs ? 1 : PACKED)) +
           (boxes - 1) * MESSAGE;
}

void wfi_blocks_choose(int ranks, const wfi_blocks_axis axes[3], const wfi_blocks_costs *costs,
                       uint32_t count[3])
{
    int best[3] = {1, 1, ranks};
    for (int k = ranks; k > 0; k--)
        for (int j = ranks / k; j > 0 && ranks % k == 0; j--) {
            const int at[] = {ranks / k / j, j, k};
            if (ranks / k % j == 0 && is_possible(costs, axes, at) &&
                seconds(costs, axes, at) < seconds(costs, axes, best))
                for (int axis = 0; axis < 3; axis++)
                    best[axis] = at[axis];
        }
    for (int axis = 0; axis < 3; axis++)
        count[axis] = (uint32_t)best[axis];
}
