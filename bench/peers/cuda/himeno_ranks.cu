// Himeno on several GPUs, cut along its slowest axis: boundary planes are updated first and are on
// their way while the others are updated.
//   mpirun -n 2 cuda_himeno --size XL --transport host    a process a GPU; pinned memory and MPI
//   cuda_himeno --size XL --transport peer --gpus 2       one process; copies from GPU to GPU
// --without-halos leaves the exchange out: the least time there could be, and the check must fail.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "himeno_ranks.h"

namespace
{
// Enough for cells beside a cut to differ by more than rounding where no halo has come: 3e-7 after
// 3 iterations of XL, 1e-5 after 20.
const int REHEARSAL = 3, CHECKED_ITERATIONS = 20, SAMPLES = 5;

struct Options {
    std::string size = "XL", transport = "host";
    const char *json = nullptr;
    int gpus = 1; // of this process
    double seconds = 1;
    bool halos = true;
};

struct Run {
    Options options;
    int ranks, rank; // of processes
    Grid whole;
    std::vector<std::unique_ptr<Part>> parts; // of this process, from below
    std::vector<double> samples;
    double gosa_of_third = 0, gosa = 0, error = 0;
};

bool parse_size(const std::string &text, Grid &grid)
{
    static const struct {
        const char *name;
        Grid grid;
    } sizes[] = {{"S", {128, 64, 64}},
                 {"M", {256, 128, 128}},
                 {"L", {512, 256, 256}},
                 {"XL", {1024, 512, 512}}};
    for (const auto &s : sizes)
        if (text == s.name) {
            grid = s.grid;
            return true;
        }
    return std::sscanf(text.c_str(), "%dx%dx%d", &grid.ni, &grid.nj, &grid.nk) == 3 &&
           grid.ni > 2 * CHECKED_ITERATIONS + 2 && grid.nj > 2 * CHECKED_ITERATIONS + 2 &&
           grid.nk > 2; // so that there are cells to check
}

bool parse(int argc, char **argv, Options &o)
{
    for (int i = 1; i < argc; i++) {
        const std::string name = argv[i];
        if (name == "--without-halos") {
            o.halos = false;
            continue;
        }
        if (i + 1 == argc)
            return false;
        const char *value = argv[++i];
        if (name == "--size")
            o.size = value;
        else if (name == "--transport")
            o.transport = value;
        else if (name == "--gpus")
            o.gpus = std::atoi(value);
        else if (name == "--seconds")
            o.seconds = std::atof(value);
        else if (name == "--json")
            o.json = value;
        else
            return false;
    }
    return (o.transport == "host" || o.transport == "peer") && o.gpus > 0 && o.seconds > 0;
}

void make_parts(Run &run)
{
    int devices = 0;
    CHECKED(cudaGetDeviceCount(&devices));
    const int count = run.ranks * run.options.gpus, inner = run.whole.nk - 2;
    for (int g = 0; g < run.options.gpus; g++) {
        const int index = run.rank * run.options.gpus + g,
                  first = static_cast<int>(static_cast<long>(inner) * index / count),
                  end = static_cast<int>(static_cast<long>(inner) * (index + 1) / count);
        run.parts.push_back(
            std::unique_ptr<Part>(new Part(run.whole, first, end - first, index % devices)));
    }
    for (size_t i = 1; i < run.parts.size(); i++)
        Part::connect(*run.parts[i - 1], *run.parts[i]);
    if (run.options.transport == "host")
        for (auto &part : run.parts)
            part->connect_by_mpi(run.rank > 0 ? run.rank - 1 : MPI_PROC_NULL,
                                 run.rank + 1 < run.ranks ? run.rank + 1 : MPI_PROC_NULL);
}

double all_sum(double value)
{
    double sum = 0;
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

double all_most(double value)
{
    double most = 0;
    MPI_Allreduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

// Seconds by the slowest process; gosa of the last iteration is summed within them.
double relax(Run &run, int iterations)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = now_us();
    for (int i = 0; i < iterations; i++) {
        for (auto &part : run.parts)
            part->update();
        for (auto &part : run.parts)
            if (run.options.halos)
                part->exchange();
        for (auto &part : run.parts)
            part->swap();
    }
    double gosa = 0;
    for (auto &part : run.parts)
        gosa += part->gosa(); // it waits for the GPU
    run.gosa = all_sum(gosa);
    return all_most((now_us() - start) * 1e-6);
}

// Away from the borders of a plane the iteration depends on k alone: a recurrence in one dimension,
// which the host makes in f64 of the whole axis.
std::vector<double> expected(const Grid &grid)
{
    std::vector<double> p(static_cast<size_t>(grid.nk)), next;
    for (int k = 0; k < grid.nk; k++)
        p[static_cast<size_t>(k)] = std::pow(static_cast<double>(k) / (grid.nk - 1), 2);
    for (int n = 0; n < CHECKED_ITERATIONS; n++) {
        next = p;
        for (size_t k = 1; k + 1 < p.size(); k++)
            next[k] = p[k] + 0.8 * ((4 * p[k] + p[k - 1] + p[k + 1]) / 6 - p[k]);
        p = next;
    }
    return p;
}

void check(Run &run)
{
    const std::vector<double> all = expected(run.whole);
    double worst = 0;
    for (auto &part : run.parts)
        worst = worse(worst, part->largest_error(all, CHECKED_ITERATIONS));
    // MPI does not say which is larger, a number or NaN.
    run.error = all_most(std::isnan(worst) ? INFINITY : worst);
}

void measure(Run &run)
{
    relax(run, REHEARSAL);
    run.gosa_of_third = run.gosa;
    relax(run, CHECKED_ITERATIONS - REHEARSAL);
    check(run);
    const double pace = relax(run, 20) / 20;
    const int count = std::max(2, static_cast<int>(run.options.seconds / SAMPLES / pace));
    relax(run, std::max(2, count / 4)); // the clock has risen
    for (int i = 0; i < SAMPLES; i++)
        run.samples.push_back(relax(run, count) / count * 1e6);
    std::sort(run.samples.begin(), run.samples.end());
}

const double BOUND = 20 * 0x1p-24; // a rounding of the largest p in each iteration

void report(const Run &run, int argc, char **argv)
{
    const Grid &g = run.whole;
    const double us = run.samples[SAMPLES / 2], cells = (g.ni - 2.0) * (g.nj - 2.0) * (g.nk - 2.0);
    const int gpus = run.ranks * run.options.gpus;
    const std::string how = std::string("CUDA, ") +
                            (run.options.transport == "host" ? "MPI" : "peer copies") +
                            (run.options.halos ? "" : ", no halos");
    std::printf("himeno %s, %d GPU%s, %s: %.1f us an iteration, %.0f GFLOPS; gosa of the third "
                "%.7e; error %.2g of %.2g%s\n",
                run.options.size.c_str(), gpus, gpus > 1 ? "s" : "", how.c_str(), us,
                34 * cells / us * 1e-3, run.gosa_of_third, run.error, BOUND,
                run.error <= BOUND ? "" : ": WRONG");
    if (!run.options.json)
        return;
    Case c;
    Context context = {};
    c.family = "himeno";
    c.name = "himeno " + run.options.size;
    c.type = "f32";
    c.variant = how;
    c.problem = {{"ni", g.ni}, {"nj", g.nj}, {"nk", g.nk}, {"ranks", gpus}};
    c.samples = run.samples;
    c.clock = "host";
    c.error = run.error;
    c.bound = BOUND;
    c.extras = {{"gosa", run.gosa}, {"rehearsal_gosa", run.gosa_of_third}};
    if (!write_results(run.options.json, argc, argv, context, {c}))
        std::fprintf(stderr, "cuda_himeno: %s could not be written\n", run.options.json);
}
} // namespace

int main(int argc, char **argv)
{
    Run run = {};
    int code = 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    const bool understood =
        parse(argc, argv, run.options) && parse_size(run.options.size, run.whole) &&
        (run.options.transport == "host" ? run.options.gpus == 1 : run.ranks == 1);
    if (understood) {
        make_parts(run);
        measure(run);
        if (run.rank == 0)
            report(run, argc, argv);
        code = run.error <= BOUND ? 0 : 1;
        run.parts.clear();
    } else if (run.rank == 0) {
        std::fprintf(stderr, "cuda_himeno: see the head of himeno_ranks.cu\n");
    }
    MPI_Finalize();
    return code;
}
