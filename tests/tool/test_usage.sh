#!/usr/bin/env bash
# Wrong usage, broken input, output that cannot be written: the exit code and one line.
set -u
. "$(dirname "$0")/expect.sh"

npy A.npy '<f4' '(2, 3)' "$one$two$three$one$one$one"
npy B.npy '<f4' '(3, 1)' "$one$one$two"
"$tool" matmul A.npy B.npy -o C.npy --repeat 1 >/dev/null 2>&1
gzip -c "$data/small.mtx" >small.mtx.gz

# --- an exit code for output that does not arrive; a reader that had enough is no failure
"$tool" matmul --help >/dev/full 2>full.txt
check 'a full standard output: exit 1' test $? = 1
check 'a full standard output: says so' \
    grep -q '^wavefit: standard output cannot be written$' full.txt
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
if [ -n "$loader" ] && [ -z "${WAVEFIT_TEST_WINDOWS:-}" ] &&
    unshare -m mount --bind /dev/null "$loader" 2>/dev/null; then
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
expect 2 "unknown option '--frob'" matmul --frob=3
expect 2 "'0x4x4'" matmul --shape=0x4x4
expect 2 "unexpected argument 'yes'" bench --host=yes
expect 0 'variant +naive local_x=8 ' matmul --shape=4x4x4 --variant=naive --set=local_x=8 \
    --repeat=1 --json=split.json
check 'the results keep the line with its arguments apart' grep -q '"--shape",' split.json
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
expect 2 "has no variant 'teams', which is called 'subgroup_k' now$" \
    matmul --shape 4x4x4 --variant teams
expect 2 "has no constant 'splits', which is called 'split_k' now$" \
    matmul --shape 4x4x4 --set splits=2
expect 2 "has no variant 'split', which is called 'f16x2' now$" \
    sweep matmul --variant split --over split_k
expect 2 "no constant 'nothing' \(there are local_x, local_y\)$" \
    matmul --shape 4x4x4 --variant naive --set nothing=3
expect 2 "family matmul has no constant 'nothing' \(there are local_x, .*, pack, .*subs_k\)$" \
    matmul --shape 4x4x4 --set nothing=3
