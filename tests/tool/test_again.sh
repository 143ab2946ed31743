#!/usr/bin/env bash
# `wavefit bench --again`: a results file is run once more, with the points that it had, and the
# tool says whether it came out the same.
# usage: test_again.sh WAVEFIT DATA
set -u
. "$(dirname "$0")/expect.sh"
export XDG_CACHE_HOME=$work/cache
mkdir temporary
# Under wine a folder of temporaries that is not the usual one ends the program (free(): invalid
# pointer) before it has done anything.
[ -n "${WAVEFIT_TEST_WINDOWS:-}" ] || export TMPDIR=$work/temporary

# Sets the times of a file: as long as makes any run the same, or a thousandth of what they were.
times() { # FROM TO FACTOR SPREAD
    python3 - "$@" <<'END'
import json, sys
source, to, factor, spread = sys.argv[1:]
results = json.load(open(source))
for case in results["cases"]:
    time = case.get("time_us")
    if time:
        for name in "median", "min", "q1", "q3":
            time[name] *= float(factor)
        time["spread"] = float(spread)
json.dump(results, open(to, "w"))
END
}

run matmul --shape 33x65x17 --seed 7 --repeat 3 --json matmul.json
check 'a results file names its seed' grep -q '"seed": 7' matmul.json
# The noise of a test machine must not decide: a wide spread makes every time the same.
times matmul.json wide.json 1 1e6
expect 0 '1 of 1 cases came out the same' bench --again wide.json --json again.json
cp out said
check 'the device is told' grep -qE '^device +the same: ' said
check 'the driver is told' grep -qE '^driver +the same: ' said
check 'both spreads are told' test "$(grep -oE ' %' said | wc -l)" -ge 2
check 'seed, sizes and point are those of the file' python3 - matmul.json again.json <<'END'
import json, sys
then, now = (json.load(open(path)) for path in sys.argv[1:])
for name in "name", "type", "variant", "constants":
    assert then["cases"][0][name] == now["cases"][0][name], name
assert then["seed"] == now["seed"] == 7 and now["cases"][0]["chosen_by"] == "forced"
# The same numbers on the same device: the largest error is that of before.
assert then["cases"][0]["verified"] == now["cases"][0]["verified"]
END
# A file that --again wrote can be run again.
times again.json wide.json 1 1e6
expect 0 '1 of 1 cases came out the same' bench --again wide.json
check 'nothing is left behind' sh -c '! ls temporary | grep .'

# A signal before the device is opened: of a run that waits for its input.
sed 's/"--shape"/"piped.npy"/; s/"33x65x17"/"piped.npy"/' matmul.json >piped.json
if [ -z "${WAVEFIT_TEST_WINDOWS:-}" ]; then # has no such pipes
    mkfifo piped.npy
    "$tool" bench --again piped.json >/dev/null 2>&1 &
    until ls temporary | grep -q .; do sleep 0.02; done
    kill -TERM $!
    wait $!
    check 'a signal leaves nothing behind either' sh -c '! ls temporary | grep .'
fi
# A run that fails before it has results is compared with none that lie there.
sed 's/piped/missing/' piped.json >missing.json
cp again.json lies.json
expect 1 'missing.npy: No such file' bench --again missing.json --json lies.json
cp out said
check 'old results are not compared' sh -c '! grep -q "^matmul" said'
expect 2 'would overwrite the file of --again' bench --again matmul.json --json matmul.json

# Times that cannot be reached, and a point that wavefit would not choose.
times matmul.json fast.json 1e-6 0
expect 1 '1 of 1 cases did not come out the same' bench --again fast.json
sed 's/"variant": "[a-z_0-9]*"/"variant": "naive"/; /"constants"/,/}/{/:.*[0-9]/d}' matmul.json |
    python3 -c 'import json, sys; json.dump(json.load(sys.stdin), open("point.json", "w"))'
times point.json wide.json 1 1e6
run bench --again wide.json --json again.json
check 'the point of the file is taken' grep -q '"variant": "naive"' again.json

# A device of another name is told; its driver too.
sed 's/"name": "llvmpipe[^"]*"/"name": "Another GPU"/' wide.json >other.json
run bench --again other.json
cp out said
check 'another device is told' grep -qE '^device +another: .*it was Another GPU' said

if [ -z "${WAVEFIT_TEST_BRIEF:-}" ]; then
    run himeno --size 17x17x17 --iterations 9 --json himeno.json
    times himeno.json wide.json 1 1e6
    expect 0 '1 of 1 cases came out the same' bench --again wide.json
    run spmv "$data/small.mtx" --repeat 3 --json spmv.json
    times spmv.json wide.json 1 1e6
    expect 0 '1 of 1 cases came out the same' bench --again wide.json
    run cg --poisson5 20 --time --repeat 2 --json cg.json
    times cg.json wide.json 1 1e6
    expect 0 '1 of 1 cases came out the same' bench --again wide.json
fi

# What cannot be run again.
expect 1 'No such file' bench --again none.json
echo '{}' >empty.json
expect 1 'not a wavefit results file' bench --again empty.json
run matmul --shape 5x5x5 -o c.npy --json untimed.json
expect 1 'no case of it was timed' bench --again untimed.json
sed 's/"matmul",/"nothing",/' matmul.json >command.json
expect 1 "'nothing' is no command" bench --again command.json
python3 -c 'import json
results = json.load(open("matmul.json"))
results["cases"][0]["ranks"] = [{"rank": 0, "device": "A GPU"}, {"rank": 1, "device": "A GPU"}]
json.dump(results, open("ranks.json", "w"))'
expect 1 'of 2 ranks of MPI' bench --again ranks.json
expect 2 'takes its options from the file' bench --again matmul.json --suite full
expect 2 'takes its options from the file' bench --again matmul.json --seed 3
expect 2 "json needs a file's name" bench --again matmul.json --json -
expect 3 'no device matches' bench --again matmul.json --device none-of-that-name
finish
