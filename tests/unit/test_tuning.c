/* Tuning data: what is written is read again; hostile files are refused without harm; keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/families.h"
#include "plan/hooks.h"
#include "core/heap.h"
#include "core/pipeline_cache.h"
#include "choose/json.h"
#include "choose/store.h"

static wfi_problem product(uint64_t m, uint64_t n, uint64_t k)
{
    wfi_problem problem = {.family = WF_FAMILY_MATMUL, .type = WF_TYPE_F32};
    problem.matmul = wfi_matmul_plain(m, n, k);
    return problem;
}

static wfi_named_point named(const char *variant, uint32_t value)
{
    wfi_named_point point = {.count = 2, .time_ns = 1234567, .spread_permille = 21};
    snprintf(point.variant, sizeof point.variant, "%s", variant);
    snprintf(point.values[0].name, sizeof point.values[0].name, "local_x");
    snprintf(point.values[1].name, sizeof point.values[1].name, "local_y");
    point.values[0].value = value;
    point.values[1].value = UINT32_MAX;
    return point;
}

static void make_data(wfi_tuning_data *data)
{
    const wfi_problem problems[] = {product(1000, 2000, 3000), product(64, 64, 64)};
    *data = (wfi_tuning_data){.device = {.name = "a \"device\" \\ with\n quotes",
                                         .vendor_id = 0x10de,
                                         .device_id = 7,
                                         .max_shared_bytes = 49152,
                                         .cooperative_matrix = true}};
    for (size_t i = 0; i < 2; i++) {
        const wfi_key key = wfi_key_of(&problems[i]);
        wfi_tuning_entry *entry = wfi_tuning_add(data, &key);
        assert_non_null(entry);
        wfi_problem_text(&problems[i], entry->problem, sizeof entry->problem);
        entry->shaders = UINT64_C(0xfedcba9876543210);
        entry->driver_version = UINT32_MAX;
        entry->best[0] = named("naive", 32);
        entry->best[1] = named("register", 64);
        entry->best_count = 2;
        wfi_named_point bad = named("vector", 1);
        snprintf(bad.reason, sizeof bad.reason, "wrong result");
        assert_true(wfi_entry_add_bad(entry, &bad));
        assert_true(wfi_entry_add_bad(entry, &bad));
        assert_int_equal(entry->bad_count, 1);
        for (uint64_t n = 0; n < 20; n++)
            assert_true(wfi_entry_add_tried(entry, n * UINT64_C(0x9e3779b97f4a7c15)));
    }
}

static char *print(const wfi_tuning_data *data, bool rows_alone, size_t *bytes)
{
    wfi_text text = {0};
    wfi_tuning_print(data, rows_alone, &text);
    assert_false(text.failed);
    *bytes = text.used;
    return text.data;
}

/* A lost device says nothing of the point until another point runs. Then a point that was lost
 * alone is to blame; several are not, and neither is one that was good before. */
static void losses_are_judged(void **state)
{
    (void)state;
    wfi_tuning_data data;
    bool acquitted = true;
    make_data(&data);
    wfi_tuning_entry *entry = &data.entries[0];
    wfi_named_point lost[] = {named("vector", 2), named("vector", 3), entry->best[1]};
    for (int i = 0; i < 3; i++)
        lost[i].suspected = true;
    assert_false(wfi_entry_judge(entry, &acquitted));
    assert_false(acquitted);
    assert_true(wfi_entry_is_blamed(entry, &entry->bad[0]));

    assert_true(wfi_entry_add_bad(entry, &lost[0]));
    assert_true(wfi_entry_is_blamed(entry, &lost[0]));
    assert_true(wfi_entry_add_bad(entry, &lost[1]));
    assert_false(wfi_entry_is_blamed(entry, &lost[0]));
    assert_true(wfi_entry_is_bad(entry, &lost[0]));
    assert_true(wfi_entry_add_tried(entry, wfi_named_point_hash(&lost[0])));
    assert_true(wfi_entry_judge(entry, &acquitted));
    assert_true(acquitted);
    assert_int_equal(entry->bad_count, 1);
    assert_false(wfi_entry_is_tried(entry, wfi_named_point_hash(&lost[0])));

    assert_true(wfi_entry_add_bad(entry, &lost[0]));
    assert_true(wfi_entry_judge(entry, &acquitted));
    assert_false(acquitted);
    assert_true(wfi_entry_add_bad(entry, &lost[1]));
    assert_true(wfi_entry_is_blamed(entry, &lost[0]));
    assert_true(wfi_entry_judge(entry, &acquitted));
    assert_int_equal(entry->bad_count, 3);

    assert_true(wfi_entry_add_bad(entry, &lost[2]));
    assert_false(wfi_entry_is_blamed(entry, &lost[2]));
    assert_true(wfi_entry_judge(entry, &acquitted));
    assert_true(acquitted);
    assert_int_equal(entry->bad_count, 3);

    /* Alone too, if other kernels compiled meanwhile; until then it is not chosen. */
    wfi_named_point beside = named("vector", 5);
    beside.suspected = beside.compiling = true;
    assert_true(wfi_entry_add_bad(entry, &beside));
    assert_true(wfi_entry_is_blamed(entry, &beside));
    assert_true(wfi_entry_judge(entry, &acquitted));
    assert_true(acquitted);
    assert_false(wfi_entry_is_bad(entry, &beside));
    wfi_tuning_data_free(&data);
}

