#!/usr/bin/env bash
# Runs the tool on the driver that VK_DRIVER_FILES names. usage: test_tool.sh WAVEFIT DATA all|device
# device: only what depends on the device, for a second driver.
set -u
tool=$1
data=$2
scope=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0
failed=0

bad() {
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$1"
    sed 's/^/  out: /' out | head -n 12
    sed 's/^/  err: /' err | head -n 12
}

run() {
    "$tool" "$@" >out 2>err
    code=$?
    # What drivers and layers say of themselves is not the tool's.
    grep '^wavefit:' err >err.tool || true
}

# expect CODE PATTERN ARGS…: the exit code, and a pattern in the output (of 0) or in the one line of
# the error.
expect() {
    local want=$1 pattern=$2
    shift 2
    run "$@"
    if [ "$code" != "$want" ]; then
        bad "exit $code instead of $want: wavefit $*"
    elif [ "$want" = 0 ] && ! grep -qE -- "$pattern" out; then
        bad "no '$pattern' in the output: wavefit $*"
    elif [ "$want" != 0 ] && [ "$(wc -l <err.tool)" != 1 ]; then
        bad "not one line of error: wavefit $*"
    elif [ "$want" != 0 ] && ! grep -qE -- "$pattern" err.tool; then
        bad "no '$pattern' in the error: wavefit $*"
    else
        passed=$((passed + 1))
    fi
}

check() { # NAME COMMAND…
    local name=$1
    shift
    if "$@" >out 2>err; then passed=$((passed + 1)); else bad "$name"; fi
}

# --- what works
expect 0 'usage: wavefit' --help
expect 0 '^wavefit [0-9]+\.[0-9]+\.[0-9]+$' --version
expect 0 'subgroup' devices
expect 0 '"schema": "wavefit-devices/1"' devices --json
"$tool" devices --json devices.json >/dev/null 2>&1
check 'devices.json is there' grep -q '"max_invocations"' devices.json
expect 0 '"max_invocations": 128,' devices --limits minimum --json -
expect 0 '--shape' matmul --help
expect 0 'verified .*against f64' matmul --shape 65x33x47 --repeat 2
expect 0 'verified' matmul --shape 1x1x1 --repeat 1 --limits minimum
expect 0 'verified' matmul --shape 33x65x47 --transpose-a --transpose-b --alpha 0.5 --beta -1 \
    --random-bias --activation gelu --ldc 70 --batch 3 --repeat 1
expect 0 'variant +dispatch.*810 dispatches' matmul --shape 30x27x20 --variant dispatch --repeat 1
expect 0 'variant +naive' matmul --shape 40x50x60 --variant naive --repeat 1
expect 0 'tile_m=16.*forced' matmul --shape 40x50x60 --variant register --set tile_m=16 \
    --set thread_m=2 --repeat 1
expect 0 'verified +4 of 4' spmv "$data/small.mtx" --repeat 1 -o y.npy
check 'y.npy is a .npy file' sh -c 'head -c 6 y.npy | grep -q NUMPY'
expect 0 'verified' spmv "$data/small.mtx" --x y.npy --repeat 1 --limits minimum
gzip -c "$data/small.mtx" >small.mtx.gz
expect 0 '8 entries' spmv small.mtx.gz --repeat 1 --json spmv.json
check 'spmv.json has a case' grep -q '"status": "ok"' spmv.json
expect 0 '"schema": "wavefit-results/1"' spmv small.mtx.gz --repeat 1 --json -
cp out json.out
check 'JSON alone on standard output' sh -c 'head -c 1 json.out | grep -q "{"'
"$tool" spmv "$data/small.mtx" --repeat 1 --seed 7 -o a.npy >/dev/null 2>&1
"$tool" spmv "$data/small.mtx" --repeat 1 --seed 7 -o b.npy >/dev/null 2>&1
check 'the same seed gives the same result' cmp a.npy b.npy
expect 0 'Score based on Pentium III' himeno --size XS --iterations 5
expect 0 'verified' himeno --size 5x4x3 --iterations 2 --limits minimum
expect 0 'moved=1' himeno --size 9x8x7 --iterations 3 --variant moved
expect 0 'verified' stencil --grid 40x30x20 --steps 3 --repeat 1
expect 0 'variant +time' stencil --grid 90x70 --border periodic --variant time --steps 5 --repeat 1
expect 0 'verified' stencil --grid 9x9 --shape box --radius 4 --border neumann --limits minimum --repeat 1
expect 2 'too small' stencil --grid 4x9 --radius 2
expect 2 'dirichlet, neumann or periodic' stencil --border open
expect 2 'two sizes' stencil --grid 9y9

