#!/usr/bin/env bash
# The tool under mpirun: the bits of one device from 1, 2, 3 and 4 ranks, from uneven and empty ones
# and from two drivers in one run; and what a user sees of faults, on the driver of fault_icd.c.
# usage: test_mpi.sh WAVEFIT MPIRUN SWIFTSHADER_ICD FAULT_ICD
set -u
. "$(dirname "$0")/../../tests/tool/expect.sh"
mpirun=$2 other_icd=$3 fault_icd=$4
. "$(dirname "$0")/under_mpi.sh"

gosa() { grep -E '^gosa ' out; }

# same_bits ARGS…: p and gosa of the last run under MPI are those of the one process before.
same_bits() {
    if ! cmp one.npy many.npy >cmp.out 2>&1; then
        bad "other cells than one device's: $* ($(cat cmp.out))"
    elif [ "$(gosa)" != "$one_gosa" ]; then
        bad "gosa $(gosa) instead of $one_gosa: $*"
    else
        passed=$((passed + 1))
    fi
    mv many.npy before.npy
}

relax="himeno --size 40x24x30 --iterations 7 --no-tuning"
one() { # ARGS…: one process
    expect 0 '^verified' $relax "$@" -o one.npy
    one_gosa=$(gosa)
}

naive="--variant naive"
march="--variant march4 --set march=4"
time="--variant time --set steps=2 --set march=4"
one $naive
for ranks in 1 2 3 4; do
    [ "$brief" ] && [ "$ranks" != 3 ] && continue
    succeeds '^verified' -n $ranks "$tool" $relax $naive -o many.npy
    same_bits $ranks ranks, $naive
done
succeeds '^verified' -n 4 "$tool" $relax $naive --weights 3,0,1,2.5 -o many.npy
same_bits weights 3,0,1,2.5
if [ -z "$brief" ]; then
    succeeds '^balanced' -n 3 "$tool" $relax $naive --balance -o many.npy
    same_bits shares by speed
    succeeds '^verified' -n 3 "$tool" $relax $naive --weights 0,0,1 -o many.npy
    same_bits weights 0,0,1
    # Messages in place of memory that neighbours share.
    succeeds '^verified' -n 3 env WAVEFIT_MPI_SHARED=0 "$tool" $relax $naive -o many.npy
    same_bits halos by messages
    # A planted fault: another grid has other bits.
    "$tool" $relax --iterations 6 $naive -o one.npy >/dev/null 2>&1
    cmp -s one.npy before.npy && bad "6 iterations have the bits of 7"
    for point in "$march" "$time"; do
        one $point
        succeeds '^verified' -n 3 "$tool" $relax $point -o many.npy
        same_bits 3 ranks, $point
    done
fi

# A middle rank of 32 planes, whose marches go first on both sides, has marches of 8, so that half
# of its planes are left for the exchange to hide behind; one device has longer ones.
if [ -z "$brief" ]; then
    sliced="himeno --size 20x10x130 --iterations 3 --no-tuning"
    expect 0 '^verified' $sliced --json whole.json
    check 'one device marches on' grep -q '"march": 16' whole.json
    succeeds '^verified' -n 4 "$tool" $sliced --json sliced.json
    check 'marches leave half of a rank for later' grep -q '"march": 8' sliced.json
fi

# The benchmark itself, with the choice left to the first rank, which prints alone.
succeeds 'MFLOPS measured' -n 4 "$tool" himeno --size XS --iterations 10 --json many.json
[ "$(grep -c '^variant ' out)" = 1 ] || bad "not one rank prints"
for name in rank host inside_us halo_us wait_us reduction_us; do
    [ "$(grep -c "\"$name\":" many.json)" = 4 ] || bad "many.json: not four times \"$name\""
done
grep -q '"shared_halos": 6,*$' many.json || bad "many.json: devices do not read halos themselves"
# The timeline: stages of the same pass on all ranks, one behind the other, from the first one on.
python3 - <<'END' || bad "many.json: the timeline is not what it should be"
import json, sys
ranks = json.load(open("many.json"))["cases"][0]["ranks"]
order = ["halo", "wait", "inside"]
def holds(spans):
    stages = [s["stage"] for s in spans]
    host = [s for s in spans if s["stage"] in order]
    return (sorted(stages) == sorted(order + ["device"]) and [s["stage"] for s in host] == order
            and all(s["begin_us"] <= s["end_us"] for s in spans)
            and all(a["end_us"] == b["begin_us"] for a, b in zip(host, host[1:])))
