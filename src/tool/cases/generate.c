#include "tool/cases/generate.h"

#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "io/memory.h"
#include "tool/cases/bench_matrices.h"
#include "tool/cli/console.h"
#include "tool/cases/random.h"

/* Entries are added through this; once memory is out or the run is interrupted, nothing more is. */
typedef struct maker {
    wfi_triplets t;
    uint64_t seed;
    bool ok;
} maker;

static maker start(uint64_t seed)
{
    return (maker){.t = {.stopped = wfi_interrupt_noted}, .seed = seed, .ok = true};
}

static void add(maker *m, uint64_t row, uint64_t column, double value)
{
    m->ok = m->ok && wfi_triplets_add(&m->t, (uint32_t)row, (uint32_t)column, value);
}

static bool finish(maker *m, uint64_t rows, wfi_csr *out)
{
    const bool ok = m->ok && wfi_csr_from_triplets(&m->t, (uint32_t)rows, (uint32_t)rows, out);
    wfi_triplets_free(&m->t);
    return ok;
}

static uint64_t below(maker *m, uint64_t bound)
{
    return wfi_random_below(&m->seed, bound);
}

/* In [-1, 1), not 0. */
static double value(maker *m)
{
    return ((double)(wfi_random_bits(&m->seed) >> 40) + 0.5) * 0x1p-23 - 1.0;
}

static bool make_poisson7(uint64_t n, uint64_t seed, wfi_csr *out)
{
    maker m = start(seed);
    for (uint64_t row = 0; row < n * n * n && m.ok; row++) {
        const uint64_t x = row % n, y = row / n % n, z = row / (n * n);
        add(&m, row, row, 6);
        const struct {
            bool there;
            uint64_t at;
        } near[] = {{x > 0, row - 1},     {x + 1 < n, row + 1}, {y > 0, row - n},
                    {y + 1 < n, row + n}, {z > 0, row - n * n}, {z + 1 < n, row + n * n}};
        for (int i = 0; i < 6; i++)
            if (near[i].there)
                add(&m, row, near[i].at, -1);
    }
    return finish(&m, n * n * n, out);
}

static bool make_poisson5(uint64_t n, uint64_t seed, wfi_csr *out)
{
    (void)seed;
    return wfi_make_poisson5((uint32_t)n, out);
}

static bool make_poisson27(uint64_t n, uint64_t seed, wfi_csr *out)
{
    (void)seed;
    return wfi_make_poisson27((uint32_t)n, out);
}

/* Eight entries on either side of the diagonal. */
static bool make_banded(uint64_t n, uint64_t seed, wfi_csr *out)
{
    maker m = start(seed);
    for (uint64_t row = 0; row < n && m.ok; row++)
        for (uint64_t c = row < 8 ? 0 : row - 8; c <= row + 8 && c < n; c++)
            add(&m, row, c, value(&m));
    return finish(&m, n, out);
}

static bool make_uniform(uint64_t n, uint64_t seed, wfi_csr *out)
{
    return wfi_make_uniform((uint32_t)n, 8, seed, out);
}

static bool make_rmat(uint64_t scale, uint64_t seed, wfi_csr *out)
{
    return wfi_make_rmat((uint32_t)scale, seed, out);
}

static bool make_dense_row(uint64_t n, uint64_t seed, wfi_csr *out)
{
    maker m = start(seed);
    for (uint64_t i = 0; i < n && m.ok; i++) {
        add(&m, i, i, value(&m));
        if (i != n / 2)
            add(&m, n / 2, i, value(&m));
    }
    return finish(&m, n, out);
}

/* Nine rows of ten are empty, the tenth has ten entries. */
static bool make_empty_rows(uint64_t n, uint64_t seed, wfi_csr *out)
{
    maker m = start(seed);
    for (uint64_t row = 3; row < n && m.ok; row += 10)
        for (int i = 0; i < 10; i++)
            add(&m, row, below(&m, n), value(&m));
    return finish(&m, n, out);
}

static bool make_diagonal(uint64_t n, uint64_t seed, wfi_csr *out)
{
    maker m = start(seed);
    for (uint64_t i = 0; i < n && m.ok; i++)
        add(&m, i, i, value(&m));
    return finish(&m, n, out);
}

