#!/usr/bin/env bash
# check_dll.sh finds what it is for: each fault planted in a copy of the package is told of.
# Arguments: the prefix, objdump, the version, and a program that needs more than the system's DLLs.
set -euo pipefail
prefix=$1 objdump=$2 version=$3 program=$4
check=$(dirname "$0")/check_dll.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

copy() {
    rm -rf "$work/package"
    mkdir -p "$work/package/bin" "$work/package/lib"
    cp "$prefix/bin/wavefit.dll" "$work/package/bin"
    cp "$prefix"/lib/libwavefit*.a "$work/package/lib"
    cp -r "$prefix/include" "$work/package"
    header=$work/package/include/wavefit/wavefit.h
}

found() { # WHAT PATTERN VERSION [PROGRAM]
    if bash "$check" "$work/package" "$objdump" "${@:3}" >"$work/said" 2>&1; then
        echo "not found: $1"
        exit 1
    fi
    grep -qE "$2" "$work/said" || { echo "$1: told otherwise:"; cat "$work/said"; exit 1; }
}

copy
bash "$check" "$work/package" "$objdump" "$version" >"$work/said"
echo 'WF_API void wf_planted(void);' >>"$header"
found 'a function that is declared and not exported' '^< wf_planted$' "$version"
copy
sed -i '/^WF_API const char \*wf_version(void);/d' "$header"
found 'a function that is exported and not declared' '^> wf_version$' "$version"
copy
found 'a version that is another' 'does not say that it is version 9\.9\.9' 9.9.9
found 'an import of a DLL that is not the system'"'"'s' \
    "needs besides the system's DLLs: " "$version" "$program"
rm "$work/package/lib/libwavefit.dll.a"
found 'an import library that is missing' 'libwavefit\.dll\.a is missing' "$version"
echo 'five faults planted, five found'
