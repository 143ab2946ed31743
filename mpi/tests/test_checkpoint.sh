#!/usr/bin/env bash
# Checkpoints: a run whose ranks are killed goes on from the last one, on other numbers of ranks,
# to the bits of a run that was not interrupted; damaged and foreign files are refused. Then ranks
# whose device refuses, which end all others.
# usage: test_checkpoint.sh WAVEFIT MPIRUN FAULT_ICD
set -u
. "$(dirname "$0")/../../tests/tool/expect.sh"
mpirun=$2 fault_icd=$3
. "$(dirname "$0")/under_mpi.sh"

iterations() { # FILE: those that a checkpoint has
    python3 -c "
import json, sys
with open(sys.argv[1], 'rb') as f:
    n = int(f.readline().split()[1])
    print(int(json.loads(f.read(n))['facts']['iterations']))" "$1"
}

# kill_once FILE ARGS…: starts two ranks and kills one when the file is there.
kill_once() {
    local file=$1 child pid
    shift
    "$mpirun" -n 2 "$tool" "$@" >out 2>err &
    pid=$!
    until [ -e "$file" ]; do
        kill -0 "$pid" 2>/dev/null || { bad "no $file: $*"; return; }
        sleep 0.05
    done
    child=$(pgrep -P "$pid" | tail -n 1)
    kill -KILL "$child"
    wait "$pid" && bad "exit 0 though a rank was killed"
}

small="--size 40x24x30"
kept() { # RANKS POINT…: interrupted, whole, and continued on so many ranks
    local made end gosa ranks on=$1
    shift
    rm -f p.ckpt
    kill_once p.ckpt himeno $small --no-tuning "$@" --iterations 100000000 --checkpoint p.ckpt \
        --every 5
    made=$(iterations p.ckpt) || bad "p.ckpt cannot be read"
    end=$((made + 7))
    expect 0 '^verified' himeno $small --no-tuning "$@" --iterations $end -o one.npy
    gosa=$(grep '^gosa ' out)
    for ranks in $on; do
        succeeds "^continued after $made iterations" -n $ranks "$tool" himeno --continue p.ckpt \
            --iterations $end --no-tuning -o many.npy
        cmp -s one.npy many.npy || bad "other cells than without interruption: $ranks ranks, $*"
        [ "$(grep '^gosa ' out)" = "$gosa" ] || bad "another gosa: $ranks ranks, $*"
        rm -f many.npy
    done
}
if [ "$brief" ]; then
    kept 3 --variant naive
else
    kept "1 3" --variant naive
    kept 3 --variant time --set steps=2 --set march=4
    # What is gone on from may lie between two multiples of the interval.
    succeeds '^gosa' -n 1 "$tool" himeno $small --no-tuning --variant time --set steps=2 \
        --set march=4 --iterations 5 --checkpoint o.ckpt --every 30s
    kill_once n.ckpt himeno --continue o.ckpt --no-tuning --iterations 100000000 \
        --checkpoint n.ckpt --every 4
    rm -f n.ckpt o.ckpt
fi
: >left # before ls looks
ls | grep -vE '^(p\.ckpt|one\.npy|out|err|err\.tool|cmp\.out)$' >left
[ "$(cat left)" = left ] || bad "left behind: $(tr '\n' ' ' <left)"

# A planted fault: another iteration has other bits.
succeeds '^kept +1 checkpoint in' -n 2 "$tool" himeno $small --iterations 4 --no-tuning \
    --checkpoint q.ckpt --every 30s -o many.npy
cmp -s one.npy many.npy && bad "4 iterations have the bits of more"
[ "$(iterations q.ckpt)" = 4 ] || bad "the last checkpoint is not of the end"

# What is refused, in one line.
python3 - <<'END'
data = bytearray(open("q.ckpt", "rb").read())
open("head.ckpt", "wb").write(bytes(data).replace(b'"ni":40', b'"ni":44'))
data[-5] ^= 1
open("flipped.ckpt", "wb").write(data)
END
resume() { # CODE PATTERN FILE ARGS…
    local want=$1 pattern=$2 file=$3
    shift 3
    fails "$want" "$pattern" -n 1 "$tool" himeno --continue "$file" --iterations 9 "$@"
}
resume 1 'flipped.ckpt: .* damaged' flipped.ckpt
fails 2 'has 4 iterations already' -n 2 "$tool" himeno --continue q.ckpt --iterations 4
if [ -z "$brief" ]; then
    resume 1 'head.ckpt: .* damaged' head.ckpt
    resume 1 'of a grid of 40x24x30' q.ckpt --size XS
    resume 1 'nothing.ckpt' nothing.ckpt
    resume 2 'own variant' q.ckpt --variant naive
    fails 2 "'3h'" -n 1 "$tool" himeno --iterations 9 --checkpoint c.ckpt --every 3h
