# Sourced by the tests of the tool as a user types it: a folder to work in, and checks that count.
# usage of each: test_….sh WAVEFIT DATA
tool=$1
data=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0
failed=0
refusals=0

bad() { # WHAT [PREFIX of the files out and err]
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$1"
    sed 's/^/  out: /' "${2:-}out" | head -n 12
    sed 's/^/  err: /' "${2:-}err" | head -n 12
}

run() {
    "$tool" "$@" >out 2>err
    code=$?
    # What drivers and layers say of themselves is not the tool's; wine says it in UTF-16.
    tr -d '\000' <err | grep '^wavefit:' >err.tool || true
}

# Whether a line of the output takes over 100 columns, however many bytes: JSON and paths alone may.
is_wide() {
    head -c 1 out | grep -q '{' && return 1
    LC_ALL=C awk '{ gsub(/[\200-\277]/, "") } length($0) > 100 { wide = 1 } END { exit !wide }' out
}

# expect CODE PATTERN ARGS…: the exit code, and a pattern in the output (of 0) or in the one line of
# the error. Arguments are read alike on every system, and under wine a start takes a quarter of a
# second: a third of the wrong ones stand there for all.
expect() {
    local want=$1 pattern=$2
    shift 2
    [ "$want" != 2 ] || refusals=$((refusals + 1))
    [ "$want" != 2 ] || [ -z "${WAVEFIT_TEST_WINDOWS:-}" ] || [ $((refusals % 3)) = 1 ] || return 0
    run "$@"
    if grep -qE 'Validation Error|VUID-|SYNC-HAZARD' out err; then
        bad "the validation layer objects: wavefit $*"
    elif [ "$code" != "$want" ]; then
        bad "exit $code instead of $want: wavefit $*"
    elif is_wide; then
        bad "a line of over 100 columns: wavefit $*"
    elif [ "$want" = 0 ] && ! grep -qE -- "$pattern" out; then
        bad "no '$pattern' in the output: wavefit $*"
    elif [ "$want" != 0 ] && [ "$(wc -l <err.tool)" != 1 ]; then
        bad "not one line of error: wavefit $*"
    elif [ "$want" != 0 ] && ! grep -qE -- "$pattern" err.tool; then
        bad "no '$pattern' in the error: wavefit $*"
    else
        passed=$((passed + 1))
    fi
}

# The command finds what the last run said in out and err.
check() { # NAME COMMAND…
    local name=$1
    shift
    if "$@" >checked.out 2>checked.err; then
        passed=$((passed + 1))
    else
        bad "$name" checked.
    fi
}

npy() { # FILE DESCR SHAPE DATA(hex pairs as printf escapes)
    local header="{'descr': '$2', 'fortran_order': ${5:-False}, 'shape': $3, }"
    printf '\x93NUMPY\x01\x00'"\\x$(printf %02x ${#header})"'\x00%s' "$header" >"$1"
    printf "$4" >>"$1"
}
one='\x00\x00\x80\x3f' two='\x00\x00\x00\x40' three='\x00\x00\x40\x40'

finish() {
    printf '%d passed, %d failed\n' "$passed" "$failed"
    [ "$failed" = 0 ]
    exit
}
