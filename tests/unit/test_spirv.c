/* Modules as the library stores them: each, unpacked, is the file that the GLSL compiler wrote,
 * less names, lines and source; damaged data are noticed or give other words, but touch nothing
 * beside what is theirs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/heap.h"
#include "core/spirv.h"
#include "wfi_shaders.h"

enum { HEADER = 5 };

#define ADDRESS(name) &wfi_spv_##name,
static const wfi_spirv *const all_modules[] = {WFI_MODULES(ADDRESS)};

typedef struct words {
    uint32_t *at;
    size_t count;
} words;

/* WAVEFIT_SPV_DIR/<name>.spv; an empty one where another build made the module. */
static words read_file(const char *name)
{
    char path[512];
    words w = {NULL, 0};
    snprintf(path, sizeof path, "%s/%s.spv", WAVEFIT_SPV_DIR, name);
    FILE *f = fopen(path, "rb");
    if (!f)
        return w;
    fseek(f, 0, SEEK_END);
    w.count = (size_t)ftell(f) / 4;
    rewind(f);
    w.at = malloc(w.count * 4);
    assert_int_equal(fread(w.at, 4, w.count, f), w.count);
    fclose(f);
    return w;
}

/* By the names that the specification's tables give them. */
static bool describes_the_source(uint32_t opcode)
{
    static const uint32_t list[] = {2 /* OpSourceContinued */,
                                    3 /* OpSource */,
                                    4 /* OpSourceExtension */,
                                    5 /* OpName */,
                                    6 /* OpMemberName */,
                                    7 /* OpString */,
                                    8 /* OpLine */,
                                    317 /* OpNoLine */,
                                    330 /* OpModuleProcessed */};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i] == opcode)
            return true;
    return false;
}

/* What a bfloat16 module may have otherwise than its file: capabilities, extensions and the 16-bit
 * float type. */
static bool is_of_bfloat16(const uint32_t *at)
{
    const uint32_t opcode = at[0] & 0xffff;
    return opcode == 17 || opcode == 10 || (opcode == 22 && at[2] == 16);
}

static words without(words from, bool (*left_out)(const uint32_t *at))
{
    words to = {malloc(from.count * 4), HEADER};
    memcpy(to.at, from.at, HEADER * sizeof *to.at);
    for (size_t i = HEADER; i < from.count; i += from.at[i] >> 16) {
        if (left_out(from.at + i))
            continue;
        memcpy(to.at + to.count, from.at + i, (from.at[i] >> 16) * sizeof *to.at);
        to.count += from.at[i] >> 16;
    }
    free(from.at);
    return to;
}

static words unpack(const wfi_spirv *module)
{
    uint32_t *at = wfi_spirv_unpack(module);
    words w = {malloc(module->word_count * sizeof *w.at), module->word_count};
    assert_true(at && w.at);
    memcpy(w.at, at, w.count * sizeof *w.at);
    wfi_free(at);
    return w;
}

static bool is_left_out(const uint32_t *at)
{
    return describes_the_source(at[0] & 0xffff);
}

static void modules_are_their_files(void **state)
{
    (void)state;
    size_t compared = 0, packed = 0, whole = 0;
    for (size_t i = 0; i < sizeof all_modules / sizeof *all_modules; i++) {
        const wfi_spirv *module = all_modules[i];
        words file = read_file(module->name);
        if (!module->packed || !file.at) {
            free(file.at);
            continue;
        }
        words unpacked = unpack(module);
        whole += file.count * 4;
        packed += module->packed_bytes;
        file = without(file, is_left_out);
        if (strstr(module->name, "bf16")) {
            file = without(file, is_of_bfloat16);
            unpacked = without(unpacked, is_of_bfloat16);
        }
        if (file.count != unpacked.count || memcmp(file.at, unpacked.at, file.count * 4) != 0)
            fail_msg("%s is not what its file has", module->name);
        compared++;
        free(file.at);
        free(unpacked.at);
    }
    print_message("%zu modules, %zu bytes in files, %zu packed\n", compared, whole, packed);
    assert_true(compared == 0 || packed < whole / 4);
}

/* A bfloat16 module has the type, its capabilities and its extension. */
static void bfloat16_is_in_the_module(void **state)
{
    (void)state;
    size_t types = 0, modules = 0;
    for (size_t i = 0; i < sizeof all_modules / sizeof *all_modules; i++) {
        const wfi_spirv *module = all_modules[i];
        if (!module->packed || !strstr(module->name, "cooperative_bf16"))
            continue;
        uint32_t *at = wfi_spirv_unpack(module);
        assert_non_null(at);
        modules++;
        for (size_t w = HEADER; w < module->word_count; w += at[w] >> 16)
            types += at[w] == 0x00040016 && at[w + 2] == 16 && at[w + 3] == 0;
        wfi_free(at);
    }
    assert_int_equal(types, modules);
}

/* Every byte of a module's data in turn has another value: what comes out is another module or
 * none. Sanitized builds notice what would be read or written beside the arrays. */
static void damage_is_contained(void **state)
{
    (void)state;
    const wfi_spirv *module = &wfi_spv_cg_correct;
    uint8_t *bytes = malloc(module->packed_bytes);
    uint32_t *good = wfi_spirv_unpack(module);
    wfi_spirv damaged = *module;
    size_t none = 0, other = 0;
    assert_true(bytes && good);
    damaged.packed = bytes;
    for (uint32_t i = 0; i < module->packed_bytes; i++) {
        memcpy(bytes, module->packed, module->packed_bytes);
        bytes[i] ^= (uint8_t)(1 + i % 255);
        uint32_t *got = wfi_spirv_unpack(&damaged);
        none += got == NULL;
        other += got && memcmp(got, good, module->word_count * sizeof *got) != 0;
        wfi_free(got);
    }
    /* A wrong distance may lead to bytes that are the same. */
    assert_true(none + other >= module->packed_bytes - module->packed_bytes / 100);
    assert_true(none > 0);
    memcpy(bytes, module->packed, module->packed_bytes);
    for (damaged.packed_bytes = 0; damaged.packed_bytes < module->packed_bytes;
         damaged.packed_bytes++)
        assert_null(wfi_spirv_unpack(&damaged));
    free(bytes);
    wfi_free(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_are_their_files),
        cmocka_unit_test(bfloat16_is_in_the_module),
        cmocka_unit_test(damage_is_contained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