expect 0 'submit +[0-9.e+]+ us' peaks --only submit,fma_f32 --budget 0.2 --json peaks.json
check 'peaks.json has the ceiling' grep -q '"name": "fma_f32"' peaks.json
expect 0 '^ +64 KiB +[0-9.e+]+ +[0-9.e+]+ +[0-9.e+]+ +#' peaks --only copy,read,write --budget 0.2 \
    --limits minimum
expect 0 '^ +1 +naive' ladder matmul --shape 40x50x60 --json ladder.json
check 'ladder.json has its steps' grep -q '"kind": "ladder"' ladder.json
expect 0 'the device has no 64-bit floats' ladder spmv --matrix poisson27:4 --type f64 --limits minimum
expect 0 'converged after' laplace --grid 33x20 -o u.npy --json laplace.json
check 'laplace.json has residuals' grep -q '"history"' laplace.json
expect 0 'converged after' laplace --border u.npy --method jacobi --variant time --limits minimum
expect 0 'converged after' laplace --grid 40x40 --omega 1.5 --check-every 3 -o u.png
check 'u.png is a PNG' sh -c 'head -c 4 u.png | grep -q PNG'
expect 1 'not met' laplace --grid 50x50 --max-iterations 5 --json -
expect 1 'rounding keeps' laplace --grid 20x20 --tolerance 1e-15
expect 1 'u.npy has 20 rows of 33; --grid says 33x21' laplace --border u.npy --grid 33x21
expect 2 'give --grid WxH or --border' laplace
expect 2 'at least 3' laplace --grid 2x9
expect 2 "'2' is not between 0 and 2" laplace --grid 9x9 --omega 2
expect 2 'goes with --method sor' laplace --grid 9x9 --method jacobi --omega 1
expect 2 "not jacobi or sor" laplace --grid 9x9 --method gauss
expect 2 "'u.gif' is not a file .npy or .png" laplace --grid 9x9 -o u.gif
expect 0 '^ +2 +moved' ladder stencil --size 20x10x8
expect 0 'one work-item a row' ladder spmv --matrix poisson27:4
expect 0 'best' sweep matmul --shape 64x64x64 --variant naive --over local_x --json sweep.json
check 'sweep.json has its points' grep -q '"over": "local_x"' sweep.json
expect 0 'best' sweep spmv --matrix "$data/small.mtx" --variant row --over work-group \
    --limits minimum
expect 0 'alone$' cg --poisson5 12 --repeat 1 -o x.npy --json cg.json
check 'cg.json has the residual' grep -q '"true_residual"' cg.json
expect 0 'converged after' cg --poisson27 5 --precondition jacobi --limits minimum
expect 0 'refined +[1-9]' cg --poisson5 12 --mixed --precondition block-jacobi --limits minimum
expect 1 'not met' cg --poisson5 40 --max-iterations 2
expect 0 '^note .*over the tolerance of 1e-30' cg --poisson5 6 --tolerance 1e-30
expect 0 'break-even' spmv --generate arrow:300 --explain --repeat 1
expect 0 '^banded.mtx: 50 rows, 50 columns, 778 entries$' spmv --generate banded:50 -o banded.mtx
expect 0 '50 rows, 50 columns, 778 entries' spmv banded.mtx --type f16 --transpose --vectors 3 --alpha 2 --beta -1 --repeat 1
expect 0 '^\{$' spmv --generate arrow:9 --explain --repeat 1 --json -
check 'no explanation amid the JSON' sh -c '! grep -q break-even out'
expect 0 '^ +64 KiB +[0-9.e+]+ +#' peaks --only copy --budget 0.1
expect 0 'best' sweep spmv --matrix arrow:200 --variant row --over local_x

