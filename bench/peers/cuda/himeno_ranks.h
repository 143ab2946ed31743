// A GPU's planes of a Himeno grid, and how neighbours get what they need of them.
#pragma once
#include <memory>

#include <mpi.h>

#include "peers.h"

struct Grid {
    int ni, nj, nk; // borders included; i is contiguous, and the grid is cut along k
};

// What a kernel works on: planes with the one below and the one above.
struct Planes {
    Grid grid;         // nk: planes here, those two included
    const float *from; // p
    float *to;
    const float *a, *b, *c, *bound, *work; // 4, 3, 3, 1 and 1 components
    float *sums;                           // one a block
};

class Part
{
  public:
    // `planes` inner planes behind the `first` ones, on a GPU.
    Part(const Grid &whole, int first, int planes, int device);
    Part(const Part &) = delete;
    Part &operator=(const Part &) = delete;
    ~Part();

    // Of one process: copies from GPU to GPU.
    static void connect(Part &lower, Part &upper);
    // By ranks; MPI_PROC_NULL: the grid ends.
    void connect_by_mpi(int lower, int upper);

    // These three make an iteration; all parts make each before the next one.
    void update();
    void exchange();
    void swap();

    double gosa(); // of the last iteration; waits
    // Of cells that are farther than `margin` from borders along i and j; `all`: by k.
    double largest_error(const std::vector<double> &all, int margin);

  private:
    enum { LOWER, UPPER };
    float *boundary(int side) const; // own planes of the new p
    float *halo(int side) const;     // the neighbour's
    size_t plane_bytes() const;
    void launch(int begin, int count, cudaStream_t stream);
    void exchange_by_mpi();
    void send_to_peers();

    Grid grid_; // planes here, with a plane more at each end
    int first_, device_;
    std::vector<std::unique_ptr<Device<float>>> memory_;
    std::unique_ptr<Device<double>> total_; // of gosa
    Planes planes_ = {};
    float *p_[2] = {};
    cudaStream_t boundary_stream_ = nullptr, inside_stream_ = nullptr;
    cudaEvent_t boundary_done_ = nullptr, inside_done_ = nullptr;
    cudaEvent_t sent_[2][2] = {}; // by side and by the parity of the iteration
    int parity_ = 0;
    Part *neighbours_[2] = {};
    int ranks_[2] = {MPI_PROC_NULL, MPI_PROC_NULL};
    float *pinned_[4] = {}; // to send, by side; received, by side
    size_t sums_ = 0;
};