static void round_trips(void **state)
{
    (void)state;
    wfi_tuning_data data, again;
    size_t bytes = 0, bytes_again = 0;
    char error[192] = "";
    make_data(&data);
    data.rates = (wfi_kept_rates){
        .there = true, .driver_id = 3, .driver_version = 4, .points = 40, .error_permille = 71};
    for (int i = 0; i < WFI_RATES; i++)
        data.rates.matmul.of[i] = 1e-7 * (i + 1) + i;
    char *text = print(&data, false, &bytes);
    assert_true(wfi_tuning_parse(text, bytes, NULL, NULL, &again, error));
    assert_string_equal(error, "");
    assert_true(again.rates.there && again.rates.driver_id == 3 && again.rates.driver_version == 4);
    assert_true(again.rates.points == 40 && again.rates.error_permille == 71);
    for (int i = 0; i < WFI_RATES; i++)
        assert_float_equal(again.rates.matmul.of[i], data.rates.matmul.of[i], 1e-12);
    assert_int_equal(again.entry_count, 2);
    assert_int_equal(again.entries[0].tried_count, 20);
    assert_true(wfi_named_point_same(&again.entries[0].best[1], &data.entries[0].best[1]));
    assert_int_equal(again.entries[1].best[0].values[1].value, UINT32_MAX);
    char *text_again = print(&again, false, &bytes_again);
    assert_string_equal(text, text_again);
    wfi_free(text);
    wfi_free(text_again);
    text = print(&data, true, &bytes);
    assert_null(strstr(text, "tried"));
    assert_null(strstr(text, "driver_version"));
    assert_null(strstr(text, "rates"));
    wfi_free(text);
    wfi_tuning_data_free(&data);
    wfi_tuning_data_free(&again);
}

/* Rates of a wavefit that knows others are passed over, and those that no device has too. */
static void other_rates_are_passed_over(void **state)
{
    (void)state;
    static const char *const texts[] = {"\"rates\": {\"driver_id\": 1, \"matmul\": {\"start\": 5}}",
                                        "\"rates\": {\"spmv\": {\"start\": 5}}", "\"rates\": {}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[256], error[192];
        wfi_tuning_data data;
        snprintf(text, sizeof text, "{\"schema\": \"%s\", %s, \"entries\": []}", WFI_TUNING_SCHEMA,
                 texts[i]);
        assert_true(wfi_tuning_parse(text, strlen(text), NULL, NULL, &data, error));
        assert_false(data.rates.there);
        wfi_tuning_data_free(&data);
    }
}

