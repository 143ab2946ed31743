// Star and box stencils of constant coefficients, steps one after another: plain kernels, a thread
// a cell, unrolled for each shape and radius.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <cuda_fp16.h>

#include "peers.h"

static const int MOST_TAPS = 125; // of a box of radius 2 in three dimensions
enum Border { DIRICHLET, NEUMANN, PERIODIC };

struct Grid {
    int nx, ny, nz, border; // nz: 1 in the plane
    __host__ __device__ size_t at(int x, int y, int z) const
    {
        return (static_cast<size_t>(z) * ny + y) * nx + x;
    }
};

template <class S> struct Taps {
    S of[MOST_TAPS];
};

template <class T> struct Stored { // f16 is summed in f32
    using Sum = T;
    static constexpr double rounding = sizeof(T) == 8 ? 0x1p-53 : 0x1p-24;
};
template <> struct Stored<__half> {
    using Sum = float;
    static constexpr double rounding = 0x1p-11;
};

__device__ int beyond(int i, int n, int border)
{
    if (border == PERIODIC)
        return i < 0 ? i + n : i >= n ? i - n : i;
    return i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i;
}

template <class S, bool BOX, int R, int D, class At>
__device__ S weighted(const Taps<S> &taps, At at)
{
    S sum = 0;
    int tap = 0;
    if constexpr (BOX) {
        constexpr int DEEP = D == 3 ? R : 0;
#pragma unroll
        for (int z = -DEEP; z <= DEEP; z++)
#pragma unroll
            for (int y = -R; y <= R; y++)
#pragma unroll
                for (int x = -R; x <= R; x++)
                    sum += taps.of[tap++] * at(x, y, z);
    } else {
        sum = taps.of[tap++] * at(0, 0, 0);
#pragma unroll
        for (int axis = 0; axis < D; axis++)
#pragma unroll
            for (int d = 1; d <= R; d++)
#pragma unroll
                for (int sign = -1; sign <= 1; sign += 2)
                    sum += taps.of[tap++] * at(axis == 0 ? sign * d : 0, axis == 1 ? sign * d : 0,
                                               axis == 2 ? sign * d : 0);
    }
    return sum;
}

template <class T, bool BOX, int R, int D>
__global__ void step(const T *from, T *to, Grid g, Taps<typename Stored<T>::Sum> taps)
{
    using S = typename Stored<T>::Sum;
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
              z = blockIdx.z;
    if (x >= g.nx || y >= g.ny)
        return;
    const bool inside =
        x >= R && x < g.nx - R && y >= R && y < g.ny - R && (D == 2 || (z >= R && z < g.nz - R));
    const T *const cell = from + g.at(x, y, z);
    S sum;
    if (inside) {
        const long row = g.nx, plane = static_cast<long>(g.nx) * g.ny;
        sum = weighted<S, BOX, R, D>(taps, [&](int dx, int dy, int dz) {
            return static_cast<S>(cell[dz * plane + dy * row + dx]);
        });
    } else if (g.border == DIRICHLET)
        sum = static_cast<S>(*cell);
    else
        sum = weighted<S, BOX, R, D>(taps, [&](int dx, int dy, int dz) {
            return static_cast<S>(
                from[g.at(beyond(x + dx, g.nx, g.border), beyond(y + dy, g.ny, g.border),
                          D == 2 ? 0 : beyond(z + dz, g.nz, g.border))]);
        });
    to[g.at(x, y, z)] = static_cast<T>(sum);
}

struct Problem {
    Grid grid;
    bool box;
    int dimensions, radius, steps;

    size_t cells() const
    {
        return static_cast<size_t>(grid.nx) * grid.ny * grid.nz;
    }
};

template <class T> using Step = void (*)(const T *, T *, Grid, Taps<typename Stored<T>::Sum>);

template <class T, bool BOX, int D> static Step<T> step_of_radius(int radius)
{
    if constexpr (BOX)
        return radius == 1 ? step<T, BOX, 1, D> : radius == 2 ? step<T, BOX, 2, D> : nullptr;
    else
        return radius == 1   ? step<T, BOX, 1, D>
               : radius == 2 ? step<T, BOX, 2, D>
               : radius == 3 ? step<T, BOX, 3, D>
               : radius == 4 ? step<T, BOX, 4, D>
                             : nullptr;
}

