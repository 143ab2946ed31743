/* wavefit devices: a table of the Vulkan devices, or all of it as JSON. */
#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"
#include "io/results.h"
#include "tool/commands/commands.h"
#include "tool/commands/devices_profile.h"
#include "tool/cli/options.h"
#include "tool/cli/table.h"
#include "tool/cli/wrap.h"

#define MAX_DEVICES 64

static void print_error(void *user, wf_log_level level, const char *text)
{
    (void)user;
    if (level == WF_LOG_ERROR)
        fprintf(stderr, "wavefit: %s\n", text);
}

static const char *type_name(uint32_t type)
{
    static const char *const names[] = {"other", "integrated", "discrete", "virtual", "CPU"};
    return type < 5 ? names[type] : "other";
}

static void list_features(const wf_caps *caps, char *text, size_t bytes)
{
    const struct {
        bool on;
        const char *name;
    } list[] = {{caps->f64, "f64"},
                {caps->f16_arithmetic, "f16"},
                {caps->bf16, "bf16"},
                {caps->int8_arithmetic, "int8"},
                {caps->integer_dot, "dot"},
                {caps->cooperative_matrix, "coopmat"},
                {caps->cooperative_matrix2, "coopmat2"}};
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < WFI_COUNT(list); i++)
        if (list[i].on && used + 10 < bytes)
            used +=
                (size_t)snprintf(text + used, bytes - used, "%s%s", used ? " " : "", list[i].name);
}

static void add_device(wfi_table *table, const wf_caps *caps)
{
    char text[WFI_CELL_BYTES];
    const int row = wfi_table_row(table);
    wfi_table_set(table, row, 0, "%u", caps->index);
    wfi_table_set(table, row, 1, "%.48s", caps->name);
    wfi_table_set(table, row, 2, "%s", type_name(caps->device_type));
    wfi_format_bytes((double)caps->device_local_bytes, text, sizeof text);
    wfi_table_set(table, row, 3, "%s", text);
    if (caps->subgroup_min == caps->subgroup_max)
        wfi_table_set(table, row, 4, "%u", caps->subgroup_size);
    else
        wfi_table_set(table, row, 4, "%u (%u-%u)", caps->subgroup_size, caps->subgroup_min,
                      caps->subgroup_max);
    wfi_table_set(table, row, 5, "%u", caps->max_invocations);
    wfi_format_bytes((double)caps->max_shared_bytes, text, sizeof text);
    wfi_table_set(table, row, 6, "%s", text);
    list_features(caps, text, sizeof text);
    wfi_table_note(table, row, 1, "Vulkan %u.%u, %.100s%s%s",
                   VK_API_VERSION_MAJOR(caps->api_version), VK_API_VERSION_MINOR(caps->api_version),
                   caps->driver_info[0] ? caps->driver_info : caps->driver_name,
                   *text ? "; features: " : "", text);
}

/* Opens the device, which tries what it offers, and takes over what was found. */
static void look_closer(wf_caps *caps, wf_limits limits)
{
    char index[16];
    wf_device *device = NULL;
    snprintf(index, sizeof index, "%u", caps->index);
    const wf_device_params params = {
        .size = sizeof params, .selector = index, .log = print_error, .limits = limits};
    if (wf_device_create(&params, &device) != WF_SUCCESS)
        return;
    *caps = *wf_device_caps(device);
    wf_device_destroy(&device);
}

static void print_faults(const wf_caps *caps)
{
    static const struct {
        uint32_t fault;
        const char *what;
    } names[] = {{WF_FAULT_SHUFFLE, "subgroup shuffles"},
                 {WF_FAULT_SUBGROUP_ARITHMETIC, "subgroup reductions and scans"},
                 {WF_FAULT_COOPERATIVE_MATRIX, "cooperative matrices"},
                 {WF_FAULT_SHARED_MEMORY, "shared memory"},
                 {WF_FAULT_FULL_SUBGROUPS, "full subgroups of the largest size in products"}};
    for (size_t i = 0; i < WFI_COUNT(names); i++)
        if (caps->faults & names[i].fault)
            printf("%u: not used: %s, which fail%s here\n", caps->index, names[i].what,
                   names[i].fault == WF_FAULT_SHARED_MEMORY        ? "s"
                   : names[i].fault == WF_FAULT_COOPERATIVE_MATRIX ? " or are slow"
                                                                   : "");
}

static void print_table(const wf_caps *caps, uint32_t count)
{
    static const char *const heading[] = {"#",        "device", "type",  "memory",
                                          "subgroup", "group",  "shared"};
    static wfi_table table = {.columns = 7};
    wf_quirk quirk;
    wfi_table_headings(&table, heading, 7);
    for (uint32_t i = 0; i < count; i++)
        add_device(&table, &caps[i]);
    wfi_table_print(&table);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t n = 0; wf_caps_quirk(&caps[i], n, &quirk); n++)
            wfi_line(3, "%u: known fault: %s; %s (%s)", caps[i].index, quirk.what, quirk.instead,
                     quirk.reference);
    for (uint32_t i = 0; i < count; i++)
        print_faults(&caps[i]);
    for (uint32_t i = 0; i < count; i++)
        if (caps[i].display_attached)
            printf("%u: a display is attached: long dispatches go in pieces (--dispatch)\n",
                   caps[i].index);
}

int wfi_tool_devices(int argc, char **argv)
{
    /* Here --json may stand alone: the list goes to standard output. */
    const char *profile = NULL;
    const wfi_option options[] = {
        {"--profile", "FILE", &profile, NULL,
         "a device that is not here, as a file of Vulkan Profiles; tells what would run on it"}};
    const wfi_command command = {"devices",
                                 "[--json FILE|-]",
                                 "Lists the Vulkan devices and what they can do.",
                                 0,
                                 0,
                                 options,
                                 1};
    static wf_caps caps[MAX_DEVICES];
    uint32_t count = MAX_DEVICES;
    wfi_common common;
    wfi_io_error error;
    static char dash[] = "-";
    char *with_dash[64];
    if (argc > 2 && argc < 64 && strcmp(argv[argc - 1], "--json") == 0) {
        memcpy(with_dash, argv, (size_t)argc * sizeof *argv);
        with_dash[argc++] = dash;
        argv = with_dash;
    }
    int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    if (profile)
        return wfi_devices_profile(profile, &common);
    const wf_device_params params = {
        .size = sizeof params,
        .log = print_error,
        .limits = common.minimum_limits ? WF_LIMITS_MINIMUM : WF_LIMITS_DEVICE,
    };
    const wf_result result = wf_devices_list(&params, caps, &count);
    if (result == WF_ERROR_NO_LOADER || result == WF_ERROR_NO_DEVICE)
        return WFI_EXIT_NO_DEVICE;
    if (result != WF_SUCCESS)
        return WFI_EXIT_FAILED;
    if (count > MAX_DEVICES)
        count = MAX_DEVICES;
    for (uint32_t i = 0; i < count; i++)
        look_closer(&caps[i], params.limits);
    if (!common.json)
        print_table(caps, count);
    else if (!wfi_devices_write(common.json, caps, count, &error))
        return wfi_run_error("%s", error.text);
    return WFI_EXIT_DONE;
}
