/* How a test speaks to the driver of faulty_icd.c when both are in one process: it opens the
 * driver's library and calls the function named FAULTY_SYMBOL. */
#ifndef WFI_TESTS_FAULTY_H
#define WFI_TESTS_FAULTY_H

#include <stdatomic.h>
#include <stdbool.h>

#include <vulkan/vulkan.h>

#define FAULTY_SYMBOL "wavefit_faulty"
#define FAULTY_MOST_CODES 10

enum {
#define CALL(name, codes, output, parameters, arguments) FAULTY_##name,
#include "calls.def"
#undef CALL
    FAULTY_CALLS
};

enum {
#define OBJECT(type, make, destroy) FAULTY_##type,
#include "objects.def"
#undef OBJECT
    FAULTY_OBJECTS
};

typedef struct faulty_call {
    const char *name;
    VkResult codes[FAULTY_MOST_CODES]; /* VK_SUCCESS: no more */
    bool loses_device;                 /* VK_ERROR_DEVICE_LOST is among them */
} faulty_call;

typedef struct faulty {
    const faulty_call *calls;
    const char *const *objects;
    /* The at-th call of `call` from now on returns `code`, and only that one; but once the device
     * is lost by it and `stays`, it is lost for every call that can tell so. at 0: none fails. */
    int call;
    unsigned at;
    VkResult code;
    bool stays;
    atomic_bool on; /* calls are counted, and fail */
    atomic_bool is_lost;
    atomic_uint failed; /* calls that failed as asked */
    atomic_uint count[FAULTY_CALLS];
    atomic_int alive[FAULTY_OBJECTS];
} faulty;

typedef faulty *(*faulty_fn)(void);

#endif