expect 2 "no variant 'nothing' \(there are naive, dispatch, .*, f16x2\)$" \
    matmul --shape 4x4x4 --variant nothing
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
npy infinite.npy '<f4' '(4,)' "$one$two\\x00\\x00\\x80\\x7f$one"
expect 1 'infinite.npy: element 2 of b is inf' cg --poisson5 2 -b infinite.npy
expect 2 "'f31'" spmv "$data/small.mtx" --type f31
expect 2 'give one of' spmv
expect 2 "'cube:3' is none of poisson5" spmv --generate cube:3
expect 2 "'9x0': rows have 1 to 100000 entries" spmv --generate uniform:9x0
expect 2 "'9x3x' is not a size" spmv --generate uniform:9x3x
expect 2 "'9x3' is not a size" spmv --generate arrow:9x3
expect 0 'matrix +50 rows, 50 columns, 50 entries' spmv --generate uniform:50x1 --repeat 1
expect 2 'unexpected argument' spmv a.mtx b.mtx
expect 2 "not 'm.mtx.gz'" spmv --generate arrow:9 -o m.mtx.gz
expect 2 "not 'y.txt'" spmv --generate arrow:9 -o y.txt
expect 2 "not 'x.txt'" cg --poisson5 4 -o x.txt
expect 2 "not 'C'" matmul --shape 4x4x4 -o C
expect 2 'not XS, S, M, L, XL' himeno --size XXL
expect 2 'not XS, S, M, L, XL' himeno --size xs
expect 2 'at least 3' himeno --size 2x9x9
expect 2 "'0x9x9'" himeno --size 0x9x9
expect 2 'whole number' himeno --size XS --iterations 0
expect 2 'not both' himeno --iterations 3 --seconds 2
# 0 is refused where it has no meaning, and never taken for an option that was not given.
expect 2 'seconds over 0' himeno --size XS --seconds 0
expect 2 "'0' is not a number of minutes over 0, up to 1440" bench --sustained 0
expect 2 'seconds over 0' bench --sustained 1 --pause 0
expect 2 'seconds over 0' tune --budget 0
expect 2 'seconds over 0' peaks --budget 0
expect 2 'seconds over 0' spmv "$data/small.mtx" --dispatch 0
expect 2 'whole number from 1' spmv "$data/small.mtx" --repeat 0
expect 2 'whole number from 1' spmv "$data/small.mtx" --vectors 0
expect 2 'whole number from 1' stencil --grid 9x9 --radius 0
expect 2 'whole number from 1' stencil --grid 9x9 --steps 0
expect 2 'whole number from 1' laplace --grid 9x9 --check-every 0
expect 2 'whole number from 1' laplace --grid 9x9 --max-iterations 0
expect 2 'between 0 and 2' laplace --grid 9x9 --omega 0
expect 2 'between 0 and 1' laplace --grid 9x9 --tolerance 0
expect 2 'between 0 and 1' cg --poisson5 4 --tolerance 0
expect 2 'whole number from 1' cg --poisson5 4 --max-iterations 0
expect 2 'whole number from 1' cg --poisson5 4 --precondition block-jacobi --block 0
expect 2 'whole number from 1' matmul --shape 4x4x4 --lda 0
expect 2 'whole number from 1' matmul --shape 4x4x4 --batch 0
expect 2 "'slow' is not a suite" bench --suite slow
expect 2 "'5000' is not a number of minutes" bench --sustained 5000
expect 2 "'fft' is not a family" bench --sustained 1 --family fft
expect 2 "'vector' is not a family" bench --sustained 1 --family vector
expect 2 'no load of stencil' bench --sustained 1 --family stencil
expect 2 'verbose is for suites' bench --sustained 1 --verbose
expect 2 'sustained is no suite' bench --sustained 1 --suite drawn
expect 2 'go with --suite drawn' bench --suite full --count 3
expect 2 'go with --suite drawn' bench --list
expect 2 "'0' is not a whole number from 1 to 150" bench --suite drawn --count 0
expect 2 'host is for the suites' bench --suite drawn --host
expect 2 'no i8 problems of himeno' bench --suite drawn --family himeno --type i8
expect 2 'count goes with --suite drawn' tune --count 3
expect 2 'seconds goes with --drawn' tune --seconds 3
expect 2 'drawn has --seconds in place of --budget' tune --drawn --budget 3
expect 2 'drawn is of problems drawn' tune --drawn --suite full
expect 2 'goes with none of --compare' tune --drawn --again
expect 2 'drawn searches among all variants' tune --drawn --variant naive
expect 2 'drawn exclude each other' tune --drawn --forget
expect 2 "'0' is not a whole number from 1 to 150" tune --drawn --count 0
expect 2 "'slow' is not a suite" tune --suite slow
# What a seed draws is known without a device.
VK_DRIVER_FILES=/nonexistent.json expect 0 '^matmul f32 9398x8146x2192 B\^T$' bench --suite drawn \
    --count 3 --list
# Names of before say what they are now.
for command in 'ladder grid' 'sweep grid --over local_x' 'explain grid' 'tune grid' \
    'bench --sustained 1 --family grid'; do
    expect 2 "'grid' is now 'stencil'" $command
done
expect 2 'go with --sustained' bench --pause 3

