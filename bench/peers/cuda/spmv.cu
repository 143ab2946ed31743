// y = A x by cuSPARSE, the better of its two algorithms for CSR.
#include <algorithm>
#include <cmath>

#include "matrices.h"

// A matrix on the device, described and preprocessed for one algorithm.
template <class T> struct Prepared {
    const Context &context;
    const Device<int> &offsets, &columns;
    const Device<T> &values;
    Device<T> &x, &y;
    cusparseSpMVAlg_t algorithm;
    cusparseSpMatDescr_t a = nullptr;
    cusparseDnVecDescr_t in = nullptr, out = nullptr;
    void *workspace = nullptr;
    T one = 1, zero = 0;

    void open(int rows)
    {
        size_t bytes = 0;
        const cudaDataType_t type = cuda_type<T>();
        CHECKED(cusparseCreateCsr(&a, rows, rows, static_cast<int64_t>(columns.count()),
                                  offsets.get(), columns.get(), values.get(), CUSPARSE_INDEX_32I,
                                  CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
        CHECKED(cusparseCreateDnVec(&in, rows, x.get(), type));
        CHECKED(cusparseCreateDnVec(&out, rows, y.get(), type));
        CHECKED(cusparseSpMV_bufferSize(context.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a,
                                        in, &zero, out, type, algorithm, &bytes));
        CHECKED(cudaMalloc(&workspace, bytes + 16));
        CHECKED(cusparseSpMV_preprocess(context.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a,
                                        in, &zero, out, type, algorithm, workspace));
    }
    void run()
    {
        CHECKED(cusparseSpMV(context.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, in, &zero,
                             out, cuda_type<T>(), algorithm, workspace));
    }
    void close()
    {
        CHECKED(cusparseDestroyDnVec(in));
        CHECKED(cusparseDestroyDnVec(out));
        CHECKED(cusparseDestroySpMat(a));
        CHECKED(cudaFree(workspace));
    }
};

template <class T>
static double error_of(const Csr &m, const std::vector<T> &x, const std::vector<T> &y)
{
    const double u = sizeof(T) == 8 ? 0x1p-53 : 0x1p-24;
    double worst = 0;
    for (int row = 0; row < m.rows; row++) {
        double sum = 0, magnitude = 0;
        for (int i = m.offsets[row]; i < m.offsets[row + 1]; i++) {
            const double term = m.values[i] * x[m.columns[i]];
            sum += term;
            magnitude += std::fabs(term);
        }
        const double bound = (m.offsets[row + 1] - m.offsets[row] + 2) * u * magnitude;
        worst = worse(worst, std::fabs(y[row] - sum) / (bound + 1e-300));
    }
    return worst;
}

template <class T>
static Case multiply(const Context &context, const Csr &m, const std::string &name, uint64_t seed)
{
    const std::vector<T> host_values = values_of<T>(m),
                         host_x = random_values<T>(static_cast<size_t>(m.rows), seed);
    std::vector<T> host_y(static_cast<size_t>(m.rows));
    Case out;
    out.family = "spmv";
    out.name = name;
    out.type = type_name<T>();
    out.variant = "cuSPARSE";
    out.problem = {{"rows", m.rows}, {"columns", m.rows}, {"entries", double(m.columns.size())}};
    Laps laps;
    const Device<int> offsets(m.offsets), columns(m.columns);
    const Device<T> values(host_values);
    Device<T> x(host_x), y(host_y.size());
    laps.add(out.first.upload);
    Prepared<T> first = {context, offsets, columns, values, x, y, CUSPARSE_SPMV_CSR_ALG1};
    first.open(m.rows);
    CHECKED(cudaStreamSynchronize(context.stream));
    laps.add(out.first.analysis);
    first.run();
    CHECKED(cudaStreamSynchronize(context.stream));
    laps.add(out.first.run);
    y.read(host_y);
    laps.add(out.first.download);
    out.error = error_of(m, host_x, host_y);
    out.bound = 1;
    laps.add(out.first.check);
    first.close();
    out.batch = 20;
    for (const cusparseSpMVAlg_t algorithm : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
        Prepared<T> p = {context, offsets, columns, values, x, y, algorithm};
        p.open(m.rows);
        Graph graph(context.stream, [&] {
            for (unsigned i = 0; i < out.batch; i++)
                p.run();
        });
        const std::vector<double> samples = time_graph(context, graph, out.batch);
        const auto least = [](const std::vector<double> &s) {
            return *std::min_element(s.begin(), s.end());
        };
        if (out.samples.empty() || least(samples) < least(out.samples))
            out.samples = samples;
        p.close();
    }
    return out;
}

bool spmv(const Context &context, const std::string &type, const std::string &name,
          std::vector<Case> &cases)
{
    const bool side = name.find_first_not_of("0123456789") == std::string::npos;
    const std::string matrix = side ? "poisson27:" + name : name;
    Csr m;
    if ((type != "f32" && type != "f64") || !make_matrix(matrix, context.seed, m))
        return false;
    cases.push_back(type == "f64" ? multiply<double>(context, m, matrix, context.seed)
                                  : multiply<float>(context, m, matrix, context.seed));
    return true;
}
