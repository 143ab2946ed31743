#include "core/quirks.h"

#include <string.h>

#include "core/arithmetic.h"
#include "core/vendors.h"
#include "core/volk.h"

static const wfi_quirk table[] = {
    {
        .driver_id = VK_DRIVER_ID_MOLTENVK,
        .vendor_id = WFI_AMD,
        /* Versions with the fault repaired report subgroups of 32. */
        .subgroup_size = 64,
        .faults = WF_FAULT_SHUFFLE | WF_FAULT_SUBGROUP_ARITHMETIC,
        .what = "subgroups of 64 are two SIMD groups of 32 in Metal: shuffles across them and "
                "reductions give wrong values",
        .instead = "lanes exchange values through shared memory",
        .reference = "github.com/KhronosGroup/MoltenVK/issues/2750, /2756; "
                     "github.com/ggml-org/llama.cpp/issues/15846",
        .test = "self-test: shuffle, subgroup arithmetic",
    },
    {
        .driver_id = VK_DRIVER_ID_MESA_TURNIP,
        .vendor_id = WFI_QUALCOMM,
        .name_piece = "702",
        .faults = WF_FAULT_SHUFFLE | WF_FAULT_SUBGROUP_ARITHMETIC,
        .what = "products with few columns, which reduce over subgroups, are wrong in f32 and f16; "
                "the cause is not established",
        .instead = "sums are made in shared memory",
        .reference = "github.com/ggml-org/llama.cpp/issues/25906",
        .test = "self-test: shuffle and subgroup arithmetic, each with a small f32 product in it",
    },
    {
        .driver_id = VK_DRIVER_ID_MESA_TURNIP,
        .vendor_id = WFI_QUALCOMM,
        .faults = WF_FAULT_FULL_SUBGROUPS,
        .what = "the compiler crashes on kernels of many registers whose subgroups are required to "
                "be full and of 128 work-items (seen of Mesa 25.0.7)",
        .instead = "products whose slices are subgroups have slices of 64 work-items",
        .reference = "docs/devices.md",
        .test = "tests/quirks/turnip_full_subgroups.comp (./dev test-vendors)",
    },
    {
        .driver_id = VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA,
        .vendor_id = WFI_INTEL,
        .most_subgroup_min = 8, /* Xe2, which has 16, has them in hardware and fast */
        .faults = WF_FAULT_COOPERATIVE_MATRIX,
        .what = "before Xe2 cooperative matrices are emulated on the shader cores or slower than "
                "plain code",
        .instead = "matrix products use plain arithmetic",
        .reference = "github.com/ggml-org/llama.cpp/pull/10597, /14001, /24404",
        .test = "self-test: cooperative matrices right and faster than plain",
    },
    {
        .driver_id = VK_DRIVER_ID_INTEL_PROPRIETARY_WINDOWS,
        .vendor_id = WFI_INTEL,
        .most_subgroup_min = 8,
        .faults = WF_FAULT_COOPERATIVE_MATRIX,
        .what = "before Xe2 cooperative matrices are slower than plain code, up to a thousandfold",
        .instead = "matrix products use plain arithmetic",
        .reference = "github.com/ggml-org/llama.cpp/pull/24404",
        .test = "self-test: cooperative matrices right and faster than plain",
    },
};

uint32_t wfi_quirk_count(void)
{
    return WFI_COUNT(table);
}

const wfi_quirk *wfi_quirk_get(uint32_t index)
{
    return index < wfi_quirk_count() ? &table[index] : NULL;
}

bool wfi_quirk_matches(const wfi_quirk *quirk, const wf_caps *caps)
{
    return (!quirk->driver_id || quirk->driver_id == caps->driver_id) &&
           (!quirk->vendor_id || quirk->vendor_id == caps->vendor_id) &&
           (!quirk->name_piece || strstr(caps->name, quirk->name_piece)) &&
           (!quirk->subgroup_size || quirk->subgroup_size == caps->subgroup_size) &&
           (!quirk->most_subgroup_min || caps->subgroup_min <= quirk->most_subgroup_min) &&
           caps->driver_version >= quirk->version_first &&
           (!quirk->version_fixed || caps->driver_version < quirk->version_fixed);
}

uint32_t wfi_quirks_known(const wf_caps *offered)
{
    uint32_t faults = 0;
    for (uint32_t i = 0; i < wfi_quirk_count(); i++)
        if (wfi_quirk_matches(&table[i], offered))
            faults |= table[i].faults;
    return faults;
}

uint32_t wfi_quirks_resolve(uint32_t known, const wfi_self_test *test)
{
    return test ? (known & ~test->tested) | (test->tested & test->failed) : known;
}

void wfi_quirks_apply(const wf_caps *offered, uint32_t faults, wf_caps *caps)
{
    *caps = *offered;
    caps->faults = faults;
    if (faults & WF_FAULT_SHUFFLE)
        caps->subgroup_operations &=
            ~(uint32_t)(VK_SUBGROUP_FEATURE_SHUFFLE_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT |
                        VK_SUBGROUP_FEATURE_QUAD_BIT);
    if (faults & WF_FAULT_SUBGROUP_ARITHMETIC)
        caps->subgroup_operations &=
            ~(uint32_t)(VK_SUBGROUP_FEATURE_ARITHMETIC_BIT | VK_SUBGROUP_FEATURE_CLUSTERED_BIT);
    if (faults & WF_FAULT_SHARED_MEMORY)
        caps->max_shared_bytes = 0;
    if (faults & WF_FAULT_COOPERATIVE_MATRIX) {
        caps->cooperative_matrix = caps->cooperative_matrix2 = caps->bf16_cooperative = false;
        caps->cooperative_shape_count = 0;
    }
}

bool wf_caps_quirk(const wf_caps *caps, uint32_t index, wf_quirk *out)
{
    if (!caps || !out)
        return false;
    for (uint32_t i = 0; i < wfi_quirk_count(); i++)
        if ((table[i].faults & caps->faults) && wfi_quirk_matches(&table[i], caps) &&
            index-- == 0) {
            *out = (wf_quirk){table[i].faults & caps->faults, table[i].what, table[i].instead,
                              table[i].reference};
            return true;
        }
    return false;
}
