/* Walking a pNext chain. The structures in it are of many types and none of them is a
 * VkBaseOutStructure: sType and pNext are copied, since an access through a type that is not the
 * object's lets the compiler put the reads of its members before our writes. */
#ifndef WFI_CORE_CHAIN_H
#define WFI_CORE_CHAIN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <vulkan/vulkan_core.h>

static inline VkStructureType wfi_chain_type(const void *structure)
{
    VkStructureType type;
    memcpy(&type, structure, sizeof type);
    return type;
}

static inline void *wfi_chain_next(const void *structure)
{
    void *next;
    memcpy(&next, (const char *)structure + offsetof(VkBaseOutStructure, pNext), sizeof next);
    return next;
}

static inline void wfi_chain_set_next(void *structure, const void *next)
{
    memcpy((char *)structure + offsetof(VkBaseOutStructure, pNext), &next, sizeof next);
}

/* Puts a structure of a type behind the head of a chain. */
static inline void wfi_chain_insert(void *head, void *structure, VkStructureType type)
{
    memcpy(structure, &type, sizeof type);
    wfi_chain_set_next(structure, wfi_chain_next(head));
    wfi_chain_set_next(head, structure);
}

/* The structure of a type in a chain, NULL if there is none. */
static inline void *wfi_chain_find(const void *chain, VkStructureType type)
{
    const void *at = chain;
    while (at && wfi_chain_type(at) != type)
        at = wfi_chain_next(at);
    return (void *)(uintptr_t)at;
}

#endif
