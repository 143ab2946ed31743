/* Packs a SPIR-V module. Names, lines and source text are left out. SIBLING is a module of the same
 * source that was packed without a sibling. bfloat16: the module's 16-bit float type becomes
 * bfloat16 (SPV_KHR_bfloat16), which GLSL compilers and validators did not know before 2025; the
 * module must have no 16-bit arithmetic outside cooperative matrices. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/spirv_code.h"
#include "pack.h"

/* -------------------------------------------------------------------------------------- modules */

typedef struct module {
    const char *file;
    uint32_t *words;
    size_t count;
} module;

static module read_module(const char *file)
{
    const bytes data = read_file(file);
    module m = {.file = file, .count = data.count / sizeof *m.words};
    m.words = or_stop(malloc((m.count + 1) * sizeof *m.words));
    memcpy(m.words, data.at, m.count * sizeof *m.words);
    if (m.count < WFI_SPIRV_HEADER_WORDS || m.words[0] != WFI_SPIRV_MAGIC)
        stop(file, "it is no SPIR-V module of this machine's byte order");
    for (size_t i = WFI_SPIRV_HEADER_WORDS; i < m.count; i += m.words[i] >> 16)
        if (m.words[i] >> 16 == 0 || m.words[i] >> 16 > m.count - i)
            stop(file, "an instruction has a wrong length");
    return m;
}

/* Instructions that describe the source and not what runs (SPIR-V specification, 3.49.2). */
static bool is_debug(uint32_t opcode)
{
    /* OpSourceContinued, OpSource, OpSourceExtension, OpName, OpMemberName, OpString, OpLine;
     * OpNoLine; OpModuleProcessed */
    return (opcode >= 2 && opcode <= 8) || opcode == 317 || opcode == 330;
}

/* Replaces the one instruction of m that begins with these words. */
static void replace(module *m, const uint32_t *begin, size_t begin_words, const uint32_t *by,
                    size_t by_words, size_t keep)
{
    size_t found = 0, place = 0;
    for (size_t i = WFI_SPIRV_HEADER_WORDS; i < m->count; i += m->words[i] >> 16) {
        const size_t length = m->words[i] >> 16;
        bool same = m->words[i] == begin[0];
        for (size_t k = 1; same && k < begin_words; k++)
            same = k < length && (begin[k] == UINT32_MAX || m->words[i + k] == begin[k]);
        found += same;
        place = same ? i : place;
    }
    if (found != 1)
        stop(m->file, "bfloat16: not exactly one 16-bit float type, its capability and "
                      "SPV_KHR_cooperative_matrix");
    const size_t length = m->words[place] >> 16, cut = keep ? 0 : length;
    m->words = or_stop(realloc(m->words, (m->count + by_words) * sizeof *m->words));
    uint32_t *at = m->words + place;
    memmove(at + by_words, at + cut, (m->count - place - cut) * sizeof *at);
    memcpy(at, by, by_words * sizeof *at);
    m->count = m->count - cut + by_words;
}

/* OpTypeFloat 16 gets the encoding BFloat16KHR, OpCapability Float16 makes way for BFloat16TypeKHR
 * and BFloat16CooperativeMatrixKHR, and OpExtension "SPV_KHR_bfloat16" goes before that of the
 * cooperative matrices. */
static void make_bfloat16(module *m)
{
    const uint32_t type[] = {0x00030016, UINT32_MAX, 16};
    const uint32_t capability[] = {0x00020011, 9};
    const uint32_t matrices[] = {0x0008000a, 0x5f565053, 0x5f52484b, 0x706f6f63};
    const uint32_t capabilities[] = {0x00020011, 0x13fc, 0x00020011, 0x13fe};
    const uint32_t extension[] = {0x0006000a, 0x5f565053, 0x5f52484b, 0x6f6c6662, 0x36317461, 0};
    uint32_t brain[] = {0x00040016, 0, 16, 0};
    for (size_t i = WFI_SPIRV_HEADER_WORDS; i < m->count; i += m->words[i] >> 16)
        if (m->words[i] == type[0] && m->words[i + 2] == 16)
            brain[1] = m->words[i + 1];
    replace(m, type, 3, brain, 4, 0);
    replace(m, capability, 2, capabilities, 4, 0);
    replace(m, matrices, 4, extension, 6, 1);
}

