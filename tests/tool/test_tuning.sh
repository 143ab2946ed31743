#!/usr/bin/env bash
# Tuning: what is kept, shown, exported and forgotten; files that are no good; comparisons.
set -u
bench=$(cd "$(dirname "$0")/../../bench" && pwd)
# usage: test_tuning.sh WAVEFIT DATA [BENCH_TUNING]
more=${3:-}
. "$(dirname "$0")/expect.sh"

# What bench/tuning.c adds to tune: as expect, with that program where it was built.
expect_more() {
    local wavefit=$tool
    [ -n "$more" ] || return 0
    tool=$more
    expect "$@"
    tool=$wavefit
}
export XDG_CACHE_HOME=$work/cache
expect 0 'nothing was tuned' tune --show
cp "$data/small.mtx" . # a path of any length would break the line that is looked for
expect 0 'spmv +f32 +small.mtx .* points' tune --matrix small.mtx --budget 1.5 --json tuned.json
check 'what the search came to' sh -c 'grep -q "\"tuned\": {" tuned.json &&
    grep -q "\"kept\": true" tuned.json && grep -q "\"entries\": 8" tuned.json'
expect 0 '^tuned.html: ' report tuned.json -o tuned.html
kept=$(ls cache/wavefit/tuning-*.json)
expect 0 'tuned' tune --show
expect 0 '"schema": "wavefit-tuning/2"' tune --export
expect 0 'tuned' spmv "$data/small.mtx" --repeat 1
expect 0 '\(model\)' spmv "$data/small.mtx" --repeat 1 --no-tuning
expect 0 '\(model\)' spmv "$data/small.mtx" --repeat 1 --limits minimum
cp "$kept" whole.json
# Cut short, of a newer schema, of an older one, hostile: the model's choice, and the file stays.
for damage in 'head -c 300 whole.json' 'sed s,tuning/2,tuning/9, whole.json' \
    'sed s,tuning/2,tuning/0, whole.json' 'printf nonsense' \
    'sed s/family/\\x01/ whole.json' 'sed "s/time_ns.../&1/" whole.json' \
    'sed s/[1-9]/7/3 whole.json' 'head -c 20000 /dev/zero' 'yes [ | head -n 100000'; do
    sh -c "$damage" >"$kept"
    cp "$kept" damaged.json
    expect 0 '\(model\)' spmv "$data/small.mtx" --repeat 1
    cp err.tool err.warned
    cp out out.run
    check "the result is verified after: $damage" grep -q verified out.run
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
# Schema 1, without a checksum and with the names of before.
sed '2d; s,tuning/2,tuning/1,; s/"\(long_\)\{0,1\}loads"/"\1turns"/g; s/"row_subgroups"/"team"/g' \
    whole.json >"$kept"
expect 0 'tuned' spmv "$data/small.mtx" --repeat 1
check 'a file of schema 1 needs no warning' sh -c '! grep warning err.tool'
cp whole.json "$kept"
expect 0 'forgotten' tune --forget matmul
expect 0 'tuned' tune --show
expect 0 'forgotten' tune --forget spmv
expect 0 'nothing was tuned' tune --show
# An older driver's rows are hints.
sed -e 's/"driver_version": [0-9]*/"driver_version": 7/' -e '/"checksum"/d' whole.json >"$kept"
expect 0 '[0-9] +hint$' tune --show
expect 0 'model|row\)' spmv "$data/small.mtx" --repeat 1
XDG_CACHE_HOME=/dev/null/nowhere expect 0 'not kept' tune --matrix "$data/small.mtx" --budget 1
check 'why nothing is kept' grep -q 'warning: what is found is not kept: /dev/null/nowhere' err.tool
expect 2 "'fft' is not a family" tune fft
# What the self-test found is told: here shuffles and shared memory are said to fail (bits 0 and 3
# of what was tested and of what failed, from byte 48 of its file on; from byte 64 on FNV-1a of all
# before it).
outcome=$(ls cache/wavefit/selftest-*.bin | grep -v minimum)
printf '\011\0\0\0\011\0\0\0' | dd of="$outcome" bs=1 seek=48 conv=notrunc 2>dd.log
hash=$((0xcbf29ce484222325))
for byte in $(od -An -v -tu1 -N64 "$outcome"); do
    hash=$(((hash ^ byte) * 0x100000001b3))
done
for i in 0 1 2 3 4 5 6 7; do
    printf "\\x$(printf %02x $((hash >> 8 * i & 255)))"
done | dd of="$outcome" bs=1 seek=64 conv=notrunc 2>dd.log
expect 0 'not used: subgroup shuffles, which fail here' devices
cp out out.run
check 'shared memory too' grep -q 'not used: shared memory, which fails here' out.run
rm cache/wavefit/selftest-*.bin
# A part of the points: nothing of it is kept, and a comparison has them all.
expect 0 'naive .*, not kept|, not kept' tune --grid 24x20 --variant naive --budget 0.5
expect_more 0 'naive .* 6 of 6 points' --grid 24x20 --variant naive --set local_y=1 \
    --set local_z=1 --compare --budget 0.3 --all 30
cp out out.run
[ -z "$more" ] || check 'it is told from one that was cut short' \
    grep -q 'all points were measured, 3 %: . of 1' out.run
# What is held need not go with the model's values; what goes with nothing ends with the reason.
expect 0 'march local_y=128, .* of [0-9]+ points' tune --grid 24x20x20 --variant march \
    --set local_y=128 --compare --budget 0.3
