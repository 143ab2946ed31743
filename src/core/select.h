/* Which of several devices is meant. */
#ifndef WFI_CORE_SELECT_H
#define WFI_CORE_SELECT_H

#include "core/log.h"

/* The index in caps of the device that `selector` names (NULL or "": the best one).
 * WF_ERROR_NO_DEVICE when none matches, WF_ERROR_INVALID_ARGUMENT when several do. */
wf_result wfi_select(const wfi_log *log, const wf_caps *caps, uint32_t count, const char *selector,
                     uint32_t *index);

#endif
