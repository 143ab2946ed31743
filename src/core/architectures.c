#include "core/architectures.h"

#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"
#include "core/platform.h"
#include "core/vendors.h"

#define CUDA_GUIDE                                                                                 \
    "NVIDIA, CUDA C++ Programming Guide, Compute Capabilities: technical specifications"
#define CUDA_CALCULATOR                                                                            \
    "NVIDIA, CUDA Occupancy Calculator and CUDA C Programming Guide: compute capabilities 2 to 6"
#define LLVM_AMDGPU                                                                                \
    "AMD instruction set guides; LLVM AMDGPU target: register and LDS allocation granules"
#define INTEL_GUIDE "Intel, oneAPI GPU Optimization Guide: Intel Xe GPU architecture"
#define INTEL_GEN9 "Intel, The Compute Architecture of Intel Processor Graphics Gen9 (2015)"
#define INTEL_HD_530 "Intel, product specifications of HD Graphics 530 (clock, memory)"
#define MESA_IR3                                                                                   \
    "Mesa, freedreno device table (reg_size_vec4, wave_granularity) and ir3 (16 waves, 64 "        \
    "lanes); "                                                                                     \
    "azhirnov, cpu-gpu-arch (multiply-adds)"
#define ARM_GUIDE                                                                                  \
    "Arm, The Valhall/Bifrost Shader Core; Arm GPU Datasheet; Mali OpenCL Developer Guide "        \
    "101574: "                                                                                     \
    "local memory is global memory"

/* NVIDIA: 4 partitions of 16384 registers an SM; a warp's registers come 256 at a time. The first
 * row whose name part is found in the device's name is the device's: longer parts come first. */
#define NVIDIA_PARTS(id, label, parts, waves, groups, shared, reserved, fma)                       \
    .name = "nvidia:" id, .generation = label, .vendor_id = WFI_NVIDIA, .name_pieces = parts,      \
    .unit = "multiprocessor", .wave = 32, .simds = 4, .simd_waves = (waves) / 4,                   \
    .unit_groups = groups, .simd_registers = 16384, .register_step = 8, .lane_registers = 255,     \
    .unit_shared = (shared)*1024, .shared_step = (reserved) ? 128 : 256,                           \
    .shared_reserved = reserved, .unit_fma = fma, .source = CUDA_GUIDE
#define NVIDIA_ROW(...)                                                                            \
    {                                                                                              \
        NVIDIA_PARTS(__VA_ARGS__)                                                                  \
    }
/* Of such a generation the card with the most bandwidth for its arithmetic, by NVIDIA's data
 * sheets: multiprocessors, MHz, GB/s. */
#define GEFORCE_ROW(id, label, parts, waves, groups, shared, units, clock, bandwidth)              \
    {                                                                                              \
        NVIDIA_PARTS(id, label, parts, waves, groups, shared, 1024, 128),                          \
            .flops_a_byte = 2.0 * 128 * (units) * (clock) / ((bandwidth)*1e3)                      \
    }
/* NVIDIA before Pascal: `words` registers of an SM lie in `parts_` parts; a warp's come `step` a
 * lane at a time. */
#define OLD_NVIDIA_ROW(id, label, pieces, parts_, waves, groups, words, step, most, shared, gran,  \
                       fma)                                                                        \
    {                                                                                              \
        .name = "nvidia:" id, .generation = label, .vendor_id = WFI_NVIDIA, .name_pieces = pieces, \
        .unit = "multiprocessor", .wave = 32, .simds = parts_, .simd_waves = (waves) / (parts_),   \
        .unit_groups = groups, .simd_registers = (words) / (parts_), .register_step = step,        \
        .lane_registers = most, .unit_shared = (shared)*1024, .shared_step = gran,                 \
        .unit_fma = fma, .source = CUDA_CALCULATOR                                                 \
    }
/* AMD GCN and CDNA: 4 SIMDs a compute unit, waves of 64. A work-group of one wave takes none of the
 * 16 barriers of a compute unit, so that their number does not limit such groups. */
