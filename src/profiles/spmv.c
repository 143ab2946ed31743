#include "profiles/spmv.h"

#include "core/arithmetic.h"

/* llvmpipe asks of each lane of each load from a buffer whether it is inside the buffer. Fitted to
 * measurements: bench/notes/spmv.md#cpu-drivers and #processors-long-rows. */
static const wfi_spmv_costs llvmpipe = {
    .row = {2.4, 1.05, 1, 0, 2.9},
    .row_many = {1, 0.5, 0.5, 0, 0},
    .lanes = {2.2, 1, 1, 0, 2.9},
    .shared = {12, 1.2, 0.5, 0, 0},
    .add = {23, 1, 0, 0, 0},
    .quads = {4.5, 0.6, 0, 0, 2.4},
    .shuffled = {21, 1.9, 0, 0, 0},
    .slot = {1.27, 2.1},
    .shared_entry = {3.4, 7.3},
    .sliced_row = {2.4, 2.9},
};

/* SwiftShader, taken for all other drivers of processors, compiles barriers and exchanges within
 * subgroups to what takes many times a row's work. Fitted to the same measurements. */
static const wfi_spmv_costs swiftshader = {
    .row = {2.7, 1, 0.4, 0, 0},
    .lanes = {3.2, 1.05, 0.4, 0, 0},
    .shared = {100, 2, 0, 0, 0},
    .add = {8, 1.1, 0, 0, 0},
    .quads = {4.8, 0.63, 0, 3.1, 0},
    .shuffled = {400, 14, 0, 0, 0},
};

/* Of all GPUs, since no other one has been measured: an H100's cache holds about so many entries'
 * loads at once (bench/notes/spmv.md). */
#define GPU                                                                                        \
    .scatter_most = 8, .blocked_scatter = 1.5, .adaptive_entry = 4, .merge_step = 2,               \
    .shares_rows = true, .equal_entries_f32 = 1900000, .equal_entries_f64 = 1200000,               \
    .device_entries = 1000000, .compiled_entries = 100000

/* On a processor lanes apart in memory cost nothing, and predictions are rough. */
#define PROCESSOR                                                                                  \
    .scatter_most = 0, .blocked_scatter = 1, .adaptive_entry = 5, .merge_step = 6,                 \
    .slice_loads = 16, .equal_entries_f32 = 1900000, .equal_entries_f64 = 1200000,                 \
    .first_batch = 2

typedef struct row {
    wfi_profile_kind kind;
    VkDriverId driver; /* 0: any */
    wfi_spmv_profile profile;
} row;

/* The first row that matches holds; the last one serves devices that none matches. Fences are left
 * out only on drivers that were tried without: NVIDIA's makes sequentially consistent ones of
 * memory barriers, which take 2 to 6 % of a product with segments on an H100. */
static const row rows[] = {
    {WFI_PROFILE_CPU, VK_DRIVER_ID_MESA_LLVMPIPE, {PROCESSOR, .costs = &llvmpipe}},
    {WFI_PROFILE_CPU, 0, {PROCESSOR, .costs = &swiftshader, .fences = true}},
    {WFI_PROFILE_NVIDIA, VK_DRIVER_ID_NVIDIA_PROPRIETARY, {GPU, .gather_cache = 128 << 10}},
    /* By the statistics of Mesa's compilers (ANV and V3DV 25.0). */
    {WFI_PROFILE_INTEL, 0, {GPU, .fences = true, .few_registers = true, .most_load_words = 1}},
    {WFI_PROFILE_VIDEOCORE, 0, {GPU, .fences = true, .few_registers = true}},
    {WFI_PROFILE_OTHER, 0, {GPU, .fences = true}},
};

const wfi_spmv_profile *wfi_spmv_profile_of(const wf_caps *caps)
{
    const wfi_profile_kind kind = wfi_profile_kind_of(caps);
    const size_t last = WFI_COUNT(rows) - 1;
    size_t i = 0;
    while (i < last && (rows[i].kind != kind ||
                        (rows[i].driver != 0 && rows[i].driver != (VkDriverId)caps->driver_id)))
        i++;
    return &rows[i].profile;
}
