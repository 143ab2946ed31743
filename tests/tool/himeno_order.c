/* The Himeno benchmark on the host, as its description has it: some iterations as a rehearsal, then
 * the loop that counts, which goes on from there. Prints Gosa of the last one of each, by sums in
 * f64.
 * usage: himeno_order IMAX JMAX KMAX REHEARSAL ITERATIONS */
#include <stdio.h>
#include <stdlib.h>

typedef struct grid {
    long n[3]; /* the ramp of the start values is along the program's first axis, here the last */
    float *p, *next;
} grid;

static float at(const grid *g, long i, long j, long k)
{
    return g->p[(k * g->n[1] + j) * g->n[0] + i];
}

/* The coefficients are those of the benchmark's start: a0 to a2 and c are 1, a3 a sixth, b and wrk1
 * 0. */
static double iterate(grid *g)
{
    const float sixth = 1.0f / 6.0f, omega = 0.8f;
    double gosa = 0;
    for (long k = 1; k < g->n[2] - 1; k++)
        for (long j = 1; j < g->n[1] - 1; j++)
            for (long i = 1; i < g->n[0] - 1; i++) {
                const float sum = at(g, i + 1, j, k) + at(g, i, j + 1, k) + at(g, i, j, k + 1) +
                                  at(g, i - 1, j, k) + at(g, i, j - 1, k) + at(g, i, j, k - 1);
                const float rest = sum * sixth - at(g, i, j, k);
                gosa += (double)rest * (double)rest;
                g->next[(k * g->n[1] + j) * g->n[0] + i] = at(g, i, j, k) + omega * rest;
            }
    float *p = g->p;
    g->p = g->next;
    g->next = p;
    return gosa;
}

int main(int argc, char **argv)
{
    grid g = {0};
    if (argc != 6)
        return 2;
    for (int d = 0; d < 3; d++)
        g.n[d] = strtol(argv[1 + d], NULL, 10);
    const size_t cells = (size_t)(g.n[0] * g.n[1] * g.n[2]);
    g.p = malloc(cells * sizeof *g.p);
    g.next = malloc(cells * sizeof *g.next);
    if (!g.p || !g.next)
        return 1;
    for (size_t i = 0; i < cells; i++) {
        const float k = (float)((long)i / (g.n[0] * g.n[1])), last = (float)(g.n[2] - 1);
        g.p[i] = g.next[i] = k * k / (last * last);
    }
    for (int part = 4; part < 6; part++) {
        double gosa = 0;
        for (long n = strtol(argv[part], NULL, 10); n > 0; n--)
            gosa = iterate(&g);
        printf("%.9e\n", gosa);
    }
    free(g.p);
    free(g.next);
    return 0;
}
