/* Families that a build leaves out (WAVEFIT_FAMILIES): their public functions say so and fail. And
 * the families that are searched. */
#include "api/families.h"

#include <stddef.h>
#include <string.h>

#include "core/arithmetic.h"
#include "core/device.h"
#include "wfi_families.h"

wf_result wfi_family_require(const wfi_log *log, wf_family family, const char *function)
{
    static const bool built[WF_FAMILY_COUNT] = {
        [WF_FAMILY_HIMENO] = WFI_HAS_HIMENO,   [WF_FAMILY_SPMV] = WFI_HAS_SPMV,
        [WF_FAMILY_MATMUL] = WFI_HAS_MATMUL,   [WF_FAMILY_VECTOR] = WFI_HAS_VECTOR,
        [WF_FAMILY_STENCIL] = WFI_HAS_STENCIL,
    };
    if ((unsigned)family < WF_FAMILY_COUNT && !built[family])
        return wfi_fail(log, WF_ERROR_UNSUPPORTED,
                        "%s: this build of wavefit has no family %s (it was made with "
                        "WAVEFIT_FAMILIES=" WFI_FAMILIES ")",
                        function, wf_family_name(family));
    return WF_SUCCESS;
}

/* ------------------------------------------------------------------------ families searched */

#define PLAN(name)                                                                                 \
    static wf_result plan_##name(wf_device *device, const void *given, const wf_tuning *tuning,    \
                                 wf_plan **out)                                                    \
    {                                                                                              \
        wf_##name##_params params = *(const wf_##name##_params *)given;                            \
        params.tuning = tuning;                                                                    \
        return wf_##name##_plan(device, &params, out);                                             \
    }
PLAN(matmul)
PLAN(spmv)
PLAN(stencil)

#define SEARCHED(id, name)                                                                         \
    WF_FAMILY_##id, offsetof(wf_tune_params, name), sizeof(wf_##name##_params)

static const wfi_searched searched[] = {
    {SEARCHED(MATMUL, matmul), plan_matmul},
    {SEARCHED(SPMV, spmv), plan_spmv},
    {SEARCHED(STENCIL, stencil), plan_stencil},
    {SEARCHED(HIMENO, himeno), NULL},
};

const void *wfi_searched_given(const wfi_searched *of, const wf_tune_params *params)
{
    const void *given;
    memcpy(&given, (const char *)params + of->given, sizeof given);
    return given;
}

const wfi_searched *wfi_searched_of(const wf_tune_params *params)
{
    const wfi_searched *found = NULL;
    uint32_t count = 0;
    for (size_t i = 0; i < WFI_COUNT(searched); i++)
        if (wfi_searched_given(&searched[i], params)) {
            found = &searched[i];
            count++;
        }
    return count == 1 ? found : NULL;
}

/* --------------------------------------------------------------------------- families left out */

