#include "pack.h"

#include <stdlib.h>
#include <string.h>

void stop(const char *file, const char *why)
{
    fprintf(stderr, "pack_spirv: %s: %s\n", file, why);
    exit(1);
}

void *or_stop(void *memory)
{
    if (!memory)
        stop("memory", "there is none");
    return memory;
}

void put(bytes *to, uint32_t byte)
{
    if (to->count == to->room) {
        to->room = to->room ? 2 * to->room : 4096;
        to->at = or_stop(realloc(to->at, to->room));
    }
    to->at[to->count++] = (uint8_t)byte;
}

void put_number(bytes *to, uint32_t number)
{
    for (; number > 0x7f; number >>= 7)
        put(to, (number & 0x7f) | 0x80);
    put(to, number);
}

bytes read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    bytes data = {0};
    if (!f)
        stop(path, "it cannot be read");
    for (int byte = getc(f); byte != EOF; byte = getc(f))
        put(&data, (uint32_t)byte);
    if (ferror(f) || fclose(f) != 0)
        stop(path, "it cannot be read");
    return data;
}

void print_bytes(FILE *f, const bytes *data)
{
    for (size_t i = 0; i < data->count; i++)
        fprintf(f, "%s%u,", i % 24 ? "" : "\n", data->at[i]);
}

int main(int argc, char **argv)
{
    int status = 2;
    if (argc > 1 && strcmp(argv[1], "spirv") == 0)
        status = pack_spirv(argc - 2, argv + 2);
    if (argc > 1 && strcmp(argv[1], "rows") == 0)
        status = pack_rows(argc - 2, argv + 2);
    if (status == 2)
        fprintf(stderr, "usage: pack spirv NAME MODULE.spv OUTPUT.c [bfloat16] "
                        "[SIBLING SIBLING.spv]\n       pack rows OUTPUT.c FILE...\n");
    return status;
}
