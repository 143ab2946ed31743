/* The host's clock. */
#ifndef WFI_TOOL_CLI_CLOCK_H
#define WFI_TOOL_CLI_CLOCK_H

/* Seconds since some time in the past; never goes back. */
double wfi_clock_seconds(void);

#endif
