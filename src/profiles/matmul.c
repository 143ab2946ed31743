#include "profiles/matmul.h"

/* Fitted to an H100 (62.3 TFLOPS in f32, 3.0 TB/s; bench/notes/matmul.md#first-variants), and used
 * for every GPU until one measures otherwise. */
#define GPU                                                                                        \
    .flops_a_byte = 20.0, .naive_memory = 1.5, .register_memory = 1.4, .hides_latency = true,      \
    .gains_by_tiles = true, .matvec_group = 1024, .most_vectors = UINT32_MAX,                      \
    .matrix_byte_flops = 13.3, .matrix_units = true

/* lavapipe: bench/notes/tune.md#plans-differ and #another-host. More than two vectors are faster by
 * vector there, up to six times. */
#define CPU                                                                                        \
    .flops_a_byte = 1.0, .registers_are_memory = true, .matvec_group = 256, .most_vectors = 2

static const wfi_matmul_profile profiles[WFI_PROFILE_KINDS] = {
    [WFI_PROFILE_OTHER] = {GPU},
    [WFI_PROFILE_CPU] = {CPU, .gains_by_tiles = true},
    /* By the statistics of RADV's compiler, which spills from 240 registers on. */
    [WFI_PROFILE_AMD] = {GPU, .most_registers = 236},
    /* An H100: shared memory bench/notes/matmul.md#clocks, operands #machine-code, stream-K
     * #stream-k, few tiles #subgroup-k-overhead, few rows #few-rows, f16x2 #loops. A work-item that
     * sums several vectors reads each an element at a time, by whole lines where it lies across. */
    [WFI_PROFILE_NVIDIA] = {GPU, .unit_registers = 65536, .pairs = true, .keeps_operands = true,
                            .stream_k_outputs = 32768, .partial_steps = 110, .ended_steps = 92,
                            .subgroup_k = true, .panel = true, .matvec_loads = 8,
                            .matvec_chunks = 4, .vectors_add = true, .matrix_units_stream_k = true,
                            .f16x2 = true},
};

/* SwiftShader gains nothing by tiles, and less by matvec (bench/notes/tune.md#plans-differ). */
static const wfi_matmul_profile swiftshader = {CPU};

const wfi_matmul_profile *wfi_matmul_profile_of(const wf_caps *caps)
{
    return caps->driver_id == VK_DRIVER_ID_GOOGLE_SWIFTSHADER
               ? &swiftshader
               : &profiles[wfi_profile_kind_of(caps)];
}
