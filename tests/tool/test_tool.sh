#!/usr/bin/env bash
# What each command does on the driver that VK_DRIVER_FILES names.
set -u
. "$(dirname "$0")/expect.sh"

# Ladders, which run every variant there is, ceilings, and kernels for AMD's chips: once, on
# lavapipe.
whole() { [ -n "${WAVEFIT_TEST_BRIEF:-}" ] || "$@"; }
brief() { [ -z "${WAVEFIT_TEST_BRIEF:-}" ] || "$@"; }
# What compiles most on SwiftShader, and says of it what runs of the same families say.
first() { case $VK_DRIVER_FILES in *swiftshader*) ;; *) "$@" ;; esac; }

expect 0 'usage: wavefit' --help
expect 0 '^wavefit [0-9]+\.[0-9]+\.[0-9]+$' --version
expect 0 'subgroup' devices
expect 0 '"schema": "wavefit-devices/1"' devices --json
"$tool" devices --json devices.json >/dev/null 2>&1
check 'devices.json is there' grep -q '"max_invocations"' devices.json
expect 0 '"max_invocations": 128,' devices --limits minimum --json -
expect 0 '--shape' matmul --help
expect 0 '^  barrier  .* behind a barrier$' peaks --help
expect 0 'verified .*against f64' matmul --shape 65x33x47 --repeat 2
expect 0 'verified' matmul --shape 1x1x1 --repeat 1 --limits minimum
expect 0 'verified' matmul --shape 33x65x47 --transpose-a --transpose-b --alpha 0.5 --beta -1 \
    --random-bias --activation gelu --ldc 70 --batch 3 --repeat 1
expect 0 'variant +dispatch.*810 dispatches' matmul --shape 30x27x20 --variant dispatch --repeat 1
# --quiet is about progress: results are printed.
expect 0 'variant +naive' matmul --shape 40x50x60 --variant naive --repeat 1 --quiet
expect 0 'tile_m=16.*forced' matmul --shape 40x50x60 --variant register --set tile_m=16 \
    --set thread_m=2 --repeat 1
expect 0 'verified +4 of 4' spmv "$data/small.mtx" --repeat 1 -o y.npy
check 'y.npy is a .npy file' sh -c 'head -c 6 y.npy | grep -q NUMPY'
expect 0 'verified' spmv "$data/small.mtx" --x y.npy --repeat 1 --limits minimum
gzip -c "$data/small.mtx" >small.mtx.gz
expect 0 '8 entries' spmv small.mtx.gz --repeat 1 --json spmv.json
check 'spmv.json has a case' grep -q '"status": "ok"' spmv.json
expect 0 '"schema": "wavefit-results/2"' spmv small.mtx.gz --repeat 1 --json -
cp out json.out
check 'JSON alone on standard output' sh -c 'head -c 1 json.out | grep -q "{"'
"$tool" spmv "$data/small.mtx" --repeat 1 --seed 7 -o a.npy >/dev/null 2>&1
"$tool" spmv "$data/small.mtx" --repeat 1 --seed 7 -o b.npy >/dev/null 2>&1
check 'the same seed gives the same result' cmp a.npy b.npy
expect 0 'Score based on Pentium III' himeno --size XS --iterations 5
expect 0 'verified' himeno --size 5x4x3 --iterations 2 --limits minimum
expect 0 '^variant +moved ' himeno --size 9x8x7 --iterations 3 --variant moved
expect 0 'verified' stencil --grid 40x30x20 --steps 3 --repeat 1
expect 0 'variant +time' stencil --grid 90x70 --border periodic --variant time --steps 5 --repeat 1
expect 0 'verified' stencil --grid 9x9 --shape box --radius 4 --border neumann --limits minimum \
    --repeat 1
expect 2 'too small' stencil --grid 4x9 --radius 2
expect 2 'dirichlet, neumann or periodic' stencil --border open
expect 2 'two sizes' stencil --grid 9y9

expect 0 'all cells and gosa of the measured run' himeno --size 20x10x8 --iterations 770
# Of several iterations a pass, whole passes in each direction and one more are rehearsed.
expect 0 '^rehearsal 5 iterations: .* Gosa of the third' himeno --size 20x10x8 --iterations 4 \
    --variant time --set steps=2
