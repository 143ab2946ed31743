#include "folder.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool test_folder_find(const char *folder, const char *prefix, char *path, size_t bytes)
{
    bool found = false;
    DIR *names = opendir(folder);
    for (struct dirent *entry; names && !found && (entry = readdir(names));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        found = strncmp(name, prefix, strlen(prefix)) == 0;
        if (found)
            snprintf(path, bytes, "%s/%s", folder, name);
    }
    if (names)
        closedir(names);
    return found;
}

bool test_folder_remove(const char *folder)
{
    char path[600];
    while (test_folder_find(folder, "", path, sizeof path)) {
        if (remove(path) == 0)
            continue;
        chmod(path, 0700); /* Windows keeps files that are read-only */
        if (remove(path) != 0 && !test_folder_remove(path))
            return false;
    }
    return rmdir(folder) == 0;
}
