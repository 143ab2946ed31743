/* What drivers and layers say (VK_EXT_debug_utils) on devices of wavefit's own: a function between
 * wavefit and the loader refuses pipelines, with words or without, and speaks as a layer does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/platform.h"
#include "engine.h"
#include "harness.h"

#define REFUSED "VK_ERROR_UNKNOWN (-13): the driver refuses the kernel"

static PFN_vkGetInstanceProcAddr real_get_proc;
static PFN_vkGetDeviceProcAddr real_get_device_proc;
static PFN_vkCreateComputePipelines real_pipelines;
static PFN_vkCreateDebugUtilsMessengerEXT real_create;
static PFN_vkDestroyDebugUtilsMessengerEXT real_destroy;

static struct messenger {
    VkDebugUtilsMessengerCreateInfoEXT info; /* of the last one */
    int alive;
    unsigned made;
} messenger;

static const char *reason; /* that the driver tells, or NULL */
static VkResult refusal;   /* VK_SUCCESS: the driver makes its pipelines */

static void say(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                VkDebugUtilsMessageTypeFlagsEXT types, const char *text)
{
    const VkDebugUtilsMessengerCallbackDataEXT data = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CALLBACK_DATA_EXT, .pMessage = text};
    if ((messenger.info.messageSeverity & severity) && (messenger.info.messageType & types))
        messenger.info.pfnUserCallback(severity, types, &data, messenger.info.pUserData);
}

static void say_as_driver(const char *text)
{
    say(VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT,
        VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT, text);
}

static VKAPI_ATTR VkResult VKAPI_CALL
create_messenger(VkInstance instance, const VkDebugUtilsMessengerCreateInfoEXT *info,
                 const VkAllocationCallbacks *allocator, VkDebugUtilsMessengerEXT *out)
{
    messenger.info = *info;
    messenger.alive++;
    messenger.made++;
    return real_create(instance, info, allocator, out);
}

