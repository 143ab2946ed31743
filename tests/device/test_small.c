/* Small devices: a driver's answers are lowered on their way through vkGetInstanceProcAddr to what a
 * phone might say, and the rest of the driver is as it is. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/device.h"
#include "harness.h"

#define BUDGET (UINT64_C(8) << 20)

/* What the driver is made to answer; 0: as it is. */
static struct {
    uint64_t budget, usage;
    uint32_t subgroup_size;
    bool no_timestamps, no_f64, no_f16_arithmetic, no_f16_storage;
    bool wrong_shuffles; /* shuffle is compiled as shuffle xor */
} pretend;

static PFN_vkGetInstanceProcAddr real_proc;
static PFN_vkGetPhysicalDeviceMemoryProperties2 real_memory;
static PFN_vkGetPhysicalDeviceQueueFamilyProperties real_families;
static PFN_vkGetPhysicalDeviceFeatures2 real_features;
static PFN_vkGetPhysicalDeviceProperties2 real_properties;
static PFN_vkGetDeviceProcAddr real_device_proc;
static PFN_vkCreateShaderModule real_module;
static char last_error[512];

static void *find(void *structure, VkStructureType type)
{
    for (VkBaseOutStructure *s = structure; s; s = s->pNext)
        if (s->sType == type)
            return s;
    return NULL;
}

static void VKAPI_CALL memory_properties(VkPhysicalDevice device,
                                         VkPhysicalDeviceMemoryProperties2 *out)
{
    real_memory(device, out);
    VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget =
        find(out, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
    if (!budget || !pretend.budget)
        return;
    for (uint32_t i = 0; i < out->memoryProperties.memoryHeapCount; i++) {
        budget->heapBudget[i] = pretend.budget;
        budget->heapUsage[i] = pretend.usage;
    }
}

static void VKAPI_CALL queue_families(VkPhysicalDevice device, uint32_t *count,
                                      VkQueueFamilyProperties *out)
{
    real_families(device, count, out);
    for (uint32_t i = 0; out && i < *count && pretend.no_timestamps; i++)
        out[i].timestampValidBits = 0;
}

static void VKAPI_CALL features(VkPhysicalDevice device, VkPhysicalDeviceFeatures2 *out)
{
    real_features(device, out);
    VkPhysicalDeviceShaderFloat16Int8Features *arithmetic =
        find(out, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES);
    VkPhysicalDevice16BitStorageFeatures *storage =
        find(out, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES);
    if (pretend.no_f64)
        out->features.shaderFloat64 = VK_FALSE;
    if (pretend.no_f16_arithmetic && arithmetic)
        arithmetic->shaderFloat16 = VK_FALSE;
    if (pretend.no_f16_storage && storage)
        storage->storageBuffer16BitAccess = VK_FALSE;
}

static void VKAPI_CALL properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *out)
{
    real_properties(device, out);
    VkPhysicalDeviceSubgroupProperties *subgroup =
        find(out, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES);
    VkPhysicalDeviceDriverProperties *driver =
        find(out, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES);
    if (!pretend.subgroup_size)
        return;
    /* The portability layer whose subgroups of 64 are two of 32. */
    if (subgroup)
        subgroup->subgroupSize = pretend.subgroup_size;
    if (driver)
        driver->driverID = VK_DRIVER_ID_MOLTENVK;
    out->properties.vendorID = 0x1002;
}

/* Operation codes of SPIR-V; both take a value and one word more. */
enum { SPIRV_HEADER_WORDS = 5, OP_SHUFFLE = 345, OP_SHUFFLE_XOR = 346 };

static VkResult VKAPI_CALL make_module(VkDevice device, const VkShaderModuleCreateInfo *info,
                                       const VkAllocationCallbacks *allocator, VkShaderModule *out)
{
    VkShaderModuleCreateInfo changed = *info;
    const size_t words = info->codeSize / sizeof(uint32_t);
    uint32_t *code = malloc(info->codeSize);
    if (!code)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(code, info->pCode, info->codeSize);
    for (size_t i = SPIRV_HEADER_WORDS; pretend.wrong_shuffles && i < words; i += code[i] >> 16)
        if ((code[i] & 0xffff) == OP_SHUFFLE)
            code[i] = (code[i] & 0xffff0000) | OP_SHUFFLE_XOR;
    changed.pCode = code;
    const VkResult result = real_module(device, &changed, allocator, out);
    free(code);
    return result;
}

static PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *function)
{
    PFN_vkVoidFunction found = real_device_proc(device, function);
    if (strcmp(function, "vkCreateShaderModule") != 0)
        return found;
    memcpy(&real_module, &found, sizeof real_module);
    return (PFN_vkVoidFunction)make_module;
}

#define HOOK(name, real, ours)                                                                     \
    if (strcmp(function, name) == 0) {                                                             \
        PFN_vkVoidFunction found = real_proc(instance, function);                                  \
        memcpy(&real, &found, sizeof real);                                                        \
        return (PFN_vkVoidFunction)ours;                                                           \
    }

static PFN_vkVoidFunction VKAPI_CALL proc(VkInstance instance, const char *function)
{
    HOOK("vkGetPhysicalDeviceMemoryProperties2", real_memory, memory_properties)
    HOOK("vkGetPhysicalDeviceQueueFamilyProperties", real_families, queue_families)
    HOOK("vkGetPhysicalDeviceFeatures2", real_features, features)
    HOOK("vkGetPhysicalDeviceProperties2", real_properties, properties)
    HOOK("vkGetDeviceProcAddr", real_device_proc, device_proc)
    return real_proc(instance, function);
}

static void keep_error(void *user, wf_log_level level, const char *text)
{
    (void)user;
    if (level == WF_LOG_ERROR)
        snprintf(last_error, sizeof last_error, "%s", text);
}

/* cache NULL: the usual folder. */
static wf_device *open_device_with(const char *cache)
{
    const char *limits = getenv("WAVEFIT_TEST_LIMITS");
    const wf_device_params params = {
        .size = sizeof params,
        .limits = limits && strcmp(limits, "minimum") == 0 ? WF_LIMITS_MINIMUM : WF_LIMITS_DEVICE,
        .log = keep_error,
        .cache_directory = cache,
        .get_instance_proc_addr = proc,
    };
    wf_device *device = NULL;
    assert_int_equal(wf_device_create(&params, &device), WF_SUCCESS);
    return device;
}

static wf_device *open_device(void)
{
    return open_device_with(NULL);
}

static int forget(void **state)
{
    (void)state;
    memset(&pretend, 0, sizeof pretend);
    last_error[0] = '\0';
    return 0;
}

/* A small product, computed and compared; returns whether the device's clock timed it. */
static bool multiply_as(wf_device *device, wf_type type)
{
    enum { N = 33 };
    static float a[N * N], b[N * N], c[N * N]; /* room for any type */
    test_random random = {test_seed()};
    wf_buffer *buffers[3] = {NULL};
    wf_plan *plan = NULL;
    /* The simplest variant: what is small here is the device. */
    const wf_tuning tuning = {.size = sizeof tuning, .variant = "naive"};
    const wf_matmul_params params = {
        .size = sizeof params, .m = N, .n = N, .k = N, .type = type, .tuning = &tuning};
    const wf_measure_params measure = {.size = sizeof measure, .repeat = 3};
    wf_timing timing;
    const wf_matmul_inputs inputs = {.size = sizeof inputs, .a = a, .b = b};
    wf_check check;
    double seconds = 0;
    bool gpu_clock = false;
    for (uint64_t i = 0; i < N * N; i++) {
        wf_element_set(type, a, i, test_random_uniform(&random));
        wf_element_set(type, b, i, test_random_uniform(&random));
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(wf_buffer_create(device, sizeof a, WF_MEMORY_DEVICE, &buffers[i]),
                         WF_SUCCESS);
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {{.buffer = buffers[0]}, {.buffer = buffers[1]}, {.buffer = buffers[2]}}};
    wf_buffer_write(buffers[0], 0, a, sizeof a);
    wf_buffer_write(buffers[1], 0, b, sizeof b);
    test_poison(buffers[2]);
    assert_int_equal(wf_matmul_plan(device, &params, &plan), WF_SUCCESS);
    assert_int_equal(wf_plan_run_times(plan, &bindings, 0, &seconds, &gpu_clock),
                     WF_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wf_plan_run_times(plan, &bindings, 3, &seconds, &gpu_clock), WF_SUCCESS);
    assert_true(seconds > 0);
    assert_int_equal(wf_buffer_read(buffers[2], 0, c, sizeof c), WF_SUCCESS);
    assert_int_equal(wf_matmul_check(&params, &inputs, c, 0, 1, &check), WF_SUCCESS);
    assert_true(check.error_over_bound <= 1);
    assert_int_equal(wf_plan_measure(plan, &bindings, &measure, &timing), WF_SUCCESS);
    assert_true(timing.median_us > 0 && timing.gpu_clock == gpu_clock);
    wf_plan_destroy(&plan);
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&buffers[i]);
    return gpu_clock;
}

