/* Sparse products with matrices of many patterns. */
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/verify/verify.h"

#define MOST_ENTRIES 60000

typedef enum pattern {
    FEW,
    EQUAL,
    POWER,
    MOSTLY_EMPTY,
    ONE_LONG,
    BANDED,
    ONE_COLUMN,
    PATTERNS
} pattern;

typedef struct sparse {
    wf_spmv_params params;
    double alpha;
    uint32_t *offsets, *columns;
    void *values;
    pattern pattern;
    wf_plan **plan;
} sparse;

static wf_result make_plan(wfi_verifier *v, void *user, const wf_tuning *tuning)
{
    sparse *s = user;
    s->params.tuning = tuning;
    return wf_spmv_plan(v->session->device, &s->params, s->plan);
}

static uint32_t row_length(wfi_verifier *v, pattern kind, uint32_t row, uint32_t rows,
                           uint32_t width)
{
    switch (kind) {
    case EQUAL:
    case BANDED:
        return width;
    case POWER:
        return (uint32_t)(1.0 / (wfi_draw_uniform(v, 0.001, 1) + 1e-3));
    case MOSTLY_EMPTY:
        return wfi_draw_chance(v, 8) ? (uint32_t)wfi_draw_below(v, 2 * width + 2) : 0;
    case ONE_LONG:
        return row == rows / 3 ? 3000 : (uint32_t)wfi_draw_below(v, 4);
    default:
        return (uint32_t)wfi_draw_below(v, width + 1);
    }
}

static uint32_t column_of(wfi_verifier *v, const sparse *s, uint32_t row, uint32_t entry)
{
    const uint32_t columns = s->params.columns;
    if (s->pattern == ONE_COLUMN)
        return columns / 2;
    if (s->pattern == BANDED)
        return (uint32_t)(((uint64_t)row + (uint64_t)entry * (1 + columns / 7)) % columns);
    return (uint32_t)wfi_draw_below(v, columns);
}

static bool make_matrix(wfi_verifier *v, sparse *s, wfi_numbers numbers)
{
    wf_spmv_params *p = &s->params;
    const uint32_t width = 1 + (uint32_t)wfi_draw_below(v, wfi_draw_chance(v, 30) ? 60 : 12);
    s->offsets = calloc((size_t)p->rows + 1, sizeof *s->offsets);
    s->columns = malloc(MOST_ENTRIES * sizeof *s->columns);
    s->values = malloc((size_t)MOST_ENTRIES * wf_type_size(p->type));
    if (!s->offsets || !s->columns || !s->values)
        return false;
    uint32_t count = 0;
    for (uint32_t row = 0; row < p->rows; row++) {
        uint32_t length = row_length(v, s->pattern, row, p->rows, width);
        if (length > MOST_ENTRIES - count)
            length = MOST_ENTRIES - count;
        for (uint32_t i = 0; i < length; i++) {
            s->columns[count] = column_of(v, s, row, i);
            wf_element_set(p->type, s->values, count++, wfi_draw_number(v, numbers));
        }
        s->offsets[row + 1] = count;
    }
    p->row_offsets = s->offsets;
    p->column_indices = s->columns;
    p->values = s->values;
    return true;
}

static void draw_problem(wfi_verifier *v, sparse *s)
{
    static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F64, WF_TYPE_F16};
    static const uint32_t vectors[] = {2, 3, 4, 5, 8, 16, 32};
    wf_spmv_params *p = &s->params;
    const uint64_t most = wfi_draw_chance(v, 20) ? 6000 : 400;
    v->verdict->type = types[wfi_draw_below(v, 3)];
    s->pattern = (pattern)wfi_draw_below(v, PATTERNS);
    *p = (wf_spmv_params){.size = sizeof *p, .type = v->verdict->type, .alpha = &s->alpha};
    p->rows = (uint32_t)wfi_draw_size(v, most);
    p->columns = wfi_draw_chance(v, 50) ? p->rows : (uint32_t)wfi_draw_size(v, most);
    p->transpose = wfi_draw_chance(v, 25);
    if (wfi_draw_chance(v, 35)) {
        p->vectors = vectors[wfi_draw_below(v, WFI_COUNT(vectors))];
        p->x_stride = wfi_draw_chance(v, 30) ? p->vectors + (uint32_t)wfi_draw_below(v, 5) : 0;
        p->y_stride = wfi_draw_chance(v, 30) ? p->vectors + (uint32_t)wfi_draw_below(v, 5) : 0;
    }
    s->alpha = wfi_draw_factor(v, false, false);
    p->beta = wfi_draw_factor(v, true, false);
}

