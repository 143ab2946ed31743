// Laplace's equation by successive over-relaxation in red-black order, and Himeno's relaxation:
// plain kernels, a thread a cell.
#include <cmath>
#include <utility>

#include "peers.h"

// ------------------------------------------------------------------------------------- Laplace

static const int CHECK_EVERY = 32, MOST_CHECKS = 4096;
static const double LAPLACE_TOLERANCE = 1e-4;

__global__ void relax(float *u, int nx, int ny, int colour, float omega)
{
    const int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1 + ((y + colour + 1) & 1);
    if (y >= ny - 1 || x >= nx - 1)
        return;
    float *const cell = u + static_cast<size_t>(y) * nx + x;
    *cell += omega * 0.25f * (cell[-1] + cell[1] + cell[-nx] + cell[nx] - 4 * *cell);
}

__global__ void add_residual(const float *u, int nx, int ny, double *sum)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 1,
              y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    double square = 0;
    if (y < ny - 1 && x < nx - 1) {
        const float *const cell = u + static_cast<size_t>(y) * nx + x;
        const float r = cell[-1] + cell[1] + cell[-nx] + cell[nx] - 4 * *cell;
        square = double(r) * r;
    }
    for (int offset = 16; offset > 0; offset /= 2)
        square += __shfl_xor_sync(0xffffffffu, square, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, square);
}

static int solve_laplace(const Context &context, int nx, int ny, std::vector<float> &u,
                         Stages &stages)
{
    const double pi = 3.14159265358979323846;
    const double rho = (std::cos(pi / (nx - 1)) + std::cos(pi / (ny - 1))) / 2;
    const float omega = static_cast<float>(2 / (1 + std::sqrt(1 - rho * rho)));
    const double norm = std::sqrt(nx - 2.0); // of what the top row of ones adds to its neighbours
    const dim3 threads(32, 8), cells((nx - 2 + 31) / 32, (ny - 2 + 7) / 8),
        halves(((nx - 1) / 2 + 31) / 32, (ny - 2 + 7) / 8);
    Laps laps;
    Device<float> grid(u);
    const Device<double> sum(1);
    laps.add(stages.upload);
    Graph graph(context.stream, [&] {
        for (int i = 0; i < CHECK_EVERY; i++)
            for (int colour = 0; colour < 2; colour++)
                relax<<<halves, threads, 0, context.stream>>>(grid.get(), nx, ny, colour, omega);
        CHECKED(cudaMemsetAsync(sum.get(), 0, sizeof(double), context.stream));
        add_residual<<<cells, threads, 0, context.stream>>>(grid.get(), nx, ny, sum.get());
    });
    laps.add(stages.analysis);
    int checks = 0;
    double squares = norm * norm;
    while (checks < MOST_CHECKS && std::sqrt(squares) > LAPLACE_TOLERANCE * norm) {
        graph.launch();
        checks++;
        CHECKED(cudaMemcpyAsync(&squares, sum.get(), sizeof squares, cudaMemcpyDeviceToHost,
                                context.stream));
        CHECKED(cudaStreamSynchronize(context.stream));
    }
    laps.add(stages.run);
    grid.read(u);
    laps.add(stages.download);
    return checks * CHECK_EVERY;
}

Case laplace(const Context &context, int nx, int ny)
{
    const size_t cells = static_cast<size_t>(nx) * ny;
    std::vector<float> start(cells, 0.0f);
    for (int x = 0; x < nx; x++)
        start[x] = 1;
    std::vector<float> u = start;
    Case out;
    out.family = "laplace";
    out.name = "sor " + std::to_string(nx) + "x" + std::to_string(ny);
    out.type = "f32";
    out.variant = "CUDA";
    out.problem = {{"nx", nx}, {"ny", ny}};
    out.clock = "host";
    const int iterations = solve_laplace(context, nx, ny, u, out.first);
    Laps laps;
    double squares = 0;
    for (int y = 1; y < ny - 1; y++)
        for (size_t i = size_t(y) * nx + 1; i < size_t(y + 1) * nx - 1; i++) {
            const double r = double(u[i - 1]) + u[i + 1] + u[i - nx] + u[i + nx] - 4.0 * u[i];
            squares += r * r;
        }
    out.error = std::sqrt(squares / (nx - 2.0));
    out.bound = 2 * LAPLACE_TOLERANCE;
    laps.add(out.first.check);
    for (unsigned i = 0; i < context.solves; i++) {
        Stages stages;
        u = start;
        solve_laplace(context, nx, ny, u, stages);
        out.samples.push_back(stages.whole());
    }
    out.extras = {{"iterations", iterations},
                  {"us_an_iteration", out.first.run / iterations},
                  {"true_residual", out.error}};
    return out;
}

