/* The subcommands; each gets the whole argv and returns the tool's exit code. */
#ifndef WFI_TOOL_COMMANDS_COMMANDS_H
#define WFI_TOOL_COMMANDS_COMMANDS_H

int wfi_tool_bench(int argc, char **argv);
int wfi_tool_cg(int argc, char **argv);
int wfi_tool_devices(int argc, char **argv);
int wfi_tool_explain(int argc, char **argv);
int wfi_tool_himeno(int argc, char **argv);
int wfi_tool_ladder(int argc, char **argv);
int wfi_tool_laplace(int argc, char **argv);
int wfi_tool_stencil(int argc, char **argv);
int wfi_tool_matmul(int argc, char **argv);
int wfi_tool_occupancy(int argc, char **argv);
int wfi_tool_peaks(int argc, char **argv);
int wfi_tool_report(int argc, char **argv);
int wfi_tool_spmv(int argc, char **argv);
int wfi_tool_sweep(int argc, char **argv);
int wfi_tool_tune(int argc, char **argv);

#endif
