// Conjugate gradients (Hestenes and Stiefel 1952) by cuSPARSE and cuBLAS, with scalars on the
// device: a CUDA graph has 32 iterations, after each of which the host looks at the residual.
#include <cmath>

#include "peers.h"

enum { RR, PAP, ALPHA, MINUS_ALPHA, BETA, SCALARS };
static const int MOST_ITERATIONS = 1000, ITERATIONS_OF_A_GRAPH = 32, THREADS = 256;

// Past the end, where |r|^2 is 0, nothing changes any more.
template <class T> __global__ void step_length(T *s)
{
    s[ALPHA] = s[PAP] > 0 ? s[RR] / s[PAP] : T(0);
    s[MINUS_ALPHA] = -s[ALPHA];
    s[BETA] = s[RR]; // of the iteration before
}

template <class T> __global__ void direction(const T *s, const T *r, T *p, int count)
{
    const T beta = s[BETA] > 0 ? s[RR] / s[BETA] : T(0);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        p[i] = r[i] + beta * p[i];
}

static void dot(cublasHandle_t h, int n, const float *x, const float *y, float *out)
{
    CHECKED(cublasSdot(h, n, x, 1, y, 1, out));
}
static void dot(cublasHandle_t h, int n, const double *x, const double *y, double *out)
{
    CHECKED(cublasDdot(h, n, x, 1, y, 1, out));
}
static void axpy(cublasHandle_t h, int n, const float *a, const float *x, float *y)
{
    CHECKED(cublasSaxpy(h, n, a, x, 1, y, 1));
}
static void axpy(cublasHandle_t h, int n, const double *a, const double *x, double *y)
{
    CHECKED(cublasDaxpy(h, n, a, x, 1, y, 1));
}

template <class T> struct System {
    const Csr &matrix;
    const std::vector<T> &values, &b;
    double tolerance, norm; // of b
};

