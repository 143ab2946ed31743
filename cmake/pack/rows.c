/* Packs the tuning rows that ship: a file each. */
#include <string.h>

#include "pack.h"

int pack_rows(int count, char **arguments)
{
    bytes packed[64], text[64];
    FILE *f = count > 0 ? fopen(arguments[0], "w") : NULL;
    if (count < 1)
        return 2;
    if (count > 65)
        stop(arguments[0], "more than 64 files");
    if (!f)
        stop(arguments[0], "it cannot be written");
    fprintf(f, "#include \"choose/store.h\"\n");
    for (int i = 0; i < count - 1; i++) {
        text[i] = read_file(arguments[i + 1]);
        packed[i] = compress(text[i].at, 0, text[i].count);
        fprintf(f, "static const uint8_t packed_%d[] = {", i);
        print_bytes(f, &packed[i]);
        fprintf(f, "\n};\n");
    }
    fprintf(f, "const wfi_rows_file wfi_rows_files[] = {\n");
    for (int i = 0; i < count - 1; i++) {
        const char *slash = strrchr(arguments[i + 1], '/');
        fprintf(f, "    {\"%s\", packed_%d, %zu, %zu},\n", slash ? slash + 1 : arguments[i + 1], i,
                packed[i].count, text[i].count);
    }
    fprintf(f, "    {\"\", 0, 0, 0}};\nconst size_t wfi_rows_file_count = %d;\n", count - 1);
    if (fclose(f) != 0)
        stop(arguments[0], "it cannot be written");
    return 0;
}
