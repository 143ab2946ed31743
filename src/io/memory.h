/* How much the process can hold. */
#ifndef WFI_IO_MEMORY_H
#define WFI_IO_MEMORY_H

/* Bytes of the machine's memory, or of the limit of its container or process; infinite where the
 * system does not tell. Refuse what is larger: where memory is overcommitted, asking for it
 * succeeds and using it ends the process. */
double wfi_physical_memory(void);

#endif
