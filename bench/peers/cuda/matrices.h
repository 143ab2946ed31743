// The matrices that wavefit's tool makes by name, made by the same code.
#pragma once
#include <cstdint>
#include <string>

#include "peers.h"

// Of "KIND:SIZE" as `wavefit spmv --generate` takes it, and of "uniform ROWS x ENTRIES" as drawn
// suites name random columns. False where the text names none or there is no memory, with a line on
// standard error.
bool make_matrix(const std::string &name, uint64_t seed, Csr &out);
