/* Arrays in .npy files of other kinds than the library's types, and in .npz archives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "files.h"
#include "io/npy.h"

static wfi_io_error error;

/* The bytes of a .npy file, and how many they are. */
static size_t make_npy(unsigned char *file, const char *descr, const char *order, const char *shape,
                       const void *data, size_t bytes)
{
    char header[192];
    const int length =
        snprintf(header, sizeof header, "{'descr': %s, 'fortran_order': %s, 'shape': %s}", descr,
                 order, shape);
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (unsigned char)length;
    file[9] = 0;
    memcpy(file + 10, header, (size_t)length);
    memcpy(file + 10 + length, data, bytes);
    return 10 + (size_t)length + bytes;
}

/* ------------------------------------------------------------------------------------ elements */

static void expect_elements(const char *descr, const void *data, size_t bytes, int count,
                            const double *wanted)
{
    unsigned char file[512];
    char shape[16], name[24];
    wfi_npy npy;
    snprintf(shape, sizeof shape, "(%d,)", count);
    snprintf(name, sizeof name, "'%s'", descr);
    const size_t size = make_npy(file, name, "False", shape, data, bytes);
    if (!wfi_npy_read(test_file("kind.npy", file, size), &npy, &error))
        fail_msg("%s: %s", descr, error.text);
    assert_int_equal(npy.dimensions, 1);
    assert_int_equal(wfi_npy_count(&npy), count);
    for (int i = 0; i < count; i++)
        if (wf_element_get(npy.type, npy.data, (uint64_t)i) < wanted[i] ||
            wf_element_get(npy.type, npy.data, (uint64_t)i) > wanted[i])
            fail_msg("%s: element %d is %g, not %g", descr, i,
                     wf_element_get(npy.type, npy.data, (uint64_t)i), wanted[i]);
    wfi_npy_free(&npy);
}

/* The bytes are written out, most significant ones first or last, as NumPy's documentation has
 * them. */
static void reads_every_kind_of_number(void **state)
{
    (void)state;
    expect_elements("|i1", "\x80\xff\x7f", 3, 3, (const double[]){-128, -1, 127});
    expect_elements("|u1", "\x80\xff\x00", 3, 3, (const double[]){128, 255, 0});
    expect_elements("|b1", "\x01\x00", 2, 2, (const double[]){1, 0});
    expect_elements("<i2", "\xfe\xff\x02\x01", 4, 2, (const double[]){-2, 258});
    expect_elements(">i2", "\xff\xfe\x01\x02", 4, 2, (const double[]){-2, 258});
    expect_elements("<u2", "\xff\xff", 2, 1, (const double[]){65535});
    expect_elements(">u2", "\x01\x00", 2, 1, (const double[]){256});
    expect_elements("<i4", "\x01\x00\x00\x80", 4, 1, (const double[]){-2147483647});
    expect_elements(">i4", "\x80\x00\x00\x01", 4, 1, (const double[]){-2147483647});
    expect_elements("<u4", "\xff\xff\xff\xff", 4, 1, (const double[]){4294967295});
    expect_elements(">u4", "\x00\x00\x01\x00", 4, 1, (const double[]){256});
    expect_elements("<i8", "\xff\xff\xff\xff\xff\xff\xff\xff", 8, 1, (const double[]){-1});
    expect_elements(">i8", "\x00\x10\x00\x00\x00\x00\x00\x01", 8, 1,
                    (const double[]){4503599627370497});
    expect_elements("<u8", "\x00\x00\x00\x00\x00\x00\x00\x80", 8, 1,
                    (const double[]){9223372036854775808.0});
    expect_elements(">f2", "\x3c\x00\xc0\x00", 4, 2, (const double[]){1, -2});
    expect_elements(">f4", "\x3f\xc0\x00\x00\xbf\x80\x00\x00", 8, 2, (const double[]){1.5, -1});
    expect_elements(">f8", "\xc0\x08\x00\x00\x00\x00\x00\x00", 8, 1, (const double[]){-3});
    expect_elements("=f4", "\x00\x00\xc0\x3f", 4, 1, (const double[]){1.5});
}

