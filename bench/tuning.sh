#!/usr/bin/env bash
# What the tuner is worth on a device: the model's choice, rows that ship (and what is chosen
# without this device's own), two searches and an exhaustive one, side by side. What FILE of
# --json FILE has already is not measured again.
# bench_tuning (bench/tuning.c) does it; it is built beside WAVEFIT, by
# `cmake --build build/release --target bench_tuning`.
# usage: bench/tuning.sh WAVEFIT [SECONDS] [OPTIONS]
#                     SECONDS a search (60); bench_tuning's options, as --suite full --json FILE
#        bench/tuning.sh WAVEFIT --parts FILE [SECONDS]
#                     subspaces that are searched whole; SECONDS a search (3)
#        bench/tuning.sh WAVEFIT --products FILE [SECONDS [TYPE…]]
#                     products for drivers on CPUs, five minutes; SECONDS a search (4)
#        bench/tuning.sh WAVEFIT --reprint [FILE…]
#                     the tables again, without a device (default: those kept here)
set -euo pipefail
usage="usage: bench/tuning.sh WAVEFIT [SECONDS] [OPTIONS] | --parts FILE [SECONDS]
       | --products FILE [SECONDS [TYPE…]] | --reprint [FILE…]"
tool=${1:?$usage}
shift
bench=$(dirname "$tool")/bench_tuning
if [ ! -x "$bench" ]; then
    echo "bench/tuning.sh: $bench is not built (cmake --build … --target bench_tuning)" >&2
    exit 2
fi

# Subspaces with the best point known on an H100 in them, 40 to 250 points each.
parts() {
    local file=${1:?$usage} seconds=${2:-3}
    part() { # FAMILY PROBLEM TYPE VARIANT name=value…
        local family=$1 only=$2 type=$3 variant=$4 set=()
        shift 4
        for value in "$@"; do set+=(--set "$value"); done
        "$bench" "$family" --suite full --only "$only" --type "$type" --variant "$variant" \
            "${set[@]}" --compare --budget "$seconds" --all 60 --json "$file"
    }
    part spmv 'uniform 64Ki' f32 equal slices=1 window=1 long_x=0 long_loads=1
    part spmv 'rmat 2^14' f32 sliced window=2048
    part stencil 'star 128^3' f32 vector
    part himeno 'himeno S' f32 march4_sum pad=32 interleave=65536 reverse=0
    part matmul '1024^3' f32 vector thread_m=8 thread_n=8 vec4=7 lanes_m=4 lanes_n=8 swizzle=1 \
        split_k=1 pack=0 pairs=1
    part matmul '1024^3' f16 cooperative sub_m=32 sub_n=32 frag_m=16 frag_n=16 frag_k=16 \
        subgroup=32 swizzle=8 split_k=1 pack=0
}

# Products of three types for drivers on CPUs, where a point takes up to a second to compile: every
# variant by the model beside the others, then the one that it chooses there against all of its
# tiles and blocks with 8 steps. What is for GPUs alone is left out (all points of all variants are
# 80 million).
products() {
    local file=${1:?$usage} seconds=${2:-4} type types=("${@:3}")
    [ ${#types[@]} -gt 0 ] || types=(f32 f64 f16)
    for type in "${types[@]}"; do
        "$tool" ladder matmul --shape 256x256x256 --type "$type" --repeat 3
        "$bench" matmul --compare --shape 256x256x256 --type "$type" --budget "$seconds" \
            --all $((10 * seconds)) --json "$file" --variant vector --set tile_k=8 \
            --set vec4=7 --set lanes_m=4 --set lanes_n=8 --set swizzle=1 --set split_k=1 \
            --set double_buffer=0 --set pairs=0 --set pack=0 --set serpentine=0 --set stream_k=0
    done
}

case ${1:-} in
--products)
    shift
    products "$@"
    ;;
--parts)
    shift
    parts "$@"
    ;;
--reprint)
    shift
    [ $# -gt 0 ] || set -- "$(dirname "$0")"/tuning/*.json
    for file in "$@"; do "$bench" --reprint "$file"; done
    ;;
*)
    seconds=${1:-60}
    [ $# -eq 0 ] || shift
    exec "$bench" --compare --budget "$seconds" "$@"
    ;;
esac
