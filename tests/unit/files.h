/* Scratch files for tests of readers and writers. */
#ifndef WFI_TESTS_FILES_H
#define WFI_TESTS_FILES_H

#include <stddef.h>

/* Writes `bytes` bytes to a new file in a folder of this process, and returns its path (valid until
 * the next call). */
const char *test_file(const char *name, const void *data, size_t bytes);
/* A path in that folder, nothing there yet. */
const char *test_path(const char *name);
/* The content of a file, malloc'ed and NUL-terminated; *bytes may be NULL. */
char *test_read(const char *path, size_t *bytes);
/* How many files the folder has. */
int test_file_count(void);
/* Removes the folder; a teardown of cmocka's. */
int test_files_remove(void **state);

#endif
