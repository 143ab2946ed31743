#!/usr/bin/env bash
# What is said of a result is what holds for it: solvers whose answer the device overwrites, runs of
# a given time on a machine whose pace changes, Gosa against a host program that runs as the
# official one.
# usage: test_verdicts.sh WAVEFIT DATA HIMENO_ORDER
set -u
order=$3
. "$(dirname "$0")/expect.sh"
export XDG_CACHE_HOME=$work/cache

# One word of x is overwritten on the device; without it the same commands converge.
for options in '' '--precondition jacobi' '--max-iterations 10000 --tolerance 1e-5'; do
    # Three vectors of 448 floats, of which x is the first; nothing else takes 5,376 bytes.
    expect 0 'converged after' cg --poisson5 20 $options
    export WAVEFIT_OVERWRITE='5376 0 37'
    expect 1 'wrong: b - A x is over the tolerance' cg --poisson5 20 $options -o x.npy \
        --json cg.json
    check "cg $options: the fault was there" sh -c \
        "sed -n 's/.*\"true_residual\": //p' cg.json | awk '{exit !(\$1 > 10)}'"
    check "cg $options: no x is written" test ! -e x.npy
    check "cg $options: failed in the results" grep -q '"status": "failed"' cg.json
    unset WAVEFIT_OVERWRITE
done
# The first colour of 20 x 20 cells; or all 40 x 20 cells, of which an odd number of checks leaves
# the second array. One check is all that there is, so that no iteration mends the word.
for options in '--method sor' '--method jacobi'; do
    victim='3200 1'
    [ "$options" = '--method sor' ] && victim='1600 0'
    expect 0 'converged after' laplace --grid 40x20 $options --tolerance 1e-2
    export WAVEFIT_OVERWRITE="$victim 210"
    expect 1 'wrong: the residual of what came back' \
        laplace --grid 40x20 $options --tolerance 1e-2 --check-every 2000 -o u.npy --json u.json
    check "laplace $options: no field is written" test ! -e u.npy
    check "laplace $options: failed in the results" grep -q '"status": "failed"' u.json
    unset WAVEFIT_OVERWRITE
done

# A work-group is lost from the second dispatch on: the answer is right, and the runs that are timed
# are not.
while read -r lost command; do
    expect 0 'verified' $command --repeat 3
    export WAVEFIT_LOST_GROUP="$lost 1"
    expect 1 'of what the timed runs left is' $command --repeat 3
    unset WAVEFIT_LOST_GROUP
done <<'END'
32 matmul --shape 64x64x64 --variant naive --set local_x=16 --set local_y=8
2 spmv --generate poisson5:20 --variant row --set local_x=256
1 stencil --grid 64x64 --variant naive --set local_x=64
END

# The run of three steps is right, and a work-group is lost in the second of the steps that are made
# one by one.
steps='stencil --grid 64x64 --variant naive --set local_x=64 --steps 3 --no-tuning --check-steps'
expect 0 'also each step by itself' $steps -o V.npy
export WAVEFIT_LOST_GROUP='1 4'
expect 1 'of step 2 by itself is' $steps -o V2.npy
check 'stencil --check-steps: no grid is written' test ! -e V2.npy
unset WAVEFIT_LOST_GROUP

# The first runs seem 50 times as slow as those that follow: the run is as long as was asked for.
export WAVEFIT_SLOW='12 50'
begun=$(date +%s%N)
expect 0 'Loop executed' himeno --size 17x17x17 --seconds 4 --json himeno.json
took=$((($(date +%s%N) - begun) / 1000000))
check "himeno --seconds 4 took $took ms" test "$took" -ge 3900
unset WAVEFIT_SLOW

# Gosa of the rehearsal and of the run that goes on from it, to what sums in f32 allow.
number() { sed -n "s/.*\"$1\": \\([0-9.e+-]*\\).*/\\1/p" himeno.json; }
while read -r size iterations i j k; do
    expect 0 'Gosa' himeno --size "$size" --iterations "$iterations" --json himeno.json
    "$order" "$i" "$j" "$k" 3 "$iterations" >official
    check "himeno $size: Gosa of the rehearsal" awk -v a="$(number rehearsal_gosa)" \
        -v b="$(sed -n 1p official)" 'BEGIN {exit !(a > 0 && (a - b)^2 <= (2e-5 * b)^2)}'
    check "himeno $size: Gosa after $iterations more" awk -v a="$(number gosa)" \
        -v b="$(sed -n 2p official)" 'BEGIN {exit !(a > 0 && (a - b)^2 <= (2e-5 * b)^2)}'
done <<'END'
XS 1 64 32 32
XS 7 64 32 32
M 10 256 128 128
33x20x17 4 33 20 17
END
finish
