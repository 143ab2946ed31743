#include "matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/matrix_market.h"
#include "tool/cases/generate.h"

void *bench_matrix_read(const char *text, wf_type type, wfi_csr *out)
{
    char message[256];
    wfi_io_error error;
    const bool file = strstr(text, ".mtx") != NULL;
    if (!(file ? wfi_matrix_market_read(text, out, &error) : wfi_generate(text, 1, out, message))) {
        fprintf(stderr, "%s\n", file ? error.text : message);
        return NULL;
    }
    void *values = malloc((out->entries + (size_t)1) * wf_type_size(type));
    for (uint32_t i = 0; values && i < out->entries; i++)
        wf_element_set(type, values, i, out->values[i]);
    if (!values)
        wfi_csr_free(out);
    return values;
}
