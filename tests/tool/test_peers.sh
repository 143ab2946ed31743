#!/usr/bin/env bash
# Results of another library on the same matrix, by bench/peers/blas.py, beside wavefit's.
set -u
. "$(dirname "$0")/expect.sh"
python=$3 peers=$data/../../../bench/peers/blas.py

{
    echo '%%MatrixMarket matrix coordinate real general'
    echo '300 300 899'
    for ((i = 1; i <= 300; i++)); do
        echo "$i $i 2.5"
        ((i > 1)) && echo "$i $((i - 1)) -1.25"
        ((i < 300)) && echo "$i $((i + 1)) 0.375"
    done
    echo '1 300 7'
} >band.mtx
"$tool" spmv band.mtx --type f64 --repeat 3 --quiet --json wavefit.json >/dev/null 2>&1
check 'the other library ran and is right' "$python" "$peers" --json scipy.json band.mtx
check 'both types are there' [ "$(grep -c '"status": "ok"' scipy.json)" = 2 ]
expect 0 '^1 cases compared: .*; 1 of the base are not there' report wavefit.json \
    --compare scipy.json -o beside.html
check 'the page names the other library' grep -q '"base_variant":"scipy.sparse' beside.html

finish
