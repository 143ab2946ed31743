/* The search and its memory: what it finds is used, kept, shared with other processes, and doubted
 * when driver or shaders change. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness.h"
#include "tune/store.h"

#define ROWS 96

/* A matrix with rows of 0 to 6 entries. */
typedef struct matrix {
    uint32_t offsets[ROWS + 1], columns[ROWS * 6];
    float values[ROWS * 6];
    wf_spmv_params params;
} matrix;

static void make_matrix(matrix *m)
{
    test_random random = {test_seed()};
    m->offsets[0] = 0;
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t at = m->offsets[row];
        for (uint32_t i = 0; i < row % 7; i++, at++) {
            m->columns[at] = test_random_below(&random, ROWS);
            m->values[at] = (float)test_random_uniform(&random);
        }
        m->offsets[row + 1] = at;
    }
    m->params = (wf_spmv_params){.size = sizeof m->params,
                                 .rows = ROWS,
                                 .columns = ROWS,
                                 .row_offsets = m->offsets,
                                 .column_indices = m->columns,
                                 .values = m->values};
}

static char directory[64];
static char last_warning[1024];

static void keep_log(void *user, wf_log_level level, const char *text)
{
    (void)user;
    if (level == WF_LOG_WARNING)
        snprintf(last_warning, sizeof last_warning, "%s", text);
}

static wf_device *open_device(void)
{
    const char *limits = getenv("WAVEFIT_TEST_LIMITS");
    const wf_device_params params = {
        .size = sizeof params,
        .limits = limits && strcmp(limits, "minimum") == 0 ? WF_LIMITS_MINIMUM : WF_LIMITS_DEVICE,
        .log = keep_log,
        .cache_directory = directory};
    wf_device *device = NULL;
    last_warning[0] = '\0';
    assert_int_equal(wf_device_create(&params, &device), WF_SUCCESS);
    return device;
}

static void remove_files(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    assert_int_equal(system(command), 0);
}

static int setup(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/wavefit-tune-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    remove_files();
    return 0;
}

/* Who chose, and which variant. */
static wf_plan_info chosen(wf_device *device, const wf_spmv_params *params, const wf_tuning *tuning)
{
    wf_spmv_params with = *params;
    wf_plan_info info = {.size = sizeof info};
    wf_plan *plan = NULL;
    with.tuning = tuning;
    assert_int_equal(wf_spmv_plan(device, &with, &plan), WF_SUCCESS);
    assert_int_equal(wf_plan_describe(plan, &info), WF_SUCCESS);
    wf_plan_destroy(&plan);
    return info;
}

typedef struct watch {
    uint32_t calls, stop_after; /* 0: never */
} watch;

static bool note_progress(void *user, const wf_tune_progress *progress)
{
    watch *w = user;
    assert_true(progress->fraction >= 0 && progress->fraction <= 1);
    return ++w->calls != w->stop_after;
}

static wf_result tune(wf_device *device, const matrix *m, double seconds, watch *w,
                      wf_tune_result *result)
{
    const wf_tune_params params = {.size = sizeof params,
                                   .spmv = &m->params,
                                   .budget_seconds = seconds,
                                   .seed = test_seed(),
                                   .progress = note_progress,
                                   .user = w};
    *result = (wf_tune_result){.size = sizeof *result};
    return wf_tune(device, &params, result);
}

