#include <cmath>
#include <memory>

#include "himeno_ranks.h"

static const float OMEGA = 0.8f;
static const unsigned THREADS_I = 64, THREADS_J = 4;

// p around a cell, by the distance in memory.
struct Around {
    const float *cell;
    __device__ float operator()(long distance) const
    {
        return cell[distance];
    }
};

__device__ static float residual(const Planes &h, size_t cell, Around p)
{
    const size_t n = static_cast<size_t>(h.grid.ni) * h.grid.nj * h.grid.nk;
    const long x = 1, y = h.grid.ni, z = static_cast<long>(h.grid.nj) * h.grid.ni;
    const float *a = h.a + cell, *b = h.b + cell, *c = h.c + cell;
    const float sum = a[0] * p(z) + a[n] * p(y) + a[2 * n] * p(x) +
                      b[0] * (p(z + y) - p(z - y) - p(y - z) + p(-z - y)) +
                      b[n] * (p(y + x) - p(x - y) - p(y - x) + p(-y - x)) +
                      b[2 * n] * (p(z + x) - p(x - z) - p(z - x) + p(-z - x)) + c[0] * p(-z) +
                      c[n] * p(-y) + c[2 * n] * p(-x) + h.work[cell];
    return (sum * a[3 * n] - p(0)) * h.bound[cell];
}

// A plane a z of the grid of blocks. One sum a block: no block waits for another's addition.
__global__ static void step(Planes h, int begin)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 1,
              y = blockIdx.y * blockDim.y + threadIdx.y + 1,
              z = static_cast<int>(blockIdx.z) + begin;
    __shared__ float warps[THREADS_I * THREADS_J / 32];
    float square = 0;
    if (x < h.grid.ni - 1 && y < h.grid.nj - 1) {
        const size_t cell = (static_cast<size_t>(z) * h.grid.nj + y) * h.grid.ni + x;
        const float r = residual(h, cell, {h.from + cell});
        h.to[cell] = h.from[cell] + OMEGA * r;
        square = r * r;
    }
    for (int offset = 16; offset > 0; offset /= 2)
        square += __shfl_xor_sync(0xffffffffu, square, offset);
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    if (thread % 32 == 0)
        warps[thread / 32] = square;
    __syncthreads();
    if (thread == 0) {
        float sum = 0;
        for (unsigned w = 0; w < THREADS_I * THREADS_J / 32; w++)
            sum += warps[w];
        h.sums[(static_cast<size_t>(z - 1) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] =
            sum;
    }
}

__global__ static void add_up(const float *sums, size_t count, double *total)
{
    double sum = 0;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        sum += static_cast<double>(sums[i]);
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, sum);
}

static unsigned blocks_of(int extent, unsigned threads)
{
    return (static_cast<unsigned>(extent) - 2 + threads - 1) / threads;
}

__global__ static void fill(float *to, size_t count, float value)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        to[i] = value;
}

__global__ static void fill_start(float *p, size_t count, size_t plane, int first, int planes)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const float at = static_cast<float>(i / plane + static_cast<size_t>(first)) /
                         static_cast<float>(planes - 1);
        p[i] = at * at;
    }
}

