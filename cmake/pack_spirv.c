/* A tool of the build, run on the machine that builds: packs a SPIR-V module into a C source.
 *
 *   pack_spirv NAME MODULE.spv OUTPUT.c [bfloat16] [SIBLING SIBLING.spv]
 *
 * src/core/spirv_code.h says how. Names, lines and source text are left out. SIBLING is a module of
 * the same source that was packed without a sibling. bfloat16: the module's 16-bit float type
 * becomes bfloat16 (SPV_KHR_bfloat16), which GLSL compilers and validators did not know before
 * 2025; the module must have no 16-bit arithmetic outside cooperative matrices. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/spirv_code.h"

static void stop(const char *file, const char *why)
{
    fprintf(stderr, "pack_spirv: %s: %s\n", file, why);
    exit(1);
}

static void *or_stop(void *memory)
{
    if (!memory)
        stop("memory", "there is none");
    return memory;
}

typedef struct bytes {
    uint8_t *at;
    size_t count, room;
} bytes;

static void put(bytes *to, uint32_t byte)
{
    if (to->count == to->room) {
        to->room = to->room ? 2 * to->room : 4096;
        to->at = or_stop(realloc(to->at, to->room));
    }
    to->at[to->count++] = (uint8_t)byte;
}

static void put_number(bytes *to, uint32_t number)
{
    for (; number > 0x7f; number >>= 7)
        put(to, (number & 0x7f) | 0x80);
    put(to, number);
}

/* -------------------------------------------------------------------------------------- modules */

typedef struct module {
    const char *file;
    uint32_t *words;
    size_t count;
} module;

static module read_module(const char *file)
{
    FILE *f = fopen(file, "rb");
    module m = {.file = file};
    if (!f || fseek(f, 0, SEEK_END) != 0)
        stop(file, "it cannot be read");
    const long size = ftell(f);
    rewind(f);
    m.count = size > 0 ? (size_t)size / sizeof *m.words : 0;
    m.words = or_stop(malloc((m.count + 1) * sizeof *m.words));
    if (fread(m.words, sizeof *m.words, m.count, f) != m.count)
        stop(file, "it cannot be read");
    fclose(f);
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

/* ------------------------------------------------------------------------------------- compress */

#define HASH_BITS 16
#define MOST_TRIES 1024

typedef struct matcher {
    const uint8_t *at;
    size_t end;
    uint32_t heads[1 << HASH_BITS]; /* 1 + the last place of a hash; 0: none */
    uint32_t *before;               /* the place before, likewise */
} matcher;

static uint32_t key_of(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value * 2654435761u >> (32 - HASH_BITS);
}

static void enter(matcher *m, size_t place)
{
    if (place + WFI_LEAST_MATCH > m->end)
        return;
    uint32_t *head = &m->heads[key_of(m->at + place)];
    m->before[place] = *head;
    *head = (uint32_t)place + 1;
}

static uint32_t number_bytes(size_t number)
{
    uint32_t count = 1;
    for (; number > 0x7f; number >>= 7)
        count++;
    return count;
}

/* The match at `place` that saves most: its length, 0 where none saves anything. */
static size_t longest(const matcher *m, size_t place, size_t *distance)
{
    size_t best = 0;
    long most = 0;
    if (place + WFI_LEAST_MATCH > m->end)
        return 0;
    uint32_t next = m->heads[key_of(m->at + place)];
    for (int tries = 0; next && tries < MOST_TRIES; tries++, next = m->before[next - 1]) {
        const size_t from = next - 1;
        size_t length = 0;
        while (place + length < m->end && m->at[from + length] == m->at[place + length])
            length++;
        const long saved = (long)length - 1 - (long)number_bytes(place - from);
        if (length >= WFI_LEAST_MATCH && saved > most) {
            most = saved;
            best = length;
            *distance = place - from;
        }
    }
    return best;
}

static void put_turn(bytes *to, const uint8_t *run, size_t run_bytes, size_t distance,
                     size_t length)
{
    const size_t more = length ? length - WFI_LEAST_MATCH : 0;
    put(to, (uint32_t)((run_bytes < 15 ? run_bytes : 15) << 4 | (more < 15 ? more : 15)));
    if (run_bytes >= 15)
        put_number(to, (uint32_t)(run_bytes - 15));
    for (size_t i = 0; i < run_bytes; i++)
        put(to, run[i]);
    if (!length)
        return;
    put_number(to, (uint32_t)distance);
    if (more >= 15)
        put_number(to, (uint32_t)(more - 15));
}

/* A match waits where the next place has one that is longer by more than the byte between. */
static bytes compress(const uint8_t *all, size_t begin, size_t end)
{
    matcher *m = or_stop(calloc(1, sizeof *m));
    bytes to = {0};
    size_t run = begin, place = begin;
    m->at = all;
    m->end = end;
    m->before = or_stop(calloc(end + 1, sizeof *m->before));
    for (size_t i = 0; i < begin; i++)
        enter(m, i);
    while (place < end) {
        size_t distance = 0, next_distance = 0;
        const size_t length = longest(m, place, &distance);
        enter(m, place);
        if (!length || longest(m, place + 1, &next_distance) > length + 1) {
            place++;
            continue;
        }
        put_turn(&to, all + run, place - run, distance, length);
        for (size_t i = 1; i < length; i++)
            enter(m, place + i);
        run = place += length;
    }
    if (run < end)
        put_turn(&to, all + run, end - run, 0, 0);
    free(m->before);
    free(m);
    return to;
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
    fprintf(f, "static const uint8_t packed[] = {");
    for (size_t i = 0; i < packed->count; i++)
        fprintf(f, "%s%u,", i % 24 ? "" : "\n", packed->at[i]);
    fprintf(f, "\n};\nconst wfi_spirv wfi_spv_%s = {packed, sizeof packed, %zu, %" PRIu32 ", ",
            name, c->code.count, c->words);
    fprintf(f, sibling ? "&wfi_spv_%s" : "0", sibling);
    fprintf(f, ", \"%s\", UINT64_C(0x%016" PRIx64 ")};\n", name, c->hash);
    if (fclose(f) != 0)
        stop(output, "it cannot be written");
}

int main(int argc, char **argv)
{
    const bool brain = argc > 4 && strcmp(argv[4], "bfloat16") == 0;
    const int more = 4 + brain;
    if (argc != more && argc != more + 2) {
        fprintf(stderr, "usage: pack_spirv NAME MODULE.spv OUTPUT.c [bfloat16] "
                        "[SIBLING SIBLING.spv]\n");
        return 2;
    }
    module own = read_module(argv[2]);
    if (brain)
        make_bfloat16(&own);
    const coded c = encode(&own);
    bytes all = {0};
    if (argc > more) {
        const module sibling = read_module(argv[more + 1]);
        all = encode(&sibling).code;
    }
    const size_t begin = all.count;
    for (size_t i = 0; i < c.code.count; i++)
        put(&all, c.code.at[i]);
    const bytes packed = compress(all.at, begin, all.count);
    write_source(argv[3], argv[1], argc > more ? argv[more] : NULL, &c, &packed);
    return 0; /* memory goes with the process */
}
