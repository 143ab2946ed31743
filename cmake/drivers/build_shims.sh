#!/usr/bin/env bash
# Builds the shims that stand in for a card's kernel driver: small libraries of Mesa's source tree
# which answer a driver's questions about a card and execute nothing, so that its compiler runs with
# no card in the machine.
#
#   build_shims.sh MESA_SOURCES DRM_HEADERS MAKO OUT
#
# MAKO: folder of the Python package by which Mesa makes two of the files for Intel. Nothing of Mesa
# is kept but the libraries, OUT/lib*_noop_drm_shim.so.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mesa=$1 drm=$2 mako=$3 out=$4
mkdir -p "$out"
generated=$(mktemp -d)
trap 'rm -rf "$generated"' EXIT
cd "$mesa"

# A question that a shim cannot answer is no fault; it is told where somebody asks for it.
sed -i 's/fprintf(stderr, "Unknown \(DRM_IOCTL_\|drm_\)/if (getenv("WAVEFIT_SHIMS_TALK")) &/' \
    src/{freedreno,panfrost,broadcom,nouveau}/drm-shim/*_noop.c \
    src/intel/tools/intel_noop_drm_shim.c

flags=(-O1 -fPIC -w -std=gnu11 -fvisibility=hidden -ffunction-sections -fdata-sections
    -D_GNU_SOURCE -DHAVE_PTHREAD -DHAVE_STRUCT_TIMESPEC -DHAVE_ENDIAN_H -DHAVE_DLFCN_H
    -DHAVE_DL_ITERATE_PHDR -DHAVE_SECURE_GETENV -DHAVE_PROGRAM_INVOCATION_NAME -DHAVE_MEMFD_CREATE
    -DHAVE_FLOCK -DHAVE_LINUX_FUTEX_H -DHAVE_TIMESPEC_GET -DHAVE_STRTOF
    -DUTIL_ARCH_LITTLE_ENDIAN=1 -DUTIL_ARCH_BIG_ENDIAN=0
    -DHAVE___BUILTIN_CLZ -DHAVE___BUILTIN_FFS -DHAVE___BUILTIN_FFSLL -DHAVE___BUILTIN_EXPECT
    -DHAVE___BUILTIN_UNREACHABLE -DHAVE___BUILTIN_POPCOUNT -DHAVE___BUILTIN_POPCOUNTLL
    -DHAVE___BUILTIN_BSWAP32 -DHAVE_FUNC_ATTRIBUTE_PACKED -DHAVE_FUNC_ATTRIBUTE_UNUSED
    -Iinclude -Isrc -Isrc/util "-I$drm" "-I$drm/libdrm")
common=(src/drm-shim/{drm_shim,device}.c
    src/util/{hash_table,set,ralloc,vma,anon_file,u_debug,simple_mtx,futex,os_misc,u_call_once}.c
    src/util/{log,memstream,u_process}.c src/c11/impl/threads_posix.c)

shim() { # name, sources and flags of its own…
    local name=$1
    shift
    gcc -shared "${flags[@]}" -Wl,--gc-sections -Wl,-z,defs -o "$out/lib${name}_noop_drm_shim.so" \
        "$@" "${common[@]}" -ldl -lpthread -lm
}

shim nouveau src/nouveau/drm-shim/nouveau_noop.c
shim freedreno src/freedreno/drm-shim/freedreno_noop.c
shim panfrost -Isrc/panfrost/lib src/panfrost/drm-shim/panfrost_noop.c
shim v3d -include stdbool.h -include stdlib.h -include string.h -Isrc/broadcom "$here/v3d.c"

# Intel's knows the generations by Mesa's own tables.
to=$generated/intel/dev
mkdir -p "$to"
(cd src/intel/dev
    export PYTHONPATH=$mako PYTHONDONTWRITEBYTECODE=1
    /usr/bin/python3 gen_wa_helpers.py mesa_defs.json "$to/intel_wa.h" "$to/intel_wa.c"
    /usr/bin/python3 intel_device_info_gen_h.py "$to/intel_device_info_gen.h"
    /usr/bin/python3 intel_device_info_serialize_gen_c.py "$to/intel_device_info_serialize_gen.c")
shim intel "-I$generated" "-I$generated/intel" "-I$to" -Isrc/intel -Isrc/intel/dev \
    -Isrc/intel/common src/intel/tools/intel_noop_drm_shim.c "$to"/*.c \
    src/intel/dev/intel_{device_info,debug,hwconfig,kmd}.c \
    src/intel/dev/{i915,xe}/intel_device_info.c src/intel/common/intel_{gem,engine}.c \
    src/intel/common/{i915,xe}/intel_{gem,engine}.c src/intel/common/xe/intel_device_query.c \
    src/util/{mesa-sha1,parson,bitscan,build_id,dag,strtod,rand_xor,os_file,os_time}.c \
    src/util/sha1/sha1.c
