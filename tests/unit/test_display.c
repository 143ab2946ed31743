/* Which GPUs drive a display, by folders like sysfs's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/display.h"

static char root[64];

static void run(const char *format, const char *what)
{
    char command[512];
    snprintf(command, sizeof command, format, root, what);
    assert_int_equal(system(command), 0);
}

static int setup(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/wavefit-sys-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    run("rm -rf %s%s", "");
    return 0;
}

/* A card at 226:N with connectors of these states. */
static void make_card(int n, const char *const *states, int count)
{
    char folder[128], status[192];
    snprintf(folder, sizeof folder, "dev/char/226:%d/device/drm/card%d", n, n);
    run("mkdir -p %s/%s", folder);
    for (int i = 0; i < count; i++) {
        snprintf(status, sizeof status, "%s/card%d-DP-%d", folder, n, i);
        run("mkdir %s/%s", status);
        char path[320];
        snprintf(path, sizeof path, "%s/%s/status", root, status);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "%s\n", states[i]);
        assert_int_equal(fclose(file), 0);
    }
}

static void connectors_tell(void **state)
{
    (void)state;
    static const char *const dark[] = {"disconnected", "unknown", ""};
    static const char *const bright[] = {"disconnected", "connected"};
    make_card(0, dark, 3);
    make_card(1, bright, 2);
    make_card(2, NULL, 0);
    run("mkdir -p %s/%s", "dev/char/226:1/device/drm/renderD129");
    /* The render node of a card leads to the same device. */
    run("cd %s/dev/char && ln -s 226:1 %s", "226:129");
    assert_false(wfi_display_connected(root, 226, 0));
    assert_true(wfi_display_connected(root, 226, 1));
    assert_true(wfi_display_connected(root, 226, 129));
    assert_false(wfi_display_connected(root, 226, 2));
    assert_false(wfi_display_connected(root, 226, 7));
    assert_false(wfi_display_connected("/nowhere", 226, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connectors_tell),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