static void what_is_found_is_used_and_kept(void **state)
{
    (void)state;
    const wf_tuning model = {.size = sizeof model, .no_tuning = true};
    matrix m;
    watch w = {0};
    wf_tune_result result;
    make_matrix(&m);
    wf_device *device = open_device();
    const char *before = chosen(device, &m.params, NULL).chosen_by;
    assert_string_not_equal(before, "tuned");
    assert_int_equal(tune(device, &m, 1.5, &w, &result), WF_SUCCESS);
    assert_true(result.kept && result.measured > 0 && result.best_us > 0 && w.calls > 0);
    assert_int_equal(result.wrong, 0);
    wf_plan_info info = chosen(device, &m.params, NULL);
    assert_string_equal(info.chosen_by, "tuned");
    assert_string_equal(info.variant, result.best.variant);
    assert_string_equal(chosen(device, &m.params, &model).chosen_by, "model");
    wf_device_destroy(&device);

    /* Another process, another day. */
    device = open_device();
    info = chosen(device, &m.params, NULL);
    assert_string_equal(info.chosen_by, "tuned");
    for (uint32_t i = 0; i < info.constant_count; i++)
        assert_int_equal(info.constants[i].value, result.best.constants[i].value);
    /* A variant forced keeps the tuned values of that variant. */
    const wf_tuning forced = {.size = sizeof forced, .variant = info.variant};
    info = chosen(device, &m.params, &forced);
    assert_string_equal(info.chosen_by, "forced");
    for (uint32_t i = 0; i < info.constant_count; i++)
        assert_int_equal(info.constants[i].value, result.best.constants[i].value);
    wf_device_destroy(&device);
}

/* The only entry of the file of a device opened now. */
static wfi_tuning_entry *only_entry(wf_device *device)
{
    pthread_mutex_lock(&device->tuning_lock);
    struct wfi_tuning *tuning = wfi_tuning_of(device);
    pthread_mutex_unlock(&device->tuning_lock);
    assert_non_null(tuning);
    assert_int_equal(tuning->own.entry_count, 1);
    return &tuning->own.entries[0];
}

static void change_makes_rows_hints(void **state)
{
    (void)state;
    matrix m;
    char error[512];
    make_matrix(&m);
    for (int kind = 0; kind < 2; kind++) {
        wf_device *device = open_device();
        wfi_tuning_entry changed = {0};
        assert_true(wfi_tuning_entry_copy(only_entry(device), &changed));
        const wfi_tuning_entry original = changed;
        if (kind == 0)
            changed.driver_version++;
        else
            changed.shaders++;
        assert_true(wfi_tuning_keep(device, &changed, error));
        wf_device_destroy(&device);
        device = open_device();
        assert_string_not_equal(chosen(device, &m.params, NULL).chosen_by, "tuned");
        assert_true(wfi_tuning_keep(device, &original, error));
        assert_string_equal(chosen(device, &m.params, NULL).chosen_by, "tuned");
        wfi_tuning_entry_clear(&changed);
        wf_device_destroy(&device);
    }
}

static void bad_points_are_not_chosen(void **state)
{
    (void)state;
    const wf_tuning model_alone = {.size = sizeof model_alone,
                                   .skip_levels =
                                       WF_TUNING_DEVICE_ROWS | WF_TUNING_ARCHITECTURE_ROWS};
    matrix m;
    char error[512];
    make_matrix(&m);
    wf_device *device = open_device();
    wfi_tuning_entry entry = {0};
    assert_true(wfi_tuning_entry_copy(only_entry(device), &entry));
    /* All that was found is bad, and the first choice of the model after it. */
    for (uint32_t i = 0; i < entry.best_count; i++)
        assert_true(wfi_entry_add_bad(&entry, &entry.best[i]));
    assert_true(wfi_tuning_keep(device, &entry, error));
    const wf_plan_info second = chosen(device, &m.params, &model_alone);
    assert_string_equal(second.chosen_by, "model");
    for (uint32_t i = 0; i < entry.bad_count; i++) {
        bool same = strcmp(second.variant, entry.bad[i].variant) == 0;
        for (uint32_t n = 0; n < second.constant_count; n++)
            same = same && second.constants[n].value == entry.bad[i].values[n].value;
        assert_false(same);
    }
    wfi_tuning_entry_clear(&entry);
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_SPMV), WF_SUCCESS);
    wf_device_destroy(&device);
}

