/* Of many problems, how many times as fast each is as in a base: a group for each family and type.
 */
#ifndef WFI_IO_RATIOS_H
#define WFI_IO_RATIOS_H

#include <stdint.h>
#include <yyjson.h>

#define WFI_MOST_RATIO_GROUPS 32
#define WFI_LEAST_RATIOS 5 /* problems of a group that is told: a mean of fewer says little */

typedef struct wfi_ratio_group {
    char family[16], type[8];
    uint32_t count, under; /* under: those with a ratio under 1 */
    double logarithms;     /* their sum */
    double worst, best;
} wfi_ratio_group;

/* In the order in which the groups were met; zeroes: empty. */
typedef struct wfi_ratios {
    uint32_t count;
    wfi_ratio_group groups[WFI_MOST_RATIO_GROUPS];
} wfi_ratios;

/* Ratios that are no positive finite numbers are left out, as are names that do not fit and groups
 * beyond the most. */
void wfi_ratios_add(wfi_ratios *ratios, const char *family, const char *type, double ratio);
double wfi_ratios_mean(const wfi_ratio_group *group); /* geometric */
/* The next group of at least WFI_LEAST_RATIOS from *at on, which moves behind it; NULL: no more. */
const wfi_ratio_group *wfi_ratios_next(const wfi_ratios *ratios, uint32_t *at);
/* Puts what wfi_ratios_next gives into the object, as "groups". */
void wfi_ratios_put(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_ratios *ratios);

#endif
