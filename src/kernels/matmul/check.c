/* The public check of a matrix product: it reads the parameters, and compares all elements, or some
 * and the sums of all. */

#include "core/heap.h"
#include "core/params.h"
#include "core/random.h"
#include "kernels/matmul/check.h"

/* A scalar as the device gets it. */
static double received(wf_type type, double value)
{
    return wfi_element_of(type)->real == WF_TYPE_F64 ? value : (double)(float)value;
}

/* How a matrix of so many stored rows and columns lies, by the public description of leading
 * dimensions and strides. */
static wfi_operand lies(const void *data, wf_type type, uint64_t rows, uint64_t columns,
                        uint64_t ld, uint64_t stride, bool transposed)
{
    ld = ld ? ld : columns;
    stride = stride == WF_STRIDE_SHARED ? 0 : stride ? stride : rows * ld;
    return (wfi_operand){.data = data,
                         .type = type,
                         .row = transposed ? 1 : ld,
                         .column = transposed ? ld : 1,
                         .product = stride};
}

static void read_problem(const wf_matmul_params *p, const wf_matmul_inputs *in, const void *c,
                         wfi_matmul_reference *w)
{
    const wfi_element *element = wfi_element_of(p->type);
    const bool sums = p->output == WF_MATMUL_OUTPUT_SUMS;
    w->type = p->type;
    w->element = element;
    w->m = p->m;
    w->n = p->n;
    w->batch = p->batch ? p->batch : 1;
    w->alpha = received(p->type, p->alpha ? *p->alpha : 1);
    w->beta = received(p->type, p->beta);
    w->k = p->alpha && *p->alpha == 0 ? 0 : p->k;
    w->fast = p->math == WF_MATH_FAST;
    w->activation = p->activation;
    w->narrow = !sums && wfi_element_narrow(element);
    w->a = lies(in->a, p->type, p->transpose_a ? p->k : p->m, p->transpose_a ? p->m : p->k, p->lda,
                p->stride_a, p->transpose_a);
    w->b = lies(in->b, p->type, p->transpose_b ? p->n : p->k, p->transpose_b ? p->k : p->n, p->ldb,
                p->stride_b, p->transpose_b);
    w->c = lies(c, w->narrow ? p->type : element->real, p->m, p->n, p->ldc, p->stride_c, false);
    w->c.whole32 = element->whole;
    w->before = w->linear = w->c;
    w->before.data = p->beta != 0 ? in->c : NULL;
    w->linear.data = in->linear;
    w->bias = (wfi_operand){p->bias ? in->bias : NULL, element->real, element->whole, 0, 1, 0};
}

static bool inputs_there(const wf_matmul_params *p, const wf_matmul_inputs *in, const void *c,
                         const uint64_t bytes[WF_MATMUL_BINDINGS])
{
    return (!bytes[WF_MATMUL_A] || in->a) && (!bytes[WF_MATMUL_B] || in->b) &&
           (!bytes[WF_MATMUL_BIAS] || in->bias) &&
           (!bytes[WF_MATMUL_C] || (c && (p->beta == 0 || in->c)));
}

static wf_result check_all(const wfi_matmul_reference *w, wf_check *check)
{
    for (uint64_t z = 0; z < w->batch; z++)
        for (uint64_t row = 0; row < w->m; row++)
            if (!wfi_matmul_check_row(w, z, row, 0, w->n, check))
                return WF_ERROR_CANCELLED;
    return WF_SUCCESS;
}

/* A share of the elements that are compared one by one. */
typedef struct drawn_part {
    wfi_matmul_reference w;
    wf_check check;
} drawn_part;

typedef struct drawn {
    drawn_part part[WFI_MATMUL_CHECK_PARTS];
    uint32_t parts;
    uint64_t count, seed, total;
} drawn;

/* The last element is compared, since faults at edges show there, and count - 1 that are drawn. */
static void check_part(void *user, uint32_t number, wfi_watch *watch)
{
    drawn *d = user;
    drawn_part *part = &d->part[number];
    part->w.watch = watch;
    for (uint64_t n = number; n < d->count; n += d->parts) {
        uint64_t state = d->seed + n;
        const uint64_t drawn_one = wfi_random_bits(&state) % d->total;
        if (!wfi_matmul_check_one(&part->w, n == 0 ? d->total - 1 : drawn_one, &part->check))
            return;
    }
}

static wf_result check_drawn(const wfi_matmul_reference *w, wfi_crew *crew, uint64_t count,
                             uint64_t seed, wf_check *check)
{
    drawn *d = wfi_calloc(1, sizeof *d);
    wf_result result = d ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY;
    if (!d)
        return result;
    d->parts = wfi_matmul_check_parts(w, (double)count * ((double)w->k + 16), 0);
    d->count = count;
    d->seed = seed;
    d->total = check->total;
    for (uint32_t i = 0; i < d->parts; i++)
        if (!wfi_matmul_open_part(w, &d->part[i].w))
            result = WF_ERROR_OUT_OF_HOST_MEMORY;
    if (result == WF_SUCCESS && !wfi_crew_run(crew, d->parts, check_part, d))
        result = WF_ERROR_CANCELLED;
    for (uint32_t i = 0; i < d->parts; i++) {
        wfi_check_merge(check, &d->part[i].check);
        wfi_matmul_close_part(&d->part[i].w);
    }
    wfi_free(d);
    return result;
}

static wf_result check_some(const wfi_matmul_reference *w, uint64_t count, uint64_t seed,
                            wf_check *check)
{
    wfi_crew crew;
    wfi_crew_open(&crew, w->watch);
    wf_result result = check_drawn(w, &crew, count, seed, check);
    if (result == WF_SUCCESS)
        result = wfi_matmul_check_sums(w, &crew, seed + count, check);
    wfi_crew_close(&crew);
    return result;
}

wf_result wf_matmul_check(const wf_matmul_params *given, const wf_matmul_inputs *inputs,
                          const void *c, uint64_t max_checked, uint64_t seed, wf_check *check)
{
    wf_matmul_params params;
    wf_matmul_inputs in;
    uint64_t bytes[WF_MATMUL_BINDINGS];
    wf_result result = wf_matmul_bytes(given, bytes);
    if (result == WF_SUCCESS)
        result = wfi_params_read(NULL, "wf_matmul_check", given, &params, sizeof params);
    if (result == WF_SUCCESS)
        result = wfi_params_read(NULL, "wf_matmul_check", inputs, &in, sizeof in);
    if (result != WF_SUCCESS)
        return result;
    wfi_watch watch = {.cancel = params.cancel};
    wfi_matmul_reference problem = {.watch = &watch}, w;
    if (!check || !inputs_there(&params, &in, c, bytes))
        return WF_ERROR_INVALID_ARGUMENT;
    read_problem(&params, &in, c, &problem);
    const uint64_t total = problem.m * problem.n * problem.batch;
    *check = (wf_check){.total = total};
    if (total == 0)
        return WF_SUCCESS;
    if (wfi_matmul_open_part(&problem, &w)) {
        w.grain = w.element->whole ? 0 : wfi_matmul_grain(&w);
        result = watch.stopped ? WF_ERROR_CANCELLED
                 : max_checked == 0 || max_checked >= total
                     ? check_all(&w, check)
                     : check_some(&w, max_checked, seed, check);
    } else {
        result = WF_ERROR_OUT_OF_HOST_MEMORY;
    }
    wfi_matmul_close_part(&w);
    return result;
}