/* Of the chosen point for a product of m x 64 x 64. */
static uint32_t sharing_chosen(wf_device *device, uint64_t m, const char **chosen_by)
{
    const wfi_problem problem = {.family = WF_FAMILY_MATMUL, .matmul = wfi_matmul_plain(m, 64, 64)};
    wfi_choice choice;
    assert_int_equal(wfi_choose(device, &problem, NULL, &choice), WF_SUCCESS);
    *chosen_by = choice.chosen_by;
    return wfi_point_value(&choice.point, "sharing", 99);
}

/* What decides by a problem's exact size is the row's for that size alone. */
static void rows_of_like_problems_are_fitted(void **state)
{
    (void)state;
    const wfi_family *family = wfi_family_get(WF_FAMILY_MATMUL);
    const wfi_problem problem = {.family = WF_FAMILY_MATMUL,
                                 .matmul = wfi_matmul_plain(64, 64, 64)};
    char error[512];
    const char *chosen_by;
    wf_device *device = open_device();
    wfi_point point = {.caps = wf_device_caps(device),
                       .problem = &problem,
                       .variant = &family->variants[wfi_variant_find(family, "vector")]};
    wfi_point_defaults(&point);
    wfi_point_set(&point, "sharing", 1);
    assert_true(wfi_point_legal(&point, NULL));
    assert_int_not_equal(sharing_chosen(device, 64, &chosen_by), 1); /* reads the rows */
    wfi_tuning_entry entry = {.key = wfi_key_of(&problem),
                              .problem = "64x64x64",
                              .driver_id = device->caps.driver_id,
                              .driver_version = device->caps.driver_version,
                              .shaders =
                                  wfi_shaders_hash(device->tuning, problem.family, problem.type),
                              .best_count = 1,
                              .best = {wfi_point_named(&point)}};
    assert_true(wfi_tuning_keep(device, &entry, error));
    assert_int_equal(sharing_chosen(device, 64, &chosen_by), 1);
    assert_string_equal(chosen_by, "tuned");
    assert_int_equal(sharing_chosen(device, 66, &chosen_by), 0);
    assert_string_equal(chosen_by, "tuned");
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_MATMUL), WF_SUCCESS);
    wf_device_destroy(&device);
}

static void a_stopped_search_keeps_and_resumes(void **state)
{
    (void)state;
    matrix m;
    watch w = {.stop_after = 4};
    wf_tune_result result;
    make_matrix(&m);
    wf_device *device = open_device();
    assert_int_equal(tune(device, &m, 60, &w, &result), WF_ERROR_CANCELLED);
    assert_int_equal(result.measured, 3);
    assert_true(result.kept && result.best_us > 0);
    assert_string_equal(result.best.chosen_by, "tuned");
    assert_non_null(result.before.variant);
    wf_device_destroy(&device);
    device = open_device();
    assert_int_equal(only_entry(device)->tried_count, 3);
    assert_string_equal(chosen(device, &m.params, NULL).chosen_by, "tuned");
    wf_device_destroy(&device);
}

/* An application that asks to stop while a point is tried: the point is left as if never begun. */
static uint32_t tried, allowed = UINT32_MAX;

static bool enough(void *user)
{
    (void)user;
    return tried > allowed;
}

static bool count_points(void *user, const wf_tune_progress *progress)
{
    (void)user;
    tried += *progress->trying != '\0';
    return true;
}

static void a_search_stops_between_submissions(void **state)
{
    (void)state;
    matrix m;
    wf_device_params params = {
        .size = sizeof params, .log = keep_log, .cache_directory = directory, .cancelled = enough};
    wf_tune_params search = {.size = sizeof search,
                             .spmv = &m.params,
                             .budget_seconds = 600,
                             .again = true,
                             .discard = true,
                             .progress = count_points};
    wf_device *device = NULL;
    make_matrix(&m);
    assert_int_equal(wf_device_create(&params, &device), WF_SUCCESS);
    for (int exhaustive = 0; exhaustive < 2; exhaustive++) {
        wf_tune_result result = {.size = sizeof result};
        search.exhaustive = exhaustive;
        tried = 0;
        allowed = 2;
        assert_int_equal(wf_tune(device, &search, &result), WF_ERROR_CANCELLED);
        assert_int_equal(tried, 3);
        assert_int_equal(result.measured, 2);
        assert_int_equal(result.wrong, 0);
        assert_true(result.best_us > 0);
    }
    /* Before the first point already. */
    wf_tune_result result = {.size = sizeof result};
    tried = 1;
    allowed = 0;
    assert_int_equal(wf_tune(device, &search, &result), WF_ERROR_CANCELLED);
    assert_int_equal(result.measured, 0);
    allowed = UINT32_MAX;
    wf_device_destroy(&device);
}

