#include "matrices.h"

extern "C" {
#include "tool/cases/generate.h"
#include "tool/cli/console.h"

// Ctrl-C ends this program at once.
bool wfi_interrupt_noted(void)
{
    return false;
}
}

bool make_matrix(const std::string &name, uint64_t seed, Csr &out)
{
    wfi_csr made = {};
    char message[256];
    unsigned rows = 0, entries = 0;
    const bool uniform = std::sscanf(name.c_str(), "uniform %u x %u", &rows, &entries) == 2;
    const std::string text =
        uniform ? "uniform:" + std::to_string(rows) + "x" + std::to_string(entries) : name;
    if (!wfi_generate(text.c_str(), seed, &made, message)) {
        std::fprintf(stderr, "cuda_peers: %s: %s\n", name.c_str(), message);
        return false;
    }
    out.rows = static_cast<int>(made.rows);
    out.offsets.assign(made.row_offsets, made.row_offsets + made.rows + 1);
    out.columns.assign(made.column_indices, made.column_indices + made.entries);
    out.values.assign(made.values, made.values + made.entries);
    wfi_csr_free(&made);
    return true;
}
