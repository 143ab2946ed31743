#include "kernels/spmv/push.h"

#include <math.h>
#include <string.h>

wf_type wfi_spmv_real(wf_type type)
{
    return type == WF_TYPE_F64 ? WF_TYPE_F64 : WF_TYPE_F32;
}

bool wfi_spmv_scale_fits(wf_type type, double alpha, double beta)
{
    if (type == WF_TYPE_F64)
        return isfinite(alpha) && isfinite(beta);
    return isfinite((float)alpha) && isfinite((float)beta);
}

uint32_t wfi_spmv_put_scale(wf_type type, double alpha, double beta, unsigned char *push)
{
    const double wide[2] = {alpha, beta};
    const float narrow[2] = {(float)alpha, (float)beta};
    const uint32_t bytes = type == WF_TYPE_F64 ? sizeof wide : sizeof narrow;
    memcpy(push, type == WF_TYPE_F64 ? (const void *)wide : narrow, bytes);
    return bytes;
}

uint32_t wfi_spmv_put_push(const wf_spmv_params *p, const void *push, uint32_t bytes,
                           wfi_step *step)
{
    const uint32_t at = wfi_spmv_put_scale(p->type, *p->alpha, p->beta, step->push);
    memcpy(step->push + at, push, bytes);
    step->push_bytes = at + bytes;
    return at;
}

bool wfi_spmv_is_scaled(const wf_spmv_params *p)
{
    return *p->alpha < 1 || *p->alpha > 1 || p->beta < 0 || p->beta > 0;
}