/* A file that nobody may write stays as it is. */
static void write_protected_files_are_left(void **state)
{
    (void)state;
    matrix m;
    struct stat before, after;
    char error[512];
    make_matrix(&m);
    wf_device *device = open_device();
    wfi_tuning_entry entry = {0};
    assert_true(wfi_tuning_entry_copy(only_entry(device), &entry));
    const char *path = wf_tuning_path(device);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(stat(path, &before), 0);
    assert_string_equal(chosen(device, &m.params, NULL).chosen_by, "tuned");
    assert_false(wfi_tuning_keep(device, &entry, error));
    assert_non_null(strstr(error, path));
    assert_non_null(strstr(error, "write-protected"));
    test_expect_errors(true);
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_SPMV), WF_ERROR_UNSUPPORTED);
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_COUNT), WF_ERROR_UNSUPPORTED);
    test_expect_errors(false);
    assert_int_equal(stat(path, &after), 0);
    assert_true(before.st_ino == after.st_ino && before.st_size == after.st_size);
    assert_int_equal(chmod(path, 0600), 0);
    assert_true(wfi_tuning_keep(device, &entry, error));
    wfi_tuning_entry_clear(&entry);
    wf_device_destroy(&device);
}

/* Rows that ship are listed with what they are worth. */
static void shipped_rows_are_listed(void **state)
{
    (void)state;
    wf_device *device = open_device();
    uint32_t count = 0, kept = 0;
    wf_tuning_row row = {.size = sizeof row};
    for (; wf_tuning_row_get(device, kept, &row) == WF_SUCCESS; kept++)
        assert_int_equal(row.level, WF_TUNING_MEASURED);
    for (; wf_tuning_shipped_get(device, count, &row) == WF_SUCCESS; count++)
        assert_true(row.level == WF_TUNING_DEVICE_ROWS || row.level == WF_TUNING_ARCHITECTURE_ROWS);
    const struct wfi_tuning *tuning = device->tuning;
    assert_non_null(tuning);
    assert_int_equal(kept, tuning->own.entry_count);
    assert_int_equal(count, tuning->shipped[0].entry_count + tuning->shipped[1].entry_count);
    wf_device_destroy(&device);
}

/* A point noted in the journal by a process that is gone is bad for the next search. */
static void a_lost_process_leaves_its_point(void **state)
{
    (void)state;
    matrix m;
    watch w = {0};
    wf_tune_result result;
    wfi_journal journal;
    wfi_tuning_data left;
    make_matrix(&m);
    wf_device *device = open_device();
    wfi_tuning_entry entry = {0};
    assert_true(wfi_tuning_entry_copy(only_entry(device), &entry));
    assert_int_equal(wfi_journal_open(device, &journal, &left), WF_SUCCESS);
    assert_int_equal(left.entry_count, 0);
    wfi_journal_note(&journal, &entry, &entry.best[0]);
    close(journal.fd); /* as the end of the process does */
    assert_int_equal(tune(device, &m, 1, &w, &result), WF_SUCCESS);
    const wfi_tuning_entry *now = only_entry(device);
    assert_true(wfi_entry_is_bad(now, &entry.best[0]));
    for (uint32_t i = 0; i < now->best_count; i++)
        assert_false(wfi_named_point_same(&now->best[i], &entry.best[0]));
    wfi_tuning_entry_clear(&entry);
    wf_device_destroy(&device);
}

