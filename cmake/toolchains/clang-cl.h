/* Functions of the universal C runtime that wine 10's headers leave out; included before every
 * source that clang-cl compiles here. `long double` is `double` there, and Microsoft's math.h has
 * these functions of it as inline functions, too. */
#ifndef WAVEFIT_CLANG_CL_H
#define WAVEFIT_CLANG_CL_H

#if !defined(RC_INVOKED)
#include <math.h>
#include <stddef.h>

int __cdecl _commit(int);
int __cdecl _wputenv_s(const wchar_t *, const wchar_t *);

#define WAVEFIT_LONG(name)                                                                         \
    static __inline long double name##l(long double x)                                             \
    {                                                                                              \
        return name((double)x);                                                                    \
    }
WAVEFIT_LONG(acos)
WAVEFIT_LONG(exp)
WAVEFIT_LONG(fabs)
WAVEFIT_LONG(sqrt)
WAVEFIT_LONG(tanh)
static __inline long double fmodl(long double x, long double y)
{
    return fmod((double)x, (double)y);
}
static __inline long double fminl(long double x, long double y)
{
    return fmin((double)x, (double)y);
}
static __inline long double ldexpl(long double x, int exponent)
{
    return ldexp((double)x, exponent);
}
#endif

#endif