Part::Part(const Grid &whole, int first, int planes, int device)
    : grid_({whole.ni, whole.nj, planes + 2}), first_(first), device_(device)
{
    CHECKED(cudaSetDevice(device));
    const size_t plane = static_cast<size_t>(grid_.ni) * grid_.nj,
                 n = plane * static_cast<size_t>(grid_.nk);
    const auto keep = [&](size_t count, float value) {
        memory_.push_back(std::unique_ptr<Device<float>>(new Device<float>(count)));
        fill<<<4096, 256>>>(memory_.back()->get(), count, value);
        return memory_.back()->get();
    };
    for (float *&p : p_) {
        p = keep(n, 0);
        fill_start<<<4096, 256>>>(p, n, plane, first, whole.nk);
    }
    planes_.a = keep(4 * n, 1);
    fill<<<4096, 256>>>(const_cast<float *>(planes_.a) + 3 * n, n, 1.0f / 6);
    planes_.b = keep(3 * n, 0);
    planes_.c = keep(3 * n, 1);
    planes_.bound = keep(n, 1);
    planes_.work = keep(n, 0);
    sums_ = static_cast<size_t>(blocks_of(grid_.ni, THREADS_I)) * blocks_of(grid_.nj, THREADS_J) *
            static_cast<size_t>(planes);
    planes_.sums = keep(sums_, 0);
    planes_.grid = grid_;
    total_.reset(new Device<double>(1));
    int least = 0, greatest = 0;
    CHECKED(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECKED(cudaStreamCreateWithPriority(&boundary_stream_, cudaStreamNonBlocking, greatest));
    CHECKED(cudaStreamCreateWithPriority(&inside_stream_, cudaStreamNonBlocking, least));
    CHECKED(cudaEventCreateWithFlags(&boundary_done_, cudaEventDisableTiming));
    CHECKED(cudaEventCreateWithFlags(&inside_done_, cudaEventDisableTiming));
    for (auto &side : sent_)
        for (cudaEvent_t &event : side)
            CHECKED(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECKED(cudaDeviceSynchronize());
}

Part::~Part()
{
    cudaSetDevice(device_);
    cudaDeviceSynchronize();
    for (float *memory : pinned_)
        cudaFreeHost(memory);
    for (auto &side : sent_)
        for (cudaEvent_t event : side)
            cudaEventDestroy(event);
    cudaEventDestroy(boundary_done_);
    cudaEventDestroy(inside_done_);
    cudaStreamDestroy(boundary_stream_);
    cudaStreamDestroy(inside_stream_);
    memory_.clear();
    total_.reset();
}

void Part::connect(Part &lower, Part &upper)
{
    lower.neighbours_[UPPER] = &upper;
    upper.neighbours_[LOWER] = &lower;
    for (const Part *part : {&lower, &upper}) {
        const int other = part == &lower ? upper.device_ : lower.device_;
        if (other == part->device_)
            continue;
        CHECKED(cudaSetDevice(part->device_));
        const cudaError_t enabled = cudaDeviceEnablePeerAccess(other, 0);
        if (enabled == cudaErrorPeerAccessAlreadyEnabled)
            (void)cudaGetLastError();
        else
            CHECKED(enabled);
    }
}

void Part::connect_by_mpi(int lower, int upper)
{
    ranks_[LOWER] = lower;
    ranks_[UPPER] = upper;
    CHECKED(cudaSetDevice(device_));
    for (float *&memory : pinned_)
        CHECKED(cudaMallocHost(&memory, plane_bytes()));
}

size_t Part::plane_bytes() const
{
    return static_cast<size_t>(grid_.ni) * grid_.nj * sizeof(float);
}

float *Part::boundary(int side) const
{
    const size_t plane = plane_bytes() / sizeof(float);
    return p_[1] + plane * static_cast<size_t>(side == LOWER ? 1 : grid_.nk - 2);
}

float *Part::halo(int side) const
{
    const size_t plane = plane_bytes() / sizeof(float);
    return p_[1] + plane * static_cast<size_t>(side == LOWER ? 0 : grid_.nk - 1);
}

void Part::launch(int begin, int count, cudaStream_t stream)
{
    if (count < 1)
        return;
    const dim3 threads(THREADS_I, THREADS_J),
        blocks(blocks_of(grid_.ni, THREADS_I), blocks_of(grid_.nj, THREADS_J),
               static_cast<unsigned>(count));
    Planes h = planes_;
    h.from = p_[0];
    h.to = p_[1];
    step<<<blocks, threads, 0, stream>>>(h, begin);
    CHECKED(cudaGetLastError());
}

// Both streams wait for all that the iteration before did.
void Part::update()
{
    const bool lower = neighbours_[LOWER] || ranks_[LOWER] != MPI_PROC_NULL,
               upper = neighbours_[UPPER] || ranks_[UPPER] != MPI_PROC_NULL;
    const int begin = lower ? 2 : 1, end = upper ? grid_.nk - 2 : grid_.nk - 1;
    CHECKED(cudaSetDevice(device_));
    CHECKED(cudaStreamWaitEvent(boundary_stream_, inside_done_, 0));
    CHECKED(cudaStreamWaitEvent(inside_stream_, boundary_done_, 0));
    if (lower)
        launch(1, 1, boundary_stream_);
    if (upper && (grid_.nk > 3 || !lower)) // else it was the lower one
        launch(grid_.nk - 2, 1, boundary_stream_);
    CHECKED(cudaEventRecord(boundary_done_, boundary_stream_));
    launch(begin, end - begin, inside_stream_);
    CHECKED(cudaEventRecord(inside_done_, inside_stream_));
}

void Part::send_to_peers()
{
    for (const int side : {LOWER, UPPER})
        if (Part *to = neighbours_[side]) {
            CHECKED(cudaMemcpyPeerAsync(to->halo(1 - side), to->device_, boundary(side), device_,
                                        plane_bytes(), boundary_stream_));
            CHECKED(cudaEventRecord(sent_[side][parity_], boundary_stream_));
        }
}

// Boundary planes go to pinned memory, from there to the neighbour's, and from that to its GPU.
void Part::exchange_by_mpi()
{
    MPI_Request requests[4];
    int count = 0;
    for (const int side : {LOWER, UPPER})
        if (ranks_[side] != MPI_PROC_NULL)
            CHECKED(cudaMemcpyAsync(pinned_[side], boundary(side), plane_bytes(),
                                    cudaMemcpyDeviceToHost, boundary_stream_));
    // What was received before has left its memory by then, too.
    CHECKED(cudaStreamSynchronize(boundary_stream_));
    const int bytes = static_cast<int>(plane_bytes());
    for (const int side : {LOWER, UPPER})
        if (ranks_[side] != MPI_PROC_NULL) {
            MPI_Irecv(pinned_[2 + side], bytes, MPI_BYTE, ranks_[side], 0, MPI_COMM_WORLD,
                      &requests[count++]);
            MPI_Isend(pinned_[side], bytes, MPI_BYTE, ranks_[side], 0, MPI_COMM_WORLD,
                      &requests[count++]);
        }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (const int side : {LOWER, UPPER})
        if (ranks_[side] != MPI_PROC_NULL)
            CHECKED(cudaMemcpyAsync(halo(side), pinned_[2 + side], plane_bytes(),
                                    cudaMemcpyHostToDevice, boundary_stream_));
}

void Part::exchange()
{
    CHECKED(cudaSetDevice(device_));
    if (ranks_[LOWER] != MPI_PROC_NULL || ranks_[UPPER] != MPI_PROC_NULL)
        exchange_by_mpi();
    send_to_peers();
}

// What neighbours sent is there before the next boundary planes are updated.
void Part::swap()
{
    CHECKED(cudaSetDevice(device_));
    for (const int side : {LOWER, UPPER})
        if (const Part *from = neighbours_[side])
            CHECKED(cudaStreamWaitEvent(boundary_stream_, from->sent_[1 - side][parity_], 0));
    parity_ = 1 - parity_;
    std::swap(p_[0], p_[1]);
}

double Part::gosa()
{
    double sum = 0;
    CHECKED(cudaSetDevice(device_));
    CHECKED(cudaStreamSynchronize(boundary_stream_));
    CHECKED(cudaMemsetAsync(total_->get(), 0, sizeof sum, inside_stream_));
    add_up<<<256, 256, 0, inside_stream_>>>(planes_.sums, sums_, total_->get());
    CHECKED(
        cudaMemcpyAsync(&sum, total_->get(), sizeof sum, cudaMemcpyDeviceToHost, inside_stream_));
    CHECKED(cudaStreamSynchronize(inside_stream_));
    return sum;
}

double Part::largest_error(const std::vector<double> &all, int margin)
{
    const size_t plane = plane_bytes() / sizeof(float);
    std::vector<float> p(plane * static_cast<size_t>(grid_.nk));
    CHECKED(cudaSetDevice(device_));
    CHECKED(cudaMemcpy(p.data(), p_[0], p.size() * sizeof(float), cudaMemcpyDeviceToHost));
    double worst = 0;
    for (int z = 1; z < grid_.nk - 1; z++)
        for (int y = margin + 1; y < grid_.nj - margin - 1; y++)
            for (int x = margin + 1; x < grid_.ni - margin - 1; x++) {
                const size_t cell = (static_cast<size_t>(z) * grid_.nj + y) * grid_.ni + x;
                worst = worse(worst, std::fabs(static_cast<double>(p[cell]) -
                                               all[static_cast<size_t>(z + first_)]));
            }
    return worst;
}
