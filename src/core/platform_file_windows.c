#define WIN32_LEAN_AND_MEAN
#include "core/platform_file.h"

#include <windows.h>

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "core/heap.h"
#include "core/platform.h"
#include "core/text.h"
#include "core/wide.h"

/* Nobody keeps others from reading, writing, renaming or removing. */
#define SHARE (FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)
/* Virus scanners and indexers open what was just written, for moments in which it cannot be
 * renamed or removed. */
#define BUSY_TRIES 50
#define BUSY_SECONDS 0.02
#define MOST_NAMES 100 /* of temporaries that are tried */

static int cause_of(DWORD error)
{
    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME:
    case ERROR_INVALID_DRIVE:
        return ENOENT;
    case ERROR_DIRECTORY:
        return ENOTDIR;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_WRITE_PROTECT:
        return EACCES;
    case ERROR_LOCK_VIOLATION:
        return EAGAIN;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS:
        return EEXIST;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
        return ENOSPC;
    case ERROR_FILENAME_EXCED_RANGE:
        return ENAMETOOLONG;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
        return ENOMEM;
    case ERROR_TOO_MANY_OPEN_FILES:
        return EMFILE;
    default:
        return EIO;
    }
}

static bool fail(void)
{
    errno = cause_of(GetLastError());
    return false;
}

/* Windows refuses to open a folder as it refuses a file that one has no right to. */
static void name_folder(const wchar_t *path)
{
    const DWORD there = errno == EACCES ? GetFileAttributesW(path) : INVALID_FILE_ATTRIBUTES;
    if (there != INVALID_FILE_ATTRIBUTES && there & FILE_ATTRIBUTE_DIRECTORY)
        errno = EISDIR;
}

/* INVALID_HANDLE_VALUE: errno. */
static HANDLE open_handle(const char *path, DWORD access, DWORD how, DWORD flags)
{
    wchar_t *wide = wfi_wide(path);
    if (!wide)
        return INVALID_HANDLE_VALUE;
    const HANDLE handle = CreateFileW(wide, access, SHARE, NULL, how, flags, NULL);
    if (handle == INVALID_HANDLE_VALUE) {
        fail();
        name_folder(wide);
    }
    wfi_free(wide);
    return handle;
}

/* The handle as a descriptor, which owns it; -1: it is closed. */
static int descriptor_of(HANDLE handle, int flags)
{
    if (handle == INVALID_HANDLE_VALUE)
        return -1;
    const int fd = _open_osfhandle((intptr_t)handle, flags | _O_BINARY | _O_NOINHERIT);
    if (fd < 0)
        CloseHandle(handle);
    return fd;
}

static HANDLE handle_of(int fd)
{
    return (HANDLE)_get_osfhandle(fd);
}

/* ------------------------------------------------------------------------------------ looking */

/* The attributes; INVALID_FILE_ATTRIBUTES: errno. */
static DWORD attributes_of(const char *path)
{
    wchar_t *wide = wfi_wide(path);
    const DWORD attributes = wide ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
    if (wide && attributes == INVALID_FILE_ATTRIBUTES)
        fail();
    wfi_free(wide);
    return attributes;
}

static wfi_file_kind kind_of_handle(HANDLE handle)
{
    BY_HANDLE_FILE_INFORMATION info;
    if (GetFileType(handle) != FILE_TYPE_DISK)
        return WFI_FILE_SPECIAL;
    if (!GetFileInformationByHandle(handle, &info)) {
        fail();
        return WFI_FILE_NONE;
    }
    return info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? WFI_FILE_FOLDER : WFI_FILE_REGULAR;
}

/* Devices (NUL, CON) and pipes are known by what opening them gives. */
wfi_file_kind wfi_file_kind_of(const char *path)
{
    const HANDLE handle = open_handle(path, FILE_READ_ATTRIBUTES, OPEN_EXISTING,
                                      FILE_FLAG_BACKUP_SEMANTICS /* for folders */);
    if (handle == INVALID_HANDLE_VALUE)
        return WFI_FILE_NONE;
    const wfi_file_kind kind = kind_of_handle(handle);
    CloseHandle(handle);
    return kind;
}