# explain
expect 0 '^advice' explain matmul --shape 100x90x80 --json explain.json
check 'explain.json has the timeline' grep -q '"execute_us"' explain.json
expect 0 'least possible' explain spmv --matrix "$data/small.mtx" --limits minimum
expect 0 'occupancy unknown' explain stencil --size 20x10x8 --variant naive
expect 2 'is not amd:CHIP' explain matmul --target nvidia:h100
expect 2 'is not amd:CHIP' explain matmul --target 'amd:../x'
for radv in /usr/share/vulkan/icd.d/radeon_icd*.json; do
    [ -f "$radv" ] || continue
    expect 0 'VGPRs +[1-9]' explain matmul --shape 1024x1024x1024 --target amd:navi31 --json amd.json
    check 'amd.json has the occupancy' grep -q '"occupancy": [01]' amd.json
    expect 0 'LDS size' explain spmv --matrix poisson27:8 --target amd:polaris10
    expect 0 'compiled only' explain stencil --size M --target amd:gfx1201
    expect 3 'does not know the chip nosuch' explain matmul --target amd:nosuch
done

timeout -s INT 2 "$tool" bench --json bench.json >out 2>err
check 'bench leaves its page' grep -q '</html>' bench.html

# matrices through .npy files: y (4) as a column does not exist, so products of products
"$tool" matmul --shape 3x5x4 --repeat 1 >/dev/null 2>&1
npy() { # FILE DESCR SHAPE DATA(hex pairs as printf escapes)
    local header="{'descr': '$2', 'fortran_order': ${5:-False}, 'shape': $3, }"
    printf '\x93NUMPY\x01\x00'"\\x$(printf %02x ${#header})"'\x00%s' "$header" >"$1"
    printf "$4" >>"$1"
}
one='\x00\x00\x80\x3f' two='\x00\x00\x00\x40' three='\x00\x00\x40\x40'
npy A.npy '<f4' '(2, 3)' "$one$two$three$one$one$one"
npy B.npy '<f4' '(3, 1)' "$one$one$two"
expect 0 'verified +2 of 2' matmul A.npy B.npy -o C.npy --repeat 1
check 'C = A B' sh -c "tail -c 8 C.npy | od -An -tf4 | grep -qE '^ +9 +4$'"
npy F.npy '<f4' '(2, 3)' "$one$one$two$one$three$one" True
expect 0 'verified' matmul F.npy B.npy -o C2.npy --repeat 1
check 'Fortran order gives the same C' cmp C.npy C2.npy

expect 0 'verified' matmul B.npy A.npy --transpose-a --transpose-b --repeat 1 -o C3.npy
check 'the product of transposes is the transposed product' \
    sh -c "tail -c 8 C3.npy | od -An -tf4 | grep -qE '^ +9 +4$'"
expect 0 'verified' matmul A.npy B.npy --beta 2 -c C.npy --activation relu --repeat 1 -o C4.npy
check 'C = A B + 2 C' sh -c "tail -c 8 C4.npy | od -An -tf4 | grep -qE '^ +27 +12$'"

if [ "$scope" = device ]; then
    printf '%d passed, %d failed\n' "$passed" "$failed"
    [ "$failed" = 0 ]
    exit
fi

# Ctrl-C: the run ends soon, what was measured is written, the rest is marked. All at once, since
# they mostly wait.
cut() { # ARGS…
    "$tool" "$@" --quiet --json "cut-$1.json" >/dev/null 2>"cut-$1.err" &
    cuts="$cuts $1:$!"
}
cuts=
cut sweep matmul --shape 512x512x512 --variant naive --over work-group
cut ladder spmv --matrix poisson27:40
cut peaks --budget 300
cut bench --suite full
cut himeno --size 65x33x33 --seconds 600
cut cg --poisson5 500 --max-iterations 1000000 --tolerance 1e-30
cut explain stencil --size 129x65x65 --variant naive
# Until a run has its device it ends like any program.
for one in $cuts; do
    for _ in $(seq 300); do
        caught=$(sed -n 's/^SigCgt:.*\(.\)$/\1/p' "/proc/${one#*:}/status" 2>/dev/null)
        case $caught in [2367abef]) break ;; esac
        sleep 0.1
    done