/* Processes that write at once lose nothing of each other's. */
static void writers_at_once(void **state)
{
    (void)state;
    enum { PROCESSES = 4, ENTRIES = 8 };
    char error[512];
    for (int p = 0; p < PROCESSES; p++)
        if (fork() == 0) {
            wf_device *device = open_device();
            bool ok = true;
            for (int i = 0; i < ENTRIES; i++) {
                wfi_tuning_entry entry = {0};
                const wfi_problem problem = {
                    .family = WF_FAMILY_MATMUL,
                    .matmul = {.m = UINT64_C(16) << p, .n = UINT64_C(16) << 2 * i, .k = 16}};
                entry.key = wfi_key_of(&problem);
                ok = wfi_tuning_keep(device, &entry, error) && ok;
            }
            wf_device_destroy(&device);
            _exit(ok ? 0 : 1);
        }
    for (int p = 0; p < PROCESSES; p++) {
        int status = 1;
        wait(&status);
        assert_int_equal(status, 0);
    }
    wf_device *device = open_device();
    pthread_mutex_lock(&device->tuning_lock);
    const uint32_t count = wfi_tuning_of(device)->own.entry_count;
    pthread_mutex_unlock(&device->tuning_lock);
    assert_int_equal(count, 1 + PROCESSES * ENTRIES);
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_COUNT), WF_SUCCESS);
    wf_device_destroy(&device);
}

static void blobs_are_taken_or_refused(void **state)
{
    (void)state;
    matrix m;
    watch w = {0};
    wf_tune_result result;
    static char text[65536];
    size_t bytes = sizeof text;
    make_matrix(&m);
    wf_device *device = open_device();
    assert_int_equal(tune(device, &m, 1, &w, &result), WF_SUCCESS);
    assert_int_equal(wf_tuning_export(device, text, &bytes), WF_SUCCESS);
    assert_true(bytes > 100 && bytes < sizeof text);
    assert_int_equal(wf_tuning_load(device, text, bytes), WF_SUCCESS);
    assert_int_equal(wf_tuning_load(device, text, bytes / 2), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_tuning_load_file(device, "/nonexistent/x.json"), WF_ERROR_INVALID_ARGUMENT);
    char *vendor = strstr(text, "\"vendor_id\": ");
    assert_non_null(vendor);
    vendor[13] = vendor[13] == '9' ? '8' : '9';
    assert_int_equal(wf_tuning_load(device, text, bytes), WF_ERROR_UNSUPPORTED);
    assert_int_equal(wf_tuning_forget(device, WF_FAMILY_COUNT), WF_SUCCESS);
    wf_device_destroy(&device);
}

static void damaged_files_are_named_and_left(void **state)
{
    (void)state;
    matrix m;
    watch w = {0};
    wf_tune_result result;
    char path[256];
    make_matrix(&m);
    wf_device *device = open_device();
    snprintf(path, sizeof path, "%s", wf_tuning_path(device));
    wf_device_destroy(&device);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"schema\": \"wavefit-tuning/1\", \"entries\": [", file);
    assert_int_equal(fclose(file), 0);
    device = open_device();
    assert_string_not_equal(chosen(device, &m.params, NULL).chosen_by, "tuned");
    assert_non_null(strstr(last_warning, path));
    assert_int_equal(tune(device, &m, 1, &w, &result), WF_SUCCESS);
    assert_false(result.kept);
    /* Used all the same as long as the device is open. */
    assert_string_equal(chosen(device, &m.params, NULL).chosen_by, "tuned");
    wf_device_destroy(&device);
    char content[64] = "";
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(content, sizeof content, file));
    fclose(file);
    assert_string_equal(content, "{\"schema\": \"wavefit-tuning/1\", \"entries\": [");
}

/* What the driver is made to say: every second kernel spills its registers. */
static struct {
    PFN_vkCreateComputePipelines create;
    VkPipeline spilling[64];
    uint32_t created, count;
} spills;

