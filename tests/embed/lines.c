/* The lines of docs/embedding.md as they stand there. */
#include <stdio.h>
#include <vulkan/vulkan.h>

#include "ten_lines.h"
