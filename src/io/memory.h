/* How much the process can hold. */
#ifndef WFI_IO_MEMORY_H
#define WFI_IO_MEMORY_H

/* Bytes of the machine's memory, or of its container's or the process's where a limit is set;
 * infinite where the system does not tell. What is over it is better refused: where memory is overcommitted, asking for it succeeds and using it ends the process. */
double wfi_physical_memory(void);

#endif
