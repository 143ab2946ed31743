#!/usr/bin/env bash
# wine.sh PROGRAM.exe ARGUMENTS…: runs a Windows program by the wine of .cache/windows, which
# `./dev test-windows` makes, on this machine's Vulkan drivers and layers and without a display.
# `wine.sh --start` makes ready what all programs share, `wine.sh --stop` ends it.
set -euo pipefail
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.cache/windows" && pwd -P)
bin=$tree/usr/lib/wine
export WINESERVER=$bin/wineserver64 WINEPREFIX=$tree/prefix WINEDEBUG=-all
# A program that crashes ends, and no debugger waits for somebody to close its window.
export WINEDLLOVERRIDES='mscoree=;mshtml=;winedbg.exe='
unset DISPLAY WAYLAND_DISPLAY LD_LIBRARY_PATH
case ${1:-} in
--start)
    system=$WINEPREFIX/drive_c/windows/system32
    mkdir -p "$system"
    # user32.dll wants it.
    cp "$tree/usr/x86_64-w64-mingw32ucrt/lib/zlib1.dll" "$system"
    # While the server stays, programs start in a twentieth of the time.
    "$WINESERVER" -p >/dev/null 2>&1
    timeout 300 "$bin/wine64" wineboot -i >/dev/null 2>&1
    # Wine's services end with the last program. The next one would start them again with its own
    # output, and who reads that to its end, as ctest does, would wait for the services: a shell
    # whose input never ends keeps them.
    rm -f "$tree/input"
    mkfifo "$tree/input"
    setsid "$bin/wine64" cmd <>"$tree/input" >/dev/null 2>&1 &
    exit
    ;;
--stop) exec "$WINESERVER" -k ;;
esac
# Tests name the folder of caches as on Linux. The program gets it by the same name, as a Windows
# path, since wine sets LOCALAPPDATA itself; Mesa in the same process, which needs a path of the
# host, finds its own in MESA_SHADER_CACHE_DIR.
if [ -n "${XDG_CACHE_HOME:-}" ]; then
    export MESA_SHADER_CACHE_DIR=${MESA_SHADER_CACHE_DIR:-$XDG_CACHE_HOME}
    export XDG_CACHE_HOME="Z:${XDG_CACHE_HOME//\//\\}"
fi
exec "$bin/wine64" "$@"