done
sleep 4
for one in $cuts; do kill -INT "${one#*:}"; done
for one in $cuts; do
    name=${one%:*}
    begun=$SECONDS
    wait "${one#*:}"
    code=$?
    check "Ctrl-C: $name ends with 1" test "$code" = 1
    check "Ctrl-C: $name ends soon" test $((SECONDS - begun)) -le 20
    check "Ctrl-C: $name says so in a line" sh -c \
        "grep -c '^wavefit: .*interrupted' 'cut-$name.err' | grep -qx 1"
    check "Ctrl-C: $name leaves its results" grep -q '"status": "cancelled"' "cut-$name.json"
    check "Ctrl-C: they are whole" "$tool" report "cut-$name.json" -o "cut-$name.html"
done
check 'Ctrl-C: himeno has what it came to' grep -q '"gosa"' cut-himeno.json
check 'Ctrl-C: cg has its residuals' grep -q '"history"' cut-cg.json
# Progress goes to terminals alone.
check 'no progress in files' sh -c '! grep -q "iteration [0-9]" cut-himeno.err'
if command -v script >/dev/null; then
    script -qec "\"$tool\" himeno --size 33x33x33 --seconds 2" /dev/null >progress.txt 2>err </dev/null
    check 'progress tells how much is left' grep -q 'iteration [0-9]* of' progress.txt
fi
# a load without end: long enough to settle, cut off, and with pauses
expect 0 'settled +[0-9]' bench --sustained 0.17 --family spmv --json sustained.json
check 'the curve is in the results' grep -q '"curve": \[' sustained.json
expect 0 'a pause of' bench --sustained 0.06 --family stencil --work 1 --pause 1
timeout -s INT 3 "$tool" bench --sustained 5 --family spmv --json cut.json >out 2>err
check 'an interrupted run leaves its results' grep -q '"status": "cancelled"' cut.json

# the report
pages=$data/../../page/data
expect 0 '^report.html: ' report ladder.json sweep.json peaks.json -o report.html
check 'the page is whole' sh -c 'tail -n 1 report.html | grep -q "^</html>$"'
check 'the page names no other address' sh -c \
    '! grep -oE "(src|href)=.?https?:" report.html | grep -q .'
expect 0 '^slower +x2\.000  stencil' report "$pages/lavapipe.json" --compare "$pages/base.json"
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
head -c 300 ladder.json >short.json
expect 1 'short.json: .* at byte' report short.json -o short.html
check 'nothing half-written' sh -c '! ls | grep -q "^short.html"'
sed 's|wavefit-results/1|wavefit-results/9|' ladder.json >newer.json
expect 1 'newer.json: schema wavefit-results/9 is not known' report newer.json
expect 1 'not a wavefit results file' report devices.json
printf '{"schema": "wavefit-results/1", "device": {}, "cases": [{"family": 3}]}' >odd.json
expect 1 'odd.json: case 0 has no family or no status' report odd.json
expect 1 'nowhere/r.html: cannot be written' report ladder.json -o nowhere/r.html

# --- an exit code for output that does not arrive; a reader that had enough is no failure
"$tool" matmul --help >/dev/full 2>full.txt
check 'a full standard output: exit 1' test $? = 1
check 'a full standard output: says so' grep -q '^wavefit: standard output cannot be written$' full.txt
"$tool" matmul --help >&- 2>err
check 'a closed standard output: exit 1' test $? = 1
"$tool" ladder matmul --shape 9x9x9 --json piped.json 2>err | true
check 'results are written though the reader has gone' grep -q '"kind": "ladder"' piped.json

# --- devices that are not there
expect 3 "no device matches 'nosuchdevice'" matmul --shape 4x4x4 --device nosuchdevice
expect 3 'no device 99' matmul --shape 4x4x4 --device 99
WAVEFIT_DEVICE=nosuchdevice expect 3 'nosuchdevice' spmv "$data/small.mtx"
VK_DRIVER_FILES=/nonexistent expect 3 'no Vulkan' devices
VK_DRIVER_FILES=/nonexistent expect 3 'no Vulkan' matmul --shape 4x4x4

