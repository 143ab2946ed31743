/* What the fuzz targets share. A target is one file fuzz_NAME.c with LLVMFuzzerTestOneInput, which
 * libFuzzer calls with inputs that it makes from tests/fuzz/seeds/NAME (docs/fuzzing.md). A target
 * ends the process where a reader breaks its word; the sanitizers do where it misuses memory. */
#ifndef WFI_TESTS_FUZZ_TARGET_H
#define WFI_TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "io/csr.h"
#include "io/io_error.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the readers take for the machine's memory, in bytes, in place of io/memory.c: a small
 * machine, so that a header which claims more shows. 64 MB unless a target says otherwise. */
extern double fuzz_memory;

/* Says what is wrong and ends the process. */
_Noreturn void fuzz_wrong(const char *what);
/* Ends the process unless the refusal is one line that begins with the file's name. */
void fuzz_check_error(const wfi_io_error *error, const char *path);
/* Ends the process unless the matrix holds together: offsets span the entries, and columns are in
 * range and ascend in each row. */
void fuzz_check_matrix(const wfi_csr *matrix);

/* Writes a file of the present folder, which is removed at the end, and gives its name. `name` is
 * the same in every call of a target, and has no other purpose than to tell files apart. */
const char *fuzz_file(const char *name, const void *data, size_t size);
/* A file of the folder tests, malloc'ed. */
char *fuzz_test_file(const char *name, size_t *size);

#endif
