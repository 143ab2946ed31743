"""native.py WAVEFIT_H NATIVE_H OUT_C: writes the C source of wavefit._native, cffi's API mode.

The declarations are those of the public header. What it needs of Vulkan is declared as far as
Python touches it; the C compiler completes the rest.
"""

import re
import sys

import cffi

# Vulkan's types, of which sizes and values come from its headers.
VULKAN = """
typedef struct VkInstance_T *VkInstance;
typedef struct VkPhysicalDevice_T *VkPhysicalDevice;
typedef struct VkDevice_T *VkDevice;
typedef struct VkQueue_T *VkQueue;
typedef struct VkCommandBuffer_T *VkCommandBuffer;
typedef struct VkBuffer_T *VkBuffer;
typedef struct VkImageView_T *VkImageView;
typedef struct VkDeviceMemory_T *VkDeviceMemory;
typedef struct VkSemaphore_T *VkSemaphore;
typedef struct VkPipelineCache_T *VkPipelineCache;
typedef int... VkResult;
typedef int... VkMemoryPropertyFlags;
typedef struct { ...; } VkMemoryRequirements;
typedef struct { ...; } VkAllocationCallbacks;
typedef struct { ...; } VkPhysicalDeviceFeatures;
typedef struct { ...; } VkPhysicalDeviceFeatures2;
typedef void (*PFN_vkVoidFunction)(void);
typedef PFN_vkVoidFunction (*PFN_vkGetInstanceProcAddr)(VkInstance, const char *);
"""

# What the library calls of Python.
CALLBACKS = """
extern "Python" void wavefit_log(void *user, wf_log_level level, const char *text);
extern "Python" bool wavefit_cancelled(void *user);
extern "Python" bool wavefit_cg_progress(void *user, uint32_t iterations, double residual);
extern "Python" bool wavefit_laplace_progress(void *user, uint32_t iterations, double residual);
extern "Python" bool wavefit_tune_progress(void *user, const wf_tune_progress *progress);
"""


# python/native.h
HELPERS = """
uint64_t python_queue_run(wf_queue *queue, wf_plan *plan, wf_bindings *bindings,
                          const wf_buffer *first, uint64_t first_offset,
                          const wf_buffer *second, uint64_t second_offset,
                          const wf_buffer *third, uint64_t third_offset,
                          const wf_buffer *fourth, uint64_t fourth_offset, wf_result *result);
typedef struct python_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
    void *context;
    void (*deleter)(struct python_tensor *tensor);
} python_tensor;
#define PYTHON_TENSOR_AXES 8
python_tensor *python_tensor_make(uintptr_t owner);
uintptr_t python_capsule_destructor(void);
uintptr_t python_capsule_name(void);
"""


def declarations(header):
    """The header's declarations as cffi reads them: without comments, conditions and macros that
    are no plain numbers."""
    with open(header, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    lines = []
    for line in text.splitlines():
        if line.startswith("#"):
            if re.match(r"#define (WF|WFI)_\w+ \d+$", line):
                lines.append(line)
            continue
        lines.append(line)
    text = "\n".join(lines)
    text = re.sub(r'extern "C" \{\n(.*)\n\}', r"\1", text, flags=re.S)
    return text.replace("WF_API ", "")


def main():
    header, helpers, out = sys.argv[1:]
    ffi = cffi.FFI()
    ffi.cdef(VULKAN + declarations(header) + HELPERS + CALLBACKS)
    with open(helpers, encoding="utf-8") as file:
        ffi.set_source("wavefit._native", file.read())
    ffi.emit_c_code(out)


if __name__ == "__main__":
    main()
