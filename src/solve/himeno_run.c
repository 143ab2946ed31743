/* Runs the Himeno relaxation: passes, exchange of halos, gosa. */

#include "core/arithmetic.h"
#include "core/heap.h"
#include "core/params.h"
#include "core/timing.h"
#include "plan/plan.h"
#include "solve/himeno.h"

#define SUBMIT_SECONDS 0.2 /* far below the limit of any driver's watchdog */

typedef struct submission {
    wf_himeno *himeno;
    const wfi_himeno_pass *pass;
    uint32_t passes;
} submission;

/* Copies the planes of block `from` that block `to` has copies of. */
static void record_halo(const wf_himeno *h, VkCommandBuffer command_buffer, uint32_t from,
                        uint32_t to, uint32_t p)
{
    const wfi_himeno_block *a = &h->blocks[from], *b = &h->blocks[to];
    const uint64_t plane = h->layout.p_plane * sizeof(float);
    /* Planes of the grid that `from` updates and `to` holds. */
    const uint32_t first = a->first + 1 > b->origin ? a->first + 1 : b->origin;
    const uint32_t end = (uint32_t)wfi_least(a->first + 1 + a->planes, b->origin + b->held);
    if (first < end)
        wfi_record_copy(h->device, command_buffer, a->p[p], (first - a->origin) * plane, b->p[p],
                        (first - b->origin) * plane, (end - first) * plane);
}

static void exchange_halos(const wf_himeno *h, VkCommandBuffer command_buffer, uint32_t p)
{
    wfi_barrier(h->device, command_buffer);
    /* A block can be thinner than a halo, which then takes planes from beyond the neighbours
     * too. */
    for (uint32_t from = 0; from < h->block_count; from++)
        for (uint32_t to = 0; to < h->block_count; to++)
            if (from != to)
                record_halo(h, command_buffer, from, to, p);
    wfi_barrier(h->device, command_buffer);
}

wf_result wfi_himeno_record_slabs(wf_himeno *h, const wfi_himeno_pass *pass,
                                  VkCommandBuffer command_buffer, uint32_t row, uint32_t p,
                                  int which)
{
    wf_result result = WF_SUCCESS;
    for (uint32_t i = 0; i < h->piece_count && result == WF_SUCCESS; i++) {
        if (!(which & (h->pieces[i].early ? WFI_HIMENO_EARLY : WFI_HIMENO_LATE)))
            continue;
        const wfi_himeno_slab_data *slab = &h->slabs[h->pieces[i].slab];
        const wfi_himeno_block *block = &h->blocks[slab->block];
        const wf_bindings bindings = {.size = sizeof bindings,
                                      .items = {{.buffer = block->p[p]},
                                                {.buffer = block->p[1 - p]},
                                                {.buffer = slab->cells},
                                                {.buffer = h->partials}}};
        result = wfi_plan_record_sequence(pass->plans[i], command_buffer, &bindings, row);
    }
    return result;
}

/* Copies the inner planes of the new p over those of the old one. */
static void record_copy_back(const wf_himeno *h, VkCommandBuffer command_buffer)
{
    const uint64_t plane = h->layout.p_plane * sizeof(float);
    wfi_barrier(h->device, command_buffer);
    for (uint32_t b = 0; b < h->block_count; b++) {
        const wfi_himeno_block *block = &h->blocks[b];
        const uint64_t at = (block->first + 1 - block->origin) * plane;
        wfi_record_copy(h->device, command_buffer, block->p[1 - h->now], at, block->p[h->now], at,
                        block->planes * plane);
    }
    wfi_barrier(h->device, command_buffer);
}

uint32_t wfi_himeno_p_after(const wf_himeno *h, uint32_t passes)
{
    return h->copy_back ? h->now : (h->now + passes) % 2;
}

void wfi_himeno_record_rest(const wf_himeno *h, VkCommandBuffer command_buffer, uint32_t p)
{
    if (h->copy_back)
        record_copy_back(h, command_buffer);
    if (h->block_count > 1)
        exchange_halos(h, command_buffer, h->copy_back ? p : 1 - p);
    else
        wfi_barrier_compute(h->device, command_buffer);
}

wf_result wfi_himeno_record_pass(wf_himeno *h, const wfi_himeno_pass *pass,
                                 VkCommandBuffer command_buffer, uint32_t row, uint32_t p)
{
    const wf_result result =
        wfi_himeno_record_slabs(h, pass, command_buffer, row, p, WFI_HIMENO_ALL);
    wfi_himeno_record_rest(h, command_buffer, p);
    return result;
}

#define ROWS_AT_ONCE 128 /* of a copy */

