// Rates of cudaMemcpy by size, from and to memory of malloc, of malloc registered with
// cudaHostRegister, and of cudaMallocHost: what stands beside bench_transfers.
// nvcc -O2 -o transfers bench/peers/cuda/transfers.cu && ./transfers
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t error = (call);                                                          \
        if (error != cudaSuccess) {                                                                \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                    \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

const size_t most_small = 256 << 10; // sizes by twos up to it, by fours from there on

static double now()
{
    using clock = std::chrono::steady_clock;
    return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

// The median time of a copy that has arrived when the call returns, in seconds.
static double time_of(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    std::vector<double> times;
    const double begin = now();
    while (times.size() < 400 && (times.size() < 3 || now() - begin < 0.3)) {
        const double start = now();
        CHECK(cudaMemcpy(to, from, bytes, kind));
        times.push_back(now() - start);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

static void print_rates(const char *what, void *host, void *device, size_t most)
{
    std::printf("%s\n%12s %10s %10s %10s %10s\n", what, "bytes", "up us", "GB/s", "down us",
                "GB/s");
    for (size_t bytes = 4096; bytes <= most; bytes *= bytes < most_small ? 2 : 4) {
        const double up = time_of(device, host, bytes, cudaMemcpyHostToDevice),
                     down = time_of(host, device, bytes, cudaMemcpyDeviceToHost);
        std::printf("%12zu %10.1f %10.2f %10.1f %10.2f\n", bytes, up * 1e6, bytes / up * 1e-9,
                    down * 1e6, bytes / down * 1e-9);
    }
}

__global__ void write_all(float *to, size_t count)
{
    const size_t at = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (at < count)
        to[at] = float(at);
}

// A kernel and its result copied to memory of malloc.
static void print_answers(void *host, void *device)
{
    std::printf("a kernel and its result copied\n%12s %10s\n", "bytes", "us");
    for (size_t bytes = 4096; bytes <= most_small; bytes *= 2) {
        std::vector<double> times;
        for (int i = 0; i < 400; i++) {
            const double start = now();
            write_all<<<unsigned((bytes / 4 + 127) / 128), 128>>>(static_cast<float *>(device),
                                                                  bytes / 4);
            CHECK(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
            times.push_back(now() - start);
        }
        std::sort(times.begin(), times.end());
        std::printf("%12zu %10.1f\n", bytes, times[times.size() / 2] * 1e6);
    }
}

int main()
{
    const size_t most = size_t(1) << 30;
    void *device = nullptr, *pinned = nullptr, *host = std::malloc(most);
    if (!host)
        return 1;
    std::memset(host, 1, most);
    CHECK(cudaMalloc(&device, most));
    print_answers(host, device);
    print_rates("cudaMemcpy, malloc", host, device, most);
    double start = now();
    if (cudaHostRegister(host, most, cudaHostRegisterDefault) == cudaSuccess) {
        std::printf("cudaHostRegister of 1 GiB: %.1f ms\n", (now() - start) * 1e3);
        print_rates("cudaMemcpy, registered", host, device, most);
        CHECK(cudaHostUnregister(host));
    }
    start = now();
    CHECK(cudaMallocHost(&pinned, most));
    std::printf("cudaMallocHost of 1 GiB: %.1f ms\n", (now() - start) * 1e3);
    std::memset(pinned, 1, most);
    print_rates("cudaMemcpy, cudaMallocHost", pinned, device, most);
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(device));
    std::free(host);
    return 0;
}
