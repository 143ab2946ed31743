#!/usr/bin/env bash
# Blocks under mpirun: the bits of one device from 2, 4, 8 and 12 of them, uneven and empty ones,
# with several iterations a pass, with neighbours' memory and with messages, from two drivers in one
# run; checkpoints that other cuts go on from; and what a user sees of faults.
# usage: test_blocks.sh WAVEFIT MPIRUN SWIFTSHADER_ICD FAULT_ICD
set -u
. "$(dirname "$0")/../../tests/tool/expect.sh"
mpirun=$2 other_icd=$3 fault_icd=$4
. "$(dirname "$0")/under_mpi.sh"

gosa() { grep -E '^gosa ' out; }
relax="himeno --size 40x24x30 --no-tuning"

one() { # ARGS…: one process
    point="$*"
    expect 0 '^verified' $relax $point -o one.npy
    one_gosa=$(gosa)
}

# blocks RANKS IxJxK [MPIRUN_ARGS…]: p and gosa of the one process.
blocks() {
    local ranks=$1 cut=$2
    shift 2
    rm -f many.npy
    succeeds '^verified' -n "$ranks" "$@" "$tool" $relax $point --blocks "$cut" -o many.npy
    if ! cmp one.npy many.npy >cmp.out 2>&1; then
        bad "other cells than one device's: $ranks ranks, $cut $point ($(cat cmp.out))"
    elif [ "$(gosa)" != "$one_gosa" ]; then
        bad "gosa $(gosa) instead of $one_gosa: $cut $point"
    else
        passed=$((passed + 1))
    fi
}

one --iterations 7 --variant time --set steps=2 --set local_x=16 --set march=4
blocks 8 2x2x2
if [ -z "$brief" ]; then
    # A remainder of one iteration, whose gosa is asked for.
    one --iterations 5 --variant time --set steps=3 --set local_x=16 --set local_y=9 --set march=5
    blocks 12 3x2x2
    one --iterations 3 --variant naive --set local_x=8
    blocks 4 2x2x1
    # A model chooses slabs where there is little to exchange, blocks where slabs would be thin.
    blocks 4 auto env WAVEFIT_MPI_SHARED=0
    grep -q '^slabs  *4 (auto)$' out || bad "not slabs of a small grid"
    small=$relax relax="himeno --size 130x130x10 --no-tuning"
    one --iterations 3 --variant naive --set local_x=8
    blocks 4 auto
    grep -q '^blocks .* (auto), ' out || bad "not blocks of a flat grid"
    relax=$small
    # More blocks than work-groups along i: one has no cells.
    one --iterations 3 --variant march4 --set local_x=8 --set local_y=8 --set march=8
    blocks 3 3x1x1
fi
# A planted fault: another grid has other bits.
"$tool" $relax ${point/--iterations ?/--iterations 2} -o one.npy >/dev/null 2>&1
cmp -s one.npy many.npy && bad "2 iterations have the bits of more"

# The benchmark itself: each of 8 devices reads the halos of the 7 others, across faces, edges and
# the corner.
succeeds '^ *7 +[0-9]+ ' -n 8 "$tool" himeno --size 40x24x30 --iterations 6 --blocks 2x2x2 \
    --json many.json
python3 - <<'END' || bad "many.json: not the blocks that were asked for"
import json, sys
case = json.load(open("many.json"))["cases"][0]
cells = sum(r["count"] for r in case["ranks"])
sys.exit(not (case["blocks"] == [2, 2, 2] and case["shared_halos"] == 56
              and cells == 38 * 22 * 28 and all(r["spans"] for r in case["ranks"])))
END
if [ -f "$other_icd" ] && [ -z "$brief" ]; then
    args="himeno --size 40x24x30 --iterations 4 --blocks 2x2x1"
    succeeds 'SwiftShader' -n 3 "$tool" $args : \
        -n 1 env VK_DRIVER_FILES="$other_icd" "$tool" $args
fi

# A checkpoint of one cut is gone on from by another.
one --iterations 9 --variant time --set steps=2 --set local_x=16 --set march=4
if [ -z "$brief" ]; then
    succeeds '^gosa' -n 4 "$tool" $relax ${point/--iterations 9/--iterations 4} --blocks 2x2x1 \
        --checkpoint p.ckpt --every 30s
    succeeds '^continued after 4 iterations' -n 4 "$tool" himeno --continue p.ckpt \
        --iterations 9 --no-tuning --blocks 1x2x2 -o many.npy
    cmp -s one.npy many.npy || bad "other cells than without interruption"
    [ "$(gosa)" = "$one_gosa" ] || bad "another gosa than without interruption"
fi

# Wrong usage is told once; a rank that loses its device ends all with its words.
fails 2 'one for each of 2 ranks' -n 2 "$tool" himeno --size XS --blocks 2x2x2
fails 2 'slabs' -n 2 "$tool" himeno --size XS --blocks 2x1x1 --weights 1,2
own_cache
lost="himeno --size 40x24x30 --iterations 40 --no-tuning --variant naive --set local_x=8"
lost="$lost --blocks 2x2x1"
fails 1 'rank 2: .*DEVICE_LOST' -n 2 "$tool" $lost : -n 1 env "VK_DRIVER_FILES=$fault_icd" \
    "WAVEFIT_FAIL=vkQueueSubmit 30 -4" "$tool" $lost : -n 1 "$tool" $lost
finish
