/* Included before each test on Windows: what tests take from POSIX and mingw-w64 does not have. */
#ifndef TEST_WINDOWS_POSIX_H
#define TEST_WINDOWS_POSIX_H

#include <direct.h>
#include <io.h>
#include <stdlib.h>

#define TEST_ON_WINDOWS 1

static inline char *mkdtemp(char *path)
{
    return _mktemp(path) && _mkdir(path) == 0 ? path : NULL;
}

static inline int setenv(const char *name, const char *value, int replace)
{
    return !replace && getenv(name) ? 0 : _putenv_s(name, value);
}

static inline int unsetenv(const char *name)
{
    return _putenv_s(name, "");
}

#endif
