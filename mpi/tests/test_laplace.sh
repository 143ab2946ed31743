#!/usr/bin/env bash
# wavefit laplace under mpirun: the bits of one device from 1 to 4 ranks, uneven and empty ones,
# with neighbours' memory and with messages; checkpoints that other numbers of ranks go on from; and
# what a user sees of faults.
# usage: test_laplace.sh WAVEFIT MPIRUN SWIFTSHADER_ICD FAULT_ICD
set -u
. "$(dirname "$0")/../../tests/tool/expect.sh"
mpirun=$2 other_icd=$3 fault_icd=$4
. "$(dirname "$0")/under_mpi.sh"

one() { # ARGS…: one process
    grid="laplace --no-tuning $*"
    expect 0 '^result    converged' $grid -o one.npy
}

many() { # MPIRUN_ARGS… -- ARGS…
    same_bits '^result    converged' "$@"
}

one --grid 41x57 --tolerance 1e-3 --check-every 8
[ "$brief" ] || many -n 1 --
many -n 2 -- --balance
grep -q '^balanced ' out || bad "not balanced"
many -n 4 -- --weights 3,0,1,2.5
# A planted fault: another factor gives other bits.
expect 0 '^result    converged' $grid --omega 1.7 -o other.npy
cmp -s other.npy many.npy && bad "omega 1.7 has the bits of the best one"
if [ -z "$brief" ]; then
    # Two hosts: one neighbour's memory is shared, the other one's rows come by messages.
    args="$grid -o many.npy --json many.json"
    succeeds '^result    converged' -n 2 env WAVEFIT_MPI_HOST=a "$tool" $args : \
        -n 1 env WAVEFIT_MPI_HOST=b "$tool" $args
    cmp one.npy many.npy || bad "other cells on two hosts"
    grep -q '"shared_halos": 2,*$' many.json || bad "not 2 shared halos on two hosts"
    rm -f many.npy
    one --grid 31x29 --method jacobi --tolerance 1e-2 --variant time --set steps=3
    many -n 3 --
    one --grid 40x1100 --type f64 --tolerance 0.05 --check-every 16 # passes of two iterations
    many -n 2 --
    one --grid 9x5 --tolerance 1e-3 # more ranks than rows for them
    many -n 4 --
    if [ -f "$other_icd" ]; then
        args="laplace --grid 41x57 --tolerance 1e-3 --balance"
        succeeds 'SwiftShader' -n 2 "$tool" $args : \
            -n 1 env VK_DRIVER_FILES="$other_icd" "$tool" $args
    fi
fi

# A border of one's own; the file of results; devices read their neighbours' rows themselves.
python3 - <<'END' || bad "border.npy"
import array, struct
rows, columns, seed = 33, 26, 12345
cells = array.array("d")
for i in range(rows * columns):
    seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
    cells.append(seed / 2**64 - 0.5)
head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (rows, columns)
head += " " * (117 - len(head)) + "\n"
open("border.npy", "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + head.encode()
                               + cells.tobytes())
END
one --border border.npy --type f64 --tolerance 1e-9 --check-every 8
many -n 3 -- --json many.json
python3 - <<'END' || bad "many.json is not what it should be"
import json, sys
case = json.load(open("many.json"))["cases"][0]
ranks = case["ranks"]
ok = len(ranks) == 3 and sum(r["count"] for r in ranks) == 33 and case["shared_halos"] == 4
ok = ok and len(case["history"]) == -(-case["iterations"] // case["check_every"])
ok = ok and case["history"][-1] == case["residual"] <= 1e-9
ok = ok and abs(case["true_residual"] - case["residual"]) <= 1e-3 * case["residual"]
ok = ok and all(r["inside_us"] > 0 and r["reduction_us"] > 0 for r in ranks)
sys.exit(not ok)
END
passed=$((passed + 1))

# A checkpoint: two ranks stop, three go on to the bits of a run that was not interrupted.
one --grid 41x57 --tolerance 1e-4 --check-every 4
fails 1 'not met' -n 2 "$tool" $grid --max-iterations 20 --checkpoint u.ckpt --every 8
grep -q '^kept  *2 checkpoints in ' out || bad "not 2 checkpoints"
many -n 3 -- --continue u.ckpt
fails 1 'another problem' -n 2 "$tool" $grid --omega 1.5 --continue u.ckpt
printf 'x' | dd of=u.ckpt bs=1 seek=900 conv=notrunc 2>dd.out
fails 1 'damaged' -n 2 "$tool" $grid --continue u.ckpt
# The squares of these values are beyond f64.
python3 - <<'END' || bad "large.npy"
import array
whole = open("border.npy", "rb").read()
cells = array.array("d", [1e190 * v for v in array.array("d", whole[128:])])
open("large.npy", "wb").write(whole[:128] + cells.tobytes())
END
one --border large.npy --type f64 --tolerance 1e-13 --check-every 8
fails 1 'not met' -n 2 "$tool" $grid --max-iterations 60 --checkpoint u.ckpt --every 16
many -n 3 -- --continue u.ckpt
# More iterations than --max-iterations has by default, and a history of as many checks.
python3 - <<'END' || bad "long.ckpt"
import json, zlib
line, rest = open("u.ckpt", "rb").read().split(b"\n", 1)
name, length, _ = line.split()
head = json.loads(rest[:int(length)])
u, history = head["arrays"]
cells = rest[int(length):][:8 * u["count"]]
head["facts"]["iterations"] = 12000000
history["count"] = head["facts"]["iterations"] // 8
checks = bytes(8 * history["count"])
history["crc32"] = zlib.crc32(checks)
text = json.dumps(head).encode()
open("long.ckpt", "wb").write(b"%s %010d %08x\n" % (name, len(text), zlib.crc32(text)) + text
                              + cells + checks)
END
fails 2 '12000000 iterations already' -n 2 "$tool" $grid --continue long.ckpt

# Wrong usage is told once; a rank that loses its device ends all with its words.
fails 2 'grid' -n 2 "$tool" laplace --grid 2x2
fails 1 'nothing.npy' -n 2 "$tool" laplace --border nothing.npy
own_cache
lost="laplace --grid 64x64"
fails 1 'rank 1: .*DEVICE_LOST' -n 1 "$tool" $lost : -n 1 env "VK_DRIVER_FILES=$fault_icd" \
    "WAVEFIT_FAIL=vkQueueSubmit 30 -4" "$tool" $lost : -n 1 "$tool" $lost
finish