# A machine without the loader: hidden under an empty file, where mounting is allowed (root).
loader=$(ldconfig -p 2>/dev/null | sed -n 's/.*libvulkan\.so\.1 .*=> //p' | head -n 1)
if [ -n "$loader" ] && unshare -m mount --bind /dev/null "$loader" 2>/dev/null; then
    unshare -m sh -c 'mount --bind /dev/null "$1" && shift && "$@"' sh "$loader" "$tool" devices \
        >out 2>err
    code=$?
    check 'no loader: exit 3' test "$code" = 3
    unshare -m sh -c 'mount --bind /dev/null "$1" && shift && "$@"' sh "$loader" "$tool" devices \
        2>no-loader.txt
    check 'no loader: says so' grep -q '^wavefit: no Vulkan loader' no-loader.txt
fi

# --- wrong usage
expect 2 "'frobnicate' is not a command" frobnicate
expect 2 "unknown option '--frob'" matmul --frob
expect 2 'needs a value' matmul --shape
expect 2 "'0x4x4'" matmul --shape 0x4x4
expect 2 "'-1x4x4'" matmul --shape -1x4x4
expect 2 "'4x4'" matmul --shape 4x4
expect 2 "'4x4x4x4'" matmul --shape 4x4x4x4
expect 2 "'99999999999x1x1'" matmul --shape 99999999999x1x1
expect 2 "'abc'" matmul --shape abc
expect 2 'two .npy files' matmul A.npy
expect 2 "'foo' is none of its values" matmul --shape 4x4x4 --activation foo
expect 2 "'nan' is not a finite number" matmul --shape 4x4x4 --alpha nan
expect 2 'go with --shape' matmul A.npy B.npy --lda 9
expect 2 'goes with --beta' matmul A.npy B.npy -c A.npy
expect 2 "has no variant 'nothing'" matmul --shape 4x4x4 --variant nothing
expect 2 "no constant 'nothing'" matmul --shape 4x4x4 --variant naive --set nothing=3
expect 2 'multiple of thread_m' matmul --shape 4x4x4 --variant register --set tile_m=9 \
    --set thread_m=2
expect 2 'not name=value' matmul --shape 4x4x4 --set tile_m
expect 2 'whole number' matmul --shape 4x4x4 --repeat 0
expect 2 'finite in the type of the sums' matmul --shape 4x4x4 --alpha 1e39
expect 2 'finite in the type of x and y' spmv "$data/small.mtx" --beta 1e39
expect 2 'not both' matmul A.npy B.npy --bias A.npy --random-bias
expect 2 'repeat does not go with it' devices --repeat 3
expect 2 'whole number' matmul --shape 4x4x4 --seed -5
expect 2 "'maximum'" matmul --shape 4x4x4 --limits maximum
expect 2 'takes a matrix' cg --poisson5 4 --mixed --type f32
expect 2 'give one of' cg
expect 2 "not none or jacobi or block-jacobi" cg --poisson5 4 --precondition ilu
expect 2 'goes with --precondition block-jacobi' cg --poisson5 4 --block 2
expect 1 'elements is needed, not 2 x 3' cg --poisson5 4 --b A.npy
expect 2 "'f31'" spmv "$data/small.mtx" --type f31
expect 2 'give one of' spmv
expect 2 "'cube:3' is none of poisson5" spmv --generate cube:3
expect 2 'unexpected argument' spmv a.mtx b.mtx
expect 2 "not 'm.mtx.gz'" spmv --generate arrow:9 -o m.mtx.gz
expect 2 'not XS, S, M, L, XL' himeno --size XXL
expect 2 'at least 3' himeno --size 2x9x9
expect 2 "'0x9x9'" himeno --size 0x9x9
expect 2 'whole number' himeno --size XS --iterations 0
expect 2 'not both' himeno --iterations 3 --seconds 2
expect 2 "'slow' is not a suite" bench --suite slow
expect 2 "'0' is not a number" bench --sustained 0
expect 2 'more than 1440 minutes' bench --sustained 5000
expect 2 "'fft' is not a family" bench --sustained 1 --family fft
expect 2 "'vector' is not a family" bench --sustained 1 --family vector
expect 2 'go with --sustained' bench --pause 3

