/* Parameters of a conjugate-gradient solve. */
#include "solve/cg.h"

double wfi_cg_tolerance(const wf_cg_params *p)
{
    if (p->tolerance > 0)
        return p->tolerance;
    return p->matrix->type == WF_TYPE_F64 ? 1e-10 : 1e-6;
}

wf_result wfi_cg_check_params(const wf_device *device, const char *function, const wf_cg_params *p)
{
    const wf_spmv_params *m = p->matrix;
    if (!m || (unsigned)p->precondition > WF_PRECONDITION_BLOCK_JACOBI || !(p->tolerance >= 0) ||
        p->block > WF_CG_MOST_BLOCK)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT, "%s: bad parameters", function);
    if (m->rows != m->columns)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "%s: the matrix is %u x %u, not square", function, m->rows, m->columns);
    if (m->vectors > 1 || m->transpose || m->alpha || m->beta > 0 || m->beta < 0 ||
        m->x_stride > 1 || m->y_stride > 1 || m->buffers)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "%s: one vector, no scaling, no transpose, and the matrix in host memory",
                        function);
    if (m->type != WF_TYPE_F32 && m->type != WF_TYPE_F64)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED, "%s: %s is not f32 or f64", function,
                        wf_type_name(m->type));
    if (p->mixed && m->type != WF_TYPE_F64)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "%s: mixed precision takes an f64 matrix", function);
    return WF_SUCCESS;
}
