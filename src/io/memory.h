/* How much the machine can hold. */
#ifndef WFI_IO_MEMORY_H
#define WFI_IO_MEMORY_H

/* Bytes of the machine's memory; infinite where the system does not tell. What is over it is better
 * refused: where memory is overcommitted, asking for it succeeds and using it ends the process. */
double wfi_physical_memory(void);

#endif