// -------------------------------------------------------------------------------------- Himeno

// Cells of all arrays are in order of i, j, k, the last contiguous; each array of coefficients has
// its components one behind another.
struct Himeno {
    int ni, nj, nk;
    float *from, *to;                      // p
    const float *a, *b, *c, *bound, *work; // 4, 3, 3, 1 and 1 components
    float *gosa;
};
static const float OMEGA = 0.8f;

// p around a cell, by the distance in memory.
struct Around {
    const float *cell;
    __host__ __device__ float operator()(long distance) const
    {
        return cell[distance];
    }
};

__host__ __device__ float himeno_residual(const Himeno &h, size_t cell, Around p)
{
    const size_t n = static_cast<size_t>(h.ni) * h.nj * h.nk;
    const long k = 1, j = h.nk, i = static_cast<long>(h.nj) * h.nk;
    const float *a = h.a + cell, *b = h.b + cell, *c = h.c + cell;
    const float sum = a[0] * p(i) + a[n] * p(j) + a[2 * n] * p(k) +
                      b[0] * (p(i + j) - p(i - j) - p(j - i) + p(-i - j)) +
                      b[n] * (p(j + k) - p(k - j) - p(j - k) + p(-j - k)) +
                      b[2 * n] * (p(i + k) - p(k - i) - p(i - k) + p(-i - k)) + c[0] * p(-i) +
                      c[n] * p(-j) + c[2 * n] * p(-k) + h.work[cell];
    return (sum * a[3 * n] - p(0)) * h.bound[cell];
}

__global__ void himeno_step(Himeno h)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x + 1,
              j = blockIdx.y * blockDim.y + threadIdx.y + 1, i = blockIdx.z + 1;
    float square = 0;
    if (k < h.nk - 1 && j < h.nj - 1) {
        const size_t cell = (static_cast<size_t>(i) * h.nj + j) * h.nk + k;
        const float *const from = h.from + cell;
        const float r = himeno_residual(h, cell, {from});
        h.to[cell] = *from + OMEGA * r;
        square = r * r;
    }
    for (int offset = 16; offset > 0; offset /= 2)
        square += __shfl_xor_sync(0xffffffffu, square, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(h.gosa, square);
}

static void himeno_record(const Context &context, Himeno &h, int iterations)
{
    const bool narrow = h.nk - 2 <= 32;
    const dim3 threads(narrow ? 32 : 64, narrow ? 8 : 4),
        blocks((h.nk - 3 + threads.x) / threads.x, (h.nj - 3 + threads.y) / threads.y,
               static_cast<unsigned>(h.ni - 2));
    for (int i = 0; i < iterations; i++) {
        CHECKED(cudaMemsetAsync(h.gosa, 0, sizeof(float), context.stream));
        himeno_step<<<blocks, threads, 0, context.stream>>>(h);
        std::swap(h.from, h.to);
    }
}

static bool himeno_extent(const std::string &size, Himeno &h)
{
    // The official program's i, j, k, less one: k here is its fastest axis, of the most cells.
    static const struct {
        const char *name;
        int ni, nj, nk;
    } sizes[] = {{"XS", 32, 32, 64},
                 {"S", 64, 64, 128},
                 {"M", 128, 128, 256},
                 {"L", 256, 256, 512},
                 {"XL", 512, 512, 1024}};
    int used = 0;
    for (const auto &s : sizes)
        if (size == s.name) {
            h.ni = s.ni;
            h.nj = s.nj;
            h.nk = s.nk;
            return true;
        }
    return std::sscanf(size.c_str(), "%dx%dx%d%n", &h.nk, &h.nj, &h.ni, &used) == 3 &&
           static_cast<size_t>(used) == size.size() && h.ni > 2 && h.nj > 2 && h.nk > 2;
}