/* The first row, the first column and the diagonal. */
static bool make_arrow(uint64_t n, uint64_t seed, wfi_csr *out)
{
    maker m = start(seed);
    for (uint64_t i = 0; i < n && m.ok; i++) {
        add(&m, i, i, (double)n);
        if (i > 0) {
            add(&m, 0, i, -1);
            add(&m, i, 0, -1);
        }
    }
    return finish(&m, n, out);
}

/* ----------------------------------------------------------------------------------- stand-ins */

/* An economic model's Jacobian: about six entries a row, most near, some a period away. */
static bool make_mark3jac(uint64_t rows, uint64_t seed, wfi_csr *out)
{
    maker m = start(seed);
    const uint64_t period = 458;
    for (uint64_t row = 0; row < rows && m.ok; row++) {
        const uint64_t count = 2 + below(&m, below(&m, 8) == 0 ? 26 : 5);
        add(&m, row, row, value(&m));
        for (uint64_t i = 0; i < count; i++) {
            const uint64_t near = row + below(&m, 64) + rows - 32;
            const uint64_t shift = below(&m, 3) == 0 ? (below(&m, 2) ? period : rows - period) : 0;
            add(&m, row, (near + shift) % rows, value(&m));
        }
    }
    return finish(&m, rows, out);
}

/* A block of `side` unknowns for each pair of nodes. */
static void add_block(maker *m, uint64_t from, uint64_t to, uint64_t side)
{
    for (uint64_t r = 0; r < side; r++)
        for (uint64_t c = 0; c < side; c++)
            add(m, from * side + r, to * side + c, value(m));
}

/* Finite elements: four unknowns a node of a triangulated plane, 125 x 125 nodes. */
static bool make_venkat(uint64_t side, uint64_t seed, wfi_csr *out)
{
    maker m = start(seed);
    const int64_t n = (int64_t)side;
    static const int near[7][2] = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}};
    for (int64_t node = 0; node < n * n && m.ok; node++)
        for (int i = 0; i < 7; i++) {
            const int64_t x = node % n + near[i][0], y = node / n + near[i][1];
            if (x >= 0 && y >= 0 && x < n && y < n)
                add_block(&m, (uint64_t)node, (uint64_t)(y * n + x), 4);
        }
    return finish(&m, (uint64_t)n * (uint64_t)n * 4, out);
}