/* Any bit that flips in a file is noticed, or changes nothing that is read. */
static void flipped_bits_are_noticed(void **state)
{
    (void)state;
    wfi_tuning_data data, again;
    size_t bytes = 0, plain = 0, harmless = 0;
    char error[192];
    make_data(&data);
    wfi_tuning_remove(&data, 1);
    char *text = wfi_tuning_text(&data, &bytes);
    assert_non_null(text);
    assert_true(wfi_tuning_parse(text, bytes, NULL, NULL, &again, error));
    char *expected = print(&again, false, &plain);
    wfi_tuning_data_free(&again);
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
        if (wfi_tuning_parse(text, bytes, NULL, NULL, &again, error)) {
            size_t other = 0;
            char *read = print(&again, false, &other);
            if (other != plain || memcmp(read, expected, plain) != 0)
                fail_msg("bit %zu of byte %zu changes what is read", bit % 8, bit / 8);
            wfi_free(read);
            wfi_tuning_data_free(&again);
            harmless++;
        }
        text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
    }
    /* Those in the name of the line. */
    assert_true(harmless < 8 * sizeof "\n  \"checksum\": \"");
    /* Files of before have no such line. */
    assert_true(wfi_tuning_parse(expected, plain, NULL, NULL, &again, error));
    wfi_tuning_data_free(&again);
    wfi_free(expected);
    wfi_free(text);
    wfi_tuning_data_free(&data);
}

/* Every file cut short is refused, and nothing is left behind. */
static void truncated_files_are_refused(void **state)
{
    (void)state;
    wfi_tuning_data data, out;
    size_t bytes = 0;
    char error[192];
    make_data(&data);
    char *text = print(&data, false, &bytes);
    for (size_t length = 0; length + 1 < bytes; length++) {
        char *part = malloc(length + 1); /* its own block: reading beyond shows */
        assert_non_null(part);
        memcpy(part, text, length);
        assert_false(wfi_tuning_parse(part, length, NULL, NULL, &out, error));
        assert_null(out.entries);
        free(part);
    }
    wfi_free(text);
    wfi_tuning_data_free(&data);
}

static void damaged_files_do_no_harm(void **state)
{
    (void)state;
    wfi_tuning_data data, out;
    size_t bytes = 0;
    char error[192];
    uint64_t random = 20261121;
    make_data(&data);
    char *text = print(&data, false, &bytes);
    for (int turn = 0; turn < 20000; turn++) {
        char *copy = malloc(bytes);
        assert_non_null(copy);
        memcpy(copy, text, bytes);
        for (int n = 0; n < 1 + turn % 4; n++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            copy[(random >> 33) % bytes] = (char)(random >> 25);
        }
        if (wfi_tuning_parse(copy, bytes, NULL, NULL, &out, error))
            wfi_tuning_data_free(&out);
        free(copy);
    }
    wfi_free(text);
    wfi_tuning_data_free(&data);
}

static void refused(const char *text, const char *why)
{
    wfi_tuning_data out;
    char error[192] = "";
    if (wfi_tuning_parse(text, strlen(text), NULL, NULL, &out, error))
        fail_msg("accepted: %s", text);
    if (!strstr(error, why))
        fail_msg("'%s' instead of '%s' for: %s", error, why, text);
}

#define HEAD "{\"schema\": \"wavefit-tuning/2\", "

static void hostile_files_are_refused(void **state)
{
    (void)state;
    char deep[2000] = HEAD "\"entries\": ";
    refused("", "an object was expected");
    refused("{}", "not a wavefit tuning file");
    refused("{\"schema\": \"wavefit-tuning/3\", \"entries\": []}", "another wavefit");
    refused("{\"schema\": \"something\"}", "not a wavefit tuning file");
    refused("{\"entries\": []}", "no schema first");
    refused(HEAD "\"entries\": [{\"best\": [{}]}]}", "without a variant");
    refused(HEAD "\"entries\": [{\"best\": [{\"variant\": \"x\", \"time_ns\": 1e3}]}]}",
            "whole number");
    refused(HEAD "\"entries\": [{\"driver_id\": 99999999999999999999999}]}", "too large");
    refused(HEAD "\"entries\": [{\"driver_id\": -1}]}", "out of range");
    refused(HEAD "\"entries\": [{\"tried\": \"0123\"}]}", "hashes");
    refused(HEAD "\"entries\": [{\"classes\": {\"aaaaaaaaaaaaaaaaaaaaaaaaaaaa\": 1}}]}",
            "too long");
    refused(HEAD "\"entries\": []}x", "follows the end");
    refused(HEAD "\"device\": {\"name\": \"\x01\"}}", "control character");
    for (size_t i = strlen(deep); i + 1 < sizeof deep; i++)
        deep[i] = '[';
    refused(deep, "");
}