static VKAPI_ATTR VkResult VKAPI_CALL create_pipeline(VkDevice device, VkPipelineCache cache,
                                                      uint32_t count,
                                                      const VkComputePipelineCreateInfo *infos,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkPipeline *pipelines)
{
    VkComputePipelineCreateInfo plain = *infos;
    assert_int_equal(count, 1);
    plain.flags &= ~(VkPipelineCreateFlags)VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
    const VkResult result = spills.create(device, cache, 1, &plain, allocator, pipelines);
    if (result == VK_SUCCESS && ++spills.created % 2 == 0)
        spills.spilling[spills.count++ % 64] = *pipelines;
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL executables(VkDevice device, const VkPipelineInfoKHR *info,
                                                  uint32_t *count,
                                                  VkPipelineExecutablePropertiesKHR *properties)
{
    (void)device;
    (void)info;
    *count = 1;
    properties->subgroupSize = 0;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL statistics(VkDevice device,
                                                 const VkPipelineExecutableInfoKHR *info,
                                                 uint32_t *count,
                                                 VkPipelineExecutableStatisticKHR *list)
{
    (void)device;
    *count = 1;
    snprintf(list->name, sizeof list->name, "Spilled VGPRs");
    list->format = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR;
    list->value.u64 = 0;
    for (uint32_t i = 0; i < spills.count && i < 64; i++)
        if (spills.spilling[i] == info->pipeline)
            list->value.u64 = 40;
    return VK_SUCCESS;
}

/* A search leaves them untimed, and an exhaustive one does not. */
static void spilling_points_are_not_timed(void **state)
{
    (void)state;
    matrix m;
    make_matrix(&m);
    for (int exhaustive = 0; exhaustive < 2; exhaustive++) {
        watch w = {.stop_after = 12};
        wf_device *device = open_device();
        memset(&spills, 0, sizeof spills);
        spills.create = device->fn.vkCreateComputePipelines;
        device->fn.vkCreateComputePipelines = create_pipeline;
        device->fn.vkGetPipelineExecutablePropertiesKHR = executables;
        device->fn.vkGetPipelineExecutableStatisticsKHR = statistics;
        device->capture_statistics = true;
        const wf_tune_params params = {.size = sizeof params,
                                       .spmv = &m.params,
                                       .budget_seconds = 600,
                                       .exhaustive = exhaustive,
                                       .discard = true,
                                       .progress = note_progress,
                                       .user = &w};
        wf_tune_result result = {.size = sizeof result};
        assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CANCELLED);
        assert_true(result.measured > 0 && result.best_us > 0);
        if (exhaustive)
            assert_int_equal(result.spilling, 0);
        else
            assert_true(result.spilling > 0);
        assert_true(spills.count > 0);
        wf_device_destroy(&device);
    }
}

static void grids_are_tuned(void **state)
{
    (void)state;
    static const double coefficients[] = {0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    const wf_stencil_params grid = {.size = sizeof grid,
                                    .nx = 41,
                                    .ny = 30,
                                    .nz = 19,
                                    .coefficients = coefficients,
                                    .steps = 3};
    wf_device *device = open_device();
    const wf_tune_params params = {
        .size = sizeof params, .stencil = &grid, .budget_seconds = 1, .discard = true};
    wf_tune_result result = {.size = sizeof result};
    assert_int_equal(wf_tune(device, &params, &result), WF_SUCCESS);
    assert_true(result.measured > 0 && result.best_us > 0);
    assert_int_equal(result.wrong, 0);
    assert_string_equal(result.best.family, "grid");
    wf_device_destroy(&device);
}

/* Whether all points tried are naive with local_y 2. */
static bool note_part(void *user, const wf_tune_progress *progress)
{
    bool *all = user;
    if (*progress->trying && strcmp(progress->stage, "measuring") == 0)
        *all = *all && strncmp(progress->trying, "naive ", 6) == 0 &&
               strstr(progress->trying, " local_y=2");
    return true;
}

/* One row of work-items as wide as the device allows: the model's has several, and its choice is refused, but not
 * the search. A value that goes with nothing ends it with the reason. */
static void begins_where_the_model_does_not_fit(wf_device *device, const wf_matmul_params *product)
{
    wf_constant wide = {"local_x", wf_device_caps(device)->max_invocations};
    const wf_tuning held = {
        .size = sizeof held, .variant = "naive", .constants = &wide, .constant_count = 1};
    const wf_tune_params params = {
        .size = sizeof params, .matmul = product, .budget_seconds = 0.5, .within = &held};
    const wf_problem problem = {.size = sizeof problem,
                                .family = WF_FAMILY_MATMUL,
                                .extent = {product->m, product->n, product->k}};
    wf_tune_result result = {.size = sizeof result};
    wf_plan_info info = {.size = sizeof info};
    assert_int_equal(wf_kernel_compile(device, &problem, &held, &info), WF_ERROR_CONSTRAINT);
    assert_int_equal(wf_tune(device, &params, &result), WF_SUCCESS);
    assert_int_equal(result.best.constants[0].value, wide.value);
    assert_int_equal(result.best.constants[1].value, 1);
    wide.value++;
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_CONSTRAINT);
}

/* A search within a part of the points looks at all of it and no more, and is not kept; and a comparison
 * of its outcome with itself has no noise. */
static void a_part_is_searched_alone(void **state)
{
    (void)state;
    static const wf_constant constants[] = {{"local_y", 2}};
    const wf_tuning within = {
        .size = sizeof within, .variant = "naive", .constants = constants, .constant_count = 1};
    const wf_matmul_params product = {.size = sizeof product, .m = 40, .n = 30, .k = 20};
    for (int exhaustive = 0; exhaustive < 2; exhaustive++) {
        bool all = true;
        wf_device *device = open_device();
        const wf_tune_params params = {.size = sizeof params,
                                       .matmul = &product,
                                       .budget_seconds = exhaustive ? 60 : 0.5,
                                       .exhaustive = exhaustive,
                                       .progress = note_part,
                                       .user = &all,
                                       .within = &within};
        wf_tune_result result = {.size = sizeof result};
        assert_int_equal(wf_tune(device, &params, &result), WF_SUCCESS);
        assert_true(all);
        assert_false(result.kept);
        assert_string_equal(result.best.variant, "naive");
        if (exhaustive)
            assert_int_equal(result.measured, result.legal);
        wf_tuning_row row = {.size = sizeof row};
        assert_int_equal(wf_tuning_row_get(device, 0, &row), WF_ERROR_INVALID_ARGUMENT);
        const wf_tuning rivals[] = {within, within};
        wf_plan_info infos[] = {{.size = sizeof *infos}, {.size = sizeof *infos}};
        double us[2], noise[2];
        wf_tune_params short_ones = params;
        short_ones.budget_seconds = 0.2;
        assert_int_equal(wf_tune_compare(device, &short_ones, rivals, 2, infos, us, noise),
                         WF_SUCCESS);
        assert_true(us[0] > 0 && us[0] == us[1] && noise[0] == 0 && noise[1] == 0);
        wf_device_destroy(&device);
    }
    wf_device *device = open_device();
    begins_where_the_model_does_not_fit(device, &product);
    const wf_tuning nothing = {.size = sizeof nothing, .variant = "nothing"};
    const wf_tune_params params = {.size = sizeof params, .matmul = &product, .within = &nothing};
    wf_tune_result result = {.size = sizeof result};
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_UNKNOWN_VARIANT);
    wf_device_destroy(&device);
}

