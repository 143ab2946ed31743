/* What tests of searches and of their files share: a cache folder of their own, and a small matrix
 * to tune for. */
#ifndef WFI_TESTS_TUNING_H
#define WFI_TESTS_TUNING_H

#include "harness.h"
#include "choose/store.h"

#define TEST_TUNED_ROWS 96

/* A matrix with rows of 0 to 6 entries. */
typedef struct test_tuned {
    uint32_t offsets[TEST_TUNED_ROWS + 1], columns[TEST_TUNED_ROWS * 6];
    float values[TEST_TUNED_ROWS * 6];
    wf_spmv_params params;
} test_tuned;

void test_make_tuned(test_tuned *m);

/* cmocka group fixtures: the folder. */
int test_tuning_setup(void **state);
int test_tuning_teardown(void **state);
const char *test_tuning_directory(void);

/* A device that keeps what it finds in the folder; the last warning that it logs is kept too. */
wf_device *test_tuning_device(void);
void test_tuning_log(void *user, wf_log_level level, const char *text);
const char *test_tuning_warning(void);

/* The variant chosen for the matrix, and by what. */
wf_plan_info test_chosen(wf_device *device, const wf_spmv_params *params, const wf_tuning *tuning);

typedef struct test_watch {
    uint32_t calls, stop_after; /* 0: never */
} test_watch;

bool test_note_progress(void *user, const wf_tune_progress *progress);

/* A search for the matrix. */
wf_result test_tune(wf_device *device, const test_tuned *m, double seconds, test_watch *w,
                    wf_tune_result *result);
/* The only entry of the file of a device opened now. */
wfi_tuning_entry *test_only_entry(wf_device *device);

#endif
