#include "sized.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

double sized_number(test_random *random)
{
    return (double)((int)test_random_below(random, 5) - 2);
}

uint64_t sized_draw(test_random *random, uint64_t most, uint32_t unit, uint32_t least)
{
    const uint32_t first = (least + unit - 1) / unit, last = (uint32_t)(most / unit);
    return (uint64_t)unit * (first + test_random_below(random, last - first + 1));
}

void sized_poison(const sized_array *a)
{
    memset(wf_buffer_mapped(a->buffer), 0xff, a->elements * wf_type_size(a->type));
}

sized_array sized_array_make(wf_device *device, wf_type type, uint64_t elements)
{
    sized_array a = {NULL, type, elements};
    assert_int_equal(
        wf_buffer_create(device, elements * wf_type_size(type), WF_MEMORY_UPLOAD, &a.buffer),
        WF_SUCCESS);
    sized_poison(&a);
    return a;
}

double sized_get(const sized_array *a, uint64_t at)
{
    return wf_element_get(a->type, wf_buffer_mapped(a->buffer), at);
}

void sized_set(const sized_array *a, uint64_t at, double value)
{
    wf_element_set(a->type, wf_buffer_mapped(a->buffer), at, value);
}

bool sized_is_poison(const sized_array *a, uint64_t at)
{
    static const unsigned char poisoned[8] = {255, 255, 255, 255, 255, 255, 255, 255};
    const size_t size = wf_type_size(a->type);
    return memcmp((const char *)wf_buffer_mapped(a->buffer) + at * size, poisoned, size) == 0;
}
