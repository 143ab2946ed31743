/* Folders that tests make for files of the library's. */
#ifndef TEST_FOLDER_H
#define TEST_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* The path of a file in the folder whose name begins with `prefix`; false: there is none. */
bool test_folder_find(const char *folder, const char *prefix, char *path, size_t bytes);
/* Removes it and all that is in it; true: it is gone. Links in it are not followed. */
bool test_folder_remove(const char *folder);

#endif