/* ------------------------------------------------------------------------- kernels side by side */

typedef struct compiles {
    atomic_int running;
    int submitted, told; /* jobs; times that a search said so */
} compiles;

typedef struct job {
    compiles *of;
    void (*run)(void *job);
    void *job;
} job;

static void *run_job(void *memory)
{
    job *j = memory;
    compiles *c = j->of;
    j->run(j->job);
    free(j);
    atomic_fetch_sub(&c->running, 1);
    return NULL;
}

static void submit_job(void *user, void (*run)(void *job), void *what)
{
    compiles *c = user;
    pthread_t thread;
    job *j = malloc(sizeof *j);
    assert_non_null(j);
    *j = (job){c, run, what};
    c->submitted++;
    atomic_fetch_add(&c->running, 1);
    assert_int_equal(pthread_create(&thread, NULL, run_job, j), 0);
    pthread_detach(thread);
}

static bool note_compiles(void *user, const wf_tune_progress *progress)
{
    compiles *c = user;
    c->told += strcmp(progress->stage, "compiling") == 0;
    return true;
}

static wf_tune_result tune_product(wf_device *device, compiles *c)
{
    const wf_matmul_params product = {.size = sizeof product, .m = 33, .n = 20, .k = 17};
    const wf_jobs jobs = {.size = sizeof jobs, .submit = submit_job, .user = c};
    const wf_tune_params params = {.size = sizeof params,
                                   .matmul = &product,
                                   .budget_seconds = 1,
                                   .discard = true,
                                   .progress = note_compiles,
                                   .user = c,
                                   .jobs = &jobs};
    wf_tune_result result = {.size = sizeof result};
    assert_int_equal(wf_tune(device, &params, &result), WF_SUCCESS);
    while (atomic_load(&c->running)) /* a job is done a little before its thread */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return result;
}

