/* Descriptor sets and texel-buffer views that live until their arena is reset. */
#ifndef WFI_CORE_ARENA_H
#define WFI_CORE_ARENA_H

#include "core/pipeline.h"

wf_device *wfi_arena_device(const wf_arena *arena);
/* A set that fits the pipeline, free since the last reset or new; to be written whole. */
wf_result wfi_arena_set(wf_arena *arena, const wfi_log *log, const wfi_pipeline *pipeline,
                        VkDescriptorSet *set);
/* A new view; destroyed by the arena. */
wf_result wfi_arena_view(wf_arena *arena, const wfi_log *log, const VkBufferViewCreateInfo *info,
                         VkBufferView *view);

#endif
