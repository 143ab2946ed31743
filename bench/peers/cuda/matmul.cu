// C = A B, row by row, by cuBLAS. Operands are made on the device, and C is checked there.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "peers.h"

// How a type is stored, and multiplied: products of f16 are summed in f32.
template <class T> struct Product {
    using Scale = T;
    static constexpr cudaDataType_t type = cuda_type<T>();
    static constexpr cublasComputeType_t compute =
        sizeof(T) == 8 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F_PEDANTIC;
    static constexpr double rounding = sizeof(T) == 8 ? 0x1p-53 : 0x1p-24;
    __host__ __device__ static double get(T value)
    {
        return value;
    }
    __host__ __device__ static T make(double value)
    {
        return static_cast<T>(value);
    }
};
template <> struct Product<__half> {
    using Scale = float;
    static constexpr cudaDataType_t type = CUDA_R_16F;
    static constexpr cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
    static constexpr double rounding = 0x1p-11;
    __host__ __device__ static double get(__half value)
    {
        return __half2float(value);
    }
    __host__ __device__ static __half make(double value)
    {
        return __float2half(static_cast<float>(value));
    }
};

template <> struct Product<__nv_bfloat16> {
    using Scale = float;
    static constexpr cudaDataType_t type = CUDA_R_16BF;
    static constexpr cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
    static constexpr double rounding = 0x1p-8;
    __host__ __device__ static double get(__nv_bfloat16 value)
    {
        return __bfloat162float(value);
    }
    __host__ __device__ static __nv_bfloat16 make(double value)
    {
        return __float2bfloat16(static_cast<float>(value));
    }
};

// Numbers from -1 to 1, the same for the same seed: splitmix64 (Steele, Lea, Flood 2014).
template <class T> __global__ static void fill(T *data, size_t count, uint64_t seed)
{
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += step) {
        uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        data[i] = Product<T>::make(static_cast<double>((z ^ z >> 31) >> 40) * 0x1p-23 - 1);
    }
}

// One product, or a batch of them one behind another; A and B as they are stored.
struct Shape {
    int m, n, k, batch;
    bool transpose_a, transpose_b;

    __host__ __device__ size_t a() const
    {
        return static_cast<size_t>(m) * k;
    }
    __host__ __device__ size_t b() const
    {
        return static_cast<size_t>(k) * n;
    }
    __host__ __device__ size_t c() const
    {
        return static_cast<size_t>(m) * n;
    }
    __host__ __device__ size_t at_a(size_t row, size_t i) const
    {
        return transpose_a ? i * m + row : row * k + i;
    }
    __host__ __device__ size_t at_b(size_t i, size_t column) const
    {
        return transpose_b ? column * k + i : i * n + column;
    }
};

static constexpr unsigned check_threads = 256;

// The error of element blockIdx.x * step of C over the bound of its sum.
template <class T>
__global__ static void find_error(const T *a, const T *b, const T *c, Shape s, size_t step,
                                  double *error)
{
    __shared__ double sums[check_threads], magnitudes[check_threads];
    const size_t e = blockIdx.x * step, number = e / s.c(), row = e % s.c() / s.n, column = e % s.n;
    double sum = 0, magnitude = 0;
    for (int i = static_cast<int>(threadIdx.x); i < s.k; i += check_threads) {
        const double term = Product<T>::get(a[number * s.a() + s.at_a(row, i)]) *
                            Product<T>::get(b[number * s.b() + s.at_b(i, column)]);
        sum += term;
        magnitude += fabs(term);
    }
    sums[threadIdx.x] = sum;
    magnitudes[threadIdx.x] = magnitude;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (unsigned i = 1; i < check_threads; i++) {
        sum += sums[i];
        magnitude += magnitudes[i];
    }
    const double rounding = sizeof(T) == 8 ? 0x1p-53 : 0x1p-24;
    const double bound = (s.k + 1) * rounding * magnitude + 2 * Product<T>::rounding * fabs(sum);
    error[blockIdx.x] = fabs(Product<T>::get(c[e]) - sum) / (bound + 1e-300);
}

// The largest error of a thousand elements spread over all C, over the bound of their sums.
template <class T>
static double error_of(const Context &context, const Device<T> &a, const Device<T> &b,
                       const Device<T> &c, const Shape &s)
{
    const size_t step = c.count() / 997 + 1, count = (c.count() - 1) / step + 1;
    const Device<double> errors(count);
    std::vector<double> error(count);
    find_error<T><<<static_cast<unsigned>(count), check_threads, 0, context.stream>>>(
        a.get(), b.get(), c.get(), s, step, errors.get());
    CHECKED(cudaGetLastError());
    CHECKED(cudaStreamSynchronize(context.stream));
    errors.read(error);
    double worst = 0;
    for (const double e : error)
        worst = worse(worst, e);
    return worst;
}

