/* Tuning data. What was read and printed again is read as the same; a text with a checksum is
 * refused when a byte of it has changed. */
#include <stdlib.h>
#include <string.h>

#include "choose/tuning_data.h"
#include "core/heap.h"
#include "target.h"

/* Gives a block of exactly the input's size, so that reading beyond it shows. */
static bool parse(const void *text, size_t size, wfi_tuning_data *data)
{
    char error[192] = "", *block = malloc(size ? size : 1);
    if (!block)
        fuzz_wrong("no memory");
    memcpy(block, text, size);
    const bool ok = wfi_tuning_parse(block, size, NULL, NULL, data, error);
    free(block);
    if (!ok && (!*error || strchr(error, '\n') || data->entries))
        fuzz_wrong("a refusal without a reason, or with something left");
    return ok;
}

/* What choosing and searching ask of each entry. */
static void use(wfi_tuning_data *data)
{
    for (uint32_t e = 0; e < data->entry_count; e++) {
        wfi_tuning_entry *entry = &data->entries[e];
        bool acquitted = false;
        if (!wfi_tuning_find(data, &entry->key))
            fuzz_wrong("an entry that cannot be found");
        for (uint32_t i = 0; i < entry->best_count; i++)
            wfi_entry_is_tried(entry, wfi_named_point_hash(&entry->best[i]));
        for (uint32_t i = 0; i < entry->bad_count; i++)
            wfi_entry_is_blamed(entry, &entry->bad[i]);
        wfi_entry_judge(entry, &acquitted);
    }
}

/* Whether the byte is of the name of the checksum's line; no string has a newline in it. */
static bool is_in_name(const char *text, size_t at)
{
    static const char begin[] = "\n  \"", name[] = "checksum";
    const char *line = strstr(text, "\n  \"checksum\"");
    const size_t first = line ? (size_t)(line - text) + strlen(begin) : 0;
    return line && at >= first && at < first + strlen(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wfi_tuning_data read, again;
    size_t bytes = 0;
    if (!parse(data, size, &read))
        return 0;
    char *text = wfi_tuning_text(&read, &bytes);
    if (!text || !parse(text, bytes, &again))
        fuzz_wrong("what was read and printed is refused");
    if (again.entry_count != read.entry_count)
        fuzz_wrong("what was read and printed has other entries");
    wfi_tuning_data_free(&again);
    const size_t flipped = size * 31 % bytes;
    const bool in_name = is_in_name(text, flipped);
    text[flipped] ^= (char)(1u << size % 8);
    if (parse(text, bytes, &again)) {
        /* A flip in the line's own name makes it an unknown member, which is passed over. */
        if (!in_name)
            fuzz_wrong("a flipped bit is not noticed");
        wfi_tuning_data_free(&again);
    }
    wfi_free(text);
    use(&read);
    wfi_tuning_data_free(&read);
    return 0;
}
