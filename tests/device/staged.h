/* Devices whose transfers go through staging, though the host sees all of their memory. */
#ifndef WAVEFIT_TESTS_DEVICE_STAGED_H
#define WAVEFIT_TESTS_DEVICE_STAGED_H

#include <stdint.h>

struct wf_buffer;
struct wf_device;

/* The device as if nothing could be mapped, with as many threads as a large machine has. A setup of
 * cmocka's, which test_device_teardown ends. */
int test_staged_setup(void **state);

/* Memory of the device's; what cannot be had fails the test. */
struct wf_buffer *test_buffer(struct wf_device *device, uint64_t bytes);

#endif
