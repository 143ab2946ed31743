#!/usr/bin/env bash
# The answer first: files in, files out, checked, stages told, and timed only where that is asked.
set -u
. "$(dirname "$0")/expect.sh"

npy A.npy '<f4' '(2, 2)' "$one$two$two$one"
npy B.npy '<f4' '(2, 2)' "$one$one$two$three"
expect 0 '^verified +4 of 4' matmul A.npy B.npy -o C.npy --json C.json
cp out kept
check 'an answer is not timed' sh -c '! grep -qE "^(time|rate) " kept'
check 'nor are ceilings measured' sh -c '! grep -q fma_f32_gflops C.json'
check 'its stages are told' grep -qE \
    '^stages +read [0-9.]+ [num]?s, device .*, analysis .*, upload .*, run ' kept
check 'and the whole' grep -qE '^whole +[0-9.]+ [num]?s from operands to answer' kept
stages_add_up() { # the whole is analysis, upload, run and download
    awk -F'[:,]' '/"whole_us"/ { whole = $2 } /"stages_us"/ { inside = 1 } /}/ { inside = 0 }
        inside && /"(analysis|upload|run|download)"/ { sum += $2 }
        inside && /"(read|device|check|write)"/ { others++ }
        END { exit !(whole > 0 && sum > 0.999 * whole && sum < 1.001 * whole && others == 4) }' "$1"
}
check 'in JSON too' stages_add_up C.json
expect 0 '^time +.* median' matmul A.npy B.npy -o C.npy --time
expect 0 '^time +.* median of 2 ' matmul A.npy B.npy -o C.npy --repeat 2
expect 0 '^time +.* median' matmul A.npy B.npy

expect 0 '^verified' spmv "$data/small.mtx" -o y.npy --json y.json
cp out kept
check 'a sparse answer is not timed' sh -c '! grep -qE "^(time|rate) " kept'
check 'y.json has the stages' stages_add_up y.json
expect 0 '^time +' spmv "$data/small.mtx" -o y.npy --time --repeat 1
expect 0 '^whole ' cg --poisson5 12 -o x.npy --json x.json
check 'x.json has the stages' stages_add_up x.json
expect 0 '^solves +.* each as a whole, median of 3 ' cg --poisson5 12 --time --repeat 3
expect 0 '^whole ' laplace --grid 33x20 -o u.npy --json u.json
check 'u.json has the stages' stages_add_up u.json
expect 0 '^stages +.*download' himeno --size 9x8x7 --iterations 4

# A grid of a file: five cells in a row, the middle of the second one 1; the star moves it one to
# the right. Rows of three dimensions stand one below another.
zero='\x00\x00\x00\x00'
row=$zero$zero$zero$zero$zero
npy U.npy '<f4' '(3, 5)' "$row$zero$zero$one$zero$zero$row"
npy K.npy '<f4' '(5,)' "$zero$one$zero$zero$zero"
npy V.npy '<f4' '(3, 5)' "$row$zero$zero$zero$one$zero$row"
expect 0 '^verified +15 of 15' stencil U.npy --coefficients K.npy -o W.npy
cp out kept
check 'a stencil of files is not timed' sh -c '! grep -qE "^(time|rate) " kept'
check 'its grid is what it must be' sh -c 'tail -c 60 V.npy >v && tail -c 60 W.npy | cmp - v'
expect 0 '^time ' stencil U.npy --coefficients K.npy -o W.npy --repeat 1
expect 1 'W.npy has 3 rows of 5; --grid needs 9 of 5' stencil W.npy --grid 5x3x3 -o X.npy
expect 1 'a vector of 9 elements is needed, not 5$' stencil U.npy --shape box \
    --coefficients K.npy
expect 2 "not 'W.txt'" stencil U.npy -o W.txt

# Whole runs are compared where there is no median, and told beside it where there is one.
slower() { sed -E "s/\"whole_us\": [0-9.]+/\"whole_us\": 1.5/" "$1" >"$2"; }
slower x.json base.json
expect 0 '^slower +x[0-9.]+  cg poisson5 12\^2 f32, whole' report x.json --compare base.json
expect 1 '1 of 1 cases are slower' report x.json --compare base.json --fail-on-regression
expect 0 '1 cases compared: 0 slower, 0 faster' report x.json --compare x.json
expect 0 '^x.html: ' report x.json -o x.html
check 'the page has the stages' grep -q '"stages_us":' x.html

# What takes longer than a second says so on a terminal, and nowhere else. One of this kind is no
# console of Windows.
if [ -z "${WAVEFIT_TEST_WINDOWS:-}" ] && command -v script >/dev/null; then
    mkfifo slow.mtx
    (sleep 1.6 && cat "$data/small.mtx") >slow.mtx &
    script -qec "\"$tool\" spmv slow.mtx -o y.npy" /dev/null >terminal </dev/null
    check 'a long stage is named' grep -aq 'Kreading the matrix, 1 s' terminal
    script -qec "\"$tool\" matmul A.npy B.npy -o C.npy" /dev/null >terminal </dev/null
    check 'the line is cleared before results' sh -c '! grep -aq "ing.*device " terminal'
fi
# Programs for Windows find nothing to read there.
if [ -z "${WAVEFIT_TEST_WINDOWS:-}" ]; then
    (sleep 1.2 && cat "$data/small.mtx") | "$tool" spmv /dev/stdin -o y.npy >out 2>err
    check 'no line where there is no terminal' sh -c '! [ -s err ]'
fi
finish
