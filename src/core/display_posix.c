#include "core/display.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES 512

/* "connected" alone: "disconnected" and "unknown" (a port that cannot tell) are none. */
static bool is_connected(const char *connector)
{
    char path[PATH_BYTES], status[32] = "";
    if (snprintf(path, sizeof path, "%s/status", connector) >= (int)sizeof path)
        return false;
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    const bool read = fgets(status, sizeof status, file) != NULL;
    fclose(file);
    status[strcspn(status, "\n")] = '\0';
    return read && strcmp(status, "connected") == 0;
}

/* Calls `look` with entries of the folder that begin with the prefix, until one returns true. */
static bool any_entry(const char *folder, const char *prefix, bool (*look)(const char *path))
{
    char path[PATH_BYTES];
    bool found = false;
    DIR *list = opendir(folder);
    if (!list)
        return false;
    for (const struct dirent *entry; !found && (entry = readdir(list));)
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path)
            found = look(path);
    closedir(list);
    return found;
}

/* A card's connectors are folders in its own: card0/card0-HDMI-A-1. */
static bool has_display(const char *card)
{
    return any_entry(card, "card", is_connected);
}

bool wfi_display_connected(const char *system, int64_t major, int64_t minor)
{
    char path[PATH_BYTES];
    if (snprintf(path, sizeof path, "%s/dev/char/%lld:%lld/device/drm", system, (long long)major,
                 (long long)minor) >= (int)sizeof path)
        return false;
    return any_entry(path, "card", has_display);
}
