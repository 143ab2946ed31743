/* A step of the sum in a work-group takes a time of its own (loads, shared memory, barriers), its
 * products on the unit that work-groups share, and its products in one subgroup after the other;
 * rows of operands are vectors or begin at any element. Every term is a factor of one rate, so that
 * least squares find the rates. What it chose of drawn products:
 * bench/notes/matmul.md#calibration. */
#include "kernels/matmul/matrix_time.h"

#include <math.h>
#include <string.h>

#include "core/architectures.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/pack.h"
#include "kernels/matmul/stream_k.h"
#include "kernels/matmul/tile.h"
#include "kernels/matmul/traffic.h"
#include "profiles/matmul.h"

#define OTHER_REGISTERS 48 /* of a work-item, beside sums, fragments and loads */

typedef struct matrix_group {
    double m, n, k, subgroups, items, element;
    double groups, steps, held;
    double bytes;  /* of a tile of A and of B, as far as loads of them take time */
    double narrow; /* fraction of the operands whose rows begin at any element */
} matrix_group;

#define LINE 128 /* bytes of a cache's line */

/* Bytes that loads of pieces of rows take as long as, one piece behind the other: half of what a
 * piece leaves of its lines counts, since a line is looked up whatever is needed of it. */
static double whole_lines(double rows, double bytes)
{
    uint32_t step = LINE; /* of the places in a line at which pieces begin */
    while ((uint32_t)bytes % step != 0)
        step /= 2;
    const double lines = (bytes - step) / LINE + 1;
    return rows * (bytes + lines * LINE) / 2;
}

/* Registers of 32 bits of a work-item: its part of the sums, of two fragments of each operand, and
 * of a tile that is loaded, twice where rows begin at any element. */
static double registers_of(const wfi_point *point, const matrix_group *g)
{
    const uint32_t *v = point->values;
    const double lanes = v[MATMUL_ID_SUBGROUP],
                 fragments =
                     ((double)v[MATMUL_ID_SUB_M] + v[MATMUL_ID_SUB_N]) * v[MATMUL_ID_FRAG_K];
    return v[MATMUL_ID_SUB_M] * (double)v[MATMUL_ID_SUB_N] / lanes +
           2 * fragments * g->element / 4 / lanes +
           (1 + g->narrow) * (g->m + g->n) * g->k * g->element / 4 / g->items + OTHER_REGISTERS;
}

static double resident(const wfi_point *point, const matrix_group *g)
{
    const uint32_t most = wfi_unit_of(point->caps).lane_registers;
    return wfi_matmul_held(point, g->items, fmin(registers_of(point, g), most ? most : 255));
}

static matrix_group describe(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint32_t *v = point->values;
    const uint32_t bits = wfi_matmul_chunk_bits(point->problem) | v[MATMUL_ID_PACK];
    const double m = v[MATMUL_ID_TILE_M], n = v[MATMUL_ID_TILE_N], split_k = v[MATMUL_ID_SPLIT_K],
                 subgroups =
                     m / v[MATMUL_ID_SUB_M] * (n / v[MATMUL_ID_SUB_N]) * v[MATMUL_ID_SUBS_K];
    matrix_group g = {.m = m,
                      .n = n,
                      .k = v[MATMUL_ID_TILE_K],
                      .subgroups = subgroups,
                      .items = subgroups * v[MATMUL_ID_SUBGROUP],
                      .element = (double)wf_type_size(point->problem->type),
                      .groups = wfi_matmul_tile_count(p, m, n) * split_k,
                      .narrow = ((bits & 1 ? 0 : m) + (bits & 2 ? 0 : n)) / (m + n)};
    g.bytes = (p->transpose_a ? whole_lines(g.k, m * g.element) : whole_lines(m, g.k * g.element)) +
              (p->transpose_b ? whole_lines(n, g.k * g.element) : whole_lines(g.k, n * g.element));
    g.steps = ceil(ceil((double)p->k / split_k) / g.k);
    g.held = resident(point, &g);
    return g;
}

