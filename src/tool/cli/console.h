/* The terminal that the program runs on, and what it is told from there: Ctrl-C, SIGTERM, SIGHUP;
 * on Windows Ctrl-C, Ctrl-Break and the end of the console or the session. */
#ifndef WFI_TOOL_CLI_CONSOLE_H
#define WFI_TOOL_CLI_CONSOLE_H

#include <stdbool.h>

/* Before all else: sees to the standard streams, and has a write that nobody reads or that finds no
 * room fail instead of ending the program. Arguments are in UTF-8 from here on. */
void wfi_console_start(int *argc, char ***argv);
/* Whether the reader of standard output has gone, when something could not be written there. */
bool wfi_console_reader_is_gone(void);
/* Whether standard error is a terminal that a line can be drawn anew on. */
bool wfi_console_draws(void);
/* 0: it does not tell. */
int wfi_console_columns(void);

/* From the first call on Ctrl-C and what is like it no longer ends the program; it is reported
 * here. The second one does, unless it comes with the first: timeout(1) signals its child and then
 * the child's group. */
bool wfi_interrupted(void);

/* As if one had come; for any thread. */
void wfi_interrupt(void);

/* The same, but leaves what they do as it is: before anything is measured they end the program. */
bool wfi_interrupt_noted(void);

/* From now on Ctrl-C does nothing, and SIGTERM is reported however often it comes: for a process
 * whose starter decides what they mean. */
void wfi_interrupts_are_the_starters(void);

#endif
