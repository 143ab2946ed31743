#!/usr/bin/env bash
# What `wavefit verify` says of a driver that loses work-groups or crashes: each finding comes with
# a command that repeats it, and that finds nothing once the driver is well.
# usage: test_verify.sh WAVEFIT DATA
set -u
. "$(dirname "$0")/expect.sh"
export XDG_CACHE_HOME=$work/cache

expect 0 'verified .* 0 cases are wrong' verify --cases 6 --seed 3 --json report.json
check 'the report is JSON of its schema' python3 - report.json <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
assert report["schema"] == "wavefit-verify/1" and report["findings"] == []
assert report["device"]["driver"]["name"] and report["seed"] == 3
assert sum(report["cases"].values()) == 6 and report["elements"] > 0
END
# A case alone is what it was in the search.
expect 0 '^verified' verify --seed 3 --case 2
grep '^problem' out >alone
expect 0 '^verified' verify --seed 3 --case 2
grep '^problem' out >again
check 'a case is the same again' diff again alone

# The last work-group of dispatches of two: some results are wrong.
export WAVEFIT_LOST_GROUP=2
expect 1 'verify: [0-9]+ of [0-9]+ cases failed' \
    verify --family stencil --cases 14 --seed 11 --json report.json
cp out found
check 'wrong cells are told' grep -qE 'wrong .*case [0-9]+: .* cells .*(wrong|changed)' found
grep -oE 'repeat +wavefit .*' found | sed 's/^repeat *wavefit //' >commands
check 'at least one was found' test -s commands
check 'the report says all that a driver bug needs' python3 - report.json <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
assert report["failed"] == len(report["findings"]) > 0
for f in report["findings"]:
    assert f["status"] == "failed" and f["family"] == "stencil" and f["problem"]
    assert f["variant"] and f["constants"] is not None and f["repeat"].startswith("wavefit verify")
    assert all(len(k["spirv"]) == 16 and int(k["spirv"], 16) for k in f["kernels"]) and f["kernels"]
    assert f["wrong"] >= len(f["first_wrong"]) > 0
    for w in f["first_wrong"]:
        assert w["place"] and "result" in w and w["bound"] >= 0
        assert w["result"] == "nan" or abs(w["result"] - w["expected"]) > w["bound"]
END
head -n 2 commands >first
while read -r command; do
    expect 1 'verify: 1 of 1 cases failed' $command
    unset WAVEFIT_LOST_GROUP
    expect 0 '^verified' $command
    export WAVEFIT_LOST_GROUP=2
done <first
unset WAVEFIT_LOST_GROUP

# Dispatches of one work-group are lost: sums are not made, and solvers do not converge.
export WAVEFIT_LOST_GROUP=1
while read -r family words; do
    expect 1 'verify: [0-9]+ of [0-9]+ cases failed' verify --family "$family" --cases 2 --seed 8
    cp out found
    check "the verdict on $family" grep -q "$words" found
done <<'END'
vector elements of y are wrong
cg it did not converge after 0 iterations
laplace it did not converge after 0 iterations
END
unset WAVEFIT_LOST_GROUP

# Periodic borders crash the driver (constant 5): the search goes on with the next case.
export WAVEFIT_FAULT='crash 5 2'
expect 1 'verify: [0-9]+ of 14 cases failed' \
    verify --family stencil --cases 14 --seed 9 --json report.json
cp out found
# Wine ends a program whose driver crashes by abort, with code 3.
how='Segmentation fault' least=128
[ "${WAVEFIT_TEST_WINDOWS:-}" ] && how='the driver ends its process' least=3
check 'the crash is told' grep -q "it ended the process: $how" found
command=$(grep -oE 'repeat +wavefit .*' found | head -n 1 | sed 's/^repeat *wavefit //')
run $command
check "the crash repeats (exit code $code)" test "$code" -ge "$least"
check 'all of it is in the report' python3 - report.json <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
assert sum(report["cases"].values()) == 14
assert [f["status"] for f in report["findings"]] == ["error"] * report["failed"]
assert any("variant" in f for f in report["findings"])
END
unset WAVEFIT_FAULT

# A compiler gives up on some kernels (work-groups 32 wide, which wavefit does not choose in these
# cases): others are drawn, and no case fails.
export WAVEFIT_FAULT='refuse 0 32'
expect 0 '^verified' verify --family stencil --cases 14 --seed 9
unset WAVEFIT_FAULT

# The device is lost: an error that names it, and the search goes on with a new one.
export WAVEFIT_FAULT='lost 5 2'
expect 1 'verify: [0-9]+ of 14 cases failed' verify --family stencil --cases 14 --seed 9
unset WAVEFIT_FAULT

# Ctrl-C while the driver does not return: its process is ended, and no case is to blame.
WAVEFIT_FAULT='hang 5 2' WAVEFIT_FAULT_MARK=$work/hangs "$tool" verify --family stencil --cases 14 \
    --seed 9 --json cut.json >out 2>err &
search=$!
for _ in $(seq 600); do
    [ -e hangs ] && break
    sleep 0.1
done
check 'Ctrl-C: the driver hangs' test -e hangs
kill -INT "$search"
wait "$search"
code=$?
cp err cut.err
check 'Ctrl-C: exit code' test "$code" = 1
check 'Ctrl-C: a line says so' grep -q '^wavefit: verify: interrupted after [0-9]* cases$' cut.err
check 'Ctrl-C: nothing is to blame' grep -q '"findings": \[\]' cut.json

# Neither does it, nor can its process be ended: the case is a finding all the same. A fit of which
# the time is up ends without an error.
if [ "${WAVEFIT_UNKILLABLE:-}" ]; then
    export LD_PRELOAD=$WAVEFIT_UNKILLABLE
    WAVEFIT_FAULT='hang 5 2' run verify --family stencil --cases 14 --seed 9 --json stuck.json
    cp out found
    cp err.tool stuck.err
    WAVEFIT_FAULT='hang 0 256' run tune spmv --drawn --count 1 --seed 7 --seconds 80 \
        --patience 9000
    unset LD_PRELOAD
    check 'what hangs is told' grep -q 'it ended the process: the driver did not come back' found
    check 'its process is told' grep -q 'hangs and its process cannot be ended$' stuck.err
    check 'it is in the report' grep -q '"reason": "it ended the process: the driver' stuck.json
    check 'a fit that is late' test "$code" = 0
fi

expect 2 'is not a family' verify --family none
expect 2 '--case runs one case' verify --case 3 --seconds 2
expect 2 'does not go with it' verify --variant naive
expect 3 'no device matches' verify --device none-of-that-name
finish