# The quick suite once a build: with --host, or where that is left out without it.
brief first expect 0 '^himeno +himeno XS .* copy +[a-z_0-9]+$' bench --quiet --repeat 2
whole expect 0 '^himeno +himeno XS +f32 .* +[0-9.e+]+$' bench --verbose --host --quiet \
    --repeat 2 --json host.json
whole check 'what the cores computed was verified' sh -c \
    "grep -q '\"verified\": true' host.json && ! grep -q '\"verified\": false' host.json"
expect 2 'host is for suites' bench --host --sustained 1
whole expect 0 '^spmv +diagonal:721366 +f64 +[0-9.]+ .s .*%' bench \
    --suite drawn --count 6 --family spmv --quiet --json drawn.json
# The variant's name is printed, and its constants only when asked.
whole check 'no constants in the lines of bench' sh -c \
    "grep -qE '^spmv .* [a-z_0-9]+$' out && ! grep -q = out"
whole check 'drawn.json has the constants' grep -q '"constants": {' drawn.json
whole check 'all six are in the results' sh -c \
    "[ \$(grep -c '\"family\": \"spmv\"' drawn.json) = 6 ]"
expect 0 'submit +[0-9.]+ [um]?s ' peaks --only submit,fma_f32 --budget 0.2 --json peaks.json
check 'peaks.json has the ceiling' grep -q '"name": "fma_f32"' peaks.json
whole expect 0 '^ +64 KiB +[0-9.e+]+ +[0-9.e+]+ +[0-9.e+]+ +#' peaks \
    --only copy,read,write --budget 0.2 --limits minimum
whole expect 0 '^ +3 +naive' ladder matmul --shape 40x50x60 --repeat 1 --json ladder.json
whole check 'ladder.json has its steps' grep -q '"kind": "ladder"' ladder.json
whole check 'a step has the constants of its text' sh -c "grep -A3 '\"variant\": \"transposed\"' \
    ladder.json | grep -q tile_m"
whole check 'a step names the one it is compared with' \
    grep -q '"compared_with": "registers"' ladder.json
expect 0 'the device has no 64-bit floats' ladder spmv --repeat 2 \
    --matrix poisson27:4 --type f64 --limits minimum
if [ -e /usr/share/vulkan/icd.d/radeon_icd.json ]; then
    expect 0 '^ +5 +addition +[1-9]' ladder spmv --matrix poisson27:4 --target amd:navi31
    # 96 units of the data sheet are 48 work-group processors with 16 groups of 256 each, six rows
    # of 128 tiles: 22 waves read all of B (16 MiB), and A and C pass once.
    expect 0 'passed to waves +384 MiB .* wave of 768 work-groups' explain matmul \
        --shape 2048x2048x2048 --variant tiled --set tile=16 --target amd:navi31
fi
# The command line's constants go over the text's, and --variant leaves a step and its rival.
expect 0 '^ +2 +shuffle|^ +2 +shuffle +unsupported' ladder spmv --repeat 2 --matrix poisson27:4 \
    --variant shuffle
expect 0 'shared local_x=128 lanes=8' ladder spmv --repeat 2 --matrix poisson27:4 \
    --variant readonly --set lanes=8
# 32 lanes a row on every device: of four and eight lanes a subgroup there are several to a row.
expect 0 'add local_x=128 lanes=32' ladder spmv --repeat 1 --matrix poisson27:4 --variant addition
expect 0 'verified .* 64 of 64' spmv --generate poisson27:4 --variant add --set lanes=2
expect 0 'verified .* 64 of 64' spmv --generate poisson27:4 --variant add --set lanes=64
expect 2 "no step or variant 'shufle' \(baseline, texture," ladder spmv --variant shufle
expect 2 "no step has a constant 'lnes'" ladder spmv --set lnes=8
# Idle lanes are those of the matrix: 27 entries of a row that is not at the border.
expect 0 '101 of 128 lanes idle at the end of a row of 27 entries' ladder cg --repeat 1 \
    --matrix poisson27:4 --variant vector128 --json cg_ladder.json
check 'the parts of an iteration have times' sh -c \
    "grep -q dot_us cg_ladder.json && grep -q waxpby_us cg_ladder.json"
