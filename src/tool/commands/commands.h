/* The subcommands; each gets the whole argv and returns the tool's exit code. */
#ifndef WFI_TOOL_COMMANDS_COMMANDS_H
#define WFI_TOOL_COMMANDS_COMMANDS_H

/* A line each: the name and what --help says, in the order in which they are listed. */
#define WFI_COMMANDS(X)                                                                            \
    X(devices, "list the Vulkan devices and what they can do")                                     \
    X(bench, "measure all families, verified, on one device")                                      \
    X(peaks, "measure the device's ceilings: memory, caches, arithmetic, latencies")               \
    X(ladder, "every algorithm of a family, from the first to the best")                           \
    X(sweep, "time against one parameter, with occupancy")                                         \
    X(verify, "search for wrong results on this device, with random problems and kernels")         \
    X(tune, "find the best variants and constants on this device")                                 \
    X(explain, "where the time goes, what limits it, and what to try")                             \
    X(occupancy, "work-groups that a compute unit of any chip holds, and what limits them")        \
    X(compare, "a kernel on several GPUs that are not here, side by side")                         \
    X(report, "one page of results files, to look at; or a comparison")                            \
    X(himeno, "the Himeno benchmark")                                                              \
    X(stencil, "star and box stencils, timed")                                                     \
    X(laplace, "solve Laplace's equation on a grid, with a picture")                               \
    X(spmv, "sparse matrix times vector")                                                          \
    X(cg, "solve a sparse system by conjugate gradients")                                          \
    X(matmul, "dense matrix product")

#define WFI_DECLARE_COMMAND(name, summary) int wfi_tool_##name(int argc, char **argv);
WFI_COMMANDS(WFI_DECLARE_COMMAND)
#undef WFI_DECLARE_COMMAND

#endif