wfi_file_kind wfi_file_kind_of_open(int fd, uint64_t *bytes)
{
    LARGE_INTEGER size;
    const wfi_file_kind kind = kind_of_handle(handle_of(fd));
    *bytes = GetFileSizeEx(handle_of(fd), &size) ? (uint64_t)size.QuadPart : 0;
    return kind;
}

static bool identity_of(const char *path, BY_HANDLE_FILE_INFORMATION *info)
{
    const HANDLE handle =
        open_handle(path, FILE_READ_ATTRIBUTES, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
    const bool ok = handle != INVALID_HANDLE_VALUE && GetFileInformationByHandle(handle, info);
    if (handle != INVALID_HANDLE_VALUE)
        CloseHandle(handle);
    return ok;
}

bool wfi_file_same(const char *a, const char *b)
{
    BY_HANDLE_FILE_INFORMATION x, y;
    return identity_of(a, &x) && identity_of(b, &y) &&
           x.dwVolumeSerialNumber == y.dwVolumeSerialNumber &&
           x.nFileIndexHigh == y.nFileIndexHigh && x.nFileIndexLow == y.nFileIndexLow;
}

bool wfi_file_writable(const char *path)
{
    const HANDLE handle =
        open_handle(path, GENERIC_WRITE, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
    if (handle == INVALID_HANDLE_VALUE)
        return false;
    CloseHandle(handle);
    return true;
}

bool wfi_file_write_protected(const char *path)
{
    const DWORD attributes = attributes_of(path);
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_READONLY) &&
           !(attributes & FILE_ATTRIBUTE_DIRECTORY);
}

/* ------------------------------------------------------------------------------------ opening */

FILE *wfi_file_open(const char *path, const char *mode)
{
    wchar_t *wide = wfi_wide(path), *how = wfi_wide(mode);
    FILE *file = wide && how ? _wfopen(wide, how) : NULL;
    if (!file && wide)
        name_folder(wide);
    const int cause = errno;
    wfi_free(wide);
    wfi_free(how);
    errno = cause;
    return file;
}

int wfi_file_open_read(const char *path, bool wait)
{
    (void)wait; /* pipes with names are there with their other end, or not at all */
    return descriptor_of(open_handle(path, GENERIC_READ, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL),
                         _O_RDONLY);
}

FILE *wfi_file_stream(int fd, const char *mode)
{
    FILE *file = _fdopen(fd, mode);
    if (!file) {
        const int cause = errno;
        _close(fd);
        errno = cause;
    }
    return file;
}

void wfi_file_close(int fd)
{
    _close(fd);
}

/* What the user's profile has is the user's own, by the rights that Windows gives it. */
bool wfi_folder_trusted(const char *path, const char **why)
{
    (void)path;
    *why = NULL;
    return true;
}

/* Why a file of the cache is not used, NULL: it is; *cause is 0 then. */
static const char *distrust(HANDLE handle, bool write, int *cause)
{
    BY_HANDLE_FILE_INFORMATION info;
    *cause = 0;
    if (GetFileType(handle) != FILE_TYPE_DISK)
        *cause = EINVAL;
    else if (!GetFileInformationByHandle(handle, &info))
        *cause = cause_of(GetLastError());
    else if (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY)
        *cause = EISDIR;
    if (*cause)
        return strerror(*cause);
    if (info.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) {
        *cause = ELOOP;
        return "it is a symbolic link, which is not followed (remove it)";
    }
    if (write && info.nNumberOfLinks > 1) {
        *cause = EPERM;
        return "it has a second name, a hard link (remove it)";
    }
    return NULL;
}

int wfi_file_open_trusted(const char *path, bool write, const char **why)
{
    int cause;
    const HANDLE handle = open_handle(path, GENERIC_READ | (write ? GENERIC_WRITE : 0),
                                      write ? OPEN_ALWAYS : OPEN_EXISTING,
                                      FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS);
    if (handle == INVALID_HANDLE_VALUE) {
        cause = errno;
        *why = strerror(cause);
        errno = cause;
        return -1;
    }
    *why = distrust(handle, write, &cause);
    if (*why) {
        CloseHandle(handle);
        errno = cause;
        return -1;
    }
    return descriptor_of(handle, write ? _O_RDWR : _O_RDONLY);
}

/* -------------------------------------------------------------------------------------- inside */

static OVERLAPPED place(uint64_t at)
{
    return (OVERLAPPED){.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
}

static DWORD at_most(size_t bytes)
{
    return bytes < (1u << 30) ? (DWORD)bytes : 1u << 30;
}

int64_t wfi_file_read_at(int fd, void *data, size_t bytes, uint64_t at)
{
    OVERLAPPED from = place(at);
    DWORD got = 0;
    if (ReadFile(handle_of(fd), data, at_most(bytes), &got, &from) ||
        GetLastError() == ERROR_HANDLE_EOF)
        return got;
    fail();
    return -1;
}

int64_t wfi_file_write_at(int fd, const void *data, size_t bytes, uint64_t at)
{
    OVERLAPPED to = place(at);
    DWORD put = 0;
    if (WriteFile(handle_of(fd), data, at_most(bytes), &put, &to))
        return put;
    fail();
    return -1;
}

bool wfi_file_seek(FILE *file, int64_t offset, int whence)
{
    return _fseeki64(file, offset, whence) == 0;
}

int64_t wfi_file_tell(FILE *file)
{
    return _ftelli64(file);
}

bool wfi_file_cut(int fd)
{
    return _chsize_s(fd, 0) == 0;
}

bool wfi_file_empty(const char *path)
{
    const HANDLE handle =
        open_handle(path, GENERIC_WRITE, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT);
    if (handle == INVALID_HANDLE_VALUE)
        return errno == ENOENT;
    const bool ok = SetEndOfFile(handle) || fail();
    CloseHandle(handle);
    return ok;
}

/* One byte far behind the end: locks of Windows keep others from reading what they cover. */
#define LOCKED_AT (UINT64_C(1) << 62)

bool wfi_file_take_lock(int fd, bool wait)
{
    OVERLAPPED at = place(LOCKED_AT);
    return LockFileEx(handle_of(fd),
                      LOCKFILE_EXCLUSIVE_LOCK | (wait ? 0 : LOCKFILE_FAIL_IMMEDIATELY), 0, 1, 0,
                      &at) ||
           fail();
}

void wfi_file_leave_lock(int fd)
{
    OVERLAPPED at = place(LOCKED_AT);
    UnlockFileEx(handle_of(fd), 0, 1, 0, &at);
}

/* ----------------------------------------------------------------------------------- replacing */

int wfi_file_make_nameless(const char *path)
{
    (void)path;
    return -1;
}

bool wfi_file_give_name(FILE *nameless, char *temporary, const char *path)
{
    (void)nameless;
    (void)temporary;
    (void)path;
    errno = ENOTSUP;
    return false;
}

int wfi_file_make_temporary(char *path)
{
    for (int i = 0; i < MOST_NAMES; i++) {
        LARGE_INTEGER ticks;
        QueryPerformanceCounter(&ticks);
        wfi_text_fill_name(path,
                           ((uint64_t)ticks.QuadPart * MOST_NAMES + (uint64_t)i) *
                                   UINT64_C(0x9e3779b97f4a7c15) ^
                               ((uint64_t)GetCurrentProcessId() << 32 | GetCurrentThreadId()));
        /* Others may remove it, so that it can go while it is open. */
        const HANDLE handle =
            open_handle(path, GENERIC_READ | GENERIC_WRITE, CREATE_NEW, FILE_ATTRIBUTE_NORMAL);
        if (handle != INVALID_HANDLE_VALUE || errno != EEXIST)
            return descriptor_of(handle, _O_RDWR);
    }
    return -1;
}

/* New files have the rights that their folder gives. */
void wfi_file_keep_rights(int fd, const char *replaced)
{
    (void)fd;
    (void)replaced;
}

void wfi_file_keep_cache_rights(int fd, const char *replaced)
{
    (void)fd;
    (void)replaced;
}

bool wfi_file_flush(FILE *file)
{
    return fflush(file) == 0 && _commit(_fileno(file)) == 0;
}

static bool is_busy(void)
{
    const DWORD error = GetLastError();
    return error == ERROR_SHARING_VIOLATION || error == ERROR_ACCESS_DENIED;
}

bool wfi_file_replace(const char *from, const char *to)
{
    wchar_t *source = wfi_wide(from), *target = wfi_wide(to);
    bool ok = false;
    /* A folder or a protected file stays what it is. */
    const DWORD there = attributes_of(to);
    const bool refuses = there != INVALID_FILE_ATTRIBUTES &&
                         (there & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_READONLY));
    if (refuses)
        errno = there & FILE_ATTRIBUTE_DIRECTORY ? EISDIR : EACCES;
    for (int i = 0; source && target && !refuses && !ok; i++) {
        ok = MoveFileExW(source, target, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH);
        if (!ok && (!is_busy() || i == BUSY_TRIES)) {
            fail();
            break;
        }
        if (!ok)
            wfi_sleep(BUSY_SECONDS);
    }
    const int cause = errno;
    wfi_free(source);
    wfi_free(target);
    errno = cause;
    return ok;
}

bool wfi_file_remove(const char *path)
{
    wchar_t *wide = wfi_wide(path);
    bool ok = wide && DeleteFileW(wide);
    for (int i = 0; wide && !ok && is_busy() && i < BUSY_TRIES; i++) {
        wfi_sleep(BUSY_SECONDS);
        ok = DeleteFileW(wide);
    }
    if (wide && !ok)
        fail();
    const int cause = errno;
    wfi_free(wide);
    errno = cause;
    return ok;
}

bool wfi_folder_make(const char *path)
{
    wchar_t *wide = wfi_wide(path);
    const bool ok = wide && (CreateDirectoryW(wide, NULL) || fail() || errno == EEXIST);
    wfi_free(wide);
    return ok;
}

/* Links are rare there, and what they lead to is known only where it is there. */
char *wfi_file_resolve(const char *path)
{
    const DWORD attributes = attributes_of(path);
    wchar_t target[32768];
    DWORD units = 0;
    if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_REPARSE_POINT)) {
        const HANDLE handle =
            open_handle(path, FILE_READ_ATTRIBUTES, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
        if (handle != INVALID_HANDLE_VALUE) {
            units = GetFinalPathNameByHandleW(handle, target, WFI_COUNT(target), 0);
            CloseHandle(handle);
        }
    }
    return units > 0 && units < WFI_COUNT(target) ? wfi_narrow(target) : wfi_copy_text(path);
}

/* --------------------------------------------------------------------------------------- paths */

char *wfi_path_separator(const char *path)
{
    const char *last = NULL;
    for (; *path; path++)
        if (*path == '/' || *path == '\\')
            last = path;
    return (char *)last;
}

/* "C:\…" or a name of the network. */
static bool is_absolute(const wchar_t *path)
{
    const wchar_t *rest = path && *path && path[1] == L':' ? path + 2 : path;
    return rest && (*rest == L'\\' || *rest == L'/') && (rest != path || rest[1] == *rest);
}

/* The first is for those who keep caches elsewhere, as on other systems. */
char *wfi_user_cache_folder(void)
{
    const wchar_t *own = _wgetenv(L"XDG_CACHE_HOME"), *local = _wgetenv(L"LOCALAPPDATA");
    const wchar_t *in = is_absolute(own) ? own : is_absolute(local) ? local : NULL;
    char *narrow = in ? wfi_narrow(in) : NULL;
    char *folder = narrow ? wfi_path_join(narrow, "wavefit") : NULL;
    wfi_free(narrow);
    return folder;
}
