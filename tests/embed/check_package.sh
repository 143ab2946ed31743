#!/bin/sh
# What is installed: the shared library exports wf_* alone and with a version, pkg-config knows the
# flags with which a program builds, both kinds of library are there, and the notices of what is
# compiled in. Arguments: the prefix, the C compiler, an empty folder.
set -eu
prefix=$1 compiler=$2 work=$3
mkdir -p "$work"
library=$(find "$prefix" -name libwavefit.so)
find "$prefix" -name libwavefit.a | grep -q .
others=$(nm -D --defined-only "$library" | awk '{print $3}' | grep -v '^wf_.*@@WAVEFIT_' |
    grep -v '^WAVEFIT_' || true)
if [ -n "$others" ]; then
    echo "exported besides wf_*: $others"
    exit 1
fi
nm -D --defined-only "$library" | grep -q 'wf_plan_record@@WAVEFIT_0.1'
objdump -p "$library" 2>/dev/null | grep -q 'SONAME *libwavefit.so.0'
export PKG_CONFIG_PATH="$(dirname "$library")/pkgconfig"
printf '#include <wavefit/wavefit.h>\nint main(void) { return wf_version()[0] != 48; }\n' \
    >"$work/a.c"
# shellcheck disable=SC2046
"$compiler" "$work/a.c" -o "$work/shared" $(pkg-config --cflags --libs wavefit)
LD_LIBRARY_PATH=$(dirname "$library") "$work/shared"
# shellcheck disable=SC2046
"$compiler" "$work/a.c" -o "$work/static" $(pkg-config --cflags wavefit) \
    "$(dirname "$library")/libwavefit.a" -ldl -lm -lpthread
"$work/static"
# Beside it libwavefit_mpi, where MPI was found.
if [ -f "$prefix/include/wavefit/mpi.h" ]; then
    printf '#include <wavefit/mpi.h>\nint main(void) { return wf_mpi_himeno_create == 0; }\n' \
        >"$work/mpi.c"
    # shellcheck disable=SC2046
    OMPI_CC=$compiler mpicc "$work/mpi.c" -o "$work/mpi" $(pkg-config --cflags wavefit) \
        "$(dirname "$library")/libwavefit_mpi.a" "$(dirname "$library")/libwavefit.a" \
        -ldl -lm -lpthread
    [ -x "$prefix/bin/wavefit-mpi" ] || { echo "wavefit-mpi is not installed"; exit 1; }
fi
for part in volk zlib yyjson libpng chart.js; do
    find "$prefix" -path "*/notices/$part.txt" -size +500c | grep -q . ||
        { echo "no notice of $part is installed"; exit 1; }
done
echo "package is right"
