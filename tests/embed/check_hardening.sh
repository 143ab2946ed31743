#!/bin/sh
# What is installed is hardened, as readelf sees it. Arguments: the prefix, the C compiler, an empty
# folder, and what its processor has besides ("cet" or nothing). Of programs that are built with one
# thing off, that one must be told as lacking.
set -eu
prefix=$1 compiler=$2 work=$3 extra=${4:-}
mkdir -p "$work"

symbols() { readelf --wide --symbols "$1" | awk '{ sub(/@.*/, "", $8); print $8 }' | sort -u; }

# The names of what a program or shared library lacks.
lacking() {
    segments=$(readelf --wide --segments "$1")
    dynamic=$(readelf --wide --dynamic "$1")
    readelf --wide --file-header "$1" | grep -q 'Type: *DYN' || echo pie
    echo "$segments" | grep -q GNU_RELRO || echo relro
    echo "$dynamic" | grep -qE 'BIND_NOW|FLAGS_1.*NOW' || echo bind_now
    echo "$segments" | grep GNU_STACK | grep -q 'RW ' || echo noexecstack
    ! echo "$segments" | grep -qE '^ +LOAD .* RWE ' || echo write_or_execute
    ! echo "$dynamic" | grep -q TEXTREL || echo text_without_relocations
    ! echo "$dynamic" | grep -qE '\((RPATH|RUNPATH)\)' || echo no_rpath
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
symbols "$archive" | grep -qx __stack_chk_fail || report "$archive" stack_protector
symbols "$archive" | grep -qE '^__(mem|str|sn?|vsn?)[a-z]+_chk$' || report "$archive" fortify
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
hard='-O2 -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fPIE -pie -Wl,-z,relro'
hard="$hard -Wl,-z,now -Wl,-z,noexecstack"
expect() { # WHAT IS LACKING, options that come after the others
    wanted=$1
    shift
    # shellcheck disable=SC2086
    "$compiler" $hard "$@" bare.c -o bare 2>/dev/null || { echo "bare.c: $*"; failed=1; }
    found=$(lacking bare | tr '\n' ' ')
    [ "$found" = "$wanted" ] ||
        { echo "of a program with '$*', seen as lacking: '$found', not '$wanted'"; failed=1; }
}
expect ''
expect 'pie ' -fno-pie -no-pie
expect 'relro ' -Wl,-z,norelro
expect 'bind_now ' -Wl,-z,lazy
expect 'noexecstack ' -Wl,-z,execstack
expect 'no_rpath ' -Wl,-rpath,/elsewhere
expect 'stack_protector ' -fno-stack-protector
expect 'fortify ' -U_FORTIFY_SOURCE
printf '.section .both,"awx",%%progbits\n.byte 0\n.section .note.GNU-stack,"",%%progbits\n' >both.s
expect 'write_or_execute ' both.s
rm -f bare.a
set -- -O2
[ "$extra" != cet ] || set -- "$@" -fcf-protection=none
"$compiler" "$@" -c bare.c -o bare.o
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
