#include "target.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/memory.h"

#define MOST_FILES 4

double fuzz_memory = 64e6;

/* In place of io/memory.c, which the linker then leaves in its library. */
double wfi_physical_memory(void)
{
    return fuzz_memory;
}

_Noreturn void fuzz_wrong(const char *what)
{
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

void fuzz_check_error(const wfi_io_error *error, const char *path)
{
    if (error->kind == WFI_IO_OK || strncmp(error->text, path, strlen(path)) != 0 ||
        strchr(error->text, '\n'))
        fuzz_wrong("a refusal that is not one line beginning with the file's name");
}

void fuzz_check_matrix(const wfi_csr *m)
{
    if (m->row_offsets[0] != 0 || m->row_offsets[m->rows] != m->entries)
        fuzz_wrong("row offsets do not span the entries");
    for (uint32_t row = 0; row < m->rows; row++) {
        const uint32_t begin = m->row_offsets[row], end = m->row_offsets[row + 1];
        if (begin > end || end > m->entries)
            fuzz_wrong("row offsets that descend");
        for (uint32_t i = begin; i < end; i++)
            if (m->column_indices[i] >= m->columns ||
                (i > begin && m->column_indices[i] <= m->column_indices[i - 1]))
                fuzz_wrong("a column out of range or out of order");
    }
}

/* ---------------------------------------------------------------------------------------- files */

static char files[MOST_FILES][64];

static void remove_files(void)
{
    for (int i = 0; i < MOST_FILES && files[i][0]; i++)
        unlink(files[i]);
}

const char *fuzz_file(const char *name, const void *data, size_t size)
{
    char path[64];
    int at = 0;
    snprintf(path, sizeof path, "%d-%s", (int)getpid(), name);
    while (at < MOST_FILES && files[at][0] && strcmp(files[at], path) != 0)
        at++;
    if (at == MOST_FILES)
        fuzz_wrong("too many files");
    if (at == 0 && !files[0][0])
        atexit(remove_files);
    memcpy(files[at], path, sizeof path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd) != 0)
        fuzz_wrong("the input cannot be written");
    return files[at];
}

char *fuzz_test_file(const char *name, size_t *size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/tests/%s", WAVEFIT_SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        fuzz_wrong("a file of the tests cannot be read");
    *size = (size_t)ftell(file);
    char *data = malloc(*size + 1);
    rewind(file);
    if (!data || fread(data, 1, *size, file) != *size)
        fuzz_wrong("a file of the tests cannot be read");
    data[*size] = '\0';
    fclose(file);
    return data;
}