expect 2 "'nothing' is not a ceiling" peaks --only nothing
expect 2 "'' is not a ceiling" peaks --only ''
expect 2 'not a number of seconds' peaks --budget -1
expect 2 "'fft' is not a family" ladder fft
expect 2 'usage: wavefit ladder' ladder
expect 2 'does not go with' ladder matmul --size M
expect 2 'over says' sweep matmul
expect 2 "has no parameter 'nothing'" sweep matmul --variant naive --over nothing
expect 2 'follows from its other parameters' sweep matmul --variant register --over work-group
expect 2 "has no variant 'nothing'" sweep matmul --variant nothing --over local_x
expect 2 "'poisson9:4' is none of" ladder spmv --matrix poisson9:4
expect 1 'No such file' ladder spmv --matrix none.mtx

# --- more than the device has, said before anything is allocated
expect 1 'GiB' matmul --shape 2000000x2000000x2000000
expect 1 'GiB' himeno --size 60000x60000x60000 --iterations 1
expect 1 'GiB' laplace --grid 1000000x1000000

# --- broken input
expect 1 'none.mtx: No such file' spmv none.mtx
expect 1 'none.npy: No such file' matmul none.npy B.npy
expect 1 'A.npy has 3 columns but A.npy has 2 rows' matmul A.npy A.npy
mtx() { printf '%%%%MatrixMarket matrix coordinate real general\n'"$1" >bad.mtx; }
mtx '3 3 2\n1 1 1\n'
expect 1 'bad.mtx:3: the file ends after 1 of 2 entries' spmv bad.mtx
mtx '3 3 1\n1 1 1\n2 2 2\n'
expect 1 'bad.mtx:4: there are more entries than the 1 announced' spmv bad.mtx
mtx '3 3 1\n4 1 1\n'
expect 1 "bad.mtx:3: row index '4' is not between 1 and 3" spmv bad.mtx
mtx '3 3 1\n1 1 NaN\n'
expect 1 "bad.mtx:3: 'NaN' is not a finite number" spmv bad.mtx
mtx '3 3 1\n1 1 1e200\n'
expect 1 'too large for f32' spmv bad.mtx
printf '%%%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n' >complex.mtx
expect 1 'complex matrices are not supported' spmv complex.mtx
head -c 20 small.mtx.gz >cut.mtx.gz
expect 1 'cut.mtx.gz' spmv cut.mtx.gz
head -c 100 A.npy | head -c 70 >cut.npy
expect 1 'cut.npy' matmul cut.npy B.npy
npy big.npy '>f4' '(2, 3)' "$one$two$three$one$one$one"
expect 1 "'>f4' are not supported" matmul big.npy B.npy
npy three.npy '<f4' '(2, 3, 1)' "$one$two$three$one$one$one"
expect 1 'two dimensions' matmul three.npy B.npy
expect 1 'a vector of 4 elements is needed' spmv "$data/small.mtx" --x A.npy

# --- tuning: what is kept, shown, exported and forgotten; files that are no good
export XDG_CACHE_HOME=$work/cache
expect 0 'nothing was tuned' tune --show
expect 0 'spmv +f32 .* points' tune --matrix "$data/small.mtx" --budget 1.5
kept=$(ls cache/wavefit/tuning-*.json)
expect 0 'tuned' tune --show
expect 0 '"schema": "wavefit-tuning/1"' tune --export
expect 0 'tuned' spmv "$data/small.mtx" --repeat 1
expect 0 '\(model\)' spmv "$data/small.mtx" --repeat 1 --no-tuning
expect 0 '\(model\)' spmv "$data/small.mtx" --repeat 1 --limits minimum
cp "$kept" whole.json
for damage in 'head -c 300 whole.json' 'sed s,tuning/1,tuning/9, whole.json' 'printf nonsense' \
    'sed s/family/\\x01/ whole.json' 'head -c 20000 /dev/zero' 'yes [ | head -n 100000'; do
    sh -c "$damage" >"$kept"
    cp "$kept" damaged.json
    expect 0 'verified' spmv "$data/small.mtx" --repeat 1
    cp err.tool err.warned
    check "a warning that names the file after: $damage" \
        grep -q "warning: .*/${kept##*/}: " err.warned
    run tune --forget spmv
    check "nothing of it is forgotten after: $damage" grep -q 'left as it is' err.tool
    check "the file is not touched after: $damage" cmp "$kept" damaged.json
