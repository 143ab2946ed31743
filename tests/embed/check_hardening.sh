#!/bin/sh
# What is installed is hardened, as readelf sees it. Arguments: the prefix, the C compiler, an empty
# folder, and what its processor has besides ("cet" or nothing). A program built with everything off
# must be told as lacking all of it.
set -eu
prefix=$1 compiler=$2 work=$3 extra=${4:-}
mkdir -p "$work"

symbols() { readelf --wide --symbols "$1" | awk '{ sub(/@.*/, "", $8); print $8 }' | sort -u; }

# The names of what a program or shared library lacks.
lacking() {
    readelf --wide --file-header "$1" | grep -q 'Type: *DYN' || echo pie
    readelf --wide --segments "$1" | grep -q GNU_RELRO || echo relro
    readelf --wide --dynamic "$1" | grep -qE 'BIND_NOW|FLAGS_1.*NOW' || echo bind_now
    readelf --wide --segments "$1" | grep GNU_STACK | grep -q 'RW ' || echo noexecstack
    symbols "$1" | grep -qx __stack_chk_fail || echo stack_protector
    symbols "$1" | grep -v __stack_chk_fail | grep -qE '^__[a-z]+_chk$' || echo fortify
}

# Objects of an archive without the note that the linker wants of every input for indirect branch
# tracking and the shadow stack.
without_cet() {
    readelf --wide --notes "$1" 2>/dev/null | awk '
        function close_file() { if (file != "" && !marked) print file }
        /^File: / { close_file(); file = $2; marked = 0 }
        /x86 feature:.*IBT.*SHSTK/ { marked = 1 }
        END { close_file() }'
}

failed=0
report() { # FILE, what it lacks
    [ -z "$2" ] || { echo "$1 lacks: $2" | tr '\n' ' '; echo; failed=1; }
}
library=$(find "$prefix" -name libwavefit.so)
archive=$(find "$prefix" -name libwavefit.a)
for file in "$prefix/bin/wavefit" "$library"; do
    report "$file" "$(lacking "$file")"
done
[ "$extra" != cet ] || report "$archive" "$(without_cet "$archive" | sed 's/$/: CET/')"

cat >"$work/bare.c" <<'TEXT'
#include <stdio.h>
int main(int argc, char **argv)
{
    char text[64];
    snprintf(text, sizeof text, "%d %s", argc, argv[0]);
    return text[0] == 'x';
}
TEXT
cd "$work"
set -- -fno-stack-protector -U_FORTIFY_SOURCE -O2
[ "$extra" != cet ] || set -- "$@" -fcf-protection=none
"$compiler" "$@" -fno-pie -c bare.c -o bare.o
"$compiler" -no-pie bare.o -o bare -Wl,-z,norelro,-z,lazy,-z,execstack 2>/dev/null
all='pie relro bind_now noexecstack stack_protector fortify '
[ "$(lacking bare | tr '\n' ' ')" = "$all" ] ||
    { echo "of a program with nothing, seen as lacking: $(lacking bare | tr '\n' ' ')"; failed=1; }
rm -f bare.a
ar rc bare.a bare.o
[ "$extra" != cet ] || without_cet bare.a | grep -q 'bare\.o' ||
    { echo "an object without CET is not noticed"; failed=1; }

# Nothing of it is asked of those who link wavefit.
if grep -rnE 'FORTIFY|stack-protector|cf-protection|relro|noexecstack|-z,now' \
    "$(dirname "$library")/cmake" "$(dirname "$library")/pkgconfig"; then
    echo "the package passes its hardening on"
    failed=1
fi
[ $failed = 0 ] && echo "hardened"
exit $failed