static VKAPI_ATTR void VKAPI_CALL destroy_messenger(VkInstance instance,
                                                    VkDebugUtilsMessengerEXT handle,
                                                    const VkAllocationCallbacks *allocator)
{
    messenger.alive--;
    real_destroy(instance, handle, allocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL make_pipelines(VkDevice device, VkPipelineCache cache,
                                                     uint32_t count,
                                                     const VkComputePipelineCreateInfo *infos,
                                                     const VkAllocationCallbacks *allocator,
                                                     VkPipeline *out)
{
    if (refusal == VK_SUCCESS)
        return real_pipelines(device, cache, count, infos, allocator, out);
    for (uint32_t i = 0; i < count; i++)
        out[i] = VK_NULL_HANDLE;
    if (reason)
        say_as_driver(reason);
    return refusal;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *name)
{
    PFN_vkVoidFunction function = real_get_device_proc(device, name);
    if (strcmp(name, "vkCreateComputePipelines") != 0)
        return function;
    real_pipelines = (PFN_vkCreateComputePipelines)function;
    return (PFN_vkVoidFunction)make_pipelines;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction function = real_get_proc(instance, name);
    if (strcmp(name, "vkGetDeviceProcAddr") == 0) {
        real_get_device_proc = (PFN_vkGetDeviceProcAddr)function;
        return (PFN_vkVoidFunction)device_proc;
    }
    if (strcmp(name, "vkCreateDebugUtilsMessengerEXT") == 0) {
        real_create = (PFN_vkCreateDebugUtilsMessengerEXT)function;
        return (PFN_vkVoidFunction)create_messenger;
    }
    if (strcmp(name, "vkDestroyDebugUtilsMessengerEXT") == 0) {
        real_destroy = (PFN_vkDestroyDebugUtilsMessengerEXT)function;
        return (PFN_vkVoidFunction)destroy_messenger;
    }
    return function;
}

static wf_device *open_device(const wf_device_params *given)
{
    wf_device_params params = *given;
    wf_device *device = NULL;
    messenger = (struct messenger){.made = 0};
    refusal = VK_SUCCESS;
    params.get_instance_proc_addr = instance_proc;
    params.cache_directory = "";
    assert_int_equal(wf_device_create(&params, &device), WF_SUCCESS);
    return device;
}

/* The error of a kernel that the driver refuses so. */
static const char *refused(wf_device *device, VkResult vk, const char *words, wf_result expected)
{
    const wf_problem problem = {
        .size = sizeof problem, .family = WF_FAMILY_MATMUL, .extent = {64, 64, 64}};
    wf_plan_info info = {.size = sizeof info};
    refusal = vk;
    reason = words;
    test_expect_errors(true);
    assert_int_equal(wf_kernel_compile(device, &problem, NULL, &info), expected);
    test_expect_errors(false);
    return test_last_error();
}

static void reasons_are_told(void **state)
{
    (void)state;
    const wf_device_params params = test_device_params();
    wf_device *device = open_device(&params);
    assert_int_equal(messenger.made, 1);
    assert_non_null(
        strstr(refused(device, VK_ERROR_UNKNOWN, "\nno  registers\n are left\n", WF_ERROR_DRIVER),
               REFUSED ": no registers are left; where constants were forced"));
    say_as_driver("this is no reason");
    assert_non_null(strstr(refused(device, VK_ERROR_UNKNOWN, NULL, WF_ERROR_DRIVER),
                           REFUSED "; where constants were forced"));
    const char *memory =
        refused(device, VK_ERROR_OUT_OF_DEVICE_MEMORY, "no memory", WF_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_non_null(strstr(memory, "VK_ERROR_OUT_OF_DEVICE_MEMORY"));
    assert_null(strstr(memory, "forced"));
    wf_device_destroy(&device);
    assert_int_equal(messenger.alive, 0);
}

/* A reason of any length is cut off where the error has no more room. */
static void long_reasons_are_cut_off(void **state)
{
    (void)state;
    static char words[5000];
    const wf_device_params params = test_device_params();
    wf_device *device = open_device(&params);
    for (size_t i = 0; i + 1 < sizeof words; i++)
        words[i] = i % 2 ? ' ' : 'w';
    const char *error = refused(device, VK_ERROR_UNKNOWN, words, WF_ERROR_DRIVER);
    assert_non_null(strstr(error, REFUSED ": w w w w"));
    assert_non_null(strstr(error, "; where constants were forced"));
    wf_device_destroy(&device);
}

static void layers_errors_go_to_the_log(void **state)
{
    (void)state;
    const wf_device_params params = test_device_params();
    wf_device *device = open_device(&params);
    test_expect_errors(true);
    say(VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT, "a layer's error");
    say(VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT,
        VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT, "a layer's warning");
    test_expect_errors(false);
    assert_string_equal(test_last_error(), "a layer's error");
    wf_device_destroy(&device);
}

/* A messenger would keep a layer from writing by itself, and nobody would hear. */
static void without_a_log_nobody_listens(void **state)
{
    (void)state;
    wf_device_params params = test_device_params();
    params.log = NULL;
    wf_device *device = open_device(&params);
    wf_device_destroy(&device);
    assert_int_equal(messenger.made, 0);
}

static void applications_instances_stay_alone(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    messenger = (struct messenger){.made = 0};
    refusal = VK_SUCCESS;
    vulkan.get_instance_proc_addr = instance_proc;
    vulkan.debug_utils = true;
    wf_device *device = engine_adopt(&vulkan);
    wf_device_destroy(&device);
    engine_close(&e);
    assert_int_equal(messenger.made, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reasons_are_told),
        cmocka_unit_test(long_reasons_are_cut_off),
        cmocka_unit_test(layers_errors_go_to_the_log),
        cmocka_unit_test(without_a_log_nobody_listens),
        cmocka_unit_test(applications_instances_stay_alone),
    };
    void *loader = wfi_library_open(wfi_vulkan_loaders[0]);
    real_get_proc =
        loader ? (PFN_vkGetInstanceProcAddr)wfi_library_symbol(loader, "vkGetInstanceProcAddr")
               : NULL;
    const int failed = real_get_proc ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
    if (loader)
        wfi_library_close(loader);
    return failed;
}
