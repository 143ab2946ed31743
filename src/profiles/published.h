/* What is published of a GPU's compute units, as the times of unit_time.h take it, for the choice
 * where nobody has measured the device. */
#ifndef WFI_PROFILES_PUBLISHED_H
#define WFI_PROFILES_PUBLISHED_H

#include "core/architectures.h"
#include "profiles/unit_time.h"

/* Clocks of a multiply-add in f64 to one in f32, which differs from GPU to GPU. */
#define WFI_PUBLISHED_F64_CLOCKS 16

/* Whether the architecture is known and nothing better is known of the kind of device. */
bool wfi_has_published_units(const wf_caps *caps);

wfi_units wfi_published_units(const wf_caps *caps);

/* Work-groups that a unit holds of so many work-items, of so many registers each, and bytes of
 * shared memory; 0: not known. */
double wfi_published_held(const wfi_unit *unit, double items, double registers, double shared);

/* Bytes of memory for one of the units, a clock; 0: they are not published. */
double wfi_published_bytes(const wfi_unit *unit);

#endif
