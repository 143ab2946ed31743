/* Published figures of the products that targets stand for. Integrated GPUs have the bandwidth of
 * the memory that their product page names. */
#include <string.h>

#include "core/arithmetic.h"
#include "model/predict.h"

#define AMD "AMD, product specifications"
#define ARK "Intel, product specifications (ARK)"
#define NVIDIA "NVIDIA, product specifications"
#define MALI "Arm, GPU datasheet (multiply-adds a core and clock); the SoC's product brief"
/* Lanes by Mesa's table of shader processors and by what two sources tell of one: 256, as 1536 in
 * all on Adreno 740 and 750. Qualcomm publishes no clocks: they are those of retail phones, at
 * which reviewers report these GPUs. */
#define ADRENO                                                                                     \
    "Mesa, freedreno_devices.py (shader processors); azhirnov, cpu-gpu-arch (1536 multiply-adds "  \
    "a clock on Adreno 740 and 750: 256 each); the SoC's product brief (memory); reported clocks"
#define V3D "Raspberry Pi, product briefs; QPUs of four lanes: Mesa, v3d_device_info.c"

static const wfi_data_sheet sheets[] = {
    {"amd:polaris10", "Radeon RX 580", 36, 64, 1340, 256, 1.0 / 16, AMD},
    {"amd:vega10", "Radeon RX Vega 64", 64, 64, 1546, 484, 1.0 / 16, AMD},
    {"amd:navi10", "Radeon RX 5700 XT", 40, 64, 1905, 448, 1.0 / 16, AMD},
    {"amd:navi21", "Radeon RX 6900 XT", 80, 64, 2250, 512, 1.0 / 16, AMD},
    {"amd:navi31", "Radeon RX 7900 XTX", 96, 128, 2500, 960, 1.0 / 32, AMD},
    {"amd:gfx1201", "Radeon RX 9070 XT", 64, 128, 2970, 640, 1.0 / 64, AMD},
    {"intel:skl", "HD Graphics 530", 3, 64, 1150, 34.1, 1.0 / 4, ARK},
    {"intel:tgl", "Iris Xe, 96 units", 6, 128, 1350, 68.3, 0, ARK},
    {"intel:dg2", "Arc A770", 32, 128, 2100, 560, 0, ARK},
    {"intel:mtl", "Arc of Core Ultra 7 155H", 8, 128, 2250, 119.5, 0, ARK},
    {"intel:lnl", "Arc 140V", 8, 128, 1950, 136.5, 1.0 / 16, ARK},
    {"intel:bmg", "Arc B580", 20, 128, 2670, 456, 1.0 / 16, ARK},
    {"nvk:turing", "GeForce RTX 2080", 46, 64, 1710, 448, 1.0 / 32, NVIDIA},
    {"nvk:ampere", "GeForce RTX 3090", 82, 128, 1695, 936, 1.0 / 64, NVIDIA},
    {"adreno:730", "Snapdragon 8+ Gen 1", 4, 256, 900, 51.2, 0, ADRENO},
    {"adreno:740", "Snapdragon 8 Gen 2", 6, 256, 680, 67.2, 0, ADRENO},
    {"adreno:750", "Snapdragon 8 Gen 3", 6, 256, 903, 76.8, 0, ADRENO},
    {"mali:g610", "RK3588", 4, 64, 1000, 34.1, 0, MALI},
    {"v3d:42", "Raspberry Pi 4", 8, 4, 500, 12.8, 0, V3D},
    {"v3d:71", "Raspberry Pi 5", 12, 4, 960, 17.1, 0, V3D},
    {"nvidia:h100", "H100 SXM5 80 GB", 132, 128, 1980, 3350, 1.0 / 2, NVIDIA},
};

const wfi_data_sheet *wfi_data_sheet_of(const char *target)
{
    for (size_t i = 0; i < WFI_COUNT(sheets); i++)
        if (strcmp(sheets[i].target, target) == 0)
            return &sheets[i];
    return NULL;
}