/* ----------------------------------------------------------------------------------------- code */

static uint32_t fold(uint32_t difference)
{
    return difference << 1 ^ (0u - (difference >> 31));
}

static void encode_instruction(bytes *to, const uint32_t *words, uint32_t *last)
{
    const uint32_t opcode = words[0] & 0xffff, operands = (words[0] >> 16) - 1;
    const wfi_code_shape shape = wfi_code_shape_of(opcode);
    put_number(to, opcode);
    put_number(to, operands);
    for (uint32_t i = 0; i < operands; i++) {
        const uint32_t operand = words[1 + i];
        const bool as_it_is = shape.plain || (shape.typed && i == 0);
        put_number(to, as_it_is ? operand : fold(operand - *last));
        if (i == shape.made)
            *last = operand;
    }
}

/* What the library needs of a module. */
typedef struct coded {
    bytes code;
    uint32_t words;
    uint64_t hash;
} coded;

static uint64_t hash_of(const uint32_t *words, size_t count) /* FNV-1a over bytes */
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < count; i++)
        for (int shift = 0; shift < 32; shift += 8)
            hash = (hash ^ (words[i] >> shift & 0xff)) * UINT64_C(1099511628211);
    return hash;
}

static coded encode(const module *m)
{
    coded out = {.words = WFI_SPIRV_HEADER_WORDS};
    uint32_t last = 0;
    for (size_t i = 1; i < WFI_SPIRV_HEADER_WORDS; i++)
        put_number(&out.code, m->words[i]);
    for (size_t i = WFI_SPIRV_HEADER_WORDS; i < m->count; i += m->words[i] >> 16) {
        const uint32_t length = m->words[i] >> 16;
        if (is_debug(m->words[i] & 0xffff))
            continue;
        encode_instruction(&out.code, &m->words[i], &last);
        out.hash = out.hash * 31 + hash_of(&m->words[i], length);
        out.words += length;
    }
    return out;
}

/* --------------------------------------------------------------------------------------- output */

static void write_source(const char *output, const char *name, const char *sibling, const coded *c,
                         const bytes *packed)
{
    FILE *f = fopen(output, "w");
    if (!f)
        stop(output, "it cannot be written");
    fprintf(f, "#include \"core/spirv.h\"\nextern const wfi_spirv wfi_spv_%s;\n", name);
    if (sibling)
        fprintf(f, "extern const wfi_spirv wfi_spv_%s;\n", sibling);
    fprintf(f, "static const uint8_t packed_%s[] = {", name);
    print_bytes(f, packed);
    fprintf(f, "\n};\nconst wfi_spirv wfi_spv_%s = {packed_%s, sizeof packed_%s, ", name, name,
            name);
    fprintf(f, "%zu, %" PRIu32 ", ", c->code.count, c->words);
    fprintf(f, sibling ? "&wfi_spv_%s" : "0", sibling);
    fprintf(f, ", \"%s\", UINT64_C(0x%016" PRIx64 ")};\n", name, c->hash);
    if (fclose(f) != 0)
        stop(output, "it cannot be written");
}

int pack_spirv(int count, char **arguments)
{
    const bool brain = count > 3 && strcmp(arguments[3], "bfloat16") == 0;
    const int more = 3 + brain;
    if (count != more && count != more + 2)
        return 2;
    module own = read_module(arguments[1]);
    if (brain)
        make_bfloat16(&own);
    const coded c = encode(&own);
    bytes all = {0};
    if (count > more) {
        const module sibling = read_module(arguments[more + 1]);
        all = encode(&sibling).code;
    }
    const size_t begin = all.count;
    for (size_t i = 0; i < c.code.count; i++)
        put(&all, c.code.at[i]);
    const bytes packed = compress(all.at, begin, all.count);
    write_source(arguments[2], arguments[0], count > more ? arguments[more] : NULL, &c, &packed);
    return 0;
}
