/* How lanes that each take a part of a row use a sparse matrix's rows. */
#ifndef WFI_MODEL_ROW_USE_H
#define WFI_MODEL_ROW_USE_H

#include <stdint.h>

typedef struct wfi_row_use {
    uint32_t lanes;   /* of a row; 0: nothing is known */
    uint32_t longest; /* entries of the longest row */
    double mean;
    double busy; /* entries, over the places that lanes have for them in whole passes */
    double even; /* passes of all rows, over those of rows as long as their work-group's longest */
} wfi_row_use;

/* Looks at `rows` rows, of which `lanes` lanes multiply each and `group_rows` lie in a
 * work-group. */
wfi_row_use wfi_row_use_of(const uint32_t *row_offsets, uint32_t rows, uint32_t lanes,
                           uint32_t group_rows);

#endif