static void unknown_fields_and_families_are_passed_over(void **state)
{
    (void)state;
    static const char text[] =
        HEAD "\"new\": {\"a\": [1, {\"b\": null}, -1.5e3, \"x\\\"]\"]}, \"entries\": [{\"family\": "
             "\"fft\", \"type\": \"f32\"}, {\"family\": \"matmul\", \"type\": \"f32\", \"later\": "
             "true, \"best\": []}]}\n";
    wfi_tuning_data out;
    char error[192];
    assert_true(wfi_tuning_parse(text, sizeof text - 1, NULL, NULL, &out, error));
    assert_int_equal(out.entry_count, 1);
    assert_int_equal(out.entries[0].key.family, WF_FAMILY_MATMUL);
    wfi_tuning_data_free(&out);
}

/* What a point of the text's only entry is read as, "variant a=1 b=2". */
static void read_as(const char *schema, const char *family, const char *point, wf_family family_now,
                    const char *expected)
{
    char text[1024], error[192] = "", read[512];
    wfi_tuning_data out;
    const int bytes = snprintf(text, sizeof text,
                               "{\"schema\": \"wavefit-tuning/%s\", \"entries\": [{\"best\": "
                               "[{%s}], \"tried\": \"0123456789abcdef\", \"bad\": [{%s}], "
                               "\"family\": \"%s\", \"type\": \"f32\"}]}",
                               schema, point, point, family);
    if (!wfi_tuning_parse(text, (size_t)bytes, NULL, NULL, &out, error))
        fail_msg("%s: %s", error, text);
    assert_int_equal(out.entry_count, 1);
    const wfi_tuning_entry *entry = &out.entries[0];
    assert_int_equal(entry->key.family, family_now);
    assert_true(wfi_named_point_same(&entry->best[0], &entry->bad[0]));
    assert_int_equal(entry->tried_count, *schema == '2');
    size_t used = (size_t)snprintf(read, sizeof read, "%s", entry->best[0].variant);
    for (uint32_t i = 0; i < entry->best[0].count; i++)
        used += (size_t)snprintf(read + used, sizeof read - used, " %s=%u",
                                 entry->best[0].values[i].name, entry->best[0].values[i].value);
    assert_string_equal(read, expected);
    wfi_tuning_data_free(&out);
}

/* Files of schema 1 have the names of before; those of schema 2 are read as they are, but for
 * parameters that there are no more. */
static void old_files_give_present_names(void **state)
{
    (void)state;
    static const char teams[] =
        "\"variant\": \"teams\", \"values\": {\"tile_m\": 16, \"wide\": 7, \"splits\": 2, "
        "\"teams\": 4, \"halves\": 1, \"apart\": 1, \"ahead\": 0, \"rest\": 1, \"turns\": 0}";
    static const char split[] = "\"variant\": \"split\", \"values\": {\"sub_m\": 2, "
                                "\"strip\": 8, \"snake\": 3, \"sharing\": 1}";
    static const char equal[] = "\"variant\": \"equal\", \"values\": {\"turns\": 2, "
                                "\"team\": 8, \"long_turns\": 1, \"long_x\": 5}";
    static const char vector[] =
        "\"variant\": \"vector\", \"values\": {\"tile_m\": 64, \"unroll\": 8, \"pairs\": 1}";
    static const char march[] = "\"variant\": \"march\", \"values\": {\"march\": 16}";
    read_as("1", "matmul", teams, WF_FAMILY_MATMUL,
            "subgroup_k tile_m=16 vec4=7 split_k=2 slices_k=4 per_subgroup=1 double_buffer=0 "
            "tail=1 reverse=0");
    read_as("1", "matmul", split, WF_FAMILY_MATMUL,
            "f16x2 sub_m=2 swizzle=8 serpentine=3 stream_k=1");
    read_as("1", "spmv", equal, WF_FAMILY_SPMV,
            "equal loads=2 row_subgroups=8 long_loads=1 long_x=5");
    read_as("1", "stencil", march, WF_FAMILY_HIMENO, "march march=16");
    read_as("1", "grid", march, WF_FAMILY_STENCIL, "march march=16");
    read_as("2", "matmul", vector, WF_FAMILY_MATMUL, "vector tile_m=64 pairs=1");
    read_as("2", "stencil", march, WF_FAMILY_STENCIL, "march march=16");
    read_as("2", "spmv", equal, WF_FAMILY_SPMV, "equal turns=2 team=8 long_turns=1 long_x=5");
}