one_sample() { tr -d ' \n' <"$1" | grep -qE '"samples_us":\[[0-9.e+-]+\]'; }
check 'its solves are as many as --repeat says' one_sample cg_ladder.json
expect 0 'iterations of .* to a residual' ladder laplace --grid 12x10 --variant tile --repeat 1 \
    --json laplace_ladder.json
check 'so are those of laplace' one_sample laplace_ladder.json
expect 2 'ladder laplace: --grid WxH' ladder laplace --grid 12x10x8
expect 0 'converged after' laplace --grid 33x20 -o u.npy --json laplace.json
check 'laplace.json has residuals' grep -q '"history"' laplace.json
# a border of zeros is its own solution, and a grid beyond any memory a case that did not run
{ printf '\223NUMPY\001\000v\000%-117s\n' \
        "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 7), }"
    head -c 140 /dev/zero; } >zeros.npy
expect 0 'converged after 0 iterations' laplace --border zeros.npy --json zeros.json
check 'zeros.json tells of no iterations' grep -q '"iterations": 0' zeros.json
expect 1 'GiB' laplace --grid 1000000x1000000 --json large.json
check 'large.json says why' grep -q '"status": "unsupported"' large.json
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
expect 2 "-o writes u.npy or u.png, not 'u.gif'" laplace --grid 9x9 -o u.gif
# A row's time and rate are of the same (34 operations of each of 18 x 8 x 6 cells), and a gain
# between a time of the host's clock and one of the device's is marked.
cat >ladder.awk <<'END'
BEGIN { unit["us"] = 1; unit["ms"] = 1e3; unit["MFLOPS"] = 1; unit["GFLOPS"] = 1e3 }
$5 == "device" || $5 == "host" {
    rows++; clocks[$5]++
    made = $3 * unit[$4] * $6 * unit[$7]
    if (made < 29376 * 0.99 || made > 29376 * 1.01) wrong = 1
    if ($2 == "kept" && (clocks["host"] && clocks["device"]) != / \* +whole/) wrong = 1
}
END { exit !(rows >= 10 && !wrong) }
END
whole expect 0 '^ +1 +moved .* host ' ladder himeno --repeat 2 --size 20x10x8 --quiet
cp out ladder.txt
whole check 'a row of the ladder agrees with itself' awk -f ladder.awk ladder.txt
whole expect 0 'one work-item a row' ladder spmv --repeat 2 --matrix poisson27:4
first expect 0 '^ +4 +time +[0-9]' ladder stencil --repeat 2 --grid 40x30x20 --steps 3 \
    --json grid.json
first check 'grid.json is of a ladder' grep -q '"kind": "ladder"' grid.json
first check 'grid.json has the name of the case' \
    grep -q '"40x30x20 star 1 dirichlet, 3 steps"' grid.json
expect 0 'best' sweep matmul --shape 64x64x64 --variant naive --over local_x --json sweep.json
# Every count of subgroups that the device's work-groups hold, whole powers of two or not.
expect 0 '^ +7 +[0-9]+ +[0-9.]+ [um]?s' sweep spmv --repeat 1 --matrix poisson27:4 --variant row \
    --over subgroups
expect 2 'has not one side alone' sweep matmul --repeat 1 --shape 9x9x9 --variant naive \
    --over subgroups
check 'sweep.json has its points' grep -q '"over": "local_x"' sweep.json
expect 0 'best' sweep spmv --repeat 2 --matrix "$data/small.mtx" --variant row --over work-group \
    --limits minimum
expect 0 'alone$' cg --poisson5 12 --repeat 1 -o x.npy --json cg.json
check 'cg.json has the residual' grep -q '"true_residual"' cg.json
expect 0 'converged after' cg --poisson27 5 --precondition jacobi --limits minimum
expect 0 'refined +[1-9]' cg --poisson5 12 --mixed --precondition block-jacobi --limits minimum
expect 1 'not met' cg --poisson5 40 --max-iterations 2
expect 0 '^note .*over the tolerance of 1e-30' cg --poisson5 6 --tolerance 1e-30
expect 0 'break-even' spmv --generate arrow:300 --explain --repeat 1
expect 0 '^banded.mtx: 50 rows, 50 columns, 778 entries$' spmv --generate banded:50 --quiet \
    -o banded.mtx