/* A search that did not outlive it is followed by one that compiles singly, and that by one as ever. */
static void kernels_are_compiled_side_by_side(void **state)
{
    (void)state;
    wfi_journal journal;
    wfi_tuning_data left;
    wf_device *device = open_device();
    compiles c = {0};
    const wf_tune_result first = tune_product(device, &c);
    assert_true(first.measured > 0 && first.best_us > 0);
    assert_int_equal(first.wrong, 0);
    assert_true(c.told > 0 && c.submitted >= 2 * c.told);
    assert_int_equal(wfi_journal_open(device, &journal, &left), WF_SUCCESS);
    assert_false(journal.several);
    wfi_journal_note_several(&journal);
    close(journal.fd); /* as the end of the process does */
    compiles singly = {0};
    assert_true(tune_product(device, &singly).measured > 0);
    assert_int_equal(singly.told + singly.submitted, 0);
    compiles again = {0};
    assert_true(tune_product(device, &again).measured > 0);
    assert_true(again.submitted > 0);
    wf_device_destroy(&device);
}

static void bad_parameters_are_refused(void **state)
{
    (void)state;
    matrix m;
    wf_tune_result result = {.size = sizeof result};
    wf_device *device = open_device();
    const wf_matmul_params product = {.size = sizeof product, .m = 2, .n = 2, .k = 2};
    make_matrix(&m);
    wf_tune_params params = {.size = sizeof params};
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_INVALID_ARGUMENT);
    params.matmul = &product;
    params.spmv = &m.params;
    assert_int_equal(wf_tune(device, &params, &result), WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_tune(NULL, &params, &result), WF_ERROR_INVALID_ARGUMENT);
    wf_device_destroy(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_found_is_used_and_kept),
        cmocka_unit_test(change_makes_rows_hints),
        cmocka_unit_test(bad_points_are_not_chosen),
        cmocka_unit_test(rows_of_like_problems_are_fitted),
        cmocka_unit_test(a_stopped_search_keeps_and_resumes),
        cmocka_unit_test(a_search_stops_between_submissions),
        cmocka_unit_test(write_protected_files_are_left),
        cmocka_unit_test(shipped_rows_are_listed),
        cmocka_unit_test(a_lost_process_leaves_its_point),
        cmocka_unit_test(writers_at_once),
        cmocka_unit_test(blobs_are_taken_or_refused),
        cmocka_unit_test(damaged_files_are_named_and_left),
        cmocka_unit_test(spilling_points_are_not_timed),
        cmocka_unit_test(grids_are_tuned),
        cmocka_unit_test(a_part_is_searched_alone),
        cmocka_unit_test(kernels_are_compiled_side_by_side),
        cmocka_unit_test(bad_parameters_are_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