static void near_problems_have_near_keys(void **state)
{
    (void)state;
    const wfi_problem a = product(1000, 2000, 3000), b = product(1024, 2048, 3072),
                      c = product(2000, 2000, 3000), d = product(8192, 8192, 8192);
    wfi_problem e = a;
    e.type = WF_TYPE_F64;
    const wfi_key ka = wfi_key_of(&a), kb = wfi_key_of(&b), kc = wfi_key_of(&c),
                  kd = wfi_key_of(&d), ke = wfi_key_of(&e);
    assert_true(wfi_key_equal(&ka, &kb));
    assert_int_equal(wfi_key_distance(&ka, &kc), 2);
    assert_int_equal(wfi_key_distance(&ka, &kd), -1);
    assert_int_equal(wfi_key_distance(&ka, &ke), -1);
}

/* Rows, whose sizes are fixed, are for plans whose operands' rows stay whole vectors. */
static void any_size_has_a_key_of_its_own(void **state)
{
    (void)state;
    const wfi_problem fixed = product(4096, 4096, 4096);
    wfi_problem eights = fixed, rows = fixed, any = fixed;
    eights.matmul.varies = rows.matmul.varies = any.matmul.varies = true;
    eights.matmul.most = rows.matmul.most = any.matmul.most =
        (wfi_matmul_sizes){4096, 4096, 4096, 1};
    eights.matmul.unit = (wfi_matmul_sizes){8, 8, 8, 0};
    rows.matmul.unit = (wfi_matmul_sizes){1, 0, 0, 0};
    any.matmul.unit = (wfi_matmul_sizes){1, 1, 1, 0};
    const wfi_key row = wfi_key_of(&fixed), of_eights = wfi_key_of(&eights),
                  of_rows = wfi_key_of(&rows), of_any = wfi_key_of(&any);
    assert_true(wfi_key_equal(&row, &of_eights));
    assert_true(wfi_key_equal(&row, &of_rows));
    assert_int_equal(wfi_key_distance(&row, &of_any), -1);
}

/* What ships is of the present schema and has known families, variants and parameters. */
static void shipped_rows_are_sound(void **state)
{
    (void)state;
    for (size_t i = 0; i < wfi_rows_file_count; i++) {
        wfi_tuning_data data;
        char error[192];
        const wfi_rows_file *file = &wfi_rows_files[i];
        char *text = wfi_rows_text(file);
        assert_non_null(text);
        if (!wfi_tuning_parse(text, file->bytes, NULL, NULL, &data, error))
            fail_msg("%s: %s", file->name, error);
        assert_non_null(strstr(text, "\"wavefit-tuning/2\""));
        wfi_free(text);
        assert_true(data.entry_count > 0 && data.device.vendor_id != 0);
        uint32_t stale = 0;
        for (uint32_t n = 0; n < data.entry_count; n++) {
            const wfi_tuning_entry *entry = &data.entries[n];
            const wfi_family *family = wfi_family_get(entry->key.family);
            assert_int_equal(entry->best_count, 1);
            stale += entry->sources && entry->sources != wfi_sources_hash(entry->key.family);
            const uint32_t at = wfi_variant_find(family, entry->best[0].variant);
            if (at == UINT32_MAX)
                fail_msg("%s: %s has no variant %s", file->name, family->name,
                         entry->best[0].variant);
            for (uint32_t v = 0; v < entry->best[0].count; v++)
                if (wfi_parameter_find(family->variants[at], entry->best[0].values[v].name) ==
                    UINT32_MAX)
                    fail_msg("%s: %s %s has no parameter %s", file->name, family->name,
                             entry->best[0].variant, entry->best[0].values[v].name);
        }
        if (stale)
            printf("%s: %u of %u rows are of other shaders: hints alone\n", file->name, stale,
                   data.entry_count);
        wfi_tuning_data_free(&data);
    }
}

