#include "core/select.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"

/* Discrete before integrated before virtual before CPU before anything else. */
static int type_rank(uint32_t device_type)
{
    switch (device_type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return 3;
    default:
        return 4;
    }
}

static uint32_t best_device(const wf_caps *caps, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        if (type_rank(caps[i].device_type) < type_rank(caps[best].device_type))
            best = i;
    return best;
}

static bool is_index(const char *text, unsigned long *value)
{
    const size_t length = strlen(text);
    if (length == 0 || length > 4 || strspn(text, "0123456789") != length)
        return false;
    *value = strtoul(text, NULL, 10);
    return true;
}

static bool parse_uuid(const char *text, uint8_t uuid[16])
{
    size_t digits = 0;
    for (; *text && digits <= 32; text++) {
        if (*text == '-')
            continue;
        if (!isxdigit((unsigned char)*text))
            return false;
        const int lower = tolower((unsigned char)*text);
        const int digit = lower <= '9' ? lower - '0' : lower - 'a' + 10;
        if (digits < 32)
            uuid[digits / 2] = (uint8_t)(uuid[digits / 2] << 4 | digit);
        digits++;
    }
    return digits == 32;
}

static bool contains_ignoring_case(const char *text, const char *part)
{
    while (*text && !wfi_begins_with(text, part))
        text++;
    return wfi_begins_with(text, part);
}

static bool matches(const wf_caps *caps, const char *selector, const uint8_t *uuid)
{
    return uuid ? memcmp(caps->uuid, uuid, sizeof caps->uuid) == 0
                : contains_ignoring_case(caps->name, selector);
}

/* "0: name, 1: name", cut short when it does not fit. */
static void list_names(const wf_caps *caps, uint32_t count, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < count && used < bytes; i++) {
        const int n =
            snprintf(text + used, bytes - used, "%s%u: %s", i ? ", " : "", i, caps[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
}

wf_result wfi_select(const wfi_log *log, const wf_caps *caps, uint32_t count, const char *selector,
                     uint32_t *index)
{
    char names[640];
    unsigned long number = 0;
    uint8_t uuid[16] = {0};
    if (!selector || !*selector) {
        *index = best_device(caps, count);
        return WF_SUCCESS;
    }
    list_names(caps, count, names, sizeof names);
    if (is_index(selector, &number)) {
        if (number >= count)
            return wfi_fail(log, WF_ERROR_NO_DEVICE, "no device %s among %s", selector, names);
        *index = (uint32_t)number;
        return WF_SUCCESS;
    }
    const bool by_uuid = parse_uuid(selector, uuid);
    uint32_t found = 0;
    for (uint32_t i = count; i-- > 0;)
        if (matches(&caps[i], selector, by_uuid ? uuid : NULL)) {
            *index = i;
            found++;
        }
    if (found == 0)
        return wfi_fail(log, WF_ERROR_NO_DEVICE, "no device matches '%s' among %s", selector,
                        names);
    if (found > 1)
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "'%s' matches %u devices; choose by index among %s", selector, found,
                        names);
    return WF_SUCCESS;
}
