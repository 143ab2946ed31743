/* Temporaries that are not to outlive this program. On POSIX systems SIGINT, SIGTERM and SIGHUP
 * remove them before they end it; on Windows its handler of console events has to. */
#ifndef WFI_IO_UNFINISHED_H
#define WFI_IO_UNFINISHED_H

/* wfi_file_make_temporary, without a moment in which the program's end would leave the file. */
int wfi_unfinished_make(char *path);
/* It is one no more: renamed, */
void wfi_unfinished_forget(const char *path);
/* or removed, now. */
void wfi_unfinished_remove(const char *path);
/* All of them: for a handler that is about to end the program. */
void wfi_unfinished_remove_all(void);

#endif
