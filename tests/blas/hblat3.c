/* A tester of hgemm_ in the manner of netlib's level-3 testers, which have none for 16-bit floats:
 * all combinations of sizes, transposes and scalars, with leading dimensions that leave a gap. Each
 * result is compared with a sum in f64: the error, in units of rounding of the sum of the terms'
 * magnitudes, must be below the threshold of 16. Operands, gaps and arguments must stay as they
 * are. hgemm_ comes by LD_PRELOAD (shim.c), as the testers' sgemm_ does. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define MOST 9
#define LEADING (MOST + 1)
#define ELEMENTS (LEADING * LEADING)
#define UNIT 0x1p-10 /* of f16 */
#define THRESHOLD 16
#define GAP 0x7e5a /* a NaN */

typedef uint16_t half;

extern void hgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
                   const half *alpha, const half *a, const int *lda, const half *b, const int *ldb,
                   const half *beta, half *c, const int *ldc) __attribute__((weak));
EXPORT void xerbla_(const char *routine, const int *argument, size_t length);

static int wrong_argument;

void xerbla_(const char *routine, const int *argument, size_t length)
{
    (void)routine;
    (void)length;
    wrong_argument = *argument;
}

static double value_of(half h)
{
    const int exponent = h >> 10 & 31, mantissa = h & 1023;
    const double size = exponent == 31 ? (mantissa ? (double)NAN : (double)INFINITY)
                        : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                                       : ldexp(mantissa, -24);
    return h & 0x8000 ? -size : size;
}

/* Of multiples of 1/64 below 1 in magnitude, which f16 has. */
static half half_of(int sixty_fourths)
{
    half h = sixty_fourths < 0 ? 0x8000 : 0;
    int size = abs(sixty_fourths), exponent = 9;
    if (size == 0)
        return h;
    for (; size < 1 << exponent; exponent--)
        ;
    return (half)(h | (exponent + 9) << 10 | (size << (10 - exponent) & 1023));
}

typedef struct call {
    char ta, tb;
    int m, n, k, ld;
    half alpha, beta, a[ELEMENTS], b[ELEMENTS], c[ELEMENTS];
} call;

static void fill(half *matrix, int rows, int columns, unsigned *state)
{
    for (int i = 0; i < ELEMENTS; i++)
        matrix[i] = GAP;
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) {
            *state = *state * 1664525 + 1013904223;
            matrix[j * LEADING + i] = half_of((int)(*state >> 16) % 64 * (*state >> 31 ? -1 : 1));
        }
}

static double element(const half *matrix, char transpose, int row, int column)
{
    return value_of(transpose == 'N' ? matrix[column * LEADING + row]
                                     : matrix[row * LEADING + column]);
}

/* The largest error of a result, in units; infinite where anything else changed. */
static double judge(const call *before, const call *after)
{
    double worst = 0;
    for (int i = 0; i < ELEMENTS; i++) {
        const int row = i % LEADING, column = i / LEADING;
        if (row >= before->m || column >= before->n) {
            worst = after->c[i] == GAP ? worst : (double)INFINITY;
            continue;
        }
        const double alpha = value_of(before->alpha), beta = value_of(before->beta);
        double sum = 0, size = 0;
        for (int l = 0; l < before->k; l++) {
            const double term =
                element(before->a, before->ta, row, l) * element(before->b, before->tb, l, column);
            sum += term;
            size += fabs(term);
        }
        const double c = value_of(before->c[i]);
        sum = alpha * sum + beta * c;
        size = fabs(alpha) * size + fabs(beta * c);
        const double error = fabs(value_of(after->c[i]) - sum);
        const double units = size > 0 ? error / (UNIT * size) : error > 0 ? (double)INFINITY : 0;
        worst = units <= worst ? worst : units; /* NaN counts */
    }
    if (memcmp(before, after, offsetof(call, c)) != 0)
        return (double)INFINITY;
    return worst;
}

static void make_call(call *c)
{
    hgemm_(&c->ta, &c->tb, &c->m, &c->n, &c->k, &c->alpha, c->a, &c->ld, c->b, &c->ld, &c->beta,
           c->c, &c->ld);
}

static int error_exits(void)
{
    static const struct {
        call c;
        int argument;
    } wrong[] = {{{'/', 'N', 1, 1, 1, 1, 0, 0, {0}, {0}, {0}}, 1},
                 {{'N', '/', 1, 1, 1, 1, 0, 0, {0}, {0}, {0}}, 2},
                 {{'N', 'N', -1, 1, 1, 1, 0, 0, {0}, {0}, {0}}, 3},
                 {{'N', 'T', 1, -1, 1, 1, 0, 0, {0}, {0}, {0}}, 4},
                 {{'T', 'N', 1, 1, -1, 1, 0, 0, {0}, {0}, {0}}, 5},
                 {{'N', 'N', 2, 1, 1, 1, 0, 0, {0}, {0}, {0}}, 8},
                 {{'N', 'N', 1, 1, 2, 1, 0, 0, {0}, {0}, {0}}, 10}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        call c = wrong[i].c;
        wrong_argument = 0;
        make_call(&c);
        if (wrong_argument != wrong[i].argument) {
            printf("HGEMM: argument %d is wrong, %d was told\n", wrong[i].argument, wrong_argument);
            return 1;
        }
    }
    puts("HGEMM  PASSED THE TESTS OF ERROR-EXITS");
    return 0;
}

static double try_call(int number, unsigned *state)
{
    static const int sizes[] = {0, 1, MOST};
    static const half alphas[] = {0, 0x3c00, 0x3a00}, betas[] = {0, 0x3c00, 0x3d00};
    static call before, after;
    memset(&before, 0, sizeof before);
    before.m = sizes[number % 3];
    before.n = sizes[number / 3 % 3];
    before.k = sizes[number / 9 % 3];
    before.ta = "NT"[number / 27 % 2];
    before.tb = "NT"[number / 54 % 2];
    before.alpha = alphas[number / 108 % 3];
    before.beta = betas[number / 324];
    before.ld = LEADING;
    fill(before.a, before.ta == 'N' ? before.m : before.k, before.ta == 'N' ? before.k : before.m,
         state);
    fill(before.b, before.tb == 'N' ? before.k : before.n, before.tb == 'N' ? before.n : before.k,
         state);
    fill(before.c, before.m, before.n, state);
    after = before;
    make_call(&after);
    return judge(&before, &after);
}

int main(void)
{
    enum { CALLS = 3 * 3 * 3 * 2 * 2 * 3 * 3 };
    unsigned state = 1;
    double worst = 0;
    if (!hgemm_ || error_exits())
        return 1;
    for (int i = 0; i < CALLS; i++) {
        const double units = try_call(i, &state);
        if (!(units < THRESHOLD)) {
            printf("HGEMM: call %d: FAIL, %g units\n", i, units);
            return 1;
        }
        worst = units > worst ? units : worst;
    }
    printf("HGEMM  PASSED THE COMPUTATIONAL TESTS ( %d CALLS)\n%.3g units at worst\n", CALLS,
           worst);
    return 0;
}
