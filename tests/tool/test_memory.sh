#!/usr/bin/env bash
# Memory that a file or an option asks for is refused where the machine or the device has too
# little, before it is taken.
set -u
. "$(dirname "$0")/expect.sh"

header() { # FILE HEADER LINE…
    local file=$1
    printf '%%%%MatrixMarket matrix %s\n' "$2" >"$file"
    shift 2
    printf '%s\n' "$@" >>"$file"
}

# in_time SECONDS ARGS…: as expect, within so long. All of these took minutes and gigabytes.
in_time() {
    local most=$1 begun=$SECONDS
    shift
    expect "$@"
    [ $((SECONDS - begun)) -le "$most" ] || bad "over $most s: $*"
}

header tall.mtx 'coordinate real general' '1500000000 10 1' '1 1 1'
header wide.mtx 'coordinate pattern general' '10 1500000000 1' '1 1'
header square.mtx 'coordinate real symmetric' '1500000000 1500000000 1' '1 1 1'
header thin.mtx 'array real general' '1500000000 0'
gzip -c tall.mtx >tall.mtx.gz
for file in tall.mtx tall.mtx.gz; do
    in_time 20 1 "$file:2: 1500000000 rows and 10 columns: [xy] of .* this device takes" \
        spmv "$file"
done
in_time 20 1 'tall.mtx:2: .* x of 6000000000 bytes' spmv tall.mtx --transpose
in_time 20 1 'wide.mtx:2: .* x of 6000000000 bytes' spmv wide.mtx
in_time 20 1 'thin.mtx:2: 1500000000 rows and 0 columns' spmv thin.mtx
in_time 20 1 'square.mtx:2: .* x of 6000000000 bytes' cg square.mtx
in_time 20 1 'tall.mtx:2: .* this device takes' explain spmv --matrix ./tall.mtx
in_time 40 1 'tall.mtx:2: .* this device takes' tune --matrix tall.mtx --budget 5
# A pipe can be read but once.
check 'a pipe' sh -c "cat '$data/small.mtx' | '$tool' spmv /dev/stdin --repeat 1"

# Sanitizers take terabytes of addresses for themselves.
if [ -z "${WAVEFIT_TEST_BRIEF:-}" ]; then
    ulimit -v 3000000
    in_time 20 1 "tall.mtx:2: '1500000000 10 1': the rows and columns alone take 12 GB" \
        spmv tall.mtx -o copy.mtx
    # What such a matrix takes is known before any of it is made.
    expect 1 'diagonal:100000000: 1e[+]08 entries take 4.4 GB, and there are 3.07 GB' \
        spmv --generate diagonal:100000000 -o copy.mtx
    expect 1 'uniform:200000000: 1.6e[+]09 entries take .* GB' spmv --generate uniform:200000000
    expect 1 'rmat:26: 1.07e[+]09 entries take .* GB' cg --generate rmat:26
    expect 1 'poisson7:600: 1.51e[+]09 entries take .* GB' explain spmv --matrix poisson7:600
    # A file with a hole of 100 GB.
    printf '\x93NUMPY\x01\x00\x50\x00%-79s\n' \
        "{'descr': '<f8', 'fortran_order': False, 'shape': (12500000000,), }" >hole.npy
    truncate -s $((90 + 100000000000)) hole.npy
    in_time 20 1 'hole.npy: .*out of memory' spmv "$data/small.mtx" --x hole.npy
fi
expect 2 "'diagonals:5' is none of" spmv --generate diagonals:5
finish
