/* Included before sources that are compiled with -mlong-double-64, as long double is for MSVC and
 * on Apple's processors. The C library here has its functions for 80 bits alone. */
#ifndef TEST_LONG_DOUBLE_64_H
#define TEST_LONG_DOUBLE_64_H

#include <float.h>
#include <math.h>

_Static_assert(sizeof(long double) == sizeof(double) && LDBL_MANT_DIG == DBL_MANT_DIG,
               "long double has more than 64 bits");

#define acosl(x) ((long double)acos((double)(x)))
#define expl(x) ((long double)exp((double)(x)))
#define fabsl(x) ((long double)fabs((double)(x)))
#define fminl(x, y) ((long double)fmin((double)(x), (double)(y)))
#define fmodl(x, y) ((long double)fmod((double)(x), (double)(y)))
#define ldexpl(x, n) ((long double)ldexp((double)(x), (n)))
#define sqrtl(x) ((long double)sqrt((double)(x)))
#define tanhl(x) ((long double)tanh((double)(x)))

#endif
