#!/usr/bin/env bash
# Rules of explain that go by times, on kernels that are made to have the fault and on ones without
# it. The driver (clock_icd.c) runs them on lavapipe, and its clock counts dispatches, work-groups
# and barriers: no time of this test depends on what else the machine does.
set -u
. "$(dirname "$0")/expect.sh"
export LP_NATIVE_VECTOR_WIDTH=256 # subgroups of 8, on which waves depend

# rules CLOCK ARGS…: the names of what explain says, a line each, in the file `said`.
rules() {
    local clock=$1
    shift
    rm -f rules.json
    WAVEFIT_CLOCK=$clock "$tool" explain "$@" --repeat 1 --json rules.json >out 2>err
    code=$?
    grep -o '"rule": "[a-z0-9-]*"' rules.json >said
}
speaks() {
    local rule=$1
    shift
    rules "$@"
    check "$rule is said of: $*" sh -c "[ $code = 0 ] && grep -q '\"$rule\"' said"
}
silent() {
    local rule=$1
    shift
    rules "$@"
    check "$rule is not said of: $*" sh -c "[ $code = 0 ] && ! grep -q '\"$rule\"' said"
}

even="1e8 1000 0" # a dispatch takes 0.1 s, whatever it does
tile='--variant register --set tile_k=8 --set thread_m=4 --set thread_n=4'

# Four compute units of two work-group processors: work-groups of one tile, and of four.
speaks few-groups "$even" matmul --shape 64x64x64 $tile --set tile_m=64 --set tile_n=64
silent few-groups "$even" matmul --shape 64x64x64 $tile --set tile_m=32 --set tile_n=32

# Each holds 64 subgroups of 8: 1024 work-items in all.
row='--variant row --set local_x=32'
speaks few-items "$even" spmv --generate diagonal:320 $row
silent few-items "$even" spmv --generate diagonal:640 $row
speaks tail "$even" spmv --generate diagonal:1300 $row
silent tail "$even" spmv --generate diagonal:2048 $row

# 64 dispatches, of which each waits for the one before; as many rows in one.
speaks dispatches "$even" matmul --shape 8x8x64 --variant dispatch
silent dispatches "$even" matmul --shape 8x8x64 --variant naive

# No arithmetic of bf16; and f64 at a sixteenth of the rate of f32.
speaks no-hardware "$even" matmul --shape 64x64x64 --type bf16
silent no-hardware "$even" matmul --shape 64x64x64
export WAVEFIT_CLOCK_F64=16
speaks slow-f64 "$even" matmul --shape 64x64x64 --type f64
silent slow-f64 "$even" matmul --shape 64x64x64
export WAVEFIT_CLOCK_F64=2
silent slow-f64 "$even" matmul --shape 64x64x64 --type f64
unset WAVEFIT_CLOCK_F64

# A choice far from the floor that nothing has measured; what was forced is told otherwise.
speaks untuned "$even" matmul --shape 32x32x32 --no-tuning
silent untuned "$even" matmul --shape 32x32x32 $tile --set tile_m=32 --set tile_n=32

# Kernels of a nanosecond, beside transfers of 8 MiB and submissions, and kernels of 20 minutes.
grid='--grid 1024x1024 --variant naive --set local_x=128 --set local_y=1'
export WAVEFIT_CLOCK_GROUPS="8192 1 7 1"
speaks transfers "$even" stencil $grid
speaks submissions "$even" spmv --generate diagonal:224 $row
export WAVEFIT_CLOCK_GROUPS="8192 1.2e12 7 1.2e12"
silent transfers "$even" stencil $grid
silent submissions "$even" spmv --generate diagonal:224 $row
finish