/* A function of a missing family. `device` is the argument that brings a log, or NULL. */
#define MISSING(family, device, function, parameters)                                              \
    wf_result function parameters                                                                  \
    {                                                                                              \
        const wf_device *of = (device);                                                            \
        return wfi_family_require(of ? &of->log : NULL, WF_FAMILY_##family, #function);            \
    }

#if !WFI_HAS_MATMUL
MISSING(MATMUL, device, wf_matmul_plan,
        (wf_device * device, const wf_matmul_params *params, wf_plan **out))
MISSING(MATMUL, device, wf_calibrate,
        (wf_device * device, const wf_calibrate_params *params, wf_calibration *out))
MISSING(MATMUL, NULL, wf_matmul_bytes,
        (const wf_matmul_params *params, uint64_t bytes[WF_MATMUL_BINDINGS]))
MISSING(MATMUL, NULL, wf_matmul_check,
        (const wf_matmul_params *params, const wf_matmul_inputs *inputs, const void *c,
         uint64_t max_checked, uint64_t seed, wf_check *check))
#endif

#if !WFI_HAS_SPMV
MISSING(SPMV, device, wf_spmv_plan,
        (wf_device * device, const wf_spmv_params *params, wf_plan **out))
MISSING(SPMV, NULL, wf_spmv_scale, (wf_plan * plan, double alpha, double beta))
MISSING(SPMV, NULL, wf_spmv_update, (wf_plan * plan, const void *values))
MISSING(SPMV, NULL, wf_spmv_record_update,
        (wf_plan * plan, VkCommandBuffer command_buffer, wf_arena *arena, const wf_binding *values))
MISSING(SPMV, NULL, wf_spmv_analysis_of, (const wf_plan *plan, wf_spmv_analysis *analysis))
MISSING(SPMV, NULL, wf_spmv_check_scaled,
        (const wf_spmv_params *params, const void *x, const void *y_before, const void *y,
         wf_check *check))
MISSING(SPMV, NULL, wf_spmv_check,
        (const wf_spmv_params *params, const void *x, const void *y, wf_check *check))
MISSING(SPMV, device, wf_cg_solve,
        (wf_device * device, const wf_cg_params *params, const void *b, void *x,
         wf_cg_result *result))
MISSING(SPMV, device, wf_cg_create, (wf_device * device, const wf_cg_params *params, wf_cg **out))
MISSING(SPMV, NULL, wf_cg_status_of, (wf_cg * cg))
MISSING(SPMV, NULL, wf_cg_record_upload, (wf_cg * cg, VkCommandBuffer command_buffer))
MISSING(SPMV, NULL, wf_cg_record,
        (wf_cg * cg, VkCommandBuffer command_buffer, wf_arena *arena, const wf_bindings *bindings,
         uint32_t iterations, uint32_t flags))
MISSING(SPMV, device, wf_cg_step_plan,
        (wf_device * device, const wf_cg_step_params *params, uint64_t *partials, wf_plan **out))
MISSING(SPMV, device, wf_cg_product_plan,
        (wf_device * device, const wf_spmv_params *params, uint32_t *partials, wf_plan **out))

bool wf_cg_needs_upload(const wf_cg *cg)
{
    (void)cg; /* there is none */
    return false;
}

void wf_cg_trim(wf_cg *cg)
{
    (void)cg;
}

void wf_cg_destroy(wf_cg **cg)
{
    (void)cg;
}
#endif

#if !WFI_HAS_VECTOR
MISSING(VECTOR, device, wf_vector_plan,
        (wf_device * device, const wf_vector_params *params, wf_plan **out))
#endif

#if !WFI_HAS_HIMENO
uint64_t wf_himeno_memory(const wf_himeno_params *params)
{
    (void)params;
    return 0;
}

void wf_himeno_destroy(wf_himeno **himeno)
{
    (void)himeno; /* there is none */
}

MISSING(HIMENO, device, wf_himeno_create,
        (wf_device * device, const wf_himeno_params *params, wf_himeno **out))
MISSING(HIMENO, NULL, wf_himeno_start, (wf_himeno * himeno))
MISSING(HIMENO, NULL, wf_himeno_write, (wf_himeno * himeno, const wf_himeno_arrays *arrays))
MISSING(HIMENO, NULL, wf_himeno_write_planes,
        (wf_himeno * himeno, uint32_t first, uint32_t planes, const float *p))
MISSING(HIMENO, NULL, wf_himeno_run,
        (wf_himeno * himeno, uint32_t iterations, float *gosa, double *seconds, bool *gpu_clock))
MISSING(HIMENO, NULL, wf_himeno_run_each,
        (wf_himeno * himeno, uint32_t iterations, float *gosa, double *seconds, bool *gpu_clock))
MISSING(HIMENO, NULL, wf_himeno_read, (wf_himeno * himeno, float *p))
MISSING(HIMENO, NULL, wf_himeno_describe,
        (const wf_himeno *himeno, wf_plan_info *info, uint32_t *slabs))
MISSING(HIMENO, device, wf_himeno_plan_cut,
        (wf_device * device, const wf_himeno_params *params, wf_himeno_cut *cut))
MISSING(HIMENO, NULL, wf_himeno_halos, (wf_himeno * himeno, wf_halo *halo))
MISSING(HIMENO, NULL, wf_himeno_pass,
        (wf_himeno * himeno, uint32_t iterations, bool arrived, double *seconds))
MISSING(HIMENO, NULL, wf_himeno_bind_halos, (wf_himeno * himeno, const wf_halo_bindings *halos))
MISSING(HIMENO, NULL, wf_himeno_pass_begin, (wf_himeno * himeno, uint32_t iterations, bool arrived))
MISSING(HIMENO, NULL, wf_himeno_pass_end, (wf_himeno * himeno, double *seconds))
MISSING(HIMENO, NULL, wf_himeno_pass_next,
        (wf_himeno * himeno, uint32_t iterations, bool arrived, double *seconds))
MISSING(HIMENO, NULL, wf_himeno_partials, (wf_himeno * himeno, float *partials, uint32_t *count))
MISSING(HIMENO, device, wf_himeno_gosa,
        (wf_device * device, const float *partials, uint32_t count, float *gosa))
MISSING(HIMENO, NULL, wf_himeno_time_kernels,
        (wf_himeno * himeno, wf_plan_kernel kernels[WF_HIMENO_KERNELS],
         double us[WF_HIMENO_KERNELS], bool *gpu_clock))
MISSING(HIMENO, NULL, wf_himeno_check,
        (const wf_himeno_params *params, const wf_himeno_arrays *start, uint32_t iterations,
         const float *p, float gosa, uint64_t max_checked, uint64_t seed, wf_check *check,
         double *gosa_error_over_bound))
#endif

#if !WFI_HAS_STENCIL
MISSING(STENCIL, device, wf_stencil_plan,
        (wf_device * device, const wf_stencil_params *params, wf_plan **out))
MISSING(STENCIL, NULL, wf_stencil_check,
        (const wf_stencil_params *params, const void *in, const void *out, uint64_t max_checked,
         uint64_t seed, wf_check *check))
MISSING(STENCIL, device, wf_stencil_plan_cut,
        (wf_device * device, const wf_stencil_params *params, wf_stencil_cut *cut))
MISSING(STENCIL, device, wf_stencil_slab_create,
        (wf_device * device, const wf_stencil_slab_params *params, wf_stencil_slab **out))
MISSING(STENCIL, NULL, wf_stencil_slab_halos, (wf_stencil_slab * slab, wf_halo *halo))
MISSING(STENCIL, NULL, wf_stencil_slab_bind_halos,
        (wf_stencil_slab * slab, const wf_halo_bindings *halos))
MISSING(STENCIL, NULL, wf_stencil_slab_write, (wf_stencil_slab * slab, const void *planes))
MISSING(STENCIL, NULL, wf_stencil_slab_read, (wf_stencil_slab * slab, void *planes))
MISSING(STENCIL, NULL, wf_stencil_slab_pass_begin, (wf_stencil_slab * slab, uint32_t steps))
MISSING(STENCIL, NULL, wf_stencil_slab_pass_end, (wf_stencil_slab * slab, double *seconds))
MISSING(STENCIL, NULL, wf_stencil_slab_pass_next,
        (wf_stencil_slab * slab, uint32_t steps, double *seconds))
MISSING(STENCIL, NULL, wf_stencil_slab_describe, (const wf_stencil_slab *slab, wf_plan_info *info))
MISSING(STENCIL, device, wf_laplace_solve,
        (wf_device * device, const wf_laplace_params *params, void *u, wf_laplace_result *result))
MISSING(STENCIL, device, wf_laplace_create,
        (wf_device * device, const wf_laplace_params *params, wf_laplace **out))
MISSING(STENCIL, NULL, wf_laplace_record_upload,
        (wf_laplace * laplace, VkCommandBuffer command_buffer))
MISSING(STENCIL, NULL, wf_laplace_record,
        (wf_laplace * laplace, VkCommandBuffer command_buffer, wf_arena *arena,
         const wf_bindings *bindings, uint32_t iterations, uint32_t flags))
MISSING(STENCIL, device, wf_laplace_plan_cut,
        (wf_device * device, const wf_laplace_params *params, uint32_t parts, wf_laplace_cut *cut))
MISSING(STENCIL, device, wf_laplace_slab_create,
        (wf_device * device, const wf_laplace_slab_params *params, wf_laplace_slab **out))
MISSING(STENCIL, NULL, wf_laplace_slab_halos, (wf_laplace_slab * slab, wf_halo *halo))
MISSING(STENCIL, NULL, wf_laplace_slab_bind_halos,
        (wf_laplace_slab * slab, const wf_halo_bindings *halos))
MISSING(STENCIL, NULL, wf_laplace_slab_write,
        (wf_laplace_slab * slab, const void *rows, int exponent))
MISSING(STENCIL, NULL, wf_laplace_slab_read, (wf_laplace_slab * slab, void *rows))
MISSING(STENCIL, NULL, wf_laplace_slab_pass_begin, (wf_laplace_slab * slab, uint32_t iterations))
MISSING(STENCIL, NULL, wf_laplace_slab_pass_end, (wf_laplace_slab * slab, double *seconds))
MISSING(STENCIL, NULL, wf_laplace_slab_pass_next,
        (wf_laplace_slab * slab, uint32_t iterations, double *seconds))
MISSING(STENCIL, NULL, wf_laplace_slab_residual,
        (wf_laplace_slab * slab, double *squares, double *scales))
MISSING(STENCIL, device, wf_laplace_rows_look,
        (wf_device * device, const wf_laplace_params *grid, uint32_t first_row, uint32_t count,
         const void *rows, const void *lower, const void *upper, double unit,
         wf_laplace_rows_found *found))

void wf_laplace_slab_destroy(wf_laplace_slab **slab)
{
    (void)slab; /* there is none */
}

void wf_stencil_slab_destroy(wf_stencil_slab **slab)
{
    (void)slab; /* there is none */
}

bool wf_laplace_needs_upload(const wf_laplace *laplace)
{
    (void)laplace; /* there is none */
    return false;
}

void wf_laplace_trim(wf_laplace *laplace)
{
    (void)laplace;
}

void wf_laplace_destroy(wf_laplace **laplace)
{
    (void)laplace;
}
#endif