double wfi_matmul_matrix_resident(const wfi_point *point)
{
    return describe(point).held;
}

/* `waves` waves, in each of which a unit holds `count` work-groups for so many steps. */
static void add_waves(const wfi_point *point, const matrix_group *g, double count, double waves,
                      double steps, double *terms)
{
    const double products = g->m * g->n * g->k, loaded = (g->m + g->n) * g->k,
                 outputs = waves * count * g->m * g->n;
    if (count <= 0 || waves <= 0)
        return;
    terms[WFI_RATE_MATRIX_WAVE] += waves;
    terms[WFI_RATE_MATRIX_STEP] += waves * steps;
    terms[WFI_RATE_MATRIX_MULTIPLY_ADD] += waves * steps * count * products;
    terms[WFI_RATE_MATRIX_SUBGROUP] += waves * steps * products / g->subgroups;
    terms[WFI_RATE_MATRIX_LOAD_BYTE] += waves * steps * count * g->bytes;
    terms[WFI_RATE_MATRIX_NARROW_WAIT] += waves * steps * g->narrow * loaded / g->items;
    terms[WFI_RATE_MATRIX_NARROW_LOAD] += waves * steps * count * g->narrow * loaded;
    terms[point->problem->matmul.n % 8 ? WFI_RATE_MATRIX_NARROW_OUTPUT : WFI_RATE_MATRIX_OUTPUT] +=
        outputs;
}

/* One wave of one work-group a unit, which then share what whole waves leave. */
static void add_stream_k(const wfi_point *point, const matrix_group *g, double units, double *terms)
{
    const wfi_matmul_tile tile = wfi_matmul_tile_of(point);
    const wfi_matmul_stream_k s = wfi_matmul_stream_k_of(point, &tile);
    const double full = floor((double)s.tiles / units),
                 left = ceil((double)(s.shared * s.tile_steps) / (double)s.groups);
    add_waves(point, g, 1, full, (double)s.tile_steps, terms);
    add_waves(point, g, 1, 1, left, terms);
    terms[WFI_RATE_DISPATCH] += 2;
    terms[WFI_RATE_PARTIAL_BYTE] +=
        (double)wfi_matmul_partials_bytes(&s, &tile, point->problem->type);
}

void wfi_matmul_matrix_terms(const wfi_point *point, double terms[WFI_RATES])
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint32_t *v = point->values;
    const matrix_group g = describe(point);
    const double units = wfi_matmul_units(point->caps), full = floor(g.groups / (units * g.held)),
                 rest = g.groups - full * units * g.held, split_k = v[MATMUL_ID_SPLIT_K];
    memset(terms, 0, WFI_RATES * sizeof *terms);
    terms[WFI_RATE_START] = 1;
    if (v[MATMUL_ID_STREAM_K])
        add_stream_k(point, &g, units, terms);
    else {
        add_waves(point, &g, g.held, full, g.steps, terms);
        add_waves(point, &g, ceil(rest / units), 1, g.steps, terms);
    }
    if (split_k > 1) {
        terms[WFI_RATE_DISPATCH] += 1;
        terms[WFI_RATE_PARTIAL_BYTE] +=
            split_k * (double)p->m * (double)p->n * (double)p->batch * 4;
    }
    if (v[MATMUL_ID_PACK]) {
        terms[WFI_RATE_DISPATCH] += 1;
        terms[WFI_RATE_PACK_BYTE] += wfi_matmul_pack_bytes(point, v[MATMUL_ID_PACK]);
    }
}

double wfi_matmul_matrix_time(const wfi_point *point)
{
    const wfi_rates *r = wfi_matmul_rates_of(point);
    double terms[WFI_RATES], time = 0;
    wfi_matmul_matrix_terms(point, terms);
    for (int i = 0; i < WFI_RATES; i++)
        time += terms[i] * r->of[i];
    return time * wfi_matmul_microsecond(point);
}
