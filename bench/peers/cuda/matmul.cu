// C = A B, row by row, by cuBLAS.
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

template <> struct Product<__nv_bfloat16> {
    using Scale = float;
    static constexpr cudaDataType_t type = CUDA_R_16BF;
    static constexpr cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
    static constexpr double rounding = 0x1p-8;
    static double get(__nv_bfloat16 value)
    {
        return __bfloat162float(value);
    }
    static __nv_bfloat16 make(double value)
    {
        return __float2bfloat16(static_cast<float>(value));
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

// One product, or a batch of them one behind another; A and B as they are stored.
struct Shape {
    int m, n, k, batch;
    bool transpose_a, transpose_b;

    size_t a() const
    {
        return static_cast<size_t>(m) * k;
    }
    size_t b() const
    {
        return static_cast<size_t>(k) * n;
    }
    size_t c() const
    {
        return static_cast<size_t>(m) * n;
    }
    size_t at_a(size_t row, size_t i) const
    {
        return transpose_a ? i * m + row : row * k + i;
    }
    size_t at_b(size_t i, size_t column) const
    {
        return transpose_b ? column * k + i : i * n + column;
    }
};

// The largest error of elements spread over all C, over the bound of their sums.
template <class T>
static double error_of(const std::vector<T> &a, const std::vector<T> &b, const std::vector<T> &c,
                       const Shape &s)
{
    const size_t step = c.size() / 997 + 1;
    const double sums = sizeof(T) == 8 ? 0x1p-53 : 0x1p-24;
    double worst = 0;
    for (size_t e = 0; e < c.size(); e += step) {
        const size_t product = e / s.c(), row = e % s.c() / s.n, column = e % s.n;
        double sum = 0, magnitude = 0;
        for (int i = 0; i < s.k; i++) {
            const double term = Product<T>::get(a[product * s.a() + s.at_a(row, i)]) *
                                Product<T>::get(b[product * s.b() + s.at_b(i, column)]);
            sum += term;
            magnitude += std::fabs(term);
        }
        const double bound =
            (s.k + 1) * sums * magnitude + 2 * Product<T>::rounding * std::fabs(sum);
        worst = std::fmax(worst, std::fabs(Product<T>::get(c[e]) - sum) / (bound + 1e-300));
    }
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

template <class T>
static Case multiply(const Context &context, const char *type, const char *name, const Shape &s)
{
    const std::vector<T> host_a = operand<T>(s.a() * s.batch, 1),
                         host_b = operand<T>(s.b() * s.batch, 2);
    std::vector<T> host_c(s.c() * s.batch);
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
    Laps laps;
    const Device<T> a(host_a), b(host_b), c(host_c.size());
    laps.add(out.first.upload);
    product(context, s, a.get(), b.get(), c.get());
    CHECKED(cudaStreamSynchronize(context.stream));
    laps.add(out.first.run);
    c.read(host_c);
    laps.add(out.first.download);
    out.error = error_of(host_a, host_b, host_c, s);
    out.bound = 1;
    laps.add(out.first.check);
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
