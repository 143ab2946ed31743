/* Mesa's shim for Broadcom's V3D, as far as Mesa's Vulkan driver needs it: it wants a kernel that
 * can wait for several semaphores and has a queue for the CPU's jobs, and of a Raspberry Pi 5 other
 * identification words. WAVEFIT_V3D=71: V3D 7.1, else 4.2. Nothing is executed. */
#define drm_shim_driver_init mesa_driver_init
#include "broadcom/drm-shim/v3d_noop.c"
#undef drm_shim_driver_init

/* The bits are those that Mesa's src/broadcom/common/v3d_device_info.c reads: the version's first
 * digit, and its second with slices and QPUs a slice (VideoCore VII has 12 QPUs). */
enum { IDENT0_71 = 0x07443356, IDENT1_71 = (int)0x81001431 };

static int get_param(int fd, unsigned long request, void *arg)
{
    struct drm_v3d_get_param *asked = arg;
    const char *version = getenv("WAVEFIT_V3D");
    const bool v71 = version && strcmp(version, "71") == 0;

    switch (asked->param) {
    case DRM_V3D_PARAM_SUPPORTS_MULTISYNC_EXT:
    case DRM_V3D_PARAM_SUPPORTS_CPU_QUEUE:
        asked->value = 1;
        return 0;
    case DRM_V3D_PARAM_V3D_CORE0_IDENT0:
    case DRM_V3D_PARAM_V3D_CORE0_IDENT1:
        if (!v71)
            break;
        asked->value = asked->param == DRM_V3D_PARAM_V3D_CORE0_IDENT0 ? (uint32_t)IDENT0_71
                                                                      : (uint32_t)IDENT1_71;
        return 0;
    default:
        break;
    }
    return v3d_ioctl_get_param(fd, request, arg);
}

void drm_shim_driver_init(void)
{
    mesa_driver_init();
    driver_ioctls[DRM_V3D_GET_PARAM] = get_param;
}
