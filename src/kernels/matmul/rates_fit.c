/* All rates but GAP_ITEMS are factors of sums, so that least squares find them for each value of
 * GAP_ITEMS (Lawson, Hanson, Solving Least Squares Problems, 1974, for non-negative ones; solved by
 * coordinate descent here, since the guess makes the problem strictly convex). What decides where
 * one of two does follows from the rates, so that some rounds are made. */
#include "kernels/matmul/rates_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "core/heap.h"
#include "kernels/matmul/matrix_time.h"
#include "kernels/matmul/tile_time.h"
#include "matmul/matmul_ids.h"

enum { LEAST_POINTS = 4, ROUNDS = 8, SWEEPS = 200 };
#define GUESS_WEIGHT 0.1 /* of a rate's relative distance from the guess, beside a point's error */
#define OUTLIER 0.2      /* relative error from which on a point counts less (Huber 1964) */
#define DAMPING 0.5      /* of a round's step */

typedef struct equations {
    double matrix[WFI_RATES][WFI_RATES], right[WFI_RATES];
} equations;

static double time_by(const wfi_point *point, const wfi_rates *rates, double terms[WFI_RATES])
{
    double time = 0;
    if (point->values[MATMUL_ID_SUB_M])
        wfi_matmul_matrix_terms(point, terms);
    else
        wfi_matmul_tile_terms(point, rates, terms);
    for (int i = 0; i < WFI_RATES; i++)
        time += terms[i] * rates->of[i];
    return time;
}

/* Adds the point to the normal equations of rates in units of the guess. */
static void add_point(equations *e, const wfi_timed_point *timed, const wfi_rates *guess,
                      const wfi_rates *rates)
{
    double terms[WFI_RATES];
    const double error = fabs(time_by(timed->point, rates, terms) / timed->us - 1),
                 weight = error > OUTLIER ? OUTLIER / error : 1;
    for (int i = 0; i < WFI_RATES; i++)
        terms[i] *= guess->of[i] / timed->us;
    for (int i = 0; i < WFI_RATES; i++) {
        e->right[i] += weight * terms[i];
        for (int j = 0; j < WFI_RATES; j++)
            e->matrix[i][j] += weight * terms[i] * terms[j];
    }
}

/* The least squares of factors >= 0, by coordinate descent. */
static void solve(const equations *e, double factors[WFI_RATES])
{
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int i = 0; i < WFI_RATES; i++) {
            double right = e->right[i];
            for (int j = 0; j < WFI_RATES; j++)
                right -= j == i ? 0 : e->matrix[i][j] * factors[j];
            factors[i] = fmax(0, right / e->matrix[i][i]);
        }
}

/* One round: rates by what decides at the rates before. */
static void improve(const wfi_timed_point *points, uint32_t count, const wfi_rates *guess,
                    wfi_rates *rates)
{
    equations e = {0};
    double factors[WFI_RATES];
    for (uint32_t i = 0; i < count; i++)
        add_point(&e, &points[i], guess, rates);
    for (int i = 0; i < WFI_RATES; i++) {
        e.matrix[i][i] += GUESS_WEIGHT * GUESS_WEIGHT * count;
        e.right[i] += GUESS_WEIGHT * GUESS_WEIGHT * count;
        factors[i] = 1;
    }
    solve(&e, factors);
    for (int i = 0; i < WFI_RATES; i++)
        if (i != WFI_RATE_GAP_ITEMS)
            rates->of[i] += DAMPING * (factors[i] * guess->of[i] - rates->of[i]);
}

/* The mean of the relative errors, of outliers the most that counts. */
static double loss_of(const wfi_timed_point *points, uint32_t count, const wfi_rates *rates)
{
    double terms[WFI_RATES], sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += fmin(fabs(time_by(points[i].point, rates, terms) / points[i].us - 1), 2 * OUTLIER);
    return sum / count;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median over the points of what they took to what they should have taken, or of the error. */
static double median_of(const wfi_timed_point *points, uint32_t count, const wfi_rates *rates,
                        bool of_errors, double *room)
{
    double terms[WFI_RATES];
    for (uint32_t i = 0; i < count; i++) {
        const double ratio = points[i].us / time_by(points[i].point, rates, terms);
        room[i] = of_errors ? fabs(1 / ratio - 1) : ratio;
    }
    qsort(room, count, sizeof *room, compare);
    return room[count / 2];
}

/* The guess at the device's speed: all of its times are longer or shorter by the same factor. */
static wfi_rates scaled(const wfi_rates *guess, double factor)
{
    wfi_rates rates = *guess;
    for (int i = 0; i < WFI_RATES; i++)
        if (i != WFI_RATE_GAP_ITEMS)
            rates.of[i] *= factor;
    return rates;
}

double wfi_matmul_fit_rates(const wfi_timed_point *points, uint32_t count, const wfi_rates *guess,
                            wfi_rates *rates)
{
    static const double gaps[] = {0, 0.25, 0.5, 0.7, 0.85, 1, 1.2, 1.5, 2, 3};
    double *room = count < LEAST_POINTS ? NULL : wfi_malloc(count * sizeof *room);
    if (!room)
        return -1;
    const wfi_rates begin = scaled(guess, median_of(points, count, guess, false, room));
    double least = INFINITY;
    for (size_t g = 0; g < WFI_COUNT(gaps); g++) {
        wfi_rates trial = begin;
        trial.of[WFI_RATE_GAP_ITEMS] = gaps[g] * guess->of[WFI_RATE_GAP_ITEMS];
        for (int round = 0; round < ROUNDS; round++)
            improve(points, count, &begin, &trial);
        const double loss = loss_of(points, count, &trial);
        if (loss < least) {
            least = loss;
            *rates = trial;
        }
    }
    const double error = median_of(points, count, rates, true, room);
    wfi_free(room);
    return error;
}
