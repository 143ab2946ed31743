/* Mesa's shim for Broadcom's V3D, as far as Mesa's Vulkan driver needs it: it wants a kernel that
 * can wait for several semaphores and has a queue for the CPU's jobs, and of a Raspberry Pi 5 other
 * identification words. The driver submits from a thread of its own, so that a wait must not end
 * before what it waits for was submitted, nor before that thread has put its things away, which
 * takes less than any GPU's work: the driver would free what its thread still uses. Mesa's shim
 * gives every object to wait for the same handle, so that the first job of a submission would end
 * all waits.
 * WAVEFIT_V3D=71: V3D 7.1, else 4.2. Nothing is executed. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

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

#define MOST_SYNCS 65536
#define PATIENCE_SECONDS 2 /* a wait ends then all the same */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static bool signalled[MOST_SYNCS], used[MOST_SYNCS];
static pid_t submitter; /* the driver's thread; 0: nothing was submitted */

static void set_signalled(const uint32_t *handles, uint32_t count, bool value)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < count; i++)
        signalled[handles[i] % MOST_SYNCS] = value;
    pthread_cond_broadcast(&more);
    pthread_mutex_unlock(&lock);
}

/* What the submission would signal when it is done is signalled at once. */
static int submit(uint64_t extensions)
{
    pthread_mutex_lock(&lock);
    submitter = gettid();
    pthread_mutex_unlock(&lock);
    const struct drm_v3d_extension *e = (const void *)(uintptr_t)extensions;
    for (; e; e = (const void *)(uintptr_t)e->next) {
        const struct drm_v3d_multi_sync *m = (const void *)e;
        if (e->id != DRM_V3D_EXT_ID_MULTI_SYNC)
            continue;
        const struct drm_v3d_sem *out = (const void *)(uintptr_t)m->out_syncs;
        for (uint32_t i = 0; i < m->out_sync_count; i++)
            set_signalled(&out[i].handle, 1, true);
    }
    return 0;
}

static int submit_cl(int fd, unsigned long request, void *arg)
{
    return submit(((struct drm_v3d_submit_cl *)arg)->extensions);
}

static int submit_tfu(int fd, unsigned long request, void *arg)
{
    return submit(((struct drm_v3d_submit_tfu *)arg)->extensions);
}

static int submit_csd(int fd, unsigned long request, void *arg)
{
    return submit(((struct drm_v3d_submit_csd *)arg)->extensions);
}

static int submit_cpu(int fd, unsigned long request, void *arg)
{
    return submit(((struct drm_v3d_submit_cpu *)arg)->extensions);
}

static bool are_signalled(const struct drm_syncobj_wait *w)
{
    const uint32_t *handles = (const void *)(uintptr_t)w->handles;
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->count_handles; i++)
        count += signalled[handles[i] % MOST_SYNCS];
    return count == w->count_handles || (count && !(w->flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL));
}

/* Whether the thread sleeps: it does where it waits for the next submission. */
static bool sleeps(pid_t thread)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    FILE *file = fopen(path, "r");
    if (!file)
        return true; /* it has ended */
    const size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    const char *state = strrchr(text, ')');
    return !state || state[1] == '\0' || state[2] == 'S';
}

static void wait_for_submitter(void)
{
    pthread_mutex_lock(&lock);
    const pid_t thread = submitter;
    pthread_mutex_unlock(&lock);
    while (thread && thread != gettid() && !sleeps(thread))
        usleep(20);
}

static int wait_for_syncs(int fd, unsigned long request, void *arg)
{
    struct drm_syncobj_wait *w = arg;
    struct timespec until;
    int late = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_SECONDS;
    pthread_mutex_lock(&lock);
    while (w->timeout_nsec != 0 && !are_signalled(w) && late == 0)
        late = pthread_cond_timedwait(&more, &lock, &until);
    const bool done = are_signalled(w) || late;
    pthread_mutex_unlock(&lock);
    if (done)
        wait_for_submitter();
    else
        errno = ETIME;
    return done ? 0 : -1;
}

static int reset_syncs(int fd, unsigned long request, void *arg)
{
    const struct drm_syncobj_array *a = arg;
    set_signalled((const void *)(uintptr_t)a->handles, a->count_handles, false);
    return 0;
}

static int create_sync(int fd, unsigned long request, void *arg)
{
    struct drm_syncobj_create *c = arg;
    uint32_t handle = 1; /* 0 is none */
    pthread_mutex_lock(&lock);
    while (handle < MOST_SYNCS && used[handle])
        handle++;
    const bool room = handle < MOST_SYNCS;
    if (room) {
        used[handle] = true;
        signalled[handle] = (c->flags & DRM_SYNCOBJ_CREATE_SIGNALED) != 0;
        c->handle = handle;
    }
    pthread_mutex_unlock(&lock);
    if (!room)
        errno = ENOMEM;
    return room ? 0 : -1;
}

static int destroy_sync(int fd, unsigned long request, void *arg)
{
    const struct drm_syncobj_destroy *d = arg;
    pthread_mutex_lock(&lock);
    used[d->handle % MOST_SYNCS] = false;
    pthread_mutex_unlock(&lock);
    return 0;
}

extern ioctl_fn_t core_ioctls[];

void drm_shim_driver_init(void)
{
    static ioctl_fn_t all[DRM_V3D_SUBMIT_CPU + 1]; /* Mesa's has no room for the last ones */
    mesa_driver_init();
    memcpy(all, driver_ioctls, sizeof driver_ioctls);
    all[DRM_V3D_GET_PARAM] = get_param;
    all[DRM_V3D_SUBMIT_CL] = submit_cl;
    all[DRM_V3D_SUBMIT_TFU] = submit_tfu;
    all[DRM_V3D_SUBMIT_CSD] = submit_csd;
    all[DRM_V3D_SUBMIT_CPU] = submit_cpu;
    shim_device.driver_ioctls = all;
    shim_device.driver_ioctl_count = DRM_V3D_SUBMIT_CPU + 1;
    core_ioctls[_IOC_NR(DRM_IOCTL_SYNCOBJ_CREATE)] = create_sync;
    core_ioctls[_IOC_NR(DRM_IOCTL_SYNCOBJ_DESTROY)] = destroy_sync;
    core_ioctls[_IOC_NR(DRM_IOCTL_SYNCOBJ_WAIT)] = wait_for_syncs;
    core_ioctls[_IOC_NR(DRM_IOCTL_SYNCOBJ_RESET)] = reset_syncs;
}
