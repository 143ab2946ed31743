#include "kernels/check/field.h"

#include "core/heap.h"
#include "core/random.h"

bool wfi_field_open(wfi_field *field, size_t value_bytes)
{
    const size_t cells = wfi_cell_range_cells(&field->held);
    field->value = wfi_malloc(cells * value_bytes);
    field->next_value = wfi_malloc(cells * value_bytes);
    field->error = wfi_calloc(cells, sizeof *field->error);
    field->next_error = wfi_calloc(cells, sizeof *field->error);
    if (field->value && field->next_value && field->error && field->next_error)
        return true;
    wfi_field_close(field);
    return false;
}

void wfi_field_swap(wfi_field *field)
{
    void *value = field->value;
    double *error = field->error;
    field->value = field->next_value;
    field->next_value = value;
    field->error = field->next_error;
    field->next_error = error;
}

void wfi_field_close(wfi_field *field)
{
    wfi_free(field->value);
    wfi_free(field->next_value);
    wfi_free(field->error);
    wfi_free(field->next_error);
}

static wfi_cell_range draw_range(const int64_t size[3], int64_t most, uint32_t number,
                                 uint64_t *state)
{
    wfi_cell_range b;
    for (int axis = 0; axis < 3; axis++) {
        const int64_t side = size[axis] < most ? size[axis] : most;
        const uint64_t places = (uint64_t)(size[axis] - side) + 1;
        const uint64_t drawn = wfi_random_bits(state) % places;
        b.low[axis] = number == 0 ? 0 : number == 1 ? (int64_t)places - 1 : (int64_t)drawn;
        b.high[axis] = b.low[axis] + side;
    }
    return b;
}

bool wfi_checks_whole(uint64_t total, uint64_t max_checked)
{
    return max_checked == 0 || max_checked >= total;
}

wf_result wfi_check_cell_ranges(const int64_t size[3], int64_t side, uint64_t max_checked,
                                uint64_t seed, wfi_check_cell_range_fn check_range, void *reference,
                                wf_check *check)
{
    const wfi_cell_range whole = {{0, 0, 0}, {size[0], size[1], size[2]}};
    wf_result result = WF_SUCCESS;
    *check = (wf_check){.total = wfi_cell_range_cells(&whole)};
    if (wfi_checks_whole(check->total, max_checked))
        return check_range(reference, &whole, check);
    for (uint32_t n = 0; (n < 2 || check->checked < max_checked) && result == WF_SUCCESS; n++) {
        const wfi_cell_range b = draw_range(size, side, n, &seed);
        result = check_range(reference, &b, check);
    }
    return result;
}
