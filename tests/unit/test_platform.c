/* What each system does in its own way: files that are replaced, locked, cut and large, threads and
 * locks, and texts that grow. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/file.h"
#include "core/heap.h"
#include "core/platform.h"
#include "core/platform_file.h"
#include "core/text.h"
#include "files.h"

#define THREADS 8
#define ROUNDS 20000

/* ---------------------------------------------------------------------------------------- files */

/* Paths with letters beyond ASCII, whatever the system's code page. */
static void files_are_replaced(void **state)
{
    char from[600], to[600];
    size_t bytes = 0;
    (void)state;
    snprintf(from, sizeof from, "%s", test_path("new Žluťoučký.XXXXXX"));
    snprintf(to, sizeof to, "%s", test_path("старый файл"));
    for (int i = 0; i < 2; i++) { /* the second time over what stands there */
        const int fd = wfi_file_make_temporary(from);
        assert_true(fd >= 0);
        assert_int_equal(wfi_file_kind_of(from), WFI_FILE_REGULAR);
        FILE *file = wfi_file_stream(fd, "wb");
        assert_non_null(file);
        assert_true(fprintf(file, "content %d\r\n", i) > 0);
        assert_true(wfi_file_flush(file));
        assert_int_equal(fclose(file), 0);
        assert_true(wfi_file_replace(from, to));
        assert_int_equal(wfi_file_kind_of(from), WFI_FILE_NONE);
        assert_int_equal(errno, ENOENT);
        memcpy(strrchr(from, '.'), ".XXXXXX", 7);
    }
    char *text = wfi_file_read(to, 100, &bytes);
    assert_non_null(text);
    assert_string_equal(text, "content 1\r\n");
    assert_int_equal(bytes, 11);
    wfi_free(text);
    assert_null(wfi_file_read(to, 5, &bytes));
    assert_int_equal(errno, EFBIG);
    assert_true(wfi_file_remove(to));
    assert_false(wfi_file_remove(to));
    assert_int_equal(errno, ENOENT);
}

static void folders_are_made(void **state)
{
    char path[600];
    size_t bytes;
    (void)state;
    snprintf(path, sizeof path, "%s", test_path("one/two/file"));
    assert_true(wfi_make_directories(path));
    assert_true(wfi_make_directories(path)); /* they are there */
    assert_string_equal(wfi_path_separator(path) + 1, "file");
    *wfi_path_separator(path) = '\0';
    assert_int_equal(wfi_file_kind_of(path), WFI_FILE_FOLDER);
    assert_null(wfi_file_read(path, 100, &bytes));
    assert_false(wfi_file_replace(test_file("plain", "x", 1), path));
    assert_int_equal(wfi_file_kind_of(path), WFI_FILE_FOLDER);
    snprintf(path, sizeof path, "%s/below/file", test_path("plain"));
    assert_false(wfi_make_directories(path));
    assert_int_equal(rmdir(test_path("one/two")), 0);
    assert_int_equal(rmdir(test_path("one")), 0);
}

static void files_have_an_identity(void **state)
{
    char a[600], b[600];
    (void)state;
    snprintf(a, sizeof a, "%s", test_file("a", "x", 1));
    snprintf(b, sizeof b, "%s", test_file("b", "x", 1));
    assert_false(wfi_file_same(a, b));
    char *name = wfi_path_separator(b) + 1;
    memmove(name + 2, name, strlen(name) + 1);
    memcpy(name, "./", 2);
    name[2] = 'a';
    assert_true(wfi_file_same(a, b));
    assert_false(wfi_file_same(a, "nothing is there"));
}

/* Each opens the file anew, as other processes do. */
static void locks_exclude(void **state)
{
    char path[600];
    const char *why = NULL;
    char byte = 0;
    (void)state;
    snprintf(path, sizeof path, "%s", test_path("lock"));
    const int first = wfi_file_lock(path, false, &why);
    assert_true(first >= 0);
    assert_int_equal(wfi_file_write_at(first, "abc", 3, 0), 3);
    const int reader = wfi_file_open_read(path, false);
    assert_true(reader >= 0);
    assert_int_equal(wfi_file_read_at(reader, &byte, 1, 2), 1); /* what is locked can be read */
    assert_int_equal(byte, 'c');
    assert_int_equal(wfi_file_read_at(reader, &byte, 1, 3), 0);
#if !defined(__APPLE__) /* whose locks are of the process */
    assert_int_equal(wfi_file_lock(path, false, &why), -1);
    assert_true(errno == EAGAIN || errno == EACCES);
#endif
    assert_true(wfi_file_cut(first));
    assert_int_equal(wfi_file_read_at(reader, &byte, 1, 0), 0);
    assert_int_equal(wfi_file_write_at(first, "abc", 3, 0), 3);
    assert_true(wfi_file_empty(path));
    assert_int_equal(wfi_file_read_at(reader, &byte, 1, 0), 0);
    wfi_file_close(reader);
    wfi_file_unlock(first);
    const int second = wfi_file_lock(path, false, &why);
    assert_true(second >= 0);
    wfi_file_unlock(second);
    assert_true(wfi_file_empty(test_path("no such file")));
}

