/* Families that a build may leave out. */
#ifndef WFI_API_FAMILIES_H
#define WFI_API_FAMILIES_H

#include "core/log.h"

/* WF_ERROR_UNSUPPORTED, with a line in the log, where this build does not have the family. */
wf_result wfi_family_require(const wfi_log *log, wf_family family, const char *function);

#endif