/* Copies the rows of inner cells of the planes that a block updates. */
static void record_inner(const wf_himeno *h, VkCommandBuffer command_buffer,
                         const wfi_himeno_block *block, const wf_buffer *from, const wf_buffer *to)
{
    const wfi_himeno_layout *l = &h->layout;
    const uint32_t rows = h->params.nj - 2;
    VkBufferCopy regions[ROWS_AT_ONCE];
    for (uint32_t k = 0; k < block->planes; k++)
        for (uint32_t j = 0; j < rows;) {
            uint32_t n = 0;
            for (; n < ROWS_AT_ONCE && j < rows; n++, j++) {
                const uint64_t plane = block->first + 1 - block->origin + k;
                const uint64_t at = plane * l->p_plane + (j + 1) * l->p_row + l->p_left;
                regions[n].srcOffset = regions[n].dstOffset = at * sizeof(float);
                regions[n].size = (h->params.ni - 2) * sizeof(float);
            }
            h->device->fn.vkCmdCopyBuffer(command_buffer, from->vk, to->vk, n, regions);
        }
}

/* Copies between the host's buffers and the device: p alone, or the coefficients too. */
static void record_move(const wf_himeno *h, VkCommandBuffer command_buffer, uint32_t p,
                        bool to_device, bool cells)
{
    wfi_barrier(h->device, command_buffer);
    for (uint32_t n = 0; n < h->block_count + (cells ? h->slab_count : 0); n++) {
        const bool is_p = n < h->block_count;
        const wf_buffer *device = is_p ? h->blocks[n].p[p] : h->slabs[n - h->block_count].cells;
        const wf_buffer *host = is_p ? h->blocks[n].mirror : h->slabs[n - h->block_count].mirror;
        const wf_buffer *from = to_device ? host : device, *to = to_device ? device : host;
        if (is_p && h->part)
            record_inner(h, command_buffer, &h->blocks[n], from, to);
        else
            wfi_record_copy(h->device, command_buffer, from, 0, to, 0, wf_buffer_size(device));
    }
    wfi_barrier(h->device, command_buffer);
}

static wf_result record_to_mirrors(void *user, VkCommandBuffer command_buffer)
{
    const wf_himeno *h = user;
    record_move(h, command_buffer, h->now, false, true);
    return WF_SUCCESS;
}

static wf_result record_sums(void *user, VkCommandBuffer command_buffer)
{
    const submission *s = user;
    const wf_bindings sums = {
        .size = sizeof sums,
        .items = {{.buffer = s->himeno->partials}, {.buffer = s->himeno->gosa}}};
    return wfi_plan_record_sequence(s->pass->sum, command_buffer, &sums,
                                    s->passes * s->pass->steps);
}

static wf_result record_passes(void *user, VkCommandBuffer command_buffer)
{
    const submission *s = user;
    wf_himeno *h = s->himeno;
    wf_result result = WF_SUCCESS;
    for (uint32_t n = 0; n < s->passes && result == WF_SUCCESS; n++) {
        const uint32_t p = wfi_himeno_p_after(h, n), next = wfi_himeno_p_after(h, n + 1),
                       made = h->in_region + n;
        if (h->region && made % h->region == 0)
            record_move(h, command_buffer, p, true, true);
        result = wfi_himeno_record_pass(h, s->pass, command_buffer, n * s->pass->steps, p);
        if (h->region && (made + 1) % h->region == 0)
            record_move(h, command_buffer, next, false, false);
    }
    return result;
}

static wf_result record_submission(void *user, VkCommandBuffer command_buffer)
{
    const wf_result result = record_passes(user, command_buffer);
    return result == WF_SUCCESS ? record_sums(user, command_buffer) : result;
}

/* How many passes the next submission makes, at most `left`. */
static uint32_t passes_at_once(const wf_himeno *h, const wfi_himeno_pass *pass, uint32_t left)
{
    const uint32_t room = pass->rows / pass->steps;
    const double fit = pass->seconds > 0 ? SUBMIT_SECONDS / pass->seconds : 4;
    const uint32_t wanted = fit < 1                     ? 1
                            : fit > WFI_HIMENO_MAX_ROWS ? WFI_HIMENO_MAX_ROWS
                                                        : (uint32_t)fit;
    return (uint32_t)wfi_least(left, wfi_least(room, h->submit ? h->submit : wanted));
}

/* Makes `passes` passes and writes the gosa of each iteration to *gosa, which it advances (NULL: to
 * none). */