template <class T> static Step<T> step_of(const Problem &p)
{
    if (p.box)
        return p.dimensions == 2 ? step_of_radius<T, true, 2>(p.radius)
                                 : step_of_radius<T, true, 3>(p.radius);
    return p.dimensions == 2 ? step_of_radius<T, false, 2>(p.radius)
                             : step_of_radius<T, false, 3>(p.radius);
}

// The steps from `in` to `out`, the ones between by turns in `out` and `between`.
template <class T>
static void record(const Context &context, const Problem &p, Step<T> kernel,
                   const Taps<typename Stored<T>::Sum> &taps, const T *in, T *out, T *between,
                   int steps)
{
    const Grid &g = p.grid;
    const dim3 threads(32, 8),
        blocks((g.nx + 31) / 32, (g.ny + 7) / 8, static_cast<unsigned>(g.nz));
    for (int i = 0; i < steps; i++) {
        T *const to = (steps - i) % 2 ? out : between;
        kernel<<<blocks, threads, 0, context.stream>>>(in, to, g, taps);
        CHECKED(cudaGetLastError());
        in = to;
    }
}

// ---------------------------------------------------------------------------------------- check

struct Offset {
    int x, y, z;
};

static std::vector<Offset> offsets_of(const Problem &p)
{
    const int r = p.radius, deep = p.dimensions == 3 ? r : 0;
    std::vector<Offset> offsets;
    if (!p.box)
        offsets.push_back({0, 0, 0});
    for (int d = 1; !p.box && d <= r; d++)
        offsets.insert(offsets.end(), {{-d, 0, 0}, {d, 0, 0}});
    for (int d = 1; !p.box && d <= r; d++)
        offsets.insert(offsets.end(), {{0, -d, 0}, {0, d, 0}});
    for (int d = 1; !p.box && d <= deep; d++)
        offsets.insert(offsets.end(), {{0, 0, -d}, {0, 0, d}});
    for (int z = -deep; p.box && z <= deep; z++)
        for (int y = -r; y <= r; y++)
            for (int x = -r; x <= r; x++)
                offsets.push_back({x, y, z});
    return offsets;
}

// The coordinate at a distance, by going there cell by cell.
static int walk(int from, int distance, int n, int border)
{
    const int towards = distance < 0 ? -1 : 1;
    int i = from, way = towards;
    for (; distance; distance -= towards) {
        if (i + way >= 0 && i + way < n)
            i += way;
        else if (border == PERIODIC)
            i = way < 0 ? n - 1 : 0;
        else
            way = -way; // the mirror's first cell is the one at the edge
    }
    return i;
}

// The largest error after one step, of cells spread over the grid, over the bound of their sums.
template <class T>
static double error_of(const Problem &p, const std::vector<double> &coefficients,
                       const std::vector<T> &in, const std::vector<T> &out)
{
    const Grid &g = p.grid;
    const std::vector<Offset> offsets = offsets_of(p);
    const double sums = Stored<typename Stored<T>::Sum>::rounding;
    const int r = p.radius;
    double worst = 0;
    for (size_t cell = 0; cell < p.cells(); cell += p.cells() / 19997 + 1) {
        const int x = static_cast<int>(cell % g.nx), y = static_cast<int>(cell / g.nx % g.ny),
                  z = static_cast<int>(cell / g.nx / g.ny);
        const bool fixed =
            g.border == DIRICHLET && (x < r || y < r || x >= g.nx - r || y >= g.ny - r ||
                                      (p.dimensions == 3 && (z < r || z >= g.nz - r)));
        double sum = 0, magnitude = 0;
        for (size_t i = 0; !fixed && i < offsets.size(); i++) {
            const double term =
                coefficients[i] *
                static_cast<double>(in[g.at(walk(x, offsets[i].x, g.nx, g.border),
                                            walk(y, offsets[i].y, g.ny, g.border),
                                            walk(z, offsets[i].z, g.nz, g.border))]);
            sum += term;
            magnitude += std::fabs(term);
        }
        if (fixed)
            sum = static_cast<double>(in[cell]);
        // Denormal numbers of f16 are rounded by an absolute amount.
        const double bound = (static_cast<double>(offsets.size()) + 2) * sums * magnitude +
                             Stored<T>::rounding * std::fabs(sum) + (sizeof(T) == 2 ? 0x1p-25 : 0);
        worst = worse(worst, std::fabs(static_cast<double>(out[cell]) - sum) / (bound + 1e-300));
    }
    return worst;
}

// --------------------------------------------------------------------------------------- the job

