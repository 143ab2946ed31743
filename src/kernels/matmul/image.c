/* Products on storage images: a step before the product copies each image that is read to the
 * workspace, as the matrix that every kernel takes, and one behind it copies C to its image. */
#include "kernels/matmul/image.h"

#include <string.h>

#include "core/arithmetic.h"
#include "plan/images.h"
#include "wfi_shaders.h"

#define GROUP_X 16
#define GROUP_Y 8

/* As in image_rows.glsl. */
typedef struct image_push {
    uint32_t rows, columns, ld;
} image_push;

typedef const wfi_spirv *by_format[WF_IMAGE_RGBA8 + 1];

static const by_format loads[2] = {
    {
        [WF_IMAGE_R32F] = &wfi_spv_image_load_r32f_32,
        [WF_IMAGE_R16F] = &wfi_spv_image_load_r16f_32,
        [WF_IMAGE_RGBA16F] = &wfi_spv_image_load_rgba16f_32,
        [WF_IMAGE_RGBA8] = &wfi_spv_image_load_rgba8_32,
    },
    {
        [WF_IMAGE_R32F] = &wfi_spv_image_load_r32f_16,
        [WF_IMAGE_R16F] = &wfi_spv_image_load_r16f_16,
        [WF_IMAGE_RGBA16F] = &wfi_spv_image_load_rgba16f_16,
        [WF_IMAGE_RGBA8] = &wfi_spv_image_load_rgba8_16,
    },
};
static const by_format stores[2] = {
    {
        [WF_IMAGE_R32F] = &wfi_spv_image_store_r32f_32,
        [WF_IMAGE_R16F] = &wfi_spv_image_store_r16f_32,
        [WF_IMAGE_RGBA16F] = &wfi_spv_image_store_rgba16f_32,
        [WF_IMAGE_RGBA8] = &wfi_spv_image_store_rgba8_32,
    },
    {
        [WF_IMAGE_R32F] = &wfi_spv_image_store_r32f_16,
        [WF_IMAGE_R16F] = &wfi_spv_image_store_r16f_16,
        [WF_IMAGE_RGBA16F] = &wfi_spv_image_store_rgba16f_16,
        [WF_IMAGE_RGBA8] = &wfi_spv_image_store_rgba8_16,
    },
};

/* A binding that is an image, and the matrix in the workspace that stands for it. */
typedef struct matrix {
    wf_image format;
    uint64_t rows, columns, ld, element_bytes, at;
} matrix;

static uint64_t bytes_of(const matrix *m)
{
    return ((m->rows - 1) * m->ld + m->columns) * m->element_bytes;
}

static void find_matrices(const wfi_problem *problem, const wf_matmul_params *params,
                          matrix out[WF_MATMUL_BINDINGS])
{
    const wfi_matmul_problem *p = &problem->matmul;
    const uint64_t size = wf_type_size(problem->type);
    out[WF_MATMUL_A] = (matrix){.format = params->image_a,
                                .rows = p->transpose_a ? p->k : p->m,
                                .columns = p->transpose_a ? p->m : p->k,
                                .ld = p->lda,
                                .element_bytes = size};
    out[WF_MATMUL_B] = (matrix){.format = params->image_b,
                                .rows = p->transpose_b ? p->n : p->k,
                                .columns = p->transpose_b ? p->k : p->n,
                                .ld = p->ldb,
                                .element_bytes = size};
    out[WF_MATMUL_C] = (matrix){.format = params->image_c,
                                .rows = p->m,
                                .columns = p->n,
                                .ld = p->ldc,
                                .element_bytes = wfi_matmul_c_size(problem->type, p->output)};
    out[WF_MATMUL_BIAS] = (matrix){.format = params->image_bias,
                                   .rows = 1,
                                   .columns = p->n,
                                   .ld = p->n,
                                   .element_bytes = wfi_matmul_sum_size(problem->type)};
}

static wf_result add_step(wf_plan *plan, uint32_t binding, const matrix *m, const by_format *of)
{
    const uint32_t elements = m->format >= WF_IMAGE_RGBA16F ? 4 : 1;
    const uint64_t texels = (m->columns + elements - 1) / elements;
    const image_push push = {(uint32_t)m->rows, (uint32_t)m->columns, (uint32_t)m->ld};
    const wfi_pipeline_desc desc = {.name = "matmul image",
                                    .spirv = of[m->element_bytes == 2][m->format],
                                    .storage_buffers = 2,
                                    .storage_images = 1,
                                    .push_bytes = sizeof push,
                                    .constant_count = 3,
                                    .constants = {{0, GROUP_X}, {1, GROUP_Y}, {2, 1}}};
    wfi_step step = {
        .groups = {(uint32_t)((texels + GROUP_X - 1) / GROUP_X),
                   (uint32_t)((m->rows + GROUP_Y - 1) / GROUP_Y), 1},
        .slot_count = 2,
        .slots = {{WFI_SLOT_BINDING, binding, 0, 0}, {WFI_SLOT_WORKSPACE, 0, m->at, bytes_of(m)}},
        .images = 1,
        .push_bytes = sizeof push,
        .barrier = of == stores};
    memcpy(step.push, &push, sizeof push);
    wf_result result = wfi_plan_add_pipeline(plan, &desc, &step.pipeline);
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

wf_result wfi_matmul_exchange_images(wf_plan *plan, const wfi_point *point, const void *given)
{
    const wf_matmul_params *params = given;
    const uint64_t align = point->caps->storage_alignment;
    uint64_t bytes = wf_plan_workspace(plan);
    uint32_t count = 0;
    const wfi_binding_spec *specs = wfi_plan_bindings(plan, &count);
    const bool multiplies = wfi_matmul_multiplies(params);
    matrix matrices[WF_MATMUL_BINDINGS];
    wf_result result = WF_SUCCESS;
    uint32_t read = 0;
    find_matrices(point->problem, params, matrices);
    for (uint32_t i = 0; i < count; i++) {
        if (!matrices[i].format || specs[i].bytes == 0)
            continue;
        matrices[i].at = wfi_round_up(bytes, align);
        bytes = matrices[i].at + bytes_of(&matrices[i]);
        wfi_plan_image_binding(plan, i, matrices[i].at);
    }
    wfi_plan_set_workspace(plan, bytes);
    const bool adds = params->beta < 0 || params->beta > 0;
    for (uint32_t i = 0; i < count && result == WF_SUCCESS; i++) {
        const bool is_read = i == WF_MATMUL_C ? adds : i == WF_MATMUL_BIAS || multiplies;
        if (!matrices[i].format || specs[i].bytes == 0 || !is_read)
            continue;
        result = add_step(plan, i, &matrices[i], loads);
        read++;
    }
    if (result == WF_SUCCESS && read)
        wfi_plan_begin_with(plan, read);
    const matrix *c = &matrices[WF_MATMUL_C];
    return result == WF_SUCCESS && c->format && specs[WF_MATMUL_C].bytes
               ? add_step(plan, WF_MATMUL_C, c, stores)
               : result;
}
