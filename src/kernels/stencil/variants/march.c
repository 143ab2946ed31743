/* march: 2.5-D blocking in registers. */
#include "kernels/stencil/rows.h"

static const wfi_parameter parameters[] = {WFI_STENCIL_LOCAL_X(128), WFI_STENCIL_LOCAL_Y(1),
                                           WFI_STENCIL_MARCH(4)};

static const wfi_constraint constraints[] = {WFI_STENCIL_FITS, WFI_STENCIL_FITS_DISPATCH};

static double fit(wfi_point *point)
{
    const wfi_stencil_profile *profile = wfi_stencil_profile_of(point->caps);
    const bool deep = point->problem->stencil.dimensions == 3 && wfi_stencil_is_wide_box(point);
    if (wfi_stencil_goes_by_times(point)) {
        wfi_stencil_fit_by_times(point, 32, deep ? 16 : 8);
    } else {
        wfi_stencil_fit_group(point, 256, profile->march_width);
        wfi_point_set(point, STENCIL_ID_MARCH, 4);
        if (profile->least_groups)
            wfi_stencil_fit_long_columns(point);
        wfi_stencil_shorten_columns(point);
    }
    return wfi_stencil_fit_published(point, wfi_stencil_bytes(point) * 2.2) *
           wfi_stencil_register_cost(point);
}

const wfi_variant wfi_stencil_march = {
    WFI_STENCIL_ROW(march, parameters, constraints),
    .summary = "work-items march along the slowest axis with a star's planes in registers",
    .source = "Micikevicius, 3D finite difference computation on GPUs (GPGPU-2, 2009)",
    .fit = fit,
    .traffic = wfi_stencil_march_traffic,
};
