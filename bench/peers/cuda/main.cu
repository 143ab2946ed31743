// The same jobs as wavefit's commands, by cuBLAS, cuSPARSE and plain CUDA, from host memory to host
// memory. Every result is checked against double precision on the host.
//   cuda_peers [--json FILE] [--solves N] [--seed S] [--drawn FILE | JOB…]
// A JOB is matmul:TYPE:MxNxK, spmv:TYPE:SIDE and cg:TYPE:SIDE (27-point matrices of SIDE^3 cells),
// spmv:TYPE:KIND:SIZE (as wavefit's --generate has it), stencil:TYPE:NAME, laplace:NXxNY or
// himeno:SIZE:ITERATIONS. Without jobs those of bench/notes/core.md run. FILE has what
// `wavefit bench --suite drawn --seed S --list` prints; with the same seed matrices are the same.
// Its products are run without the stages from host memory to host memory, which would take longer
// than all else.
#include <cstring>
#include <fstream>

#include "peers.h"

static uint64_t next_bits(uint64_t &state) // splitmix64 (Steele, Lea, Flood 2014)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

template <class T> std::vector<T> random_values(size_t count, uint64_t seed)
{
    std::vector<T> values(count);
    for (T &value : values)
        value = static_cast<T>(static_cast<double>(next_bits(seed) >> 40) * 0x1p-23 - 1);
    return values;
}
template std::vector<float> random_values(size_t, uint64_t);
template std::vector<double> random_values(size_t, uint64_t);

Csr poisson27(int side)
{
    Csr m;
    m.rows = side * side * side;
    m.offsets.reserve(static_cast<size_t>(m.rows) + 1);
    m.offsets.push_back(0);
    m.columns.reserve(static_cast<size_t>(m.rows) * 27);
    m.values.reserve(static_cast<size_t>(m.rows) * 27);
    for (int cell = 0; cell < m.rows; cell++) {
        const int x = cell % side, y = cell / side % side, z = cell / side / side;
        for (int n = 0; n < 27; n++) {
            const int i = x + n % 3 - 1, j = y + n / 3 % 3 - 1, k = z + n / 9 - 1;
            if (i < 0 || j < 0 || k < 0 || i >= side || j >= side || k >= side)
                continue;
            m.columns.push_back((k * side + j) * side + i);
            m.values.push_back(n == 13 ? 26 : -1);
        }
        m.offsets.push_back(static_cast<int>(m.columns.size()));
    }
    return m;
}

static Context make_context()
{
    Context c = {};
    const double begin = now_us();
    CHECKED(cudaSetDevice(0));
    CHECKED(cudaStreamCreate(&c.stream));
    CHECKED(cublasCreate(&c.blas));
    CHECKED(cublasSetStream(c.blas, c.stream));
    CHECKED(cusparseCreate(&c.sparse));
    CHECKED(cusparseSetStream(c.sparse, c.stream));
    CHECKED(cudaDeviceSynchronize());
    c.device_us = now_us() - begin;
    c.solves = 5;
    c.seed = 1;
    return c;
}

// False where the text names no job.
static bool run_job(const Context &context, const std::string &job, std::vector<Case> &cases)
{
    const char *const text = job.c_str();
    char type[8] = "", size[32] = "";
    int a = 0, b = 0, used = 0;
    const auto whole = [&] { return used > 0 && text[used] == '\0'; };
    const auto named = [&](const char *format) {
        return std::sscanf(text, format, type, &used) == 1 && used > 0;
    };
    if (named("matmul:%7[^:]:%n"))
        return matmul(context, type, text + used, cases);
    if (named("spmv:%7[^:]:%n"))
        return spmv(context, type, text + used, cases);
    if (named("stencil:%7[^:]:%n"))
        return stencil(context, type, text + used, cases);
    if (std::sscanf(text, "himeno:%31[^:]:%d%n", size, &a, &used) == 2 && whole())
        return himeno(context, size, a, cases);
    if (std::sscanf(text, "cg:%7[^:]:%d%n", type, &a, &used) == 2 && whole())
        cases.push_back(cg(context, type, a));
    else if (std::sscanf(text, "laplace:%dx%d%n", &a, &b, &used) == 2 && whole())
        cases.push_back(laplace(context, a, b));
    else
        return false;
    return true;
}

// The jobs of lines "FAMILY TYPE NAME"; Himeno's names have its family before them.
static std::vector<std::string> drawn_jobs(const char *path)
{
    const std::string himeno = "himeno f32 himeno ";
    std::vector<std::string> jobs;
    std::ifstream file(path);
    if (!file) {
        std::fprintf(stderr, "cuda_peers: %s cannot be read\n", path);
        std::exit(2);
    }
    for (std::string line; std::getline(file, line);) {
        const size_t type = line.find(' '), name = line.find(' ', type + 1);
        if (line.find(himeno) == 0)
            jobs.push_back("himeno:" + line.substr(himeno.size()) + ":20");
        else if (type != std::string::npos && name != std::string::npos)
            jobs.push_back(line.substr(0, type) + ":" + line.substr(type + 1, name - type - 1) +
                           ":" + line.substr(name + 1));
        else
            jobs.push_back(line);
    }
    return jobs;
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"matmul:f32:64x64x64",
                                        "matmul:f32:4096x4096x4096",
                                        "matmul:f16:4096x4096x4096",
                                        "matmul:f64:2048x2048x2048",
                                        "spmv:f32:128",
                                        "spmv:f64:128",
                                        "cg:f32:64",
                                        "cg:f64:64",
                                        "cg:f32:128",
                                        "cg:f64:128",
                                        "laplace:1000x1000",
                                        "himeno:M:1000"};
    const char *json = nullptr;
    std::vector<std::string> jobs;
    std::vector<Case> cases;
    Context context = make_context();
    for (int i = 1; i < argc; i++)
        if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            json = argv[++i];
        else if (std::strcmp(argv[i], "--drawn") == 0 && i + 1 < argc) {
            jobs = drawn_jobs(argv[++i]);
            context.brief = true;
        } else if (std::strcmp(argv[i], "--solves") == 0 && i + 1 < argc)
            context.solves = static_cast<unsigned>(std::atoi(argv[++i]));
        else if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            context.seed = std::strtoull(argv[++i], nullptr, 10);
        else
            jobs.push_back(argv[i]);
    if (jobs.empty())
        jobs.assign(std::begin(usual), std::end(usual));
    std::printf("device: context, cuBLAS and cuSPARSE opened in %.0f us\n", context.device_us);
    unsigned left_out = 0;
    for (const std::string &job : jobs) {
        if (!run_job(context, job, cases)) {
            std::fprintf(stderr, "cuda_peers: no job, or none that fits: '%s'\n", job.c_str());
            left_out++;
            continue;
        }
        print_case(cases.back());
    }
    if (json && !write_results(json, argc, argv, context, cases)) {
        std::fprintf(stderr, "cuda_peers: %s could not be written\n", json);
        return 1;
    }
    bool right = true;
    for (const Case &c : cases)
        right = right && c.error <= c.bound;
    CHECKED(cusparseDestroy(context.sparse));
    CHECKED(cublasDestroy(context.blas));
    CHECKED(cudaStreamDestroy(context.stream));
    return left_out ? 2 : right ? 0 : 1;
}