expect 0 '50 rows, 50 columns, 778 entries' spmv banded.mtx --type f16 --transpose \
    --vectors 3 --alpha 2 --beta -1 --repeat 1
# 0 is a factor like any other, in every type that the device has.
types='f32 f16'
! grep -q '"f64": true' devices.json || types="$types f64"
for type in $types; do
    expect 0 'verified' spmv "$data/small.mtx" --type $type --alpha 0 --repeat 1 -o zero.npy
    check "--alpha 0 makes zeros in $type" sh -c \
        "tail -c +129 zero.npy | tr -d '\\000\\200' | wc -c | grep -qx 0"
done
expect 0 'verified' spmv "$data/small.mtx" --alpha 0 --beta 0 --repeat 1
expect 0 'verified' spmv "$data/small.mtx" --alpha 0 --beta -1 --seed 0 --repeat 1
expect 0 'verified' matmul --shape 5x6x7 --alpha 0 --beta 0 --seed 0 --repeat 1
expect 0 '^\{$' spmv --generate arrow:9 --explain --repeat 1 --json -
check 'no explanation amid the JSON' sh -c '! grep -q break-even out'
expect 0 '^ +64 KiB +[0-9.e+]+ +#' peaks --only copy --budget 0.1
expect 0 'best' sweep spmv --repeat 2 --matrix arrow:200 --variant row --over local_x
first expect 0 'best' sweep stencil --repeat 2 --grid 60x50 --border periodic --variant march \
    --over march

# explain
expect 0 '^advice' explain matmul --shape 100x90x80 --json explain.json
expect 0 'matmul_reduce_f32 +1 ' explain matmul --repeat 2 --shape 64x64x512 --variant vector \
    --set split_k=4 --json parts.json
check 'parts.json has every kernel' grep -q '"name": *"matmul_vector_f32"' parts.json
expect 0 'problem +3 of 65x130x40 A\^T B\^T f32' explain matmul --repeat 1 --shape 65x130x40 \
    --transpose-a --transpose-b --batch 3 --variant naive --json stored.json
check 'stored.json tells how it is stored' grep -q '"transpose_b": *1' stored.json
expect 0 'sweep matmul --shape 65x130x40 --transpose-b --batch 3 --variant' explain matmul \
    --repeat 1 --shape 65x130x40 --transpose-b --batch 3 --variant vector --set tile_m=32 \
    --set tile_n=32 --set thread_m=8 --set thread_n=8
check 'explain.json has the timeline' grep -q '"execute_us"' explain.json
expect 0 'counted: 2 MiB loaded, 16 KiB stored' explain matmul --repeat 1 --shape 64x64x64 \
    --variant naive
expect 0 'least of memory' explain spmv --repeat 2 --matrix "$data/small.mtx" --limits minimum
expect 0 '^advice' explain stencil --repeat 2 --grid 40x30 --shape box --radius 2 \
    --border neumann --limits minimum
expect 0 'occupancy unknown' explain himeno --repeat 2 --size 20x10x8 --variant naive
expect 0 '^himeno_gosa_f32 +1 ' explain himeno --repeat 2 --size 20x10x8
expect 0 'requested by items +[0-9.]+ .* counted' explain spmv --repeat 2 --matrix banded:500 \
    --variant sliced
