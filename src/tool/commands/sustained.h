/* wavefit bench --sustained: one load without end, to see what heat does to its rate. */
#ifndef WFI_TOOL_COMMANDS_SUSTAINED_H
#define WFI_TOOL_COMMANDS_SUSTAINED_H

#include "tool/cli/session.h"

/* As the options give them. */
typedef struct wfi_sustained_request {
    const char *family, *work, *pause; /* NULL: matmul, 60 s, none */
} wfi_sustained_request;

/* Parses, runs, prints, writes --json; returns the exit code. */
int wfi_tool_sustained(const wfi_common *common, const char *minutes,
                       const wfi_sustained_request *request, int argc, char **argv);

#endif
