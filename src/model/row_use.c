#include "model/row_use.h"

wfi_row_use wfi_row_use_of(const uint32_t *row_offsets, uint32_t rows, uint32_t lanes,
                           uint32_t group_rows)
{
    wfi_row_use use = {.lanes = lanes};
    double passes = 0, waited = 0;
    for (uint32_t first = 0; first < rows; first += group_rows) {
        const uint32_t end = rows - first < group_rows ? rows : first + group_rows;
        uint32_t most = 0;
        for (uint32_t row = first; row < end; row++) {
            const uint32_t length = row_offsets[row + 1] - row_offsets[row];
            const uint32_t own = length / lanes + (length % lanes != 0);
            passes += own;
            most = own > most ? own : most;
            use.longest = length > use.longest ? length : use.longest;
        }
        waited += (double)most * (end - first);
    }
    const double entries = rows ? (double)(row_offsets[rows] - row_offsets[0]) : 0;
    use.mean = rows ? entries / rows : 0;
    use.busy = passes > 0 ? entries / (passes * lanes) : 1;
    use.even = waited > 0 ? passes / waited : 1;
    return use;
}
