#!/usr/bin/env bash
# Rules of explain on kernels that are made to have the fault, and on wavefit's own choice, for
# which they are silent. Most kernels are compiled for a chip that is not there, which takes no
# measuring; two run on the driver that VK_DRIVER_FILES names.
set -u
. "$(dirname "$0")/expect.sh"

# silent PATTERN ARGS…: done, and nothing like it is said. Advice is wrapped into lines.
said() {
    run "$@"
    tr -s '\n ' ' ' <out >said
}
speaks() {
    local pattern=$1
    shift
    said "$@"
    check "'$pattern' is said of: $*" grep -qE -- "$pattern" said
}
silent() {
    local pattern=$1
    shift
    said "$@"
    check "'$pattern' is not said of: $*" sh -c "[ $code = 0 ] && ! grep -qE -- '$pattern' said"
}

for radv in /usr/share/vulkan/icd.d/radeon_icd*.json; do
    [ -f "$radv" ] && [ -z "${WAVEFIT_TEST_BRIEF:-}" ] || continue
    # Every rule that looks at how lanes reach memory, on the choice for a problem.
    faults='sectors of 32 bytes|passes on average|reach over|lanes have nothing|unequal length'
    faults="$faults|atomic additions|Each multiply-add loads|no multiple of the subgroup"
    room='registers of each work-item in memory|work-items fill|of shared memory a work'
    chip="--target amd:navi31"
    for problem in 'matmul --shape 1024x1024x1024' 'spmv --matrix poisson27:16' \
        'himeno --size M' 'stencil --grid 256x256x256' 'spmv --matrix rmat:12'; do
        silent "$faults|$room" explain $problem $chip
    done
    block="--set tile_m=64 --set tile_n=64 --set tile_k=32 --set thread_m=8 --set thread_n=8"
    speaks 'takes 4.5 passes on average.*--variant register --target amd:navi31' \
        explain matmul --variant blocked $block $chip
    silent "$faults" explain matmul --variant register $block $chip
    speaks 'Each multiply-add loads 2 values \(8.004 GiB from memory' \
        explain matmul --variant naive $chip
    speaks 'reach over .* 44 % of their lanes' explain matmul --shape 130x160x64 \
        --variant register $block $chip
    speaks 'Rows have 23.8 entries on average, and 128 lanes take each: 104 of 128' \
        explain spmv --matrix poisson27:16 --variant plain --set lanes=128 $chip
    speaks 'sectors of 32 bytes .* explain spmv .*--variant lanes' \
        explain spmv --matrix poisson27:16 --variant row $chip
    speaks 'unequal length \(13.1 entries on average, [0-9]+ at most\).*--variant equal' \
        explain spmv --matrix rmat:12 --variant row $chip
    silent 'unequal length' explain spmv --matrix poisson27:16 --variant row $chip
    speaks '8 atomic additions meet' explain spmv --matrix poisson27:16 --variant atomic \
        --set lanes=8 $chip
    silent 'atomic additions' explain spmv --matrix poisson27:16 --variant lanes $chip
    speaks 'touches 64 sectors of 32 bytes where 8' explain himeno --size M --variant naive \
        --set local_x=1 --set local_y=16 --set local_z=4 --target amd:vega10
    speaks 'reach over .* 49 % of their lanes' explain stencil --grid 65x64x64 --variant naive \
        --set local_x=128 $chip
    # What keeps places of a unit empty.
    speaks 'Work-groups of 48 work-items are no multiple of the subgroup of 64: 16 lanes' \
        explain spmv --matrix poisson27:16 --variant row --set local_x=48 $chip
    speaks 'Work-groups of 896 work-items fill 70 % of a compute unit' \
        explain spmv --matrix poisson27:16 --variant row --set local_x=896 --target amd:vega10
    speaks '18432 bytes of shared memory a work-group leave room for 7 of 64 subgroups' \
        explain matmul --variant kstep --set tile=8 --set tile_k=256 $chip
    speaks 'registers a work-item leave room for 8 of 64 .* keeps [0-9]+ registers of each work-' \
        explain matmul --variant register --set tile_m=128 --set tile_n=128 --set tile_k=8 \
        --set thread_m=16 --set thread_n=16 $chip
    expect 0 '"rule": "banks"' explain matmul --variant blocked $block $chip --json -
done

# What was forced is told why it is slower, and so are rules by measured times.
# A command that is advised names the device that this one was told to take.
speaks "own choice \([a-z]+, [0-9.]+ [mu]s\): it asks memory for [0-9]+ times .* --device '0'" \
    explain matmul --shape 256x256x256 --variant naive --repeat 2 --json forced.json --device 0
check 'forced.json has the rule' grep -q '"rule": "loads"' forced.json

finish
