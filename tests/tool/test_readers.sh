#!/usr/bin/env bash
# Each of the tool's readers (matrices, compressed ones, vectors, results), and what it writes,
# once: for slow machines.
# usage: test_readers.sh DATA COMMAND… (the tool, behind an emulator perhaps)
set -eu
data=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$@" devices --json "$work/devices.json"
grep -q '"max_invocations"' "$work/devices.json"
"$@" spmv "$data/small.mtx" --repeat 1 -o "$work/y.npy" | grep 'verified'
gzip -c "$data/small.mtx" >"$work/small.mtx.gz"
"$@" spmv "$work/small.mtx.gz" --x "$work/y.npy" --repeat 1 --limits minimum \
    --json "$work/spmv.json" | grep 'verified'
grep -q '"status": "ok"' "$work/spmv.json"
"$@" report "$work/spmv.json" -o "$work/report.html" | grep '^/.*report.html'
tail -n 1 "$work/report.html" | grep -q '^</html>$'
