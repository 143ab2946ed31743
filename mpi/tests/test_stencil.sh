#!/usr/bin/env bash
# wavefit stencil under mpirun: the bits of one device from 1 to 4 ranks, uneven and empty ones,
# with several steps a pass, with neighbours' memory and with messages; checkpoints that other
# numbers of ranks go on from; and what a user sees of faults.
# usage: test_stencil.sh WAVEFIT MPIRUN SWIFTSHADER_ICD FAULT_ICD
set -u
. "$(dirname "$0")/../../tests/tool/expect.sh"
mpirun=$2 other_icd=$3 fault_icd=$4
. "$(dirname "$0")/under_mpi.sh"

one() { # ARGS…: one process
    grid="stencil --no-tuning $*"
    expect 0 '^verified' $grid -o one.npy
}

many() { # MPIRUN_ARGS… -- ARGS…
    same_bits '^verified' "$@"
}

one --grid 24x10x23 --shape box --border periodic --steps 5
many -n 2 -- # each is the other's neighbour on both sides
# A planted fault: another number of steps gives other bits.
"$tool" ${grid/--steps 5/--steps 4} -o one.npy >out 2>err
cmp -s one.npy many.npy && bad "4 steps have the bits of 5"

# Two steps a pass, and one that is left, by three ranks; then one goes on from their checkpoint, of
# which the grid, the stencil and the variant are.
one --grid 32x9x20 --border neumann --type f64 --seed 7 --variant time --set steps=2 --steps 5
rm -f many.npy
succeeds '^kept +2 checkpoints in' -n 3 "$tool" ${grid/--steps 5/--steps 3} --checkpoint u.ckpt \
    --every 2
succeeds '^continued after 3 steps' -n 1 "$tool" stencil --continue u.ckpt --steps 5 -o many.npy
cmp one.npy many.npy || bad "other cells than without interruption"
if [ -z "$brief" ]; then
    # Extents of other grids: a row more, and 2^64 cells, of which none are there.
    python3 - <<'END' || bad "u.ckpt with other extents"
import json, zlib
line, rest = open("u.ckpt", "rb").read().split(b"\n", 1)
name, length, _ = line.split()
head, cells = json.loads(rest[:int(length)]), rest[int(length):]
def write(file, extents, cells):
    head["facts"].update(zip(("nx", "ny", "nz"), extents))
    head["arrays"][0].update(count=len(cells) // 8, crc32=zlib.crc32(cells))
    text = json.dumps(head).encode()
    open(file, "wb").write(b"%s %010d %08x\n" % (name, len(text), zlib.crc32(text)) + text + cells)
write("taller.ckpt", (32, 10, 20), cells)
write("endless.ckpt", (2**21, 2**21, 2**22), b"")
END
    for file in taller endless; do
        fails 1 "$file.ckpt: the checkpoint is not whole" -n 2 "$tool" stencil \
            --continue $file.ckpt --steps 9
    done
    fails 1 'need.* MiB' -n 1 "$tool" stencil --grid 2097152x2097152x4194304 --variant naive \
        --set local_x=64
    one --grid 30x41 --radius 2 --border neumann --type f64 --steps 3
    many -n 4 -- --weights 3,0,1,2.5
    many -n 3 env WAVEFIT_MPI_SHARED=0 -- --balance --json many.json
    grep -q '^balanced ' out || bad "not balanced"
    grep -q '"shared_halos": 0,*$' many.json || bad "shared halos without shared memory"
    # Fewer planes than the ranks' halos together.
    one --grid 12x12x5 --radius 2 --steps 3
    many -n 4 --
    if [ -f "$other_icd" ]; then
        args="stencil --grid 24x10x23 --steps 5 -o mixed.npy"
        succeeds '^verified' -n 2 "$tool" $args : \
            -n 1 env VK_DRIVER_FILES="$other_icd" "$tool" $args
    fi
fi

# Blocks: box stencils need edges and corners, periodic grids have neighbours on all sides, and in
# two dimensions there is one plane. (The device test stencil_blocks has several steps a pass.)
one --grid 24x14x23 --shape box --border periodic --steps 3
many -n 8 -- --blocks 2x2x2
if [ -z "$brief" ]; then
    one --grid 30x41 --radius 2 --border neumann --shape box --type f64 --steps 3
    many -n 4 env WAVEFIT_MPI_SHARED=0 -- --blocks 2x2x1
    # A cell beside a halo of one would be no grid of the stencil's: one block has all.
    one --grid 3x12x9 --steps 2
    many -n 2 -- --blocks 2x1x1
    # Fewer cells than the blocks' halos together: the third has none.
    one --grid 10x12x9 --radius 4 --type f16 --steps 2
    many -n 3 -- --blocks 3x1x1
fi

# A run that is timed. Devices read their neighbours' planes where these left them, both ways of two
# cuts.
succeeds '^rate ' -n 3 "$tool" stencil --grid 24x10x23 --json many.json
grep -q '"shared_halos": 4,*$' many.json || bad "not 4 shared halos"

# Wrong usage is told once; a rank that loses its device ends all with its words.
fails 2 'grid' -n 2 "$tool" stencil --grid 2x2x2
fails 2 'slabs' -n 2 "$tool" stencil --grid 9x9x9 --blocks 2x1x1 --balance
[ "$brief" ] || fails 2 'own grid' -n 1 "$tool" stencil --continue u.ckpt --steps 9 --radius 2
own_cache
lost="stencil --grid 16x16x16 --steps 40"
fails 1 'rank 1: .*DEVICE_LOST' -n 1 "$tool" $lost : -n 1 env "VK_DRIVER_FILES=$fault_icd" \
    "WAVEFIT_FAIL=vkQueueSubmit 30 -4" "$tool" $lost : -n 1 "$tool" $lost
finish