#define GCN_ROW(id, label, parts, waves, registers, most, step)                                    \
    {                                                                                              \
        .name = "amd:" id, .generation = label, .vendor_id = WFI_AMD, .name_pieces = parts,        \
        .unit = "compute unit", .wave = 64, .simds = 4, .simd_waves = waves, .unit_groups = 16,    \
        .simd_registers = (registers)*64, .register_step = step, .lane_registers = most,           \
        .unit_shared = 65536, .shared_step = 512, .unit_fma = 64, .groups_by_barriers = true,      \
        .source = LLVM_AMDGPU                                                                      \
    }
/* AMD RDNA: 4 SIMDs a work-group processor, which is two of the compute units that drivers count;
 * waves of 32 here. */
#define RDNA_ROW(id, label, parts, waves, registers, step, fma)                                    \
    {                                                                                              \
        .name = "amd:" id, .generation = label, .vendor_id = WFI_AMD, .name_pieces = parts,        \
        .unit = "work-group processor", .wave = 32, .simds = 4, .simd_waves = waves,               \
        .unit_groups = 32, .simd_registers = (registers)*32, .register_step = step,                \
        .lane_registers = 256, .unit_shared = 131072, .shared_step = 512, .unit_fma = fma,         \
        .counted_units = 2, .groups_by_barriers = true, .source = LLVM_AMDGPU                      \
    }
/* Intel: a hardware thread has 128 registers, whatever a kernel uses of them; from Xe-HPG on half
 * as many threads can have 256 each. */
#define INTEL_PARTS(id, label, parts, lanes, engines, threads, words, doubles, shared, fma, text)  \
    .name = "intel:" id, .generation = label, .vendor_id = WFI_INTEL, .name_pieces = parts,        \
    .unit = (doubles) ? "Xe core" : "subslice", .wave_doubles = doubles, .wave = lanes,            \
    .simds = engines, .simd_waves = threads, .unit_groups = 16,                                    \
    .simd_registers = (threads) * (words), .wave_words = words,                                    \
    .lane_registers = (words) / (lanes), .unit_shared = (shared)*1024, .shared_step = 1024,        \
    .unit_fma = fma, .source = text
#define INTEL_ROW(...)                                                                             \
    {                                                                                              \
        INTEL_PARTS(__VA_ARGS__)                                                                   \
    }
/* Adreno: 16 waves of 64 an SP. */
#define ADRENO_ROW(id, label, parts, vec4, granularity, shared, fma)                               \
    {                                                                                              \
        .name = "qualcomm:" id, .generation = label, .vendor_id = WFI_QUALCOMM,                    \
        .name_pieces = parts, .unit = "shader processor", .wave = 64, .simds = 1,                  \
        .simd_waves = 16, .simd_registers = (vec4)*4 * 64 * (granularity), .register_step = 4,     \
        .lane_registers = 192, .wave_step = granularity, .unit_shared = (shared)*1024,             \
        .unit_fma = fma, .source = MESA_IR3                                                        \
    }
/* Mali: full occupancy up to 32 registers a lane, half up to 64. */
#define MALI_ROW(id, label, parts, lanes, waves, fma)                                              \
    {                                                                                              \
        .name = "arm:" id, .generation = label, .vendor_id = WFI_ARM, .name_pieces = parts,        \
        .unit = "core", .wave = lanes, .simds = 1, .simd_waves = waves, .register_step = 32,       \
        .simd_registers = (waves) * (lanes)*32, .lane_registers = 64, .unit_fma = fma,             \
        .shared_is_memory = true, .source = ARM_GUIDE                                              \
    }

/* VideoCore: the subgroups of a work-group run on any of the core's processors. */
#define V3D_ROW(id, label, parts, processors)                                                      \
    {                                                                                              \
        .name = "broadcom:" id, .generation = label, .vendor_id = WFI_BROADCOM,                    \
        .name_pieces = parts, .unit = "core", .wave = 16, .simds = processors, .simd_waves = 4,    \
        .simd_registers = 2048, .register_step = 32, .lane_registers = 64, .wave_step = 2,         \
        .unit_fma = 4 * (processors), .counted_units = processors, .device_units = 1,              \
        .shared_is_memory = true,                                                                  \
        .source =                                                                                  \
            "Broadcom, VideoCore IV 3D Architecture Reference Guide; Mesa, v3d compiler (64 "      \
            "registers with 2 threads, 32 with 4; work-groups by subgroups); Raspberry Pi, "       \
            "product briefs (processors)"                                                          \
    }