static void say(wfi_verifier *v, const sparse *s, wfi_numbers numbers)
{
    static const char *const patterns[PATTERNS] = {
        "rows of a few entries",    "rows of equal length",    "rows of lengths by a power law",
        "most rows empty",          "one row of 3000 entries", "bands",
        "all entries in one column"};
    const wf_spmv_params *p = &s->params;
    wfi_verify_say(v, "%ux%u, %u entries, %s%s", p->rows, p->columns, s->offsets[p->rows],
                   patterns[s->pattern], p->transpose ? ", transposed" : "");
    if (p->vectors)
        wfi_verify_say(v, ", %u vectors", p->vectors);
    if (p->x_stride)
        wfi_verify_say(v, ", x_stride %u", p->x_stride);
    if (p->y_stride)
        wfi_verify_say(v, ", y_stride %u", p->y_stride);
    wfi_verify_say(v, ", alpha %g, beta %g, of %s", s->alpha, p->beta, wfi_numbers_name(numbers));
}

static bool make_vectors(wfi_verifier *v, const sparse *s, wfi_numbers numbers,
                         wfi_verify_execution *e, void *data[WF_SPMV_BINDINGS])
{
    const wf_spmv_params *p = &s->params;
    const wf_type real = p->type == WF_TYPE_F64 ? WF_TYPE_F64 : WF_TYPE_F32;
    const uint64_t vectors = p->vectors ? p->vectors : 1;
    const uint64_t count[] = {p->transpose ? p->rows : p->columns,
                              p->transpose ? p->columns : p->rows};
    const uint64_t stride[] = {p->x_stride ? p->x_stride : vectors,
                               p->y_stride ? p->y_stride : vectors};
    const wfi_verify_places places = {.size = wf_type_size(real),
                                      .count = {1, count[WF_SPMV_Y], vectors},
                                      .stride = {0, stride[WF_SPMV_Y], 1}};
    for (uint32_t i = 0; i < WF_SPMV_BINDINGS; i++) {
        const uint64_t elements = (count[i] - 1) * stride[i] + vectors;
        if (!wfi_verify_bind(v, e, i, elements * wf_type_size(real), i ? &places : NULL, &data[i]))
            return false;
        for (uint64_t row = 0; row < count[i] && (i == WF_SPMV_X || p->beta < 0 || p->beta > 0);
             row++)
            for (uint64_t j = 0; j < vectors; j++)
                wf_element_set(real, data[i], row * stride[i] + j, wfi_draw_number(v, numbers));
    }
    return true;
}

static wf_result check(wfi_verifier *v, const sparse *s, const wfi_verify_execution *e,
                       void *const data[WF_SPMV_BINDINGS])
{
    const wfi_verify_binding *y = &e->items[WF_SPMV_Y];
    const uint64_t vectors = s->params.vectors ? s->params.vectors : 1;
    wf_check *out = &v->verdict->check;
    const wf_result result = wf_spmv_check_scaled(&s->params, data[WF_SPMV_X], data[WF_SPMV_Y],
                                                  y->after + y->offset, out);
    for (uint64_t i = 0; i < out->wrong && i < WF_CHECK_MISMATCHES; i++)
        wfi_verify_place(v, i, "row %llu, vector %llu",
                         (unsigned long long)(out->mismatches[i].index / vectors),
                         (unsigned long long)(out->mismatches[i].index % vectors));
    if (result == WF_SUCCESS)
        wfi_verify_checked(v, "elements of y");
    return result;
}

wf_result wfi_verify_spmv(wfi_verifier *v)
{
    sparse s = {0};
    wfi_verify_execution e = {0};
    void *data[WF_SPMV_BINDINGS] = {NULL};
    s.plan = &e.plan;
    draw_problem(v, &s);
    const wfi_numbers numbers = wfi_draw_numbers(v);
    wf_result result = make_matrix(v, &s, numbers) ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY;
    if (result == WF_SUCCESS) {
        say(v, &s, numbers);
        result = wfi_verify_point(v, make_plan, &s);
    }
    if (result == WF_SUCCESS && !make_vectors(v, &s, numbers, &e, data))
        result = WF_ERROR_OUT_OF_HOST_MEMORY;
    if (result == WF_SUCCESS) {
        wf_plan_info info = {.size = sizeof info};
        result = wf_plan_describe(e.plan, &info);
        e.repeats = result == WF_SUCCESS && strcmp(info.variant, "atomic") != 0;
    }
    if (result == WF_SUCCESS)
        result = wfi_verify_execute(v, &e);
    if (result == WF_SUCCESS)
        result = check(v, &s, &e, data);
    wfi_verify_close(&e);
    free(s.offsets);
    free(s.columns);
    free(s.values);
    return result;
}