/* Beyond what a long holds on Windows; the file has a hole. */
static void offsets_have_64_bits(void **state)
{
    const int64_t far = INT64_C(5) << 30;
    char byte = 0;
    uint64_t bytes = 0;
    (void)state;
    FILE *file = wfi_file_open(test_path("large"), "wb");
    assert_non_null(file);
    assert_true(wfi_file_seek(file, far, SEEK_SET));
    assert_int_equal(fputc('x', file), 'x');
    assert_true(wfi_file_tell(file) == far + 1);
    assert_int_equal(fclose(file), 0);
    const int fd = wfi_file_open_read(test_path("large"), false);
    assert_int_equal(wfi_file_kind_of_open(fd, &bytes), WFI_FILE_REGULAR);
    assert_true(bytes == (uint64_t)far + 1);
    assert_int_equal(wfi_file_read_at(fd, &byte, 1, (uint64_t)far), 1);
    assert_int_equal(byte, 'x');
    wfi_file_close(fd);
    assert_true(wfi_file_remove(test_path("large")));
}

/* -------------------------------------------------------------------------------------- threads */

typedef struct shared {
    wfi_mutex lock;
    wfi_condition changed;
    uint64_t count;
    unsigned turns;
} shared;

static void *count_up(void *user)
{
    shared *s = user;
    for (int i = 0; i < ROUNDS; i++) {
        wfi_mutex_lock(&s->lock);
        s->count++;
        wfi_mutex_unlock(&s->lock);
    }
    wfi_mutex_lock(&s->lock);
    s->turns++;
    wfi_condition_broadcast(&s->changed);
    while (s->turns < THREADS)
        wfi_condition_wait(&s->changed, &s->lock);
    wfi_mutex_unlock(&s->lock);
    return NULL;
}

static void threads_take_turns(void **state)
{
    shared s = {.count = 0};
    wfi_thread threads[THREADS];
    (void)state;
    assert_true(wfi_mutex_init(&s.lock));
    assert_true(wfi_condition_init(&s.changed));
    for (int i = 0; i < THREADS; i++)
        assert_true(wfi_thread_start(&threads[i], count_up, &s));
    for (int i = 0; i < THREADS; i++)
        wfi_thread_join(threads[i]);
    assert_true(s.count == (uint64_t)THREADS * ROUNDS);
    wfi_condition_destroy(&s.changed);
    wfi_mutex_destroy(&s.lock);
}

static void time_passes(void **state)
{
    (void)state;
    static const double pauses[] = {200e-6, 0.03};
    for (int i = 0; i < 2; i++) {
        const double begun = wfi_host_seconds();
        wfi_sleep(pauses[i]);
        assert_true(wfi_host_seconds() - begun >= pauses[i] * 0.9);
    }
    assert_true(wfi_processors() >= 1);
    assert_true(wfi_memory_total() > 1 << 26);
}

/* ---------------------------------------------------------------------------------------- texts */

static void texts_grow(void **state)
{
    wfi_text text = {0};
    size_t bytes = 0;
    (void)state;
    for (int i = 0; i < 3000; i++) {
        wfi_text_print(&text, "%d %s", i, "and more, ");
        wfi_text_add(&text, "then");
        wfi_text_add_char(&text, '\n');
        bytes += (size_t)snprintf(NULL, 0, "%d and more, then\n", i);
    }
    assert_false(text.failed);
    assert_int_equal(text.used, bytes);
    assert_int_equal(strlen(text.data), bytes);
    assert_string_equal(text.data + bytes - strlen("2999 and more, then\n"),
                        "2999 and more, then\n");
    wfi_free(text.data);
    assert_true(wfi_same_word("Scratch SIZE", "scratch size"));
    assert_false(wfi_same_word("scratch", "scratch size"));
    assert_true(wfi_begins_with("LLVMpipe", "llvm"));
    assert_false(wfi_begins_with("LL", "llvm"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_replaced),
        cmocka_unit_test(folders_are_made),
        cmocka_unit_test(files_have_an_identity),
        cmocka_unit_test(locks_exclude),
        cmocka_unit_test(offsets_have_64_bits),
        cmocka_unit_test(threads_take_turns),
        cmocka_unit_test(time_passes),
        cmocka_unit_test(texts_grow),
    };
    return cmocka_run_group_tests(tests, NULL, test_files_remove);
}
