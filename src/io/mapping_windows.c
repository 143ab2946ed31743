#define WIN32_LEAN_AND_MEAN
#include "io/mapping.h"

#include <windows.h>

#include <io.h>

/* Windows lets nobody make a file shorter that is mapped. */
bool wfi_map(wfi_mapping *mapping, const char *path, FILE *file, size_t bytes)
{
    (void)path;
    *mapping = (wfi_mapping){0};
    const HANDLE section =
        CreateFileMappingW((HANDLE)_get_osfhandle(_fileno(file)), NULL, PAGE_WRITECOPY, 0, 0, NULL);
    if (!section)
        return false;
    void *memory = MapViewOfFile(section, FILE_MAP_COPY, 0, 0, bytes);
    CloseHandle(section); /* the view keeps what it needs */
    if (memory)
        *mapping = (wfi_mapping){.memory = memory, .bytes = bytes};
    return memory != NULL;
}

void wfi_unmap(wfi_mapping *mapping)
{
    if (mapping->memory)
        UnmapViewOfFile(mapping->memory);
    *mapping = (wfi_mapping){0};
}