// The first step on the host in f64, of cells spread over the grid: the largest error.
static double himeno_error(const Himeno &device, const std::vector<float> &start,
                           const std::vector<float> &a, const std::vector<float> &b,
                           const std::vector<float> &c, const std::vector<float> &bound,
                           const std::vector<float> &work, const std::vector<float> &p)
{
    Himeno h = device;
    h.a = a.data();
    h.b = b.data();
    h.c = c.data();
    h.bound = bound.data();
    h.work = work.data();
    double worst = 0;
    for (int i = 1; i < h.ni - 1; i += 3)
        for (int j = 1; j < h.nj - 1; j += 3)
            for (int k = 1; k < h.nk - 1; k++) {
                const size_t cell = (static_cast<size_t>(i) * h.nj + j) * h.nk + k;
                const float *const from = start.data() + cell;
                const float r = himeno_residual(h, cell, {from});
                worst = worse(worst, std::fabs(double(p[cell]) - (*from + OMEGA * r)));
            }
    return worst;
}

bool himeno(const Context &context, const std::string &size, int iterations,
            std::vector<Case> &cases)
{
    Himeno h = {};
    if (!himeno_extent(size, h))
        return false;
    const size_t n = static_cast<size_t>(h.ni) * h.nj * h.nk,
                 plane = static_cast<size_t>(h.nj) * h.nk;
    std::vector<float> start(n), a(4 * n, 1.0f), b(3 * n, 0.0f), c(3 * n, 1.0f), bound(n, 1.0f),
        work(n, 0.0f), p(n);
    for (size_t cell = 0; cell < n; cell++) {
        const float at = static_cast<float>(cell / plane) / static_cast<float>(h.ni - 1);
        start[cell] = at * at;
        a[3 * n + cell] = 1.0f / 6;
    }
    Case out;
    out.family = "himeno";
    out.name = "himeno " + size;
    out.type = "f32";
    out.variant = "CUDA";
    out.problem = {{"ni", h.nk}, {"nj", h.nj}, {"nk", h.ni}}; // wavefit's first axis is contiguous
    out.batch = static_cast<unsigned>(iterations);
    Laps laps;
    const Device<float> from(start), to(start), da(a), db(b), dc(c), dbound(bound), dwork(work),
        gosa(1);
    h.from = from.get();
    h.to = to.get();
    h.a = da.get();
    h.b = db.get();
    h.c = dc.get();
    h.bound = dbound.get();
    h.work = dwork.get();
    h.gosa = gosa.get();
    laps.add(out.first.upload);
    himeno_record(context, h, iterations);
    CHECKED(cudaStreamSynchronize(context.stream));
    laps.add(out.first.run);
    CHECKED(cudaMemcpy(p.data(), h.from, n * sizeof(float), cudaMemcpyDeviceToHost));
    laps.add(out.first.download);
    float last = 0;
    CHECKED(cudaMemcpy(&last, gosa.get(), sizeof last, cudaMemcpyDeviceToHost));
    // One step from the start, which the host can follow.
    CHECKED(cudaMemcpy(h.from, start.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    himeno_record(context, h, 1);
    CHECKED(cudaStreamSynchronize(context.stream));
    CHECKED(cudaMemcpy(p.data(), h.from, n * sizeof(float), cudaMemcpyDeviceToHost));
    out.error = himeno_error(h, start, a, b, c, bound, work, p);
    out.bound = 1e-5;
    laps.add(out.first.check);
    {
        const int even = iterations + iterations % 2; // buffers end where they began
        out.batch = static_cast<unsigned>(even);
        Graph graph(context.stream, [&] { himeno_record(context, h, even); });
        out.samples = time_graph(context, graph, out.batch);
    }
    out.extras = {{"iterations", iterations}, {"gosa", last}};
    cases.push_back(out);
    return true;
}