# Solvers: the parts of an iteration.
expect 0 '^matvec +[0-9.]+ [um]s .* w = A u' explain cg --generate poisson5:30 --json cg.json
check 'cg.json has the dot product' grep -q '"dot_us"' cg.json
expect 0 '^waxpby .* p, s, r, x' cg --poisson5 30 --explain --limits minimum
expect 0 '^step +[0-9.]+ [um]s .* u and its' explain laplace --grid 40x40 --method jacobi
expect 1 'laplace sor 256x256: the tolerance' explain laplace --max-iterations 1
expect 2 'not at --mixed' cg --poisson5 4 --mixed --explain
expect 2 'is none of amd:polaris10' explain matmul --target nvidia:h100
expect 2 'is none of amd:polaris10' explain matmul --target 'amd:../x'
expect 2 'is none of amd:polaris10' compare matmul --targets amd:navi31,nvidia:h100
expect 2 'device does not go with it' compare matmul --device 0
expect 3 "'./dev" compare matmul --targets intel:dg2
check 'where nothing is compared, nothing is explained' sh -c '! grep -q Bytes out'
for radv in /usr/share/vulkan/icd.d/radeon_icd*.json; do
    [ -f "$radv" ] && [ -z "${WAVEFIT_TEST_BRIEF:-}" ] || continue
    expect 0 'VGPRs +[1-9]' explain matmul --shape 1024x1024x1024 --target amd:navi31 \
        --json amd.json
    check 'amd.json has the occupancy' grep -q '"occupancy": [01]' amd.json
    expect 0 'LDS size' explain spmv --matrix poisson27:8 --target amd:polaris10
    expect 0 'compiled only' explain himeno --size M --target amd:gfx1201
    expect 0 'star 1 dirichlet, 2 steps f32' explain stencil --grid 512x512x512 \
        --steps 2 --target amd:navi31
    # The driver counts a SIMD's subgroups too (of 4 SIMDs), on RDNA one of 64 lanes as two.
    for chip in vega10:4 polaris10:4 navi21:2 navi31:2; do
        "$tool" explain matmul --variant register --target "amd:${chip%:*}" >chip.txt 2>/dev/null
        check "occupancy on ${chip%:*} is the driver's" awk -v simds="${chip#*:}" '
            /occupancy/ { ours = $4; registers = /by registers/ }
            /Subgroups per SIMD/ { theirs = $4 * simds }
            END { exit !(ours > 0 && (registers ? ours == theirs : ours <= theirs)) }' chip.txt
    done
    check 'hashes say nothing of a kernel' sh -c "! grep -qi hash chip.txt amd.json"
    expect 0 '100 %: 40 of 40 ' explain spmv --matrix poisson27:8 --variant row --set local_x=64 \
        --target amd:vega10
done

drivers=$data/../../../.cache/drivers
if [ -f "$drivers/libintel_noop_drm_shim.so" ] && [ -z "${WAVEFIT_TEST_BRIEF:-}" ] &&
    [ -f /usr/share/vulkan/icd.d/intel_icd.json ]; then
    expect 3 'WAVEFIT_DRIVERS' explain matmul --target intel:dg2
    export WAVEFIT_DRIVERS=$drivers
    expect 0 'DG2' explain matmul --shape 1024x1024x1024 --target intel:dg2
    check 'the shim says nothing of its own' sh -c '! grep Unknown err'
    expect 0 '^ +8 +256 +[1-9][0-9]* live ' sweep matmul --variant register --over tile_k \
        --target intel:dg2
    # By the chip's number, as the product that its data sheet is of.
    expect 0 'subgroups a multiprocessor' explain spmv --matrix poisson27:8 --target nvk:172 \
        --json nvk.json
    check 'nor does the other' sh -c '! grep Unknown err'
    check 'the product is named' grep -q 'GeForce RTX 3090' nvk.json
    check 'the compiler tells instructions' grep -q 'Instruction count' nvk.json
    # A target that is not here does not keep the others from being compared; and the same numbers
    # as by themselves.
    expect 0 'intel:dg2 +[1-9][0-9]* live +0 +[1-9][0-9]* +100 %.* us  (memory|loads|arithmetic)$' \
        compare matmul --targets amd:navi31,intel:dg2,nvk:ampere --json targets.json
    "$tool" explain matmul --target amd:navi31 >chip.txt 2>/dev/null
    vgprs=$(awk '/^  VGPRs/ { print $2 }' chip.txt)
    check 'compare tells what explain tells' sh -c \
        "tr -d ' \n' <targets.json | grep -q '\"registers\":${vgprs:-none},\"spilled\":0'"
    expect 0 '1 file on one page' report targets.json
    # What ./dev drivers lists as here is what a driver can pretend.
    every=$("$tool" explain matmul --target nosuch 2>&1 | sed 's/.* is none of //; s/ /,/g')
    expect 0 '^amd:navi10 +[1-9]' compare matmul --shape 64x64x64 --variant naive --targets "$every"
    check 'drivers know every chip' sh -c '! grep "not know the chip" out'
    unset WAVEFIT_DRIVERS
fi

# matrices through .npy files: y (4) as a column does not exist, so products of products
"$tool" matmul --shape 3x5x4 --repeat 1 >/dev/null 2>&1
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

finish
