/* A tool of the build, run on the machine that builds, which turns shaders and tuning rows into C
 * sources with compressed data:
 *
 *   pack spirv NAME MODULE.spv OUTPUT.c [bfloat16] [SIBLING SIBLING.spv]
 *   pack rows OUTPUT.c FILE...
 *
 * src/core/unpack.h says how data are compressed, src/core/spirv_code.h how instructions are
 * coded. */
#ifndef PACK_H
#define PACK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes that grow; memory is left to the end of the process. */
typedef struct bytes {
    uint8_t *at;
    size_t count, room;
} bytes;

/* Ends the process with a message. */
void stop(const char *file, const char *why);
/* The memory; ends the process where there is none. */
void *or_stop(void *memory);
void put(bytes *to, uint32_t byte);
void put_number(bytes *to, uint32_t number);
bytes read_file(const char *path);
/* The values of an array's initializer. */
void print_bytes(FILE *f, const bytes *data);

/* Compresses all[begin … end - 1]; matches may begin at all[0]. */
bytes compress(const uint8_t *all, size_t begin, size_t end);

/* The modes: the arguments behind the mode's name; the exit status. */
int pack_spirv(int count, char **arguments);
int pack_rows(int count, char **arguments);

#endif