static const wfi_architecture table[] = {
    NVIDIA_ROW("sm90", "Hopper", "H100|H200|H800|H20|GH200", 64, 32, 228, 1024, 128),
    NVIDIA_ROW("sm100", "Blackwell", "B200|B100|GB200|GB300|B300", 64, 32, 228, 1024, 128),
    NVIDIA_ROW("sm80", "Ampere", "A100|A800|A30", 64, 32, 164, 1024, 64),
    GEFORCE_ROW("sm120", "Blackwell", "RTX 50|RTX PRO", 48, 24, 100, 30, 2497, 448),
    GEFORCE_ROW("sm89", "Ada", "RTX 40|L40|L4|L20|Ada", 48, 24, 100, 24, 2460, 272),
    GEFORCE_ROW("sm86", "Ampere", "RTX 30|RTX A|A10|A16|A40|A2", 48, 16, 100, 28, 1777, 360),
    NVIDIA_ROW("sm75", "Turing", "RTX 20|GTX 16|Quadro RTX|TITAN RTX|T4|T1000|T600", 32, 16, 64, 0,
               64),
    NVIDIA_ROW("sm70", "Volta", "V100|TITAN V", 64, 32, 96, 0, 64),
    OLD_NVIDIA_ROW("sm52", "Maxwell", "GTX 9|GTX TITAN X|M40|M60|M4000|M5000|M6000", 4, 64, 32,
                   65536, 8, 255, 96, 256, 128),
    NVIDIA_ROW("sm61", "Pascal", "GTX 10|TITAN X|P40|P4", 64, 32, 96, 0, 128),
    OLD_NVIDIA_ROW("sm60", "Pascal", "P100|GP100", 2, 64, 32, 65536, 8, 255, 64, 256, 64),
    OLD_NVIDIA_ROW("sm50", "Maxwell", "GTX 75|GTX 745|K2200|M10", 4, 64, 32, 65536, 8, 255, 64, 256,
                   128),
    OLD_NVIDIA_ROW("sm35", "Kepler", "K20|K40|K6000|GTX 78|GTX TITAN", 4, 64, 16, 65536, 8, 255, 48,
                   256, 192),
    OLD_NVIDIA_ROW("sm37", "Kepler", "K80", 4, 64, 16, 131072, 8, 255, 112, 256, 192),
    OLD_NVIDIA_ROW("sm30", "Kepler", "GTX 6|GTX 76|GTX 77|GTX 74|K10|K4000|K5000", 4, 64, 16, 65536,
                   8, 63, 48, 256, 192),
    OLD_NVIDIA_ROW("sm20", "Fermi", "GTX 4|GTX 5|C2050|C2070|C2075|M2050|M2070|M2090", 2, 48, 8,
                   32768, 2, 63, 48, 128, 32),
    RDNA_ROW("rdna4", "RDNA 4", "gfx120|navi44|navi48|RX 90", 16, 1536, 24, 256),
    RDNA_ROW("rdna3", "RDNA 3", "navi31|navi32|gfx1151|strix_halo|8060S|8050S|RX 79|RX 78|RX 77",
             16, 1536, 24, 256),
    RDNA_ROW("rdna3-small", "RDNA 3 with 1024 registers",
             "navi33|phoenix|gfx1103|gfx115|strix|RX 76|780M|760M|740M|890M|880M|860M", 16, 1024,
             16, 256),
    RDNA_ROW("rdna2", "RDNA 2",
             "navi21|navi22|navi23|navi24|vangogh|rembrandt|raphael|mendocino|RX 6|680M|660M", 16,
             1024, 16, 128),
    RDNA_ROW("rdna1", "RDNA", "navi10|navi12|navi14|RX 57|RX 56|RX 55|RX 53", 20, 1024, 8, 128),
    GCN_ROW("cdna2", "CDNA 2 and 3", "MI300|MI200|MI210|MI250|aldebaran", 8, 512, 512, 8),
    GCN_ROW("gcn5", "GCN 5", "vega|raven|renoir|Radeon VII|MI50|MI60", 10, 256, 256, 4),
    GCN_ROW("gcn4", "GCN 4", "polaris|RX 4|RX 5", 8, 256, 256, 4),
    GCN_ROW("gcn3", "GCN 2 and 3",
            "tonga|fiji|iceland|carrizo|stoney|bonaire|hawaii|kaveri|kabini|R9 Fury|R9 Nano", 10,
            256, 256, 4),
    INTEL_ROW("xe2", "Xe2", "Arc(TM) B|Arc B|BMG|LNL|Lunar Lake|B580|B570", 16, 8, 8, 2048, true,
              128, 128, INTEL_GUIDE),
    INTEL_ROW("xe-hpg", "Xe-HPG and Xe-LPG",
              "Arc(TM) A|Arc A|DG2|ACM|MTL|ARL|Arc(TM) Graphics|A770|A750|A380", 8, 16, 8, 1024,
              true, 128, 128, INTEL_GUIDE),
    INTEL_ROW("xe-lp", "Xe-LP", "Iris(R) Xe|TGL|ADL|RPL|RKL|DG1|UHD Graphics 7", 8, 16, 7, 1024,
              false, 128, 128, INTEL_GUIDE),
    /* 24 execution units beside a processor's two channels of memory. */
    {INTEL_PARTS("gen9-gt2", "Gen9 with three subslices",
                 "SKL GT2|KBL GT2|AML GT2|CFL GT2|WHL GT2|CML GT2|HD Graphics 520|HD Graphics 530|"
                 "HD Graphics 620|HD Graphics 630",
                 8, 8, 7, 1024, false, 64, 64, INTEL_GEN9 "; " INTEL_HD_530),
     .device_units = 3, .flops_a_byte = 2.0 * 3 * 64 * 1150e6 / 34.1e9},
    INTEL_ROW("gen9", "Gen9 to Gen11",
              "UHD Graphics 6|HD Graphics 5|HD Graphics 6|Iris(R) Plus|SKL|KBL|CFL|ICL|APL|GLK", 8,
              8, 7, 1024, false, 64, 64, INTEL_GEN9),
    ADRENO_ROW("adreno7xx", "Adreno 7xx and X1", "Adreno (TM) 7|Adreno (TM) X1|Adreno X1|FD7", 96,
               2, 32, 256),
    ADRENO_ROW("adreno61x-small", "Adreno 605 to 612",
               "Adreno (TM) 605|Adreno (TM) 608|Adreno (TM) 610|Adreno (TM) 612", 48, 1, 16, 0),
    ADRENO_ROW("adreno6xx", "Adreno 615 to 640, 680",
               "Adreno (TM) 61|Adreno (TM) 62|Adreno (TM) 63|Adreno (TM) 64|Adreno (TM) 680", 96, 2,
               32, 0),
    ADRENO_ROW("adreno65x", "Adreno 643, 650 to 690", "Adreno (TM) 6|FD6", 64, 2, 32, 0),
    MALI_ROW("gen5", "Mali fifth generation, G615 and G715", "G615|G715|G620|G720|G625|G725|G925",
             16, 0, 128),
    MALI_ROW("valhall3", "Valhall, G510 to G710", "G610|G710", 16, 0, 64),
    MALI_ROW("valhall3-small", "Valhall, G310 and G510", "G310|G510", 16, 0, 0),
    MALI_ROW("valhall1", "Valhall, G57 to G78", "G57|G68|G77|G78", 16, 32, 32),
    MALI_ROW("bifrost8", "Bifrost, G52 and G76", "G52|G76", 8, 0, 24),
    MALI_ROW("bifrost4", "Bifrost, G31 to G72", "G31|G51|G71|G72", 4, 0, 0),
    {.name = "apple:m1",
     .generation = "Apple family 7 and 8 (A14, A15, M1, M2)",
     .vendor_id = WFI_APPLE,
     .name_pieces = "Apple M1|Apple M2|Apple A14|Apple A15|Apple A16|G13|G14",
     .unit = "core",
     .wave = 32,
     .simds = 1,
     .simd_waves = 96,
     .simd_registers = 53248,
     .register_step = 1,
     .lane_registers = 128,
     .wave_step = 2,
     .unit_shared = 61440,
     .shared_step = 16,
     .unit_fma = 128,
     .source = "Mesa, asahi: threads by register count (agx_performance.c); P. Turner, "
               "metal-benchmarks"},
    {.name = "apple:m3",
     .generation = "Apple family 9 (A17, M3, M4): registers and shared memory are cached",
     .vendor_id = WFI_APPLE,
     .name_pieces = "Apple M3|Apple M4|Apple A17|Apple A18",
     .unit = "core",
     .wave = 32,
     .simds = 1,
     .lane_registers = 128,
     .unit_fma = 128,
     .shared_is_memory = true,
     .source = "Apple, Tech Talk 111375: Explore GPU advancements in M3 and A17 Pro"},
    {.name = "imagination:rogue",
     .generation = "PowerVR Rogue",
     .vendor_id = WFI_IMAGINATION,
     .name_pieces = "Rogue|PowerVR",
     .unit = "shading cluster",
     .wave = 32,
     .simds = 1,
     .simd_waves = 16,
     .unit_fma = 32,
     .source = "Imagination, PowerVR Compute Development Recommendations (tasks of 32, 16 pipes a "
               "USC); Mesa, rogue_hw_utils.h (16 tasks)"},
    V3D_ROW("v3d7", "VideoCore VII", "V3D 7", 12),
    V3D_ROW("v3d", "VideoCore VI", "V3D", 8),
};

