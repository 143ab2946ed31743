/* Files that `wavefit devices --profile` reads, and the device that they describe. */
#include <string.h>

#include "target.h"
#include "tool/profile/null_driver.h"
#include "tool/profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wfi_profile profile;
    wf_caps caps;
    char why[192] = "", untold[64];
    yyjson_doc *doc = yyjson_read((const char *)data, size, YYJSON_READ_NOFLAG);
    if (!doc)
        return 0;
    if (!wfi_profile_open(doc, &profile, why)) {
        if (!*why || strchr(why, '\n'))
            fuzz_wrong("a refusal that is not one line");
        return 0;
    }
    wfi_profile_untold(&profile, untold, sizeof untold);
    if (wfi_profile_caps(&profile, WF_LIMITS_DEVICE, NULL, &caps) == WF_SUCCESS) {
        if (!memchr(caps.name, '\0', sizeof caps.name))
            fuzz_wrong("a device's name without an end");
    }
    wfi_profile_close(&profile);
    return 0;
}