static wf_result run_passes(wf_himeno *h, wfi_himeno_pass *pass, uint32_t passes, float **gosa,
                            double *seconds, bool *gpu_clock)
{
    wf_result result = WF_SUCCESS;
    while (passes > 0 && result == WF_SUCCESS) {
        submission s = {h, pass, passes_at_once(h, pass, passes)};
        double elapsed = 0;
        const double start = wfi_host_seconds();
        result = wfi_device_goes_on(h->device);
        if (result == WF_SUCCESS)
            result = wfi_run_timed(h->device, NULL, record_submission, &s, &elapsed, gpu_clock);
        if (result != WF_SUCCESS)
            break;
        if (h->submit || h->region) {
            /* Such a run is there to show what the host adds to each submission. */
            elapsed = wfi_host_seconds() - start;
            *gpu_clock = false;
        }
        h->now = wfi_himeno_p_after(h, s.passes);
        h->in_region = h->region ? (h->in_region + s.passes) % h->region : 0;
        passes -= s.passes;
        pass->seconds = elapsed / s.passes;
        *seconds += elapsed;
        const uint32_t steps = s.passes * pass->steps;
        result = wf_buffer_read(h->gosa, 0, *gosa, steps * sizeof(float));
        *gosa += steps;
    }
    return result;
}

wf_result wf_himeno_run_each(wf_himeno *himeno, uint32_t iterations, float *gosa, double *seconds,
                             bool *gpu_clock)
{
    if (!himeno || !gosa || iterations == 0)
        return wfi_fail(himeno ? &himeno->device->log : NULL, WF_ERROR_INVALID_ARGUMENT,
                        "wf_himeno_run: iterations must be positive and gosa not NULL");
    if (himeno->subdomain)
        return wfi_fail(&himeno->device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_himeno_run: a subdomain is run by wf_himeno_pass");
    double elapsed = 0;
    bool gpu = false;
    wfi_himeno_pass *main = &himeno->passes[0],
                    *remainder = &himeno->passes[himeno->pass_count - 1];
    wf_result result =
        himeno->region ? wfi_run(himeno->device, record_to_mirrors, himeno) : WF_SUCCESS;
    if (result == WF_SUCCESS)
        result = run_passes(himeno, main, iterations / main->steps, &gosa, &elapsed, &gpu);
    if (result == WF_SUCCESS)
        result = run_passes(himeno, remainder, iterations % main->steps, &gosa, &elapsed, &gpu);
    if (result == WF_SUCCESS && seconds)
        *seconds = elapsed;
    if (result == WF_SUCCESS && gpu_clock)
        *gpu_clock = gpu;
    return result;
}

static wf_result run_and_take_last(wf_himeno *himeno, uint32_t iterations, float *gosa,
                                   double *seconds, bool *gpu_clock)
{
    float *each = wfi_malloc((iterations ? iterations : 1) * sizeof *each);
    if (!each)
        return wfi_no_memory(himeno ? &himeno->device->log : NULL);
    wf_result result = wf_himeno_run_each(himeno, iterations, each, seconds, gpu_clock);
    if (result == WF_SUCCESS && gosa)
        *gosa = each[iterations - 1];
    wfi_free(each);
    return result;
}

wf_result wf_himeno_run(wf_himeno *himeno, uint32_t iterations, float *gosa, double *seconds,
                        bool *gpu_clock)
{
    const wfi_heap outer = wfi_heap_enter_device(himeno ? himeno->device : NULL);
    return wfi_heap_leave(outer, run_and_take_last(himeno, iterations, gosa, seconds, gpu_clock));
}

#define TIMED 3 /* runs of each kernel, of which the fastest counts */

static wf_result time_record(wf_himeno *h, wfi_record_fn record, submission *s, double *us,
                             bool *gpu_clock)
{
    wf_result result = WF_SUCCESS;
    *us = 0;
    for (int i = 0; i < TIMED && result == WF_SUCCESS; i++) {
        double seconds = 0;
        result = wfi_run_timed(h->device, NULL, record, s, &seconds, gpu_clock);
        const double each = seconds / (s->passes * (double)s->pass->steps) * 1e6;
        if (*us <= 0 || each < *us)
            *us = each;
    }
    return result;
}

wf_result wf_himeno_time_kernels(wf_himeno *himeno, wf_plan_kernel kernels[WF_HIMENO_KERNELS],
                                 double us[WF_HIMENO_KERNELS], bool *gpu_clock)
{
    if (!himeno || !kernels || !us || !gpu_clock)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_himeno_pass *pass = &himeno->passes[0];
    submission s = {himeno, pass, passes_at_once(himeno, pass, pass->rows)};
    wf_plan_kernel sum = {.name = "himeno_gosa_f32", .dispatches = 1};
    wf_result result = wf_plan_describe_kernel(pass->plans[0], 0, &kernels[0]);
    if (result == WF_SUCCESS && himeno->region)
        result = wfi_run(himeno->device, record_to_mirrors, himeno);
    if (result == WF_SUCCESS)
        result = time_record(himeno, record_passes, &s, &us[0], gpu_clock);
    if (result == WF_SUCCESS)
        result = time_record(himeno, record_sums, &s, &us[1], gpu_clock);
    if (result == WF_SUCCESS && !wfi_params_write(&kernels[1], &sum, sizeof sum))
        result = WF_ERROR_INVALID_ARGUMENT;
    return result;
}
