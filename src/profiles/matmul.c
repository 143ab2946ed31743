#include "profiles/matmul.h"

/* Fitted to an H100 (62.3 TFLOPS in f32, 3.0 TB/s; bench/notes/matmul.md#first-variants), and used
 * for every GPU until one measures otherwise. */
#define GPU_BUT_GROUPS                                                                             \
    .rates = &gpu_rates, .flops_a_byte = 20.0, .naive_memory = 1.5, .register_memory = 1.4,        \
    .hides_latency = true, .gains_by_tiles = true, .most_vectors = UINT32_MAX,                     \
    .gathers_stores = true, .matrix_byte_flops = 13.3, .matrix_units = true
#define GPU GPU_BUT_GROUPS, .matvec_group = 1024

/* lavapipe: bench/notes/tune.md#plans-differ and #another-host. More than two vectors are faster by
 * vector there, up to six times. */
#define CPU                                                                                        \
    .flops_a_byte = 1.0, .registers_are_memory = true, .matvec_group = 256, .most_vectors = 2

/* A clock of a compute unit that makes 128 multiply-adds in it, reads 128 bytes of shared memory
 * and loads 64 from the second-level cache. */
#define CLOCK (1 / 1755.0)

/* Guessed of a GPU until its own rates are measured (api/matmul_calibrate.c), which begins with
 * their ratios: those of 6,198 points of 86 drawn products on an H100
 * (bench/notes/matmul.md#shapes). */
static const wfi_rates gpu_rates = {{[WFI_RATE_START] = 2.64,
                                     [WFI_RATE_DISPATCH] = 3.27,
                                     [WFI_RATE_WAVE] = 0.96,
                                     [WFI_RATE_MULTIPLY_ADD] = 0.581 * CLOCK / 128,
                                     [WFI_RATE_SHARED_BYTE] = 0.283 * CLOCK / 128,
                                     [WFI_RATE_SHARED_BYTE_F64] = 0.378 * CLOCK / 128,
                                     [WFI_RATE_LOAD_BYTE] = 0.602 * CLOCK / 64,
                                     [WFI_RATE_SHORT_ROW_BYTE] = 0.602 * CLOCK / 64,
                                     [WFI_RATE_NARROW_BYTE] = 0.488 * 0.602 * CLOCK / 64,
                                     [WFI_RATE_NARROW_WAIT] = 0.534 / 32,
                                     [WFI_RATE_OUTPUT] = 0.371 / 4096,
                                     [WFI_RATE_NARROW_OUTPUT] = 4.156 / 8 * 0.371 / 4096,
                                     /* 2.5 times as long a word in blocks of 8 x 8, 1.9 in 4 x 4
                                      * (an H200, 500 points of sums of up to 64 terms). */
                                     [WFI_RATE_OUTPUT_F64] = 2 * 2.4 * 0.371 / 4096,
                                     [WFI_RATE_PARTIAL_BYTE] = 0.662 / 3e6,
                                     [WFI_RATE_MEMORY_BYTE] = 5e-7,
                                     [WFI_RATE_GAP_ITEMS] = 2.255 * 32,
                                     /* 4,416 points of f16: 22 drawn products and 13 others. */
                                     [WFI_RATE_MATRIX_STEP] = 0.178,
                                     [WFI_RATE_MATRIX_WAVE] = 0.498,
                                     [WFI_RATE_MATRIX_MULTIPLY_ADD] = 1.78e-7,
                                     [WFI_RATE_MATRIX_SUBGROUP] = 6.18e-7,
                                     [WFI_RATE_MATRIX_LOAD_BYTE] = 1.36e-5,
                                     /* Since rows that begin at any element come in chunks, a
                                      * calibration of an H200 finds these to be 0.87, 0.89 and
                                      * 0.91 of what they were. */
                                     [WFI_RATE_MATRIX_NARROW_LOAD] = 0.87 * 4.14e-5,
                                     [WFI_RATE_MATRIX_NARROW_WAIT] = 0.89 * 7.26e-3,
                                     [WFI_RATE_MATRIX_OUTPUT] = 1.25e-4,
                                     [WFI_RATE_MATRIX_NARROW_OUTPUT] = 0.91 * 3.18e-4,
                                     [WFI_RATE_PACK_BYTE] = 3.02e-7}};

static const wfi_matmul_profile profiles[WFI_PROFILE_KINDS] = {
    [WFI_PROFILE_OTHER] = {GPU},
    [WFI_PROFILE_CPU] = {CPU, .gains_by_tiles = true},
    /* By the statistics of RADV's compiler, which spills from 240 registers on. */
    [WFI_PROFILE_AMD] = {GPU, .clock_mhz = 2000, .most_registers = 236},
    /* By the statistics of Mesa's compilers (ANV and Turnip 25.0), which keep addresses and loads
     * under way besides what the model counts; assumed of Mali. Intel's have fewer
     * registers a work-item the more of them a work-group has
     * (bench/notes/other-devices.md#registers). */
    [WFI_PROFILE_INTEL] = {GPU_BUT_GROUPS, .clock_mhz = 2000, .matvec_group = 256,
                           .register_fill = 0.40, .narrow_matrix_subgroups = true},
    [WFI_PROFILE_MOBILE] = {GPU_BUT_GROUPS, .clock_mhz = 800, .matvec_group = 256,
                            .register_fill = 0.43},
    /* By the statistics of Mesa's compiler (V3DV 25.0): blocks of 2 x 2 outputs spill, vec4 loads
     * of a vector too, and shared memory is ordinary memory. */
    [WFI_PROFILE_VIDEOCORE] = {.flops_a_byte = 20.0,
                               .naive_memory = 1.5,
                               .register_memory = 1.4,
                               .hides_latency = true},
    /* An H100: shared memory bench/notes/matmul.md#clocks, operands #machine-code, stream-K
     * #stream-k, few tiles #subgroup-k-overhead, few rows #few-rows, f16x2 #loops. A work-item that
     * sums several vectors reads each an element at a time, by whole lines where it lies across. */
    [WFI_PROFILE_NVIDIA] = {GPU, .guess_decides = true, .unit_registers = 65536, .pairs = true,
                            .keeps_operands = true, .stream_k_outputs = 32768, .partial_steps = 110,
                            .ended_steps = 92, .subgroup_k = true, .panel = true, .matvec_loads = 8,
                            .matvec_chunks = 4, .vectors_add = true, .matrix_units_stream_k = true,
                            .f16x2 = true},
};

/* SwiftShader gains nothing by tiles, and less by matvec (bench/notes/tune.md#plans-differ). */
static const wfi_matmul_profile swiftshader = {CPU};

/* Mesa's driver for NVIDIA's GPUs, by the statistics of its compiler (25.0), which needs more
 * registers than NVIDIA's own and puts what it has no room for into local memory. */
static const wfi_matmul_profile nvk = {GPU_BUT_GROUPS,          .clock_mhz = 1700,
                                       .matvec_group = 256,     .most_registers = 120,
                                       .unit_registers = 65536, .pairs = true};

const wfi_matmul_profile *wfi_matmul_profile_of(const wf_caps *caps)
{
    switch (caps->driver_id) {
    case VK_DRIVER_ID_GOOGLE_SWIFTSHADER:
        return &swiftshader;
    case VK_DRIVER_ID_MESA_NVK:
        return &nvk;
    default:
        return &profiles[wfi_profile_kind_of(caps)];
    }
}