done
rm "$kept"
mkfifo "$kept"
expect 0 'verified' spmv "$data/small.mtx" --repeat 1
check 'a pipe is named, not waited for' grep -q "warning: .*/${kept##*/}: " err.tool
expect 0 'forgotten' tune --forget
check 'the file is gone' test ! -e "$kept"
cp whole.json "$kept"
expect 0 'forgotten' tune --forget matmul
expect 0 'tuned' tune --show
expect 0 'forgotten' tune --forget spmv
expect 0 'nothing was tuned' tune --show
# An older driver's rows are hints.
sed 's/"driver_version": [0-9]*/"driver_version": 7/' whole.json >"$kept"
expect 0 ' hint ' tune --show
expect 0 'model|row\)' spmv "$data/small.mtx" --repeat 1
XDG_CACHE_HOME=/dev/null/nowhere expect 0 'not kept' tune --matrix "$data/small.mtx" --budget 1
check 'why nothing is kept' grep -q 'warning: what is found is not kept: /dev/null/nowhere' err.tool
expect 2 "'fft' is not a family" tune fft
expect 2 'not of family matmul' tune matmul --matrix x.mtx
expect 2 'seconds' tune --budget -3
expect 2 'exclude each other' tune --show --forget
expect 2 'json is for --compare' tune --json x.json
expect 2 'for --grid' tune --matrix "$data/small.mtx" --steps 2
expect 2 'no such problem' tune matmul --only nothing
# A comparison is kept, gone on with, and not mixed with another device's.
expect 0 'two searches differ by' tune --grid 24x20 --steps 2 --compare --budget 0.3 --json c.json
cp c.json before.json
expect 0 'grid +f32 +24x20 ' tune --grid 24x20 --steps 2 --compare --budget 60 --json c.json
check 'nothing was measured again' cmp c.json before.json
sed 's/"name": "/&Other /' before.json >c.json
expect 2 'c.json: it is of Other' tune --grid 24x20 --compare --budget 0.3 --json c.json
head -c 90 before.json >c.json
expect 1 'c.json: ' tune --grid 24x20 --compare --budget 0.3 --json c.json
expect 0 'verified' stencil --grid 40x30 --steps 3 --repeat 1 --dispatch 1e-6
expect 2 'seconds' stencil --grid 40x30 --dispatch 0
expect 1 'none.mtx' tune --matrix none.mtx
unset XDG_CACHE_HOME
# Apps on Android have neither: nothing is kept, and nothing else changes.
HOME='' expect 0 'verified' spmv "$data/small.mtx" --repeat 1

# --- output that cannot be written; what was there stays
expect 1 'nowhere/C.npy: cannot be written' matmul A.npy B.npy -o nowhere/C.npy --repeat 1
expect 1 'nowhere/r.json: cannot be written' spmv "$data/small.mtx" --repeat 1 --json nowhere/r.json
expect 1 'No space left' matmul A.npy B.npy -o /dev/full --repeat 1
check '/dev/full is still a device' test -c /dev/full
# A limit on file sizes would also stop drivers that keep memory in files: a small disk is mounted
# where that is allowed (root); the unit tests cover the rest.
mkdir disk
if mount -t tmpfs -o size=8k tmpfs disk 2>/dev/null; then
    cp C.npy disk/keep.npy
    expect 1 'keep.npy: cannot be written: No space left' matmul --shape 60x60x60 --repeat 1 \
        -o disk/keep.npy
    check 'a full disk keeps the old file' cmp disk/keep.npy C.npy
    check 'and no temporary one' sh -c '[ "$(ls disk | wc -l)" = 1 ]'
    umount disk
fi
check 'no temporary files are left' sh -c '! ls | grep -q "\.npy\."'

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
