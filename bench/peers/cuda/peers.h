// The same jobs as wavefit's commands, by cuBLAS, cuSPARSE and plain CUDA: what the jobs share.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusparse.h>

// Ends the program with file and line where a call fails: CUDA, cuBLAS and cuSPARSE all have 0 for
// success.
#define CHECKED(call)                                                                              \
    do {                                                                                           \
        const int code_ = static_cast<int>(call);                                                  \
        if (code_ != 0) {                                                                          \
            std::fprintf(stderr, "%s:%d: error %d of %s\n", __FILE__, __LINE__, code_, #call);     \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

// What all jobs use: made once, which is the stage "device".
struct Context {
    cudaStream_t stream;
    cublasHandle_t blas;
    cusparseHandle_t sparse;
    double device_us;
    unsigned solves; // timed, of each whole solve
    bool brief;      // many jobs: each without its stages, and with fewer samples
    uint64_t seed;   // of random numbers
};

// Microseconds of each stage, as wavefit's results have them.
struct Stages {
    double analysis = 0, upload = 0, run = 0, download = 0, check = 0;
    double whole() const
    {
        return analysis + upload + run + download;
    }
};

struct Case {
    std::string family, name, type, variant;
    std::vector<std::pair<std::string, double>> problem, extras;
    Stages first;                // of the first run in this process
    std::vector<double> samples; // microseconds of one execution, or of one whole solve
    const char *clock = "gpu";
    unsigned batch = 1;          // executions in a sample
    double error = 0, bound = 0; // of the check: it holds where error <= bound
};

// Adds the time since the lap before to a stage.
class Laps
{
  public:
    Laps();
    void add(double &stage);

  private:
    double at;
};
double now_us();

// Device memory for the time of a scope.
template <class T> class Device
{
  public:
    explicit Device(size_t count) : count_(count)
    {
        CHECKED(cudaMalloc(&memory, (count ? count : 1) * sizeof(T)));
    }
    explicit Device(const std::vector<T> &host) : Device(host.size())
    {
        write(host);
    }
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;
    ~Device()
    {
        cudaFree(memory);
    }
    void write(const std::vector<T> &host)
    {
        CHECKED(cudaMemcpy(memory, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    void read(std::vector<T> &host) const
    {
        CHECKED(cudaMemcpy(host.data(), memory, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
    }
    T *get() const
    {
        return static_cast<T *>(memory);
    }
    size_t count() const
    {
        return count_;
    }

  private:
    void *memory = nullptr;
    size_t count_;
};

// A CUDA graph of what `record` puts on the stream: one launch, as one command buffer.
class Graph
{
  public:
    template <class F> Graph(cudaStream_t stream, F record) : stream_(stream)
    {
        cudaGraph_t graph;
        CHECKED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        record();
        CHECKED(cudaStreamEndCapture(stream, &graph));
        CHECKED(cudaGraphInstantiate(&executable, graph, 0));
        CHECKED(cudaGraphDestroy(graph));
    }
    Graph(const Graph &) = delete;
    Graph &operator=(const Graph &) = delete;
    ~Graph()
    {
        cudaGraphExecDestroy(executable);
    }
    void launch()
    {
        CHECKED(cudaGraphLaunch(executable, stream_));
    }

  private:
    cudaStream_t stream_;
    cudaGraphExec_t executable = nullptr;
};

// Device time of one of `batch` executions in the graph, several times, when the clock is up.
std::vector<double> time_graph(const Context &context, Graph &graph, unsigned batch);

// The larger of two errors, and NaN where one is that: std::fmax would leave it out.
inline double worse(double a, double b)
{
    return a >= b || std::isnan(a) ? a : b;
}

// Numbers from -1 to 1, the same for the same seed.
template <class T> std::vector<T> random_values(size_t count, uint64_t seed);

struct Csr {
    int rows = 0;
    std::vector<int> offsets, columns;
    std::vector<double> values;
};
Csr poisson27(int side);
template <class T> std::vector<T> values_of(const Csr &matrix)
{
    return std::vector<T>(matrix.values.begin(), matrix.values.end());
}

template <class T> constexpr cudaDataType_t cuda_type();
template <> constexpr cudaDataType_t cuda_type<float>()
{
    return CUDA_R_32F;
}
template <> constexpr cudaDataType_t cuda_type<double>()
{
    return CUDA_R_64F;
}
template <class T> constexpr const char *type_name()
{
    return sizeof(T) == 8 ? "f64" : "f32";
}

// Each adds the case that the name says, as `wavefit bench --suite drawn --list` prints names, and
// gives false where it says none.

// Of f32, f64, f16 or bf16: "4 of 33x20x17 A^T".
bool matmul(const Context &context, const std::string &type, const char *name,
            std::vector<Case> &cases);
// Of f32 or f64; a number alone is the side of a 27-point matrix.
bool spmv(const Context &context, const std::string &type, const std::string &name,
          std::vector<Case> &cases);
// "382x23x336": the contiguous axis is the first, as wavefit has it; or "M", an official size.
bool himeno(const Context &context, const std::string &size, int iterations,
            std::vector<Case> &cases);
// Of f32, f64 or f16: "498x19x213 star 3 periodic, 7 steps".
bool stencil(const Context &context, const std::string &type, const std::string &name,
             std::vector<Case> &cases);

Case cg(const Context &context, const std::string &type, int side);
Case laplace(const Context &context, int nx, int ny);

void print_case(const Case &c);
// False where the file could not be written.
bool write_results(const char *path, int argc, char **argv, const Context &context,
                   const std::vector<Case> &cases);