/* Every element is its own index in C's order, so that one in a wrong place shows. */
static void turns_fortran_order_around(void **state)
{
    static const uint64_t n[4] = {2, 3, 4, 5};
    unsigned char file[1024];
    int16_t columns[120];
    wfi_npy npy;
    uint64_t lost = 1;
    (void)state;
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 3; b++)
            for (int c = 0; c < 4; c++)
                for (int d = 0; d < 5; d++)
                    columns[a + 2 * (b + 3 * (c + 4 * d))] =
                        (int16_t)(d + 5 * (c + 4 * (b + 3 * a)));
    const size_t size = make_npy(file, "'<i2'", "True", "(2, 3, 4, 5)", columns, sizeof columns);
    assert_true(wfi_npy_read(test_file("f.npy", file, size), &npy, &error));
    assert_true(npy.fortran_order && npy.dimensions == 4);
    assert_memory_equal(npy.shape, n, sizeof n);
    assert_true(wfi_npy_become(&npy, WF_TYPE_F64, &lost));
    assert_true(lost == 0 && !npy.fortran_order);
    for (int i = 0; i < 120; i++)
        assert_float_equal(((double *)npy.data)[i], i, 0);
    wfi_npy_free(&npy);
}

static void whole_numbers_stay_what_they_are(void **state)
{
    static const double data[6] = {127, -128, 128, 0.5, -129, 3};
    unsigned char file[256];
    wfi_npy npy;
    uint64_t lost = 0;
    (void)state;
    const size_t size = make_npy(file, "'<f8'", "False", "(6,)", data, sizeof data);
    assert_true(wfi_npy_read(test_file("w.npy", file, size), &npy, &error));
    free(wfi_npy_convert(&npy, WF_TYPE_I8, &lost));
    assert_int_equal(lost, 3);
    free(wfi_npy_convert(&npy, WF_TYPE_F32, &lost));
    assert_int_equal(lost, 0);
    wfi_npy_free(&npy);
}

static void names_what_it_refuses(void **state)
{
    static const struct {
        const char *descr, *message;
    } kinds[] = {{"'<c8'", "'<c8' (complex numbers)"},
                 {"'<f16'", "'<f16' (floats of that size)"},
                 {"'<U4'", "'<U4' (text)"},
                 {"'|O'", "'|O' (Python objects)"},
                 {"'<V2'", "'<V2' (raw bytes"},
                 {"'<q'", "'<q' (of a kind"},
                 {"[('x', '<f4'), ('y', '<i2')]", "fields [('x', '<f4'), ('y', '<i2')]; save"}};
    unsigned char file[512];
    wfi_npy npy;
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t size = make_npy(file, kinds[i].descr, "False", "(1,)", "12345678", 8);
        assert_false(wfi_npy_read(test_file("odd.npy", file, size), &npy, &error));
        assert_int_equal(error.kind, WFI_IO_UNSUPPORTED);
        if (!strstr(error.text, kinds[i].message) || strstr(error.text, "malformed"))
            fail_msg("%s: said '%s'", kinds[i].descr, error.text);
    }
}

static void writes_every_number_of_dimensions(void **state)
{
    static const uint64_t shape[4] = {2, 1, 3, 0};
    static const float data[6] = {1, 2, 3, 4, 5, 6};
    static const char *const texts[5] = {"()", "(2,)", "(2, 1)", "(2, 1, 3)", "(2, 1, 3, 0)"};
    (void)state;
    for (uint32_t dimensions = 0; dimensions <= 4; dimensions++) {
        char *path = strdup(test_path("d.npy"));
        wfi_npy npy;
        size_t bytes;
        assert_true(wfi_npy_write(path, WF_TYPE_F32, dimensions, shape, data, &error));
        char *raw = test_read(path, &bytes);
        assert_non_null(strstr(raw + 10, texts[dimensions]));
        assert_true(wfi_npy_read(path, &npy, &error));
        assert_int_equal(npy.dimensions, dimensions);
        assert_memory_equal(npy.data, data, wfi_npy_count(&npy) * sizeof *data);
        wfi_npy_free(&npy);
        free(raw);
        free(path);
    }
}

/* ------------------------------------------------------------------------------------ archives */

typedef struct archive {
    unsigned char bytes[2048], directory[512];
    size_t size, directory_size;
    unsigned count;
} archive;