expect 2 "'nothing' is not a ceiling" peaks --only nothing
expect 2 "'' is not a ceiling" peaks --only ''
expect 2 'not a number of seconds' peaks --budget -1
expect 2 "'fft' is not a family" ladder fft
expect 2 'usage: wavefit ladder' ladder
expect 2 'does not go with' ladder matmul --size M
expect 2 'radius does not go with himeno' sweep himeno --radius 2 --over local_x
expect 2 'size does not go with stencil' explain stencil --size M
expect 2 "'3x4x5' is not star or box" ladder stencil --shape 3x4x5
expect 2 "'vector' is not a family \(himeno, spmv, matmul, stencil\)" ladder vector
expect 2 'over says' sweep matmul
expect 2 "has no parameter 'nothing'" sweep matmul --variant naive --over nothing
expect 2 'follows from its other parameters' sweep matmul --variant register --over work-group
expect 2 "has no variant 'nothing' \(naive, dispatch," sweep matmul --variant nothing --over local_x
expect 2 "'poisson9:4' is none of" ladder spmv --matrix poisson9:4
expect 1 'No such file' ladder spmv --matrix none.mtx
# A matrix has one name everywhere.
gzip -c "$data/small.mtx" >small.mtx.gz
expect 0 'problem +small.mtx.gz f32' spmv --matrix small.mtx.gz --repeat 1
expect 0 'problem +poisson5:9 f32' spmv --matrix poisson5:9 --repeat 1
expect 0 'venkat01 \(stand-in\)' sweep spmv --generate venkat01 --variant row --over local_x \
    --repeat 1
expect 0 'small.mtx.gz f32' sweep spmv small.mtx.gz --variant row --over local_x --repeat 1
expect 0 'problem +poisson5:9, 81 rows' cg --generate poisson5:9 --repeat 1
for command in 'explain spmv' 'ladder spmv' 'sweep spmv --over local_x' spmv cg; do
    expect 2 'give one of' $command small.mtx.gz --generate poisson5:9
    expect 1 'No such file' $command none.mtx
    expect 2 "'poisson9:4' is none of" $command --generate poisson9:4
done
expect 2 "'poisson9:4' is none of" tune spmv --matrix poisson9:4
expect 1 'No such file' tune spmv none.mtx
expect 2 "unexpected argument 'small.mtx.gz'" explain matmul small.mtx.gz
expect 2 "unexpected argument 'small.mtx.gz'" tune himeno small.mtx.gz
expect 2 "there is no file 'small', and 'small' is none of poisson5" spmv small
expect 1 'A.npy: a file of NumPy.s; a matrix is read from a Matrix Market file' spmv A.npy
printf 'PK\3\4' >m.npz
expect 1 'm.npz: a file of NumPy.s; a matrix is read from a Matrix Market file' cg m.npz
# What is packed otherwise says how to unpack it.
printf '\xfd7zXZ\0....' >m.mtx.xz
printf '\x28\xb5\x2f\xfd....' >m.mtx.zst
tar -czf m.tar.gz small.mtx.gz
expect 1 'compressed with xz; gzip alone .* xz -dk m.mtx.xz' spmv m.mtx.xz
expect 1 'compressed with zstd; gzip alone .* zstd -d m.mtx.zst' explain spmv m.mtx.zst
expect 1 'a tar archive; gzip alone .* tar -xf m.tar.gz' spmv m.tar.gz
# Help of a command.
expect 0 '^wavefit sweep' help sweep
expect 0 '^usage: wavefit' help
expect 2 "'nothing' is not a command" help nothing
expect 2 "unexpected argument 'b'" help sweep b
for command in bench cg devices explain himeno ladder laplace matmul occupancy peaks report spmv \
    stencil sweep tune; do
    expect 0 "^wavefit $command" help $command
done

expect 2 "'vector' is not a family \(himeno, spmv, matmul, stencil\)" tune vector
expect 2 "type.*'f9'" tune matmul --type f9
expect 2 "'quick' is not exact or fast" tune --shape 8x8x8 --math quick
expect 2 'batch are for --shape' tune --size XS --math fast
expect 2 'transpose-b .* are for --shape' tune --size XS --transpose-b
expect 2 "batch: '0' is not a whole number" tune --shape 8x8x8 --batch 0
for command in explain ladder "sweep --over local_x" compare; do
    expect 2 'transpose-a does not go with himeno' $command himeno --transpose-a
    expect 2 "batch: 'two' is not a whole number" $command matmul --batch two