// One whole solve from host memory to host memory; returns the iterations.
template <class T>
static int solve(const Context &context, const System<T> &system, std::vector<T> &solution,
                 Stages &stages)
{
    const int n = system.matrix.rows;
    const cudaDataType_t type = cuda_type<T>();
    const T one = 1, zero = 0;
    const std::vector<T> zeros(static_cast<size_t>(n), T(0));
    size_t bytes = 0;
    Laps laps;
    const Device<int> offsets(system.matrix.offsets), columns(system.matrix.columns);
    const Device<T> values(system.values);
    Device<T> x(zeros), r(system.b), p(system.b), q(zeros.size()), scalars(SCALARS);
    T *const s = scalars.get();
    laps.add(stages.upload);
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t in, out;
    CHECKED(cusparseCreateCsr(&a, n, n, static_cast<int64_t>(columns.count()), offsets.get(),
                              columns.get(), values.get(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                              CUSPARSE_INDEX_BASE_ZERO, type));
    CHECKED(cusparseCreateDnVec(&in, n, p.get(), type));
    CHECKED(cusparseCreateDnVec(&out, n, q.get(), type));
    CHECKED(cusparseSpMV_bufferSize(context.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, in,
                                    &zero, out, type, CUSPARSE_SPMV_CSR_ALG1, &bytes));
    const Device<char> workspace(bytes + 16), blas_workspace(size_t(4) << 20);
    CHECKED(cusparseSpMV_preprocess(context.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, in,
                                    &zero, out, type, CUSPARSE_SPMV_CSR_ALG1, workspace.get()));
    CHECKED(cublasSetPointerMode(context.blas, CUBLAS_POINTER_MODE_DEVICE));
    CHECKED(cublasSetWorkspace(context.blas, blas_workspace.get(), blas_workspace.count()));
    dot(context.blas, n, r.get(), r.get(), s + RR);
    const int blocks = (n + THREADS - 1) / THREADS < 1056 ? (n + THREADS - 1) / THREADS : 1056;
    Graph graph(context.stream, [&] {
        for (int i = 0; i < ITERATIONS_OF_A_GRAPH; i++) {
            CHECKED(cusparseSpMV(context.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, in,
                                 &zero, out, type, CUSPARSE_SPMV_CSR_ALG1, workspace.get()));
            dot(context.blas, n, p.get(), q.get(), s + PAP);
            step_length<<<1, 1, 0, context.stream>>>(s);
            axpy(context.blas, n, s + ALPHA, p.get(), x.get());
            axpy(context.blas, n, s + MINUS_ALPHA, q.get(), r.get());
            dot(context.blas, n, r.get(), r.get(), s + RR);
            direction<<<blocks, THREADS, 0, context.stream>>>(s, r.get(), p.get(), n);
        }
    });
    CHECKED(cudaStreamSynchronize(context.stream));
    laps.add(stages.analysis);
    int iterations = 0;
    T rr = 1;
    const double wanted = system.tolerance * system.norm;
    while (iterations < MOST_ITERATIONS && std::sqrt(static_cast<double>(rr)) > wanted) {
        graph.launch();
        iterations += ITERATIONS_OF_A_GRAPH;
        CHECKED(cudaMemcpyAsync(&rr, s + RR, sizeof rr, cudaMemcpyDeviceToHost, context.stream));
        CHECKED(cudaStreamSynchronize(context.stream));
    }
    laps.add(stages.run);
    x.read(solution);
    laps.add(stages.download);
    CHECKED(cublasSetPointerMode(context.blas, CUBLAS_POINTER_MODE_HOST));
    CHECKED(cublasSetStream(context.blas, context.stream)); // back to its own workspace
    CHECKED(cusparseDestroyDnVec(in));
    CHECKED(cusparseDestroyDnVec(out));
    CHECKED(cusparseDestroySpMat(a));
    return iterations;
}

// |b - A x| / |b|
template <class T> static double residual_of(const System<T> &system, const std::vector<T> &x)
{
    const Csr &m = system.matrix;
    double squares = 0;
    for (int row = 0; row < m.rows; row++) {
        double r = system.b[row];
        for (int i = m.offsets[row]; i < m.offsets[row + 1]; i++)
            r -= m.values[i] * x[m.columns[i]];
        squares += r * r;
    }
    return std::sqrt(squares) / system.norm;
}

template <class T> static Case solve_all(const Context &context, int side)
{
    const Csr matrix = poisson27(side);
    const std::vector<T> values = values_of<T>(matrix),
                         b = random_values<T>(static_cast<size_t>(matrix.rows), 1);
    std::vector<T> x(b.size());
    double squares = 0;
    for (const T value : b)
        squares += double(value) * value;
    const System<T> system = {matrix, values, b, sizeof(T) == 8 ? 1e-10 : 1e-6, std::sqrt(squares)};
    Case out;
    out.family = "cg";
    out.name = "poisson27 " + std::to_string(side) + "^3";
    out.type = type_name<T>();
    out.variant = "cuSPARSE + cuBLAS";
    out.problem = {{"rows", matrix.rows}, {"entries", double(matrix.columns.size())}};
    out.clock = "host";
    const int iterations = solve(context, system, x, out.first);
    Laps laps;
    out.error = residual_of(system, x);
    out.bound = sizeof(T) == 8 ? 1e-9 : 1e-5; // the iteration's residual drifts from the true one
    laps.add(out.first.check);
    for (unsigned i = 0; i < context.solves; i++) {
        Stages stages;
        solve(context, system, x, stages);
        out.samples.push_back(stages.whole());
    }
    out.extras = {{"iterations", iterations},
                  {"us_an_iteration", out.first.run / iterations},
                  {"true_residual", out.error}};
    return out;
}

Case cg(const Context &context, const std::string &type, int side)
{
    return type == "f64" ? solve_all<double>(context, side) : solve_all<float>(context, side);
}
