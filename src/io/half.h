/* IEEE 754 binary16 to and from wider floats. */
#ifndef WFI_IO_HALF_H
#define WFI_IO_HALF_H

#include <stdint.h>

double wfi_half_to_double(uint16_t half);
/* Rounds to nearest, ties to even; overflows to infinity; NaN stays NaN. */
uint16_t wfi_double_to_half(double value);

#endif
