/* A device in results files and in what `wavefit devices --json` writes. */
#ifndef WFI_IO_RESULTS_DEVICE_H
#define WFI_IO_RESULTS_DEVICE_H

#include <yyjson.h>

#include "wavefit/wavefit.h"

yyjson_mut_val *wfi_device_json(yyjson_mut_doc *doc, const wf_caps *caps);

#endif
