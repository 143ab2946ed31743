// C = A B, row by row, by cuBLAS.
#include <cmath>
#include <cuda_fp16.h>

#include "peers.h"

// How a type is stored, and multiplied: products of f16 are summed in f32.
template <class T> struct Product {
    using Scale = T;
    static constexpr cudaDataType_t type = cuda_type<T>();
    static constexpr cublasComputeType_t compute =
        sizeof(T) == 8 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F_PEDANTIC;
    static constexpr double rounding = sizeof(T) == 8 ? 0x1p-53 : 0x1p-24;
    static double get(T value)
    {
        return value;
    }
    static T make(double value)
    {
        return static_cast<T>(value);
    }
};
template <> struct Product<__half> {
    using Scale = float;
    static constexpr cudaDataType_t type = CUDA_R_16F;
    static constexpr cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
    static constexpr double rounding = 0x1p-11;
    static double get(__half value)
    {
        return __half2float(value);
    }
    static __half make(double value)
    {
        return __float2half(static_cast<float>(value));
    }
};

template <class T> static std::vector<T> operand(size_t count, uint64_t seed)
{
    const std::vector<double> values = random_values<double>(count, seed);
    std::vector<T> out(count);
    for (size_t i = 0; i < count; i++)
        out[i] = Product<T>::make(values[i]);
    return out;
}

// The largest error of elements spread over C, over the bound of their sums.
template <class T>
static double error_of(const std::vector<T> &a, const std::vector<T> &b, const std::vector<T> &c,
                       int m, int n, int k)
{
    const size_t elements = static_cast<size_t>(m) * n, step = elements / 997 + 1;
    const double sums = sizeof(T) == 8 ? 0x1p-53 : 0x1p-24;
    double worst = 0;
    for (size_t e = 0; e < elements; e += step) {
        const size_t row = e / n, column = e % n;
        double sum = 0, magnitude = 0;
        for (int i = 0; i < k; i++) {
            const double term = Product<T>::get(a[row * k + i]) *
                                Product<T>::get(b[static_cast<size_t>(i) * n + column]);
            sum += term;
            magnitude += std::fabs(term);
        }
        const double bound = (k + 1) * sums * magnitude + 2 * Product<T>::rounding * std::fabs(sum);
        worst = std::fmax(worst, std::fabs(Product<T>::get(c[e]) - sum) / (bound + 1e-300));
    }
    return worst;
}

template <class T>
static void product(const Context &context, int m, int n, int k, const T *a, const T *b, T *c)
{
    // C = A B in rows is C' = B' A' in columns.
    const typename Product<T>::Scale one = 1, zero = 0;
    CHECKED(cublasGemmEx(context.blas, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, Product<T>::type,
                         n, a, Product<T>::type, k, &zero, c, Product<T>::type, n,
                         Product<T>::compute, CUBLAS_GEMM_DEFAULT));
}

template <class T>
static Case multiply(const Context &context, const char *type, int m, int n, int k)
{
    const std::vector<T> host_a = operand<T>(static_cast<size_t>(m) * k, 1),
                         host_b = operand<T>(static_cast<size_t>(k) * n, 2);
    std::vector<T> host_c(static_cast<size_t>(m) * n);
    Case out;
    out.family = "matmul";
    out.name = std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
    out.type = type;
    out.variant = "cuBLAS";
    out.problem = {{"m", m}, {"n", n}, {"k", k}};
    Laps laps;
    const Device<T> a(host_a), b(host_b), c(host_c.size());
    laps.add(out.first.upload);
    product(context, m, n, k, a.get(), b.get(), c.get());
    CHECKED(cudaStreamSynchronize(context.stream));
    laps.add(out.first.run);
    c.read(host_c);
    laps.add(out.first.download);
    out.error = error_of(host_a, host_b, host_c, m, n, k);
    out.bound = 1;
    laps.add(out.first.check);
    // cuBLAS asks for memory of its own in a capture, unless it has some.
    const Device<char> workspace(size_t(64) << 20);
    CHECKED(cublasSetWorkspace(context.blas, workspace.get(), workspace.count()));
    out.batch = 2.0 * m * n * k > 2e10 ? 1 : 20;
    {
        Graph graph(context.stream, [&] {
            for (unsigned i = 0; i < out.batch; i++)
                product(context, m, n, k, a.get(), b.get(), c.get());
        });
        out.samples = time_graph(context, graph, out.batch);
    }
    CHECKED(cublasSetStream(context.blas, context.stream)); // back to its own workspace
    return out;
}

Case matmul(const Context &context, const std::string &type, int m, int n, int k)
{
    if (type == "f64")
        return multiply<double>(context, "f64", m, n, k);
    if (type == "f16")
        return multiply<__half>(context, "f16", m, n, k);
    return multiply<float>(context, "f32", m, n, k);
}
