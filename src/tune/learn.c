#include "tune/learn.h"

#include <math.h>

#include "core/heap.h"

#define LEAST_POINTS 8 /* of a variant, to learn from */
#define RIDGE 1.0      /* as if of each value one point had been as expected */
#define SLOW 4.0       /* times the variant's best: what a point without a time counts as */
#define NO_FEATURE UINT16_MAX
#define MOST_FEATURES 128 /* of a variant; the values of parameters beyond have none */
#define HOPE 2.0          /* standard deviations by which a point may be faster than expected */
#define LEAST_NOISE 0.03  /* of a time, by values that matter together alone */

/* A point: which of its variant's values it has, and its times. */
typedef struct observation {
    uint16_t features[WF_MAX_PARAMETERS];
    double expected; /* by the model, in its unit; negative: it knows none */
    double seconds;  /* 0: none */
} observation;

typedef struct learned_variant {
    const wfi_variant *variant;
    uint32_t count, room, fitted; /* fitted: as many had been taken in */
    observation *items;
    uint32_t features; /* a value of a parameter is one */
    uint32_t first[WF_MAX_PARAMETERS];
    bool by_model;
    double *numbers; /* a feature's; the last is of all points; NULL: nothing is learned */
    double *factor;  /* Cholesky's, of the normal equations: rows of as many */
    double noise;    /* standard deviation of a point from that, in logarithms */
} learned_variant;

struct wfi_learned {
    uint32_t count;
    /* Seconds of a unit of the model's times, by the fastest point of which the model knows one,
     * and that point's; 0 and infinity: there is none. */
    double unit, best;
    learned_variant variants[];
};

wfi_learned *wfi_learned_open(const wfi_family *family)
{
    const size_t bytes = sizeof(wfi_learned) + family->variant_count * sizeof(learned_variant);
    wfi_learned *learned = wfi_calloc(1, bytes);
    if (!learned)
        return NULL;
    learned->count = family->variant_count;
    learned->best = INFINITY;
    for (uint32_t i = 0; i < learned->count; i++) {
        learned_variant *v = &learned->variants[i];
        v->variant = family->variants[i];
        v->by_model = true;
        for (uint32_t p = 0; p < v->variant->parameter_count; p++) {
            const uint32_t values = v->variant->parameters[p].candidate_count;
            const bool counts = v->features + values <= MOST_FEATURES;
            v->first[p] = counts ? v->features : NO_FEATURE;
            v->features += counts ? values : 0;
        }
    }
    return learned;
}

void wfi_learned_free(wfi_learned *learned)
{
    for (uint32_t i = 0; learned && i < learned->count; i++) {
        wfi_free(learned->variants[i].items);
        wfi_free(learned->variants[i].numbers);
        wfi_free(learned->variants[i].factor);
    }
    wfi_free(learned);
}

/* Finds the variant among its family's, of which it must be one. */
static uint32_t place_of(const wfi_learned *learned, const wfi_variant *variant)
{
    uint32_t at = 0;
    while (learned->variants[at].variant != variant)
        at++;
    return at;
}

/* The feature of the point's value of a parameter; values beside the candidates have none. */
static uint16_t feature_of(const learned_variant *v, const wfi_point *point, uint32_t p)
{
    const wfi_parameter *parameter = &v->variant->parameters[p];
    const uint32_t at = wfi_candidate_find(parameter, wfi_point_get(point, p));
    return at == parameter->candidate_count || v->first[p] == NO_FEATURE
               ? NO_FEATURE
               : (uint16_t)(v->first[p] + at);
}

void wfi_learned_add(wfi_learned *learned, const wfi_point *point, double seconds)
{
    learned_variant *v = &learned->variants[place_of(learned, point->variant)];
    observation *items = wfi_grown(v->items, v->count, &v->room, sizeof *items);
    if (!items)
        return;
    v->items = items;
    observation *o = &v->items[v->count++];
    *o = (observation){.expected = wfi_point_expected(point), .seconds = seconds};
    for (uint32_t p = 0; p < v->variant->parameter_count; p++)
        o->features[p] = feature_of(v, point, p);
    v->by_model = v->by_model && o->expected > 0;
    if (seconds > 0 && o->expected > 0 && seconds < learned->best) {
        learned->best = seconds;
        learned->unit = seconds / o->expected;
    }
}

/* ---------------------------------------------------------------------------------- the numbers */

static double best_of(const learned_variant *v)
{
    double best = INFINITY;
    for (uint32_t i = 0; i < v->count; i++)
        if (v->items[i].seconds > 0)
            best = fmin(best, v->items[i].seconds);
    return best;
}

static double seconds_of(const observation *o, double best)
{
    return o->seconds > 0 ? o->seconds : SLOW * best;
}

/* The logarithm that the numbers have to explain. */
static double error_of(const learned_variant *v, const observation *o, double best)
{
    return log(seconds_of(o, best)) - (v->by_model ? log(o->expected) : 0);
}

