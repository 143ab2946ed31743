#!/usr/bin/env bash
# The report of results, and files that are none.
set -u
. "$(dirname "$0")/expect.sh"

"$tool" ladder matmul --shape 40x50x60 --json ladder.json >/dev/null 2>&1
"$tool" sweep matmul --shape 64x64x64 --variant naive --over local_x --json sweep.json \
    >/dev/null 2>&1
"$tool" peaks --only submit,fma_f32 --budget 0.2 --json peaks.json >/dev/null 2>&1
"$tool" devices --json devices.json >/dev/null 2>&1
pages=$data/../../page/data
expect 0 '^report.html: ' report ladder.json sweep.json peaks.json -o report.html
check 'the page is whole' sh -c 'tail -n 1 report.html | grep -q "^</html>$"'
check 'the page names no other address' sh -c \
    '! grep -oE "(src|href)=.?https?:" report.html | grep -q .'
check 'the page carries the licences of Chart.js and of what is in it' sh -c \
    'grep -q "Copyright (c) 2014-2022 Chart.js Contributors" report.html &&
        grep -q "Copyright (c) 2018-2021 Jukka Kurkela" report.html &&
        [ "$(grep -c "^Permission is hereby granted" report.html)" = 2 ]'
expect 0 '^slower +x2\.000  himeno' report "$pages/lavapipe.json" --compare "$pages/base.json"
expect 0 '1 slower, 1 faster, 0 broken' report "$pages/lavapipe.json" --compare "$pages/base.json"
expect 1 '1 of [0-9]+ cases are slower' report "$pages/lavapipe.json" --compare "$pages/base.json" \
    --fail-on-regression
expect 0 '0 slower, 0 faster' report "$pages/lavapipe.json" --compare "$pages/lavapipe.json" \
    --fail-on-regression
expect 2 'needs --compare' report ladder.json --fail-on-regression
expect 2 'usage: wavefit report' report
expect 1 'no-such.json: No such file' report no-such.json
expect 1 'Is a directory' report .
expect 2 'would overwrite' report ladder.json -o ladder.json
expect 2 'would overwrite' report ladder.json --compare sweep.json -o ./sweep.json
expect 0 '^choosing.html: ' report "$pages/comparison.json" -o choosing.html
expect 1 'not a wavefit results file' report ladder.json --compare "$pages/comparison.json"
printf '{"schema": "wavefit-comparison/1", "device": {"name": "x"}}' >bare.json
expect 1 'not a wavefit results file' report bare.json
# Another library's results: the example of the page that documents them.
sed -n '/^## Results of other/,/^## Example/{/^```json/,/^```$/{/^```/d;p}}' \
    "$data/../../../bench/results.md" >vendor.json
expect 0 '^slower +x[0-9.]+ +matmul 256\^3 f32 .*base 14.2 us' report "$pages/lavapipe.json" \
    --compare vendor.json -o vendor.html
check 'the page names the other library' grep -q '"base_variant":"rocBLAS 4.3"' vendor.html
head -c 300 ladder.json >short.json
expect 1 'short.json: .* at byte' report short.json -o short.html
check 'nothing half-written' sh -c '! ls | grep -q "^short.html"'
sed 's|wavefit-results/2|wavefit-results/9|' ladder.json >newer.json
expect 1 'newer.json: schema wavefit-results/9 is not known' report newer.json
expect 1 'not a wavefit results file' report devices.json
printf '{"schema": "wavefit-results/1", "device": {}, "cases": [{"family": 3}]}' >odd.json
expect 1 'odd.json: case 0 has no family or no status' report odd.json
expect 1 'nowhere/r.html: cannot be written' report ladder.json -o nowhere/r.html
# What does not end is read so far and no further; a pipe is as good as a file, where it has a name.
expect 1 '/dev/zero: the file is over 64 MiB' report /dev/zero
expect 1 '/dev/zero: the file is over 64 MiB' report ladder.json --compare /dev/zero
[ "${WAVEFIT_TEST_WINDOWS:-}" ] ||
    check 'a pipe' sh -c "cat ladder.json | '$tool' report /dev/stdin -o pipe.html"
# The cases of 40,000 are found without looking at each of them for each: minutes become seconds.
{
    printf '{"schema": "wavefit-results/1", "device": {"name": "x"}, "cases": ['
    item='{"family": "spmv", "name": "&", "type": "f32", "status": "ok", "time_us": {"median": &}}'
    seq 1 40000 | sed "s/.*/$item,/"
    echo 1 | sed "s/.*/${item%&*}9}}]}/"
} >many.json
begun=$SECONDS
expect 0 '40001 cases compared: 0 slower, 0 faster, 0 broken, 40001 the same$' \
    report many.json --compare many.json
expect 0 '^spmv +f32 +40001 +1 +1 +1 +0$' report many.json --compare many.json
# Equal cases are compared in their order, with the first one where the base has fewer.
printf '{"schema": "wavefit-results/1", "device": {"name": "x"}, "cases": [%s]}' \
    "$(echo 1 | sed "s/.*/$item/")" >once.json
expect 0 '2 cases compared: 1 slower, 0 faster, 0 broken, 1 the same$' \
    report many.json --compare once.json
check 'no word on ranks where there are none' sh -c '! grep -q ranks err.tool'
sed 's/"status"/"ranks": [{"rank": 0}, {"rank": 1}], &/' once.json >two.json
expect 0 '1 cases compared' report two.json --compare once.json
check 'another number of ranks is told' \
    grep -q 'warning: 1 of 1 cases ran on another number of ranks in once.json' err.tool
check 'many cases are compared in time' [ $((SECONDS - begun)) -le 60 ]

finish
