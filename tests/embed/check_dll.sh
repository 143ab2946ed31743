#!/usr/bin/env bash
# What is installed for Windows: wavefit.dll exports the functions of the header and nothing else;
# it and the program take nothing but the system's DLLs; both have a version, and the program has
# its manifest. Arguments: the prefix, objdump, the version, and the program where it was built.
set -euo pipefail
prefix=$1 objdump=$2 version=$3 tool=${4:-}
dll=$prefix/bin/wavefit.dll
for file in "$dll" "$prefix/lib/libwavefit.dll.a" "$prefix/lib/libwavefit.a" ${tool:+"$tool"}; do
    [ -f "$file" ] || { echo "$file is missing"; exit 1; }
done
# Names that stand before a parenthesis in a declaration; its lines end with a semicolon.
declared=$(awk '/^WF_API/ { on = 1 }
    on { text = text $0 }
    on && /;/ { print text; on = 0; text = "" }' "$prefix/include/wavefit/wavefit.h" |
    grep -oE 'wf_[a-z0-9_]+\(' | tr -d '(' | sort -u)
exported=$("$objdump" -p "$dll" | awk '/Ordinal\/Name Pointer/ { on = 1 }
    on && /\+base\[/ { print $NF }' | sort -u)
[ "$declared" = "$exported" ] || {
    echo "the header (<) and the exports (>) differ:"
    diff <(echo "$declared") <(echo "$exported")
    exit 1
}
for file in "$dll" ${tool:+"$tool"}; do
    others=$("$objdump" -p "$file" | sed -n 's/.*DLL Name: //p' |
        grep -viE '^(kernel32|advapi32|shell32)\.dll$|^api-ms-win-crt-[a-z0-9-]+\.dll$' || true)
    [ -z "$others" ] || { echo "$file needs besides the system's DLLs: $others"; exit 1; }
    said=$(strings -el "$file" | grep -A 1 '^ProductVersion$' | tail -n 1)
    [ "$said" = "$version" ] ||
        { echo "$file does not say that it is version $version"; exit 1; }
    printf '%s: %s bytes, imports %s\n' "${file##*/}" "$(stat -c %s "$file")" \
        "$("$objdump" -p "$file" | sed -n 's/.*DLL Name: //p' | tr '\n' ' ')"
done
for setting in '>UTF-8</activeCodePage>' '>true</longPathAware>'; do
    [ -z "$tool" ] || grep -aq "$setting" "$tool" ||
        { echo "the program's manifest has no $setting"; exit 1; }
done
echo "$(echo "$exported" | wc -l) exports, those of the header"
