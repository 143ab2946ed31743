/* What Microsoft's start-up code and libraries would give to programs that clang-cl links here:
 * variables of threads, the entry of a DLL, functions at the end. Wine's import library of the
 * universal C runtime has the entry of programs. */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

int _fltused = 1;

unsigned long _tls_index;
#pragma section(".tls", read, write)
#pragma section(".tls$ZZZ", read, write)
__declspec(allocate(".tls")) char _tls_start = 0;
__declspec(allocate(".tls$ZZZ")) char _tls_end = 0;
const IMAGE_TLS_DIRECTORY64 _tls_used = {.StartAddressOfRawData = (ULONGLONG)&_tls_start,
                                         .EndAddressOfRawData = (ULONGLONG)&_tls_end,
                                         .AddressOfIndex = (ULONGLONG)&_tls_index};

int __cdecl _crt_atexit(void(__cdecl *)(void));

int __cdecl atexit(void(__cdecl *function)(void))
{
    return _crt_atexit(function);
}

BOOL WINAPI _DllMainCRTStartup(HINSTANCE dll, DWORD reason, void *reserved)
{
    (void)dll;
    (void)reason;
    (void)reserved;
    return TRUE;
}