/* A flow in three dimensions: five unknowns a cell and its six neighbours, 23^3 cells. */
static bool make_water_tank(uint64_t side, uint64_t seed, wfi_csr *out)
{
    maker m = start(seed);
    const int64_t n = (int64_t)side;
    static const int near[7][3] = {{0, 0, 0},  {1, 0, 0}, {-1, 0, 0}, {0, 1, 0},
                                   {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    for (int64_t cell = 0; cell < n * n * n && m.ok; cell++)
        for (int i = 0; i < 7; i++) {
            const int64_t x = cell % n + near[i][0], y = cell / n % n + near[i][1],
                          z = cell / (n * n) + near[i][2];
            if (x >= 0 && y >= 0 && z >= 0 && x < n && y < n && z < n)
                add_block(&m, (uint64_t)cell, (uint64_t)((z * n + y) * n + x), 5);
        }
    return finish(&m, (uint64_t)n * (uint64_t)n * (uint64_t)n * 5, out);
}

/* A circuit: a few entries a row, mostly near, and `nets` rows and columns of power lines that
 * `share` of the rows hang on. */
static bool make_circuit(uint64_t rows, uint64_t nets, double share, uint64_t seed, wfi_csr *out)
{
    maker m = start(seed);
    for (uint64_t row = 0; row < rows && m.ok; row++) {
        const uint64_t links = below(&m, 4);
        add(&m, row, row, 1 + value(&m));
        for (uint64_t i = 0; i < links; i++) {
            const uint64_t reach = below(&m, 10) == 0 ? rows : 200;
            const uint64_t other = (row + 1 + below(&m, reach)) % rows;
            const double v = value(&m);
            add(&m, row, other, v);
            add(&m, other, row, v);
        }
        if ((double)below(&m, 1000000) < share * 1e6) {
            const uint64_t net = below(&m, nets) * (rows / nets);
            add(&m, net, row, -1);
            add(&m, row, net, -1);
        }
    }
    return finish(&m, rows, out);
}

static bool make_rajat(uint64_t rows, uint64_t seed, wfi_csr *out)
{
    return make_circuit(rows, 4, 0.5, seed, out);
}

static bool make_memchip(uint64_t rows, uint64_t seed, wfi_csr *out)
{
    return make_circuit(rows, 200, 0.45, seed, out);
}

/* Roads: a plane's crossings, about half of whose neighbours are linked both ways. */
static bool make_roads(uint64_t side, uint64_t seed, wfi_csr *out)
{
    maker m = start(seed);
    for (uint64_t y = 0; y < side && m.ok; y++)
        for (uint64_t x = 0; x < side && m.ok; x++) {
            const uint64_t node = y * side + x;
            const uint64_t ends[2] = {x + 1 < side ? node + 1 : node,
                                      y + 1 < side ? node + side : node};
            for (int i = 0; i < 2; i++)
                if (ends[i] != node && below(&m, 1000) < 551) {
                    add(&m, node, ends[i], 1);
                    add(&m, ends[i], node, 1);
                }
        }
    return finish(&m, side * side, out);
}

/* -------------------------------------------------------------------------------------- by name */

#define MOST_EACH 100000

typedef struct kind {
    const char *name;
    uint64_t most, fixed; /* largest size; the size of a stand-in, which takes none */
    bool (*make)(uint64_t size, uint64_t seed, wfi_csr *out);
    /* N^rows rows (0: 2^N), and what is added to make them: so many entries a row, less so many a
     * border of N^(rows - 1). Of what needs little memory or asks for itself: 0. */
    unsigned rows, per_row, per_border;
    const char *meaning;
} kind;

static const kind kinds[] = {
    {"poisson5", 20000, 0, make_poisson5, 2, 5, 4, "5-point matrix of N^2 cells"},
    {"poisson7", 600, 0, make_poisson7, 3, 7, 6, "7-point matrix of N^3 cells"},
    {"poisson27", 400, 0, make_poisson27, 3, 0, 0, "27-point matrix of N^3 cells"},
    {"banded", 100000000, 0, make_banded, 1, 17, 72, "N rows, 17 diagonals"},
    {"uniform", 200000000, 0, make_uniform, 1, 8, 0,
     "N rows of 8 entries in random columns; NxE: of E entries"},
    {"rmat", 26, 0, make_rmat, 0, 16, 0, "power-law graph of 2^N rows, 16 entries a row"},
    {"dense-row", 500000000, 0, make_dense_row, 1, 2, 1, "N rows: a diagonal and one dense row"},
    {"empty-rows", 1000000000, 0, make_empty_rows, 1, 1, 9, "N rows, nine of ten empty"},
    {"diagonal", 1000000000, 0, make_diagonal, 1, 1, 0, "N rows"},
    {"arrow", 500000000, 0, make_arrow, 1, 3, 2, "N rows: diagonal, first row and first column"},
    {"mark3jac140", 0, 64089, make_mark3jac, 1, 0, 0, "stand-in: economic model, 64 K rows"},
    {"venkat01", 0, 125, make_venkat, 2, 0, 0,
     "stand-in: finite elements, 4 x 4 blocks, 62 K rows"},
    {"water_tank", 0, 23, make_water_tank, 3, 0, 0, "stand-in: flow, 5 x 5 blocks, 61 K rows"},
    {"rajat16", 0, 94294, make_rajat, 1, 0, 0, "stand-in: circuit with a few huge rows, 94 K rows"},
    {"netherlands_osm", 0, 1489, make_roads, 2, 0, 0, "stand-in: planar road network, 2.2 M rows"},
    {"memchip", 0, 2707524, make_memchip, 1, 0, 0, "stand-in: circuit, 2.7 M rows"},
};

void wfi_generate_list(FILE *to)
{
    for (size_t i = 0; i < WFI_COUNT(kinds); i++)
        fprintf(to, "  %-16s %s\n", kinds[i].name, kinds[i].meaning);
}

/* What a text asks for. "uniform:1000x30": `each` is 30; else it is 0. */
typedef struct wanted {
    const kind *kind;
    uint64_t size, each;
} wanted;

static bool parse_size(const char *text, wanted *w, char message[256])
{
    const kind *k = w->kind;
    char *end = NULL;
    w->size = k->fixed;
    if (k->fixed && !text)
        return true;
    if (k->fixed)
        snprintf(message, 256, "%s has a size of its own and takes none", k->name);
    else if (!text)
        snprintf(message, 256, "%s needs a size, as in %s:100", k->name, k->name);
    if (k->fixed || !text)
        return false;
    const bool digit = *text >= '0' && *text <= '9';
    w->size = strtoull(text, &end, 10);
    if (k->make == make_uniform && *end == 'x' && end[1] >= '0' && end[1] <= '9') {
        w->each = strtoull(end + 1, &end, 10);
        if (w->each == 0 || w->each > MOST_EACH) {
            snprintf(message, 256, "'%.60s': rows have 1 to %d entries", text, MOST_EACH);
            return false;
        }
    }
    if (!digit || *end || w->size == 0 || w->size > k->most) {
        snprintf(message, 256, "'%.60s' is not a size between 1 and %llu of %s", text,
                 (unsigned long long)k->most, k->name);
        return false;
    }
    return true;
}

/* The kind that the text names, whatever its size; NULL: none. */
static const kind *kind_of(const char *text)
{
    const size_t length = strcspn(text, ":");
    for (size_t i = 0; i < WFI_COUNT(kinds); i++)
        if (strlen(kinds[i].name) == length && strncmp(kinds[i].name, text, length) == 0)
            return &kinds[i];
    return NULL;
}

bool wfi_generate_is_kind(const char *text)
{
    return kind_of(text) != NULL;
}

bool wfi_generate_is_stand_in(const char *text)
{
    const kind *k = kind_of(text);
    return k && k->fixed;
}

/* False: `message` says what is wrong. */
static bool find(const char *text, wanted *w, char message[256])
{
    const char *colon = strchr(text, ':');
    *w = (wanted){.kind = kind_of(text)};
    if (w->kind)
        return parse_size(colon ? colon + 1 : NULL, w, message);
    int used = snprintf(message, 256, "'%.40s' is none of", text);
    for (size_t i = 0; i < WFI_COUNT(kinds) && used < 250; i++)
        used += snprintf(message + used, 256 - (size_t)used, " %s", kinds[i].name);
    return false;
}

bool wfi_generate_check(const char *text, char message[256])
{
    wanted w;
    return find(text, &w, message);
}

/* Whether there is memory for it, asked before any is taken. */
static bool fits(const wanted *w, const char *text, char message[256])
{
    const kind *k = w->kind;
    const double per_row = w->each ? (double)w->each : k->per_row;
    double rows = k->rows ? 1 : (double)(UINT64_C(1) << w->size), border = 1;
    for (unsigned i = 0; i < k->rows; i++) {
        border = rows;
        rows *= (double)w->size;
    }
    const double entries = rows * per_row - border * k->per_border;
    if (entries > UINT32_MAX) {
        snprintf(message, 256, "%.100s has %.3g entries, more than %u", text, entries, UINT32_MAX);
        return false;
    }
    const double bytes =
        k->per_row ? wfi_csr_bytes(entries > 0 ? entries : 0, (uint32_t)rows, (uint32_t)rows) : 0;
    if (bytes <= wfi_physical_memory())
        return true;
    snprintf(message, 256, "%.100s: %.3g entries take %.3g GB, and there are %.3g GB of memory",
             text, entries, bytes * 1e-9, wfi_physical_memory() * 1e-9);
    return false;
}

bool wfi_generate(const char *text, uint64_t seed, wfi_csr *out, char message[256])
{
    wanted w;
    if (!find(text, &w, message) || !fits(&w, text, message))
        return false;
    if (w.each ? wfi_make_uniform((uint32_t)w.size, (uint32_t)w.each, seed, out)
               : w.kind->make(w.size, seed, out))
        return true;
    snprintf(message, 256, "%.100s: %s", text,
             wfi_interrupt_noted() ? "interrupted" : "out of memory");
    return false;
}