fi

# Conjugate gradients: residuals go on as they were but for rounding, also with a preconditioner.
history() { # FILE
    python3 -c "import json, sys; print(*json.load(open(sys.argv[1]))['cases'][0]['history'])" "$1"
}
solve="cg --poisson27 10 --type f64 --precondition jacobi --tolerance 1e-8"
succeeds 'converged' -n 1 "$tool" $solve --json whole.json
succeeds 'tolerance was not met|converged' -n 2 env WAVEFIT_MPI_PIECES=1 "$tool" $solve \
    --variant sliced --checkpoint s.ckpt --every 5 --json kept.json
python3 - <<'END' || bad "kept.json: not a checkpoint every 6 iterations, or without their time"
import json, sys
case = json.load(open("kept.json"))["cases"][0]
sys.exit(not (case["checkpoints"] == case["iterations"] // 6 > 0
              and case["checkpoint_seconds"] > 0))
END
[ "$(iterations s.ckpt)" -ge 6 ] || bad "s.ckpt has $(iterations s.ckpt) iterations"
for ranks in 1 3; do
    succeeds '^continued after' -n $ranks "$tool" $solve --continue s.ckpt --json more.json
    python3 - "$(history whole.json)" "$(history more.json)" <<'END' || bad "residuals: $ranks"
import sys
whole, more = ([float(word) for word in text.split()] for text in sys.argv[1:])
sys.exit(len(whole) != len(more) or any(abs(a / b - 1) > 1e-5 for a, b in zip(whole, more)))
END
done
fails 1 'of another system' -n 2 "$tool" cg --poisson27 10 --type f64 --continue s.ckpt
if [ -z "$brief" ]; then # another matrix of the same pattern
    for diagonal in 4 5; do
        { printf '%%%%MatrixMarket matrix coordinate real symmetric\n20 20 39\n'
          for i in $(seq 20); do
              echo "$i $i $diagonal"
              [ "$i" = 1 ] || echo "$i $((i - 1)) -1"
          done; } >$diagonal.mtx
    done
    succeeds 'tolerance was not met|converged' -n 2 "$tool" cg 4.mtx --checkpoint u.ckpt --every 2
    fails 1 'of another system' -n 2 "$tool" cg 5.mtx --continue u.ckpt
fi
[ "$brief" ] || fails 1 'of cg, not of himeno' -n 1 "$tool" himeno --continue s.ckpt --iterations 9
[ "$brief" ] || fails 2 'no checkpoints' -n 1 "$tool" $solve --form pipelined --checkpoint t.ckpt

# A rank whose device refuses, in the midst of its work or from the start, ends all with its words.
# It has no layer: this one counts a submission that was refused as pending.
own_cache
refuses() { # CODE PATTERN SETTING ARGS…: 3 ranks, the second one with the setting
    local want=$1 pattern=$2 setting=$3
    shift 3
    fails "$want" "$pattern" -n 1 "$tool" "$@" : \
        -n 1 env VK_INSTANCE_LAYERS= VK_DRIVER_FILES="$fault_icd" "$setting" "$tool" "$@" : \
        -n 1 "$tool" "$@"
}
relax="himeno --size 20x20x20 --iterations 9"
refuses 1 'rank 1: .*OUT_OF_DEVICE_MEMORY' 'WAVEFIT_FAIL=vkQueueSubmit 12 -2' $relax
refuses 3 "no device matches 'Radeon'" WAVEFIT_DEVICE=Radeon $relax
if [ -z "$brief" ]; then
    refuses 1 'rank 1: .*OUT_OF_HOST_MEMORY' 'WAVEFIT_FAIL=vkQueueSubmit 12 -1' cg --poisson27 8
fi

# Memory that the ranks of one device need together is looked at before any of it is allocated.
fails 1 '2 ranks on .* need .* MiB' -n 2 env VK_DRIVER_FILES="$fault_icd" \
    WAVEFIT_BUDGET=$((1 << 20)) "$tool" cg --poisson27 32

finish