static void put(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

/* An entry as Python's zipfile writes it: a local header with zip64's field, and one in the
 * directory, which has that field where `far` says so. */
static void add(archive *a, const char *name, const unsigned char *data, size_t bytes,
                bool deflated, bool far)
{
    unsigned char packed[512], *local = a->bytes + a->size,
                               *entry = a->directory + a->directory_size;
    z_stream z = {0};
    size_t stored = bytes;
    const size_t length = strlen(name), at = a->size;
    memcpy(packed, data, bytes);
    if (deflated) {
        assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
        z.next_in = (unsigned char *)(uintptr_t)data;
        z.avail_in = (uInt)bytes;
        z.next_out = packed;
        z.avail_out = sizeof packed;
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        stored = z.total_out;
        deflateEnd(&z);
    }
    memset(local, 0, 30);
    memcpy(local, "PK\3\4", 4);
    put(local + 8, deflated ? 8 : 0, 2);
    put(local + 26, length, 2);
    put(local + 28, 20, 2);
    memcpy(local + 30, name, length);
    memset(local + 30 + length, 0, 20);
    memcpy(local + 50 + length, packed, stored);
    a->size += 50 + length + stored;
    memset(entry, 0, 46);
    memcpy(entry, "PK\1\2", 4);
    put(entry + 10, deflated ? 8 : 0, 2);
    put(entry + 16, crc32(0, data, (uInt)bytes), 4);
    put(entry + 20, far ? UINT32_MAX : stored, 4);
    put(entry + 24, far ? UINT32_MAX : bytes, 4);
    put(entry + 28, length, 2);
    put(entry + 30, far ? 28 : 0, 2);
    put(entry + 42, far ? UINT32_MAX : at, 4);
    memcpy(entry + 46, name, length);
    a->directory_size += 46 + length;
    if (far) {
        unsigned char *field = entry + 46 + length;
        put(field, 1, 2);
        put(field + 2, 24, 2);
        put(field + 4, bytes, 8);
        put(field + 12, stored, 8);
        put(field + 20, at, 8);
        a->directory_size += 28;
    }
    a->count++;
}

/* Puts the directory and the records of its place at the end. */
static void finish(archive *a, bool far)
{
    const size_t at = a->size;
    memcpy(a->bytes + at, a->directory, a->directory_size);
    unsigned char *end = a->bytes + at + a->directory_size;
    if (far) {
        memset(end, 0, 76);
        memcpy(end, "PK\6\6", 4);
        put(end + 32, a->count, 8);
        put(end + 40, a->directory_size, 8);
        put(end + 48, at, 8);
        memcpy(end + 56, "PK\6\7", 4);
        put(end + 64, at + a->directory_size, 8);
        end += 76;
    }
    memset(end, 0, 22);
    memcpy(end, "PK\5\6", 4);
    put(end + 10, far ? 0xffff : a->count, 2);
    put(end + 12, far ? UINT32_MAX : a->directory_size, 4);
    put(end + 16, far ? UINT32_MAX : at, 4);
    put(end + 20, 7, 2);
    memcpy(end + 22, "comment", 7);
    a->size = (size_t)(end + 29 - a->bytes);
}

/* "one" of 1, 2 and "two" of 3 to 6, f32. */
static const float values[6] = {1, 2, 3, 4, 5, 6};

static void make_archive(archive *a, bool deflated, bool far)
{
    unsigned char one[256], two[256];
    *a = (archive){.size = 0};
    const size_t one_size = make_npy(one, "'<f4'", "False", "(2,)", values, 8),
                 two_size = make_npy(two, "'<f4'", "False", "(4,)", values + 2, 16);
    add(a, "one.npy", one, one_size, deflated, far);
    add(a, "readme.txt", one, one_size, deflated, far);
    add(a, "two.npy", two, two_size, !deflated, far);
    finish(a, far);
}

/* The path of the array `name` of the archive, which is written. */
static const char *path_of(const archive *a, size_t size, const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s%s%s", test_file("a.npz", a->bytes, size), *name ? ":" : "",
             name);
    return path;
}

static void expect_array(const archive *a, const char *name, int first, int count)
{
    wfi_npy npy;
    if (!wfi_npy_read(path_of(a, a->size, name), &npy, &error))
        fail_msg("%s: %s", name, error.text);
    assert_int_equal(wfi_npy_count(&npy), count);
    assert_memory_equal(npy.data, values + first, (size_t)count * sizeof *values);
    wfi_npy_free(&npy);
}

static void expect_refusal(const archive *a, size_t size, const char *name, const char *message)
{
    wfi_npy npy;
    const char *path = path_of(a, size, name);
    assert_false(wfi_npy_read(path, &npy, &error));
    if (!strstr(error.text, message) || strncmp(error.text, path, strlen(path)) != 0)
        fail_msg("said '%s', not '%s: … %s'", error.text, path, message);
}