template <class T>
static void product(const Context &context, const Shape &s, const T *a, const T *b, T *c)
{
    // C = A B in rows is C' = B' A' in columns.
    const typename Product<T>::Scale one = 1, zero = 0;
    const cublasOperation_t op_a = s.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                            op_b = s.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int lda = s.transpose_a ? s.m : s.k, ldb = s.transpose_b ? s.k : s.n;
    if (s.batch == 1)
        CHECKED(cublasGemmEx(context.blas, op_b, op_a, s.n, s.m, s.k, &one, b, Product<T>::type,
                             ldb, a, Product<T>::type, lda, &zero, c, Product<T>::type, s.n,
                             Product<T>::compute, CUBLAS_GEMM_DEFAULT));
    else
        CHECKED(cublasGemmStridedBatchedEx(
            context.blas, op_b, op_a, s.n, s.m, s.k, &one, b, Product<T>::type, ldb,
            static_cast<long long>(s.b()), a, Product<T>::type, lda, static_cast<long long>(s.a()),
            &zero, c, Product<T>::type, s.n, static_cast<long long>(s.c()), s.batch,
            Product<T>::compute, CUBLAS_GEMM_DEFAULT));
}

template <class T> static void make(const Context &context, const Device<T> &data, uint64_t seed)
{
    fill<T><<<1024, 256, 0, context.stream>>>(data.get(), data.count(), seed);
    CHECKED(cudaGetLastError());
    CHECKED(cudaStreamSynchronize(context.stream));
}

// The stages of one run from host memory to host memory.
template <class T> static void run_whole(const Context &context, const Shape &s, Stages &first)
{
    std::vector<T> host_a(s.a() * s.batch), host_b(s.b() * s.batch), host_c(s.c() * s.batch);
    {
        const Device<T> a(host_a.size()), b(host_b.size());
        make(context, a, 1);
        make(context, b, 2);
        a.read(host_a);
        b.read(host_b);
    }
    Laps laps;
    const Device<T> a(host_a), b(host_b), c(host_c.size());
    laps.add(first.upload);
    product(context, s, a.get(), b.get(), c.get());
    CHECKED(cudaStreamSynchronize(context.stream));
    laps.add(first.run);
    c.read(host_c);
    laps.add(first.download);
}

template <class T>
static Case multiply(const Context &context, const char *type, const char *name, const Shape &s)
{
    Case out;
    out.family = "matmul";
    out.name = name;
    out.type = type;
    out.variant = "cuBLAS";
    out.problem = {{"m", s.m}, {"n", s.n}, {"k", s.k}};
    if (s.batch > 1)
        out.problem.push_back({"batch", s.batch});
    if (s.transpose_a)
        out.problem.push_back({"transpose_a", 1});
    if (s.transpose_b)
        out.problem.push_back({"transpose_b", 1});
    if (!context.brief)
        run_whole<T>(context, s, out.first);
    const Device<T> a(s.a() * s.batch), b(s.b() * s.batch), c(s.c() * s.batch);
    make(context, a, 1);
    make(context, b, 2);
    CHECKED(cudaMemset(c.get(), 0xff, c.count() * sizeof(T))); // NaN: what is not written shows
    // cuBLAS asks for memory of its own in a capture, unless it has some.
    const Device<char> workspace(size_t(64) << 20);
    CHECKED(cublasSetWorkspace(context.blas, workspace.get(), workspace.count()));
    out.batch = 2.0 * s.m * s.n * s.k * s.batch > 2e10 ? 1 : 20;
    {
        Graph graph(context.stream, [&] {
            for (unsigned i = 0; i < out.batch; i++)
                product(context, s, a.get(), b.get(), c.get());
        });
        out.samples = time_graph(context, graph, out.batch);
    }
    CHECKED(cublasSetStream(context.blas, context.stream)); // back to its own workspace
    Laps laps;
    out.error = error_of(context, a, b, c, s);
    out.bound = 1;
    laps.add(out.first.check);
    return out;
}

// "MxNxK", before it "B of " for a batch, behind it " A^T" and " B^T".
static bool parse(const char *name, Shape &s)
{
    int used = 0;
    s = Shape{0, 0, 0, 1, false, false};
    if (std::sscanf(name, "%d of %n", &s.batch, &used) != 1 || used == 0) {
        s.batch = 1;
        used = 0;
    }
    const char *text = name + used;
    used = 0;
    if (std::sscanf(text, "%dx%dx%d%n", &s.m, &s.n, &s.k, &used) != 3)
        return false;
    text += used;
    s.transpose_a = std::strncmp(text, " A^T", 4) == 0;
    text += s.transpose_a ? 4 : 0;
    s.transpose_b = std::strncmp(text, " B^T", 4) == 0;
    text += s.transpose_b ? 4 : 0;
    return *text == '\0' && s.m > 0 && s.n > 0 && s.k > 0 && s.batch > 0;
}

bool matmul(const Context &context, const std::string &type, const char *name,
            std::vector<Case> &cases)
{
    Shape shape;
    if (!parse(name, shape))
        return false;
    if (type == "f64")
        cases.push_back(multiply<double>(context, "f64", name, shape));
    else if (type == "f16")
        cases.push_back(multiply<__half>(context, "f16", name, shape));
    else if (type == "bf16")
        cases.push_back(multiply<__nv_bfloat16>(context, "bf16", name, shape));
    else if (type == "f32")
        cases.push_back(multiply<float>(context, "f32", name, shape));
    else
        return false;
    return true;
}
