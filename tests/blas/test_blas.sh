#!/usr/bin/env bash
# Netlib's level-3 testers (Debian's libblas-test) on sgemm_ and dgemm_ of wavefit, and one of ours
# on hgemm_: all values and error exits pass, and a product that is scaled by 1.001 does not (of
# hgemm_ by 1.05).
# usage: test_blas.sh SHIM FOLDER HBLAT3   WAVEFIT_BLAS_SIZES: values of N (default "0 1 3 9";
# netlib has "0 1 2 3 5 9")
set -u
shim=$1
folder=$2
half=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
sizes=${WAVEFIT_BLAS_SIZES:-0 1 3 9}
failed=0

bad() {
    failed=1
    echo "FAILED: $1"
    tail -n 30 out err
}

tester() { # LETTER, its name in capitals
    awk -v sizes="$sizes" -v letter="$2" '
        /NUMBER OF VALUES OF N/ { print split(sizes, unused, " "); next }
        /VALUES OF N$/ { print sizes; next }
        $1 ~ "^" letter "[A-Z0-9]*$" && $2 == "T" && $1 != letter "GEMM" { sub(" T ", " F ") }
        { print }' "$folder/${1}blat3.in" >input
    LD_PRELOAD=$shim "$folder/xblat3$1" <input >out 2>err
    [ -s "${1}blat3.out" ] && cat "${1}blat3.out" >>out
    rm -f ./*.out
}

for names in 's S' 'd D'; do
    set -- $names
    tester "$1" "$2"
    calls=$(grep -oE 'PASSED THE COMPUTATIONAL TESTS \( *[0-9]+ CALLS\)' out | grep -oE '[0-9]+')
    products=$(sed -n 's/^wavefit: \([0-9]*\) products on .*/\1/p' err)
    echo "$2GEMM: ${calls:-no} calls passed, ${products:-no} products by wavefit"
    [ "${calls:-0}" -gt 1000 ] || bad "$2GEMM: the tester does not say that all calls passed"
    [ "${products:-0}" -gt 500 ] || bad "$2GEMM: wavefit did not compute them"
    grep -q "$2GEMM  *PASSED THE TESTS OF ERROR-EXITS" out || bad "$2GEMM: error exits"
    grep -qE 'FAIL|SUSPECT' out && bad "$2GEMM: a test failed"
done
LD_PRELOAD=$shim "$half" >out 2>err || bad 'HGEMM: the tester fails'
calls=$(grep -oE 'PASSED THE COMPUTATIONAL TESTS \( *[0-9]+ CALLS\)' out | grep -oE '[0-9]+')
products=$(sed -n 's/^wavefit: \([0-9]*\) products on .*/\1/p' err)
echo "HGEMM: ${calls:-no} calls passed, ${products:-no} products by wavefit"
[ "${calls:-0}" -gt 900 ] || bad 'HGEMM: the tester does not say that all calls passed'
[ "${products:-0}" -gt 400 ] || bad 'HGEMM: wavefit did not compute them'
WAVEFIT_BLAS_FAULT=1.05 LD_PRELOAD=$shim "$half" >out 2>err &&
    bad 'HGEMM: the tester passes products that are wrong'
sizes='0 3'
export WAVEFIT_BLAS_FAULT=1.001
tester s S
grep -qE 'FAIL|SUSPECT' out || bad 'the tester passes products that are wrong'
exit $failed