ok = all(holds(r["spans"]) for r in ranks)
ok = ok and min(s["begin_us"] for r in ranks for s in r["spans"] if s["stage"] == "halo") == 0
sys.exit(not ok)
END
passed=$((passed + 1))

# Two drivers in one run.
if [ -f "$other_icd" ] && [ -z "$brief" ]; then
    mixed="-n 2 $tool himeno --size 40x24x30 --iterations 9"
    succeeds 'SwiftShader' $mixed : \
        -n 1 env VK_DRIVER_FILES="$other_icd" "$tool" himeno --size 40x24x30 --iterations 9
fi
succeeds '^verified' -n 1 env WAVEFIT_DEVICE=0 "$tool" $relax -o many.npy : \
    -n 1 env WAVEFIT_DEVICE=llvmpipe "$tool" $relax -o many.npy

# Wrong usage is told once.
fails 2 'weights' -n 2 "$tool" himeno --size XS --weights 1
fails 2 'weight' -n 2 "$tool" himeno --size XS --weights 0,0
fails 2 'not both' -n 2 "$tool" himeno --size XS --weights 1,2 --balance
fails 2 'nonsense' -n 2 "$tool" himeno --nonsense
under -n 2 "$tool" himeno --nonsense
[ "$code" = 2 ] || bad "exit $code of mpirun instead of 2"
fails 2 'unknown|no variant' -n 2 "$tool" himeno --size XS --variant nonsense
succeeds '^wavefit himeno' -n 2 "$tool" himeno --help
[ "$(grep -c '^wavefit himeno' out)" = 1 ] || bad "help is not printed once"

# A rank that loses its device, at its first submissions and in the midst of its iterations, ends
# all of them with its words.
own_cache
lost() { # N RANK RANKS
    local rest=$(($3 - $2 - 1)) args=()
    [ "$2" -gt 0 ] && args+=(-n "$2" "$tool" himeno --size XS --iterations 40 :)
    args+=(-n 1 env "VK_DRIVER_FILES=$fault_icd" "WAVEFIT_FAIL=vkQueueSubmit $1 -4"
        "$tool" himeno --size XS --iterations 40)
    [ "$rest" -gt 0 ] && args+=(: -n "$rest" "$tool" himeno --size XS --iterations 40)
    fails 1 "rank $2: .*DEVICE_LOST" "${args[@]}"
}
expect 0 '^verified' himeno --size 9x9x9 --iterations 1 # what is kept between runs is there
VK_DRIVER_FILES=$fault_icd WAVEFIT_FAIL_COUNT=$work/count \
    "$tool" himeno --size 9x9x9 --iterations 1 >out 2>err || bad "fault_icd.c without a fault"
lost 30 1 3
if [ -z "$brief" ]; then
    lost 1 2 3
    lost 31 0 2
fi

# Memory that the ranks of one device need together.
fails 1 '2 ranks on .* need .* MiB' -n 2 env VK_DRIVER_FILES="$fault_icd" \
    WAVEFIT_BUDGET=$((20 << 20)) "$tool" himeno --size XS --iterations 1

# Ctrl-C ends all ranks.
"$mpirun" -n 2 "$tool" himeno --size XS --seconds 86400 --json cut.json >out 2>err &
pid=$!
catches() { # PID: it looks after SIGINT by now
    case $(sed -n 's/^SigCgt:.*\(.\)$/\1/p' "/proc/$1/status" 2>/dev/null) in
    [2367abef]) return 0 ;;
    *) return 1 ;;
    esac
}
for _ in $(seq 600); do
    child=$(pgrep -P "$pid" | head -n 1)
    [ -n "$child" ] && catches "$child" && break
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.2
done
kill -INT "$pid" || bad "it ended before Ctrl-C"
wait "$pid"
code=$?
if [ "$code" != 0 ]; then passed=$((passed + 1)); else bad "exit 0 after Ctrl-C"; fi

# The tool alone: it is not linked with MPI, and says what it lacks.
if ldd "$tool" | grep -q libmpi; then bad "wavefit is linked with MPI"; fi
cp "$tool" "$work/wavefit"
OMPI_COMM_WORLD_SIZE=2 "$work/wavefit" himeno --size XS >out 2>err
code=$?
if [ "$code" = 1 ] && grep -q 'wavefit-mpi is not beside it' err; then
    passed=$((passed + 1))
else
    bad "exit $code without wavefit-mpi"
fi

finish