static bool multiply(wf_device *device)
{
    return multiply_as(device, WF_TYPE_F32);
}

static void budget_is_kept(void **state)
{
    (void)state;
    wf_buffer *buffer = NULL;
    uint64_t left = 0;
    pretend.budget = BUDGET;
    pretend.usage = BUDGET / 4;
    wf_device *device = open_device();
    if (!device->caps.memory_budget) {
        wf_device_destroy(&device);
        skip();
    }
    assert_true(device->caps.available_bytes == BUDGET / 4 * 3);
    assert_int_equal(wf_device_available(device, &left), WF_SUCCESS);
    assert_true(left == BUDGET / 4 * 3);
    assert_int_equal(wf_buffer_create(device, BUDGET, WF_MEMORY_DEVICE, &buffer),
                     WF_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_non_null(strstr(last_error, "memory budget leaves"));
    assert_null(buffer);
    assert_int_equal(wf_buffer_create(device, BUDGET / 2, WF_MEMORY_DEVICE, &buffer), WF_SUCCESS);
    /* Others' use grows meanwhile. */
    pretend.usage = BUDGET - 4096;
    assert_int_equal(wf_device_available(device, &left), WF_SUCCESS);
    assert_true(left == 4096);
    wf_buffer_destroy(&buffer);
    assert_int_equal(wf_buffer_create(device, BUDGET / 2, WF_MEMORY_DEVICE, &buffer),
                     WF_ERROR_OUT_OF_DEVICE_MEMORY);
    pretend.usage = BUDGET + 1;
    assert_int_equal(wf_device_available(device, &left), WF_SUCCESS);
    assert_true(left == 0);
    wf_device_destroy(&device);
}

static void host_clock_serves(void **state)
{
    (void)state;
    pretend.no_timestamps = true;
    wf_device *device = open_device();
    assert_int_equal(device->caps.timestamp_valid_bits, 0);
    assert_false(multiply(device));
    wf_device_destroy(&device);
}

static void doubles_are_refused(void **state)
{
    (void)state;
    const uint32_t offsets[] = {0, 1}, columns[] = {0};
    const double value[] = {2};
    wf_plan *plan = NULL;
    wf_spmv_params params = {.size = sizeof params,
                             .rows = 1,
                             .columns = 1,
                             .row_offsets = offsets,
                             .column_indices = columns,
                             .values = value,
                             .type = WF_TYPE_F64};
    double rate;
    pretend.no_f64 = true;
    wf_device *device = open_device();
    assert_false(device->caps.f64);
    assert_int_equal(wf_spmv_plan(device, &params, &plan), WF_ERROR_UNSUPPORTED);
    assert_non_null(strstr(last_error, "64-bit floats"));
    assert_int_equal(wf_device_fma_rate(device, WF_TYPE_F64, &rate), WF_ERROR_UNSUPPORTED);
    multiply(device);
    wf_device_destroy(&device);
}

/* 16-bit elements are stored where they can be, with or without arithmetic on them. */
static void halves_need_storage_alone(void **state)
{
    (void)state;
    const wf_matmul_params params = {
        .size = sizeof params, .m = 4, .n = 4, .k = 4, .type = WF_TYPE_F16};
    for (unsigned lacking = 0; lacking < 4; lacking++) {
        wf_plan *plan = NULL;
        pretend.no_f16_arithmetic = lacking & 1;
        pretend.no_f16_storage = lacking & 2;
        wf_device *device = open_device();
        assert_false(device->caps.f16_arithmetic && pretend.no_f16_arithmetic);
        assert_false(device->caps.f16_storage && pretend.no_f16_storage);
        if (device->caps.f16_storage) {
            multiply_as(device, WF_TYPE_F16);
        } else {
            assert_int_equal(wf_matmul_plan(device, &params, &plan), WF_ERROR_UNSUPPORTED);
            assert_non_null(strstr(last_error, "16-bit storage"));
        }
        wf_device_destroy(&device);
    }
}

/* Device memory of unified devices is the host's: the kernel reads what the host wrote in place. */
static void nothing_is_copied(void **state)
{
    (void)state;
    wf_device *device = open_device();
    wf_buffer *buffer = NULL;
    uint32_t word = 0;
    assert_int_equal(wf_buffer_create(device, 64, WF_MEMORY_DEVICE, &buffer), WF_SUCCESS);
    uint32_t *mapped = wf_buffer_mapped(buffer);
    assert_int_equal(mapped != NULL, device->caps.unified_memory);
    if (mapped) {
        mapped[3] = 0x12345678;
        assert_int_equal(wf_buffer_read(buffer, 12, &word, 4), WF_SUCCESS);
        assert_int_equal(word, 0x12345678);
        assert_int_equal(wf_buffer_fill(buffer, 0, 64, 7), WF_SUCCESS);
        assert_int_equal(mapped[15], 7);
    }
    wf_buffer_destroy(&buffer);
    assert_int_equal(wf_buffer_create(device, 64, WF_MEMORY_READBACK, &buffer), WF_SUCCESS);
    assert_non_null(wf_buffer_mapped(buffer));
    wf_buffer_destroy(&buffer);
    wf_device_destroy(&device);
}

/* A driver with a documented fault is listed with it; once opened, the device's own test has the last
 * word, and here finds nothing wrong. */
static void documented_faults_are_judged(void **state)
{
    (void)state;
    static wf_caps listed[16];
    const wf_device_params params = {.size = sizeof params, .get_instance_proc_addr = proc};
    uint32_t count = sizeof listed / sizeof *listed;
    wf_quirk quirk;
    pretend.subgroup_size = 64;
    assert_int_equal(wf_devices_list(&params, listed, &count), WF_SUCCESS);
    assert_true(listed[0].faults & WF_FAULT_SHUFFLE);
    assert_int_equal(listed[0].subgroup_operations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT, 0);
    assert_true(wf_caps_quirk(&listed[0], 0, &quirk));
    assert_non_null(strstr(quirk.reference, "MoltenVK"));
    wf_device *device = open_device();
    if (device->caps.limits == WF_LIMITS_MINIMUM)
        assert_false(wf_caps_quirk(&device->caps, 0, &quirk)); /* no subgroups are used at all */
    else
        assert_int_equal(device->caps.faults & WF_FAULT_SHUFFLE, 0);
    multiply(device);
    wf_device_destroy(&device);
}

/* No row knows of this driver: the self-test finds the fault, and nothing that it touches runs. */
static void unknown_faults_are_found(void **state)
{
    (void)state;
    wf_quirk quirk;
    wf_plan *plan = NULL;
    const uint32_t offsets[] = {0, 1}, columns[] = {0};
    const float value[] = {2};
    const wf_tuning shuffling = {.size = sizeof shuffling, .variant = "lanes"};
    const wf_spmv_params matrix = {.size = sizeof matrix,
                                   .rows = 1,
                                   .columns = 1,
                                   .row_offsets = offsets,
                                   .column_indices = columns,
                                   .values = value,
                                   .tuning = &shuffling};
    pretend.wrong_shuffles = true;
    wf_device *device = open_device_with("");
    if (device->offered.subgroup_operations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) {
        assert_int_equal(device->caps.faults, WF_FAULT_SHUFFLE);
        assert_false(wf_caps_quirk(&device->caps, 0, &quirk));
        assert_int_equal(device->caps.subgroup_operations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT, 0);
    }
    assert_int_equal(wf_spmv_plan(device, &matrix, &plan), WF_ERROR_UNSUPPORTED);
    if (!strstr(last_error, "the device has no subgroup"))
        fail_msg("%s", last_error);
    multiply(device);
    wf_device_destroy(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(budget_is_kept, forget),
        cmocka_unit_test_setup(host_clock_serves, forget),
        cmocka_unit_test_setup(doubles_are_refused, forget),
        cmocka_unit_test_setup(halves_need_storage_alone, forget),
        cmocka_unit_test_setup(nothing_is_copied, forget),
        cmocka_unit_test_setup(documented_faults_are_judged, forget),
        cmocka_unit_test_setup(unknown_faults_are_found, forget),
    };
    void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = loader ? dlsym(loader, "vkGetInstanceProcAddr") : NULL;
    if (!symbol)
        return 1;
    memcpy(&real_proc, &symbol, sizeof real_proc);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dlclose(loader);
    return failed;
}
