/* Names of results, and the version: constant texts of the public header. */
#include "wavefit/wavefit.h"

const char *wf_result_string(wf_result result)
{
    switch (result) {
    case WF_SUCCESS:
        return "success";
    case WF_NOT_READY:
        return "not ready";
    case WF_ERROR_INVALID_ARGUMENT:
        return "invalid argument";
    case WF_ERROR_OUT_OF_HOST_MEMORY:
        return "out of host memory";
    case WF_ERROR_OUT_OF_DEVICE_MEMORY:
        return "out of device memory";
    case WF_ERROR_NO_LOADER:
        return "no Vulkan loader";
    case WF_ERROR_NO_DEVICE:
        return "no Vulkan device";
    case WF_ERROR_DEVICE_LOST:
        return "device lost";
    case WF_ERROR_UNSUPPORTED:
        return "not supported by the device";
    case WF_ERROR_TOO_LARGE:
        return "too large";
    case WF_ERROR_UNKNOWN_VARIANT:
        return "unknown variant or constant";
    case WF_ERROR_CONSTRAINT:
        return "a constant breaks a constraint";
    case WF_ERROR_BINDING:
        return "unusable binding";
    case WF_ERROR_CANCELLED:
        return "cancelled";
    case WF_ERROR_DRIVER:
        return "driver error";
    case WF_ERROR_DEVICE_CLOSED:
        return "device was destroyed";
    }
    return "unknown result";
}

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *wf_version(void)
{
    return TEXT(WF_VERSION_MAJOR) "." TEXT(WF_VERSION_MINOR) "." TEXT(WF_VERSION_PATCH);
}
