/* Prints the version of the wavefit it is linked with and the device that it opens. */
#include <stdio.h>

#include <wavefit/wavefit.h>

int main(void)
{
    wf_device *device = NULL;
    const wf_result result = wf_device_create(NULL, &device);
    if (result != WF_SUCCESS) {
        fprintf(stderr, "%s\n", wf_result_string(result));
        return 1;
    }
    printf("wavefit %s on %s\n", wf_version(), wf_device_caps(device)->name);
    wf_device_destroy(&device);
    return 0;
}