/* A problem of each family. */
static wfi_problem problem_of(wf_family family)
{
    wfi_problem problem = product(300, 200, 100);
    problem.family = family;
    if (family == WF_FAMILY_SPMV)
        problem.spmv = (wfi_spmv_problem){.rows = 1000,
                                          .columns = 1000,
                                          .entries = 9000,
                                          .longest_row = 40,
                                          .mean_row = 9,
                                          .block = 3,
                                          .block_fill = 0.8};
    else if (family == WF_FAMILY_VECTOR)
        problem.vector = (wfi_vector_problem){1000, WF_VECTOR_DOT};
    else if (family == WF_FAMILY_STENCIL)
        problem.stencil = (wfi_stencil_problem){.nx = 64,
                                                .ny = 64,
                                                .nz = 64,
                                                .row_stride = 64,
                                                .dimensions = 3,
                                                .radius = 1,
                                                .steps = 4};
    else if (family == WF_FAMILY_HIMENO)
        problem.himeno = (wfi_himeno_problem){.ni = 64, .nj = 32, .nk = 32};
    else if (family != WF_FAMILY_MATMUL)
        wfi_family_get(family)->hooks->describe(
            &(wfi_log){0}, &(wf_problem){.family = family, .extent = {64, 64, 64}}, &problem);
    return problem;
}

/* A point of these values is refused for a reason, or its work-group is one that the device
 * allows. */
static void judge(const wfi_point *point)
{
    char reason[256] = "";
    uint32_t size[3];
    if (!wfi_point_legal(point, reason)) {
        assert_true(*reason);
        return;
    }
    point->variant->group_size(point, size);
    const uint64_t items = (uint64_t)size[0] * size[1] * size[2];
    assert_true(items > 0 && items <= point->caps->max_invocations);
}

/* Whatever a file may hold. */
static void hostile_values_are_judged(void **state)
{
    (void)state;
    static const uint32_t values[] = {0, 1, 3, 65536, 1u << 31, UINT32_MAX};
    enum { VALUES = sizeof values / sizeof *values };
    const wf_caps caps = {.max_invocations = 1024,
                          .max_group_size = {1024, 1024, 64},
                          .max_groups = {65535, 65535, 65535},
                          .max_shared_bytes = 49152,
                          .max_push_bytes = 256,
                          .max_storage_buffers = 16,
                          .max_storage_range = UINT32_MAX,
                          .subgroup_size = 32,
                          .subgroup_min = 32,
                          .subgroup_max = 32,
                          .max_group_subgroups = 32,
                          .subgroup_operations = UINT32_MAX,
                          .subgroup_size_control = true,
                          .compute_units = 16};
    uint64_t random = 20261121;
    for (int f = 0; f < WF_FAMILY_COUNT; f++) {
        const wfi_family *family = wfi_family_get((wf_family)f);
        const wfi_problem problem = problem_of((wf_family)f);
        for (uint32_t v = 0; v < family->variant_count; v++) {
            wfi_point point = {.caps = &caps, .problem = &problem, .variant = family->variants[v]};
            const uint32_t count = point.variant->parameter_count;
            for (uint32_t turn = 0; turn < count * VALUES + 500; turn++) {
                wfi_point_defaults(&point);
                if (turn < count * VALUES)
                    wfi_point_put(&point, turn / VALUES, values[turn % VALUES]);
                for (uint32_t p = 0; turn >= count * VALUES && p < count; p++) {
                    random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
                    if (random >> 62)
                        wfi_point_put(&point, p, values[(random >> 40) % VALUES]);
                }
                judge(&point);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(other_rates_are_passed_over),
        cmocka_unit_test(losses_are_judged),
        cmocka_unit_test(flipped_bits_are_noticed),
        cmocka_unit_test(truncated_files_are_refused),
        cmocka_unit_test(damaged_files_do_no_harm),
        cmocka_unit_test(hostile_files_are_refused),
        cmocka_unit_test(unknown_fields_and_families_are_passed_over),
        cmocka_unit_test(old_files_give_present_names),
        cmocka_unit_test(near_problems_have_near_keys),
        cmocka_unit_test(any_size_has_a_key_of_its_own),
        cmocka_unit_test(shipped_rows_are_sound),
        cmocka_unit_test(hostile_values_are_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