template <class T> static std::vector<T> random_grid(size_t cells, uint64_t seed)
{
    const std::vector<double> values = random_values<double>(cells, seed);
    std::vector<T> grid(cells);
    for (size_t i = 0; i < cells; i++)
        grid[i] = static_cast<T>(static_cast<float>(values[i]));
    return grid;
}

// Magnitudes that sum to at most 1, as wavefit's, so that steps do not blow up.
static std::vector<double> random_coefficients(const Problem &p, uint64_t seed)
{
    const size_t taps = offsets_of(p).size();
    std::vector<double> coefficients = random_values<double>(taps, seed);
    for (double &c : coefficients)
        c /= static_cast<double>(taps);
    return coefficients;
}

template <class T>
static Case run(const Context &context, const Problem &p, const char *type, const std::string &name)
{
    using S = typename Stored<T>::Sum;
    const Step<T> kernel = step_of<T>(p);
    const std::vector<T> start = random_grid<T>(p.cells(), context.seed);
    std::vector<double> coefficients = random_coefficients(p, context.seed + 1);
    Taps<S> taps = {};
    for (size_t i = 0; i < coefficients.size(); i++) {
        taps.of[i] = static_cast<S>(coefficients[i]);
        coefficients[i] = taps.of[i];
    }
    Case out;
    out.family = "stencil";
    out.name = name;
    out.type = type;
    out.variant = "CUDA";
    out.problem = {
        {"nx", p.grid.nx},    {"ny", p.grid.ny}, {"nz", p.dimensions == 3 ? p.grid.nz : 0},
        {"radius", p.radius}, {"box", p.box},    {"border", p.grid.border},
        {"steps", p.steps}};
    std::vector<T> result(p.cells());
    Laps laps;
    const Device<T> in(start), last(p.cells()), between(p.cells());
    laps.add(out.first.upload);
    record(context, p, kernel, taps, in.get(), last.get(), between.get(), p.steps);
    CHECKED(cudaStreamSynchronize(context.stream));
    laps.add(out.first.run);
    last.read(result);
    laps.add(out.first.download);
    record(context, p, kernel, taps, in.get(), last.get(), between.get(), 1);
    CHECKED(cudaStreamSynchronize(context.stream));
    last.read(result);
    out.error = error_of(p, coefficients, start, result);
    out.bound = 1;
    laps.add(out.first.check);
    // About two milliseconds a launch.
    out.batch = static_cast<unsigned>(std::max(1.0, std::min(20.0, 2000 / out.first.run)));
    Graph graph(context.stream, [&] {
        for (unsigned i = 0; i < out.batch; i++)
            record(context, p, kernel, taps, in.get(), last.get(), between.get(), p.steps);
    });
    out.samples = time_graph(context, graph, out.batch);
    return out;
}

// "NXxNY[xNZ] star|box RADIUS BORDER, STEPS step[s]"
static bool parse(const char *name, Problem &p)
{
    static const char *const borders[] = {"dirichlet", "neumann", "periodic"};
    char shape[8] = "", border[16] = "";
    int used = 0;
    Grid &g = p.grid;
    g.nz = 1;
    p.dimensions = std::sscanf(name, "%dx%dx%d", &g.nx, &g.ny, &g.nz);
    if (p.dimensions < 2 ||
        std::sscanf(std::strchr(name, ' ') ? std::strchr(name, ' ') : "",
                    " %7s %d %15[a-z], %d step%n", shape, &p.radius, border, &p.steps,
                    &used) != 4 ||
        used == 0)
        return false;
    p.box = std::strcmp(shape, "box") == 0;
    g.border = 0;
    while (g.border < 3 && std::strcmp(border, borders[g.border]) != 0)
        g.border++;
    return (p.box || std::strcmp(shape, "star") == 0) && g.border < 3 && p.steps > 0 &&
           std::min(g.nx, g.ny) > 2 * p.radius && (p.dimensions == 2 || g.nz > 2 * p.radius) &&
           step_of<float>(p);
}

bool stencil(const Context &context, const std::string &type, const std::string &name,
             std::vector<Case> &cases)
{
    Problem p = {};
    if (!parse(name.c_str(), p))
        return false;
    if (type == "f64")
        cases.push_back(run<double>(context, p, "f64", name));
    else if (type == "f16")
        cases.push_back(run<__half>(context, p, "f16", name));
    else if (type == "f32")
        cases.push_back(run<float>(context, p, "f32", name));
    else
        return false;
    return true;
}