done
expect 2 'variant and --set are for searches' tune --show --variant naive
expect 2 'Himeno is f32' tune --size XS --type f64

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
printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 0\n2 1 1\n2 2 3\n' >zero.mtx
expect 1 'diagonal of row 0 is 0; Jacobi needs it positive' cg zero.mtx --precondition jacobi
expect 2 "has no variant 'nothing'" cg zero.mtx --variant nothing
printf '%%%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n' >complex.mtx
expect 1 'complex matrices are not supported' spmv complex.mtx
head -c 20 small.mtx.gz >cut.mtx.gz
expect 1 'cut.mtx.gz' spmv cut.mtx.gz
head -c 100 A.npy | head -c 70 >cut.npy
expect 1 'cut.npy' matmul cut.npy B.npy
npy long.npy '<f16' '(2, 3)' "$one$two$three$one$one$one"
expect 1 "'<f16' \(floats of that size\) are not supported" matmul long.npy B.npy
npy four.npy '<f4' '(2, 3, 1, 1)' "$one$two$three$one$one$one"
expect 1 'four.npy: the array has 4 dimensions; a matrix has two' matmul four.npy B.npy
expect 1 'a vector of 4 elements is needed' spmv "$data/small.mtx" --x A.npy
expect 1 'A.npy: 3x2 cells are too few for radius 1; each axis needs at least 3' stencil A.npy

# --- two outputs, or an output and an input, that are one file
expect 2 'json new.npy would overwrite the file of -o' matmul A.npy B.npy -o new.npy --json new.npy
expect 2 'json ./A.npy would overwrite the file of A.npy' matmul A.npy B.npy --json ./A.npy

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

# The occupancy calculator needs no device; the figures are those of two of the texts.
expect 0 'occupancy 83 %: 40 of 48 subgroups in 5 work-groups, limited by shared memory' \
    occupancy --target "GTX 480" --registers 20 --shared 9288 --group 256
expect 0 'occupancy 25 %: 16 of 64 subgroups in 16 work-groups, limited by work-groups a unit' \
    occupancy --target kepler --registers 30 --group 32
expect 0 'of the same generation: nvidia:sm37, nvidia:sm30' occupancy --target K20
expect 0 '^ +128 +100 % +64 of 64  nothing +#+  highest$' occupancy --target K20
expect 0 '^ +256 +19 % +12 of 64 +registers' occupancy --target navi31 --registers 228 --subgroup 64
expect 0 '^Turing \(nvidia:sm75\)' occupancy --target nvk:164
expect 0 '"schema": "wavefit-occupancy/1"' occupancy --target A770 --registers 129 --json -
expect 1 'nosuch.json: No such file' devices --profile nosuch.json
expect 1 'small.mtx: ' devices --profile "$data/small.mtx"
printf '{"profiles": {}}' >no_profile.json
expect 1 'no_profile.json: no profile of a device: it has no "capabilities"' \
    devices --profile no_profile.json
expect 2 "nothing is published of 'nosuch'; there are nvidia:sm90," occupancy --target nosuch
expect 2 "'64' is not a whole number from 0 to 63" occupancy --target fermi --registers 64
expect 2 "'48' is no power of two" occupancy --target fermi --subgroup 48
expect 2 'target names the chip' occupancy
expect 2 'does not go with it' occupancy --target fermi --device 0
# A sweep without the device, and fastest first.
for radv in /usr/share/vulkan/icd.d/radeon_icd*.json; do
    [ -f "$radv" ] && [ -z "${WAVEFIT_TEST_BRIEF:-}" ] || continue
    expect 0 '^ +64 +64 +[0-9]+ +100 % +nothing +#+$' sweep spmv --generate poisson27:8 \
        --variant row --over local_x --target amd:vega10
    expect 0 '"kind": "sweep"' sweep matmul --variant register --over tile_k --target amd:navi31 \
        --json -
    expect 2 'is none of amd:polaris10' sweep matmul --over tile_k --target amd:nosuch
done
"$tool" sweep spmv --generate poisson27:8 --variant row --over local_x --repeat 2 --by-time \
    >order 2>/dev/null
check 'the fastest comes first' sh -c "sed -n 4p order | grep -q best"
expect 1 'too little is published of apple:m3' occupancy --target apple:m3

finish