uint32_t wfi_architecture_count(void)
{
    return WFI_COUNT(table);
}

const wfi_architecture *wfi_architecture_get(uint32_t index)
{
    return index < wfi_architecture_count() ? &table[index] : NULL;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_word(char c)
{
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9');
}

/* How names are compared: whatever the case; whole: `name` must be it; word: it must begin a word
 * there, and spaces in either do not count. */
typedef enum comparison { ANYWHERE, WHOLE, WORD } comparison;

/* The length of what text[0 … length-1] takes at the beginning of `in`; 0: it is not there. */
static size_t stands_at(const char *in, const char *text, size_t length, bool spaces)
{
    size_t at = 0;
    for (size_t i = 0; i < length; i++) {
        if (!spaces && text[i] == ' ')
            continue;
        while (!spaces && in[at] == ' ')
            at++;
        if (!in[at] || lower(in[at]) != lower(text[i]))
            return 0;
        at++;
    }
    return at;
}

static bool stands_in(const char *in, const char *text, size_t length, comparison how)
{
    if (how == WHOLE)
        return strlen(in) == length && stands_at(in, text, length, true) == length;
    for (const char *at = in; *at; at++)
        if ((how == ANYWHERE || at == in || !is_word(at[-1])) &&
            stands_at(at, text, length, how == ANYWHERE))
            return true;
    return false;
}

/* Whether one of the parts, separated by '|', stands in `name`. */
static bool any_name_piece(const char *parts, const char *name, comparison how)
{
    while (*parts) {
        const size_t length = strcspn(parts, "|");
        if (stands_in(name, parts, length, how))
            return true;
        parts += length + (parts[length] == '|');
    }
    return false;
}

static const wfi_architecture *find(const wf_caps *caps)
{
    for (uint32_t i = 0; i < wfi_architecture_count(); i++)
        if (table[i].vendor_id == caps->vendor_id &&
            any_name_piece(table[i].name_pieces, caps->name, ANYWHERE))
            return &table[i];
    return NULL;
}

/* A choice asks hundreds of times for one device, and looking through the names of the table took
 * most of its time: the last answer of each thread is kept, with the device that it is of. */
const wfi_architecture *wfi_architecture_of(const wf_caps *caps)
{
    static WFI_THREAD_LOCAL struct {
        uint32_t vendor_id;
        char name[sizeof caps->name];
        const wfi_architecture *found;
    } last; /* at first of no vendor and no name, which no row has */
    if (caps->vendor_id != last.vendor_id || strcmp(caps->name, last.name) != 0) {
        last.found = find(caps);
        last.vendor_id = caps->vendor_id;
        memcpy(last.name, caps->name, sizeof last.name);
    }
    return last.found;
}

/* The row's name behind "vendor:". */
static const char *id_of(const wfi_architecture *a)
{
    return strchr(a->name, ':') + 1;
}

/* Behind "amd:" alone rows of that vendor are asked for; NULL: the row is not one of them. */
static const char *of_vendor(const wfi_architecture *a, const char *name)
{
    const char *colon = strchr(name, ':');
    if (!colon)
        return name;
    const size_t length = (size_t)(colon - name) + 1;
    return stands_at(a->name, name, length, true) == length ? colon + 1 : NULL;
}

/* From the surest comparison to the least. */
static bool is_named(const wfi_architecture *a, const char *name, int pass)
{
    switch (pass) {
    case 0:
        return any_name_piece(id_of(a), name, WHOLE) || any_name_piece(a->name_pieces, name, WHOLE);
    case 1:
        return strlen(a->generation) == stands_at(a->generation, name, strlen(name), false);
    default:
        return any_name_piece(a->name_pieces, name, WORD);
    }
}

/* How drivers name the GPUs that targets of the tool name otherwise (tool/cli/targets.def). */
static const struct {
    const char *begin, *device;
} targets[] = {{"adreno:", "Adreno (TM) "}, {"mali:", "Mali-"},       {"v3d:", "V3D "},
               {"intel:skl", "SKL GT2"},    {"nvk:turing", "RTX 20"}, {"nvk:ampere", "RTX 30"}};

/* A target's name as its driver names the device; others as they are. */
static const char *device_of(const char *name, char *text, size_t bytes)
{
    for (size_t i = 0; i < WFI_COUNT(targets); i++) {
        const size_t length = strlen(targets[i].begin);
        if (stands_at(name, targets[i].begin, length, true) == length &&
            (name[length] || name[length - 1] != ':')) {
            snprintf(text, bytes, "%s%s", targets[i].device, name + length);
            return text;
        }
    }
    return name;
}

const wfi_architecture *wfi_architecture_named(const char *given)
{
    char text[64];
    const char *name = device_of(given, text, sizeof text);
    for (int pass = 0; pass < 3; pass++)
        for (uint32_t i = 0; i < wfi_architecture_count(); i++) {
            const char *own = of_vendor(&table[i], name);
            if (own && *own && is_named(&table[i], own, pass))
                return &table[i];
        }
    return NULL;
}

wfi_unit wfi_unit_of(const wf_caps *caps)
{
    const wfi_architecture *a = wfi_architecture_of(caps);
    const uint32_t told = caps->unit_subgroups * caps->subgroup_size;
    if (!a)
        return (wfi_unit){.items = told, .counted = 1};
    return (wfi_unit){.items = told ? told : a->simds * a->simd_waves * a->wave,
                      .lane_registers = a->lane_registers,
                      .registers = a->simds * a->simd_registers,
                      .wave_words = a->wave_words,
                      .groups = a->unit_groups,
                      .shared_bytes = a->unit_shared,
                      .fma = a->unit_fma,
                      .counted = a->counted_units ? a->counted_units : 1,
                      .flops_a_byte = a->flops_a_byte,
                      .shared_is_memory = a->shared_is_memory};
}

/* Drivers that do not report their compute units are those of phones and processors, which mostly
 * have 4 to 16, and those of Intel's cards, which have 8 to 32. */
uint32_t wfi_units_of(const wf_caps *caps)
{
    const wfi_architecture *a = wfi_architecture_of(caps);
    if (!caps->compute_units && a && a->device_units)
        return a->device_units;
    const bool discrete = caps->device_type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    return caps->compute_units ? caps->compute_units : discrete ? 32 : 8;
}
