/* Names that families, variants and parameters had in files of schema 1 of tuning data, results
 * and comparisons, which are still read, and parameters that there are no more. */
#ifndef WFI_CORE_OLD_NAMES_H
#define WFI_CORE_OLD_NAMES_H

#include <stdbool.h>

/* The present name of what schema 1 calls `name`; `name` itself where it did not change. */
const char *wfi_old_family(const char *name);
/* Of a variant or a parameter; `family` is the present name of its family. */
const char *wfi_old_variant(const char *family, const char *name);
const char *wfi_old_parameter(const char *family, const char *name);

/* Whether variants of the family had a parameter of this name that was taken out because every row
 * had one value of it: kernels have that value, and files of either schema may name it. */
bool wfi_removed_parameter(const char *family, const char *name);

#endif