expect 1 'multiple of thread_m' tune --shape 24x20x16 --variant vector --set tile_m=17 --budget 0.3
expect 1 "no variant 'nothing'" tune --grid 24x20 --variant nothing --budget 0.5
expect 0 'matmul +f32 +16x16x16 fast .* points' tune --shape 16x16x16 --math fast --budget 0.3
expect 0 'matmul +f32 +2 of 16x24x16 B\^T .* points' tune --shape 16x24x16 --transpose-b --batch 2 \
    --budget 0.3
expect 2 'not of family matmul' tune matmul --matrix x.mtx
expect 2 'seconds' tune --budget -3
expect 2 'exclude each other' tune --show --forget
expect 2 'exclude each other' tune --size XS --shape 8x8x8
expect 2 'json is for searches' tune --show --json x.json
expect 2 'for --grid' tune --matrix "$data/small.mtx" --steps 2
expect 2 'no such problem' tune matmul --only nothing
expect 2 'suite picks among .* names one' tune --shape 8x8x8 --suite full
expect 2 'only picks among .* names one' tune --generate poisson27:4 --only 8
expect 2 'show is of all problems' tune --show --size XS
expect 2 'export is of all problems' tune --export --only S
expect 2 "size.* 'poisson27:0'|'0' is not a size" tune --generate poisson27:0
expect 2 "'poisson9:4' is none of" tune --generate poisson9:4
expect 2 'is not dirichlet' tune --grid 24x20 --border none
expect 2 'border and --box are for --grid' tune --size XS --border neumann
expect 0 'spmv +f64 +poisson5:20 .* points' tune --generate poisson5:20 --type f64 --budget 0.5
expect 0 'stencil +f32 +24x20 .* points' tune --grid 24x20 --border periodic \
    --budget 0.5 --json tuned.json
check 'the border of a grid is in the results' grep -q '"border": 2' tuned.json
expect 0 'spmv +f32 +arrow:32911 .* points' tune spmv --suite drawn --count 1 --seed 7 --budget 0.5
expect 2 'too large for a CPU' tune matmul --suite drawn --count 1
# A device as a whole: what has a row is passed over, and another seed's problem is timed.
expect 0 '^0 of 1 problems of seed 7 were searched, 1 had a row before, 0 are left$' tune spmv \
    --drawn --count 1 --seed 7 --seconds 30 --json fit.json
cp out out.fit
check 'what others gain is told' grep -q \
    '^1 problem of seed 374487, for which nothing was searched: [0-9.]* times as fast' out.fit
check 'the results have both' sh -c '[ $(grep -c "\"family\": \"spmv\"" fit.json) = 2 ] &&
    grep -q "arrow:32911" fit.json'
expect 0 '^0 of 1 problems of seed 9 were searched, 0 had a row before, 1 are left$' tune spmv \
    --drawn --count 1 --seed 9 --seconds 0.000001
# A comparison is kept, gone on with, and not mixed with another device's.
expect 0 'two searches differ by' tune --grid 24x20 --steps 2 --compare --budget 0.3 --json c.json
cp c.json before.json
expect 0 '^stencil f32 24x20$' tune --grid 24x20 --steps 2 --compare --budget 60 --json c.json
check 'nothing was measured again' cmp c.json before.json
cp before.json more.json
expect 0 '1 of 1 points' tune --grid 16x16 --variant naive --set local_x=32 --set local_y=1 \
    --set local_z=1 --compare --budget 0.3 --json more.json
grep -E 'us"|_percent|point"' before.json >before.lines
check 'what was there stays when more comes' sh -c \
    'grep -E "us\"|_percent|point\"" more.json |
        head -n $(wc -l <before.lines) | cmp - before.lines'
check 'the noise is in the file' grep -q noise_percent before.lines
VK_DRIVER_FILES=/nonexistent expect_more 0 '^model +[0-9.]+ / [0-9.]+' stencil --reprint c.json
expect_more 1 'c.json: it has no such problem' matmul --reprint c.json
expect_more 1 'c.json: it has no such problem' --reprint c.json --only 25x20
expect_more 1 'none.json: No such file' --reprint none.json
expect_more 2 'unexpected argument' --reprint c.json --budget 3
expect_more 2 'needs a value' --compare --slice
expect_more 2 'seconds over 0' --compare --slice 0
expect_more 2 'slice and --all are for --compare' --size XS --all 3
expect 2 "unknown option '--reprint'" tune --reprint c.json
# Hand-edited: no time of one rival, an endless one of another, none of a problem's.
sed -E -e '0,/"us": [0-9.e+-]+/s//"us": 0/' \
    -e '0,/"us": [1-9][0-9.e+-]*/s//"us": 1e308/' before.json >odd.json
expect_more 0 'tuned' --reprint odd.json
sed -E 's/"us": [0-9.e+-]+/"us": 0/' before.json >odd.json
expect_more 1 'odd.json: it has no such problem' --reprint odd.json
# What is measured to be thrown away changes nothing of what is kept.
ls cache/wavefit >files.before
expect_more 0 'not kept' --grid 22x18 --budget 0.3 --discard
check 'and no file more' sh -c 'ls cache/wavefit | cmp - files.before'
# The tables that the notes have, from what is kept of them.
[ -z "$more" ] || VK_DRIVER_FILES=/nonexistent bash "$bench/tuning.sh" "$tool" --reprint >out 2>err
cp out kept.txt
[ -z "$more" ] || check 'what is kept of the H100 is printed again' \
    grep -q 'where all points were measured, 3 %: [0-9]' kept.txt
cp kept.txt out
! is_wide || bad 'a line of over 100 columns in the tables'
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

finish
