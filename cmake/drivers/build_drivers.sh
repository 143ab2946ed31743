#!/usr/bin/env bash
# Builds Mesa's Vulkan drivers for Adreno (Turnip), Mali (panvk) and VideoCore (v3dv) for this
# machine's processor, which distributions build for Arm's alone: their compilers, behind the shims
# of build_shims.sh. Some 300 seconds of a processor.
#
#   build_drivers.sh MESA_SOURCES TOOLS OUT
#
# TOOLS: packages of Debian's unpacked in a folder: Meson, Bison, Flex, m4, Python's Mako, YAML and
# packaging, and libdrm with its headers. Nothing of Mesa is kept but the drivers and the files that
# tell the Vulkan loader of them.
set -euo pipefail
mesa=$1 tools=$2 out=$3
build=$mesa/build-drivers
triplet=$(gcc -print-multiarch)
mkdir -p "$out" "$tools/pkgconfig"
sed "s#^prefix=/usr#prefix=$tools/usr#" "$tools/usr/lib/$triplet/pkgconfig/libdrm.pc" \
    >"$tools/pkgconfig/libdrm.pc"
export PKG_CONFIG_PATH=$tools/pkgconfig PATH=$tools/usr/bin:/usr/bin:/bin
export PYTHONPATH=$tools/usr/lib/python3/dist-packages:$tools/usr/share/meson
export PYTHONDONTWRITEBYTECODE=1 BISON_PKGDATADIR=$tools/usr/share/bison M4=$tools/usr/bin/m4
export LD_LIBRARY_PATH=$tools/usr/lib/$triplet

off=()
for option in llvm glx egl gbm gles1 gles2 zstd valgrind libunwind xmlconfig shader-cache; do
    off+=("-D$option=disabled")
done
[ -f "$build/build.ninja" ] ||
    /usr/bin/python3 "$tools/usr/bin/meson" setup "$build" "$mesa" --wrap-mode=nodownload \
        --buildtype=plain -Dc_args='-O1 -w' -Dcpp_args='-O1 -w' -Db_ndebug=true \
        -Dvulkan-drivers=freedreno,panfrost,broadcom -Dfreedreno-kmds=msm -Dgallium-drivers= \
        -Dplatforms= -Dopengl=false -Dvideo-codecs= -Dvulkan-layers= -Dtools= "${off[@]}" >&2
ninja -C "$build" "${@:4}" >&2

# Paths are relative to these files, so that the folder can be moved.
for driver in freedreno panfrost broadcom; do
    cp "$build/src/$driver/vulkan/libvulkan_$driver.so" "$out/"
    printf '{"file_format_version": "1.0.0",\n "ICD": {"%s": "%s", "%s": "%s"}}\n' \
        api_version 1.4.305 library_path "./libvulkan_$driver.so" >"$out/${driver}_icd.json"
done
