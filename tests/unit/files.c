#include "files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static const char *in_folder(char *path, size_t bytes, const char *name)
{
    if (!*folder) {
        strcpy(folder, "/tmp/wavefit-test-XXXXXX");
        if (!mkdtemp(folder))
            abort();
    }
    snprintf(path, bytes, "%s/%s", folder, name);
    return path;
}

const char *test_path(const char *name)
{
    static char path[512];
    return in_folder(path, sizeof path, name);
}

const char *test_file(const char *name, const void *data, size_t bytes)
{
    static char path[512];
    FILE *file = fopen(in_folder(path, sizeof path, name), "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0)
        abort();
    return path;
}

char *test_read(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *data = NULL;
    size_t count = 0, got;
    do {
        data = realloc(data, count + 65537);
        if (!data)
            abort();
        got = fread(data + count, 1, 65536, file);
        count += got;
    } while (got > 0);
    fclose(file);
    data[count] = '\0';
    if (bytes)
        *bytes = count;
    return data;
}

int test_file_count(void)
{
    int count = 0;
    DIR *list = *folder ? opendir(folder) : NULL;
    for (struct dirent *item; list && (item = readdir(list));)
        count += item->d_name[0] != '.';
    if (list)
        closedir(list);
    return count;
}

int test_files_remove(void **state)
{
    (void)state;
    DIR *list = *folder ? opendir(folder) : NULL;
    char path[512];
    for (struct dirent *item; list && (item = readdir(list));)
        if (item->d_name[0] != '.')
            unlink(in_folder(path, sizeof path, item->d_name));
    if (list)
        closedir(list);
    rmdir(folder);
    return 0;
}