static double sum_of(const learned_variant *v, const uint16_t *features)
{
    double sum = v->numbers[v->features];
    for (uint32_t p = 0; p < v->variant->parameter_count; p++)
        sum += features[p] == NO_FEATURE ? 0 : v->numbers[features[p]];
    return sum;
}

/* Adds the observation to the normal equations of n unknowns: matrix (rows of n, its lower half)
 * and right side. */
static void add_equation(const learned_variant *v, const observation *o, double best,
                         double *matrix, double *side)
{
    const uint32_t n = v->features + 1, parameters = v->variant->parameter_count;
    const double weight = best / seconds_of(o, best), error = error_of(v, o, best);
    for (uint32_t i = 0; i <= parameters; i++) {
        const uint32_t row = i < parameters ? o->features[i] : v->features;
        if (row == NO_FEATURE)
            continue;
        side[row] += weight * error;
        for (uint32_t j = 0; j <= parameters; j++) {
            const uint32_t column = j < parameters ? o->features[j] : v->features;
            if (column <= row) /* none is NO_FEATURE's, which is greater than all */
                matrix[row * n + column] += weight;
        }
    }
}

/* Solves by Cholesky's decomposition in place of the matrix, which is positive definite: the ridge
 * stands on its diagonal. The side becomes the solution. */
static void solve(double *matrix, double *side, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            double sum = matrix[i * n + j];
            for (uint32_t k = 0; k < j; k++)
                sum -= matrix[i * n + k] * matrix[j * n + k];
            matrix[i * n + j] = i == j ? sqrt(sum) : sum / matrix[j * n + j];
        }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < i; k++)
            side[i] -= matrix[i * n + k] * side[k];
        side[i] /= matrix[i * n + i];
    }
    for (uint32_t i = n; i-- > 0;) {
        for (uint32_t k = i + 1; k < n; k++)
            side[i] -= matrix[k * n + i] * side[k];
        side[i] /= matrix[i * n + i];
    }
}

/* The weighted root of the mean square of what the numbers do not explain, of the points that they
 * are of; of others it is more. */
static double noise_of(const learned_variant *v, double best)
{
    double squares = 0, weights = 0;
    for (uint32_t i = 0; i < v->count; i++) {
        const observation *o = &v->items[i];
        const double weight = best / seconds_of(o, best),
                     left = error_of(v, o, best) - sum_of(v, o->features);
        squares += weight * left * left;
        weights += weight;
    }
    return sqrt(squares / weights);
}

static void fit(learned_variant *v)
{
    const uint32_t n = v->features + 1;
    const double best = best_of(v);
    double *matrix = wfi_calloc((size_t)n * n, sizeof *matrix), *side = wfi_calloc(n, sizeof *side);
    if (!matrix || !side || isinf(best)) {
        wfi_free(matrix);
        wfi_free(side);
        return;
    }
    for (uint32_t i = 0; i < v->count; i++)
        add_equation(v, &v->items[i], best, matrix, side);
    for (uint32_t i = 0; i < v->features; i++)
        matrix[i * n + i] += RIDGE;
    solve(matrix, side, n);
    wfi_free(v->factor);
    wfi_free(v->numbers);
    v->factor = matrix;
    v->numbers = side;
    v->noise = fmax(noise_of(v, best), LEAST_NOISE);
    v->fitted = v->count;
}

void wfi_learned_fit(wfi_learned *learned)
{
    for (uint32_t i = 0; i < learned->count; i++) {
        learned_variant *v = &learned->variants[i];
        if (v->count >= LEAST_POINTS && v->count > v->fitted)
            fit(v);
    }
}

/* ----------------------------------------------------------------------------------- new points */

uint32_t wfi_learned_count(const wfi_learned *learned, uint32_t variant)
{
    return learned->variants[variant].count;
}

/* The root of the variance of the features' sum, where an observation's is 1: x' A^-1 x. */
static double doubt_of(const learned_variant *v, const uint16_t *features)
{
    const uint32_t n = v->features + 1;
    double y[MOST_FEATURES + 1] = {0}, squares = 0;
    for (uint32_t p = 0; p < v->variant->parameter_count; p++)
        if (features[p] != NO_FEATURE)
            y[features[p]] = 1;
    y[v->features] = 1;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < i; k++)
            y[i] -= v->factor[i * n + k] * y[k];
        y[i] /= v->factor[i * n + i];
        squares += y[i] * y[i];
    }
    return sqrt(squares);
}

double wfi_learned_expect(const wfi_learned *learned, const wfi_point *point)
{
    const learned_variant *v = &learned->variants[place_of(learned, point->variant)];
    const bool knows = !v->numbers || v->by_model;
    const double expected = knows ? wfi_point_expected(point) : 1;
    uint16_t features[WF_MAX_PARAMETERS];
    if (expected <= 0)
        return -1;
    if (!v->numbers)
        return expected * (learned->unit > 0 ? learned->unit : 1);
    for (uint32_t p = 0; p < v->variant->parameter_count; p++)
        features[p] = feature_of(v, point, p);
    return expected * exp(sum_of(v, features) - HOPE * v->noise * doubt_of(v, features));
}
