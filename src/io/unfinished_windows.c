#define WIN32_LEAN_AND_MEAN
#include "io/unfinished.h"

#include <windows.h>

#include <stdlib.h>
#include <string.h>

#include "core/heap.h"
#include "core/platform.h"
#include "core/platform_file.h"
#include "core/text.h"

#define MOST_UNFINISHED 4

/* The handler of console events runs in a thread of its own. */
static wfi_mutex lock = WFI_MUTEX_INIT;
static char *unfinished[MOST_UNFINISHED];

int wfi_unfinished_make(char *path)
{
    wfi_mutex_lock(&lock);
    const int fd = wfi_file_make_temporary(path);
    for (int i = 0; fd >= 0 && i < MOST_UNFINISHED; i++)
        if (!unfinished[i]) {
            unfinished[i] = wfi_copy_text(path);
            break;
        }
    wfi_mutex_unlock(&lock);
    return fd;
}

void wfi_unfinished_forget(const char *path)
{
    wfi_mutex_lock(&lock);
    for (int i = 0; i < MOST_UNFINISHED; i++)
        if (unfinished[i] && strcmp(unfinished[i], path) == 0) {
            wfi_free(unfinished[i]);
            unfinished[i] = NULL;
        }
    wfi_mutex_unlock(&lock);
}

void wfi_unfinished_remove(const char *path)
{
    wfi_file_remove(path);
    wfi_unfinished_forget(path);
}

void wfi_unfinished_remove_all(void)
{
    wfi_mutex_lock(&lock);
    for (int i = 0; i < MOST_UNFINISHED; i++)
        if (unfinished[i])
            wfi_file_remove(unfinished[i]);
    wfi_mutex_unlock(&lock);
}