static void reads_members_of_archives(void **state)
{
    archive a;
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        make_archive(&a, kind & 1, kind & 2);
        expect_array(&a, "one", 0, 2);
        expect_array(&a, "two.npy", 2, 4);
        expect_refusal(&a, a.size, "", "a.npz:NAME; there are: one, two");
        expect_refusal(&a, a.size, "on", "there is no array 'on'; there are: one, two");
        expect_array(&a, "readme.txt", 0, 2); /* by its whole name */
        expect_refusal(&a, a.size - 30, "one", "no directory at its end");
    }
    unsigned char only[256];
    a = (archive){.size = 0};
    add(&a, "arr_0.npy", only, make_npy(only, "'<f4'", "False", "(6,)", values, 24), true, false);
    finish(&a, false);
    expect_array(&a, "", 0, 6);
    a = (archive){.size = 0};
    finish(&a, false);
    expect_refusal(&a, a.size, "", "without .npy arrays");
}

static unsigned char *find(archive *a, const char *signature)
{
    for (size_t at = 0; at + 4 <= a->size; at++)
        if (memcmp(a->bytes + at, signature, 4) == 0)
            return a->bytes + at;
    fail_msg("nothing there");
    return NULL;
}

static void refuses_archives_that_lie(void **state)
{
    archive a;
    (void)state;
    make_archive(&a, false, false);
    a.bytes[200] ^= 1; /* in the text file, which nobody reads */
    expect_array(&a, "one", 0, 2);
    a.bytes[50 + 7 + 20] ^= 1;
    expect_refusal(&a, a.size, "one", "checksum is wrong");
    make_archive(&a, false, false);
    find(&a, "PK\1\2")[8] = 1;
    expect_refusal(&a, a.size, "one", "encrypted");
    make_archive(&a, false, false);
    find(&a, "PK\1\2")[10] = 12;
    expect_refusal(&a, a.size, "one", "packed in another way");
    make_archive(&a, false, false);
    put(find(&a, "PK\1\2") + 24, 1000, 4);
    expect_refusal(&a, a.size, "one", "sizes do not go together");
    make_archive(&a, true, false);
    put(find(&a, "PK\1\2") + 24, 60, 4);
    expect_refusal(&a, a.size, "one", "cannot be inflated");
    make_archive(&a, true, false);
    put(find(&a, "PK\1\2") + 24, UINT32_MAX - 1, 4);
    expect_refusal(&a, a.size, "one", "sizes do not go together");
    make_archive(&a, true, false);
    put(find(&a, "PK\1\2") + 20, 100000, 4);
    expect_refusal(&a, a.size, "one", "goes beyond its end");
    make_archive(&a, true, false);
    put(find(&a, "PK\1\2") + 42, 3, 4);
    expect_refusal(&a, a.size, "one", "not where its directory says");
    make_archive(&a, true, false);
    put(find(&a, "PK\5\6") + 16, 100000, 4);
    expect_refusal(&a, a.size, "one", "not inside it");
    make_archive(&a, true, true);
    put(find(&a, "PK\6\7") + 8, 5, 8);
    expect_refusal(&a, a.size, "one", "zip64 record");
    make_archive(&a, true, true);
    put(find(&a, "PK\1\2") + 46 + 7 + 2, 8, 2);
    expect_refusal(&a, a.size, "one", "too short");
}

/* Whichever single byte is another, what is read is the array, or a refusal. */
static void survives_damage(void **state)
{
    archive a, whole;
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        make_archive(&whole, kind & 1, kind & 2);
        for (size_t at = 0; at < whole.size; at += 2 + at % 3) {
            wfi_npy npy;
            a = whole;
            a.bytes[at] ^= (unsigned char)(1u << (at * 7 % 8));
            if (!wfi_npy_read(path_of(&a, a.size, "one"), &npy, &error))
                continue;
            assert_int_equal(wfi_npy_count(&npy), 2);
            assert_memory_equal(npy.data, values, 8);
            wfi_npy_free(&npy);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_kind_of_number),
        cmocka_unit_test(turns_fortran_order_around),
        cmocka_unit_test(whole_numbers_stay_what_they_are),
        cmocka_unit_test(names_what_it_refuses),
        cmocka_unit_test(writes_every_number_of_dimensions),
        cmocka_unit_test(reads_members_of_archives),
        cmocka_unit_test(refuses_archives_that_lie),
        cmocka_unit_test(survives_damage),
    };
    return cmocka_run_group_tests(tests, NULL, test_files_remove);
}
